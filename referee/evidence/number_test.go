package evidence

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

func TestNumberIn(t *testing.T) {
	for s, want := range map[string]Number{
		"12": {Text: "12"}, "-12.50": {Text: "-12.50"}, "+3": {Text: "3"}, ".5": {Text: "0.5"}, "-.5": {Text: "-0.5"},
		"5.": {Text: "5"}, "0": {Text: "0"}, "0.10": {Text: "0.10"},
		"1,234": {Text: "1234"}, "1,234,567.890": {Text: "1234567.890"}, "(1,234.50)": {Text: "-1234.50"},
		"1,234.50-": {Text: "-1234.50"}, "−7": {Text: "-7"}, "–7": {Text: "-7"}, "－7": {Text: "-7"},
		"7−":        {Text: "-7"},
		"$1,234.50": {Text: "1234.50", Currency: "$"}, "-$5": {Text: "-5", Currency: "$"},
		"$-5": {Text: "-5", Currency: "$"}, "($5)": {Text: "-5", Currency: "$"},
		"$(5)": {Text: "-5", Currency: "$"}, "$ (5.00)": {Text: "-5.00", Currency: "$"},
		"5 €": {Text: "5", Currency: "€"}, "£5": {Text: "5", Currency: "£"}, "¥1,000": {Text: "1000", Currency: "¥"},
		"₹5": {Text: "5", Currency: "₹"}, "USD 1,200": {Text: "1200", Currency: "USD"},
		"1,200 EUR": {Text: "1200", Currency: "EUR"}, "US$5": {Text: "5", Currency: "US$"},
		"12%": {Text: "12", Percent: true}, "12.5 %": {Text: "12.5", Percent: true},
		"(3%)": {Text: "-3", Percent: true}, "(3)%": {Text: "-3", Percent: true},
		"-3%":           {Text: "-3", Percent: true},
		"\u00a01\u00a0": {Text: "1"}, "\u202f5\u2009%\u200b": {Text: "5", Percent: true},
		"$\u00a05": {Text: "5", Currency: "$"}, "1.30x": {Text: "1.30"}, "1.30 ×": {Text: "1.30"},
		"1.5E+06": {Text: "1.5e06"}, "2e-3": {Text: "2e-3"}, "(0.00)": {Text: "0.00"}, "-0": {Text: "0"},
		strings.Repeat("9", 34): {Text: strings.Repeat("9", 34)},
	} {
		got, ok := NumberIn(s)
		if !ok || got != want {
			t.Errorf("%q is %+v, %v; want %+v", s, got, ok, want)
		}
		if _, err := decimal.Parse(got.Text); err != nil {
			t.Errorf("%q gives %q: %v", s, got.Text, err)
		}
	}
	for _, s := range []string{"", " ", "-", "—", "()", "$", "%", ".", "n/a", "abc", "1,23", "12,34,567", ",123",
		"1,234,", "1,,234", "1234,567", "1.234,50", "1.2.3", "007", "00", "0,123", "1 234", "1'000", "--5", "-(5)",
		"(-5)", "(5", "5)", "5%%", "$$5", "$5€",
		"2026-01-05", "3/4", "1.2M", "5k", "0x10", "1e", "e5", "1e5000000", "1e301", "1,000e3", "1e+-5", "NaN",
		"Infinity", "٣", "½", "5 units", "Unit 5", "3x%", strings.Repeat("9", 35), strings.Repeat("1,", 100)} {
		if got, ok := NumberIn(s); ok {
			t.Errorf("%q is %+v", s, got)
		}
	}
}

func TestPercentValues(t *testing.T) {
	n, _ := NumberIn("12.5 %")
	face, err := n.Decimal()
	if err != nil || face.String() != "12.5" {
		t.Errorf("face value %v, %v", face, err)
	}
	canonical, err := n.Canonical() // 12.5 / 100 by S10
	if err != nil || canonical.String() != "0.125" {
		t.Errorf("canonical value %v, %v", canonical, err)
	}
	plain, _ := NumberIn("0.125")
	if c, err := plain.Canonical(); err != nil || decimal.Cmp(c, canonical) != 0 {
		t.Errorf("0.125 is %v, %v", c, err)
	}
}

// FuzzNumberIn: what is read is a decimal within S11, its sign and percent follow from the text, and reading the result
// again gives the same number.
func FuzzNumberIn(f *testing.F) {
	for _, s := range []string{"(1,234.50)", "12 %", "−$5", "1e5", "USD 1,200-", "1.30x", "½", "007", "($\u00a05)%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := NumberIn(s)
		if !ok {
			if n != (Number{}) {
				t.Fatalf("%q is no number and gives %+v", s, n)
			}
			return
		}
		if _, err := decimal.Parse(n.Text); err != nil {
			t.Fatalf("%q gives %q: %v", s, n.Text, err)
		}
		if _, err := n.Canonical(); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		again, ok := NumberIn(n.Text)
		if !ok || again.Text != n.Text {
			t.Fatalf("%q gives %q, which gives %+v", s, n.Text, again)
		}
		if n.Percent != strings.Contains(s, "%") || strings.HasPrefix(n.Text, "-") &&
			!strings.ContainsAny(s, "-−–﹣－(") {
			t.Fatalf("%q gives %+v", s, n)
		}
	})
}
