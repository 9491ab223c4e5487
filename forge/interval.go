package forge

import (
	"github.com/defendableos/referee/internal/decimal"
)

// bound is one end of an interval; n is nil where there is none. A strict bound is not part of the interval.
type bound struct {
	n      *decimal.Num
	strict bool
}

// interval is the numbers between two bounds. Arithmetic on intervals never leaves a possible result out; it may hold
// impossible ones.
type interval struct{ lo, hi bound }

var everything = interval{}

func exactInterval(n *decimal.Num) interval { return interval{bound{n: n}, bound{n: n}} }

func closedInterval(lo, hi int64) interval {
	return interval{bound{n: decimal.FromInt(lo)}, bound{n: decimal.FromInt(hi)}}
}

func atLeast(n *decimal.Num) interval { return interval{lo: bound{n: n}} }

// intervalOf is the numbers x with x op n.
func intervalOf(op string, n *decimal.Num) interval {
	switch op {
	case ">=":
		return interval{lo: bound{n: n}}
	case ">":
		return interval{lo: bound{n, true}}
	case "<=":
		return interval{hi: bound{n: n}}
	case "<":
		return interval{hi: bound{n, true}}
	}
	return exactInterval(n)
}

// isEmpty reports whether no number lies between the bounds.
func (i interval) isEmpty() bool {
	if i.lo.n == nil || i.hi.n == nil {
		return false
	}
	c := decimal.Cmp(i.lo.n, i.hi.n)
	return c > 0 || c == 0 && (i.lo.strict || i.hi.strict)
}

// contains reports whether a number lies in the interval.
func (i interval) contains(n *decimal.Num) bool {
	return !i.and(exactInterval(n)).isEmpty()
}

// and is what two intervals have in common.
func (i interval) and(o interval) interval {
	return interval{tighterBound(i.lo, o.lo, 1), tighterBound(i.hi, o.hi, -1)}
}

// tighterBound is the bound that leaves less; side is 1 for lower bounds and -1 for upper ones.
func tighterBound(a, b bound, side int) bound {
	if a.n == nil || b.n == nil {
		if a.n == nil {
			return b
		}
		return a
	}
	switch c := decimal.Cmp(a.n, b.n) * side; {
	case c > 0 || c == 0 && a.strict:
		return a
	}
	return b
}

// or is the smallest interval that holds both.
func (i interval) or(o interval) interval {
	return interval{looserBound(i.lo, o.lo, 1), looserBound(i.hi, o.hi, -1)}
}

func looserBound(a, b bound, side int) bound {
	if a.n == nil || b.n == nil {
		return bound{}
	}
	switch c := decimal.Cmp(a.n, b.n) * side; {
	case c < 0 || c == 0 && !a.strict:
		return a
	}
	return b
}

func (i interval) neg() interval {
	turn := func(b bound) bound {
		if b.n != nil {
			b.n = decimal.Neg(b.n)
		}
		return b
	}
	return interval{turn(i.hi), turn(i.lo)}
}

func (i interval) add(o interval) interval {
	join := func(a, b bound) bound {
		if a.n == nil || b.n == nil {
			return bound{}
		}
		n, err := decimal.Add(a.n, b.n)
		if err != nil {
			return bound{}
		}
		return bound{n, a.strict || b.strict}
	}
	return interval{join(i.lo, o.lo), join(i.hi, o.hi)}
}

func (i interval) sub(o interval) interval { return i.add(o.neg()) }

// signOf says where an interval lies: 1 at or above zero, -1 at or below it, 0 on both sides.
func (i interval) signOf() int {
	switch {
	case i.lo.n != nil && i.lo.n.Sign() >= 0:
		return 1
	case i.hi.n != nil && i.hi.n.Sign() <= 0:
		return -1
	}
	return 0
}

// halfLine is the numbers of a sign.
func halfLine(sign int) interval {
	switch {
	case sign > 0:
		return atLeast(decimal.FromInt(0))
	case sign < 0:
		return interval{hi: bound{n: decimal.FromInt(0)}}
	}
	return everything
}

// isBounded reports whether the interval has two ends.
func (i interval) isBounded() bool { return i.lo.n != nil && i.hi.n != nil }

func (i interval) mul(o interval) interval {
	if !i.isBounded() || !o.isBounded() {
		return halfLine(i.signOf() * o.signOf())
	}
	return cornersOf(i, o, decimal.Mul)
}

// quo is the quotient wherever it is defined; a divisor that may be zero bounds nothing but the sign.
func (i interval) quo(o interval) interval {
	zero := decimal.FromInt(0)
	if !i.isBounded() || !o.isBounded() || decimal.Cmp(o.lo.n, zero) <= 0 && decimal.Cmp(o.hi.n, zero) >= 0 {
		return halfLine(i.signOf() * o.signOf())
	}
	return cornersOf(i, o, decimal.Quo)
}

// cornersOf is the interval of an operation that is monotone in each operand: its extremes are at the ends.
func cornersOf(i, o interval, f func(a, b *decimal.Num) (*decimal.Num, error)) interval {
	var out interval
	for k, pair := range [][2]*decimal.Num{{i.lo.n, o.lo.n}, {i.lo.n, o.hi.n}, {i.hi.n, o.lo.n}, {i.hi.n, o.hi.n}} {
		n, err := f(pair[0], pair[1])
		if err != nil {
			return everything
		}
		if k == 0 {
			out = exactInterval(n)
			continue
		}
		out = out.or(exactInterval(n))
	}
	return out
}

func (i interval) abs() interval {
	switch i.signOf() {
	case 1:
		return i
	case -1:
		return i.neg()
	}
	out := i.or(i.neg())
	out.lo = bound{n: decimal.FromInt(0)}
	return out
}

// least and most are min and max of two values that lie in the intervals.
func (i interval) least(o interval) interval {
	return interval{looserBound(i.lo, o.lo, 1), tighterBound(i.hi, o.hi, -1)}
}

func (i interval) most(o interval) interval {
	return interval{tighterBound(i.lo, o.lo, 1), looserBound(i.hi, o.hi, -1)}
}

// sampleNumber is a number of the interval: a bound that belongs to it, else one between, else one beyond. Nil where
// the interval is empty.
func (i interval) sampleNumber() *decimal.Num {
	one := decimal.FromInt(1)
	var n *decimal.Num
	var err error
	switch {
	case i.isEmpty():
		return nil
	case i.lo.n != nil && !i.lo.strict:
		return i.lo.n
	case i.hi.n != nil && !i.hi.strict:
		return i.hi.n
	case i.isBounded():
		if n, err = decimal.Add(i.lo.n, i.hi.n); err == nil {
			n, err = decimal.Quo(n, decimal.FromInt(2))
		}
	case i.lo.n != nil:
		n, err = decimal.Add(i.lo.n, one)
	case i.hi.n != nil:
		n, err = decimal.Sub(i.hi.n, one)
	default:
		n = decimal.FromInt(0)
	}
	if err != nil {
		return nil
	}
	return n
}

// conditionText are the interval as conditions on a name: "ltv >= 0.5 and ltv < 0.8".
func (i interval) conditionText(name string) string {
	if i.isBounded() && decimal.Cmp(i.lo.n, i.hi.n) == 0 && !i.lo.strict && !i.hi.strict {
		return name + " == " + i.lo.n.String()
	}
	out := ""
	if i.lo.n != nil {
		out = name + map[bool]string{true: " > ", false: " >= "}[i.lo.strict] + i.lo.n.String()
	}
	if i.hi.n != nil {
		if out != "" {
			out += " and "
		}
		out += name + map[bool]string{true: " < ", false: " <= "}[i.hi.strict] + i.hi.n.String()
	}
	return out
}
