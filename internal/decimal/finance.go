package decimal

import (
	"math/big"
)

// Limits and brackets of the rates that are found by bisection (rules.md 1.1, finance).
const (
	iterations = 200
	maxFlows   = 1_200 // a hundred years of months; bounds what one irr can cost
)

var (
	irrLow, irrHigh   = MustParse("-0.9"), FromInt(10)
	rateLow, rateHigh = MustParse("1e-9"), FromInt(1)
)

// Pmt is the payment of an annuity, positive for a positive pv: rate·pv / (1 − (1+rate)**−n); pv/n at rate 0.
func Pmt(rate, n, pv *Num) (*Num, error) { return round(pmtWide(rate, n, pv)) }

func pmtWide(rate, n, pv *Num) (*Num, error) {
	if rate.IsZero() {
		return quo(ctxWide, pv, n)
	}
	growth, err := add(ctxWide, one, rate)
	if err != nil {
		return nil, err
	}
	discount, err := powWide(growth, Neg(n))
	if err != nil {
		return nil, err
	}
	interest, err := mul(ctxWide, rate, pv)
	if err != nil {
		return nil, err
	}
	share, err := sub(ctxWide, one, discount)
	if err != nil {
		return nil, err
	}
	return quo(ctxWide, interest, share)
}

// Npv is the present value of the flows: Σ cf[i] / (1+rate)**i, so that period 0 is undiscounted.
func Npv(rate *Num, cf []*Num) (*Num, error) { return round(npvWide(rate, cf)) }

func npvWide(rate *Num, cf []*Num) (*Num, error) {
	growth, err := add(ctxWide, one, rate)
	if err != nil {
		return nil, err
	}
	sum := new(Num)
	for i := len(cf) - 1; i >= 0; i-- {
		if sum, err = quo(ctxWide, sum, growth); err != nil {
			return nil, err
		}
		if sum, err = add(ctxWide, sum, cf[i]); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// Irr is the rate at which the flows are worth 0: 200 bisections of [-0.9, 10]. The flows must change their sign
// exactly once and the root must lie in the bracket, else ErrAmbiguous. More than 1,200 flows, or flows that are more
// than a hundred orders of magnitude apart, are ErrTooLarge.
func Irr(cf []*Num) (*Num, error) {
	if len(cf) > maxFlows {
		return nil, newRefusal(ErrTooLarge, "irr of %d flows (at most %d)", len(cf), maxFlows)
	}
	if n := signChanges(cf); n != 1 {
		return nil, newRefusal(ErrAmbiguous, "irr: the flows change their sign %d times, not once", n)
	}
	flows, b, err := alignFlows(cf)
	if err != nil {
		return nil, err
	}
	return bisectRoot(irrLow, irrHigh, b, func(r *big.Int) int { return npvSign(r, flows, b) })
}

// alignFlows is the flows in one fixed point whose bits reach 134 digits below the smallest flow when the largest is
// near 1, so that npvSign loses none of them.
func alignFlows(cf []*Num) ([]*big.Int, uint, error) {
	low, high := maxExponent, -maxExponent
	for _, f := range cf {
		if !f.IsZero() {
			low, high = min(low, f.adjusted()), max(high, f.adjusted())
		}
	}
	if high-low > 100 {
		return nil, 0, newRefusal(ErrTooLarge, "irr: flows %d orders of magnitude apart (at most 100)", high-low)
	}
	b := baseBits + bitsFor(high-low)
	flows := make([]*big.Int, len(cf))
	for i, f := range cf {
		shifted := new(Num)
		shifted.d.Set(&f.d)
		if !f.IsZero() {
			shifted.d.Exponent -= int32(high)
		}
		flows[i] = toFixedPoint(shifted, b)
	}
	return flows, b, nil
}

// npvSign is the sign of Npv at r. It goes through the flows from the end that lets it multiply by a factor of at most
// 1, so that nothing grows whatever the rate.
func npvSign(r *big.Int, flows []*big.Int, b uint) int {
	factor := new(big.Int).Lsh(bigOne, b)
	factor.Add(factor, r)
	backward := r.Sign() > 0
	if backward {
		factor.Quo(new(big.Int).Lsh(bigOne, 2*b), factor)
	}
	sum := new(big.Int)
	for i, f := range flows {
		if backward {
			f = flows[len(flows)-1-i]
		}
		sum.Add(mulFixed(sum, sum, factor, b), f)
	}
	return sum.Sign()
}

func signChanges(cf []*Num) int {
	changes, last := 0, 0
	for _, f := range cf {
		s := f.Sign()
		if s != 0 && last != 0 && s != last {
			changes++
		}
		if s != 0 {
			last = s
		}
	}
	return changes
}

// Rate is the rate of an annuity with n payments pmt of present value pv: 200 bisections of [1e-9, 1] on the closed
// form. ErrUndefined unless n is a whole number above 0 and pmt and pv are positive; ErrAmbiguous if no rate of the
// bracket fits.
func Rate(n, pmt, pv *Num) (*Num, error) {
	periods, ok := n.Int64()
	if !ok || periods <= 0 || pmt.Sign() <= 0 || pv.Sign() <= 0 {
		return nil, newRefusal(ErrUndefined, "rate needs a whole number of periods, a payment and a present value above 0")
	}
	if periods > maxPower {
		return nil, newRefusal(ErrTooLarge, "rate of %d periods (at most 10,000)", periods)
	}
	e := int(min(pmt.d.Exponent, pv.d.Exponent))
	payment, value := pmt.scaledInt(e), pv.scaledInt(e)
	return bisectRoot(rateLow, rateHigh, baseBits, func(r *big.Int) int {
		// pv·r against pmt·(1 − (1+r)**−n)
		unit := new(big.Int).Lsh(bigOne, baseBits)
		share := new(big.Int).Sub(unit, discountFactor(r, periods))
		return new(big.Int).Mul(value, r).Cmp(share.Mul(share, payment))
	})
}

// discountFactor is (1+r)**−n in fixed point, r > 0; it sinks to 0 where Pow would be out of range.
func discountFactor(r *big.Int, n int64) *big.Int {
	v := new(big.Int).Lsh(bigOne, baseBits)
	v.Quo(new(big.Int).Lsh(bigOne, 2*baseBits), v.Add(v, r))
	p := new(big.Int).Lsh(bigOne, baseBits)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			mulFixed(p, p, v, baseBits)
		}
		mulFixed(v, v, v, baseBits)
	}
	return p
}

// bisectRoot finds where sign, which changes once over [low, high], does so, in fixed point of b bits: 200 halvings of
// a bracket of at most 10.9 leave 59 digits.
func bisectRoot(low, high *Num, b uint, sign func(*big.Int) int) (*Num, error) {
	lo, hi := toFixedPoint(low, b), toFixedPoint(high, b)
	// A root on the very edge, which binary digits may miss, is made to lie inside.
	margin := new(big.Int).Lsh(bigOne, b-baseBits+64)
	lo.Sub(lo, margin)
	hi.Add(hi, margin)
	first, last := sign(lo), sign(hi)
	if first == last {
		return nil, newRefusal(ErrAmbiguous, "no rate between %s and %s fits", low, high)
	}
	mid := new(big.Int)
	for range iterations {
		mid.Rsh(mid.Add(lo, hi), 1)
		if sign(mid) == first {
			lo.Set(mid)
		} else {
			hi.Set(mid)
		}
	}
	return round(fromFixed(hi, b, 0))
}
