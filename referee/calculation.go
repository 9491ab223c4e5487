package referee

import (
	"errors"
	"slices"
	"strconv"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
	"github.com/defendableos/referee/referee/policy"
)

// maxCalculations bounds what one submission may ask to be re-derived (S13b).
const maxCalculations = 512

// calculation is one entry of the submission's calculations and what re-deriving it gave.
type calculation struct {
	v       *strictjson.Value
	pointer string
	name    string
	check   *MathCheck // nil where the sheet does not know it (S21)
	units   string
	money   bool
	bands   bands

	written string       // the result's source text
	raw     *decimal.Num // the result as written; nil when missing
	claimed *decimal.Num // canonical (S10)
	scale   *decimal.Num

	formula    *formula.Formula
	formulaErr error
	renamed    func() *formula.Formula // the formula over the sheet's names
	inputs     formula.Inputs          // the agent's, under the agent's names

	own, sheet       *decimal.Num // recomputed by the agent's formula and by the sheet's
	ownRaw           *decimal.Num // own before it is made canonical
	ownErr, sheetErr error
	worst            deviation // of the claim, against both
	sound            bool      // both could be computed, from inputs that the calculation states: a gate may pass on it
}

// value is the recomputed value that gates read: the sheet's where it can be computed, else the agent's own (S14, S16).
func (c *calculation) value() *decimal.Num {
	if c.sheet != nil {
		return c.sheet
	}
	return c.own
}

// readCalculations reads every calculation and computes the agent's own formula; the sheet's follows on demand, because it may
// need other calculations.
func (a *audit) readCalculations() {
	a.byID = map[string][]*calculation{}
	list := items(a.doc.Get("calculations"))
	for i, v := range list[:min(len(list), maxCalculations)] {
		c := a.readCalculation(i, v)
		a.calcs = append(a.calcs, c)
		if c.check != nil {
			a.byID[c.check.ID] = append(a.byID[c.check.ID], c)
		}
	}
	for _, c := range a.calcs {
		a.computeOwn(c)
	}
	for _, c := range a.calcs {
		if c.check != nil {
			c.sheet, c.sheetErr = a.sheetValue(c.check, c, nil)
		}
	}
}

func (a *audit) readCalculation(i int, v *strictjson.Value) *calculation {
	c := &calculation{v: v, pointer: "/calculations/" + strconv.Itoa(i), name: text(v, "name"), units: text(v, "units"), bands: a.Sheet.penalty}
	if c.name == "" {
		c.name = text(v, "formula_id")
	}
	c.check = a.Sheet.mathNamed(a.sheetName(c.name))
	c.money = monetary(nil, c.units, c.name)
	if c.check != nil {
		c.money, c.bands = c.check.Monetary, c.check.bands
		if c.units == "" {
			c.units = c.check.Units
		}
	} else if c.money {
		c.bands = a.Sheet.money
	}
	c.scale = unitScale(c.units)
	if result := v.Get("result"); num(result) != nil {
		c.written, c.raw = result.Text, num(result)
		c.claimed = scaledBy(c.raw, c.scale)
	}
	c.inputs = formula.Inputs{}
	for _, m := range members(v.Get("inputs")) {
		c.inputs[m.Key] = formulaInput(m.Value)
	}
	return c
}

// errNoFormula: the calculation states no formula.
var errNoFormula = errors.New("no formula")

// computeOwn evaluates the agent's formula at the agent's inputs.
func (a *audit) computeOwn(c *calculation) {
	src, ok := c.v.Get("formula").Str()
	if !ok {
		c.formulaErr = errNoFormula
		return
	}
	names := make([]string, 0, len(c.inputs))
	for _, m := range members(c.v.Get("inputs")) {
		names = append(names, m.Key)
	}
	parsed := a.Sheet.parseFormula(src, names)
	if c.formula, c.formulaErr, c.renamed = parsed.formula, parsed.err, parsed.renamed; c.formulaErr != nil {
		return
	}
	if c.own, c.ownErr = c.formula.Eval(c.inputs); c.ownErr == nil {
		c.ownRaw = c.own
		c.scaleOwn()
	}
}

// scaleOwn makes the agent's value canonical. Where its own formula already yields the claimed number ("…*100" in percent), both are
// scaled (S10); the nearer reading is taken.
func (c *calculation) scaleOwn() {
	if c.raw == nil || decimal.Cmp(c.scale, one) == 0 {
		return
	}
	scaled, err := decimal.Quo(c.own, c.scale)
	if err != nil {
		return
	}
	asIs, asClaimed := distance(c.claimed, c.own), distance(c.raw, c.own)
	if asClaimed != nil && (asIs == nil || decimal.Cmp(asClaimed, asIs) < 0) {
		c.own = scaled
	}
}

// distance is the relative error of a claim, nil for infinite.
func distance(claimed, reference *decimal.Num) *decimal.Num {
	delta, err := decimal.Sub(claimed, reference)
	if err != nil {
		return nil
	}
	return relative(delta, reference)
}

// missingName is the error of a sheet formula that reads a name without a value.
type missingName struct{ Name string }

func (e *missingName) Error() string { return "no value for " + strconv.Quote(e.Name) }

// sheetValue computes a declared calculation by the sheet's formula. A name is read, in this order, from the sheet's constants, the
// agent's inputs of that calculation (c may be nil), the other calculations and the submission's inputs; override comes before all of
// them (for the distance of a gate).
func (a *audit) sheetValue(m *MathCheck, c *calculation, override map[string]*decimal.Num) (*decimal.Num, error) {
	if m.formula == nil {
		return a.sheetExpression(m, c, override)
	}
	in := make(formula.Inputs, len(m.Inputs))
	for _, name := range m.Inputs {
		v, err := a.sheetInput(name, c, override)
		if in := a.input(name); err != nil && in != nil && in.Kind == strictjson.Array {
			return a.sheetExpression(m, c, override) // a list of other things than numbers: only expressions know it
		}
		if err != nil {
			return nil, err
		}
		in[name] = v
	}
	if c.computed(m, in) {
		return c.ownRaw, nil
	}
	return m.formula.Eval(in)
}

// computed reports whether the agent's own value is that of the sheet's formula too: the same text, read alike, over the same numbers. Most
// submissions copy the sheet's formula, and evaluating it a second time took 8 % of an audit.
func (c *calculation) computed(m *MathCheck, in formula.Inputs) bool {
	if c == nil || c.ownRaw == nil || c.formula.Source() != m.formula.Source() || c.formula.Canonical() != m.formula.Canonical() {
		return false
	}
	return !slices.ContainsFunc(m.formula.Vars(), func(name string) bool {
		n := in[name].Num
		return n == nil || n != c.inputs[name].Num
	})
}

// sheetInput resolves one name of a sheet's formula.
func (a *audit) sheetInput(name string, c *calculation, override map[string]*decimal.Num) (formula.Input, error) {
	if n, ok := override[name]; ok {
		return formula.Input{Num: n}, nil
	}
	if n := num(a.Sheet.consts[name]); n != nil {
		return formula.Input{Num: n}, nil // the sheet's constants are not the agent's to choose
	}
	dep := a.Sheet.mathNamed(name)
	if v, ok := a.agentInput(name, c); ok && !(dep != nil && override != nil) {
		return v, nil
	}
	if dep != nil {
		n, err := a.calcValue(dep, override)
		return formula.Input{Num: n}, err
	}
	if v := a.input(name); v != nil {
		if in := formulaInput(v); in.Num != nil || in.List != nil {
			return in, nil
		}
	}
	return formula.Input{}, &missingName{name}
}

// agentInput reads a calculation's own input under the sheet's name for it.
func (a *audit) agentInput(name string, c *calculation) (formula.Input, bool) {
	if c == nil {
		return formula.Input{}, false
	}
	if v, ok := c.inputs[name]; ok && (v.Num != nil || v.List != nil) {
		return v, true
	}
	for _, m := range members(c.v.Get("inputs")) {
		if a.sheetName(m.Key) == name {
			v := c.inputs[m.Key]
			return v, v.Num != nil || v.List != nil
		}
	}
	return formula.Input{}, false
}

// statesInputs reports whether the calculation states every name that the sheet's formula reads as a number of its own.
func (a *audit) statesInputs(c *calculation) bool {
	for _, name := range c.check.Inputs {
		if _, given := a.agentInput(name, c); !given && a.Sheet.consts[name] == nil {
			return false
		}
	}
	return true
}

// sheetName is the sheet's name for an agent's name (S18).
func (a *audit) sheetName(name string) string { return a.Sheet.nameOf(name) }

// calcValue is the recomputed value of a calculation as another formula reads it: the submission's own entry where there is one,
// else the sheet's formula over the submission's inputs.
func (a *audit) calcValue(m *MathCheck, override map[string]*decimal.Num) (*decimal.Num, error) {
	if list := a.byID[m.ID]; len(list) > 0 {
		c := list[min(a.pick[m.ID], len(list)-1)]
		if override == nil && c.sheet != nil {
			return c.sheet, nil
		}
		n, err := a.sheetValue(m, c, override)
		if err != nil && override == nil && c.own != nil {
			return c.own, nil
		}
		return n, err
	}
	return a.sheetValue(m, nil, override)
}

// undefinedValue is the error of a sheet's expression that has no value for another reason than a missing name.
type undefinedValue struct{ why string }

func (e *undefinedValue) Error() string { return e.why }

// sheetExpression computes a formula of rules.md's language, with the same precedence of names as sheetInput.
func (a *audit) sheetExpression(m *MathCheck, c *calculation, override map[string]*decimal.Num) (*decimal.Num, error) {
	env := *a.env
	env.Override = map[string]*decimal.Num{}
	for _, name := range m.Inputs {
		if in, ok := a.agentInput(name, c); ok && in.Num != nil {
			env.Override[name] = in.Num
		}
		if n, ok := override[name]; ok {
			env.Override[name] = n
		}
	}
	env.Calc = func(id string, _ bool) policy.Val {
		if in, ok := a.agentInput(id, c); ok && in.Num != nil && override == nil {
			return policy.Number(in.Num)
		}
		n, err := a.calcValue(a.Sheet.mathNamed(id), override)
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
