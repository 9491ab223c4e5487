package forge

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// form is a linear form: constant + Σ factor · term, where a term is whatever part of an expression is not linear
// itself.
type form struct {
	constant *decimal.Num
	terms    []term // sorted by key, no factor is zero
}

// term is one unknown of a form: an input, a calculation, a quotient, …
type term struct {
	key    string // its canonical JSON
	tree   *strictjson.Value
	factor *decimal.Num
}

// linearForm reads an expression as a form. ok is false where its arithmetic is out of range.
func (r *ranges) linearForm(v *strictjson.Value) (form, bool) {
	switch {
	case v.Kind == strictjson.Number:
		n := v.Decimal()
		return form{constant: n}, n != nil
	case v.Kind != strictjson.Object:
		return singleTerm(v), true
	case v.Get("const") != nil:
		if n := r.constantValue(v).Decimal(); n != nil {
			return form{constant: n}, true
		}
		return singleTerm(v), true
	}
	switch op := v.TextOf("op"); op {
	case "neg":
		f, ok := r.linearForm(v.Get("term"))
		return f.timesNumber(decimal.FromInt(-1), ok)
	case "+", "-", "*", "/":
		return r.linearOf(op, v)
	}
	return singleTerm(v), true
}

func singleTerm(v *strictjson.Value) form {
	return form{constant: decimal.FromInt(0), terms: []term{{string(v.Encode()), v, decimal.FromInt(1)}}}
}

func (r *ranges) linearOf(op string, v *strictjson.Value) (form, bool) {
	left, ok1 := r.linearForm(v.Get("left"))
	right, ok2 := r.linearForm(v.Get("right"))
	if !ok1 || !ok2 {
		return form{}, false
	}
	switch op {
	case "+":
		return left.plusForm(right)
	case "-":
		minus, ok := right.timesNumber(decimal.FromInt(-1), true)
		if !ok {
			return form{}, false
		}
		return left.plusForm(minus)
	case "*":
		if len(left.terms) == 0 {
			left, right = right, left
		}
		if len(right.terms) == 0 {
			return left.timesNumber(right.constant, true)
		}
	case "/":
		if len(right.terms) == 0 && !right.constant.IsZero() {
			inverse, err := decimal.Quo(decimal.FromInt(1), right.constant)
			return left.timesNumber(inverse, err == nil)
		}
	}
	return singleTerm(v), true
}

func (f form) timesNumber(n *decimal.Num, ok bool) (form, bool) {
	if !ok {
		return form{}, false
	}
	var err error
	out := form{}
	if out.constant, err = decimal.Mul(f.constant, n); err != nil {
		return form{}, false
	}
	for _, t := range f.terms {
		if t.factor, err = decimal.Mul(t.factor, n); err != nil {
			return form{}, false
		}
		if !t.factor.IsZero() {
			out.terms = append(out.terms, t)
		}
	}
	return out, true
}

func (f form) plusForm(o form) (form, bool) {
	var err error
	out := form{terms: slices.Clone(f.terms)}
	if out.constant, err = decimal.Add(f.constant, o.constant); err != nil {
		return form{}, false
	}
	for _, t := range o.terms {
		i, found := slices.BinarySearchFunc(out.terms, t, func(a, b term) int { return strings.Compare(a.key, b.key) })
		if !found {
			out.terms = slices.Insert(out.terms, i, t)
			continue
		}
		sum, err := decimal.Add(out.terms[i].factor, t.factor)
		if err != nil {
			return form{}, false
		}
		if out.terms[i].factor = sum; sum.IsZero() {
			out.terms = slices.Delete(out.terms, i, i+1)
		}
	}
	return out, true
}

// normalised makes the first factor 1, so that 2x <= 6 and x <= 3 are about the same unknown. It returns the sign of
// what it divided by.
func (f form) normalised() (form, int, bool) {
	lead := f.terms[0].factor
	inverse, err := decimal.Quo(decimal.FromInt(1), lead)
	if err != nil {
		return form{}, 0, false
	}
	out, ok := f.timesNumber(inverse, true)
	return out, lead.Sign(), ok
}

// key names the unknown part of a form.
func (f form) key() string {
	var b strings.Builder
	for _, t := range f.terms {
		b.WriteString(t.factor.String() + "·" + t.key + "\n")
	}
	return b.String()
}

// domain is where the unknown part of a form can lie.
func (f form) domain(r *ranges) interval {
	out := exactInterval(decimal.FromInt(0))
	for _, t := range f.terms {
		out = out.add(r.rangeOf(t.tree).mul(exactInterval(t.factor)))
	}
	return out
}
