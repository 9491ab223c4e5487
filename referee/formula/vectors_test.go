package formula

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// vector is one line of testdata/vectors.json, written by testdata/gen.py: CPython parses the formula and computes it
// over decimal at 60 digits.
type vector struct {
	Src    string                     `json:"src"`
	Inputs map[string]json.RawMessage `json:"inputs"`
	Want   string                     `json:"want"`
}

// inputs reads the vector's inputs: texts of numbers, or lists of them.
func (v vector) inputs(t *testing.T) (Inputs, []string) {
	t.Helper()
	in, names := Inputs{}, []string{}
	for name, raw := range v.Inputs {
		names = append(names, name)
		var text string
		if json.Unmarshal(raw, &text) == nil {
			in[name] = Input{Num: decimal.MustParse(text)}
			continue
		}
		var texts []string
		if err := json.Unmarshal(raw, &texts); err != nil {
			t.Fatal(err)
		}
		in[name] = Input{List: list(texts...)}
	}
	slices.Sort(names)
	return in, names
}

func list(texts ...string) []*decimal.Num {
	out := make([]*decimal.Num, len(texts))
	for i, s := range texts {
		out[i] = decimal.MustParse(s)
	}
	return out
}

// number is an input of one number.
func number(s string) Input { return Input{Num: decimal.MustParse(s)} }

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(b, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 800 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		in, names := v.inputs(t)
		f, err := Parse(v.Src, names)
		if err != nil {
			t.Errorf("%s: %v", v.Src, err)
			continue
		}
		wantSame(t, v.Src, f, in, v.Want)
		again, err := parseQuoted(f.Canonical(), names)
		if err != nil {
			t.Errorf("%s: canonical %s: %v", v.Src, f.Canonical(), err)
			continue
		}
		if again.Canonical() != f.Canonical() {
			t.Errorf("%s: %s becomes %s", v.Src, f.Canonical(), again.Canonical())
		}
		wantSame(t, f.Canonical(), again, in, v.Want)
	}
}

// wantSame holds that f has the wanted value at in.
func wantSame(t *testing.T, src string, f *Formula, in Inputs, want string) {
	t.Helper()
	got, err := f.Eval(in)
	if want == "ErrUndefined" {
		if !errors.Is(err, decimal.ErrUndefined) {
			t.Errorf("%s = %v, %v, want undefined", src, got, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v, want %s", src, err, want)
		return
	}
	if decimal.Cmp(got, decimal.MustParse(want)) != 0 {
		t.Errorf("%s = %s, want %s", src, got, want)
	}
}

// TestGateBoundary is S13a's measurement: deals whose dscr is exactly a gate after the division. The debt service has
// three non-terminating steps (thirds, sevenths, a monthly rate); the noi is chosen in exact rationals so that noi /
// ads is the gate. The inputs are exact decimals, so whatever the arithmetic leaves behind must vanish in the
// comparison at 28 digits.
func TestGateBoundary(t *testing.T) {
	gates := []string{"1.25", "1.2", "0.8", "1.35", "0.65"}
	formulas := []string{
		"noi / (loan * rate / 12 * 12)",
		"noi / (loan / 3 * rate * 3)",
		"noi / loan / rate",
		"(noi / 7) / (loan * rate / 7)",
		"1 / ((loan / noi) * rate)",
		"noi / (12 * (loan * (rate / 12)))",
	}
	var parsed []*Formula
	for _, src := range formulas {
		parsed = append(parsed, mustParse(t, src, "noi", "loan", "rate"))
	}
	deals := 0
	for i := range int64(500) {
		gate := gates[i%int64(len(gates))]
		// loan in cents, rate in basis points, both scattered by a multiplicative generator.
		loan := big.NewRat(100_000_000+i*i*7_919_993%900_000_000_000, 100)
		rate := big.NewRat(200+i*37%900, 10_000)
		g, _ := new(big.Rat).SetString(gate)
		noi := new(big.Rat).Mul(new(big.Rat).Mul(loan, rate), g)
		in := Inputs{"noi": exact(t, noi), "loan": exact(t, loan), "rate": exact(t, rate)}
		want := decimal.MustParse(gate)
		for _, f := range parsed {
			deals++
			got, err := f.Eval(in)
			if err != nil {
				t.Fatal(err)
			}
			if decimal.Cmp(got, want) != 0 {
				t.Errorf("deal %d: %s = %s, not %s", i, f.Source(), got, gate)
			}
		}
	}
	if deals < 2000 {
		t.Errorf("%d deals", deals)
	}
}

// exact is a rational whose decimal expansion ends within 20 places.
func exact(t *testing.T, r *big.Rat) Input {
	t.Helper()
	text := r.FloatString(20)
	back, _ := new(big.Rat).SetString(text)
	if back.Cmp(r) != 0 {
		t.Fatalf("%s has no short decimal", r)
	}
	return number(text)
}

func mustParse(t testing.TB, src string, names ...string) *Formula {
	t.Helper()
	f, err := Parse(src, names)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return f
}
