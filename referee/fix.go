package referee

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/policy"
)

// fixDigits is how many significant digits a proposed result has at least: the assignments ask for six. The claim's own
// places would not do: 0.5 for 3/4 would be mended to 0.8, which passes as honest rounding, across a gate of 0.78.
const fixDigits = 6

// fixResult proposes the recomputed result, in the claim's own units and with as many decimals as it takes to pass.
func (c *calculation) fixResult(a *audit) *Fix {
	reference := c.recomputedValue()
	if reference == nil {
		return nil
	}
	written, err := decimal.Mul(reference, c.scale)
	if err != nil {
		return nil
	}
	value := written.String()
	for places := max(decimalsOf(c.written), placesOf(value, fixDigits)); places < 30; places++ {
		r, err := decimal.Round(written, places)
		if err != nil {
			break
		}
		text := fixedPlaces(r.String(), min(places, max(decimalsOf(c.written), decimalsOf(value))))
		claimed, err := decimal.Quo(r, c.scale)
		if err != nil {
			break
		}
		if d := c.bands.measureDeviation(claimed, reference, text, c.scale); !d.isFlag() {
			value = text
			break
		}
	}
	fix := &Fix{Text: fmt.Sprintf("state %s", value)}
	if c.sheet == nil || c.own == nil || closeTo(c.own, c.sheet) || c.check.formula != nil &&
		c.renamed().Canonical() == c.check.formula.Canonical() {
		fix.JSONPatch = singlePatch("replace", c.pointer+"/result", value)
	} else {
		fix.Text = fmt.Sprintf("use the sheet's formula %s, and state %s", c.check.Text, value)
	}
	return fix
}

// singlePatch is a JSON Patch of one operation (RFC 6902); value is JSON.
func singlePatch(op, pointer, value string) string {
	return `[{"op":"` + op + `","path":` + string(appendString(nil, pointer)) + `,"value":` + value + `}]`
}

// decimalsOf counts the decimals a number was written with.
func decimalsOf(written string) int {
	if strings.ContainsAny(written, "eE") {
		return 2
	}
	_, frac, _ := strings.Cut(written, ".")
	return len(frac)
}

// fixedPlaces pads a canonical decimal with zeros to this many places, so that it says how precise it is.
func fixedPlaces(s string, places int) string {
	if places == 0 || strings.ContainsAny(s, "e") {
		return s
	}
	whole, frac, _ := strings.Cut(s, ".")
	return whole + "." + frac + strings.Repeat("0", max(0, places-len(frac)))
}

// maxMoves bounds how many inputs a gate's distance is worked out for.
const maxMoves = 12

// distanceOf works out, for each single input, the value at which the gate would hold, all others kept (a gate's fix).
// Inputs that cannot bring it about alone are left out.
func (a *audit) distanceOf(r *Rule, res policy.Result) *Fix {
	if res.Sides == nil {
		return nil
	}
	fix := &Fix{Text: r.Fix}
	a.adviseWithin(func() {
		for _, name := range a.leavesOf(r.expr) {
			if len(fix.Moves) == maxMoves || a.work.Exhausted() {
				break
			}
			if from := a.inputNumber(name); from != nil {
				if to := a.solveInput(r, name, from); to != nil && !a.work.Exhausted() {
					fix.Moves = append(fix.Moves, Move{Input: name, From: reportNumber(from), To: reportNumber(to)})
				}
			}
		}
	})
	if fix.Text == "" && len(fix.Moves) > 0 {
		fix.Text = "any one of these alone would do: " + movesText(fix.Moves)
	}
	if fix.Text == "" {
		return nil
	}
	return fix
}

func movesText(moves []Move) string {
	words := make([]string, len(moves))
	for i, m := range moves {
		words[i] = fmt.Sprintf("%s from %s to %s", m.Input, groupThousands(m.From), groupThousands(m.To))
	}
	return strings.Join(words, "; ")
}

// leavesOf lists the declared inputs that an expression reads, directly or through calculations, in order of first use.
func (a *audit) leavesOf(e *policy.Expr) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	var walk func(m *MathCheck)
	walk = func(m *MathCheck) {
		if seen["calc "+m.ID] {
			return
		}
		seen["calc "+m.ID] = true
		for _, name := range m.Inputs {
			if dep := a.Sheet.mathNamed(name); dep != nil {
				walk(dep)
			} else if a.Sheet.consts[name] == nil {
				add(name)
			}
		}
	}
	refs := e.Refs()
	for _, name := range refs.Inputs {
		add(name)
	}
	for _, id := range refs.Calcs {
		if m := a.Sheet.mathNamed(id); m != nil {
			walk(m)
		}
	}
	return out
}

// solveInput finds the value of one input at which the gate turns from false to true. Most gates are a quotient of two
// lines in each input, so three evaluations give the root of the fitted quotient; where that does not hold, the
// interval is halved. The answer is tried before it is given.
func (a *audit) solveInput(r *Rule, name string, from *decimal.Num) *decimal.Num {
	gap := func(x *decimal.Num) (*decimal.Num, bool) {
		res := a.evalAt(r, name, x)
		if res.Sides == nil || res.Sides[0].Num == nil || res.Sides[1].Num == nil {
			return nil, false
		}
		d, err := decimal.Sub(res.Sides[0].Num, res.Sides[1].Num)
		return d, err == nil
	}
	holds := func(x *decimal.Num) bool { return a.evalAt(r, name, x).Truth == policy.True }
	if root := quotientRoot(from, gap); root != nil {
		if x := a.tidyRoot(root, from, holds); x != nil {
			return x
		}
	}
	return a.halveToRoot(from, holds)
}

// evalAt evaluates a gate with one input replaced.
func (a *audit) evalAt(r *Rule, name string, x *decimal.Num) policy.Result {
	env := *a.env
	env.Override = map[string]*decimal.Num{name: x}
	env.Calc = a.calcReader(a.newChain(env.Override), nil)
	return r.expr.Eval(&env)
}

// quotientRoot fits g(x) = (p·x + q)/(x + s) through three points and returns −q/p, or the line's root where g is
// linear.
func quotientRoot(from *decimal.Num, g func(*decimal.Num) (*decimal.Num, bool)) *decimal.Num {
	var x, y [3]*decimal.Num
	for i, factor := range []string{"1", "1.01", "0.98"} {
		n, err := decimal.Mul(from, decimal.MustParse(factor))
		if from.IsZero() {
			n, err = decimal.FromInt(int64(i)), nil
		}
		if err != nil {
			return nil
		}
		v, ok := g(n)
		if !ok {
			return nil
		}
		x[i], y[i] = n, v
	}
	return rootOf(x, y)
}

// rootOf solves the fit by inverse rational interpolation: x as (a + b·y)/(1 + c·y) through the three points, at y = 0.
func rootOf(x, y [3]*decimal.Num) *decimal.Num {
	c := newCalculator()
	// a + b·y_i − c·x_i·y_i = x_i; eliminate b and c for a = x at y = 0.
	// y1·x0 − y0·x1 …
	d1, d2 := c.sub(c.mul(y[1], x[0]), c.mul(y[0], x[1])), c.sub(c.mul(y[2], x[0]), c.mul(y[0], x[2]))
	e1, e2 := c.sub(y[1], y[0]), c.sub(y[2], y[0])
	f1, f2 := c.mul(c.mul(y[0], y[1]), c.sub(x[0], x[1])), c.mul(c.mul(y[0], y[2]), c.sub(x[0], x[2]))
	// a·e_i + c·f_i = d_i
	numerator, denominator := c.sub(c.mul(d1, f2), c.mul(d2, f1)), c.sub(c.mul(e1, f2), c.mul(e2, f1))
	if c.err == nil && !denominator.IsZero() {
		if root := c.quo(numerator, denominator); c.err == nil {
			return root
		}
	}
	c = newCalculator()
	root := c.quo(c.sub(c.mul(y[1], x[0]), c.mul(y[0], x[1])), c.sub(y[1], y[0]))
	if c.err != nil {
		return nil
	}
	return root
}

// tidyRoot rounds a root to six significant digits, on the side on which the gate holds.
func (a *audit) tidyRoot(root, from *decimal.Num, holds func(*decimal.Num) bool) *decimal.Num {
	rounded, err := decimal.Parse(roundSignificant(root, 6))
	if err != nil {
		return nil
	}
	step := lastPlace(rounded)
	for _, k := range []int64{0, 1, -1} {
		c := newCalculator()
		x := c.add(rounded, c.mul(step, decimal.FromInt(k)))
		if c.err == nil && decimal.Cmp(x, from) != 0 && sameSign(x, from) && holds(x) {
			return x
		}
	}
	return nil
}

// sameSign: an input that would have to turn negative is no advice; from zero, either way is.
func sameSign(x, from *decimal.Num) bool { return from.IsZero() || x.Sign() == from.Sign() }

// lastPlace is one unit in the last place that tidy keeps of n, so that the next value on the other side is beyond the
// root.
func lastPlace(n *decimal.Num) *decimal.Num {
	unit, err := decimal.Pow(decimal.FromInt(10), decimal.FromInt(int64(-placesOf(n.String(), 6))))
	if err != nil {
		return one
	}
	return unit
}

// halveToRoot looks for the turning point between the value now and half or twice it, then ten times.
func (a *audit) halveToRoot(from *decimal.Num, holds func(*decimal.Num) bool) *decimal.Num {
	if from.IsZero() {
		return nil
	}
	for _, factor := range []string{"0.5", "2", "0.1", "10"} {
		c := newCalculator()
		bad, good := from, c.mul(from, decimal.MustParse(factor))
		if c.err != nil || !holds(good) {
			continue
		}
		for range 24 {
			mid := c.quo(c.add(bad, good), two)
			if c.err != nil {
				return nil
			}
			if holds(mid) {
				good = mid
			} else {
				bad = mid
			}
		}
		return a.tidyRoot(good, from, holds)
	}
	return nil
}

// calculator chains decimal operations and keeps the first error.
type calculator struct{ err error }

func newCalculator() *calculator { return &calculator{} }

func (c *calculator) doOperation(f func(a, b *decimal.Num) (*decimal.Num, error), a, b *decimal.Num) *decimal.Num {
	if c.err != nil {
		return zero
	}
	n, err := f(a, b)
	if err != nil {
		c.err = err
		return zero
	}
	return n
}

func (c *calculator) add(a, b *decimal.Num) *decimal.Num { return c.doOperation(decimal.Add, a, b) }
func (c *calculator) sub(a, b *decimal.Num) *decimal.Num { return c.doOperation(decimal.Sub, a, b) }
func (c *calculator) mul(a, b *decimal.Num) *decimal.Num { return c.doOperation(decimal.Mul, a, b) }
func (c *calculator) quo(a, b *decimal.Num) *decimal.Num { return c.doOperation(decimal.Quo, a, b) }
