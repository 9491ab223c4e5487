package referee

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/referee/policy"
)

// straddles looks at a gate a second time (S14): would it turn if a claim were true, or the numbers that a calculation
// restates? The gate follows the recomputed value either way. Of duplicated calculations it looks at those that the
// gate reads now.
func (a *audit) straddles(r *Rule, truth policy.Truth3) {
	if truth == policy.Unknown {
		return
	}
	for _, id := range findCrossing(r.expr.Calcs(),
		func(some []string) bool { return a.truthAsClaimed(r, some) == oppositeTruth(truth) }) {
		if c := a.picked(id); c != nil {
			a.straddleOfClaim(r, c)
		}
	}
	var moved []*calculation
	for _, m := range r.needs {
		if c := a.picked(m.ID); c != nil && c.restated {
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
	if c.claimed == nil || c.value() == nil {
		return
	}
	if c.worst.rounded && !c.worst.coarse || a.honest(c) {
		a.note(a.Sheet.Rule("math."+c.check.ID), fmt.Sprintf("rounded_across_gate: %s as claimed lies across %s",
			c.check.ID, r.Text))
		return
	}
	a.straddle(r, c, "/result", Finding{
		Message: fmt.Sprintf("calculation %q claims %s, on the other side of %s (%s) than the recomputed %s",
			c.check.ID, shown(c.claimed), r.ID, r.Text, shown(c.value())),
		Spot: &Spot{Claimed: number(c.claimed), Recomputed: number(c.value()), Gate: r.Text}, Fix: c.fixResult(a)})
}

// straddleOfInputs flags a calculation on whose restated inputs the gate would turn, and makes what it restates
// otherwise high (S17a).
func (a *audit) straddleOfInputs(r *Rule, c *calculation) {
	if !c.bent {
		a.note(a.Sheet.Rule("math."+c.check.ID), fmt.Sprintf("rounded_across_gate: %s lies across the gate at the "+
			"inputs of %s as they are rounded there", r.Text, c.check.ID))
		return
	}
	a.straddle(r, c, "/inputs", Finding{
		Message: fmt.Sprintf("%s (%s) turns on the inputs that calculation %q restates: it is decided by the "+
			"submission's inputs", r.ID, r.Text, c.check.ID),
		Spot: &Spot{Recomputed: number(c.value()), Gate: r.Text}, Fix: &Fix{Text: "restate each input as it is"}})
	for i := range a.findings {
		f := &a.findings[i]
		if f.Code == "math.input_restated" && strings.HasPrefix(f.Pointer, c.pointer+"/inputs/") {
			f.Tier, f.Severity = High, severityOf(High)
		}
	}
}

// straddle records that a gate would turn on what a calculation states.
func (a *audit) straddle(r *Rule, c *calculation, below string, f Finding) {
	math := a.Sheet.Rule("math." + c.check.ID)
	f.Code, f.Tier, f.Stage, f.Bucket, f.Pointer = "math.straddles_gate", High, StageMath, WorkDefect, c.pointer+below
	f.Atoms = []string{a.atom("recompute.same_side", c.check.ID, false, "critical", "cross_field", r.Text)}
	a.flag(math, f)
	a.setStatus(math.ID, Flag)
}
