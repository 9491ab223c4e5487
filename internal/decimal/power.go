package decimal

import (
	"math/big"
	"math/bits"
)

var (
	one    = FromInt(1)
	bounds = FromInt(maxPower)
)

// Pow is a**b. An integer b is raised by squaring; any other needs a > 0 and is exp(b · ln a). 0**0 is 1, as in Python;
// 0 to a negative power and a negative number to a fraction are ErrUndefined; |b| > 10,000 is ErrTooLarge.
func Pow(a, b *Num) (*Num, error) { return round(powWide(a, b)) }

func powWide(a, b *Num) (*Num, error) {
	if Cmp(Abs(b), bounds) > 0 {
		return nil, newRefusal(ErrTooLarge, "the power %s is beyond ±10,000", b)
	}
	switch {
	case b.IsZero():
		return one, nil
	case a.IsZero() && b.IsNeg():
		return nil, newRefusal(ErrUndefined, "0 to a negative power")
	case a.IsZero():
		return a, nil
	}
	if n, ok := b.Int64(); ok {
		return powInt(a, n)
	}
	if a.IsNeg() {
		return nil, newRefusal(ErrUndefined, "a negative number to the power %s", b)
	}
	return expTimesLn(b, a)
}

// powInt is a**n by squaring, n not 0, carried with at least 57 digits: after 10,000 roundings 52 of them are right.
func powInt(a *Num, n int64) (*Num, error) {
	e := n
	if e < 0 {
		e = -e
	}
	r, err := powUnsigned(a, uint64(e))
	if err != nil || n > 0 {
		return r, err
	}
	return quo(ctxWide, one, r)
}

// float is coeff · 10**exp while a power is being computed; rest is room for divisions.
type float struct {
	coeff, rest big.Int
	exp         int
}

// powUnsigned goes through the bits of n > 0 from the highest, so that the last square is always needed.
func powUnsigned(a *Num, n uint64) (*Num, error) {
	base, start := a.d.Coeff.MathBigInt(), int(a.d.Exponent)
	x, y := &float{exp: start}, new(float)
	x.coeff.Set(base)
	for bit := bits.Len64(n) - 2; bit >= 0; bit-- {
		y.setProduct(x, &x.coeff, x.exp)
		x, y = y, x
		if n>>bit&1 == 1 {
			y.setProduct(x, base, start)
			x, y = y, x
		}
		// Further factors only lead further out.
		if adj := x.exp + x.coeff.BitLen()*30103/100000; adj > maxExponent+2 || adj < -maxExponent-2 {
			return nil, ErrTooLarge
		}
	}
	if a.d.Negative && n&1 == 1 {
		x.coeff.Neg(&x.coeff)
	}
	return fromBigAt(ctxWide, &x.coeff, x.exp)
}

// setProduct sets y to x · coeff · 10**exp, cut to 57 digits or a few more.
func (y *float) setProduct(x *float, coeff *big.Int, exp int) {
	y.coeff.Mul(&x.coeff, coeff)
	y.exp = x.exp + exp
	if n := y.coeff.BitLen(); n > 256 {
		cut := (n - 192) * 30103 / 100000
		y.coeff.QuoRem(&y.coeff, pow10(cut), &y.rest)
		y.exp += cut
	}
}

// Sqrt is the square root of a; ErrUndefined if a < 0. It is exact where the root is, and else rounded from the integer
// root.
func Sqrt(a *Num) (*Num, error) {
	if a.IsNeg() {
		return nil, newRefusal(ErrUndefined, "square root of a negative number")
	}
	if a.IsZero() {
		return a, nil
	}
	// 2·wide digits before the root are wide digits after it; the exponent must be even.
	e := a.adjusted() - 2*wide
	e -= e & 1
	c := a.scaledInt(e)
	root := new(big.Int).Sqrt(c)
	if exact := new(big.Int).Mul(root, root); exact.Cmp(c) != 0 {
		// One more digit that is not 0 keeps an inexact root from looking like a tie.
		root.Mul(root, bigTen).Add(root, bigOne)
		return fromBig(root, e/2-1)
	}
	return fromBig(root, e/2)
}
