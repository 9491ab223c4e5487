package referee

import (
	"fmt"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// bindings flags an input of a calculation that differs from the submission's input, or the calculation, of the same name
// (rules.md §1): what is re-derived must be what is stated.
func (a *audit) bindings(r *Rule, c *calculation) bool {
	before := a.raised
	for _, m := range members(c.v.Get("inputs")) {
		x, name := num(m.Value), a.sheetName(m.Key)
		if x == nil {
			continue
		}
		if n := num(a.Sheet.consts[name]); n != nil {
			a.bound(r, m, x, n, func() string { return "the sheet's constant is " + shown(n) })
		}
		if in := a.Sheet.declared(name); in != nil {
			a.boundInput(r, m, x, *in)
		}
		if dep := a.Sheet.mathNamed(name); dep != nil && dep != c.check {
			if n, err := a.calcValue(dep, nil); err == nil && n != nil {
				a.bound(r, m, x, n, func() string { return "the calculation of that name gives " + shown(n) })
			}
		}
	}
	return a.raised > before
}

// bound flags an input that differs from the value that it is bound to; why says where that one stands.
func (a *audit) bound(r *Rule, m strictjson.Member, x, want *decimal.Num, why func() string) {
	d := a.Sheet.penalty.measure(x, want, m.Value.Text, nil)
	if !d.failed() {
		return
	}
	because := why()
	id := a.atom("recompute.bound", m.Value.Pointer(), false, "critical", "cross_field", because)
	f := Finding{Code: "math.bind_mismatch", Tier: d.band.tier(), Pointer: m.Value.Pointer(), Atoms: []string{id}, Spot: spotOf(d),
		Message: fmt.Sprintf("input %q is %s here; %s", clip(m.Key), shown(x), because), Fix: &Fix{Text: "use the value that is stated"}}
	if hint := percentHint(d); hint != "" {
		f.Message += "; " + hint
	}
	a.flag(r, f)
}

// boundInput holds a calculation's input against the declared input of its name. Where that one is absent or no number there is nothing to
// agree with, and the calculation is flagged with it: otherwise taking the input away would clear a calculation that differs from it (S51).
func (a *audit) boundInput(r *Rule, m strictjson.Member, x *decimal.Num, in Input) {
	switch v := a.input(in.Name); {
	case num(v) != nil:
		a.bound(r, m, x, num(v), func() string { return "the submission's input is " + v.Text })
	case in.Optional:
	case v.IsMissing():
		a.inputAbsent(r, in)
	default:
		a.flag(r, Finding{Code: "schema.type", Tier: High, Stage: StageSchema, Pointer: v.Pointer(), Message: fmt.Sprintf("the input %q is not a number, and a calculation reads it as one", in.Name),
			Fix: &Fix{Text: "write it as a JSON number"}})
	}
}

// declared is the sheet's input of this name, or nil.
func (s *Sheet) declared(name string) *Input {
	for i := range s.Inputs {
		if s.Inputs[i].Name == name {
			return &s.Inputs[i]
		}
	}
	return nil
}
