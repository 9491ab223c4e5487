package report

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// writeBlock is one report in full: the verdict, the ranked findings, what nobody decided and what a person is asked.
func (t *table) writeBlock(r *referee.Report) {
	if t.shown++; t.shown > 1 {
		t.emitLine("")
		t.emitLine("")
	}
	t.writeHeading(r)
	if len(r.Findings) > 0 {
		t.emitLine("")
		t.writeFindings(r)
	}
	t.emitEntries("High rules that could not be decided", checkEntries(undecidedHigh(r)))
	t.emitEntries("Questions for a person", openQuestions(r))
	t.emitEntries("Limits in force", auditLimits(r))
	t.writeNotes(r)
	if t.o.Verbose {
		t.details(r)
	}
	t.proofs(r)
}

// writeHeading says who, by which rules, how it went and what to do.
func (t *table) writeHeading(r *referee.Report) {
	v := r.Verdict
	mark, paint := "pass", func(s string) string { return t.ink.paint("1;32", s) }
	if r.Fails(t.o.FailOn) {
		mark, paint = "FAIL", func(s string) string { return t.ink.paint("1;31", s) }
	}
	right := fmt.Sprintf("%s · score %s", CleanName(string(v.Severity)), CleanName(v.Score))
	t.emitSides(mark+"  "+submissionTitle(r), right,
		func(s string) string { return paint(s[:len(mark)]) + t.ink.bold(s[len(mark):]) },
		func(s string) string { return t.ink.paintSeverity(v.Severity, s) })
	for _, line := range wrapText(CleanName(submissionPath(r))+" by "+sheetWithVersion(r), t.width-6) {
		t.emitLine("      " + t.ink.dim(line))
	}
	for _, line := range wrapText(ruleCounts(r), t.width-6) {
		t.emitLine("      " + line)
	}
	for _, line := range wrapText(nextAction(r), t.width-6) {
		t.emitLine("      " + line)
	}
}

// ruleCounts is what became of the rules.
func ruleCounts(r *referee.Report) string {
	c := r.Verdict.Counts
	if c.Declared > 0 && c.Satisfied == c.Declared {
		return fmt.Sprintf("All %s satisfied.", legible.Count(c.Declared, "rule"))
	}
	parts := []string{fmt.Sprintf("%d satisfied", c.Satisfied)}
	for _, n := range []struct {
		n    int
		word string
	}{{c.Flagged, "flagged"}, {c.Skipped, "not decided"}, {c.Open, "open"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.word))
		}
	}
	text := fmt.Sprintf("%s: %s.", legible.Count(c.Declared, "rule"), strings.Join(parts, ", "))
	if len(r.Findings) > 0 {
		text += fmt.Sprintf(" Findings: %s.", countByTier(r))
	}
	return text
}

// nextAction is the recommended action in a sentence.
func nextAction(r *referee.Report) string {
	words := map[string]string{
		"resubmit": "Resubmit: the work has defects that its author can mend",
		"review":   "Review: a person has to look at it",
		"reject":   "Reject: the work is right and the deal is not",
		"approve":  "Approve: nothing speaks against a sign-off",
	}
	text, ok := words[r.Verdict.RecommendedAction]
	if !ok {
		text = "Recommended: " + CleanName(r.Verdict.RecommendedAction)
	}
	if r.Verdict.Severity == referee.Unsigned && r.Verdict.SeverityIfApproved != "" {
		text += fmt.Sprintf("; %s once signed off", CleanName(string(r.Verdict.SeverityIfApproved)))
	}
	return text + "."
}

// writeFindings is the ranked table: the tier, the rule with its place, what is wrong with what would be right.
func (t *table) writeFindings(r *referee.Report) {
	const tierWidth = 4
	where := 16
	for i := range r.Findings { // no place is broken where there is room for it, and no pointer of usual length
		f := &r.Findings[i]
		where = max(where, min(textColumns(CleanName(findingPlace(f))), t.width*2/5), min(textColumns(CleanName(f.Pointer)),
			26))
	}
	what := t.width - tierWidth - where - 3*gap
	rows := make([][]string, 0, len(r.Findings))
	for i := range r.Findings {
		f := &r.Findings[i]
		if i > 0 { // white space parts the findings, where a line would part the page
			rows = append(rows, []string{"", "", ""})
		}
		left, right := t.placeLines(f, where), t.messageLines(f, what)
		rows = append(rows, []string{t.ink.paintTier(f.Tier, shortenTo(CleanName(string(f.Tier)), tierWidth)),
			strings.Join(left, "\n"), strings.Join(right, "\n")})
	}
	t.emitGrid([]column{{"tier", tierWidth, false}, {"rule and place", where, false}, {"what is wrong", what, false}},
		rows)
}

// placeLines is the rules, the place in the file and the pointer.
func (t *table) placeLines(f *referee.Finding, n int) []string {
	var lines []string
	for _, line := range wrapText(CleanNames(f.RuleIDs, 3), n) {
		lines = append(lines, t.ink.bold(line))
	}
	for _, text := range []string{CleanName(findingPlace(f)), CleanName(f.Pointer)} {
		if text == "" {
			continue
		}
		for _, line := range wrapText(text, n) {
			lines = append(lines, t.ink.dim(line))
		}
	}
	return lines
}

// messageLines is the message, the code and the fix.
func (t *table) messageLines(f *referee.Finding, n int) []string {
	lines := wrapText(CleanMessage(f.Message), n)
	if t.o.Verbose && f.Why != "" {
		lines = append(lines, wrapText(CleanMessage(f.Why), n)...)
	}
	lines = append(lines, t.dimmedLines(fmt.Sprintf("%s, %s", CleanName(f.Code), CleanName(string(f.Bucket))), n)...)
	for _, text := range fixLines(f) {
		for i, line := range wrapText(text, n-2) {
			lines = append(lines, map[bool]string{true: "→ ", false: "  "}[i == 0]+line)
		}
	}
	return lines
}

func (t *table) dimmedLines(text string, n int) []string {
	var lines []string
	for _, line := range wrapText(text, n) {
		lines = append(lines, t.ink.dim(line))
	}
	return lines
}

func checkEntries(checks []referee.Check) [][2]string {
	var list [][2]string
	for _, c := range checks {
		list = append(list, [2]string{CleanName(c.ID), undecidedReason(c)})
	}
	return list
}

// openQuestions are the open checklist items; a reason follows in the same paragraph.
func openQuestions(r *referee.Report) [][2]string {
	var list [][2]string
	for _, q := range r.Checklist {
		text := CleanMessage(q.Text)
		if q.Why != "" {
			text += " (" + CleanMessage(q.Why) + ")"
		}
		list = append(list, [2]string{CleanName(q.ID), text})
	}
	return list
}

// auditLimits are the parameters that the audit was run by (S71).
func auditLimits(r *referee.Report) [][2]string {
	var list [][2]string
	for _, p := range r.Params {
		list = append(list, [2]string{CleanName(p.Name),
			strings.TrimSpace(CleanMessage(p.Value) + " " + CleanMessage(p.Unit))})
	}
	return list
}

// writeNotes are what no rule says: why the sample is stopped, and the report's notices.
func (t *table) writeNotes(r *referee.Report) {
	var list [][2]string
	for _, reason := range r.Gating.Reasons {
		list = append(list, [2]string{"stopped", CleanMessage(reason)})
	}
	if r.Gating.Cap != "" {
		list = append(list, [2]string{"capped", "the total score is at most " + CleanName(r.Gating.Cap)})
	}
	for _, notice := range r.Notices {
		list = append(list, [2]string{"note", CleanMessage(notice)})
	}
	t.emitEntries("Notes", list)
}

// details is what --verbose adds: every rule's outcome, derived values, scores, evidence and opinions.
func (t *table) details(r *referee.Report) {
	var checks, evidence, advisory [][2]string
	for _, c := range r.Checks {
		text := fmt.Sprintf("%s  %s", padTo(CleanName(string(c.Status)), 4), CleanName(c.ID))
		checks = append(checks, [2]string{text, checkDetail(c)})
	}
	t.emitEntries("Rules", checks)
	t.scored(r)
	for _, e := range r.Evidence {
		evidence = append(evidence, [2]string{CleanName(e.ID), fmt.Sprintf("%s, %s, %s", CleanName(e.Path),
			legible.Count(int(e.Bytes), "byte"), CleanName(e.Status))})
	}
	t.emitEntries("Evidence", evidence)
	for _, a := range r.Advisory {
		advisory = append(advisory, [2]string{CleanName(a.Path), CleanName(a.SHA256)})
	}
	t.emitEntries("Advisory: never gates", advisory)
	t.emitEntries("Declared of the model: never judged", modelLines(r))
}

// scored are the derived values, errors in their units among them, and the scores that are made of them.
func (t *table) scored(r *referee.Report) {
	var derived [][2]string
	for _, d := range r.Derived {
		value := CleanName(d.Value)
		if d.Unit != "" && d.Unit != "1" {
			value += " " + CleanMessage(d.Unit)
		}
		if d.Value == "" {
			value = "no value: " + CleanMessage(d.Reason)
		}
		derived = append(derived, [2]string{CleanName(d.ID), value})
	}
	t.emitEntries("Derived values", derived)
	t.emitEntries("Scores", scoreLines(r.Scores))
}

// modelLines are the temperature and the priors that the profile states.
func modelLines(r *referee.Report) [][2]string {
	if r.Agent == nil {
		return nil
	}
	var list [][2]string
	if r.Agent.Temperature != "" {
		list = append(list, [2]string{"temperature", CleanName(r.Agent.Temperature)})
	}
	c := r.Agent.ModelConfidence
	if c == nil {
		return list
	}
	for _, e := range [][2]string{{"prior of S1", c.S1Score}, {"prior of M1", c.M1Score}, {"prior of M3", c.M3Score}} {
		if e[1] != "" {
			list = append(list, [2]string{e[0], CleanName(e[1])})
		}
	}
	return append(list, [2]string{"source of the prior", CleanMessage(c.Source) + ", version " + CleanMessage(c.Version)})
}

// checkDetail is a rule's kind, weight and what was noted.
func checkDetail(c referee.Check) string {
	text := fmt.Sprintf("%s, %s", CleanName(c.Kind), CleanName(string(c.Tier)))
	if c.Status == referee.Skip || c.Status == referee.Open {
		text += ": " + undecidedReason(c)
	}
	if c.Vacuous {
		text += ", vacuous"
	}
	for _, note := range c.Notes {
		text += ", " + CleanMessage(note)
	}
	return text
}

func scoreLines(s *referee.Scores) [][2]string {
	if s == nil {
		return nil
	}
	var list [][2]string
	for _, e := range [][2]string{{"availability", s.Availability},
		{"constraint satisfaction", s.ConstraintSatisfaction},
		{"conditional error", s.ConditionalError}, {"total", s.Total}} {
		if e[1] != "" {
			list = append(list, [2]string{e[0], CleanName(e[1])})
		}
	}
	if s.Gated {
		list = append(list, [2]string{"gated", gatedText(s)})
	}
	return list
}

// gatedText says what a closed gate leaves of the scores.
func gatedText(s *referee.Scores) string {
	if s.Total != "" {
		return "yes: the total is capped, and no other score is given"
	}
	return "yes: no score is given"
}

// proofs is --explain: each operand with its value and where it came from.
func (t *table) proofs(r *referee.Report) {
	for _, e := range r.Explained {
		if t.o.Explain != "" && e.RuleID != t.o.Explain {
			continue
		}
		list := [][2]string{{"rule", CleanMessage(e.Text)}}
		for _, op := range e.Operands {
			list = append(list, t.operand(op))
		}
		t.emitEntries(fmt.Sprintf("Proof of %s: %s", CleanName(e.RuleID), CleanName(e.Outcome)), list)
	}
	if len(r.Explained) > 0 && r.Scores != nil && t.o.Explain == "" && !t.o.Verbose { // --verbose has shown them
		t.scored(r)
	}
}

// operand is a line of a proof. A text that does not fit beside its value stands before it.
func (t *table) operand(op referee.ExplainedOperand) [2]string {
	key, value := CleanName(op.Text), CleanMessage(op.Value)
	if textColumns(key) > t.width/3 {
		key, value = "value", CleanMessage(op.Text)+" = "+value
	}
	if op.From != "" {
		value += ", " + CleanMessage(op.From)
	}
	return [2]string{key, value}
}
