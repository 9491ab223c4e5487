package referee

import "testing"

func TestRecompute(t *testing.T) {
	check := func(rest string) string {
		return `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"penalty":{"monetary_material_abs":100},` +
			`"math_checks":[{"formula_id":"x","formula":"a * b"}],"deterministic_checks":[{"check":"recompute",` +
			`"id":"re",` + rest + `}]}`
	}
	doc := func(total, x string) string {
		return `{"total":` + total + `,"inputs":{"a":100,"b":10},"calculations":[{"name":"x","formula":"a * b",` +
			`"inputs":{"a":100,"b":10},"result":` + x + `,"units":"count"}]}`
	}
	runRuleCases(t, []ruleCase{
		{"right", check(`"path":"total","formula":"a + b"`), doc("110", "1000"), "re pass", nil, nil},
		{"3 % off: mid", check(`"path":"total","formula":"a * b"`), doc("1030.0", "1000"), "re flag",
			[]string{"math.mismatch mid /total"}, nil},
		{"3 % off and material: high", check(`"path":"total","formula":"a * b * 10","units":"USD"`),
			doc("10300.0", "1000"), "re flag", []string{"math.mismatch high /total"}, nil},
		{"honest rounding", check(`"path":"total","formula":"a / 3"`), doc("33", "1000"), "re pass", nil, nil},
		{"percent", check(`"path":"total","formula":"b / a","units":"percent"`), doc("10", "1000"), "re pass", nil,
			nil},
		{"a tolerance of its own", check(`"path":"total","formula":"a * b","tolerance":0.001`), doc("1005", "1000"),
			"re flag", []string{"math.mismatch low /total"}, nil},
		{"an absolute one", check(`"path":"total","formula":"a + b","tolerance_abs":10`), doc("119", "1000"), "re pass",
			nil, nil},
		{"absent", check(`"path":"gone","formula":"a + b"`), doc("110", "1000"), "re skip",
			[]string{"evidence.operand_missing high /gone", "policy.undecided high /gone"}, nil},
		{"text", check(`"path":"total","formula":"a + b"`), doc(`"110"`, "1000"), "re skip",
			[]string{"evidence.operand_type mid /total", "policy.undecided high /total"}, nil},
		{"undefined", check(`"path":"total","formula":"a / (b - 10)"`), doc("110", "1000"), "re skip",
			[]string{"math.undefined high ", "policy.undecided high "}, nil},
		{"of a claimed result", check(`"calc":"x","formula":"a * b"`), doc("1", "1000"), "re pass", nil, nil},
		{"of a claimed result that is off: one finding, both rules", check(`"calc":"x","formula":"a * b"`),
			doc("1", "1200"), "re flag math.x flag", []string{"math.mismatch high /calculations/0/result"}, nil},
	})
}

func TestBind(t *testing.T) {
	sheet := `"required_inputs":[{"name":"noi"},{"name":"debt"}],"eval_spec":{"math_checks":[{"formula_id":"dscr",` +
		`"formula":"noi / debt"}],"deterministic_checks":[{"check":"bind","id":"bound","calc":"dscr","input":"noi",` +
		`"to":"field(\"rent\") - 10"}]}`
	doc := func(rent, own string) string {
		return `{"rent":` + rent + `,"inputs":{"noi":90,"debt":100},"calculations":[{"name":"dscr","formula":"noi / ` +
			`debt","inputs":{` + own + `"debt":100},"result":0.9,"units":"x"}]}`
	}
	runRuleCases(t, []ruleCase{
		{"bound", sheet, doc("100", `"noi":90,`), "bound pass", nil, nil},
		{"another value", sheet, doc("110", `"noi":90,`), "bound flag",
			[]string{"math.bind_mismatch high /calculations/0/inputs"}, nil},
		{"no such input", sheet, doc("100", ""), "bound flag math.dscr flag",
			[]string{"math.inputs_missing mid /calculations/0/inputs"}, nil},
		{"no source", sheet, doc("null", `"noi":90,`), "bound skip", []string{"evidence.operand_missing high /rent",
			"policy.undecided high /rent"}, nil},
		{"no calculation", sheet, `{"rent":100,"inputs":{"noi":90,"debt":100},"calculations":[]}`, "bound skip",
			[]string{"math.calc_missing high /calculations", "policy.undecided high /calculations"}, nil},
	})
}

// TestConstantsAreTheSheets: an agent's input of a constant's name does not take its place, and is flagged where it
// differs.
func TestConstantsAreTheSheets(t *testing.T) {
	sheet := `"required_inputs":[{"name":"noi"}],"consts":{"CAP":{"value":0.05,"source":"s","status":"policy"}},` +
		`"eval_spec":{"math_checks":[{"formula_id":"value","formula":"noi / CAP"}]}`
	doc := func(cap, result string) string {
		return `{"inputs":{"noi":100},"calculations":[{"name":"value","formula":"noi / CAP","inputs":{"noi":100,
			"CAP":` + cap + `},"result":` + result + `,"units":"USD"}]}`
	}
	runRuleCases(t, []ruleCase{
		{"the same", sheet, doc("0.05", "2000"), "math.value pass", nil, nil},
		{"another", sheet, doc("0.04", "2500"), "math.value flag", []string{"math.mismatch high /calculations/0/result",
			"math.input_restated high /calculations/0/inputs/CAP"}, nil},
	})
}
