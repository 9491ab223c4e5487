package decimal

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// vector is one line of testdata/vectors.json, written by testdata/gen.py with mpmath, decimal and fractions.
type vector struct {
	Fn   string   `json:"fn"`
	Args []string `json:"args"`
	Want string   `json:"want"`
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vs []vector
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	return vs
}

func numbers(t *testing.T, texts []string) []*Num {
	t.Helper()
	ns := make([]*Num, len(texts))
	for i, s := range texts {
		n, err := Parse(s)
		if err != nil {
			t.Fatalf("Parse(%q): %v", s, err)
		}
		ns[i] = n
	}
	return ns
}

var unary = map[string]func(*Num) (*Num, error){
	"sin": Sin, "cos": Cos, "exp": Exp, "ln": Ln, "log10": Log10, "sqrt": Sqrt, "degrees": Degrees, "radians": Radians,
	"floor": Floor, "ceil": Ceil,
}

var binary = map[string]func(a, b *Num) (*Num, error){
	"add": Add, "sub": Sub, "mul": Mul, "quo": Quo, "floordiv": FloorDiv, "mod": Mod, "pow": Pow, "atan2": Atan2,
	"log": Log,
}

// apply calls the operation named fn.
func apply(t *testing.T, fn string, a []*Num) (*Num, error) {
	t.Helper()
	if f, ok := unary[fn]; ok {
		return f(a[0])
	}
	if f, ok := binary[fn]; ok {
		return f(a[0], a[1])
	}
	switch fn {
	case "round":
		places, _ := a[1].Int64()
		return Round(a[0], int(places))
	case "pmt":
		return Pmt(a[0], a[1], a[2])
	case "rate":
		return Rate(a[0], a[1], a[2])
	case "npv":
		return Npv(a[0], a[1:])
	case "irr":
		return Irr(a)
	}
	t.Fatalf("no operation %q", fn)
	return nil, nil
}

// TestVectors compares 39 digits: one unit in the 40th is left to the two roundings of the second source's own
// printing.
func TestVectors(t *testing.T) {
	seen := map[string]int{}
	for _, v := range readVectors(t) {
		seen[v.Fn]++
		got, err := apply(t, v.Fn, numbers(t, v.Args))
		name := v.Fn + "(" + strings.Join(v.Args[:min(len(v.Args), 6)], ", ") + ")"
		if v.Want == "ErrTooLarge" {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s = %v, %v, want ErrTooLarge", name, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v, want %s", name, err, v.Want)
			continue
		}
		want := numbers(t, []string{v.Want})[0]
		if ulps := distance(got, want); ulps > 1 {
			t.Errorf("%s = %s, want %s (%d units in the 40th digit)", name, got.d.Text('e'), v.Want, ulps)
		}
		if Cmp(got, want) != 0 || got.String() != want.String() {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	for fn := range unary {
		if seen[fn] < 5 {
			t.Errorf("%d vectors of %s", seen[fn], fn)
		}
	}
}

// distance is |a − b| in units of the 40th digit of b, at most 1,000.
func distance(a, b *Num) int64 {
	if b.IsZero() {
		if a.IsZero() {
			return 0
		}
		return 1000
	}
	e := b.adjusted() - 39
	d := a.scaledInt(e - 5)
	d.Sub(d, b.scaledInt(e-5)).Abs(d).Quo(d, pow10(5))
	if !d.IsInt64() {
		return 1000
	}
	return min(d.Int64(), 1000)
}

// Constants to 40 digits as published (OEIS A000796, A001113, A002392).
func TestPublishedConstants(t *testing.T) {
	zero, minusOne := new(Num), FromInt(-1)
	piGot, _ := Atan2(zero, minusOne)
	e, _ := Exp(one)
	lnTen, _ := Ln(ten)
	for _, c := range []struct {
		got  *Num
		want string
	}{
		{piGot, "3.141592653589793238462643383279502884197"},
		{e, "2.718281828459045235360287471352662497757"},
		{lnTen, "2.302585092994045684017991454684364207601"},
	} {
		if c.got.d.Text('f') != c.want {
			t.Errorf("got %s, want %s", c.got.d.Text('f'), c.want)
		}
	}
}

func TestParseAndString(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.000", "0"}, {"0e500", "0"}, {"1", "1"}, {"0.50", "0.5"}, {"-1.50e1", "-15"},
		{"+7", "7"}, {".5", "0.5"}, {"5.", "5"}, {"007", "7"},
		{"1e34", "1" + strings.Repeat("0", 34)}, {"1e35", "1e+35"}, {"1e-12", "0.000000000001"}, {"1e-13", "1e-13"},
		{"1.25E-20", "1.25e-20"}, {"123e400", "ErrTooLarge"},
		{"1e400", "1e+400"}, {"1e401", "ErrTooLarge"}, {"1e-400", "1e-400"}, {"1e-401", "ErrTooLarge"},
		{"0.1e401", "1e+400"},
		{"1e5000000", "ErrTooLarge"}, {"1e99999999999999999999", "ErrTooLarge"},
		{"-1e-99999999999999999999", "ErrTooLarge"},
		{"12345678901234567890123456789", "12345678901234567890123456790"}, // 28 digits, half-even up from …89
		{"10000000000000000000000000005", "10000000000000000000000000000"}, // a tie goes to the even digit
		{"10000000000000000000000000015", "10000000000000000000000000020"},
		{"0.99999999999999999999999999999", "1"},
		{strings.Repeat("9", 64), "1e+64"}, {strings.Repeat("9", 65), "ErrTooLarge"},
		{"", "ErrSyntax"}, {"-", "ErrSyntax"}, {".", "ErrSyntax"}, {"e5", "ErrSyntax"}, {"1e", "ErrSyntax"},
		{"1e+", "ErrSyntax"}, {"1_000", "ErrSyntax"}, {"1,000", "ErrSyntax"},
		{"NaN", "ErrSyntax"}, {"Infinity", "ErrSyntax"}, {"--1", "ErrSyntax"}, {" 1", "ErrSyntax"},
		{"0x10", "ErrSyntax"}, {"1.2.3", "ErrSyntax"}, {"١", "ErrSyntax"},
	} {
		n, err := Parse(c.in)
		got := errName(err)
		if err == nil {
			got = n.String()
		}
		if got != c.want {
			t.Errorf("Parse(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func errName(err error) string {
	for name, target := range map[string]error{"ErrTooLarge": ErrTooLarge, "ErrUndefined": ErrUndefined,
		"ErrAmbiguous": ErrAmbiguous, "ErrSyntax": ErrSyntax} {
		if errors.Is(err, target) {
			return name
		}
	}
	return ""
}

// Every refusal of S12 and S13a, and what stands just inside it.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		fn, args, want string
	}{
		{"quo", "1 0", "ErrUndefined"}, {"quo", "0 0", "ErrUndefined"}, {"floordiv", "1 0", "ErrUndefined"},
		{"mod", "1 0", "ErrUndefined"},
		{"pow", "0 -1", "ErrUndefined"}, {"pow", "0 -0.5", "ErrUndefined"}, {"pow", "-8 0.5", "ErrUndefined"},
		{"pow", "2 10001", "ErrTooLarge"}, {"pow", "1 10001", "ErrTooLarge"},
		{"pow", "2 1e300", "ErrTooLarge"}, {"pow", "10 401.5", "ErrTooLarge"},
		{"pow", "10 400.5", "3.162277660168379331998893544e+400"}, {"pow", "9 387420489", "ErrTooLarge"},
		{"pow", "1e-300 2", "ErrTooLarge"}, {"pow", "1e300 -1.5", "ErrTooLarge"},
		{"sqrt", "-1", "ErrUndefined"}, {"sqrt", "0", "0"}, {"ln", "0", "ErrUndefined"}, {"ln", "-1", "ErrUndefined"},
		{"log10", "0", "ErrUndefined"}, {"log", "2 1", "ErrUndefined"}, {"log", "2 0", "ErrUndefined"},
		{"log", "8 2", "3"}, {"log", "2 8", "0.3333333333333333333333333333"}, {"log", "1e-300 1e100", "-3"},
		{"ln", "1", "0"},
		{"exp", "1000", "ErrTooLarge"}, {"exp", "-1000", "ErrTooLarge"}, {"exp", "1e400", "ErrTooLarge"},
		{"exp", "1e-400", "1"}, {"exp", "0", "1"},
		{"mul", "1e300 1e300", "ErrTooLarge"}, {"mul", "1e-300 1e-300", "ErrTooLarge"},
		{"add", "9e400 9e400", "ErrTooLarge"}, {"sub", "1 1", "0"}, {"mul", "-1 0", "0"},
		{"floordiv", "1e300 1e-300", "ErrTooLarge"}, {"mod", "1e300 1e-300", "0"}, {"degrees", "1e400", "ErrTooLarge"},
		{"atan2", "1e-400 1e400", "ErrTooLarge"}, {"atan2", "1e-400 -1e400", "3.141592653589793238462643383"},
		{"pmt", "0 0 100", "ErrUndefined"}, {"pmt", "-1 12 100", "ErrUndefined"}, {"pmt", "0.05 0 100", "ErrUndefined"},
		{"pmt", "1 2000 5", "ErrTooLarge"},
		{"npv", "-1 1 2", "ErrUndefined"}, {"npv", "0.1", "0"},
		{"irr", "1 2", "ErrAmbiguous"}, {"irr", "-1 2 -1", "ErrAmbiguous"}, {"irr", "0 0", "ErrAmbiguous"},
		{"irr", "-1 100", "ErrAmbiguous"}, {"irr", "-100 1", "ErrAmbiguous"}, {"irr", "-1 1e101", "ErrTooLarge"},
		{"irr", "-1 11", "10"}, {"irr", "-10 1", "-0.9"},
		{"rate", "12 0 100", "ErrUndefined"}, {"rate", "1.5 10 10", "ErrUndefined"},
		{"rate", "0 10 10", "ErrUndefined"}, {"rate", "12 100 1200", "ErrAmbiguous"},
		{"rate", "12 5000 1200", "ErrAmbiguous"}, {"rate", "10001 10 10", "ErrTooLarge"},
		{"rate", "1 2 1", "1"},
	} {
		got, err := apply(t, c.fn, numbers(t, strings.Fields(c.args)))
		have := errName(err)
		if err == nil {
			have = got.String()
		}
		if have != c.want {
			t.Errorf("%s(%s) = %s (%v), want %s", c.fn, c.args, have, err, c.want)
		}
		if err != nil && got != nil {
			t.Errorf("%s(%s): a number beside the error", c.fn, c.args)
		}
	}
	if _, err := Irr(append([]*Num{FromInt(-1)}, make([]*Num, maxFlows)...)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("irr of 1,201 flows: %v", err)
	}
}

func TestCmp(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0}, {"-0", "0", 0}, {"1", "2", -1}, {"-1", "-2", 1}, {"1e400", "-1e400", 1}, {"1e-400", "0", 1},
		{"1.25", "1.2500000000000000000000000000000000001", 0},   // 37th digit: within the guard
		{"1.25", "1.249999999999999999999999999999999999999", 0}, // rounds up to 1.25
		{"1.25", "1.250000000000000000000000001", -1},            // 28th digit: beyond it
		{"1.25", "1.249999999999999999999999999", 1},
	} {
		n := numbers(t, []string{c.a, c.b})
		if got := Cmp(n[0], n[1]); got != c.want {
			t.Errorf("Cmp(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Cmp(n[1], n[0]); got != -c.want {
			t.Errorf("Cmp(%s, %s) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		in    string
		whole bool
		value int64
		fits  bool
	}{
		{"12.00", true, 12, true}, {"-12", true, -12, true}, {"0.0", true, 0, true}, {"1e18", true, 1e18, true},
		{"9223372036854775807", true, 9223372036854775807, true},
		{"-9223372036854775808", true, -9223372036854775808, true}, {"9223372036854775808", true, 0, false},
		{"1e400", true, 0, false}, {"0.5", false, 0, false}, {"1e-400", false, 0, false},
		{"10.01", false, 0, false},
	} {
		n := numbers(t, []string{c.in})[0]
		v, ok := n.Int64()
		if n.IsInt() != c.whole || ok != c.fits || ok && v != c.value {
			t.Errorf("%s: IsInt %v, Int64 %d, %v", c.in, n.IsInt(), v, ok)
		}
	}
}

// Round must take any int: one end of int has no negative.
func TestRoundExtremes(t *testing.T) {
	n := MustParse("-123.456")
	for places, want := range map[int]string{int(^uint(0) >> 1): "-123.456", -int(^uint(0)>>1) - 1: "0", -400: "0",
		-3: "0", -2: "-100"} {
		if got, err := Round(n, places); err != nil || got.String() != want {
			t.Errorf("Round(%s, %d) = %v, %v, want %s", n, places, got, err, want)
		}
	}
	if _, err := Round(MustParse("9e400"), -401); !errors.Is(err, ErrTooLarge) {
		t.Errorf("9e400 rounded to 1e401: %v", err)
	}
}

// The operands stay what they were, and the results do not share their digits.
func TestOperandsAreNotChanged(t *testing.T) {
	for _, text := range []string{"3", "-2.5", "1234567890123456789012345678901234567890",
		"-7.000000000000000000000000000000000000001e300"} {
		a := MustParse(text)
		before := a.d.Text('e')
		for name, f := range unary {
			if _, err := f(a); a.d.Text('e') != before {
				t.Fatalf("%s(%s) changed its operand to %s (%v)", name, before, a.d.Text('e'), err)
			}
		}
		for name, f := range binary {
			r, err := f(a, a)
			if err == nil {
				_, _ = Pow(r, FromInt(3))
			}
			if a.d.Text('e') != before {
				t.Fatalf("%s changed its operand to %s", name, a.d.Text('e'))
			}
		}
		_, _, _ = Neg(a), Abs(a), Cmp(a, Neg(a))
		_ = a.String()
		if a.d.Text('e') != before {
			t.Fatalf("%s became %s", before, a.d.Text('e'))
		}
	}
}

// sane says that a result keeps the promise of the package: finite, in range, at most 40 digits, one zero, and read
// back.
func sane(t *testing.T, what string, n *Num, err error) {
	t.Helper()
	if err != nil {
		if n != nil || errName(err) == "" {
			t.Fatalf("%s: %v beside %v", what, n, err)
		}
		return
	}
	adj := n.adjusted()
	if n.d.Form != apd.Finite || n.d.NumDigits() > digits || n.IsZero() && (n.d.Negative || n.d.Exponent != 0) ||
		!n.IsZero() && (adj > maxExponent || adj < -maxExponent) || n.d.Coeff.Sign() < 0 {
		t.Fatalf("%s = %s breaks S13a", what, n.d.Text('e'))
	}
	back, err := Parse(n.String())
	if adj < maxExponent && (err != nil || Cmp(back, n) != 0 || back.String() != n.String()) {
		t.Fatalf("%s: %s reads back as %v, %v", what, n, back, err)
	}
}

// FuzzOperations: whatever the operands, no panic, and every result keeps the promise of sane.
func FuzzOperations(f *testing.F) {
	f.Add("1e400", "1e-400", "7")
	f.Add("-0.1", "9999.5", "12")
	f.Add("9999999999999999999999999999999999999999e360", "-3", "0")
	f.Add("0.9999999999999999999999999999999999999999", "10000", "1e5000000")
	f.Fuzz(func(t *testing.T, x, y, z string) {
		var ns []*Num
		for _, s := range []string{x, y, z} {
			n, err := Parse(s)
			sane(t, "Parse "+strconv.Quote(s), n, err)
			if err != nil {
				return
			}
			ns = append(ns, n)
		}
		for name, op := range unary {
			n, err := op(ns[0])
			sane(t, name+" "+x, n, err)
		}
		for name, op := range binary {
			n, err := op(ns[0], ns[1])
			sane(t, name+" "+x+" "+y, n, err)
		}
		for _, name := range []string{"round", "pmt", "rate", "npv", "irr"} {
			n, err := apply(t, name, ns)
			sane(t, name+" "+x+" "+y+" "+z, n, err)
		}
		if Cmp(ns[0], ns[1]) != -Cmp(ns[1], ns[0]) || (Cmp(ns[0], ns[1]) == 0) != (ns[0].String() == ns[1].String()) {
			t.Fatalf("Cmp and String disagree on %s and %s", x, y)
		}
		sameAsSlow(t, x, ns[0], ns[1])
	})
}

// sameAsSlow holds the two short ways to the long ones: a number that is read in one pass is the one that is read with
// an exponent, and what sizes decide is what rounding decides.
func sameAsSlow(t *testing.T, text string, a, b *Num) {
	t.Helper()
	if short := parseShort(text); short != nil {
		if long, err := Parse(text + "e0"); err != nil || short.d.Cmp(&long.d) != 0 ||
			short.d.Exponent != long.d.Exponent || short.d.Negative != long.d.Negative {
			t.Fatalf("%s is read as %v, with an exponent as %v (%v)", text, short, long, err)
		}
	}
	var ra, rb apd.Decimal
	if want := roundGuarded(a, &ra).Cmp(roundGuarded(b, &rb)); cmpSize(a, b) != 0 && cmpSize(a, b) != want ||
		Cmp(a, b) != want {
		t.Fatalf("%s and %s compare as %d by size and %d, rounded as %d", a, b, cmpSize(a, b), Cmp(a, b), want)
	}
	for _, share := range []string{"0.01", "0.000001", "0", "-1", "3e10"} {
		if share := MustParse(share); PlainlyWithin(a, b, share) {
			if q, err := Quo(Abs(a), Abs(b)); err != nil || Cmp(q, share) >= 0 {
				t.Fatalf("%s is plainly within %s of %s, and the quotient is %v, %v", a, share, b, q, err)
			}
		}
	}
}

// TestShortWays draws pairs of all sizes, near and far apart.
func TestShortWays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func() string {
		s := ""
		for range 1 + r.IntN(42) {
			s += string(rune('0' + r.IntN(10)*r.IntN(2)))
		}
		if point := r.IntN(len(s) + 2); point <= len(s) {
			s = s[:point] + "." + s[point:]
		}
		if r.IntN(2) == 0 {
			s = "-" + s
		}
		return s
	}
	decided, within := 0, 0
	for range 50_000 {
		text := draw()
		a, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b, factor := MustParse(draw()),
			MustParse([]string{"1", "2", "0.5", "1.0001", "0.999999999999999999999999999999"}[r.IntN(5)])
		if r.IntN(2) == 0 {
			if b, err = Mul(a, factor); err != nil {
				t.Fatal(err)
			}
		}
		sameAsSlow(t, text, a, b)
		if cmpSize(a, b) != 0 {
			decided++
		}
		if PlainlyWithin(a, b, MustParse("0.01")) {
			within++
		}
	}
	if decided < 10_000 || decided > 49_000 || within < 5_000 || within > 45_000 {
		t.Errorf("sizes decide %d of 50000 comparisons and %d shares: the draw shows nothing", decided, within)
	}
	for _, c := range []struct {
		part, whole string
		want        bool
	}{{"1e-300", "1e200", false}, {"1e-195", "1e195", true}, {"-0.004", "596380", true}, {"0.00999", "1", false},
		{"0", "1", false}, {"1", "0", false}} {
		if got := PlainlyWithin(MustParse(c.part), MustParse(c.whole), MustParse("0.01")); got != c.want {
			t.Errorf("%s of %s: %v, want %v", c.part, c.whole, got, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "-.", "1.2.3", "+1", "1e0", "1_0", " 1", "１"} {
		if n := parseShort(text); n != nil {
			t.Errorf("%q is read as %v", text, n)
		}
	}
}

// BenchmarkMortgage is 12 * loan * (rate/12) / (1 - (1 + rate/12)**(-360)), bounded by 15 µs in the design.
func BenchmarkMortgage(b *testing.B) {
	loan, rate, twelve, n := MustParse("9300000"), MustParse("0.0675"), FromInt(12), FromInt(-360)
	for b.Loop() {
		monthly, _ := Quo(rate, twelve)
		growth, _ := Add(one, monthly)
		power, _ := Pow(growth, n)
		share, _ := Sub(one, power)
		top, _ := Mul(twelve, loan)
		top, _ = Mul(top, monthly)
		if _, err := Quo(top, share); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIrr360(b *testing.B) {
	cf := []*Num{FromInt(-250000)}
	for range 360 {
		cf = append(cf, MustParse("1498.876313"))
	}
	for b.Loop() {
		if _, err := Irr(cf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSin(b *testing.B) { benchUnary(b, Sin) }
func BenchmarkLn(b *testing.B)  { benchUnary(b, Ln) }
func BenchmarkExp(b *testing.B) { benchUnary(b, Exp) }

func benchUnary(b *testing.B, f func(*Num) (*Num, error)) {
	x := MustParse("1.234567890123")
	for b.Loop() {
		if _, err := f(x); err != nil {
			b.Fatal(err)
		}
	}
}
