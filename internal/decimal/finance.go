package decimal

import "fmt"

// Limits and brackets of the rates that are found by bisection (rules.md, "pmt-free finance").
const (
	iterations = 200
	maxFlows   = 1_200 // a hundred years of months; bounds what one irr can cost
)

var (
	irrLow, irrHigh   = MustParse("-0.9"), FromInt(10)
	rateLow, rateHigh = MustParse("1e-9"), FromInt(1)
	oneHalf           = MustParse("0.5")
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

// Irr is the rate at which the flows are worth 0: 200 bisections of [-0.9, 10]. The flows must change their sign exactly once
// and the root must lie in the bracket, else ErrAmbiguous. More than 1,200 flows are ErrTooLarge.
func Irr(cf []*Num) (*Num, error) {
	if len(cf) > maxFlows {
		return nil, fmt.Errorf("irr of %d flows (at most %d): %w", len(cf), maxFlows, ErrTooLarge)
	}
	if n := signChanges(cf); n != 1 {
		return nil, fmt.Errorf("irr: the flows change their sign %d times, not once: %w", n, ErrAmbiguous)
	}
	return bisect(irrLow, irrHigh, func(r *Num) (int, error) { return npvSign(r, cf) })
}

// npvSign is the sign of Npv. It multiplies where Npv divides, and from the other end where 1+r is below 1, so that the sum
// stays in range whatever the rate.
func npvSign(r *Num, cf []*Num) (int, error) {
	growth, err := add(ctxWide, one, r)
	if err != nil {
		return 0, err
	}
	factor, backward := growth, false
	if growth.d.Cmp(&one.d) > 0 {
		backward = true
		if factor, err = quo(ctxWide, one, growth); err != nil {
			return 0, err
		}
	}
	sum := new(Num)
	for i := range cf {
		f := cf[i]
		if backward {
			f = cf[len(cf)-1-i]
		}
		if sum, err = mul(ctxWide, sum, factor); err != nil {
			return 0, err
		}
		if sum, err = add(ctxWide, sum, f); err != nil {
			return 0, err
		}
	}
	return sum.Sign(), nil
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

// Rate is the rate of an annuity with n payments pmt of present value pv: 200 bisections of [1e-9, 1] on the closed form.
// ErrUndefined unless n is a whole number above 0 and pmt and pv are positive; ErrAmbiguous if no rate of the bracket fits.
func Rate(n, pmt, pv *Num) (*Num, error) {
	if n.Sign() <= 0 || !n.IsInt() || pmt.Sign() <= 0 || pv.Sign() <= 0 {
		return nil, fmt.Errorf("rate needs a whole number of periods, a payment and a present value above 0: %w", ErrUndefined)
	}
	return bisect(rateLow, rateHigh, func(r *Num) (int, error) {
		p, err := pmtWide(r, n, pv)
		if err != nil {
			return 0, err
		}
		return p.d.Cmp(&pmt.d), nil
	})
}

// bisect finds where sign, which changes once over [lo, hi], does so.
func bisect(lo, hi *Num, sign func(*Num) (int, error)) (*Num, error) {
	low, err := sign(lo)
	if err != nil {
		return nil, err
	}
	high, err := sign(hi)
	switch {
	case err != nil:
		return nil, err
	case low == 0:
		return lo, nil
	case high == 0:
		return hi, nil
	case low == high:
		return nil, fmt.Errorf("no rate between %s and %s fits: %w", lo, hi, ErrAmbiguous)
	}
	mid := lo
	for range iterations {
		if mid, err = middle(lo, hi); err != nil {
			return nil, err
		}
		s, err := sign(mid)
		switch {
		case err != nil:
			return nil, err
		case s == 0:
			return round(mid, nil)
		case s == low:
			lo = mid
		default:
			hi = mid
		}
	}
	return round(mid, nil)
}

func middle(lo, hi *Num) (*Num, error) {
	sum, err := add(ctxWide, lo, hi)
	if err != nil {
		return nil, err
	}
	return mul(ctxWide, sum, oneHalf)
}
