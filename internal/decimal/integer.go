package decimal

import (
	"math/big"
	"sync"

	"github.com/cockroachdb/apd/v3"
)

// few and powers hold 10**0 … 10**127 and 10**1023: exponents are bounded (finish), so no operation needs more than a
// little beyond 880, and most need a few, which are there sooner.
var (
	few    = sync.OnceValue(func() []*big.Int { return firstPowers(128) })
	powers = sync.OnceValue(func() []*big.Int { return firstPowers(1024) })
)

// firstPowers gives 10**0 … 10**(n-1).
func firstPowers(n int) []*big.Int {
	p := make([]*big.Int, n)
	p[0] = big.NewInt(1)
	for i := 1; i < n; i++ {
		p[i] = new(big.Int).Mul(p[i-1], bigTen)
	}
	return p
}

var (
	bigTen = big.NewInt(10)
	bigOne = big.NewInt(1)
)

// pow10 is 10**k, k >= 0. The result is shared and must not be written to.
func pow10(k int) *big.Int {
	if p := few(); k < len(p) {
		return p[k]
	}
	if p := powers(); k < len(p) {
		return p[k]
	}
	return new(big.Int).Exp(bigTen, big.NewInt(int64(k)), nil)
}

// fromBig is coeff · 10**exponent, rounded to 40 digits.
func fromBig(coeff *big.Int, exponent int) (*Num, error) {
	return fromBigAt(ctxDigits, coeff, exponent)
}

func fromBigAt(c *apd.Context, coeff *big.Int, exponent int) (*Num, error) {
	n := new(Num)
	var abs big.Int
	n.d.Coeff.SetMathBigInt(abs.Abs(coeff))
	n.d.Negative = coeff.Sign() < 0
	n.d.Exponent = int32(exponent)
	r := new(Num)
	_, err := c.Round(&r.d, &n.d)
	return finishResult(r, err)
}

// scaledInt is n / 10**e as an integer, digits below e cut off (toward zero).
func (n *Num) scaledInt(e int) *big.Int {
	v := new(big.Int).Set(n.d.Coeff.MathBigInt())
	if k := int(n.d.Exponent) - e; k >= 0 {
		v.Mul(v, pow10(k))
	} else {
		v.Quo(v, pow10(-k))
	}
	if n.d.Negative {
		v.Neg(v)
	}
	return v
}

// FloorDiv is the floor of a / b, as Python's //; ErrUndefined if b is 0. The quotient is exact before it is rounded.
func FloorDiv(a, b *Num) (*Num, error) {
	if b.IsZero() {
		return nil, errDivZero
	}
	q, _, _ := floorDivMod(a, b)
	return fromBig(q, 0)
}

// Mod is a − b·⌊a/b⌋, with the sign of b as Python's %; ErrUndefined if b is 0.
func Mod(a, b *Num) (*Num, error) {
	if b.IsZero() {
		return nil, errDivZero
	}
	_, m, e := floorDivMod(a, b)
	return fromBig(m, e)
}

// floorDivMod is the exact quotient and the remainder in units of 10**e.
func floorDivMod(a, b *Num) (q, m *big.Int, e int) {
	e = int(min(a.d.Exponent, b.d.Exponent))
	divisor := b.scaledInt(e)
	q, m = new(big.Int).QuoRem(a.scaledInt(e), divisor, new(big.Int))
	if m.Sign() != 0 && m.Sign() != divisor.Sign() {
		q.Sub(q, bigOne)
		m.Add(m, divisor)
	}
	return q, m, e
}

// Floor is the greatest integer that is not above a.
func Floor(a *Num) (*Num, error) { return FloorDiv(a, one) }

// Ceil is the least integer that is not below a.
func Ceil(a *Num) (*Num, error) {
	f, err := Floor(Neg(a))
	if err != nil {
		return nil, err
	}
	return Neg(f), nil
}

// Round is a at the given number of decimal places, half-even; places below 0 round to tens, hundreds, ….
func Round(a *Num, places int) (*Num, error) {
	places = max(places, -1000) // so that −places is a number
	if places >= -int(a.d.Exponent) || a.IsZero() {
		return a, nil
	}
	if -places > a.adjusted()+1 {
		return new(Num), nil // less than a tenth of a unit
	}
	unit := pow10(-places - int(a.d.Exponent))
	var q, r big.Int
	q.QuoRem(a.d.Coeff.MathBigInt(), unit, &r)
	if half := r.Lsh(&r, 1).Cmp(unit); half > 0 || half == 0 && q.Bit(0) == 1 {
		q.Add(&q, bigOne)
	}
	if a.d.Negative {
		q.Neg(&q)
	}
	return fromBig(&q, -places)
}
