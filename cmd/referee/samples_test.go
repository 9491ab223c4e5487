package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// sampleRun is a run of testdata/runs with what it must come to. The numbers were computed with python3 from the
// evidence files, not by this program:
//
//	from decimal import Decimal as D, getcontext; getcontext().prec = 50
//	def run(loan, rate, noi, units, reserve, price, value):
//	    i = D(rate) / 12; ads = 12 * D(loan) * i / (1 - (1 + i) ** -360); ncf = D(noi) - D(units) * D(reserve)
//	    return ads, ncf, ncf / ads, D(loan) / min(D(price), D(value)), D(noi) / D(loan)
//	run(9600000, '0.0575', 958400, 80, 300, 13100000, 13000000)
//	    672275.9306229729 934400 1.389905479933 0.738461538462 0.099833333333
//	run(6800000, '0.0595', 712000, 60, 275, 9850000, 9900000)
//	    486613.2084466653 695500 1.429266587769 0.690355329949 0.104705882353
//	run(11500000, '0.0625', 897000, 96, 300, 15200000, 15400000)
//	    849689.7365884204 868200 1.021784732255 0.756578947368 0.078000000000
//	run(12800000, '0.0615', 1139000, 104, 300, 17600000, 17500000)
//	    935774.4529639238 1107800 1.183832275492 0.731428571429 0.088984375000
type sampleRun struct {
	id                        string
	ads, ncf, dscr, ltv, dyld string // to the cent, and ratios to nine places
	severity                  referee.Severity
	action                    string
	fails                     bool
	codes                     string // of the findings, ranked
}

var sampleRuns = []sampleRun{
	{"oak-street", "672275.93", "934400.00", "1.389905480", "0.738461538", "0.099833333", referee.Unsigned, "review",
		false, ""},
	{"maple-court", "486613.21", "695500.00", "1.429266588", "0.690355330", "0.104705882", referee.Jelly, "review",
		false, "policy.occupancy_90d"},
	{"elm-plaza", "849689.74", "868200.00", "1.021784732", "0.756578947", "0.078000000", referee.Propolis, "resubmit",
		true,
		"math.mismatch math.straddles_gate policy.dscr_gate policy.final_output_inconsistent"},
	{"river-lofts", "935774.45", "1107800.00", "1.183832275", "0.731428571", "0.088984375", referee.Propolis, "reject",
		true, "policy.dscr_gate"},
}

func auditSample(t *testing.T, id string) *referee.Report {
	t.Helper()
	folder, err := referee.OpenRun(os.DirFS(filepath.Join("../../testdata/runs", id)))
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(folder.Run.Sheet)
	if err != nil {
		t.Fatal(err)
	}
	c := folder.Case(sheet, nil)
	c.AllAtoms, c.Explain = true, true
	return referee.Audit(c)
}

func TestSampleVerdicts(t *testing.T) {
	for _, s := range sampleRuns {
		r := auditSample(t, s.id)
		var codes []string
		for _, f := range r.Findings {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != s.codes {
			t.Errorf("%s: findings %q, not %q", s.id, got, s.codes)
		}
		if r.Verdict.Severity != s.severity || r.Verdict.RecommendedAction != s.action ||
			r.Fails(referee.FailOnHigh) != s.fails {
			t.Errorf("%s: %s, %s, fails %v", s.id, r.Verdict.Severity, r.Verdict.RecommendedAction,
				r.Fails(referee.FailOnHigh))
		}
	}
}

// What the submissions state is right to the cent, but for the one number of elm-plaza that is meant to be wrong.
func TestSampleNumbers(t *testing.T) {
	for _, s := range sampleRuns {
		src, err := os.ReadFile(filepath.Join("../../testdata/runs", s.id, "submission.json"))
		if err != nil {
			t.Fatal(err)
		}
		doc := parseJSON(t, src)
		for i, want := range []string{s.ads, s.ncf, s.dscr, s.ltv, s.dyld} {
			if s.id == "elm-plaza" && i == 2 {
				want = "1.30"
			}
			claimed := doc.Get("calculations").Items[i].Get("result").Text
			if !agrees(t, claimed, want) {
				t.Errorf("%s: calculation %d states %s, python says %s", s.id, i, claimed, want)
			}
		}
	}
}

// agrees compares two numbers after rounding both to the places of the one with fewer.
func agrees(t *testing.T, a, b string) bool {
	t.Helper()
	places := min(len(fraction(a)), len(fraction(b)))
	x, err := decimal.Round(decimal.MustParse(a), places)
	if err != nil {
		t.Fatal(err)
	}
	y, err := decimal.Round(decimal.MustParse(b), places)
	if err != nil {
		t.Fatal(err)
	}
	return decimal.Cmp(x, y) == 0
}

func fraction(s string) string {
	_, frac, _ := strings.Cut(s, ".")
	return frac
}
