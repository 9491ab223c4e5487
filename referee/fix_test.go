package referee

import (
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// movesOf are a gate's distances by input name.
func movesOf(t *testing.T, rep *Report, code string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if f := findingOf(t, rep, code); f.Fix != nil {
		for _, m := range f.Fix.Moves {
			out[m.Input] = m.To
		}
	}
	return out
}

const loanSheet = `"required_inputs":[{"name":"noi"},{"name":"loan"},{"name":"rate"},{"name":"months"},
	{"name":"value"}],
	"eval_spec":{"math_checks":[{"formula_id":"ads","formula":"12 * loan * (rate/12) / (1 - (1 + rate/12)**(-months))"},
	{"formula_id":"dscr","formula":"noi / ads","units":"ratio"},
		{"formula_id":"ltv","formula":"loan / value","units":"ratio"}],
	"rules":[{"id":"cover","expr":"dscr >= 1.25","tier":"high"},{"id":"lever","expr":"ltv <= 0.80","tier":"high"}]}`

// loanSubmission states the inputs and no more than the gates need: the engine computes the calculations by the sheet's
// formulas.
func loanSubmission(noi, loan, rate, months, value string) string {
	in := fmt.Sprintf(`"noi":%s,"loan":%s,"rate":%s,"months":%s,"value":%s`, noi, loan, rate, months, value)
	return `{"inputs":{` + in + `},"calculations":[{"name":"ads","formula":"12 * loan * (rate/12) / (1 - (1 + ` +
		`rate/12)**(-months))","inputs":{` + in + `},"result":0,"units":"USD"},
		{"name":"dscr","formula":"noi / (12 * loan * (rate/12) / (1 - (1 + rate/12)**(-months)))",
		"inputs":{` + in + `},"result":0,"units":"ratio"},
		{"name":"ltv","formula":"loan / value","inputs":{` + in + `},"result":0,"units":"ratio"}]}`
}

// TestDistances: how far each single input must move. By Python's decimal (50 digits): the debt service of 9,000,000 at
// 6.75 % over 360 months is 700,485.944294…; 1.25 times that is 875,607.430…; the loan that 700,000 covers is
// 7,195,005.183…; the rate, by bisection, 0.04698015…; 110/1.2 is 91.666…. Each rounded to six digits, whole numbers
// kept whole, on the side that holds.
func TestDistances(t *testing.T) {
	rep := auditText(mustSheet(t, loanSheet), loanSubmission("700000", "9000000", "0.0675", "360", "11250000"))
	wantStatus(t, rep, "cover", "flag", "lever", "pass")
	got := movesOf(t, rep, "policy.cover")
	for input, want := range map[string]string{"noi": "875608", "loan": "7195005", "rate": "0.0469801"} {
		if got[input] != want {
			t.Errorf("%s must move to %s, not %s", input, want, got[input])
		}
	}
	if to, found := got["months"]; found {
		t.Errorf("no number of months brings 1.25 about, not even %s: at no end the loan costs 607,500 a year and "+
			"covers 1.152", to)
	}
	simple := auditText(mustSheet(t, ratioSheet), ratioSubmission("110", "100", "noi / debt", "1.1"))
	if got := movesOf(t, simple, "policy.dscr_gate"); got["noi"] != "120" || got["debt"] != "91.6666" {
		t.Errorf("noi 110 to 120, debt 100 to 91.6666 (91.6667 is a hair too much): %v", got)
	}
}

// TestDistancesHoldAndNotAHairLess: for gates of several shapes each proposed value holds the gate, and one unit less
// in its last place towards the value now does not.
func TestDistancesHoldAndNotAHairLess(t *testing.T) {
	sheet := mustSheet(t, loanSheet)
	bases := [][5]string{{"700000", "9000000", "0.0675", "360", "10000000"}, {"1", "50", "0.05", "120", "51"},
		{"123456.78", "7654321", "0.031", "240", "8000000"}, {"0.00071", "0.0123", "0.09", "60", "0.0124"}}
	for _, base := range bases {
		rep := auditText(sheet, loanSubmission(base[0], base[1], base[2], base[3], base[4]))
		for _, rule := range []string{"cover", "lever"} {
			if checkNamed(t, rep, rule).Status != Flag {
				continue
			}
			moves := movesOf(t, rep, "policy."+rule)
			if len(moves) == 0 {
				t.Errorf("%v: no distance for %s", base, rule)
			}
			for input, to := range moves {
				at := strings.Index("noi loan rate months value ", input+" ")
				i := strings.Count("noi loan rate months value "[:at], " ")
				holds := func(value string) bool {
					changed := base
					changed[i] = value
					return checkNamed(t, auditText(sheet, loanSubmission(changed[0], changed[1], changed[2], changed[3],
						changed[4])), rule).Status != Flag
				}
				if !holds(to) {
					t.Errorf("%v: %s at %s does not hold %s", base, input, to, rule)
				}
				if less := hairLess(to, base[i]); holds(less) {
					t.Errorf("%v: %s at %s holds %s already, short of %s", base, input, less, rule, to)
				}
			}
		}
	}
}

// hairLess is one unit of the sixth significant digit (of whole numbers: one) from `to` towards `from`.
func hairLess(to, from string) string {
	x, c := decimal.MustParse(to), newCalculator()
	unit := one
	for decimal.Cmp(c.mul(decimal.Abs(x), decimal.MustParse("1e-5")), unit) < 0 {
		unit = c.quo(unit, decimal.FromInt(10))
	}
	if decimal.Cmp(decimal.MustParse(from), x) < 0 {
		return c.sub(x, unit).String()
	}
	return c.add(x, unit).String()
}

// TestNoDistance: where no single input can bring the gate about, nothing is proposed.
func TestNoDistance(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"rules":[{"id":"never",`+
		`"expr":"a * a + 1 <= b - b","tier":"high"},{"id":"both","expr":"a > 5 and b > 5","tier":"high"}]}`)
	rep := auditText(sheet, `{"inputs":{"a":2,"b":3}}`)
	if got := movesOf(t, rep, "policy.never"); len(got) > 0 {
		t.Errorf("a square plus one is never 0: %v", got)
	}
	if f := findingOf(t, rep, "policy.both"); f.Fix != nil && len(f.Fix.Moves) > 0 {
		t.Errorf("two conditions have no single distance: %v", f.Fix.Moves)
	}
	negative := mustSheet(t, `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"rules":[{"id":"r","expr":"a `+
		`- b >= 10","tier":"high"}]}`)
	if got := movesOf(t, auditText(negative, `{"inputs":{"a":5,"b":3}}`), "policy.r"); got["a"] != "13" ||
		got["b"] != "" {
		t.Errorf("a to 13; b would have to be -5, which is no advice: %v", got)
	}
}

// TestFixResultPasses: the result that a math flag proposes passes when it is stated, in the claim's own units, and to
// six significant digits: 130/97 is 1.340206 by hand, and 3/4 is never 0.8.
//
// Source: 002 #113.
func TestFixResultPasses(t *testing.T) {
	for _, c := range []struct{ sheet, submission, patch string }{
		{ratioSheet, ratioSubmission("130", "100", "noi / debt", "1.9"),
			`[{"op":"replace","path":"/calculations/0/result","value":1.3}]`},
		{ratioSheet, ratioSubmission("130", "97", "noi / debt", "2"),
			`[{"op":"replace","path":"/calculations/0/result","value":1.34021}]`},
		{ratioSheet, ratioSubmission("3", "4", "noi / debt", "0.5"),
			`[{"op":"replace","path":"/calculations/0/result","value":0.75}]`},
		{`"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"math_checks":[{"formula_id":"x","formula":"a / ` +
			`b"}]}`,
			`{"inputs":{"a":3,"b":4},"calculations":[{"name":"x","formula":"a / b","inputs":{"a":3,"b":4},"result":50,` +
				`"units":"percent"}]}`, `[{"op":"replace","path":"/calculations/0/result","value":75}]`},
	} {
		sheet := mustSheet(t, c.sheet)
		f := findingOf(t, auditText(sheet, c.submission), "math.mismatch")
		if f.Fix == nil || f.Fix.JSONPatch != c.patch {
			t.Errorf("fix %+v, want %s", f.Fix, c.patch)
			continue
		}
		value := strings.TrimSuffix(c.patch[strings.Index(c.patch, `"value":`)+8:], "}]")
		result := c.submission[strings.Index(c.submission, `"result":`)+9:]
		old := result[:strings.IndexByte(result, ',')]
		mended := strings.Replace(c.submission, `"result":`+old, `"result":`+value, 1)
		for _, code := range codes(auditText(sheet, mended)) {
			if strings.HasPrefix(code, "math.mismatch") {
				t.Errorf("%s does not pass: %s", value, code)
			}
		}
	}
}
