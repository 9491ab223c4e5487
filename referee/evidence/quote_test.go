package evidence

import (
	"errors"
	"strings"
	"testing"
)

func TestNormaliseText(t *testing.T) {
	for in, want := range map[string]string{
		"  Net\u00a0Operating\r\n\tIncome ": "net operating income", "“Smart” ‘quotes’ «too»": `"smart" 'quotes' "too"`,
		"oper-\n  ating": "operating", "oper\u00ad\r\nating": "operating", "soft\u00adhyphen": "softhyphen",
		"trailing-twelve": "trailing-twelve", "FY-\n2026": "fy- 2026", "ﬁnal ２０２６ ½": "final 2026 ½", "e\u0301": "é",
		"zero\u200bwidth": "zerowidth", "ÉTÉ": "été", "": "",
	} {
		if got := NormaliseText(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestFoundIn(t *testing.T) {
	text := "The subject's “trailing-\ntwelve” net oper-\nating income is $920,000,\n  before " +
		"reserves.\nVacancy\nRate: 5.25% p.a.\n"
	for _, q := range []string{"net operating income", `subject's "trailing-twelve"`,
		"NET  OPERATING\nINCOME IS $920,000", "income is $920,000, before", "before reserves.", "Vacancy", " vacancy ",
		"Rate: 5.25% p.a.", "’s “trailing-\ntwelve”"} {
		if !FoundIn(q, text, 0) {
			t.Errorf("%q is not found", q)
		}
	}
	for _, q := range []string{"", " \n", "net income before reserves", "income", "net operating expense is",
		"operating income is $920", "operating income is $920,00", "20,000, before reserves", "5% p.a.", "5.25% p.a.",
		"reserves. the subject"} {
		if FoundIn(q, text, 0) {
			t.Errorf("%q is found", q)
		}
	}
	if !FoundIn("income", text, 6) || FoundIn("income", text, 7) {
		t.Error("minLen is not what bounds short quotes")
	}
	if FoundIn("25% p.a.", text, 3) || !FoundIn("5.25% p.a.", text, 3) {
		t.Error("a quote cuts a number in two")
	}
	if !FoundIn("price is 5 today", "the price is 55; no, the price is 5 today", 0) {
		t.Error("the search stops at the first place, where a number is cut")
	}
}

func TestQuoted(t *testing.T) {
	s := openRun(t)
	for ref, quotes := range map[string][]string{
		"memo": {"Appraisal memo", "before reserves"}, "memo#line=3,5": {"ating income is", "before reserves."},
		"quote":       {`First "Harbor" Bank`, "Rate lock expires in thirty days", "expires in"},
		"quote#/note": {"Rate lock expires", "Rate lock\nexpires in thirty days"},
		"t12":         {"Vacancy", "Repairs, general", "(5,200.00)", "Gross potential rent"},
		"t12#row=3":   {"Vacancy", "(62,400.00)"}, "t12#row=2-3": {"Vacancy"}, "t12#cell=4,1": {"Repairs, general"},
		"call": {"94.5 % occupancy"}, "log": {"2025-12-31"},
	} {
		for _, q := range quotes {
			found, hit, err := s.Quoted(ref, q, 0)
			if want := q != "expires in"; err != nil || found != want || hit.Open {
				t.Errorf("%q in %s: %v, %v", q, ref, found, err)
			}
		}
	}
	for ref, q := range map[string]string{"memo#line=0,1": "net operating income", "t12#row=2": "Vacancy",
		"quote#/lender": "thirty days from today", "t12": "cancy", "log": "2025-12",
		"memo":         "net operating income is $920,000", /* divided by a hyphen there */
		"t12#cell=4,1": "repairs, general" /* case counts (S63) */} {
		if found, _, err := s.Quoted(ref, q, 0); found || err != nil {
			t.Errorf("%q in %s: found, %v", q, ref, err)
		}
	}
	for _, ref := range []string{"pdf", "pdf#page=2"} {
		if found, hit, err := s.Quoted(ref, "%PDF-1.7", 0); found || !hit.Open || hit.Kind != HitOpen || err != nil {
			t.Errorf("%s: %v, %+v, %v", ref, found, hit, err)
		}
	}
	if _, _, err := s.Quoted("none", "x", 0); !errors.Is(err, ErrUndeclared) {
		t.Errorf("%v", err)
	}
}

// FuzzFoundIn: a text of its own stands in itself, and normalising is stable.
func FuzzFoundIn(f *testing.F) {
	f.Add("net oper-\nating income is $920,000", "before", "after")
	f.Add("“x”", "1", "1")
	f.Fuzz(func(t *testing.T, quote, before, after string) {
		q := NormaliseText(quote)
		if again := NormaliseText(q); again != q && !strings.ContainsAny(q, "-‐") {
			t.Fatalf("%q becomes %q and then %q", quote, q, again)
		}
		if FoundIn(quote, quote, 0) != (q != "") {
			t.Fatalf("%q does not stand in itself", quote)
		}
		FoundIn(quote, before+"\n"+quote+"\n"+after, 3)
	})
}
