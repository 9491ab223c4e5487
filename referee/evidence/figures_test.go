package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// TestFigures: the numbers of a text as a person reads them, by hand.
func TestFigures(t *testing.T) {
	for text, want := range map[string]string{
		"Net operating income was $920,000.":                        "920000",
		"NOI (600,000) and -5 and −7.5% and 12 %":                   "-600000 -5 -0.075 0.12",
		"a loss of $(1,234.50), or ($3)":                            "-1234.50 -3",
		"twelve (12) months, fifty-two percent (52%) of the units":  "12 0.52",
		"$9.6 million, 1.2 billion and 300 thousand":                "9600000 1200000000 300000",
		"on 2025-03-31, March 31, 2025, 31 March 2025 or 3/31/2025": "",
		"at 17:00 UTC, 10:15:30":                                    "",
		"T-12, unit_4, F-001, COVID-19, Q1, 5k, 12th, 570a":         "",
		"Section 5.2.1, 3/4, #4411, 1.234,50, 10.0.0.1":             "",
		"a 24-unit property with 1.30x coverage":                    "24 1.30",
		"from 10-20 to 5":                                           "10 20 5",
		"1,234.50- and 7-":                                          "-1234.50 -7",
		"9,600,000 and 600000":                                      "9600000 600000",
		"x=5; y=6e3":                                                "5 6000",
		"per cent: 5 per cent, 5 percent":                           "0.05 0.05",
		"12,34,567 and 007":                                         "",
		"USD 1,200, 5 €":                                            "1200 5",
		"":                                                          "",
	} {
		var got []string
		for _, f := range Figures(text) {
			n, err := f.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, n.String())
		}
		var wanted []string
		for w := range strings.FieldsSeq(want) {
			wanted = append(wanted, decimal.MustParse(w).String())
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%q holds %v, want %v", text, got, wanted)
		}
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"commences 2026-03-01 and ends February 28, 2031": "2026-03-01 2031-02-28",
		"31 March 2025; the 1st of April, 2025":           "2025-03-31 2025-04-01",
		"3/4/2025":                                        "2025-03-04 2025-04-03",
		"13/4/25":                                         "2025-04-13",
		"30 February 2025, 2025-13-01, 17:30":             "",
		"Sept. 5, 2026":                                   "2026-09-05",
		"2026-10-05T17:00Z":                               "2026-10-05",
	} {
		if got := strings.Join(Dates(text), " "); got != want {
			t.Errorf("%q holds the dates %q, want %q", text, got, want)
		}
	}
}

// FuzzFigures: a figure stands where it says, is a number within S11, and no two overlap.
func FuzzFigures(f *testing.F) {
	for _, s := range []string{"NOI ($1,234.50) of 2025-01-01", "−5 % (7)%-", "1.2 million-", "T-12 24-unit 3/4", "$(",
		"5-", "\xff5", "(($5))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, x := range Figures(text) {
			if x.from < end || x.Start > x.from || x.to > x.End || x.End > len(text) {
				t.Fatalf("%q: %+v after %d", text, x, end)
			}
			if _, err := x.Decimal(); err != nil {
				t.Fatalf("%q: %+v: %v", text, x, err)
			}
			end = x.to
		}
		Dates(text)
	})
}
