// Package decimal is the arithmetic of the rulebook (semantics S12, S13a). It is the one importer of cockroachdb/apd.
//
// Every operation gives its result rounded half-even to 40 significant digits. A result whose adjusted exponent lies
// beyond ±400 is ErrTooLarge, a result that mathematics does not define (x/0, 0 to a negative power, sqrt(−1), log(0))
// is ErrUndefined; there is no NaN, no infinity and no negative zero, and no operation panics on a *Num. Comparison
// (Cmp) and printing (String) round to 28 digits first, so that 12 guard digits absorb what division and powers leave
// behind: TestGateBoundary in referee/formula holds deals exactly on a gate against it.
//
// Powers, roots, logarithms, trigonometry and finance are computed with at least 20 digits more than they return, on
// integers only (series.go), so that the digits are the same on every GOARCH.
package decimal

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// Num is a decimal number. It is never changed after it is made, so it may be shared between goroutines. The zero value
// is 0.
type Num struct{ d apd.Decimal }

// The refusals of this package; errors that carry more words wrap one of them.
var (
	// ErrUndefined is a result that mathematics does not define (S12).
	ErrUndefined = errors.New("undefined")
	// ErrTooLarge is a number beyond ±400 in its exponent, or a power beyond 10,000 (S13a).
	ErrTooLarge = errors.New("a number beyond the exponents of ±400")
	// ErrAmbiguous is a rate that the cash flows do not fix: not exactly one sign change, or no root in the bracket.
	ErrAmbiguous = errors.New("rate not determined")
	// ErrSyntax is a text that is not a decimal literal.
	ErrSyntax = errors.New("not a decimal number")

	errDivZero = &refusal{"division by zero", ErrUndefined}
)

// refusal is one of the errors above in the words of its case.
type refusal struct {
	text string
	kind error
}

func (r *refusal) Error() string { return r.text }

// Unwrap gives the kind to errors.Is.
func (r *refusal) Unwrap() error { return r.kind }

func newRefusal(kind error, format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), kind}
}

const (
	digits      = 40     // of every result (S13a)
	guard       = 28     // digits that are compared and printed (S13a)
	wide        = 60     // digits carried inside one operation
	maxExponent = 400    // adjusted exponent of every result (S13a)
	maxPower    = 10_000 // |n| of x**n (S13a)
)

// The contexts. Traps are off: finish looks at the result itself, so that no condition of apd reaches a caller.
var (
	ctxDigits = roundHalfEven(digits)
	ctxGuard  = roundHalfEven(guard)
	ctxWide   = roundHalfEven(wide)
)

func roundHalfEven(precision uint32) *apd.Context {
	return &apd.Context{
		Precision:   precision,
		MaxExponent: apd.MaxExponent,
		MinExponent: apd.MinExponent,
		Rounding:    apd.RoundHalfEven,
	}
}

// FromInt is the number i.
func FromInt(i int64) *Num {
	n := new(Num)
	n.d.SetInt64(i)
	return n
}

// Add is a + b.
func Add(a, b *Num) (*Num, error) { return add(ctxDigits, a, b) }

// Sub is a − b.
func Sub(a, b *Num) (*Num, error) { return sub(ctxDigits, a, b) }

// Mul is a · b.
func Mul(a, b *Num) (*Num, error) { return mul(ctxDigits, a, b) }

// Quo is a / b; ErrUndefined if b is 0.
func Quo(a, b *Num) (*Num, error) { return quo(ctxDigits, a, b) }

func add(c *apd.Context, a, b *Num) (*Num, error) {
	n := new(Num)
	_, err := c.Add(&n.d, &a.d, &b.d)
	return finishResult(n, err)
}

func sub(c *apd.Context, a, b *Num) (*Num, error) {
	n := new(Num)
	_, err := c.Sub(&n.d, &a.d, &b.d)
	return finishResult(n, err)
}

func mul(c *apd.Context, a, b *Num) (*Num, error) {
	n := new(Num)
	_, err := c.Mul(&n.d, &a.d, &b.d)
	return finishResult(n, err)
}

func quo(c *apd.Context, a, b *Num) (*Num, error) {
	if b.IsZero() {
		return nil, errDivZero
	}
	n := new(Num)
	_, err := c.Quo(&n.d, &a.d, &b.d)
	return finishResult(n, err)
}

// round gives n the 40 digits of a result; it is the last step of what was computed with more.
func round(n *Num, err error) (*Num, error) {
	if err != nil {
		return nil, err
	}
	r := new(Num)
	_, err = ctxDigits.Round(&r.d, &n.d)
	return finishResult(r, err)
}

// finishResult is the gate that every result passes: finite, within the exponents of S13a, and with one zero.
func finishResult(n *Num, err error) (*Num, error) {
	if err != nil || n.d.Form != apd.Finite {
		return nil, ErrTooLarge
	}
	if n.d.Coeff.Sign() == 0 {
		n.d.Negative, n.d.Exponent = false, 0
		return n, nil
	}
	if adj := n.adjusted(); adj > maxExponent || adj < -maxExponent {
		return nil, ErrTooLarge
	}
	return n, nil
}

// adjusted is the exponent of the first significant digit.
func (n *Num) adjusted() int { return int(n.d.Exponent) + int(n.d.NumDigits()) - 1 }

// Neg is −a.
func Neg(a *Num) *Num {
	n := new(Num)
	n.d.Set(&a.d)
	n.d.Negative = !a.d.Negative && !a.IsZero()
	return n
}

// Abs is |a|.
func Abs(a *Num) *Num {
	if !a.d.Negative {
		return a
	}
	return Neg(a)
}

// Cmp is −1, 0 or 1 as a is less than, equal to or greater than b, both rounded to 28 significant digits (S13a).
func Cmp(a, b *Num) int {
	if c := cmpSize(a, b); c != 0 {
		return c
	}
	var ra, rb apd.Decimal
	return roundGuarded(a, &ra).Cmp(roundGuarded(b, &rb))
}

// cmpSize is Cmp where signs or sizes alone decide, and 0 where they do not. Rounding a number of 40 digits to 28 takes
// ten times as long, and most comparisons are of a small error with an edge. With n bits a coefficient lies in
// [2**(n−1), 2**n); log10(2) lies between 0.30102 and 0.30103. A gap of 10**0.00001 is far more than rounding can
// close.
func cmpSize(a, b *Num) int {
	sa, sb := a.d.Sign(), b.d.Sign()
	if sa != sb || sa == 0 {
		return cmp.Compare(sa, sb)
	}
	bitsA, bitsB := a.d.Coeff.BitLen(), b.d.Coeff.BitLen()
	between := 100_000 * (int(a.d.Exponent) - int(b.d.Exponent)) // exponents are bounded (finish)
	switch {
	case between+30102*(bitsA-1)-30103*bitsB > 1:
		return sa
	case between+30103*bitsA-30102*(bitsB-1) < -1:
		return -sa
	}
	return 0
}

// PlainlyWithin reports whether sizes alone show that |part / whole| can be computed and is less than share, as Quo and
// Cmp would find. False says nothing. It spares the division where a claim is its reference but for the last digits, as
// most are: 4 % of an audit.
func PlainlyWithin(part, whole, share *Num) bool {
	if part.IsZero() || whole.IsZero() || share.Sign() <= 0 {
		return false
	}
	exponent := int(part.d.Exponent) - int(whole.d.Exponent)
	bits := part.d.Coeff.BitLen() - whole.d.Coeff.BitLen()
	if exponent+bits*30103/100_000 < 2-maxExponent {
		return false // the quotient may be too small to be computed
	}
	above := 100_000*exponent + 30103*part.d.Coeff.BitLen() - 30102*(whole.d.Coeff.BitLen()-1)
	below := 100_000*int(share.d.Exponent) + 30102*(share.d.Coeff.BitLen()-1)
	return above < below-1
}

// roundGuarded is a at 28 digits, in room if it had more.
func roundGuarded(a *Num, room *apd.Decimal) *apd.Decimal {
	if a.d.NumDigits() <= guard {
		return &a.d
	}
	// The condition is Inexact at most: finish has bounded the exponent of a.
	_, _ = ctxGuard.Round(room, &a.d)
	return room
}

// Sign is −1, 0 or 1.
func (n *Num) Sign() int { return n.d.Sign() }

// IsZero says that n is 0.
func (n *Num) IsZero() bool { return n.d.Coeff.Sign() == 0 }

// IsNeg says that n is below 0.
func (n *Num) IsNeg() bool { return n.d.Sign() < 0 }

// IsInt says that n has no fraction: 12.00 has none.
func (n *Num) IsInt() bool {
	if n.d.Exponent >= 0 || n.IsZero() {
		return true
	}
	if n.adjusted() < 0 {
		return false
	}
	var r big.Int
	return r.Rem(n.d.Coeff.MathBigInt(), pow10(int(-n.d.Exponent))).Sign() == 0
}

// Int64 is n as an integer; false if it has a fraction or does not fit.
func (n *Num) Int64() (int64, bool) {
	switch {
	case n.IsZero():
		return 0, true
	case n.d.Exponent == 0 && n.d.Coeff.IsInt64():
		v := n.d.Coeff.Int64()
		if n.d.Negative {
			v = -v
		}
		return v, true
	case !n.IsInt() || n.adjusted() > 18:
		return 0, false
	}
	v := n.scaledInt(0)
	return v.Int64(), v.IsInt64()
}
