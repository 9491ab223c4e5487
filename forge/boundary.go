package forge

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// Boundary is a submission at the edge of a gate, worked out from an example by moving one input, and what the gate
// must say there.
type Boundary struct {
	Rule  string
	Input string // the input that moved
	Value string // where to; "" where it was left out
	Side  string // below, on or above the bound, or missing
	Want  string // pass, flag, or "no pass"
	Got   referee.Status
}

// OK reports whether the gate says what its operator means.
func (b Boundary) OK() bool {
	if b.Want == noPass {
		return b.Got != referee.Pass
	}
	return b.Want == string(b.Got)
}

// String is the boundary on one line.
func (b Boundary) String() string {
	at := fmt.Sprintf("%s = %s (%s)", b.Input, b.Value, b.Side)
	if b.Side == "missing" {
		at = b.Input + " missing"
	}
	return fmt.Sprintf("%s at %s must be %s and is %s", b.Rule, at, b.Want, b.Got)
}

// noPass: a gate whose operand is missing may skip or flag, and never pass (S22, S51).
const noPass = "no pass"

// Boundaries works out submissions below, on and above every bound of every gate, and without an input that the gate
// reads, and asks the gate. Gates of one comparison are held to their operator. A bound that no single input reaches is
// left out.
func Boundaries(sheet *referee.Sheet) []Boundary {
	sheet = asExample(sheet)
	trials := suiteOf(sheet)
	var out []Boundary
	for _, r := range gates(sheet) {
		for _, e := range gateEdges(sheet, r, trials) {
			if e.Want != "" {
				out = append(out, e.Boundary)
			}
		}
	}
	return out
}

// edge is a boundary with its submission, which mutation asks too.
type edge struct {
	Boundary
	trial *trial
}

// gateEdges works out the boundaries of one gate from the sheet's first example that reaches them.
func gateEdges(sheet *referee.Sheet, r *referee.Rule, trials []*trial) []edge {
	tree := ruleTree(r)
	if tree == nil || r.Kind != "expr" {
		return nil
	}
	var out []edge
	tree = outsideRows(tree)
	eachComparison(tree, func(op string, left, right *strictjson.Value) {
		c := &crossing{sheet: sheet, rule: r, op: op, simple: left == tree.Get("left") && r.When() == nil}
		if !c.compileSides(left, right) {
			return
		}
		for _, t := range trials {
			if t.trip != nil {
				continue
			}
			if found := c.findEdges(t); len(found) > 0 {
				out = append(out, found...)
				return
			}
		}
	})
	return out
}

// outsideRows is a tree without its row expressions, whose operands no input moves alone.
func outsideRows(v *strictjson.Value) *strictjson.Value {
	out := v.Clone()
	out.Walk(func(v *strictjson.Value) bool {
		if agg := v.Get("agg"); agg != nil {
			v.Remove("agg")
			v.Set("literal", jsonString(string(agg.Encode())))
			return false
		}
		return true
	})
	return out
}

// crossing is one comparison of a gate, and the search for where its sides are equal.
type crossing struct {
	sheet       *referee.Sheet
	rule        *referee.Rule
	op          string
	simple      bool // the comparison is the whole gate
	left, right *policy.Expr
}

func (c *crossing) compileSides(left, right *strictjson.Value) bool {
	l, err1 := c.sheet.Compile(left)
	r, err2 := c.sheet.Compile(right)
	if err1 != nil || err2 != nil || !l.Number() || !r.Number() || left.Kind == strictjson.String ||
		right.Kind == strictjson.String {
		return false
	}
	c.left, c.right = l, r
	return true
}

// sidesGap is left − right with inputs moved; nil where either is missing.
func (c *crossing) sidesGap(p *referee.Probe, at map[string]*decimal.Num) *decimal.Num {
	l, r := p.Eval(c.left, at).Val.Num, p.Eval(c.right, at).Val.Num
	if l == nil || r == nil {
		return nil
	}
	if decimal.Cmp(l, r) == 0 {
		return decimal.FromInt(0) // equal as gates compare: at 28 digits
	}
	d, err := decimal.Sub(l, r)
	if err != nil {
		return nil
	}
	return d
}

// findEdges looks for an input that reaches the bound, and makes the submissions around it.
func (c *crossing) findEdges(t *trial) []edge {
	for _, name := range c.inputLeaves(t) {
		from := t.probe.Input(name).Decimal()
		if from == nil {
			continue
		}
		root := c.solveInput(t.probe, name, from)
		if root == nil {
			continue
		}
		if out := c.edgesAround(t, name, root); len(out) > 0 {
			return append(out, c.withoutInput(t, name)...)
		}
	}
	return nil
}

func (c *crossing) inputLeaves(t *trial) []string {
	out := t.probe.Leaves(c.left)
	for _, name := range t.probe.Leaves(c.right) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// maxSteps bounds the secant search; from a nearby start it needs a handful.
const maxSteps = 40

// solveInput is the value of one input at which both sides are equal, by the secant method; nil where it finds none.
func (c *crossing) solveInput(p *referee.Probe, name string, from *decimal.Num) *decimal.Num {
	g := func(x *decimal.Num) *decimal.Num { return c.sidesGap(p, map[string]*decimal.Num{name: x}) }
	x0, x1 := from, nudgedUp(from, "0.01")
	y0 := g(x0)
	for range maxSteps {
		if y0 == nil {
			return nil
		}
		if y0.IsZero() {
			return x0
		}
		y1 := g(x1)
		if y1 == nil {
			return nil
		}
		next := secantZero(x0, y0, x1, y1)
		if next == nil {
			return nil
		}
		x0, y0, x1 = x1, y1, next
	}
	return nil
}

// secantZero is the zero of the line through two points, written with the digits of a submission; nil where there is
// none.
func secantZero(x0, y0, x1, y1 *decimal.Num) *decimal.Num {
	rise, err := decimal.Sub(y1, y0)
	if err != nil || rise.IsZero() {
		return nil
	}
	run, err := decimal.Sub(x1, x0)
	if err != nil {
		return nil
	}
	slope, err := decimal.Quo(run, rise)
	if err != nil {
		return nil
	}
	step, err := decimal.Mul(y1, slope)
	if err != nil {
		return nil
	}
	x, err := decimal.Sub(x1, step)
	if err != nil {
		return nil
	}
	written, err := decimal.Parse(x.String())
	if err != nil {
		return nil
	}
	return written
}

// nudgedUp is a number moved up by a fraction of itself; zero moves by the fraction.
func nudgedUp(n *decimal.Num, by string) *decimal.Num {
	step, err := decimal.Mul(decimal.Abs(n), decimal.MustParse(by))
	if n.IsZero() {
		step, err = decimal.MustParse(by), nil
	}
	if err != nil {
		return n
	}
	out, err := decimal.Add(n, step)
	if err != nil {
		return n
	}
	return out
}

// edgesAround makes the submissions at the root and a millionth to its sides. They are reworked as trips are, so the
// sides of the comparison are read again: only where they lie as meant is there something to hold the gate to.
func (c *crossing) edgesAround(t *trial, name string, root *decimal.Num) []edge {
	var out []edge
	for _, x := range []*decimal.Num{nudgedUp(root, "-0.000001"), root, nudgedUp(root, "0.000001")} {
		moved := c.withInputAt(t, name, jsonNumber(x.String()))
		if moved == nil {
			continue
		}
		gap := c.sidesGap(moved.probe, nil)
		if gap == nil {
			continue
		}
		e := edge{trial: moved, Boundary: Boundary{Rule: c.rule.ID, Input: name, Value: x.String(),
			Side: []string{"below", "on", "above"}[gap.Sign()+1]}}
		if c.simple && c.rederives(moved) {
			e.Want = string(referee.Flag)
			if intervalOf(c.op, decimal.FromInt(0)).contains(gap) != (c.op == "!=") {
				e.Want = string(referee.Pass)
			}
		}
		e.Got = moved.askRule(c.rule)
		out = append(out, e)
	}
	return out
}

// rederives reports whether the calculations behind the gate re-derive at the new input; where they do not, the gate
// rightly says nothing.
func (c *crossing) rederives(t *trial) bool {
	for _, id := range c.rule.Expr().Refs().Calcs {
		if t.probe.Status("math."+id) != referee.Pass {
			return false
		}
	}
	return true
}

// withoutInput is the submission without the input.
func (c *crossing) withoutInput(t *trial, name string) []edge {
	moved := c.withInputAt(t, name, jsonNull())
	if moved == nil {
		return nil
	}
	e := edge{trial: moved, Boundary: Boundary{Rule: c.rule.ID, Input: name, Side: "missing", Got: moved.askRule(c.rule)}}
	if c.simple {
		e.Want = noPass
	}
	return []edge{e}
}

// withInputAt is the trial's submission with one input at another value, every calculation worked anew.
func (c *crossing) withInputAt(t *trial, name string, to *strictjson.Value) *trial {
	before, err := t.work.recomputedResults()
	if err != nil {
		return nil
	}
	w := t.work.cloneWork()
	if w.reworkInputs([]strictjson.Member{{Key: name, Value: to}}, before) != nil {
		return nil
	}
	out, err := newTrial(fmt.Sprintf("%s with inputs.%s = %s", t.name, name, to.Encode()), w)
	if err != nil {
		return nil
	}
	return out
}
