package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
)

// loadPenalty reads the penalty bands (S2–S6).
func (l *loader) loadPenalty() {
	s, v := l.sheet, l.sheet.Doc.At("/eval_spec/penalty")
	s.penalty = l.loadBands(v, "noncritical_pct", "critical_pct", defaultBands)
	s.money = l.loadBands(v, "monetary_noncritical_pct", "monetary_critical_pct", s.penalty)
	s.material = v.Get("monetary_material_abs").Decimal()
	for _, b := range []bands{s.penalty, s.money} {
		if err := b.checkValid(); err != nil {
			l.problems.addProblem(v, "penalty", "penalty: %v", err)
		}
	}
}

func (l *loader) loadBands(v *strictjson.Value, mid, high string, from bands) bands {
	b := from
	if n := v.Get("tolerance").Decimal(); n != nil {
		b.tolerance = n
	}
	if n := v.Get(mid).Decimal(); n != nil {
		b.mid = asFraction(n)
	}
	if n := v.Get(high).Decimal(); n != nil {
		b.high = asFraction(n)
	}
	return b
}

// asFraction reads an edge named "…_pct": 10 and 0.10 both mean ten per cent. An edge of 100 % or more is no edge, and
// one below 1 % would lie under the tolerance, so the two readings never meet.
func asFraction(n *decimal.Num) *decimal.Num {
	if decimal.Cmp(n, one) < 0 {
		return n
	}
	f, err := decimal.Quo(n, hundred)
	if err != nil {
		return n
	}
	return f
}

// loadMath compiles the declared calculations.
func (l *loader) loadMath() {
	s := l.sheet
	s.alias = map[string]string{}
	for _, in := range s.Inputs {
		l.addAliases(in.Name, in.Aliases, s.Doc)
	}
	for _, name := range slices.Concat(s.Carried, s.Undeclared) {
		l.addAliases(name, nil, s.Doc)
	}
	for _, v := range s.Doc.At("/eval_spec/math_checks").Elements() {
		m := l.mathCheck(v)
		s.Math = append(s.Math, m)
		l.addAliases(m.ID, nil, v)
		for _, a := range v.Get("aliases").Fields() {
			if !slices.Contains(s.names.Calcs, a.Key) && !slices.Contains(s.names.Inputs, a.Key) {
				l.problems.addNear(a.Value, "unknown_name", a.Key, append(slices.Clone(s.names.Calcs),
					s.names.Inputs...), "aliases name %q, which is neither a calculation nor an input", a.Key)
			}
			l.addAliases(a.Key, a.Value.Texts(), a.Value)
		}
	}
	l.refuseCycles()
	for _, m := range s.Math {
		l.workedNumber(m)
	}
}

func (l *loader) addAliases(name string, aliases []string, at *strictjson.Value) {
	for _, a := range append([]string{name}, aliases...) {
		n := normalName(a)
		if was, taken := l.sheet.alias[n]; taken && was != name {
			l.problems.addProblem(at, "duplicate", "%q names both %q and %q (names are compared as %q)", a, was, name, n)
		}
		l.sheet.alias[n] = name
	}
}

func (l *loader) mathCheck(v *strictjson.Value) *MathCheck {
	m := &MathCheck{ID: v.TextOf("formula_id"), Label: v.TextOf("label"), Units: v.TextOf("units"),
		Optional: v.Get("optional").IsTrue(), v: v,
		Why: v.TextOf("why"), Fix: v.TextOf("fix"), Tier: High}
	if t := v.TextOf("tier"); t != "" {
		m.Tier = Tier(t)
	}
	l.claimID("math."+m.ID, v)
	m.Monetary = isMonetary(readBoolean(v.Get("monetary")), m.Units, m.ID)
	m.bands = l.sheet.penalty
	if m.Monetary {
		m.bands = l.sheet.money
	}
	if n := v.Get("tolerance").Decimal(); n != nil {
		m.bands.tolerance = n
		switch {
		case n.IsNeg():
			l.problems.addProblem(v.Get("tolerance"), "tolerance", "tolerance %s is below 0: nothing would pass", n)
		case decimal.Cmp(n, m.bands.mid) > 0:
			l.problems.addProblem(v.Get("tolerance"), "tolerance", "tolerance %s is above the mid edge %s: errors between "+
				"the two would pass (S6)", n, m.bands.mid)
		}
	}
	m.bands.abs = v.Get("tolerance_abs").Decimal()
	l.compileFormula(m, v.Get("formula"))
	return m
}

// compileFormula takes the agent's language where the formula can be said in it, because then two formulas can be
// compared as such (S16); else the expression language of rules.md.
func (l *loader) compileFormula(m *MathCheck, v *strictjson.Value) {
	if l.known == nil {
		l.known = l.sheet.formulaNames()
		l.reads = formula.NewNames(l.known)
	}
	if src, ok := v.Str(); ok {
		if f, err := l.reads.Parse(src); err == nil && isSubset(f.Vars(), l.known) {
			m.formula, m.Inputs, m.Text = f, f.Vars(), src
		}
	}
	m.expr = l.loadExpr(v, "formula of "+m.ID)
	if m.expr == nil {
		return
	}
	if m.Text == "" {
		m.Text = m.expr.Text()
		refs := m.expr.Refs()
		m.Inputs = append(slices.Clone(refs.Inputs), refs.Calcs...)
	}
	if !m.expr.Number() {
		l.problems.addProblem(v, "not_a_number", "the formula of %s can never be a number", m.ID)
	}
}

// formulaNames are the names that a formula of the agent's language may read: inputs, calculations, and constants and
// parameters that are numbers.
func (s *Sheet) formulaNames() []string {
	out := slices.Concat(s.names.Calcs, s.Carried)
	for _, in := range s.Inputs {
		if in.Type == "" || in.Type == "number" || in.Type == "integer" || in.Type == "array" && in.Fields == nil {
			out = append(out, in.Name) // the agent's language knows numbers and lists of them
		}
	}
	for _, m := range s.Doc.Get("consts").Fields() {
		if m.Value.Get("value").Decimal() != nil {
			out = append(out, m.Key)
		}
	}
	for _, p := range s.Params {
		if s.consts[p.Name].Decimal() != nil {
			out = append(out, p.Name)
		}
	}
	return out
}

// refuseCycles: a calculation that needs itself can never be computed.
func (l *loader) refuseCycles() {
	state := map[string]int{}
	var visit func(m *MathCheck) bool
	visit = func(m *MathCheck) bool {
		if state[m.ID] != 0 {
			return state[m.ID] == 1
		}
		state[m.ID] = 1
		for _, name := range m.Inputs {
			if dep := l.sheet.mathNamed(name); dep != nil && visit(dep) {
				l.problems.addProblem(m.v.Get("formula"), "cycle", "calculation %q depends on itself through %q", m.ID, name)
				break
			}
		}
		state[m.ID] = 2
		return false
	}
	for _, m := range l.sheet.Math {
		visit(m)
	}
}

// mathNamed returns the declared calculation with this id, or nil.
func (s *Sheet) mathNamed(id string) *MathCheck {
	i := slices.IndexFunc(s.Math, func(m *MathCheck) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return s.Math[i]
}

// workedNumber refuses a sheet whose own worked example does not re-derive (S53): one original sheet expects a debt
// service that its formula does not give.
func (l *loader) workedNumber(m *MathCheck) {
	want := m.v.Get("expected_result").Decimal()
	inputs := m.v.Get("inputs")
	if want == nil {
		return
	}
	if inputs == nil || inputs.Kind != strictjson.Object || m.formula == nil {
		l.problems.addProblem(m.v.Get("expected_result"), "worked_number",
			"expected_result of %s needs inputs {name: number} to be recomputed from (S53)", m.ID)
		return
	}
	in := formula.Inputs{}
	for _, name := range m.Inputs {
		in[name] = formula.Input{Num: l.sheet.consts[name].Decimal()}
	}
	for _, member := range inputs.Members {
		in[member.Key] = formulaInput(member.Value)
	}
	got, err := m.formula.Eval(in)
	if err != nil {
		l.problems.addProblem(m.v.Get("expected_result"), "worked_number", "the worked example of %s cannot be computed: %v",
			m.ID, err)
		return
	}
	d := bands{tolerance: decimal.MustParse("0.000001"), mid: m.bands.mid, high: m.bands.high}.measureDeviation(want, got,
		m.v.Get("expected_result").Text, nil)
	if d.isFlag() {
		l.problems.addProblem(m.v.Get("expected_result"), "worked_number",
			"the worked example of %s computes to %s, not %s (S53)", m.ID, got, want)
	}
}

// formulaInput reads a number or an array of numbers; anything else is an empty Input, which formulas treat as missing.
func formulaInput(v *strictjson.Value) formula.Input {
	if v != nil && v.Kind == strictjson.Array {
		var list []*decimal.Num
		for _, item := range v.Items {
			n := item.Decimal()
			if n == nil {
				return formula.Input{}
			}
			list = append(list, n)
		}
		return formula.Input{List: list}
	}
	return formula.Input{Num: v.Decimal()}
}

func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// readBoolean reads a JSON boolean; nil when it is absent.
func readBoolean(v *strictjson.Value) *bool {
	if v == nil || v.Kind != strictjson.Bool {
		return nil
	}
	b := v.IsTrue()
	return &b
}
