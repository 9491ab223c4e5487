package referee

import "testing"

func TestForEach(t *testing.T) {
	rule := func(rest string) string {
		return `"required_inputs":[{"name":"rows","fields":["id","rent","state"]}],"eval_spec":{"rules":[{"id":"each",` +
			`"check":"for_each","over":"rows","each":"rent > 0",` + rest + `}]}`
	}
	rows := func(list string) string { return `{"inputs":{"rows":[` + list + `]}}` }
	bad := rows(`{"id":"A","rent":1},{"id":"B","rent":0},{"id":"C","rent":-1},{"id":"D","rent":5}`)
	runRuleCases(t, []ruleCase{
		{"every row", rule(`"tier":"mid"`), rows(`{"rent":1},{"rent":2}`), "each pass", nil, nil},
		{"two do not: one finding at the first", rule(`"tier":"mid","key":"id"`), bad, "each flag",
			[]string{"policy.each mid /inputs/rows/1"}, nil},
		{"one finding a row", rule(`"tier":"mid","emit":"per_row"`), bad, "each flag",
			[]string{"policy.each mid /inputs/rows/1", "policy.each mid /inputs/rows/2"}, nil},
		{"two may", rule(`"max_violations":2`), bad, "each pass", nil, nil},
		{"one may", rule(`"max_violations":1`), bad, "each flag", []string{"policy.each high /inputs/rows/1"}, nil},
		{"half may", rule(`"max_rate":0.5`), bad, "each pass", nil, nil},
		{"a quarter may", rule(`"max_rate":0.25`), bad, "each flag", []string{"policy.each high /inputs/rows/1"}, nil},
		{"only where", rule(`"where":"state == \"open\""`),
			rows(`{"rent":0,"state":"closed"},{"rent":1,"state":"open"}`), "each pass", nil, nil},
		{"no rows", rule(`"tier":"mid"`), rows(``), "each pass", nil, nil},
		{"the list is missing", rule(`"tier":"mid"`), `{"inputs":{}}`, "each skip",
			[]string{"structure.missing high /inputs/rows", "evidence.operand_missing mid /inputs/rows"}, nil},
		{"the list is missing, and that is a flag", rule(`"tier":"mid","on_missing":"flag"`), `{"inputs":{}}`,
			"each flag", []string{"structure.missing high /inputs/rows", "policy.each mid /inputs/rows"}, nil},
		{"a row lacks the member", rule(`"tier":"mid"`), rows(`{"rent":1},{"id":"B"}`), "each skip",
			[]string{"schema.row_error high /inputs/rows/1"}, nil},
		{"a row has text", rule(`"tier":"mid"`), rows(`{"rent":"1"}`), "each skip",
			[]string{"evidence.operand_type mid /inputs/rows/0/rent"}, nil},
		{"what fails is said before what is unknown", rule(`"tier":"mid"`), rows(`{"rent":0},{"id":"B"}`), "each flag",
			[]string{"policy.each mid /inputs/rows/0"}, nil},
	})
	rep := auditText(mustSheet(t, rule(`"tier":"mid","key":"id"`)), bad)
	wantWords(t, findingOf(t, rep, "policy.each").Message, "2 of 4 rows", "B, C")
}
