package referee

import "testing"

// TestRange: ratio = |value − middle| / half-span. Limits 0 … 100 have the middle 50 and the half-span 50: 100 is 1,
// 101 is 1.02, 125 is 1.5, 126 is 1.52 (by hand).
func TestRange(t *testing.T) {
	check := oneCheck(`{"check":"range","id":"sane","over":"s","limits":{"x":[0,100]}}`)
	may := oneCheck(`{"check":"range","id":"sane","over":"rows","limits":{"x":[0,100]},"optional":true}`)
	runRuleCases(t, []ruleCase{
		{"inside", check, `{"s":{"x":50}}`, "sane pass", nil, nil},
		{"on the limit", check, `{"s":{"x":100}}`, "sane pass", nil, nil},
		{"a little beyond", check, `{"s":{"x":101}}`, "sane flag", []string{"math.out_of_range mid /s/x"}, nil},
		{"exactly one and a half", check, `{"s":{"x":125}}`, "sane flag", []string{"math.out_of_range mid /s/x"}, nil},
		{"far beyond", check, `{"s":{"x":126}}`, "sane flag", []string{"math.out_of_range high /s/x"}, nil},
		{"far below", check, `{"s":{"x":-26}}`, "sane flag", []string{"math.out_of_range high /s/x"}, nil},
		{"text", check, `{"s":{"x":"NaN"}}`, "sane flag", []string{"math.not_a_number high /s/x"}, nil},
		{"absent", check, `{"s":{}}`, "sane flag", []string{"math.not_a_number high /s/x"}, nil},
		{"a ratio of its own", oneCheck(`{"check":"range","id":"sane","over":"s","limits":{"x":[0,100]},"ratio":1.01}`),
			`{"s":{"x":101}}`, "sane flag", []string{"math.out_of_range high /s/x"}, nil},
		{"rows, one absent and one null where that is allowed", may, `{"rows":[{"x":1},{},{"x":null},{"x":101}]}`,
			"sane flag", []string{"math.out_of_range mid /rows/3/x"}, nil},
		{"a text is not absent", may, `{"rows":[{"x":"1"}]}`, "sane flag", []string{"math.not_a_number high /rows/0/x"},
			nil},
		{"nothing to look at", check, `{}`, "sane skip", []string{"evidence.operand_missing high /s",
			"policy.undecided high /s"}, nil},
		{"JSON evidence", oneCheck(`{"check":"range","id":"sane","over":"$evidence.log#/s","limits":{"x":[0,100]}}`),
			`{}`, "sane flag", []string{"math.out_of_range mid "},
			[]option{withEvidence("log.json", `{"s":{"x":110}}`)}},
		{"evidence without a manifest", oneCheck(`{"check":"range","id":"sane","over":"$evidence.log#/s",` +
			`"limits":{"x":[0,100]}}`), `{}`, "sane skip", []string{"policy.undecided high "}, nil},
	})
}

// TestJump: ratio = |step| / threshold; angles by the shortest arc: from 355 to 5 is 10.
func TestJump(t *testing.T) {
	check := oneCheck(`{"check":"jump","id":"smooth","series":"rows","thresholds":{"x":10,"dir":20},` +
		`"angle_fields":["dir"]}`)
	pair := oneCheck(`{"check":"jump","id":"smooth","cur":"now","prev":"before","thresholds":{"x":10},"factor":2}`)
	runRuleCases(t, []ruleCase{
		{"small steps", check, `{"rows":[{"x":1,"dir":355},{"x":11,"dir":5},{"x":5,"dir":345}]}`, "smooth pass", nil,
			nil},
		{"a step of 1.1", check, `{"rows":[{"x":1,"dir":0},{"x":12,"dir":0}]}`, "smooth flag",
			[]string{"math.jump mid /rows/1/x"}, nil},
		{"a step of 1.6", check, `{"rows":[{"x":1,"dir":0},{"x":-15,"dir":0}]}`, "smooth flag",
			[]string{"math.jump high /rows/1/x"}, nil},
		{"an arc of 40", check, `{"rows":[{"x":1,"dir":350},{"x":1,"dir":30}]}`, "smooth flag",
			[]string{"math.jump high /rows/1/dir"}, nil},
		{"one sample", check, `{"rows":[{"x":1,"dir":1}]}`, "smooth skip", []string{"policy.undecided high "}, nil},
		{"text", check, `{"rows":[{"x":1,"dir":0},{"x":"2","dir":0}]}`, "smooth flag",
			[]string{"math.not_a_number high /rows/1/x"}, nil},
		{"a step that cannot be seen does not pass", check, `{"rows":[{"x":1,"dir":0},{"dir":0}]}`, "smooth skip",
			[]string{"evidence.operand_missing high /rows/1/x", "policy.undecided high /rows/1/x"}, nil},
		{"nor one from nowhere", check, `{"rows":[{"dir":0},{"x":1,"dir":0}]}`, "smooth skip",
			[]string{"evidence.operand_missing high /rows/0/x", "policy.undecided high /rows/0/x"}, nil},
		{"two objects, within the factor", pair, `{"now":{"x":19},"before":{"x":0}}`, "smooth pass", nil, nil},
		{"two objects, beyond it", pair, `{"now":{"x":21},"before":{"x":0}}`, "smooth flag",
			[]string{"math.jump mid /now/x"}, nil},
		{"no predecessor", pair, `{"now":{"x":21}}`, "smooth skip", []string{"evidence.operand_missing high /before",
			"policy.undecided high /before"}, nil},
	})
}

func TestAgree(t *testing.T) {
	check := func(rest string) string {
		return `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"deterministic_checks":[{"check":"agree",` +
			`"id":"same","left":"a","right":"b",` + rest + `}]}`
	}
	in := func(a, b string) string { return `{"inputs":{"a":` + a + `,"b":` + b + `}}` }
	runRuleCases(t, []ruleCase{
		{"within", check(`"warn":1,"critical":5`), in("10", "11"), "same pass", nil, nil},
		{"beyond warn", check(`"warn":1,"critical":5`), in("10", "15"), "same flag",
			[]string{"agree.same mid /inputs/a"}, nil},
		{"beyond critical", check(`"warn":1,"critical":5`), in("10", "15.1"), "same flag",
			[]string{"agree.same high /inputs/a"}, nil},
		{"no critical: high", check(`"warn":1`), in("10", "11.5"), "same flag", []string{"agree.same high /inputs/a"},
			nil},
		{"no critical, a tier of its own", check(`"warn":1,"tier":"low"`), in("10", "11.5"), "same flag",
			[]string{"agree.same low /inputs/a"}, nil},
		{"relative: 5 of 100", check(`"warn":0.05,"metric":"rel"`), in("105", "100"), "same pass", nil, nil},
		{"relative to 0", check(`"warn":0.05,"metric":"rel"`), in("1", "0"), "same flag",
			[]string{"agree.same high /inputs/a"}, nil},
		{"angle: 10 and 350 are 20 apart", check(`"warn":20,"metric":"angle"`), in("10", "350"), "same pass", nil, nil},
		{"absolute: they are 340 apart", check(`"warn":20`), in("10", "350"), "same flag",
			[]string{"agree.same high /inputs/a"}, nil},
		{"missing", check(`"warn":1`), `{"inputs":{"a":1}}`, "same skip structure flag schema flag",
			[]string{"structure.missing high /inputs/b", "evidence.operand_missing high /inputs/b",
				"policy.undecided high /inputs/b"}, nil},
		{"text", check(`"warn":1`), in("1", `"1"`), "same skip", []string{"evidence.operand_type mid /inputs/b",
			"policy.undecided high /inputs/b"}, nil},
	})
}
