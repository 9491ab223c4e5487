package policy

// evalCall evaluates a function: its arguments first, unless it evaluates them itself. A missing argument makes the
// result missing and one of another type than the parameter takes is an issue (S25), before the function sees anything.
func (ev *evaluator) evalCall(n *node) Val {
	if n.fn.lazy != nil {
		v := n.fn.lazy(ev, n)
		if n.text != "" {
			ev.noteOperand(n, v, callSource(n))
		}
		return v
	}
	args := make([]Val, len(n.args))
	var absent *Val
	for i, a := range n.args {
		if a == nil || a.kind == kCalendar {
			continue
		}
		args[i] = ev.evalArgument(n, i)
		if args[i].Kind == Missing && absent == nil {
			absent = &args[i]
		}
	}
	if absent != nil {
		return *absent
	}
	v := n.fn.eval(ev, n, args)
	if n.text != "" {
		ev.noteOperand(n, v, callSource(n))
	}
	return v
}

func callSource(n *node) string {
	switch n.fn.name {
	case "agg":
		return "aggregate"
	case "lookup":
		return "const"
	}
	return n.fn.name
}

func (ev *evaluator) evalArgument(n *node, i int) Val {
	v := ev.eval(n.args[i])
	if want := n.fn.paramAt(i).typ; v.Kind != Missing && want != 0 && typeOfKind(v.Kind)&want == 0 {
		return ev.typeMismatch(n.args[i], v, want, n.fn.name)
	}
	return v
}

// evalLazyArgument evaluates an argument of a lazy function, checked against its parameter.
func (ev *evaluator) evalLazyArgument(n *node, i int) Val {
	if n.arg(i) == nil {
		return Absent("left out")
	}
	return ev.evalArgument(n, i)
}

// implies is not a or b: a false premise makes it true whatever the conclusion (rules.md 1.6).
func evalImplies(ev *evaluator, n *node) Val {
	missing, issues := len(ev.missing), len(ev.issues)
	premise := ev.evalTruth(n.args[0], "implies")
	if premise.Kind == Bool && !premise.Bool {
		return Truth(true)
	}
	conclusion := ev.evalTruth(n.args[1], "implies")
	if conclusion.Kind == Bool && conclusion.Bool {
		ev.forgetMissing(missing, issues)
		return conclusion
	}
	if premise.Kind == Missing {
		return premise
	}
	return conclusion
}

// evalNonempty: null is empty, an absent operand is unknown (S30).
func evalNonempty(ev *evaluator, n *node) Val {
	missing, issues, bad := len(ev.missing), len(ev.issues), ev.rowBad
	v := ev.eval(n.args[0])
	if v.Kind == Missing && v.isNull() {
		ev.missing, ev.issues, ev.rowBad = ev.missing[:min(missing, len(ev.missing))],
			ev.issues[:min(issues, len(ev.issues))], bad
		return Truth(false)
	}
	if v.Kind == Missing {
		return v
	}
	return Truth(!v.isEmpty(false))
}
