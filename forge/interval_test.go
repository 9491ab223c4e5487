package forge

import (
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

func span(lo, hi string) interval {
	var i interval
	if lo != "" {
		i.lo = bound{n: decimal.MustParse(lo)}
	}
	if hi != "" {
		i.hi = bound{n: decimal.MustParse(hi)}
	}
	return i
}

// TestInterval: worked by hand.
func TestInterval(t *testing.T) {
	tests := []struct {
		name string
		got  interval
		want string
	}{
		{"add", span("1", "2").add(span("10", "")), "x >= 11"},
		{"sub", span("1", "2").sub(span("1", "2")), "x >= -1 and x <= 1"},
		{"mul across zero", span("-2", "3").mul(span("-5", "7")), "x >= -15 and x <= 21"},
		{"mul of signs", span("0", "").mul(span("", "0")), "x <= 0"},
		{"quo", span("1", "2").quo(span("4", "5")), "x >= 0.2 and x <= 0.5"},
		{"quo by what may be zero", span("1", "2").quo(span("0", "5")), "x >= 0"},
		{"abs", span("-7", "3").abs(), "x >= 0 and x <= 7"},
		{"abs of negative", span("-7", "-3").abs(), "x >= 3 and x <= 7"},
		{"min", span("1", "5").least(span("3", "4")), "x >= 1 and x <= 4"},
		{"max", span("1", "5").most(span("3", "4")), "x >= 3 and x <= 5"},
		{"max of one unbounded", span("1", "").most(span("", "4")), "x >= 1"},
		{"and", span("1", "5").and(intervalOf("<", decimal.FromInt(5))), "x >= 1 and x < 5"},
		{"or", span("1", "2").or(span("5", "")), "x >= 1"},
		{"one number", span("3", "3"), "x == 3"},
	}
	for _, tt := range tests {
		if got := tt.got.conditionText("x"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if !span("2", "1").isEmpty() || span("1", "1").isEmpty() ||
		!span("1", "").and(intervalOf("<", decimal.FromInt(1))).isEmpty() {
		t.Error("empty")
	}
}

// FuzzInterval: the result of an operation on two numbers lies in the interval of the operation on intervals that hold
// them.
func FuzzInterval(f *testing.F) {
	f.Add(int64(-3), uint16(5), uint16(2), int64(4), uint16(9), uint16(0), uint8(0))
	f.Add(int64(0), uint16(0), uint16(0), int64(0), uint16(3), uint16(1), uint8(3))
	f.Add(int64(7), uint16(100), uint16(100), int64(-9), uint16(18), uint16(18), uint8(21))
	f.Fuzz(func(t *testing.T, lo1 int64, wide1, at1 uint16, lo2 int64, wide2, at2 uint16, open uint8) {
		if lo1 > 1e12 || lo1 < -1e12 || lo2 > 1e12 || lo2 < -1e12 || at1 > wide1 || at2 > wide2 {
			return
		}
		make := func(lo int64, wide, at uint16, open uint8) (interval, *decimal.Num) {
			i := closedInterval(lo, lo+int64(wide))
			if open&1 != 0 {
				i.lo = bound{}
			}
			if open&2 != 0 {
				i.hi = bound{}
			}
			return i, decimal.FromInt(lo + int64(at))
		}
		a, x := make(lo1, wide1, at1, open)
		b, y := make(lo2, wide2, at2, open>>2)
		check := func(name string, i interval, n *decimal.Num, err error) {
			if err == nil && !i.contains(n) {
				t.Errorf("%s of %s and %s is %s, not in %q", name, x, y, n, i.conditionText("x"))
			}
		}
		sum, err := decimal.Add(x, y)
		check("sum", a.add(b), sum, err)
		difference, err := decimal.Sub(x, y)
		check("difference", a.sub(b), difference, err)
		product, err := decimal.Mul(x, y)
		check("product", a.mul(b), product, err)
		quotient, err := decimal.Quo(x, y)
		check("quotient", a.quo(b), quotient, err)
		check("abs", a.abs(), decimal.Abs(x), nil)
		less, more := x, y
		if decimal.Cmp(x, y) > 0 {
			less, more = y, x
		}
		check("min", a.least(b), less, nil)
		check("max", a.most(b), more, nil)
		check("or", a.or(b), x, nil)
		if s := a.and(b).sampleNumber(); (s == nil) != a.and(b).isEmpty() || s != nil && !a.and(b).contains(s) {
			t.Errorf("sample %v of %q", s, a.and(b).conditionText("x"))
		}
	})
}
