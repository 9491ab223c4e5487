package comment

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

const (
	fewRuns     = 5     // up to how many runs each is shown whole, also where nothing is wrong
	smallestRun = 1_500 // bytes below which a run is better shown as a line
	tableShare  = 35    // percent of the runs' room for their table, at most
)

// runSections shows the audited runs: those with findings first, each within a fair part of the room; the rest are a
// line each.
func (o writer) runSections(limit int) string {
	whole, lines := o.divideRuns(limit)
	if len(whole)+len(lines) == 0 {
		return ""
	}
	table := o.runTable(lines, limit*tableShare/100)
	limit -= len(table)
	needs := make([]int, len(whole))
	for i, a := range whole {
		needs[i] = roomForRest + len(
			o.runSection(a, min(limit, 8*limit/len(whole))),
		) // rendering is bounded too: no run gets more than that where there are many
	}
	var b strings.Builder
	for i, share := range fairShares(needs, limit) {
		b.WriteString(o.runSection(whole[i], share))
	}
	return b.String() + table
}

// divideRuns says which runs are shown whole, heaviest first, and which as a line.
func (o writer) divideRuns(limit int) (whole, lines []*audit.AuditedRun) {
	var all []*audit.AuditedRun
	for i := range o.Audits {
		if o.Audits[i].Work != nil {
			all = append(all, &o.Audits[i])
		}
	}
	slices.SortStableFunc(all, func(x, y *audit.AuditedRun) int { return o.byWeight(x.Work.Report, y.Work.Report) })
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
func (o writer) byWeight(x, y *referee.Report) int {
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

// runSection is one run's block of at most limit bytes. Its questions stand in the checklist, once for all runs. Where
// not all of its findings have room, the heaviest have half of it, and the others a line each.
func (o writer) runSection(a *audit.AuditedRun, limit int) string {
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
		whole = append(whole, block{"finding", o.findingLine(a, n) + findingDetails(&findings[n])})
		if size += len(whole[n].text); size > limit {
			break
		}
	}
	if all := append(slices.Clone(blocks), whole...); len(whole) == len(findings) && len(joinBlocks(all)) <= limit {
		return joinBlocks(all)
	}
	size = 0
	for n := range findings {
		text := o.findingLine(a, n)
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
	return joinWithin(blocks, limit)
}

// runHead is where a run stands: by its receipt where it is signed off, by the audit else.
func (o writer) runHead(a *audit.AuditedRun) string {
	rep, v := a.Work.Report, o.VerdictOf(a)
	state := "passes"
	switch {
	case o.ReceiptOf(*a) != nil:
		state = "signed off"
	case o.FailsUnaccepted(a.Work):
		state = "fails"
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"\n---\n\n### Run %s: %s%s, score %s\n\n",
		codeName(a.Work.Run.ID),
		state,
		gradeText(v.Severity),
		codeName(v.Score),
	)
	fmt.Fprintf(
		&b,
		"%s, judged by the sheet %s, version %s. %s",
		o.linkToFile(path.Join(a.Dir, rep.Submission.Path), 0, 0),
		codeName(rep.Sheet.Slug),
		codeName(rep.Sheet.Version),
		countRules(v.Counts),
	)
	if len(o.Audits) > 1 && o.ReceiptOf(*a) == nil {
		fmt.Fprintf(&b, " Recommended: %s.", codeName(v.RecommendedAction))
	}
	return b.String() + "\n"
}

// grades explain the words for a verdict. Nothing is said of an audit that nobody has signed and that found nothing.
var grades = map[string]string{
	string(referee.Honey):    ", honey (clean)",
	string(referee.Jelly):    ", jelly (flags, none of them critical)",
	string(referee.Propolis): ", propolis (a critical flag)",
	string(referee.Unsigned): "",
}

func gradeText(severity string) string {
	text, known := grades[severity]
	if !known {
		return ", " + codeName(severity)
	}
	return text
}

// countRules counts the rules of a sheet by what became of them.
func countRules(c ledger.Counts) string {
	text := fmt.Sprintf("%s: %d satisfied", countOf(c.Declared, "rule"), c.Satisfied)
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
func (o writer) runNotes(a *audit.AuditedRun) []string {
	var out []string
	if a.Failed > 0 && !o.WornOut(a) {
		out = append(out, fmt.Sprintf("%s of this run failed before.", countOf(a.Failed, "audit")))
	}
	if o.WornOut(a) {
		out = append(
			out,
			fmt.Sprintf(
				"%s of this run failed before, and so does this one: a human decides what happens next, and the "+
					"agent stops revising it.",
				countOf(a.Failed, "audit"),
			),
		)
	}
	for _, j := range o.CountedReviews() {
		for _, w := range signoff.WaiversFor(j.Commands.Accepts, a.Work) {
			out = append(
				out,
				fmt.Sprintf(
					"Accepted by %s: %s, %s",
					codeName(j.Review.User),
					codeName(w.RuleID),
					codeSentence(w.Reason),
				),
			)
		}
	}
	rep := a.Work.Report
	for _, id := range rep.Verdict.UndecidedHigh {
		out = append(
			out,
			fmt.Sprintf("Undecided high rule: %s, %s", codeName(id), codeSentence(undecidedReason(rep, id))),
		)
	}
	for _, reason := range rep.Gating.Reasons {
		if !slices.ContainsFunc(
			rep.Findings,
			func(f referee.Finding) bool { return strings.HasPrefix(reason, f.Code) },
		) { // findings speak for themselves
			out = append(out, "Stopped: "+codeSentence(reason))
		}
	}
	for _, notice := range rep.Notices {
		out = append(out, "Note: "+codeSentence(notice))
	}
	for _, file := range rep.Advisory {
		out = append(out, "Advisory only, never a gate: "+codeName(file.Path))
	}
	return out
}

// findingLine is one finding of a run in a line, its place a link.
func (o writer) findingLine(a *audit.AuditedRun, n int) string {
	rep := a.Work.Report
	f := &rep.Findings[n]
	var b strings.Builder
	if n == 0 {
		b.WriteString("\n#### Findings\n\n")
	}
	fmt.Fprintf(
		&b,
		"%d. **%s** %s (%s) at %s",
		n+1,
		tiers[f.Tier.Rank()],
		codeName(f.Code),
		codeSpans(f.RuleIDs, 5),
		o.linkToFile(report.File(rep, f), f.Line, f.EndLine),
	)
	if f.Pointer != "" {
		fmt.Fprintf(&b, " %s", codeName(f.Pointer))
	}
	fmt.Fprintf(&b, ", %s\n", codeName(string(f.Bucket)))
	return b.String()
}

// findingDetails are what a finding says, why it matters, and what would be right.
func findingDetails(f *referee.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "   - %s\n", codeSentence(f.Message))
	if f.Why != "" {
		fmt.Fprintf(&b, "   - Why: %s\n", codeSentence(f.Why))
	}
	for _, line := range report.Fixes(f) {
		fmt.Fprintf(&b, "   - Fix: %s\n", codeSentence(line))
	}
	return b.String()
}

// runTable is a line for each run.
func (o writer) runTable(runs []*audit.AuditedRun, limit int) string {
	if len(runs) == 0 {
		return ""
	}
	head := "\n| run | audit | score | high | mid | low | sheet |\n| --- | --- | --: | --: | --: | --: | --- |\n"
	var rows []block
	for _, a := range runs {
		rows = append(rows, block{"run", o.runRow(a)})
	}
	return head + joinWithin(rows, limit-len(head))
}

func (o writer) runRow(a *audit.AuditedRun) string {
	rep, v := a.Work.Report, o.VerdictOf(a)
	state := "passes"
	switch {
	case o.ReceiptOf(*a) != nil:
		state = "signed off" + gradeText(v.Severity)
	case o.FailsUnaccepted(a.Work):
		state = "**fails**" + gradeText(v.Severity)
	}
	return fmt.Sprintf(
		"| %s | %s | %s | %d | %d | %d | %s %s |\n",
		tableCell(a.Dir),
		strings.ReplaceAll(state, "|", `\|`),
		tableCell(v.Score),
		v.Risk.High,
		v.Risk.Mid,
		v.Risk.Low,
		tableCell(rep.Sheet.Slug),
		tableCell(rep.Sheet.Version),
	)
}
