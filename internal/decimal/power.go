package decimal

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/cockroachdb/apd/v3"
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
		return nil, fmt.Errorf("power %s: %w", b, ErrTooLarge)
	}
	switch {
	case b.IsZero():
		return one, nil
	case a.IsZero() && b.IsNeg():
		return nil, fmt.Errorf("0 to a negative power: %w", ErrUndefined)
	case a.IsZero():
		return a, nil
	}
	if n, ok := b.Int64(); ok {
		return powInt(a, n)
	}
	if a.IsNeg() {
		return nil, fmt.Errorf("a negative number to the power %s: %w", b, ErrUndefined)
	}
	return expTimesLn(b, a)
}

// powInt is a**n by squaring, carried with 60 digits: after 10,000 multiplications at least 55 of them are right.
func powInt(a *Num, n int64) (*Num, error) {
	e := n
	if e < 0 {
		e = -e
	}
	r, err := powUnsigned(&a.d, uint64(e))
	if err != nil || n > 0 {
		return r, err
	}
	return quo(ctxWide, one, r)
}

// powUnsigned goes through the bits of n > 0 from the highest, so that the last square is always needed.
func powUnsigned(a *apd.Decimal, n uint64) (*Num, error) {
	r := new(Num)
	r.d.Set(a)
	var t apd.Decimal
	for bit := bits.Len64(n) - 2; bit >= 0; bit-- {
		// Two Nums take turns: apd keeps their room, and nothing is read from the one that is written.
		if _, err := ctxWide.Mul(&t, &r.d, &r.d); err != nil {
			return nil, ErrTooLarge
		}
		r.d.Set(&t)
		if n>>bit&1 == 1 {
			if _, err := ctxWide.Mul(&t, &r.d, a); err != nil {
				return nil, ErrTooLarge
			}
			r.d.Set(&t)
		}
		if _, err := finish(r, nil); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Sqrt is the square root of a; ErrUndefined if a < 0. It is exact where the root is, and else rounded from the integer root.
func Sqrt(a *Num) (*Num, error) {
	if a.IsNeg() {
		return nil, fmt.Errorf("square root of a negative number: %w", ErrUndefined)
	}
	if a.IsZero() {
		return a, nil
	}
	// 2·wide digits before the root are wide digits after it; the exponent must be even.
	e := a.adjusted() - 2*wide
	e -= e & 1
	c := a.scaled(e)
	root := new(big.Int).Sqrt(c)
	if exact := new(big.Int).Mul(root, root); exact.Cmp(c) != 0 {
		// One more digit that is not 0 keeps an inexact root from looking like a tie.
		root.Mul(root, bigTen).Add(root, bigOne)
		return fromBig(root, e/2-1)
	}
	return fromBig(root, e/2)
}
