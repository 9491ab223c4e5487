package referee

import (
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// TestHalfUnit: half a unit in the last written place, by hand.
func TestHalfUnit(t *testing.T) {
	for written, want := range map[string]struct {
		half     string
		decimals bool
	}{"0.05": {"0.005", true}, "12": {"0.5", false}, "12.0": {"0.05", true}, "1.5e3": {"50", true},
		"12e3": {"500", false}, "-0.300": {"0.0005", true}, "1e-3": {"0.0005", false}, "1E+2": {"50", false}} {
		half, decimals := halfUnit(written)
		if half == nil || half.String() != want.half || decimals != want.decimals {
			t.Errorf("%s: half a unit is %s (%t), want %s (%t)", written, half, decimals, want.half, want.decimals)
		}
	}
	if half, _ := halfUnit("1e99999"); half != nil {
		t.Errorf("an exponent out of range has half a unit of %s", half)
	}
}

// TestBandEdges: S2's bands over a walk of a tenth of a per mille: contiguous, non-decreasing, each edge on its side.
func TestBandEdges(t *testing.T) {
	last := bandPass
	for i := range 2000 {
		rel, err := decimal.Quo(decimal.FromInt(int64(i)), decimal.FromInt(10_000))
		if err != nil {
			t.Fatal(err)
		}
		want := bandHigh
		switch {
		case i <= 100:
			want = bandPass
		case i < 200:
			want = bandLow
		case i < 1000:
			want = bandMid
		}
		got := defaultBands.bandOf(rel)
		if got != want || got < last {
			t.Errorf("rel %s is %s, want %s", rel, got, want)
		}
		last = got
	}
	if defaultBands.bandOf(nil) != bandHigh {
		t.Error("infinite is not high")
	}
}

// TestMeasureBeyondDecimals: a difference that does not fit into decimals is high, not a panic and not a pass.
func TestMeasureBeyondDecimals(t *testing.T) {
	big := decimal.MustParse("9e399")
	if d := defaultBands.measureDeviation(big, decimal.Neg(big), "", nil); d.band != bandHigh {
		t.Errorf("%s", d.band)
	}
	if d := defaultBands.measureDeviation(big, decimal.MustParse("1e-399"), "9e399", nil); d.band != bandHigh {
		t.Errorf("%s", d.band)
	}
}

// TestUnitScale and TestMonetary hold the words that S9 and S10 list, and some that are none.
func TestUnitScale(t *testing.T) {
	for units, want := range map[string]string{"%": "100", " Percent ": "100", "pct": "100", "bps": "10000", "x": "1",
		"ratio": "1", "": "1", "USD": "1", "percentage points": "1"} {
		if got := unitScale(units).String(); got != want {
			t.Errorf("%q is divided by %s, want %s", units, got, want)
		}
	}
}

func TestMonetary(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		said        *bool
		units, name string
		want        bool
	}{
		{&yes, "ratio", "x", true}, {&no, "USD", "rent", false}, {nil, "USD", "x", true}, {nil, "USD/yr", "x", true},
		{nil, "EUR / month", "x", true}, {nil, "$", "x", true}, {nil, "€/month", "x", true},
		{nil, "dollars", "x", true}, {nil, "usd", "x", false}, {nil, "KWH", "x", false}, {nil, "ABC", "x", false},
		{nil, "", "noi", true}, {nil, "", "total_cash_flow", true}, {nil, "", "cash", false},
		{nil, "", "Annual Debt Service", true}, {nil, "", "debt", false}, {nil, "", "parent", false},
		{nil, "", "rental", false}, {nil, "ratio", "price", false}, {nil, "%", "tax", false},
		{nil, "sqft", "rent", false}, {nil, "unknown", "rent", true},
	} {
		if got := isMonetary(c.said, c.units, c.name); got != c.want {
			t.Errorf("units %q, name %q: monetary %t, want %t", c.units, c.name, got, c.want)
		}
	}
}
