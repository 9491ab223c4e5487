package referee

import (
	"errors"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
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
	restated         bool      // an input is not what it restates, to the digit: a gate might turn on it (S14)
	bent             bool      // and not by honest rounding (S17a)
	readAs           []string  // names of the agent's own that were read as the sheet's
	sound            bool      // both could be computed, from inputs that the calculation states: a gate may pass on it
}

// recomputedValue is the recomputed value that gates read: the sheet's where it can be computed, else the agent's own
// (S14, S16).
func (c *calculation) recomputedValue() *decimal.Num {
	if c.sheet != nil {
		return c.sheet
	}
	return c.own
}

// readCalculations reads every calculation and computes the agent's own formula; the sheet's follows on demand, because
// it may need other calculations.
func (a *audit) readCalculations() {
	a.byID = map[string][]*calculation{}
	list := a.doc.Get("calculations").Elements()
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
			c.sheet, c.sheetErr = a.facts.sheetValue(c.check, c)
		}
	}
}

func (a *audit) readCalculation(i int, v *strictjson.Value) *calculation {
	c := &calculation{v: v, pointer: strictjson.JoinIndex("/calculations", i), name: v.TextOf("name"),
		units: v.TextOf("units"),
		bands: a.Sheet.penalty}
	if c.name == "" {
		c.name = v.TextOf("formula_id")
	}
	c.check = a.Sheet.mathNamed(a.sheetName(c.name))
	c.money = isMonetary(nil, c.units, c.name)
	if c.check != nil {
		c.money, c.bands = c.check.Monetary, c.check.bands
		if c.units == "" {
			c.units = c.check.Units
		}
	} else if c.money {
		c.bands = a.Sheet.money
	}
	c.scale = unitScale(c.units)
	if result := v.Get("result"); result.Decimal() != nil {
		c.written, c.raw = result.Text, result.Decimal()
		c.claimed = scaledBy(c.raw, c.scale)
	}
	c.inputs = formula.Inputs{}
	for _, m := range c.statedInputs() {
		c.inputs[m.Key] = a.ownInput(m)
	}
	return c
}

// statedInputs are the inputs of a calculation; of one with more than a formula can be read over, none.
func (c *calculation) statedInputs() []strictjson.Member {
	if in := c.v.Get("inputs").Fields(); len(in) <= formula.MaxNames {
		return in
	}
	return nil
}

// ownInput reads what a calculation states for a name. Where it is the very text of the submission's input it is the
// very number, so that nothing is read or computed twice.
func (a *audit) ownInput(m strictjson.Member) formula.Input {
	v := a.doc.Get("inputs").Get(m.Key)
	if v != nil && v.Kind == strictjson.Number && m.Value.Kind == strictjson.Number && v.Text == m.Value.Text &&
		a.Sheet.declaredInput(m.Key) != nil {
		return a.statedInput(m.Key)
	}
	return formulaInput(m.Value)
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
	names := make([]string, 0, len(c.v.Get("inputs").Fields()))
	for _, m := range c.v.Get("inputs").Fields() {
		names = append(names, m.Key)
	}
	parsed := a.Sheet.parseFormula(src, names)
	if c.formula, c.formulaErr, c.renamed = parsed.formula, parsed.err, parsed.renamed; c.formulaErr != nil {
		return
	}
	if c.own, c.ownErr = a.computeFormula(c.formula, c.inputs); c.ownErr == nil {
		c.ownRaw = c.own
		c.scaleOwn()
	}
}

// scaleOwn makes the agent's value canonical. Where its own formula already yields the claimed number ("…*100" in
// percent), both are scaled (S10); the nearer reading is taken.
func (c *calculation) scaleOwn() {
	if c.raw == nil || decimal.Cmp(c.scale, one) == 0 {
		return
	}
	scaled, err := decimal.Quo(c.own, c.scale)
	if err != nil {
		return
	}
	asIs, asClaimed := claimDistance(c.claimed, c.own), claimDistance(c.raw, c.own)
	if asClaimed != nil && (asIs == nil || decimal.Cmp(asClaimed, asIs) < 0) {
		c.own = scaled
	}
}

// claimDistance is the relative error of a claim, nil for infinite.
func claimDistance(claimed, reference *decimal.Num) *decimal.Num {
	delta, err := decimal.Sub(claimed, reference)
	if err != nil {
		return nil
	}
	return relativeError(delta, reference)
}

// agentInput reads a calculation's own input under the sheet's name for it.
func (a *audit) agentInput(name string, c *calculation) (formula.Input, bool) {
	if c == nil {
		return formula.Input{}, false
	}
	if v, ok := c.inputs[name]; ok && (v.Num != nil || v.List != nil) {
		return v, true
	}
	for _, m := range c.statedInputs() {
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
