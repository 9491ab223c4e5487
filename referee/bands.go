package referee

import (
	"errors"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
)

// band is how far a claim lies from its reference, in the words of S2.
type band uint8

const (
	bandPass band = iota
	bandLow
	bandMid
	bandHigh
)

func (b band) String() string { return [...]string{"pass", "low", "mid", "high"}[b] }

// bandTier is the tier of a flag of this band (S7).
func (b band) bandTier() Tier {
	switch b {
	case bandHigh:
		return High
	case bandMid:
		return Mid
	}
	return Low
}

// bands are the penalty bands (S2): half-open, contiguous, non-decreasing. Edges are fractions, so 0.10 is ten per
// cent.
type bands struct {
	tolerance *decimal.Num // rel at or below passes
	abs       *decimal.Num // |Δ| at or below passes too; nil is off (S6)
	mid, high *decimal.Num
}

var (
	zero         = decimal.FromInt(0)
	one          = decimal.FromInt(1)
	two          = decimal.FromInt(2)
	fifty        = decimal.FromInt(50)
	hundred      = decimal.FromInt(100)
	tenThousand  = decimal.FromInt(10000)
	defaultBands = bands{tolerance: decimal.MustParse("0.01"), mid: decimal.MustParse("0.02"),
		high: decimal.MustParse("0.10")}
)

// errBandOrder is returned for bands that overlap or leave a hole.
var errBandOrder = errors.New("the bands must not decrease: tolerance ≤ noncritical ≤ critical")

// checkValid holds the bands to S2 and S6.
func (b bands) checkValid() error {
	if b.tolerance.IsNeg() || decimal.Cmp(b.tolerance, b.mid) > 0 || decimal.Cmp(b.mid, b.high) > 0 {
		return errBandOrder
	}
	return nil
}

// bandOf places a relative error; nil is infinite (S1).
func (b bands) bandOf(rel *decimal.Num) band {
	switch {
	case rel == nil:
		return bandHigh
	case decimal.Cmp(rel, b.tolerance) <= 0:
		return bandPass
	case decimal.Cmp(rel, b.mid) < 0:
		return bandLow
	case decimal.Cmp(rel, b.high) < 0:
		return bandMid
	}
	return bandHigh
}

// deviation is a claim against its reference.
type deviation struct {
	claimed, reference *decimal.Num
	delta              *decimal.Num // claimed − reference
	rel                *decimal.Num // nil is infinite, or plainly within the tolerance
	band               band
	rounded            bool // honest rounding (S2a)
	coarse             bool // honest rounding beyond the high edge: low, "state more digits"
	material           bool // raised to high by S4
	notRounded         bool // an exponent form that states too few digits to be rounding (S17a)
}

// isFlag reports whether the deviation is a flag.
func (d deviation) isFlag() bool { return d.band != bandPass }

// measureDeviation compares a claim with its reference. written is the claim's source text where it has one (S2a);
// scale is what the written number is divided by to become claimed (100 for percent, S10).
func (b bands) measureDeviation(claimed, reference *decimal.Num, written string, scale *decimal.Num) deviation {
	d := deviation{claimed: claimed, reference: reference}
	delta, err := decimal.Sub(claimed, reference)
	if err != nil {
		d.band = bandHigh
		return d
	}
	d.delta = delta
	if decimal.PlainlyWithin(delta, reference, b.tolerance) {
		d.band = bandPass // explain works out by how much
		return d
	}
	d.rel = relativeError(delta, reference)
	d.band = b.bandOf(d.rel)
	if d.band == bandPass {
		return d
	}
	if b.abs != nil && decimal.Cmp(decimal.Abs(delta), b.abs) <= 0 {
		d.band = bandPass
		return d
	}
	return b.roundingOf(d, written, scale)
}

// relativeError is |delta| / |reference|; nil is infinite. A zero delta from zero is zero (S1).
func relativeError(delta, reference *decimal.Num) *decimal.Num {
	switch {
	case delta.IsZero():
		return zero
	case reference.IsZero():
		return nil
	}
	rel, err := decimal.Quo(absoluteValue(delta), absoluteValue(reference))
	if err != nil {
		return nil
	}
	return rel
}

// roundingOf forgives a claim that differs by no more than half a unit in the last place it was written with (S2a).
func (b bands) roundingOf(d deviation, written string, scale *decimal.Num) deviation {
	if written == "" || d.claimed.IsZero() {
		return d
	}
	half, decimals := halfUnit(written)
	if half == nil {
		return d
	}
	off := decimal.Abs(d.delta)
	if scale != nil {
		scaled, err := decimal.Mul(off, scale)
		if err != nil {
			return d
		}
		off = scaled
	}
	if decimal.Cmp(off, half) > 0 {
		return d
	}
	if !roundsByDigits(written) {
		d.notRounded = true
		return d
	}
	switch {
	case d.rel != nil && decimal.Cmp(d.rel, b.high) < 0:
		d.band, d.rounded = bandPass, true
	case decimals:
		d.band, d.coarse, d.rounded = bandLow, true, true
	}
	return d
}

// halfUnit is half a unit in the last place of a number as written ("0.05" → 0.005, "12" → 0.5, "1.5e3" → 50), and
// whether it was written with decimals. Nil means that the text is no number.
func halfUnit(written string) (half *decimal.Num, decimals bool) {
	mantissa, exponent := written, ""
	if i := strings.IndexAny(written, "eE"); i >= 0 {
		mantissa, exponent = written[:i], written[i+1:]
	}
	places, power := 0, 0
	if i := strings.IndexByte(mantissa, '.'); i >= 0 {
		places = len(mantissa) - i - 1
	}
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return nil, false
		}
	}
	half, err := decimal.Parse("5e" + strconv.Itoa(power-places-1))
	if err != nil {
		return nil, false
	}
	return half, places > 0
}

// materialAmount raises a mid error of money to high when its amount is material (S4).
func (s *Sheet) materialAmount(d deviation, money bool) deviation {
	if !money || s.material == nil || d.band == bandPass || d.coarse || d.delta == nil {
		return d
	}
	atMid := d.rel == nil || decimal.Cmp(d.rel, s.money.mid) >= 0
	if atMid && d.band != bandHigh && decimal.Cmp(decimal.Abs(d.delta), s.material) >= 0 {
		d.band, d.material = bandHigh, true
	}
	return d
}
