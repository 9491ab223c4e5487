package referee

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/referee/policy"
)

// checkStraddle looks at a gate a second time (S14): would it turn if a claim were true, or the numbers that a
// calculation restates? The gate follows the recomputed value either way. Of duplicated calculations it looks at those
// that the gate reads now.
func (a *audit) checkStraddle(r *Rule, truth policy.Truth3) {
	if truth == policy.Unknown {
		return
	}
	for _, id := range findCrossing(r.expr.Calcs(),
		func(some []string) bool { return a.truthAsClaimed(r, some) == oppositeTruth(truth) }) {
		if c := a.pickedCalculation(id); c != nil {
			a.straddleOfClaim(r, c)
		}
	}
	var moved []*calculation
	for _, m := range r.needs {
		if c := a.pickedCalculation(m.ID); c != nil && c.restated {
			moved = append(moved, c)
		}
	}
	for _, c := range findCrossing(moved,
		func(some []*calculation) bool { return a.truthAsRestated(r, some) == oppositeTruth(truth) }) {
		a.straddleOfInputs(r, c)
	}
}

// findCrossing lists those that turn a gate each alone, or all of them where they turn it only together: nudges are
// stacked.
func findCrossing[T any](all []T, turns func([]T) bool) []T {
	var out []T
	for i := range all {
		if turns(all[i : i+1]) {
			out = append(out, all[i])
		}
	}
	if len(out) == 0 && len(all) > 1 && turns(all) {
		return all
	}
	return out
}

func oppositeTruth(t policy.Truth3) policy.Truth3 {
	if t == policy.True {
		return policy.False
	}
	return policy.True
}

func (a *audit) truthAsClaimed(r *Rule, ids []string) policy.Truth3 {
	env := *a.env
	env.Calc = a.calcReader(nil, ids)
	return r.expr.Eval(&env).Truth
}

func (a *audit) truthAsRestated(r *Rule, some []*calculation) policy.Truth3 {
	env := *a.env
	env.Calc = a.calcReader(a.newChain(nil, some...), nil)
	return r.expr.Eval(&env).Truth
}

// straddleOfClaim flags the statement of a calculation whose claim crosses the gate, unless it is honest rounding.
func (a *audit) straddleOfClaim(r *Rule, c *calculation) {
	if c.claimed == nil || c.recomputedValue() == nil {
		return
	}
	if c.worst.rounded && !c.worst.coarse || a.isHonestRounding(c) {
		a.noteOnCheck(a.Sheet.Rule("math."+c.check.ID), fmt.Sprintf("rounded_across_gate: %s as claimed lies across %s",
			c.check.ID, r.Text))
		return
	}
	a.flagStraddle(r, c, "/result", Finding{
		Message: fmt.Sprintf("calculation %q claims %s, on the other side of %s (%s) than the recomputed %s",
			c.check.ID, shownNumber(c.claimed), r.ID, r.Text, shownNumber(c.recomputedValue())),
		Spot: &Spot{Claimed: reportNumber(c.claimed), Recomputed: reportNumber(c.recomputedValue()), Gate: r.Text},
		Fix:  c.fixResult(a)})
}

// straddleOfInputs flags a calculation on whose restated inputs the gate would turn, and makes what it restates
// otherwise high (S17a).
func (a *audit) straddleOfInputs(r *Rule, c *calculation) {
	if !c.bent {
		a.noteOnCheck(a.Sheet.Rule("math."+c.check.ID), fmt.Sprintf("rounded_across_gate: %s lies across the gate at the "+
			"inputs of %s as they are rounded there", r.Text, c.check.ID))
		return
	}
	a.flagStraddle(r, c, "/inputs", Finding{
		Message: fmt.Sprintf("%s (%s) turns on the inputs that calculation %q restates: it is decided by the "+
			"submission's inputs", r.ID, r.Text, c.check.ID),
		Spot: &Spot{Recomputed: reportNumber(c.recomputedValue()), Gate: r.Text},
		Fix:  &Fix{Text: "restate each input as it is"}})
	for i := range a.findings {
		f := &a.findings[i]
		if f.Code == "math.input_restated" && strings.HasPrefix(f.Pointer, c.pointer+"/inputs/") {
			f.Tier, f.Severity = High, severityOf(High)
		}
	}
}

// flagStraddle records that a gate would turn on what a calculation states.
func (a *audit) flagStraddle(r *Rule, c *calculation, below string, f Finding) {
	math := a.Sheet.Rule("math." + c.check.ID)
	f.Code, f.Tier, f.Stage, f.Bucket, f.Pointer = "math.straddles_gate", High, StageMath, WorkDefect, c.pointer+below
	f.Atoms = []string{a.addAtom("recompute.same_side", c.check.ID, false, "critical", "cross_field", r.Text)}
	a.addFinding(math, f)
	a.setStatus(math.ID, Flag)
}
