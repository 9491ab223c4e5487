package referee

import (
	"slices"
	"strconv"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
	"github.com/defendableos/referee/referee/policy"
)

// chain computes the sheet's calculations as gates read them (S14): from the submission's inputs and the evidence by
// the sheet's formulas, one calculation entering another by its recomputed value. What a calculation restates reaches
// no value of the chain: a gate that read it opened on inputs that were each nudged by less than the tolerance. The
// exception are names that the sheet does not declare, which only the calculations carry (S78).
type chain struct {
	a        *audit
	override map[string]*decimal.Num // inputs at other values, for the distance of a gate
	restated []*calculation          // those whose restated inputs are read, to see whether a gate would turn (S14)
	values   map[link]linkValue
}

// link is a calculation of the sheet, with the entry of the submission whose inputs it reads, nil where it reads none
// of them.
type link struct {
	check *MathCheck
	entry *calculation
}

type linkValue struct {
	n   *decimal.Num
	err error
}

func (a *audit) newChain(override map[string]*decimal.Num, restated ...*calculation) *chain {
	return &chain{a: a, override: override, restated: restated, values: map[link]linkValue{}}
}

// missingName is the error of a sheet formula that reads a name without a value.
type missingName struct{ Name string }

func (e *missingName) Error() string { return "no value for " + strconv.Quote(e.Name) }

// undefinedValue is the error of a sheet's expression that has no value for another reason than a missing name.
type undefinedValue struct{ why string }

func (e *undefinedValue) Error() string { return e.why }

// sheetValue is a declared calculation by the sheet's formula; c is the submission's entry of it, or nil.
func (ch *chain) sheetValue(m *MathCheck, c *calculation) (*decimal.Num, error) {
	key := link{check: m}
	if c != nil && (len(ch.a.Sheet.Carried) > 0 || ch.readsRestated(c)) {
		key.entry = c
	}
	if v, ok := ch.values[key]; ok {
		return v.n, v.err
	}
	n, err := ch.computeCalculation(m, c)
	ch.values[key] = linkValue{n, err}
	return n, err
}

func (ch *chain) computeCalculation(m *MathCheck, c *calculation) (*decimal.Num, error) {
	if m.formula == nil {
		return ch.computeExpression(m, c)
	}
	in := make(formula.Inputs, len(m.Inputs))
	for _, name := range m.Inputs {
		v, err := ch.resolveInput(name, c)
		if err != nil {
			if given := ch.a.inputValue(name); given != nil && given.Kind == strictjson.Array {
				return ch.computeExpression(m, c) // a list of other things than numbers: only expressions know it
			}
			return nil, err
		}
		in[name] = v
	}
	if c.isComputed(m, in) {
		return c.ownRaw, nil
	}
	return ch.a.computeFormula(m.formula, in)
}

// isComputed reports whether the agent's own value is that of the sheet's formula too: the same text, read alike, over
// the same numbers. Most submissions copy the sheet's formula, and evaluating it a second time took 8 % of an audit.
func (c *calculation) isComputed(m *MathCheck, in formula.Inputs) bool {
	if c == nil || c.ownRaw == nil || c.formula.Source() != m.formula.Source() ||
		c.formula.Canonical() != m.formula.Canonical() {
		return false
	}
	return !slices.ContainsFunc(m.formula.Vars(), func(name string) bool {
		n := in[name].Num
		return n == nil || n != c.inputs[name].Num
	})
}

func (ch *chain) readsRestated(c *calculation) bool { return slices.Contains(ch.restated, c) }

// resolveInput resolves one name of a sheet's formula: a constant of the sheet, which is not the agent's to choose,
// another calculation, a declared input of the submission, and for a name that the sheet does not declare what the
// calculation itself carries.
func (ch *chain) resolveInput(name string, c *calculation) (formula.Input, error) {
	a := ch.a
	if n, ok := ch.override[name]; ok {
		return formula.Input{Num: n}, nil
	}
	if n := a.Sheet.consts[name].Decimal(); n != nil {
		return formula.Input{Num: n}, nil
	}
	if ch.readsRestated(c) {
		if v, ok := a.agentInput(name, c); ok {
			return v, nil
		}
	}
	if dep := a.Sheet.mathNamed(name); dep != nil {
		n, err := ch.readCalculation(dep)
		return formula.Input{Num: n}, err
	}
	v := a.statedInput(name)
	if a.Sheet.carriesName(name) {
		v, _ = a.agentInput(name, c)
	}
	if v.Num == nil && v.List == nil {
		return formula.Input{}, &missingName{name}
	}
	return v, nil
}

// readCalculation is the value of a calculation as other calculations and gates read it: the sheet's, and where that
// cannot be computed the agent's own, which may show that a gate fails and never that it holds (S16, S51).
func (ch *chain) readCalculation(m *MathCheck) (*decimal.Num, error) {
	c := ch.a.pickedCalculation(m.ID)
	n, err := ch.sheetValue(m, c)
	if err != nil && ch.override == nil && c != nil && c.own != nil {
		return c.own, nil
	}
	return n, err
}

// pickedCalculation is the entry of a calculation that is read now (S19), or nil.
func (a *audit) pickedCalculation(id string) *calculation {
	list := a.byID[id]
	if len(list) == 0 {
		return nil
	}
	return list[min(a.pick[id], len(list)-1)]
}

// chooseCalculations reads one of each duplicated calculation from now on.
func (a *audit) chooseCalculations(pick map[string]int) {
	if len(pick) > 0 || len(a.pick) > 0 {
		a.facts = a.newChain(nil)
	}
	a.pick = pick
}

// computeExpression computes a formula of rules.md's language, with the same precedence of names as input.
func (ch *chain) computeExpression(m *MathCheck, c *calculation) (*decimal.Num, error) {
	env := *ch.a.env
	env.Override = map[string]*decimal.Num{}
	for _, name := range m.Inputs {
		if n := ch.movedInput(name, c); n != nil {
			env.Override[name] = n
		}
	}
	env.Calc = func(id string, _ bool) policy.Val {
		if n, ok := ch.restatedNumber(id, c); ok {
			return policy.Number(n)
		}
		dep := ch.a.Sheet.mathNamed(id)
		if dep == nil {
			return policy.Absent("the sheet has no formula for " + id)
		}
		n, err := ch.readCalculation(dep)
		if err != nil || n == nil {
			return policy.Absent(id + " cannot be computed")
		}
		return policy.Number(n)
	}
	res := m.expr.Eval(&env)
	switch {
	case res.Val.Num != nil:
		return res.Val.Num, nil
	case len(res.Issues) > 0:
		return nil, &undefinedValue{res.Issues[0].Message}
	case len(res.Missing) > 0:
		return nil, &missingName{res.Missing[0].Name}
	}
	return nil, &undefinedValue{"the formula gives " + res.Val.String() + ", not a number"}
}

// movedInput is the number that an expression reads for an input in place of the member of that name: nil where that
// member is what it reads.
func (ch *chain) movedInput(name string, c *calculation) *decimal.Num {
	if n, ok := ch.override[name]; ok {
		return n
	}
	if n, ok := ch.restatedNumber(name, c); ok {
		return n
	}
	if ch.a.Sheet.carriesName(name) {
		v, _ := ch.a.agentInput(name, c)
		return v.Num
	}
	if ch.a.doc.Get("inputs").Get(name) == nil {
		return ch.a.statedInput(name).Num // under one of the sheet's other names for it
	}
	return nil
}

// restatedNumber is what the calculation itself states for a name, where the chain reads that.
func (ch *chain) restatedNumber(name string, c *calculation) (*decimal.Num, bool) {
	if !ch.readsRestated(c) {
		return nil, false
	}
	v, ok := ch.a.agentInput(name, c)
	return v.Num, ok && v.Num != nil
}

// statedInput is the submission's declared input as formulas read it: a number, a list of numbers, or neither.
func (a *audit) statedInput(name string) formula.Input {
	if v, ok := a.given[name]; ok {
		return v
	}
	v := formulaInput(a.inputValue(name))
	if a.given == nil {
		a.given = map[string]formula.Input{}
	}
	a.given[name] = v
	return v
}

// carriesName reports whether only calculations carry this name (S78).
func (s *Sheet) carriesName(name string) bool { return slices.Contains(s.Carried, name) }
