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

// reasoning asks of every gate whether it can pass and whether it can flag, and of every two whether one makes the
// other pointless.
func (l *linter) reasoning() {
	var all []judged
	for _, r := range gates(l.sheet) {
		tree := ruleTree(r)
		if tree == nil || r.Kind != "expr" && r.Kind != "for_each" {
			continue
		}
		j := judged{rule: r, pass: l.ranges.where(tree, true), flag: l.ranges.where(tree, false), when: always()}
		if r.Kind == "for_each" {
			j.scope = string(r.Value().Get("over").Encode()) + "\n" + r.ID
			if r.Value().Get("where") == nil {
				j.scope = string(r.Value().Get("over").Encode())
			}
		}
		l.branches(r, tree, always())
		if l.alone(&j) {
			all = append(all, j)
		}
	}
	for i := range all {
		for k := range all[:i] {
			if all[i].scope == all[k].scope {
				l.pair(&all[k], &all[i])
			}
		}
	}
}

// alone reports a gate that nothing can pass or nothing can fail, and reads when the others apply.
func (l *linter) alone(j *judged) bool {
	at := j.rule.Value()
	switch {
	case !j.pass.possible():
		l.warn(at, "unsatisfiable", "one of the two bounds is wrong", "nothing can pass the gate %q: %s excludes %s",
			j.rule.ID, j.pass.clash[0], j.pass.clash[1])
		return false
	case !j.flag.possible():
		l.warn(at, "always_true", "take the gate out, or correct its bound",
			"nothing can fail the gate %q: %s excludes %s", j.rule.ID, j.flag.clash[0], j.flag.clash[1])
		return false
	}
	if when := j.rule.When(); when != nil {
		applies := l.ranges.where(treeOf(when), true)
		if !applies.possible() {
			l.warn(at, "unreachable", "correct applies_if", "the gate %q never applies: %s excludes %s", j.rule.ID,
				applies.clash[0], applies.clash[1])
			return false
		}
		j.when = applies
	}
	return true
}

// pair reports two gates that exclude one another, and a gate that another makes pointless: whatever passes the one
// passes the other, whose flag is no heavier.
func (l *linter) pair(a, b *judged) {
	if a.pass.over || b.pass.over || a.flag.over || b.flag.over {
		return
	}
	meet := a.when.and(b.when)
	if both := a.pass.and(b.pass).and(meet); meet.possible() && !both.possible() {
		l.warn(b.rule.Value(), "contradictory", "let applies_if say where each applies, or correct a bound",
			"the gates %q and %q cannot both hold: %s passes the first, %s the second",
			a.rule.ID, b.rule.ID, a.pass.worlds[0].sample(), b.pass.worlds[0].sample())
		return
	}
	if a.rule.When() != nil || b.rule.When() != nil {
		return
	}
	for _, p := range [][2]*judged{{a, b}, {b, a}} {
		strict, loose := p[0], p[1]
		if both := strict.pass.and(loose.flag); !both.over && !both.possible() &&
			loose.rule.Tier.Rank() >= strict.rule.Tier.Rank() {
			l.warn(loose.rule.Value(), "subsumed", "take it out, or correct its bound",
				"the gate %q adds nothing to %q: whatever passes that passes it, as %s does",
				loose.rule.ID, strict.rule.ID, strict.pass.worlds[0].sample())
			return
		}
	}
}

// branches reports conditions that are settled before they are asked, and bands that no value reaches.
func (l *linter) branches(r *referee.Rule, v *strictjson.Value, path cases) {
	switch op := v.TextOf("op"); op {
	case "if", "implies":
		cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
		if args := v.Get("args"); args != nil {
			cond, then = args.Items[0], args.Items[1]
		}
		yes, no := path.and(l.ranges.where(cond, true)), path.and(l.ranges.where(cond, false))
		if !yes.possible() {
			l.warn(r.Value(), "unreachable", "correct the condition",
				"in %q the branch for %s is never reached: %s excludes %s", r.ID, l.ranges.say(cond), yes.clash[0],
				yes.clash[1])
		}
		if !no.possible() && other != nil {
			l.warn(r.Value(), "unreachable", "correct the condition",
				"in %q the branch for not (%s) is never reached: %s excludes %s", r.ID, l.ranges.say(cond), no.clash[0],
				no.clash[1])
		}
		l.branches(r, then, yes)
		if other != nil {
			l.branches(r, other, no)
		}
		return
	case "band":
		l.bands(r, v.Get("args"))
	}
	for _, item := range v.Items {
		l.branches(r, item, path)
	}
	for _, m := range v.Members {
		l.branches(r, m.Value, path)
	}
}

// bands reports cuts above everything that the operand can be, and cuts below one that it always reaches.
func (l *linter) bands(r *referee.Rule, args *strictjson.Value) {
	reach := l.ranges.of(args.Items[0])
	taken := false
	for _, row := range l.ranges.rows(args.Items[1]) {
		cut := row.Item(0).Decimal()
		if cut == nil {
			return
		}
		name := l.ranges.say(args.Items[0])
		switch {
		case taken:
			l.warn(r.Value(), "unreachable", "take the band out, or correct its bound",
				"in %q the band from %s is never reached: %s always lies above it", r.ID, cut, reach.words(name))
		case reach.and(beyond(">=", cut)).empty():
			l.warn(r.Value(), "unreachable", "take the band out, or correct its bound",
				"in %q the band from %s is never reached: %s", r.ID, cut, reach.words(name))
		}
		taken = taken || reach.lo.n != nil && decimal.Cmp(reach.lo.n, cut) >= 0
	}
}

// shareUnits are the units of numbers that are meant as fractions of one.
var shareUnits = []string{"ratio", "fraction", "share", "%", "percent", "pct", "bps"}

// units suspects a bound that is a hundred times too large or too small for its operand: 80 against 0.80.
func (l *linter) units(r *referee.Rule) {
	if !declared(r) || ruleTree(r) == nil {
		return
	}
	comparisons(ruleTree(r), func(_ string, left, right *strictjson.Value) {
		for _, pair := range [][2]*strictjson.Value{{left, right}, {right, left}} {
			limit := l.ranges.of(pair[1])
			if !limit.bounded() || decimal.Cmp(limit.lo.n, limit.hi.n) != 0 {
				continue
			}
			l.unit(r, pair[0], pair[1], limit.lo.n)
		}
	})
}

func (l *linter) unit(r *referee.Rule, operand, bound *strictjson.Value, limit *decimal.Num) {
	unit := l.unitOf(operand)
	name := l.ranges.say(operand)
	if other := l.unitOf(bound); other != "" && unit != "" && isShare(unit) && isShare(other) &&
		percent(unit) != percent(other) && operand.Get("calc") == nil {
		l.warn(r.Value(), "unit", "use one unit on both sides", "in %q %s is in %s and its bound %s in %s", r.ID, name,
			unit, l.ranges.say(bound), other)
		return
	}
	if !isShare(unit) {
		return
	}
	if worked := l.workedValue(operand); worked != nil && !worked.IsZero() && !limit.IsZero() {
		times, err := decimal.Quo(decimal.Abs(limit), decimal.Abs(worked))
		aHundred := above.holds(limit) && between(40, 250).holds(times)
		if err == nil && (aHundred || above.holds(worked) && hundredth.holds(times)) {
			l.warn(r.Value(), "unit", "gate literals are canonical: 0.80, not 80 (S10)",
				"in %q %s is %s in the worked example and its bound is %s: that looks like another unit", r.ID, name,
				worked, limit)
		}
		return
	}
	if !percent(unit) && decimal.Cmp(decimal.Abs(limit), decimal.FromInt(10)) > 0 {
		l.warn(r.Value(), "unit", "gate literals are canonical: 0.80, not 80 (S10)",
			"in %q %s is a %s and its bound is %s: that looks like per cent", r.ID, name, unit, limit)
	}
}

// above is what a fraction of one hardly ever is.
var above = beyond(">", decimal.MustParse("1.5"))

// hundredth is a bound between 1/250 and 1/40 of a value.
var hundredth = interval{bound{n: decimal.MustParse("0.004")}, bound{n: decimal.MustParse("0.025")}}

func isShare(unit string) bool {
	return slices.Contains(shareUnits, unit)
}

func percent(unit string) bool { return unit == "%" || unit == "percent" || unit == "pct" }

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
