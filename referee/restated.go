package referee

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// heldTo is the value that a calculation's input restates, and where that stands.
type heldTo struct {
	name  string
	num   *decimal.Num
	list  *strictjson.Value // of a list
	where func(value string) string
}

// checkRestated holds each number that a calculation restates to the sheet's constant, the submission's input or the
// recomputed calculation of its name (S17a). It reports whether something was flagged.
func (a *audit) checkRestated(r *Rule, c *calculation) bool {
	before := a.raised
	for _, m := range c.v.Get("inputs").Fields() {
		name := a.sheetName(m.Key)
		if n, ok := a.given[name]; ok && n.Num != nil && n.Num == c.inputs[m.Key].Num && a.Sheet.consts[name] == nil {
			continue // the very text of the submission's input
		}
		if n := a.Sheet.consts[name].Decimal(); n != nil {
			a.holdRestated(r, c, m, heldTo{name, n, nil, func(v string) string {
				return "the sheet's constant is " +
					v
			}})
		}
		if in := a.Sheet.declaredInput(name); in != nil {
			a.restatesInput(r, c, m, *in)
		}
		if dep := a.Sheet.mathNamed(name); dep != nil && dep != c.check {
			if n, err := a.facts.readCalculation(dep); err == nil && n != nil {
				a.holdRestated(r, c, m, heldTo{name, n, nil,
					func(v string) string { return "the calculation of that name gives " + v }})
			}
		}
		if a.Sheet.carriesName(name) {
			a.restatesCarried(r, c, m, name)
		}
	}
	return a.raised > before
}

// restatesInput holds a calculation's input against the declared input of its name. Where that one is absent or no
// number there is nothing to agree with, and the calculation is flagged with it: otherwise taking the input away would
// clear a calculation that differs from it (S51).
func (a *audit) restatesInput(r *Rule, c *calculation, m strictjson.Member, in Input) {
	v := a.inputValue(in.Name)
	if m.Value.Kind != strictjson.Number && m.Value.Kind != strictjson.Array {
		return
	}
	switch {
	case v != nil && v.Kind == strictjson.Array:
		a.holdRestated(r, c, m, heldTo{in.Name, nil, v,
			func(value string) string { return "the submission's input is " + value }})
	case a.statedInput(in.Name).Num != nil:
		a.holdRestated(r, c, m, heldTo{in.Name, a.statedInput(in.Name).Num, nil,
			func(string) string { return "the submission's input is " + v.Text }})
	case in.Optional || m.Value.Kind == strictjson.Array:
	case v.IsMissing():
		a.inputAbsent(r, in)
	default:
		a.addFinding(r, Finding{Code: "schema.type", Tier: High, Stage: StageSchema, Pointer: v.Pointer(),
			Message: fmt.Sprintf("the input %q is not a number, and a calculation reads it as one", in.Name),
			Fix:     &Fix{Text: "write it as a JSON number"}})
	}
}

// restatesCarried holds a name that only calculations carry to the first of them that carries it (S78).
func (a *audit) restatesCarried(r *Rule, c *calculation, m strictjson.Member, name string) {
	for _, other := range a.calcs {
		for _, first := range other.v.Get("inputs").Fields() {
			if a.sheetName(first.Key) != name || first.Value.Decimal() == nil && first.Value.Kind != strictjson.Array {
				continue
			}
			if first.Value == m.Value {
				return
			}
			at := heldTo{name, first.Value.Decimal(), nil, func(v string) string {
				return "it is " + v + " at " +
					first.Value.Pointer()
			}}
			if first.Value.Kind == strictjson.Array {
				at.list = first.Value
			}
			a.holdRestated(r, c, m, at)
			return
		}
	}
}

// holdRestated compares a restated number, or a list element by element.
func (a *audit) holdRestated(r *Rule, c *calculation, m strictjson.Member, at heldTo) {
	x := c.inputs[m.Key].Num
	switch {
	case x != nil && at.num != nil:
		a.holdNumber(r, c, m.Value, x, at.num, at)
	case m.Value.Kind == strictjson.Array && at.list != nil:
		a.holdList(r, c, m.Value, at)
	case x != nil || m.Value.Kind == strictjson.Array:
		what := "a number"
		if at.num == nil {
			what = "a list"
		}
		a.flagMisstated(r, c, m.Value, High, fmt.Sprintf("input %q is %s here; %s", clipText(at.name), kindText(m.Value),
			at.where(what)), nil)
	}
}

func kindText(v *strictjson.Value) string {
	if v.Kind == strictjson.Array {
		return "a list"
	}
	return v.Text
}

// holdNumber flags a restated number that is neither the value itself nor that value honestly rounded (S17a).
func (a *audit) holdNumber(r *Rule, c *calculation, v *strictjson.Value, x, want *decimal.Num, at heldTo) {
	if decimal.Cmp(x, want) == 0 {
		return
	}
	c.restated = true
	if honestlyRounded(x, want, v.Text, one) {
		return
	}
	d := a.Sheet.penalty.restatedDeviation(x, want)
	because := at.where(shownNumber(want))
	said := fmt.Sprintf("input %q is %s here; %s", clipText(at.name), shownNumber(x), because)
	if !roundsByDigits(v.Text) {
		said += fmt.Sprintf("; %s is not how one rounds: write the digits out", clipText(v.Text))
	} else if hint := percentHint(d); hint != "" {
		said += "; " + hint
	}
	a.flagMisstated(r, c, v, d.band.bandTier(), said, spotOf(d))
}

// holdList compares lists element by element; of lists that differ in length none is the other.
func (a *audit) holdList(r *Rule, c *calculation, v *strictjson.Value, at heldTo) {
	if len(v.Items) != len(at.list.Items) {
		a.flagMisstated(r, c, v, High, fmt.Sprintf("the list %q has %d elements here; %s", clipText(at.name), len(v.Items),
			at.where(fmt.Sprintf("a list of %d", len(at.list.Items)))), nil)
		return
	}
	for i, item := range v.Items {
		x, want := item.Decimal(), at.list.Items[i].Decimal()
		if x == nil || want == nil {
			if !strictjson.Equal(item, at.list.Items[i]) {
				a.flagMisstated(r, c, item, High, fmt.Sprintf("number %d of the list %q is %s here; %s", i+1, clipText(at.name),
					a.sourceText(item), at.where(a.sourceText(at.list.Items[i]))), nil)
			}
			continue
		}
		element := at
		element.name = fmt.Sprintf("%s[%d]", at.name, i)
		a.holdNumber(r, c, item, x, want, element)
	}
}

func (a *audit) sourceText(v *strictjson.Value) string { return clipText(string(v.Source(a.Bytes))) }

// flagMisstated flags a number that a calculation restates otherwise than it is.
func (a *audit) flagMisstated(r *Rule, c *calculation, v *strictjson.Value, tier Tier, said string, spot *Spot) {
	c.restated, c.bent = true, true
	id := a.addAtom("recompute.restated", v.Pointer(), false, atomSeverity(tier), "cross_field", said)
	a.addFinding(r, Finding{Code: "math.input_restated", Tier: tier, Stage: StageMath, Bucket: WorkDefect,
		Pointer: v.Pointer(), Atoms: []string{id}, Spot: spot, Message: said,
		Fix: &Fix{Text: "restate the value as it is, or rounded by less than half a unit of its last digit"}})
}

// mostRounded is how far honest rounding of an input may move it (S17a).
var mostRounded = decimal.MustParse("0.005")

// honestlyRounded reports whether x, as written, is want rounded to the last digit that it states, and by at most 0.5 %
// (S17a). scale is what the written number is divided by to become x.
func honestlyRounded(x, want *decimal.Num, written string, scale *decimal.Num) bool {
	half, _ := halfUnit(written)
	if half == nil || !roundsByDigits(written) {
		return false
	}
	c := newCalculator()
	off := c.sub(x, want)
	if scale != one {
		half = c.quo(half, scale)
	}
	if off = absoluteValue(off); c.err != nil || decimal.Cmp(off, half) > 0 {
		return false
	}
	if decimal.PlainlyWithin(off, want, mostRounded) {
		return true // a quotient takes ten times as long
	}
	rel := relativeError(off, want)
	return rel != nil && decimal.Cmp(rel, mostRounded) <= 0
}

// absoluteValue is |n|, which most numbers are; nil stays nil.
func absoluteValue(n *decimal.Num) *decimal.Num {
	if n == nil || !n.IsNeg() {
		return n
	}
	return decimal.Abs(n)
}

// roundsByDigits reports whether a number as written says how precise it is in a way in which people round: 8.5e5
// states two digits of 850,000, and nobody rounds 5,100,000 to 0.1e8. An exponent form whose half unit exceeds 0.5 % of
// it is none.
func roundsByDigits(written string) bool {
	if !strings.ContainsAny(written, "eE") {
		return true
	}
	half, _ := halfUnit(written)
	face, err := decimal.Parse(written)
	if half == nil || err != nil {
		return false
	}
	rel := relativeError(half, face)
	return rel != nil && decimal.Cmp(rel, mostRounded) <= 0
}

// restatedDeviation is the deviation of a restated number: low below the tolerance edge, then the bands (S17a).
func (b bands) restatedDeviation(x, want *decimal.Num) deviation {
	d := deviation{claimed: x, reference: want, band: bandHigh}
	delta, err := decimal.Sub(x, want)
	if err != nil {
		return d
	}
	d.delta, d.rel = delta, relativeError(delta, want)
	d.band = max(bandLow, b.bandOf(d.rel))
	return d
}

// declaredInput is the sheet's input of this name, or nil.
func (s *Sheet) declaredInput(name string) *Input {
	for i := range s.Inputs {
		if s.Inputs[i].Name == name {
			return &s.Inputs[i]
		}
	}
	return nil
}
