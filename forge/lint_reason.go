package forge

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// judged is a gate with the worlds in which it passes and in which it flags.
type judged struct {
	rule  *referee.Rule
	pass  cases
	flag  cases
	when  cases  // in which it applies
	scope string // what its rows are; gates about other rows say nothing about one another
}

// lintReachability asks of every gate whether it can pass and whether it can flag, and of every two whether one makes
// the other pointless.
func (l *linter) lintReachability() {
	var all []judged
	for _, r := range gates(l.sheet) {
		tree := ruleTree(r)
		if tree == nil || r.Kind != "expr" && r.Kind != "for_each" {
			continue
		}
		j := judged{rule: r, pass: l.ranges.casesWhere(tree, true), flag: l.ranges.casesWhere(tree, false),
			when: alwaysCases()}
		if r.Kind == "for_each" {
			j.scope = string(r.Value().Get("over").Encode()) + "\n" + r.ID
			if r.Value().Get("where") == nil {
				j.scope = string(r.Value().Get("over").Encode())
			}
		}
		l.lintBranches(r, tree, alwaysCases())
		if l.lintGateAlone(&j) {
			all = append(all, j)
		}
	}
	for i := range all {
		for k := range all[:i] {
			if all[i].scope == all[k].scope {
				l.lintGatePair(&all[k], &all[i])
			}
		}
	}
}

// lintGateAlone reports a gate that nothing can pass or nothing can fail, and reads when the others apply.
func (l *linter) lintGateAlone(j *judged) bool {
	at := j.rule.Value()
	switch {
	case !j.pass.isPossible():
		l.warn(at, "unsatisfiable", "one of the two bounds is wrong", "nothing can pass the gate %q: %s excludes %s",
			j.rule.ID, j.pass.clash[0], j.pass.clash[1])
		return false
	case !j.flag.isPossible():
		l.warn(at, "always_true", "take the gate out, or correct its bound",
			"nothing can fail the gate %q: %s excludes %s", j.rule.ID, j.flag.clash[0], j.flag.clash[1])
		return false
	}
	if when := j.rule.When(); when != nil {
		applies := l.ranges.casesWhere(treeOf(when), true)
		if !applies.isPossible() {
			l.warn(at, "unreachable", "correct applies_if", "the gate %q never applies: %s excludes %s", j.rule.ID,
				applies.clash[0], applies.clash[1])
			return false
		}
		j.when = applies
	}
	return true
}

// lintGatePair reports two gates that exclude one another, and a gate that another makes pointless: whatever passes the
// one passes the other, whose flag is no heavier.
func (l *linter) lintGatePair(a, b *judged) {
	if a.pass.over || b.pass.over || a.flag.over || b.flag.over {
		return
	}
	meet := a.when.and(b.when)
	if both := a.pass.and(b.pass).and(meet); meet.isPossible() && !both.isPossible() {
		l.warn(b.rule.Value(), "contradictory", "let applies_if say where each applies, or correct a bound",
			"the gates %q and %q cannot both hold: %s passes the first, %s the second",
			a.rule.ID, b.rule.ID, a.pass.worlds[0].sampleText(), b.pass.worlds[0].sampleText())
		return
	}
	if a.rule.When() != nil || b.rule.When() != nil {
		return
	}
	for _, p := range [][2]*judged{{a, b}, {b, a}} {
		strict, loose := p[0], p[1]
		if both := strict.pass.and(loose.flag); !both.over && !both.isPossible() &&
			loose.rule.Tier.Rank() >= strict.rule.Tier.Rank() {
			l.warn(loose.rule.Value(), "subsumed", "take it out, or correct its bound",
				"the gate %q adds nothing to %q: whatever passes that passes it, as %s does",
				loose.rule.ID, strict.rule.ID, strict.pass.worlds[0].sampleText())
			return
		}
	}
}

// lintBranches reports conditions that are settled before they are asked, and bands that no value reaches.
func (l *linter) lintBranches(r *referee.Rule, v *strictjson.Value, path cases) {
	switch op := v.TextOf("op"); op {
	case "if", "implies":
		cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
		if args := v.Get("args"); args != nil {
			cond, then = args.Items[0], args.Items[1]
		}
		yes, no := path.and(l.ranges.casesWhere(cond, true)), path.and(l.ranges.casesWhere(cond, false))
		if !yes.isPossible() {
			l.warn(r.Value(), "unreachable", "correct the condition",
				"in %q the branch for %s is never reached: %s excludes %s", r.ID, l.ranges.treeText(cond), yes.clash[0],
				yes.clash[1])
		}
		if !no.isPossible() && other != nil {
			l.warn(r.Value(), "unreachable", "correct the condition",
				"in %q the branch for not (%s) is never reached: %s excludes %s", r.ID, l.ranges.treeText(cond), no.clash[0],
				no.clash[1])
		}
		l.lintBranches(r, then, yes)
		if other != nil {
			l.lintBranches(r, other, no)
		}
		return
	case "band":
		l.lintBands(r, v.Get("args"))
	}
	for _, item := range v.Items {
		l.lintBranches(r, item, path)
	}
	for _, m := range v.Members {
		l.lintBranches(r, m.Value, path)
	}
}

// lintBands reports cuts above everything that the operand can be, and cuts below one that it always reaches.
func (l *linter) lintBands(r *referee.Rule, args *strictjson.Value) {
	reach := l.ranges.rangeOf(args.Items[0])
	taken := false
	for _, row := range l.ranges.rowsOf(args.Items[1]) {
		cut := row.Item(0).Decimal()
		if cut == nil {
			return
		}
		name := l.ranges.treeText(args.Items[0])
		switch {
		case taken:
			l.warn(r.Value(), "unreachable", "take the band out, or correct its bound",
				"in %q the band from %s is never reached: %s always lies above it", r.ID, cut, reach.conditionText(name))
		case reach.and(intervalOf(">=", cut)).isEmpty():
			l.warn(r.Value(), "unreachable", "take the band out, or correct its bound",
				"in %q the band from %s is never reached: %s", r.ID, cut, reach.conditionText(name))
		}
		taken = taken || reach.lo.n != nil && decimal.Cmp(reach.lo.n, cut) >= 0
	}
}

// shareUnits are the units of numbers that are meant as fractions of one.
var shareUnits = []string{"ratio", "fraction", "share", "%", "percent", "pct", "bps"}

// lintUnits suspects a bound that is a hundred times too large or too small for its operand: 80 against 0.80.
func (l *linter) lintUnits(r *referee.Rule) {
	if !isDeclaredCheck(r) || ruleTree(r) == nil {
		return
	}
	eachComparison(ruleTree(r), func(_ string, left, right *strictjson.Value) {
		for _, pair := range [][2]*strictjson.Value{{left, right}, {right, left}} {
			limit := l.ranges.rangeOf(pair[1])
			if !limit.isBounded() || decimal.Cmp(limit.lo.n, limit.hi.n) != 0 {
				continue
			}
			l.lintUnit(r, pair[0], pair[1], limit.lo.n)
		}
	})
}

func (l *linter) lintUnit(r *referee.Rule, operand, bound *strictjson.Value, limit *decimal.Num) {
	unit := l.unitOf(operand)
	name := l.ranges.treeText(operand)
	if other := l.unitOf(bound); other != "" && unit != "" && isShare(unit) && isShare(other) &&
		isPercent(unit) != isPercent(other) && operand.Get("calc") == nil {
		l.warn(r.Value(), "unit", "use one unit on both sides", "in %q %s is in %s and its bound %s in %s", r.ID, name,
			unit, l.ranges.treeText(bound), other)
		return
	}
	if !isShare(unit) {
		return
	}
	if worked := l.workedValue(operand); worked != nil && !worked.IsZero() && !limit.IsZero() {
		times, err := decimal.Quo(decimal.Abs(limit), decimal.Abs(worked))
		aHundred := above.contains(limit) && closedInterval(40, 250).contains(times)
		if err == nil && (aHundred || above.contains(worked) && hundredth.contains(times)) {
			l.warn(r.Value(), "unit", "gate literals are canonical: 0.80, not 80 (S10)",
				"in %q %s is %s in the worked example and its bound is %s: that looks like another unit", r.ID, name,
				worked, limit)
		}
		return
	}
	if !isPercent(unit) && decimal.Cmp(decimal.Abs(limit), decimal.FromInt(10)) > 0 {
		l.warn(r.Value(), "unit", "gate literals are canonical: 0.80, not 80 (S10)",
			"in %q %s is a %s and its bound is %s: that looks like per cent", r.ID, name, unit, limit)
	}
}

// above is what a fraction of one hardly ever is.
var above = intervalOf(">", decimal.MustParse("1.5"))

// hundredth is a bound between 1/250 and 1/40 of a value.
var hundredth = interval{bound{n: decimal.MustParse("0.004")}, bound{n: decimal.MustParse("0.025")}}

func isShare(unit string) bool {
	return slices.Contains(shareUnits, unit)
}

func isPercent(unit string) bool { return unit == "%" || unit == "percent" || unit == "pct" }

// unitOf is the declared unit of an operand, "" where none is.
func (l *linter) unitOf(v *strictjson.Value) string {
	switch {
	case v.Kind != strictjson.Object:
	case v.Get("calc") != nil:
		for _, m := range l.sheet.Math {
			if m.ID == v.TextOf("calc") {
				return m.Units
			}
		}
	case v.Get("input") != nil:
		for _, in := range l.sheet.Inputs {
			if in.Name == v.TextOf("input") {
				return in.Unit
			}
		}
	case v.Get("const") != nil:
		return l.sheet.Doc.Get("consts").Get(v.TextOf("const")).TextOf("unit")
	}
	return ""
}

// workedValue is what an operand is in the first example, canonical as gates read it; nil where there is none.
func (l *linter) workedValue(v *strictjson.Value) *decimal.Num {
	e, err := l.sheet.Compile(v)
	if err != nil || l.firstProbe() == nil {
		return nil
	}
	return l.probe.Eval(e, nil).Val.Num
}

// firstProbe audits the first example, once.
func (l *linter) firstProbe() *referee.Probe {
	if examples := l.sheet.Examples(); l.probe == nil && len(examples) > 0 {
		base, err := workedExample(l.sheet, &examples[0])
		if err != nil {
			return nil
		}
		if c, err := base.auditCase(); err == nil {
			l.probe = referee.NewProbe(c)
		}
	}
	return l.probe
}
