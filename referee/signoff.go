package referee

import (
	"fmt"
	"slices"
)

// Answer is what a person said to one question of the checklist (S38).
type Answer struct {
	ID        string
	Satisfied bool
	Note      string // required where it is not satisfied
}

// Signed is a report after a person's answers: what a receipt holds.
type Signed struct {
	Checks   []Check
	Findings []Finding
	Verdict  Verdict
}

// Sign works a person's answers into a report (S38): a satisfied item passes, a flagged one is a finding with the
// person's note, and the verdict is taken again, as of an approved record (S37). An item that is not on the checklist,
// is answered twice, or is flagged without a note is refused; an item left unanswered stays open, which a receipt
// refuses.
func (r *Report) Sign(sheet *Sheet, answers []Answer) (*Signed, error) {
	if r.Sheet != sheet.Ref() {
		return nil, fmt.Errorf("the report was made with %s@%s (%.8s…), not with this sheet", r.Sheet.Slug,
			r.Sheet.Version, r.Sheet.SHA256)
	}
	s := &Signed{Checks: slices.Clone(r.Checks), Findings: slices.Clone(r.Findings)}
	answered := map[string]bool{}
	for _, answer := range answers {
		if answered[answer.ID] {
			return nil, fmt.Errorf("checklist item %q is answered twice", answer.ID)
		}
		answered[answer.ID] = true
		if err := s.answerQuestion(sheet, answer); err != nil {
			return nil, err
		}
	}
	rankFindings(s.Findings)
	t := tally{lane: sheet.Lane, rules: sheet.Rules, checks: s.Checks, findings: s.Findings,
		readable: r.Protocol.Parsed, signed: true}
	s.Verdict = t.verdictOf()
	return s, nil
}

func (s *Signed) answerQuestion(sheet *Sheet, answer Answer) error {
	rule := sheet.Rule(answer.ID)
	if rule == nil || s.Checks[rule.order].Status != Open {
		return fmt.Errorf("checklist item %q is not open; open items: %s", clipText(answer.ID), joinListed(s.Unanswered()))
	}
	check := &s.Checks[rule.order]
	if answer.Satisfied {
		check.Status, check.Reason = Pass, ""
		return nil
	}
	if answer.Note == "" {
		return fmt.Errorf("checklist item %q is flagged without a note: say why", answer.ID)
	}
	check.Status, check.Reason = Flag, ""
	s.Findings = append(s.Findings, Finding{Code: "checklist." + rule.ID, RuleIDs: []string{rule.ID}, Tier: rule.Tier,
		Severity: rule.Severity, Bucket: rule.Bucket,
		Stage: StageChecklist, Message: fmt.Sprintf("%s No: %s", rule.ruleTitle(), answer.Note), Why: rule.Why,
		order: rule.order})
	return nil
}

// Unanswered lists the questions that wait for a person.
func (s *Signed) Unanswered() []string {
	var out []string
	for _, c := range s.Checks {
		if c.Status == Open {
			out = append(out, c.ID)
		}
	}
	return out
}
