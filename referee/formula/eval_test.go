package formula

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/decimal"
)

func TestEvalErrors(t *testing.T) {
	in := Inputs{"noi": number("5"), "zero": number("0"), "cf": {List: list("-1", "2", "-1")},
		"gap": {List: []*decimal.Num{nil}}, "none": {}, "empty": {List: []*decimal.Num{}}}
	for _, c := range []struct {
		src  string
		is   error
		want string
	}{
		{"1 + 2 * 3 + (noi / zero)", decimal.ErrUndefined, "division by zero at column 14: (noi / zero)"},
		{"noi // (zero*2)", decimal.ErrUndefined, "division by zero at column 1: (noi // (zero * 2))"},
		{"1 + zero ** -1", decimal.ErrUndefined, "0 to a negative power at column 5: (zero ** -1)"},
		{"sqrt(-noi)", decimal.ErrUndefined, "square root of a negative number at column 1: (sqrt(-noi))"},
		{"log(zero)", decimal.ErrUndefined, "logarithm of 0 at column 1: (ln(zero))"},
		{"9**9**9**9", decimal.ErrTooLarge, "the power 387420489 is beyond ±10,000 at column 4: (9 ** 9 ** 9)"},
		{"1e300 * 1e300", decimal.ErrTooLarge, "a number beyond the exponents of ±400 at column 1: (1e+300 * 1e+300)"},
		{"irr(cf)", decimal.ErrAmbiguous, "irr: the flows change their sign 2 times, not once at column 1: (irr(cf))"},
		{"round(noi, 0.5)", decimal.ErrUndefined, "rounding to 0.5 places: undefined at column 1: (round(noi, 0.5))"},
		{"max(empty)", decimal.ErrUndefined, "an empty list: undefined at column 1: (max(empty))"},
		{"avg(empty)", decimal.ErrUndefined, "division by zero at column 1: (avg(empty))"},
		{"noi / absent", nil, `no number for "absent"`},
		{"noi / none", nil, `no number for "none"`},
		{"sum(gap)", nil, `no number for "gap"`},
		{"noi + cf", nil, `no number for "cf" at column 1: (noi + cf)`},
		{"cf", nil, `no number for "cf" at column 1: (cf)`},
		{"-cf", nil, `no number for "cf" at column 1: (-cf)`},
		{"abs(cf)", nil, `no number for "cf" at column 1: (abs(cf))`},
		{"npv(cf, cf)", nil, `no number for "cf" at column 1: (npv(cf, cf))`},
		{"len(noi)", nil, `no list of numbers for "noi" at column 1: (len(noi))`},
	} {
		f := mustParse(t, c.src, "noi", "zero", "cf", "gap", "none", "empty")
		n, err := f.Eval(in)
		if err == nil || n != nil || err.Error() != c.want {
			t.Errorf("%s = %v, %v\nwant %s", c.src, n, err, c.want)
			continue
		}
		var missing *MissingError
		if c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &missing) {
			t.Errorf("%s: %#v", c.src, err)
		}
	}
}

func TestLists(t *testing.T) {
	in := Inputs{"l": {List: list("3", "1", "2")}, "empty": {List: []*decimal.Num{}},
		"x": {Num: decimal.FromInt(9), List: list("1")}}
	for src, want := range map[string]string{"sum(l)": "6", "sum(l, x, l)": "21", "avg(l)": "2", "min(l)": "1",
		"max(l, 7)": "7", "len(l)": "3", "len(empty)": "0", "sum(empty)": "0", "npv(0, l)": "6", "npv(1, 4, 4, 4)": "7",
		"x + 1": "10"} {
		if n, err := mustParse(t, src, "l", "empty", "x").Eval(in); err != nil || n.String() != want {
			t.Errorf("%s = %v, %v, want %s", src, n, err, want)
		}
	}
}

// A formula cannot be made to work for long: the budget ends it.
func TestWorkIsBounded(t *testing.T) {
	flows := append(list("-1000"), make([]*decimal.Num, 1100)...)
	for i := range flows[1:] {
		flows[i+1] = decimal.FromInt(2)
	}
	src := "irr(cf)"
	for range 100 {
		src += " + irr(cf)"
	}
	start := time.Now()
	_, err := mustParse(t, src, "cf").Eval(Inputs{"cf": {List: flows}})
	if !errors.Is(err, decimal.ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
	if d := time.Since(start); d > 10*time.Second { // a hundred of them unbounded would be far beyond it
		t.Errorf("took %v", d)
	}
	if _, err := mustParse(t, "irr(cf)", "cf").Eval(Inputs{"cf": {List: flows}}); err != nil {
		t.Errorf("one irr: %v", err)
	}
}

// One formula may be evaluated by many goroutines at once (run with -race).
func TestConcurrentEval(t *testing.T) {
	f := mustParse(t, "pmt(r/12, 360, a) * 12 + a**0.5", "a", "r")
	done := make(chan string)
	for range 4 {
		go func() {
			n, err := f.Eval(Inputs{"a": number("250000"), "r": number("0.06")})
			if err != nil {
				done <- err.Error()
				return
			}
			done <- n.String()
		}()
	}
	first := <-done
	for range 3 {
		if s := <-done; s != first {
			t.Errorf("%s and %s", first, s)
		}
	}
}

const mortgage = "12 * loan * (rate/12) / (1 - (1 + rate/12)**(-360))"

func BenchmarkMortgage(b *testing.B) {
	f := mustParse(b, mortgage, "loan", "rate")
	in := Inputs{"loan": number("9300000"), "rate": number("0.0675")}
	for b.Loop() {
		if _, err := f.Eval(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseMortgage(b *testing.B) {
	names := []string{"loan", "rate"}
	for b.Loop() {
		if _, err := Parse(mortgage, names); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCrowdOfNames: a calculation of more inputs than any formula could read is refused, and names of one normal form
// take no square of time.
func TestCrowdOfNames(t *testing.T) {
	names := make([]string, MaxNames+1)
	for i := range names {
		names[i] = "a" + strings.Repeat(".", i)
	}
	var limit *LimitError
	if _, err := Parse("a", names); !errors.As(err, &limit) ||
		!strings.Contains(err.Error(), "1001 inputs; at most 1000") {
		t.Errorf("%d names: %v", len(names), err)
	}
	if f, err := Parse("a", names[:MaxNames]); err != nil || f.Vars()[0] != "a" {
		t.Errorf("%d names: %v", MaxNames, err)
	}
}

// TestLongNames: the longest name wins among many words, as the normal form of each beginning says.
func TestLongNames(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("net income ", 80))
	f, err := Parse(long+" / net_income", []string{"net income", strings.ReplaceAll(long, " ", "_"), "net_income net"})
	if err != nil || len(f.Vars()) != 2 || f.Vars()[0] != strings.ReplaceAll(long, " ", "_") ||
		f.Vars()[1] != "net income" {
		t.Errorf("%v, %v", f, err)
	}
}

// TestEvalWithin: the formulas of one audit take from one meter, and what has no room is refused as too much.
func TestEvalWithin(t *testing.T) {
	f, err := Parse("a * a + a", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	in := Inputs{"a": {Num: decimal.FromInt(3)}}
	m := &decimal.Meter{Most: 10}
	for range 2 {
		if n, err := f.EvalWithin(in, m); err != nil || n.String() != "12" {
			t.Fatalf("%v, %v", n, err)
		}
	}
	if m.Spent != 8 {
		t.Errorf("two evaluations of two operations take %d steps, want 8", m.Spent)
	}
	if _, err := f.EvalWithin(in, m); !errors.Is(err, decimal.ErrTooLarge) || !m.Exhausted() {
		t.Errorf("the third: %v", err)
	}
	if n, err := f.Eval(in); err != nil || n.String() != "12" {
		t.Errorf("without a meter: %v, %v", n, err)
	}
}
