package comment

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// problemItem is one thing that is wrong, at its place: a finding, or what could not be audited.
type problemItem struct {
	run     *audit.AuditedRun
	finding *referee.Finding // nil for what is no finding
	path    string
	title   string
	message string
}

// itemsByRank are all things that are wrong, over all runs: what could not be audited first, then what could not be
// decided, then the findings by rank (S43). Runs of equal rank stand in the order of the audits; below the stage, the
// order is each run's own.
func (o writer) itemsByRank() []problemItem {
	var out, found []problemItem
	for _, r := range o.Refusals {
		out = append(out, problemItem{path: r.Path, title: "could not be audited", message: r.Reason})
	}
	for i := range o.Audits {
		a := &o.Audits[i]
		if a.Work == nil {
			out = append(
				out,
				problemItem{
					run:     a,
					path:    path.Join(a.Dir, "run.json"),
					title:   "could not be audited",
					message: a.Refused,
				},
			)
			continue
		}
		rep := a.Work.Report
		for n := range rep.Findings {
			found = append(
				found,
				problemItem{run: a, finding: &rep.Findings[n], path: report.File(rep, &rep.Findings[n])},
			)
		}
	}
	slices.SortStableFunc(found, func(x, y problemItem) int { return byRank(x.finding, y.finding) })
	return append(out, found...)
}

func undecidedReason(rep *referee.Report, id string) string {
	for _, c := range rep.Checks {
		if c.ID == id {
			return cmp.Or(c.Reason, "blocked by "+cmp.Or(c.BlockedBy, "another rule"))
		}
	}
	return "no reason is given"
}

// byRank compares findings of different runs (S43), as far as they can be compared: below the stage, the order is the
// sheet's.
func byRank(x, y *referee.Finding) int {
	return referee.CompareFindings(*x, *y)
}

// tiers are the tiers by rank: what is no tier is printed as the heaviest.
var tiers = referee.Tiers()

// toAnnotation is an item as GitHub shows it on the lines of the pull request.
func (i problemItem) toAnnotation() githubapi.Annotation {
	a := githubapi.Annotation{Path: report.Clean(i.path), StartLine: 1, EndLine: 1, Level: "failure",
		Title: cutToBytes(
			plainText(i.title),
			maxTitle,
		// an empty one is refused
		), Message: cutToBytes(plainText(cmp.Or(i.message, "no reason is given")), maxDetail)}
	f := i.finding
	if f == nil {
		return a
	}
	a.Level = []string{"failure", "warning", "notice"}[f.Tier.Rank()]
	a.Title = cutToBytes(plainText(fmt.Sprintf("%s: %s", f.Tier, f.Code)), maxTitle)
	a.Message = cutToBytes(plainLines(report.Text(i.run.Work.Report, f)), maxDetail)
	a.Raw = cutToBytes(i.detailLines(), maxDetail)
	if f.Line > 0 {
		a.StartLine, a.EndLine = f.Line, max(f.Line, f.EndLine)
	}
	if f.Line > 0 && f.Column > 0 && a.StartLine == a.EndLine { // GitHub takes columns only within one line
		a.StartColumn, a.EndColumn = f.Column, max(
			f.Column,
			f.EndCol-1,
		) // its end is the last column, ours the one after
	}
	return a
}

// detailLines are what stands behind a finding.
func (i problemItem) detailLines() string {
	f := i.finding
	var out []string
	say := func(name, value string) {
		if value != "" {
			out = append(out, name+": "+plainText(value))
		}
	}
	say("why", f.Why)
	say("at", f.Pointer)
	if s := f.Spot; s != nil {
		say("claimed", s.Claimed)
		say("recomputed", s.Recomputed)
		say("gate", s.Gate)
		say("distance", s.Distance)
	}
	return strings.Join(out, "\n")
}

// plainLines cleans a text of several lines of our own, each of which holds hostile text.
func plainLines(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, plainText(line))
	}
	return strings.Join(out, "\n")
}

// maxCommands is how many annotations of a kind GitHub keeps of a step.
const maxCommands = 10

// workflowCommands are workflow commands for where checks cannot be written: at most ten errors and ten warnings, and
// at most limit of each. What is low, and what is left out, is counted in the last warning. No command ends in a line
// break.
func (o writer) workflowCommands(limit int) []string {
	limit = min(limit, maxCommands)
	all := o.itemsByRank()
	var errors, warnings []string
	for _, i := range all {
		switch {
		case i.finding == nil:
			if len(errors) < limit {
				errors = append(errors, report.Command("error", i.path, i.title, i.message))
			}
		case i.finding.Tier.Rank() == 0 && len(errors) < limit:
			errors = append(errors, report.FindingCommand(i.run.Work.Report, i.finding))
		case i.finding.Tier == referee.Mid && len(warnings) < limit:
			warnings = append(warnings, report.FindingCommand(i.run.Work.Report, i.finding))
		}
	}
	shown := len(errors) + len(warnings)
	if limit > 0 && shown < len(all) {
		if len(warnings) == limit {
			warnings, shown = warnings[:limit-1], shown-1
		}
		warnings = append(
			warnings,
			report.Command(
				"warning",
				"",
				"referee",
				fmt.Sprintf("%d of %d findings are shown here; the job summary holds all", shown, len(all)),
			),
		)
	}
	return append(errors, warnings...)
}
