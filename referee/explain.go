package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/policy"
)

// explainRule keeps the proof of a rule, for --explain: each operand with its value and where it came from.
func (a *audit) explainRule(r *Rule, res policy.Result, out outcome) {
	if !a.Explain {
		return
	}
	e := Explanation{RuleID: r.ID, Text: r.Text, Outcome: string(out.status)}
	for _, op := range res.Operands {
		e.Operands = append(e.Operands, ExplainedOperand{Text: op.Text, Value: op.Val.String(), From: a.operandOrigin(op)})
	}
	a.explain = append(a.explain, e)
}

// operandOrigin words where an operand's value came from.
func (a *audit) operandOrigin(op policy.OperandValue) string {
	pointer := op.Val.Pointer()
	switch {
	case op.From == "const":
		if c := a.Sheet.Doc.Get("consts").Get(op.Text); c != nil {
			return "the sheet's constant: " + c.TextOf("source")
		}
	case op.From == "recomputed" && pointer != "":
		return "recomputed from " + pointer
	case op.From == "claimed" && pointer != "":
		return "claimed at " + pointer
	case pointer != "" && op.From != pointer:
		return op.From + " at " + pointer
	}
	return op.From
}

// explainCalculation keeps the proof of a re-derived calculation: its inputs, both recomputations and the claim.
func (a *audit) explainCalculation(r *Rule, c *calculation, out outcome) {
	if !a.Explain {
		return
	}
	e := Explanation{RuleID: r.ID, Text: c.labelText(), Outcome: string(out.status)}
	add := func(name string, n *decimal.Num, from string) {
		if n != nil {
			e.Operands = append(e.Operands, ExplainedOperand{Text: name, Value: reportNumber(n), From: from})
		}
	}
	for _, m := range c.v.Get("inputs").Fields() {
		from := m.Value.Pointer()
		if ref, ok := c.v.Get("sources").Get(m.Key).Str(); ok {
			from += ", cited from " + clipText(ref)
		}
		add(clipText(m.Key), m.Value.Decimal(), from)
	}
	if c.formula != nil {
		add("by the agent's formula "+clipText(c.formula.Source()), c.own, c.pointer+"/formula")
	}
	if c.check != nil {
		add("by the sheet's formula "+c.check.Text, c.sheet, "sheet "+a.Sheet.Slug)
	}
	add("claimed", c.claimed, c.pointer+"/result")
	if c.worst.delta != nil {
		add("relative error", relativeError(c.worst.delta, c.worst.reference), "band "+c.worst.band.String())
	}
	a.explain = append(a.explain, e)
}

// explainAgreement keeps the proof of two values that must agree.
func (a *audit) explainAgreement(r *Rule, left, right policy.Result, out outcome) {
	a.explainRule(r, policy.Result{Operands: slices.Concat(left.Operands, right.Operands)}, out)
}
