package referee

import (
	"fmt"
	"strings"
	"testing"
)

// TestSubstitution: forms of one function are one, whatever the digits; other functions are found out, wherever they
// happen to agree (S16).
func TestSubstitution(t *testing.T) {
	sheet := mustSheet(
		t, `"required_inputs":[{"name":"noi"},{"name":"loan"},{"name":"rate"},{"name":"months"}],
			"consts":{"TWELVE":{"value":12,"source":"calendar","status":"general"}},
		"eval_spec":{"math_checks":[{"formula_id":"ads",
		"formula":"TWELVE * loan * (rate/12) / (1 - (1 + rate/12)**(-months))"},{"formula_id":"dscr",
		"formula":"noi / ads"}]}`)
	const inputs = `"noi":700000,"loan":9000000,"rate":0.0675,"months":360`
	// 12 · 9e6 · (0.0675/12) / (1 − (1 + 0.0675/12)^−360) = 700485.944294… and 700000 / that = 0.999306… by Python's
	// decimal.
	for formula, same := range map[string]bool{
		"12 * loan * (rate/12) / (1 - (1 + rate/12)**(-months))":                  true,
		"loan * rate / (1 - (1 + rate/12)**-months)":                              true,
		"12 * loan * (rate/12) * (1+rate/12)**months / ((1+rate/12)**months - 1)": true,
		"12 * loan * (rate/12) / (1 - 1/(1 + rate/12)**months)":                   true,
		"TWELVE * loan * rate / TWELVE / (1 - (1 + rate / TWELVE)**(0-months))":   true,
		"700485.944294":          false,
		"loan * 0.0778317715882": false,
		"12 * loan * (rate/12) / (1 - (1 + rate/12)**(-360))":        false,
		"12 * loan * (0.0675/12) / (1 - (1 + 0.0675/12)**(-months))": false,
		"noi / 0.999306275454":                                    false,
		"loan * rate / (1 - (1 + rate/12)**-months) + 0 * noi":    true,
		"loan * rate / (1 - (1 + rate/12)**-months) + 1e-9 * noi": false,
	} {
		own := inputs
		if strings.Contains(formula, "TWELVE") {
			own += `,"TWELVE":12`
		}
		rep := auditText(sheet, fmt.Sprintf(
			`{"inputs":{%s},"calculations":[{"name":"ads","formula":%q,"inputs":{%s},"result":700485.944294,"units":"USD"},
			{"name":"dscr","formula":"noi / ads","inputs":{"noi":700000,"ads":700485.944294},"result":0.999306275,
			"units":"x"}]}`, inputs, formula, own))
		found := strings.Contains(strings.Join(codes(rep), " "), "math.formula_substituted")
		if found == same {
			t.Errorf("%s: the sheet's function %t, flagged %t: %v", formula, same, found, codes(rep))
		}
	}
}

// TestPointsCannotBeAimedAt: the points follow the submission's bytes, so that a formula cannot be made to agree on
// them.
func TestPointsCannotBeAimedAt(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	point := func(src string) string {
		a := newAudit(Case{Sheet: sheet, Bytes: []byte(src)})
		a.readSubmission()
		return a.drawPoint(a.calcs[0], []string{"noi"}, 0)["noi"].Num.String()
	}
	one := ratioSubmission("130", "100", "noi / debt", "1.3")
	if x, y := point(one), point(one+" "); x == y {
		t.Errorf("one blank more, and still the point %s", x)
	}
	if x, y := point(one), point(one); x != y {
		t.Errorf("the same bytes, and two points: %s %s", x, y)
	}
}

// TestPercentOfOwnFormula: S10's scaling does not make two functions of one.
func TestPercentOfOwnFormula(t *testing.T) {
	members := `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"math_checks":[{"formula_id":"ltv",` +
		`"formula":"a / b","units":"ratio"}]}`
	doc := func(formula, result, units string) string {
		return `{"inputs":{"a":3,"b":4},"calculations":[{"name":"ltv","formula":"` + formula +
			`","inputs":{"a":3,"b":4},"result":` + result + `,"units":"` + units + `"}]}`
	}
	runRuleCases(t, []ruleCase{
		{"percent of a fraction", members, doc("a / b", "75", "%"), "math.ltv pass", nil, nil},
		{"percent of a percentage", members, doc("100 * a / b", "75", "%"), "math.ltv pass", nil, nil},
		{"a percentage called a ratio", members, doc("100 * a / b", "75", "ratio"), "math.ltv flag",
			[]string{"math.mismatch high /calculations/0/result",
				"math.formula_substituted high /calculations/0/formula"}, nil},
		{"a hundred times too much", members, doc("100 * a / b", "7500", "%"), "math.ltv flag",
			[]string{"math.mismatch high /calculations/0/result"}, nil},
	})
}

// TestNumberForFormula: a number is no formula, also where the sheet's reads a parameter, is 0 over all points, rests
// on a calculation over rows, or is one over rows itself. Over rows it is low: the formula may be left out there.
func TestNumberForFormula(t *testing.T) {
	const members = `"required_inputs":[{"name":"a"},{"name":"rows","type":"array","fields":["v"]}],` +
		`"params":{"cap":{"title":"the cap","type":"number","unit":"USD","default":10,"min":0}},
			"eval_spec":{"math_checks":[` +
		`{"formula_id":"of_param","formula":"a / cap","units":"ratio"},` +
		`{"formula_id":"total","formula":"agg('sum', rows, 'v')","units":"count"},` +
		`{"formula_id":"floor","formula":"max(0, a - 100)","units":"count"},` +
		`{"formula_id":"double","formula":"2 * total","units":"count"}]}`
	doc := func(of, total, floor, double string) string {
		return fmt.Sprintf(`{"inputs":{"a":5,"rows":[{"v":1},{"v":2}]},"calculations":[`+
			`{"name":"of_param","formula":%q,"inputs":{"a":5,"cap":10},"result":0.5,"units":"ratio"},`+
			`{"name":"total"%s,"inputs":{},"result":3,"units":"count"},`+
			`{"name":"floor","formula":%q,"inputs":{"a":5},"result":0,"units":"count"},`+
			`{"name":"double","formula":%q,"inputs":{"total":3},"result":6,"units":"count"}]}`, of, total, floor, double)
	}
	sheet := mustSheet(t, members)
	for _, c := range []struct{ doc, want string }{
		{doc("a / cap", "", "max(0, a - 100)", "2 * total"), ""},
		{doc("0.5", "", "max(0, a - 100)", "2 * total"), "high /calculations/0/formula"},
		{doc("a / cap", `,"formula":"3"`, "max(0, a - 100)", "2 * total"), "low /calculations/1/formula"},
		{doc("a / cap", `,"formula":"1 + 2"`, "max(0, a - 100)", "2 * total"), "low /calculations/1/formula"},
		{doc("a / cap", "", "0", "2 * total"), "high /calculations/2/formula"},
		{doc("a / cap", "", "max(0, a - 100)", "6"), "high /calculations/3/formula"},
	} {
		var found []string
		for _, code := range codes(auditText(sheet, c.doc)) {
			if rest, ok := strings.CutPrefix(code, "math.formula_substituted "); ok {
				found = append(found, rest)
			}
		}
		if strings.Join(found, ", ") != c.want {
			t.Errorf("%s: want %q, got %q", c.doc, c.want, found)
		}
	}
}
