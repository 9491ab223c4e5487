package referee

import (
	"slices"
	"strconv"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// This file closes the gate of a sample: which flags stop it, the highest total that they leave, and the scores of the
// fixed protocol under it.

// highestCap is the highest score there is.
var highestCap = decimal.MustParse("100")

// capOf reads a cap of a sheet, 0 to 100; nil where there is none, or after a refusal.
func (l *loader) capOf(v *strictjson.Value, what string) *decimal.Num {
	if v == nil {
		return nil
	}
	n := v.Decimal()
	if n == nil || n.Sign() < 0 || decimal.Cmp(n, highestCap) > 0 {
		l.problems.addProblem(v, "cap", "%s must be a number from 0 to 100, the highest total score that the closed gate "+
			"leaves", what)
		return nil
	}
	if l.sheet.Doc.At("/scores/total") == nil {
		l.problems.addProblem(v, "cap", "%s caps the total score, and the sheet's scores have no total", what)
	}
	return n
}

// gating: a critical flag, or a flag of a non-compensable rule, stops the sample whatever its score. Its cap is the
// lowest of the rules that stopped it.
func (a *audit) gatingOf() Gating {
	g := Gating{Passed: true}
	var lowest *decimal.Num
	for _, f := range a.findings {
		if !a.stopsSample(f) {
			continue
		}
		g.Passed = false
		lowest = lowerCap(lowest, a.capOver(f))
		if reason := f.Code + " (" + f.RuleIDs[0] + ")"; !slices.Contains(g.Reasons, reason) {
			g.Reasons = append(g.Reasons, reason)
		}
	}
	if len(g.Reasons) > 10 {
		g.Reasons = append(g.Reasons[:10], "and "+strconv.Itoa(len(g.Reasons)-10)+" more")
	}
	g.Cap = reportNumber(lowest)
	return g
}

// stopsSample reports whether a finding closes the gate.
func (a *audit) stopsSample(f Finding) bool {
	return f.Severity == "critical" || slices.ContainsFunc(f.RuleIDs, func(id string) bool {
		r := a.Sheet.Rule(id)
		return r != nil && r.NonCompensable
	})
}

// capOver is the lowest cap of the rules behind a finding that closes the gate. A rule of the engine's own, such as the
// reading of the raw answer, has the sheet's.
func (a *audit) capOver(f Finding) *decimal.Num {
	var lowest *decimal.Num
	for _, id := range f.RuleIDs {
		own := a.Sheet.gatingCap
		if r := a.Sheet.Rule(id); r != nil && r.cap != nil {
			own = r.cap
		}
		lowest = lowerCap(lowest, own)
	}
	return lowest
}

// lowerCap is the lower of two caps; nil is no cap at all.
func lowerCap(x, y *decimal.Num) *decimal.Num {
	if x == nil || y != nil && decimal.Cmp(y, x) < 0 {
		return y
	}
	return x
}

// scoresOf are the fixed protocol's numbers where the sheet asks for them. Where gating failed there is none of them
// but the total, and that only under a cap: the total by the sheet's formula, at most the cap.
func (a *audit) scoresOf(rep *Report) *Scores {
	if len(a.Sheet.scores) == 0 {
		return nil
	}
	value := func(name string) string {
		for _, d := range rep.Derived {
			if d.ID == a.Sheet.scores[name] {
				return d.Value
			}
		}
		return ""
	}
	if !rep.Gating.Passed {
		return &Scores{Gated: true, Total: cappedTotal(value("total"), rep.Gating.Cap)}
	}
	return &Scores{Availability: value("availability"), ConstraintSatisfaction: value("constraint_satisfaction"),
		ConditionalError: value("conditional_error"), Total: value("total")}
}

// cappedTotal is the total, at most the cap; "" where either is missing, because a sample without an error score has no
// total that a cap could lower.
func cappedTotal(total, limit string) string {
	t, err := decimal.Parse(total)
	if err != nil || limit == "" {
		return ""
	}
	highest, err := decimal.Parse(limit)
	if err != nil {
		return ""
	}
	return reportNumber(lowerCap(t, highest))
}
