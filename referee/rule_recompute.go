package referee

import (
	"fmt"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// recompute are the parameters of a recompute rule: a value of the submission against an expression.
type recompute struct {
	path   string
	claim  *policy.Expr // of calc: the claimed result
	expr   *policy.Expr
	bands  bands
	money  bool
	units  string
	target string // in words
}

func (l *loader) compileRecompute(r *Rule, v *strictjson.Value) {
	rc := &recompute{path: v.TextOf("path"), expr: l.loadExpr(v.Get("formula"), r.ID+": formula"),
		units: v.TextOf("units")}
	rc.target = rc.path
	if id := v.TextOf("calc"); id != "" {
		rc.target = id
		claim, err := policy.ParseText(fmt.Sprintf("claimed(%q)", id), l.sheet.names)
		if err != nil {
			l.problems.addProblem(v.Get("calc"), "unknown_name", "%v", err)
			return
		}
		rc.claim = claim
	}
	if (rc.path == "") == (rc.claim == nil) {
		l.problems.addProblem(v, "missing_key", "a recompute check needs either path or calc")
	}
	if _, err := parsePath(rc.path); rc.path != "" && err != nil {
		l.problems.addProblem(v.Get("path"), "path", "%v", err)
	}
	rc.money = isMonetary(readBoolean(v.Get("monetary")), rc.units, rc.target)
	rc.bands = l.sheet.penalty
	if rc.money {
		rc.bands = l.sheet.money
	}
	if n := v.Get("tolerance").Decimal(); n != nil {
		rc.bands.tolerance = n
	}
	rc.bands.abs = v.Get("tolerance_abs").Decimal()
	if err := rc.bands.checkValid(); err != nil {
		l.problems.addProblem(v.Get("tolerance"), "tolerance", "%v", err)
	}
	if rc.expr == nil {
		return
	}
	r.Text = rc.target + " = " + rc.expr.Text()
	r.expr = rc.expr
	r.run = func(a *audit, r *Rule) outcome { return a.checkRecompute(r, rc) }
}

// checkRecompute holds the value against the expression within the bands.
func (a *audit) checkRecompute(r *Rule, rc *recompute) outcome {
	want := rc.expr.Eval(a.env)
	claim, written, pointer, miss := a.claimOf(rc)
	if miss != nil {
		a.operandMissing(r, *miss)
		return skipOutcome("cannot be decided: %s", missingText(*miss))
	}
	if want.Val.Num == nil {
		return a.noNumbers(r, want)
	}
	if claim == nil {
		a.addFinding(r, Finding{Code: "evidence.operand_type", Tier: Mid, Stage: StageEvidence, Bucket: WorkDefect,
			Pointer: pointer, Message: rc.target + " is not a number", Fix: &Fix{Text: "state it as a JSON number"}})
		return skipOutcome("%s is not a number", rc.target)
	}
	scale := unitScale(rc.units)
	canonical := scaledBy(claim.Num, scale)
	d := a.Sheet.materialAmount(rc.bands.measureDeviation(canonical, want.Val.Num, written, scale), rc.money)
	id := a.addAtom("recompute.within_band", rc.target, !d.isFlag(), atomSeverity(d.band.bandTier()), "field", r.Text)
	if !d.isFlag() {
		out := passed
		if d.rounded {
			out.notes = []string{"rounded: " + rc.target}
		}
		return out
	}
	c := &calculation{name: rc.target, pointer: pointer, worst: d, units: rc.units, money: rc.money, bands: rc.bands,
		written: written, scale: scale, own: want.Val.Num}
	f := a.mismatchFinding(c, id)
	f.Pointer = pointer
	f.Message = fmt.Sprintf("%s is %s; recomputed %s from %s (off by %s, %s)", rc.target, shownNumber(d.claimed),
		shownNumber(d.reference), rc.expr.Text(), amountText(d.delta, rc.money, rc.units), relativeText(d.rel))
	if f.Fix != nil && f.Fix.JSONPatch != "" {
		f.Fix.JSONPatch = ""
	}
	a.addFinding(r, f)
	return flagged
}

// claimOf reads the claimed value with its source text and place.
func (a *audit) claimOf(rc *recompute) (claim *policy.Val, written, pointer string, miss *policy.Result) {
	if rc.claim != nil {
		res := rc.claim.Eval(a.env)
		if res.Val.Num == nil {
			return nil, "", "", &res
		}
		pointer = res.Val.Pointer()
		if v := a.doc.At(pointer); v != nil && v.Kind == strictjson.Number {
			written = v.Text
		}
		return &res.Val, written, pointer, nil
	}
	pointer, _ = parsePath(rc.path)
	v := a.doc.At(pointer)
	if v.IsMissing() {
		return nil, "", pointer, &policy.Result{Missing: []policy.MissingOperand{{Kind: "field", Name: rc.path,
			Pointer: pointer, Why: "nothing at " + pointer}}}
	}
	if v.Decimal() == nil {
		return nil, "", pointer, nil
	}
	val := policy.Number(v.Decimal())
	return &val, v.Text, pointer, nil
}

func (l *loader) compileBind(r *Rule, v *strictjson.Value) {
	m := l.sheet.mathNamed(v.TextOf("calc"))
	if m == nil {
		l.problems.addNear(v.Get("calc"), "unknown_name", v.TextOf("calc"), l.sheet.names.Calcs,
			"bind names the calculation %q, which the sheet does not declare", v.TextOf("calc"))
	}
	to, input := l.loadExpr(v.Get("to"), r.ID+": to"), v.TextOf("input")
	b := l.sheet.penalty
	if n := v.Get("tolerance").Decimal(); n != nil {
		b.tolerance = n
	}
	if err := b.checkValid(); err != nil {
		l.problems.addProblem(v.Get("tolerance"), "tolerance", "%v", err)
	}
	if m == nil || to == nil {
		return
	}
	r.reads = to.Refs().Calcs
	r.Text = fmt.Sprintf("input %s of %s equals %s", input, m.ID, to.Text())
	r.run = func(a *audit, r *Rule) outcome { return a.checkBinding(r, m, input, to, b) }
}

// checkBinding holds an input of a calculation against its bound source.
func (a *audit) checkBinding(r *Rule, m *MathCheck, input string, to *policy.Expr, b bands) outcome {
	want := to.Eval(a.env)
	if want.Val.Num == nil {
		return a.noNumbers(r, want)
	}
	if len(a.byID[m.ID]) == 0 {
		a.noteLacking(r, "/calculations")
		return skipOutcome("no calculation named %q", m.ID)
	}
	before := a.raised
	for _, c := range a.byID[m.ID] {
		in, ok := a.agentInput(input, c)
		if !ok || in.Num == nil {
			a.addFinding(r, Finding{Code: "math.inputs_missing", Tier: Mid, Pointer: c.pointer + "/inputs",
				Message: fmt.Sprintf("calculation %q has no input %q", m.ID, input), Fix: &Fix{Text: "add the input"}})
			continue
		}
		if d := b.measureDeviation(in.Num, want.Val.Num, "", nil); d.isFlag() {
			a.addFinding(r, Finding{Code: "math.bind_mismatch", Tier: d.band.bandTier(), Pointer: c.pointer + "/inputs",
				Spot: spotOf(d),
				Message: fmt.Sprintf("input %q of %q is %s; %s is %s", input, m.ID, shownNumber(in.Num), to.Text(),
					shownNumber(want.Val.Num)), Fix: fixOf(r)})
		}
	}
	return flaggedSince(a, before)
}
