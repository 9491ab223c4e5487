package gate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

const (
	fewRuns     = 5     // up to how many runs each is shown whole, also where nothing is wrong
	smallestRun = 1_500 // bytes below which a run is better shown as a line
	tableShare  = 35    // percent of the runs' room for their table, at most
)

// runs shows the audited runs: those with findings first, each within a fair part of the room; the rest are a line each.
func (o *Outcome) runs(limit int) string {
	whole, lines := o.divide(limit)
	if len(whole)+len(lines) == 0 {
		return ""
	}
	table := o.table(lines, limit*tableShare/100)
	limit -= len(table)
	needs := make([]int, len(whole))
	for i, a := range whole {
		needs[i] = roomForRest + len(o.run(a, min(limit, 8*limit/len(whole)))) // rendering is bounded too: no run gets more than that where there are many
	}
	var b strings.Builder
	for i, share := range fair(needs, limit) {
		b.WriteString(o.run(whole[i], share))
	}
	return b.String() + table
}

// divide says which runs are shown whole, heaviest first, and which as a line.
func (o *Outcome) divide(limit int) (whole, lines []*Audited) {
	var all []*Audited
	for i := range o.Audits {
		if o.Audits[i].Work != nil {
			all = append(all, &o.Audits[i])
		}
	}
	slices.SortStableFunc(all, func(x, y *Audited) int { return o.byWeight(x.Work.Report, y.Work.Report) })
	room := max(1, limit*(100-tableShare)/100/smallestRun)
	for i, a := range all {
		rep := a.Work.Report
		if i < room && (len(all) <= fewRuns || rep.Fails(o.FailOn) || len(rep.Findings) > 0) {
			whole = append(whole, a)
		} else {
			lines = append(lines, a)
		}
	}
	return whole, lines
}

// byWeight puts what fails first, and among equals the run with the heavier first finding.
func (o *Outcome) byWeight(x, y *referee.Report) int {
	class := func(r *referee.Report) int {
		switch {
		case r.Fails(o.FailOn):
			return 0
		case len(r.Findings) > 0:
			return 1
		}
		return 2
	}
	if c := cmp.Compare(class(x), class(y)); c != 0 || len(x.Findings) == 0 || len(y.Findings) == 0 {
		return c
	}
	return byRank(&x.Findings[0], &y.Findings[0])
}

// run is one run's block of at most limit bytes. Its questions stand in the checklist, once for all runs. Where not all of its findings have room, the
// heaviest have half of it, and the others a line each.
func (o *Outcome) run(a *Audited, limit int) string {
	blocks, size := []block{{"run", o.runHead(a)}}, 0
	for i, note := range o.runNotes(a) {
		if note = "- " + note + "\n"; i == 0 {
			note = "\n" + note
		}
		blocks = append(blocks, block{"note", note})
	}
	findings := a.Work.Report.Findings
	var whole []block
	for n := range findings {
		whole = append(whole, block{"finding", o.finding(a, n) + findingDetails(&findings[n])})
		if size += len(whole[n].text); size > limit {
			break
		}
	}
	if all := append(slices.Clone(blocks), whole...); len(whole) == len(findings) && len(joined(all)) <= limit {
		return joined(all)
	}
	size = 0
	for n := range findings {
		text := o.finding(a, n)
		if n < len(whole) && size+len(whole[n].text) <= limit/2 {
			text = whole[n].text
		}
		size += len(text)
		blocks = append(blocks, block{"finding", text})
		if size > limit {
			blocks = append(blocks, slices.Repeat([]block{{"finding", ""}}, len(findings)-n-1)...)
			break
		}
	}
	return page(blocks, limit)
}

// runHead is where a run stands: by its receipt where it is signed off, by the audit else.
func (o *Outcome) runHead(a *Audited) string {
	rep, v := a.Work.Report, o.verdictOf(a)
	state := "passes"
	switch {
	case o.ReceiptOf(*a) != nil:
		state = "signed off"
	case o.failing(a.Work):
		state = "fails"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n---\n\n### Run %s: %s%s, score %s\n\n", code(a.Work.Run.ID), state, grade(v.Severity), code(v.Score))
	fmt.Fprintf(&b, "%s, judged by the sheet %s, version %s. %s", o.place(path.Join(a.Dir, rep.Submission.Path), 0, 0), code(rep.Sheet.Slug), code(rep.Sheet.Version), rules(v.Counts))
	if len(o.Audits) > 1 && o.ReceiptOf(*a) == nil {
		fmt.Fprintf(&b, " Recommended: %s.", code(v.RecommendedAction))
	}
	return b.String() + "\n"
}

// grades explain the words for a verdict. Nothing is said of an audit that nobody has signed and that found nothing.
var grades = map[string]string{
	string(referee.Honey): ", honey (clean)", string(referee.Jelly): ", jelly (flags, none of them critical)", string(referee.Propolis): ", propolis (a critical flag)",
	string(referee.Unsigned): "",
}

func grade(severity string) string {
	text, known := grades[severity]
	if !known {
		return ", " + code(severity)
	}
	return text
}

// rules counts the rules of a sheet by what became of them.
func rules(c ledger.Counts) string {
	text := fmt.Sprintf("%s: %d satisfied", many(c.Declared, "rule"), c.Satisfied)
	for _, part := range []struct {
		n    int
		what string
	}{{c.Flagged, "flagged"}, {c.Skipped, "skipped"}, {c.Open, "for a person to answer"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text + "."
}

// runNotes are what a reader must know of a run beside its findings.
func (o *Outcome) runNotes(a *Audited) []string {
	var out []string
	if a.Failed > 0 && !o.wornOut(a) {
		out = append(out, fmt.Sprintf("%s of it failed before.", many(a.Failed, "audit")))
	}
	if o.wornOut(a) {
		out = append(out, fmt.Sprintf("%s of it failed before, and this one does: a human decides what becomes of it, and the agent revises it no more.", many(a.Failed, "audit")))
	}
	for _, j := range o.counted() {
		for _, w := range waiversFor(j.Commands.Accepts, a.Work) {
			out = append(out, fmt.Sprintf("Accepted by %s: %s, %s", code(j.Review.User), code(w.RuleID), quoted(w.Reason)))
		}
	}
	rep := a.Work.Report
	for _, id := range rep.Verdict.UndecidedHigh {
		out = append(out, fmt.Sprintf("Undecided, and of high weight: %s, %s", code(id), quoted(undecidedReason(rep, id))))
	}
	for _, reason := range rep.Gating.Reasons {
		if !slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool { return strings.HasPrefix(reason, f.Code) }) { // findings speak for themselves
			out = append(out, "Stopped: "+quoted(reason))
		}
	}
	for _, notice := range rep.Notices {
		out = append(out, "Note: "+quoted(notice))
	}
	for _, file := range rep.Advisory {
		out = append(out, "Advisory, and never a gate: "+code(file.Path))
	}
	return out
}

// finding is one finding of a run in a line, its place a link.
func (o *Outcome) finding(a *Audited, n int) string {
	rep := a.Work.Report
	f := &rep.Findings[n]
	var b strings.Builder
	if n == 0 {
		b.WriteString("\n#### Findings\n\n")
	}
	fmt.Fprintf(&b, "%d. **%s** %s (%s) at %s", n+1, tiers[f.Tier.Rank()], code(f.Code), spans(f.RuleIDs, 5), o.place(report.File(rep, f), f.Line, f.EndLine))
	if f.Pointer != "" {
		fmt.Fprintf(&b, " %s", code(f.Pointer))
	}
	fmt.Fprintf(&b, ", %s\n", code(string(f.Bucket)))
	return b.String()
}

// findingDetails are what a finding says, why it matters, and what would be right.
func findingDetails(f *referee.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "   - %s\n", quoted(f.Message))
	if f.Why != "" {
		fmt.Fprintf(&b, "   - Why: %s\n", quoted(f.Why))
	}
	for _, line := range report.Fixes(f) {
		fmt.Fprintf(&b, "   - Fix: %s\n", quoted(line))
	}
	return b.String()
}

// table is a line for each run.
func (o *Outcome) table(runs []*Audited, limit int) string {
	if len(runs) == 0 {
		return ""
	}
	head := "\n| run | audit | score | high | mid | low | sheet |\n| --- | --- | --: | --: | --: | --: | --- |\n"
	var rows []block
	for _, a := range runs {
		rows = append(rows, block{"run", o.row(a)})
	}
	return head + page(rows, limit-len(head))
}

func (o *Outcome) row(a *Audited) string {
	rep, v := a.Work.Report, o.verdictOf(a)
	state := "passes"
	switch {
	case o.ReceiptOf(*a) != nil:
		state = "signed off" + grade(v.Severity)
	case o.failing(a.Work):
		state = "**fails**" + grade(v.Severity)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %s %s |\n", cell(a.Dir), strings.ReplaceAll(state, "|", `\|`), cell(v.Score), v.Risk.High, v.Risk.Mid, v.Risk.Low,
		cell(rep.Sheet.Slug), cell(rep.Sheet.Version))
}
