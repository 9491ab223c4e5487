package decimal

import (
	"math/big"
	"sync"
)

// Binary fixed point: an integer v with b bits stands for v / 2**b. Every function below computes on such integers, so
// the digits do not depend on the machine. baseBits are 134 decimal digits: 40 are returned, up to about 45 are lost
// where an argument of 40 digits lies near a multiple of π/2, the rest guards.
const baseBits = 448

// bitsFor is how many bits hold the given number of decimal digits (log2(10) < 3.33).
func bitsFor(digits int) uint { return uint(max(digits, 0)*333/100 + 8) }

// toFixedPoint is n with b bits, cut off below.
func toFixedPoint(n *Num, b uint) *big.Int {
	v := new(big.Int).Set(n.d.Coeff.MathBigInt())
	v.Lsh(v, b)
	if e := int(n.d.Exponent); e >= 0 {
		v.Mul(v, pow10(e))
	} else {
		v.Quo(v, pow10(-e))
	}
	if n.d.Negative {
		v.Neg(v)
	}
	return v
}

// fromFixed is v / 2**b · 10**shift with 60 digits.
func fromFixed(v *big.Int, b uint, shift int) (*Num, error) {
	if v.Sign() == 0 {
		return new(Num), nil
	}
	// Digits of the value before the point, at most one too few or too many.
	before := (v.BitLen() - int(b)) * 30103 / 100000
	k := wide + 5 - before
	w := new(big.Int)
	if k >= 0 {
		w.Mul(v, pow10(k))
	} else {
		w.Quo(v, pow10(-k))
	}
	// Shift the magnitude: Rsh of a negative number rounds down, not toward zero.
	neg := w.Sign() < 0
	w.Rsh(w.Abs(w), b)
	if neg {
		w.Neg(w)
	}
	return fromBigAt(ctxWide, w, shift-k)
}

// mulFixed sets z to x·y.
func mulFixed(z, x, y *big.Int, b uint) *big.Int { return z.Rsh(z.Mul(x, y), b) }

// piBits serve the largest argument (10**400) and the flattest angle (10**-800) with 448 bits to spare.
const piBits = 3200

// π by Machin's formula: 16·atan(1/5) − 4·atan(1/239).
var piFixed = sync.OnceValue(func() *big.Int {
	const b = piBits + 16
	p := inverseSeries(5, b, -1)
	p.Lsh(p, 4)
	q := inverseSeries(239, b, -1)
	p.Sub(p, q.Lsh(q, 2))
	return p.Rsh(p, 16)
})

// pi is π with b bits, b <= piBits.
func pi(b uint) *big.Int { return new(big.Int).Rsh(piFixed(), piBits-b) }

// ln10 with baseBits: 3·ln 2 + ln(5/4), ln 2 = 2·atanh(1/3), ln(5/4) = 2·atanh(1/9).
var ln10 = sync.OnceValue(func() *big.Int {
	const b = baseBits + 16
	s := inverseSeries(3, b, 1)
	s.Mul(s, big.NewInt(3)).Add(s, inverseSeries(9, b, 1))
	return s.Rsh(s.Lsh(s, 1), 16)
})

// inverseSeries is Σ sign**i / ((2i+1)·n**(2i+1)): atan(1/n) for sign −1, atanh(1/n) for sign 1.
func inverseSeries(n int64, b uint, sign int) *big.Int {
	square, power := big.NewInt(n*n), new(big.Int).Lsh(bigOne, b)
	power.Quo(power, big.NewInt(n))
	return oddSeries(power, func(p *big.Int) { p.Quo(p, square) }, sign)
}

// oddSeries is Σ sign**i · p_i / (2i+1), where next makes p_(i+1) of p_i. It ends when p is 0. It writes to p.
func oddSeries(p *big.Int, next func(*big.Int), sign int) *big.Int {
	sum, term, divisor := new(big.Int), new(big.Int), new(big.Int)
	for i := int64(0); p.Sign() != 0; i++ {
		term.Quo(p, divisor.SetInt64(2*i+1))
		if sign < 0 && i&1 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
		next(p)
		if p.Sign() < 0 && p.IsInt64() && p.Int64() == -1 {
			break // Rsh of a negative number stops at −1, not at 0
		}
	}
	return sum
}

// Exp is e**a.
func Exp(a *Num) (*Num, error) {
	if a.IsZero() {
		return one, nil
	}
	// Beyond ±1,000 the result is out of range; far below, it is 1 to 40 digits.
	if a.adjusted() > 3 {
		return nil, ErrTooLarge
	}
	return round(expFixed(toFixedPoint(a, baseBits)))
}

// expFixed is e**x of a fixed-point x, |x| < 10**4.
func expFixed(x *big.Int) (*Num, error) {
	// e**x = 10**k · e**r, 0 <= r < ln 10, and e**r is squared up from e**(r/256).
	const halvings = 8
	k, r := new(big.Int).DivMod(x, ln10(), new(big.Int))
	r.Rsh(r, halvings)
	sum := new(big.Int).Lsh(bigOne, baseBits)
	term, i := new(big.Int).Set(sum), new(big.Int)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Quo(mulFixed(term, term, r, baseBits), i.SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		mulFixed(sum, sum, sum, baseBits)
	}
	return fromFixed(sum, baseBits, int(k.Int64()))
}

// lnFixed is ln a with baseBits, a > 0.
func lnFixed(a *Num) *big.Int {
	// a = m · 10**e with m near 1, so that nothing cancels where a is near 1.
	e := a.adjusted()
	m := new(Num)
	m.d.Set(&a.d)
	m.d.Exponent -= int32(e)
	if Cmp(m, three) > 0 {
		m.d.Exponent--
		e++
	}
	x := toFixedPoint(m, baseBits)
	// ln m = 8 · ln(m**(1/8)); ln y = 2 · atanh((y−1)/(y+1)).
	const roots = 3
	for range roots {
		x.Sqrt(x.Lsh(x, baseBits))
	}
	unit := new(big.Int).Lsh(bigOne, baseBits)
	z := new(big.Int).Sub(x, unit)
	z.Quo(z.Lsh(z, baseBits), x.Add(x, unit))
	square := mulFixed(new(big.Int), z, z, baseBits)
	sum := oddSeries(z, func(p *big.Int) { mulFixed(p, p, square, baseBits) }, 1)
	sum.Lsh(sum, roots+1)
	return sum.Add(sum, x.Mul(ln10(), x.SetInt64(int64(e))))
}

var three = FromInt(3)

// expTimesLn is a**b for a > 0, with 60 digits.
func expTimesLn(b, a *Num) (*Num, error) {
	x := toFixedPoint(b, baseBits)
	mulFixed(x, x, lnFixed(a), baseBits)
	if x.BitLen() > baseBits+11 { // |x| >= 2,048
		return nil, ErrTooLarge
	}
	return expFixed(x)
}

func requirePositive(a *Num) error {
	if a.Sign() > 0 {
		return nil
	}
	return newRefusal(ErrUndefined, "logarithm of %s", a)
}

// Ln is the natural logarithm of a; ErrUndefined unless a > 0.
func Ln(a *Num) (*Num, error) {
	if err := requirePositive(a); err != nil {
		return nil, err
	}
	return round(fromFixed(lnFixed(a), baseBits, 0))
}

// Log10 is the logarithm of a to the base 10: exact for powers of ten; ErrUndefined unless a > 0.
func Log10(a *Num) (*Num, error) { return Log(a, ten) }

// Log is the logarithm of a to the given base: exact where the base is a power of a or a of the base. ErrUndefined
// unless both are above 0 and the base is not 1.
func Log(a, base *Num) (*Num, error) {
	if err := requirePositive(a); err != nil {
		return nil, err
	}
	if err := requirePositive(base); err != nil {
		return nil, err
	}
	x, y := lnFixed(a), lnFixed(base)
	if y.Sign() == 0 {
		return nil, newRefusal(ErrUndefined, "logarithm to the base 1")
	}
	const extra = 64 // a base near 1 makes the quotient large, never less precise than y
	x.Quo(x.Lsh(x, baseBits+extra), y)
	return round(fromFixed(x, baseBits+extra, 0))
}

var ten = FromInt(10)

// Sin is the sine of a in radians, whatever the size of a.
func Sin(a *Num) (*Num, error) {
	quadrant, r, b := reduceAngle(a)
	v := sinOrCos(r, b, quadrant&1 == 1)
	if (quadrant&2 == 2) != a.IsNeg() {
		v.Neg(v)
	}
	return round(fromFixed(v, b, 0))
}

// Cos is the cosine of a in radians, whatever the size of a.
func Cos(a *Num) (*Num, error) {
	quadrant, r, b := reduceAngle(a)
	v := sinOrCos(r, b, quadrant&1 == 0)
	if quadrant == 1 || quadrant == 2 {
		v.Neg(v)
	}
	return round(fromFixed(v, b, 0))
}

// reduceAngle is |a| = quadrant·π/2 + r (mod 2π), r with b bits. A large a needs as many more bits of π as it has
// digits before the point; a small one as many more bits of r as it has zeros behind it.
func reduceAngle(a *Num) (quadrant uint, r *big.Int, b uint) {
	if a.IsZero() {
		return 0, new(big.Int), baseBits
	}
	b = baseBits + bitsFor(-a.adjusted())
	more := bitsFor(a.adjusted())
	half := pi(b + more)
	half.Rsh(half, 1)
	q, r := new(big.Int).QuoRem(toFixedPoint(Abs(a), b+more), half, new(big.Int))
	return uint(q.Bit(1)<<1 | q.Bit(0)), r.Rsh(r, more), b
}

// sinOrCos is the Taylor series of r, 0 <= r < π/2.
func sinOrCos(r *big.Int, b uint, cosine bool) *big.Int {
	square := mulFixed(new(big.Int), r, r, b)
	term, n := new(big.Int).Set(r), int64(1)
	if cosine {
		term.Lsh(bigOne, b)
		n = 0
	}
	sum, d := new(big.Int), new(big.Int)
	for sign := 1; term.Sign() != 0; sign = -sign {
		if sign > 0 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Quo(mulFixed(term, term, square, b), d.SetInt64((n+1)*(n+2)))
		n += 2
	}
	return sum
}

// Atan2 is the angle of the point (x, y), in (−π, π]; 0 for the origin, as in Python.
func Atan2(y, x *Num) (*Num, error) {
	if y.IsZero() && !x.IsNeg() {
		return new(Num), nil
	}
	v, b := angleOf(Abs(y), Abs(x))
	if x.IsNeg() {
		v.Sub(pi(b), v)
	}
	if y.IsNeg() {
		v.Neg(v)
	}
	return round(fromFixed(v, b, 0))
}

// angleOf is atan(y/x) for y, x >= 0, not both 0.
func angleOf(y, x *Num) (*big.Int, uint) {
	flip := y.d.Cmp(&x.d) > 0
	if flip {
		y, x = x, y
	}
	if y.IsZero() {
		return complementAngle(new(big.Int), baseBits, flip), baseBits
	}
	b := baseBits + bitsFor(x.adjusted()-y.adjusted())
	e := int(min(y.d.Exponent, x.d.Exponent))
	t := y.scaledInt(e)
	t.Quo(t.Lsh(t, b), x.scaledInt(e))
	return complementAngle(atan(t, b), b, flip), b
}

// complementAngle is v, or π/2 − v.
func complementAngle(v *big.Int, b uint, flip bool) *big.Int {
	if !flip {
		return v
	}
	half := pi(b)
	return half.Sub(half.Rsh(half, 1), v)
}

// atan of 0 <= t <= 1: the angle is halved three times, tan(v/2) = t/(1+√(1+t²)), then the series.
func atan(t *big.Int, b uint) *big.Int {
	const halvings = 3
	unit, squareUnit := new(big.Int).Lsh(bigOne, b), new(big.Int).Lsh(bigOne, 2*b)
	for range halvings {
		d := new(big.Int).Mul(t, t)
		d.Sqrt(d.Add(d, squareUnit))
		t = new(big.Int).Quo(t.Lsh(t, b), d.Add(d, unit))
	}
	square := mulFixed(new(big.Int), t, t, b)
	v := oddSeries(t, func(p *big.Int) { mulFixed(p, p, square, b) }, -1)
	return v.Lsh(v, halvings)
}

// Degrees is the angle a, given in radians, in degrees.
func Degrees(a *Num) (*Num, error) { return round(mul(ctxWide, a, degree())) }

// Radians is the angle a, given in degrees, in radians.
func Radians(a *Num) (*Num, error) { return round(quo(ctxWide, a, degree())) }

// degree is 180/π.
var degree = sync.OnceValue(func() *Num {
	v := new(big.Int).Lsh(big.NewInt(180), 2*baseBits)
	n, _ := fromFixed(v.Quo(v, pi(baseBits)), baseBits, 0) // 57.29… is in range
	return n
})
