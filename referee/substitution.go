package referee

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/formula"
)

// samplePoints is how many points decide whether two formulas are the same function (S16).
const samplePoints = 8

// checkSubstituted flags an agent's formula that is not the sheet's (S16): another canonical form, and another value at
// the actual inputs or at a point drawn from the submission's hash, which its author cannot aim at.
func (a *audit) checkSubstituted(r *Rule, c *calculation) bool {
	m := c.check
	if m.formula == nil || c.formula == nil || c.own == nil || c.sheet == nil {
		return false
	}
	if a.readsNothing(c) {
		a.flagSubstituted(r, c, "it reads none of the inputs")
		return true
	}
	renamed := c.renamed()
	if renamed.Canonical() == m.formula.Canonical() {
		return false
	}
	own := a.underSheetNames(c, renamed)
	if own.Canonical() == m.formula.Canonical() {
		return false
	}
	same, where := a.sameFunction(c, own)
	if same {
		a.addAtom("recompute.same_formula", m.ID, true, "critical", "field", "the formula against the sheet's")
		return false
	}
	a.flagSubstituted(r, c, where)
	return true
}

func (a *audit) flagSubstituted(r *Rule, c *calculation, where string) {
	m := c.check
	id := a.addAtom("recompute.same_formula", m.ID, false, "critical", "field", "the formula against the sheet's")
	a.addFinding(r, Finding{Code: "math.formula_substituted", Tier: High, Pointer: c.pointer + "/formula",
		Atoms: []string{id},
		Message: fmt.Sprintf("calculation %q uses %s; the sheet's formula is %s (%s)", m.ID, clipText(c.formula.Source()),
			m.Text, where),
		Spot: &Spot{Claimed: reportNumber(c.own), Recomputed: reportNumber(c.sheet)},
		Fix: &Fix{Text: fmt.Sprintf("use the sheet's formula, %s; at these inputs it gives %s", m.Text,
			shownNumber(c.sheet))}})
}

// numberForFormula flags a number in place of a formula where the agent's language cannot say the sheet's. The formula
// may be left out there, and the sheet's is computed from the rows either way: so a number misleads a reader, and no
// gate, and the flag is low.
func (a *audit) numberForFormula(r *Rule, c *calculation) bool {
	m := c.check
	if m.formula != nil || c.formula == nil || !a.areFixed(c.renamed().Vars()) {
		return false
	}
	id := a.addAtom("recompute.same_formula", m.ID, false, "minor", "field", "the formula against the sheet's")
	a.addFinding(r, Finding{Code: "math.formula_substituted", Tier: Low, Pointer: c.pointer + "/formula",
		Atoms: []string{id},
		Message: fmt.Sprintf("calculation %q states %s as its formula, which reads none of the inputs; the sheet's "+
			"formula is %s", m.ID, clipText(c.formula.Source()), m.Text),
		Fix: &Fix{Text: "leave the formula out: the sheet computes it from the rows"}})
	return true
}

// readsNothing reports whether the agent's formula is the same number whatever the inputs are, although the sheet's
// reads some. A constant can agree at every point, where the sheet's formula has a floor: max(0, …).
func (a *audit) readsNothing(c *calculation) bool {
	return a.areFixed(c.renamed().Vars()) && !a.areFixed(c.check.Inputs)
}

// areFixed reports whether all names are constants or parameters of the sheet.
func (a *audit) areFixed(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return a.Sheet.consts[name] == nil })
}

// sameFunction compares at the actual inputs, then at points. Both are asked at the values that the chain reads: what a
// calculation restates otherwise is said of the restatement.
func (a *audit) sameFunction(c *calculation, own *formula.Formula) (same bool, why string) {
	at := make(formula.Inputs, len(own.Vars()))
	var foreign []string
	for _, name := range own.Vars() {
		at[name] = a.actualValue(name, c)
		if !a.Sheet.knowsName(name) {
			foreign = append(foreign, name)
		}
	}
	if x, err := own.Eval(at); err != nil || !closeTo(x, c.sheet) && !closeTo(scaledBy(x, c.scale), c.sheet) {
		return false, "they differ at these inputs"
	}
	elsewhere := "they agree at these inputs and differ at others"
	if len(foreign) > 0 {
		elsewhere = "it reads " + joinListed(foreign) + ", which is no name and no value of the sheet's"
	}
	vars := a.freeNames(c, own)
	decided := 0
	for k := range samplePoints {
		point := a.drawPoint(c, vars, k)
		x, errX := a.computeFormula(own, point)
		y, errY := a.sheetAt(c.check, c, point)
		if errX != nil && errY != nil {
			continue // undefined for both
		}
		if errX != nil || errY != nil || !(closeTo(x, y) || closeTo(scaledBy(x, c.scale), y)) {
			return false, elsewhere
		}
		decided++
	}
	return decided > 0 || len(vars) == 0, "they could be compared nowhere"
}

// underSheetNames is the agent's formula with each name that the sheet does not know read as the input or calculation
// whose value it has: an agent that writes net_operating_income for noi uses the sheet's formula. No gate rests on what
// is read here.
func (a *audit) underSheetNames(c *calculation, own *formula.Formula) *formula.Formula {
	taken := slices.Clone(own.Vars())
	meant := map[string]string{}
	for _, name := range own.Vars() {
		if a.Sheet.knowsName(name) {
			continue
		}
		if n := a.standsFor(name, c, taken); n != "" {
			meant[name], taken = n, append(taken, n)
			c.readAs = append(c.readAs, name+" is "+n)
		}
	}
	if len(meant) == 0 {
		return own
	}
	return own.NormaliseWith(func(name string) string { return cmp.Or(meant[name], name) })
}

// standsFor is the first name in what the sheet's formula is made of, not taken yet, whose value the calculation states
// under another name; "" where there is none.
func (a *audit) standsFor(name string, c *calculation, taken []string) string {
	for _, m := range c.v.Get("inputs").Fields() {
		x := m.Value.Decimal()
		if x == nil || a.sheetName(m.Key) != name {
			continue
		}
		for _, candidate := range a.Sheet.componentsOf(c.check) {
			in, err := a.facts.resolveInput(candidate, c)
			if err != nil || in.Num == nil || slices.Contains(taken, candidate) {
				continue
			}
			if decimal.Cmp(x, in.Num) == 0 || honestlyRounded(x, in.Num, m.Value.Text, one) {
				return candidate
			}
		}
	}
	return ""
}

// knowsName reports whether the sheet gives a name a meaning.
func (s *Sheet) knowsName(name string) bool {
	return s.declaredInput(name) != nil || s.mathNamed(name) != nil || s.consts[name] != nil || s.carriesName(name)
}

// componentsOf lists the inputs and calculations that a calculation is made of, those of its formula first.
func (s *Sheet) componentsOf(m *MathCheck) []string {
	var out []string
	for level := []*MathCheck{m}; len(level) > 0; {
		var below []*MathCheck
		for _, m := range level {
			for _, name := range m.Inputs {
				if s.consts[name] != nil || slices.Contains(out, name) {
					continue
				}
				out = append(out, name)
				if dep := s.mathNamed(name); dep != nil {
					below = append(below, dep)
				}
			}
		}
		level = below
	}
	return out
}

func scaledBy(n, scale *decimal.Num) *decimal.Num {
	if n == nil || scale == one {
		return n
	}
	q, err := decimal.Quo(n, scale)
	if err != nil {
		return nil
	}
	return q
}

// sameDigits allows for the different rounding of two forms of one function.
var sameDigits = decimal.MustParse("1e-18")

func closeTo(x, y *decimal.Num) bool {
	if x == nil || y == nil {
		return false
	}
	rel := claimDistance(x, y)
	return rel != nil && decimal.Cmp(rel, sameDigits) <= 0
}

// freeNames is the union of the variables: the agent's, and those of the sheet's formula with calculations that the
// agent does not name replaced by what they are made of. A calculation over rows is a variable itself: rows are not
// drawn, and a value that stays the same at every point would let a constant agree everywhere.
func (a *audit) freeNames(c *calculation, own *formula.Formula) []string {
	vars := slices.Clone(own.Vars())
	var walk func(m *MathCheck)
	walk = func(m *MathCheck) {
		for _, name := range m.Inputs {
			if slices.Contains(vars, name) {
				continue
			}
			if dep := a.Sheet.mathNamed(name); dep != nil && dep.formula != nil {
				walk(dep)
				continue
			}
			if a.Sheet.consts[name] == nil {
				vars = append(vars, name)
			}
		}
	}
	walk(c.check)
	return vars
}

// drawPoint draws the k-th point: each variable, and each item of a list, is its actual value times a factor between
// 0.75 and 1.25, or that factor where it is 0 or has none, from SHA-256 over the submission's bytes.
func (a *audit) drawPoint(c *calculation, vars []string, k int) formula.Inputs {
	seed := sha256.Sum256(a.Bytes)
	out := make(formula.Inputs, len(vars))
	for _, name := range vars {
		h := sha256.New()
		h.Write([]byte("referee.point/v1\n"))
		h.Write(seed[:])
		h.Write([]byte{byte(k)})
		h.Write([]byte(name))
		draw, actual := h.Sum(nil), a.actualValue(name, c)
		if a.Sheet.consts[name] != nil {
			out[name] = actual // a constant is no variable
			continue
		}
		if actual.List == nil {
			out[name] = formula.Input{Num: scatterNumber(actual.Num, draw)}
			continue
		}
		list := make([]*decimal.Num, len(actual.List))
		for i, n := range actual.List {
			item := sha256.Sum256(binary.BigEndian.AppendUint32(draw[:len(draw):len(draw)], uint32(i)))
			list[i] = scatterNumber(n, item[:])
		}
		out[name] = formula.Input{List: list}
	}
	return out
}

// scatterNumber is n times a factor that the first bytes of draw choose.
func scatterNumber(n *decimal.Num, draw []byte) *decimal.Num {
	c := newCalculator()
	share := decimal.FromInt(int64(binary.BigEndian.Uint32(draw) % 500_000))
	factor := c.add(c.quo(share, decimal.FromInt(1_000_000)), decimal.MustParse("0.75"))
	if n == nil || n.IsZero() {
		return factor
	}
	if p := c.mul(n, factor); c.err == nil {
		return p
	}
	return factor
}

// actualValue is the value a variable has now, if it has one.
func (a *audit) actualValue(name string, c *calculation) formula.Input {
	if in, err := a.facts.resolveInput(name, c); err == nil {
		return in
	}
	in, _ := a.agentInput(name, c)
	return in
}

// sheetAt evaluates the sheet's formula at a point.
func (a *audit) sheetAt(m *MathCheck, c *calculation, point formula.Inputs) (*decimal.Num, error) {
	in := make(formula.Inputs, len(m.Inputs))
	for _, name := range m.Inputs {
		if v, ok := point[name]; ok {
			in[name] = v
			continue
		}
		if dep := a.Sheet.mathNamed(name); dep != nil && dep.formula != nil {
			n, err := a.sheetAt(dep, c, point)
			if err != nil {
				return nil, err
			}
			in[name] = formula.Input{Num: n}
			continue
		}
		v, err := a.facts.resolveInput(name, c)
		if err != nil {
			return nil, err
		}
		in[name] = v
	}
	return a.computeFormula(m.formula, in)
}
