package policy

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
)

// evalCompare evaluates a chain: true if every link is, false if one is, unknown otherwise.
func (ev *evaluator) evalCompare(n *node) Val {
	vals := make([]Val, len(n.args))
	for i, a := range n.args {
		vals[i] = ev.eval(a)
	}
	if len(vals) == 2 {
		ev.keepSides(n, vals[0], vals[1])
	}
	result := Truth(true)
	for i, op := range n.ops {
		v := ev.evalLink(n, i, op, vals[i], vals[i+1])
		if v.Kind == Bool && !v.Bool {
			return v
		}
		if v.Kind == Missing {
			result = v
		}
	}
	return result
}

func (ev *evaluator) evalLink(n *node, i int, op string, l, r Val) Val {
	switch {
	case l.Kind == Missing:
		return l
	case r.Kind == Missing:
		return r
	case op == "==" || op == "!=":
		same := ev.evalEqual(n.args[i], n.args[i+1], l, r)
		if same.Kind == Bool && op == "!=" {
			same.Bool = !same.Bool
		}
		return same
	}
	c, bad := ev.evalOrder(n.args[i], n.args[i+1], l, r, op)
	if bad != nil {
		return *bad
	}
	return Truth(op == "<" && c < 0 || op == "<=" && c <= 0 || op == ">" && c > 0 || op == ">=" && c >= 0)
}

// evalEqual is == on values of one type; of two types it is unknown (S25). Numbers are compared at 28 digits (S32).
func (ev *evaluator) evalEqual(ln, rn *node, l, r Val) Val {
	if l.Kind != r.Kind {
		return ev.typeMismatch(rn, r, typeOfKind(l.Kind), "a comparison with "+l.String())
	}
	switch l.Kind {
	case Num:
		return Truth(decimal.Cmp(l.Num, r.Num) == 0)
	case Str:
		return Truth(l.Str == r.Str || legible.Fold(l.Str) == legible.Fold(r.Str))
	case Bool:
		return Truth(l.Bool == r.Bool)
	}
	if l.holdsNull() || r.holdsNull() {
		return ev.nullIn(slices.Concat(l.List, r.List))
	}
	return Truth(ev.keyOf(l) == ev.keyOf(r))
}

// holdsNull says whether a list has a missing item, at any depth of lists.
func (v Val) holdsNull() bool {
	return slices.ContainsFunc(v.List, func(item Val) bool { return item.Kind == Missing || item.holdsNull() })
}

// evalOrder compares numbers, and texts that are both dates or both times. Other texts have no order that a rule could
// mean.
func (ev *evaluator) evalOrder(ln, rn *node, l, r Val, op string) (int, *Val) {
	bad := func(v Val) (int, *Val) { return 0, &v }
	if l.Kind == Num && r.Kind == Num {
		return decimal.Cmp(l.Num, r.Num), nil
	}
	if l.Kind == Num || l.Kind != Str {
		want := typeOfKind(l.Kind)
		if l.Kind != Num {
			return bad(ev.typeMismatch(ln, l, tNum, op))
		}
		return bad(ev.typeMismatch(rn, r, want, op))
	}
	if r.Kind != Str {
		if r.Kind == Num {
			return bad(ev.typeMismatch(ln, l, tNum, op))
		}
		return bad(ev.typeMismatch(rn, r, tStr, op))
	}
	a, okA := parseMoment(l.Str)
	b, okB := parseMoment(r.Str)
	switch {
	case !okA:
		return bad(ev.notDate(ln, l, op))
	case !okB:
		return bad(ev.notDate(rn, r, op))
	case a.timed != b.timed:
		return bad(ev.refuseMixed(rn, r, op))
	}
	return a.compare(b), nil
}

func (ev *evaluator) notDate(n *node, v Val, where string) Val {
	text, _ := printText(n)
	ev.addIssue("operand_type", v.Pointer(), "%s is the text %s, and %s takes numbers or ISO dates like 2026-11-30", text,
		v, where)
	return Absent("it is not a date")
}

// refuseMixed refuses to compare a date with a time: the day has no hour (rules.md 1.1, datediff). In a row it is an
// error of the row.
func (ev *evaluator) refuseMixed(n *node, v Val, where string) Val {
	text, _ := printText(n)
	ev.rowBad = ev.rowBad || ev.inRows
	ev.addIssue("date", v.Pointer(), "%s is %s: %s takes two dates or two times, not one of each", text, v, where)
	return Absent("a date and a time")
}

// evalIn is membership (S23, S31): unknown where the value is missing, or where it is not found among items of which
// one is missing.
func (ev *evaluator) evalIn(n *node) Val {
	x, set := ev.eval(n.args[0]), ev.eval(n.args[1])
	switch {
	case x.Kind == Missing:
		return x
	case set.Kind == Missing:
		return set
	case set.Kind != List:
		return ev.typeMismatch(n.args[1], set, tList, "in")
	}
	ev.chargeWork(len(set.List))
	result, key := Truth(false), ev.keyOf(x)
	for _, item := range set.List {
		switch {
		case item.Kind == Missing:
			if result.Kind == Bool && !result.Bool {
				result = Absent("an item of the list is null")
			}
		case item.Kind != x.Kind:
			return ev.typeMismatch(n.args[0], x, typeOfKind(item.Kind), "a list that holds "+item.String())
		case result.Kind != Bool || !result.Bool:
			if ev.keyOf(item) == key {
				result = Truth(true)
			}
		}
	}
	if result.Kind == Bool && n.kind == kNotIn {
		result.Bool = !result.Bool
	}
	return result
}
