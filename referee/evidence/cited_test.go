package evidence

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// citedEvidence is a run with the evidence that the holes of issue 10 were shown on.
func citedEvidence() *Set {
	tree := fstest.MapFS{
		"memo.txt": {Data: []byte(
			"The price is 9,600,000 and 9600000 was asked.\nNet (600,000) for 2025; reserve -450,000.\nNOI is " +
				"$920,000 in 2025.\nNOI again: $920,000.\nAt least fifty-two percent (52%) of units.\nNet worth $1.2 " +
				"million.\nClosing on 2026-03-15.\n")},
		"t12.csv": {Data: []byte(
			"line,2024,2025,change\nGross,\"1,815,000\",\"1,900,000\",\"(85,000)\"\n" +
				"Half,(85,000)\nGross,1,815,000\nNet,n/a,5,6\n")},
		"thousand.csv": {Data: []byte("(in thousands),2025\nNOI,920\nDebt (in millions),3\n")},
		"units.csv":    {Data: []byte("item,USD (000s)\nNOI,920\n")},
		"deal.json": {Data: []byte(
			"{\"noi\": 920000, \"2025\": {\"unit_12\": 7}, \"text\": \"NOI $920,000\", \"two\": \"5 and 6\", " +
				"\"list\": [1, \"2\", -3], \"bad\": [1, null]}\n")},
		"line.json": {Data: []byte("{\n \"2025\": 920000,\n \"2024\": \"x\"\n}\n")},
	}
	var items []Item
	for name := range tree {
		id, _, _ := strings.Cut(name, ".")
		if name == "line.json" {
			id = "lines"
		}
		items = append(items, Item{ID: id, Path: name, Kind: "file"})
	}
	return Open(tree, items, Limits{})
}

func TestCited(t *testing.T) {
	s := citedEvidence()
	for ref, want := range map[string]string{
		"memo#text=9,600,000": "9600000", "memo#text=600,000": "-600000", "memo#text=reserve%20-450,000": "-450000",
		"memo#text=450,000":             "-450000",
		"memo#text=NOI%20is%20$920,000": "920000", "memo#text=52": "0.52", "memo#text=1.2": "1200000",
		"memo#line=3,4": "920000",
		"t12#cell=2,2":  "1815000", "t12#cell=2,4": "-85000", "deal#/noi": "920000", "deal#/text": "920000",
		"deal#/2025/unit_12": "7", "lines#line=1,2": "920000", "lines#text=920000": "920000",
	} {
		c, err := s.Cited(ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if n, err := c.Number.Canonical(); err != nil || n.String() != want {
			t.Errorf("%s is %v, %v; want %s", ref, n, err, want)
		}
	}
	for ref, scale := range map[string]int{"thousand#cell=2,2": 3, "thousand#cell=3,2": 6, "units#cell=2,2": 3,
		"t12#cell=2,2": 0} {
		if c, err := s.Cited(ref); err != nil || c.ColumnScale != scale {
			t.Errorf("%s: scale %d, %v; want %d", ref, c.ColumnScale, err, scale)
		}
	}
}

// TestCitedRefuses: what is no whole number, one cell and one match is refused, and the message names the candidates.
func TestCitedRefuses(t *testing.T) {
	s := citedEvidence()
	for ref, c := range map[string]struct {
		cause error
		words string
	}{
		"memo#text=600000":   {ErrNoHit, "does not stand there"}, // inside 9600000
		"memo#text=600,00":   {ErrNoHit, "does not stand there"},
		"memo#text=$920,000": {ErrAmbiguous, "line 3, column 8"},
		"memo#text=2026":     {ErrNoNumber, "no whole number"}, // a piece of a date
		"memo#line=6,7":      {ErrNoNumber, "not a number"},
		"memo#line=1,2":      {ErrAmbiguous, "-450,000"},
		"memo#text=NOI":      {ErrAmbiguous, "2 places"},
		"memo#text=Closing":  {ErrNoNumber, "no whole number"},
		"memo":               {ErrNoNumber, "cite the place"},
		"t12#row=4":          {ErrAmbiguous, "cell=4,2 1"}, // reads "Gross,1,815,000" when joined
		"t12#cell=2,1-2,3":   {ErrAmbiguous, "cell=2,2 1,815,000"},
		"t12#row=2":          {ErrAmbiguous, "cell=2,4 (85,000)"},
		"t12#col=2":          {ErrAmbiguous, "cite one of them"},
		"t12#cell=3,2":       {ErrNoNumber, "(85"}, "t12#cell=5,2": {ErrNoNumber, "n/a"},
		"deal#/2025":      {ErrNoNumber, "an object"},
		"deal#/two":       {ErrAmbiguous, `"5", "6"`},
		"deal#/list":      {ErrNoNumber, "an array"},
		"lines#text=2025": {ErrNoNumber, "no whole number"}, // the name of a member
		"deal#text=12":    {ErrNoNumber, "no whole number"}, // of unit_12
	} {
		_, err := s.Cited(ref)
		if !errors.Is(err, c.cause) || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v; want %v with %q", ref, err, c.cause, c.words)
		}
	}
}

func TestCitedList(t *testing.T) {
	s := citedEvidence()
	for ref, want := range map[string]int{"deal#/list": 3, "t12#row=2": 3, "t12#cell=2,2-2,3": 2} {
		if got, _, err := s.CitedList(ref); err != nil || len(got) != want {
			t.Errorf("%s: %v, %v; want %d numbers", ref, got, err, want)
		}
	}
	// t12#col=2 has n/a behind numbers
	for _, ref := range []string{"deal#/bad", "deal#/noi", "t12#col=2", "memo#line=1,2", "t12#row=9"} {
		if got, _, err := s.CitedList(ref); err == nil {
			t.Errorf("%s: %v", ref, got)
		}
	}
}

// FuzzCited: whatever stands in a text and whatever of it is cited, a number that is read stands there whole, and an
// error is one of S62's.
func FuzzCited(f *testing.F) {
	for _, c := range [][2]string{{"NOI is $920,000 in 2025.\n", "920,000"}, {"(600,000) and 600,000", "600,000"},
		{"a 9600000 b", "600000"}, {"x −5 % y", "5"}, {"1.2 million", "1.2"}, {"\u00a05\u00a0", "5"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, text, quotation string) {
		s := Open(fstest.MapFS{"memo.txt": {Data: []byte(text)}}, []Item{{ID: "memo", Path: "memo.txt", Kind: "file"}},
			Limits{})
		ref := Reference{ID: "memo", Selector: Selector{Kind: SelectText, Text: quotation}}.String()
		c, err := s.Cited(ref)
		if err != nil {
			if c.Hit.File != nil {
				t.Fatalf("%q of %q: an error and a hit", quotation, text)
			}
			return
		}
		if c.Open {
			return
		}
		if _, err := c.Number.Decimal(); err != nil {
			t.Fatalf("%q of %q is %+v: %v", quotation, text, c.Number, err)
		}
		if !strings.ContainsAny(quotation, "0123456789") {
			t.Fatalf("%q of %q is %+v, and cites no digit", quotation, text, c.Number)
		}
	})
}
