package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

const (
	fewRuns      = 5     // up to how many runs each is shown whole, also where nothing is wrong
	smallestRun  = 1_500 // bytes below which a run is better shown as a line
	tableShare   = 35    // percent of the runs' room for their table, at most
	roomForTitle = 200   // of a run's block
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

// run is one run's block of at most limit bytes. Its questions stand in the checklist, once for all runs; what a review accepts does not fail it.
func (o *Outcome) run(a *Audited, limit int) string {
	head := "\n---\n\n" + o.runNotes(a)
	if len(head) > limit-roomForTitle {
		head = "\n---\n\n"
	}
	rep, failOn := *a.Work.Report, referee.Tier(o.FailOn)
	rep.Checklist = nil
	if !o.failing(a.Work) {
		failOn = report.Never
	}
	return head + report.Markdown(&rep, report.Options{FailOn: failOn}, limit-len(head))
}

// runNotes are what the report of a run does not know.
func (o *Outcome) runNotes(a *Audited) string {
	var b strings.Builder
	if a.Chosen {
		b.WriteString("- The sheet was chosen by the pull request.\n")
	}
	if a.Failed > 0 {
		fmt.Fprintf(&b, "- Failed before: %s.\n", many(a.Failed, "audit"))
	}
	if o.wornOut(a) {
		b.WriteString("- Recommended: a human's decision, and no further revision by the agent.\n")
	}
	for _, j := range o.counted() {
		for _, w := range j.Commands.Accepts {
			if a.Work.about(w.RuleID) {
				fmt.Fprintf(&b, "- Accepted by %s: %s, %s\n", code(j.Review.User), code(w.RuleID), quoted(w.Reason))
			}
		}
	}
	if e := o.ReceiptOf(*a); e != nil {
		fmt.Fprintf(&b, "- Signed off: receipt %s\n", code(e.Receipt.ID))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// about reports whether a rule has a finding here.
func (w *Work) about(rule string) bool {
	return slices.ContainsFunc(w.Report.Findings, func(f referee.Finding) bool { return slices.Contains(f.RuleIDs, rule) })
}

// table is a line for each run.
func (o *Outcome) table(runs []*Audited, limit int) string {
	if len(runs) == 0 {
		return ""
	}
	head := "\n| run | audit | severity | score | high | mid | low | sheet |\n| --- | --- | --- | --: | --: | --: | --: | --- |\n"
	var rows []block
	for _, a := range runs {
		rows = append(rows, block{"run", o.row(a)})
	}
	return head + page(rows, limit-len(head))
}

func (o *Outcome) row(a *Audited) string {
	rep := a.Work.Report
	verdict, sheet := "pass", cell(rep.Sheet.Slug)+"@"+cell(rep.Sheet.Version)
	if o.failing(a.Work) {
		verdict = "**fail**"
	}
	if a.Chosen {
		sheet += " (chosen by the pull request)"
	}
	v := rep.Verdict
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %d | %d | %s |\n", cell(a.Dir), verdict, cell(string(v.Severity)), cell(v.Score), v.Risk.High, v.Risk.Mid, v.Risk.Low, sheet)
}
