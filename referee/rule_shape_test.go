package referee

import "testing"

func TestRequired(t *testing.T) {
	check := oneCheck(`{"check":"required","id":"there","paths":["a","rows[*].x","/deep/y"]}`)
	filled := oneCheck(`{"check":"required","id":"there","paths":["a"],"nonempty":true,"tier":"mid","fix":"state a"}`)
	runRuleCases(t, []ruleCase{
		{"all there", check, `{"a":0,"rows":[{"x":false},{"x":1}],"deep":{"y":""}}`, "there pass", nil, nil},
		{"nothing there", check, `{}`, "there flag", []string{"structure.missing high /a",
			"structure.missing high /rows/*/x", "structure.missing high /deep/y"}, nil},
		{"one row lacks it", check, `{"a":1,"rows":[{"x":1},{}],"deep":{"y":1}}`, "there flag",
			[]string{"structure.missing high /rows/1/x"}, nil},
		{"null is missing", check, `{"a":null,"rows":[],"deep":{"y":1}}`, "there flag",
			[]string{"structure.missing high /a", "structure.missing high /rows/*/x"}, nil},
		{"blank passes", oneCheck(`{"check":"required","id":"there","paths":["a"]}`), `{"a":" "}`, "there pass", nil,
			nil},
		{"blank does not, with nonempty", filled, `{"a":" "}`, "there flag", []string{"structure.missing mid /a"}, nil},
		{"an empty list is blank", filled, `{"a":[]}`, "there flag", []string{"structure.missing mid /a"}, nil},
		{"0 is not", filled, `{"a":0}`, "there pass", nil, nil},
	})
	many := auditText(mustSheet(t, oneCheck(`{"check":"required","id":"there","paths":["rows[*].x"]}`)),
		`{"rows":[{},{},{},{},{},{},{},{},{},{},{},{}]}`)
	if len(many.Findings) != 10 {
		t.Errorf("%d findings for twelve missing paths, want the first ten", len(many.Findings))
	}
}

func TestSchemaPart(t *testing.T) {
	check := oneCheck(`{"check":"schema","id":"shape","path":"rows","type":"array","min_items":1,"unique_by":"id"}`)
	runRuleCases(t, []ruleCase{
		{"right", check, `{"rows":[{"id":"a"},{"id":"b"},{}]}`, "shape pass", nil, nil},
		{"absent passes", check, `{}`, "shape pass", nil, nil},
		{"another type", check, `{"rows":"x"}`, "shape flag", []string{"schema.type high /rows"}, nil},
		{"too few", check, `{"rows":[]}`, "shape flag", []string{"schema.minItems high /rows"}, nil},
		{"twice", check, `{"rows":[{"id":1},{"id":2},{"id":1.0}]}`, "shape flag",
			[]string{"schema.unique_by high /rows/2/id"}, nil},
		{"of every row", oneCheck(`{"check":"schema","id":"shape","path":"rows[*].n","type":"number","min":0,"max":10,` +
			`"tier":"low"}`), `{"rows":[{"n":5},{"n":11},{"n":-1},{"n":"5"}]}`, "shape flag",
			[]string{"schema.maximum low /rows/1/n", "schema.minimum low /rows/2/n", "schema.type low /rows/3/n"}, nil},
		{"pattern", oneCheck(`{"check":"schema","id":"shape","path":"d","pattern":"^[0-9]{4}$"}`), `{"d":"26"}`,
			"shape flag", []string{"schema.pattern high /d"}, nil},
		{"enum", oneCheck(`{"check":"schema","id":"shape","path":"d","enum":["a","b"]}`), `{"d":"c"}`, "shape flag",
			[]string{"schema.enum high /d"}, nil},
		{"additional members", oneCheck(`{"check":"schema","id":"shape","path":"d","additional":false,"keys":["a"]}`),
			`{"d":{"a":1,"b":2}}`, "shape flag", []string{"schema.additionalProperties high /d/b"}, nil},
	})
}

func TestMatch(t *testing.T) {
	check := func(rest string) string { return oneCheck(`{"check":"m","match_field":` + rest + `}`) }
	runRuleCases(t, []ruleCase{
		{"value", check(`"a","expected_value":1.0`), `{"a":1}`, "m pass", nil, nil},
		{"another value", check(`"a","expected_value":1`), `{"a":2}`, "m flag", []string{"structure.match high /a"},
			nil},
		{"text is no number", check(`"a","expected_value":1`), `{"a":"1"}`, "m flag",
			[]string{"structure.match high /a"}, nil},
		{"one of", check(`"a.b","expected_values":["x","y"]`), `{"a":{"b":"y"}}`, "m pass", nil, nil},
		{"none of", check(`"a.b","expected_values":["x","y"]`), `{"a":{"b":"z"}}`, "m flag",
			[]string{"structure.match high /a/b"}, nil},
		{"length", check(`"len(rows)","expected_value":2`), `{"rows":[1,2]}`, "m pass", nil, nil},
		{"another length", check(`"len(rows)","expected_value":2`), `{"rows":[1]}`, "m flag",
			[]string{"structure.match high /rows"}, nil},
		{"length of a text in code points", check(`"len(s)","expected_value":2`), `{"s":"é𝄞"}`, "m pass", nil, nil},
		{"type", check(`"a","type":"object"`), `{"a":[]}`, "m flag", []string{"structure.match high /a"}, nil},
		{"members", check(`"a","required_keys":["x","y"]`), `{"a":{"x":1,"y":null}}`, "m flag",
			[]string{"structure.match high /a"}, nil},
		{"absent", check(`"a","expected_value":1`), `{}`, "m flag", []string{"structure.missing high /a"}, nil},
		{"false is false", check(`"a","expected_value":false`), `{"a":false}`, "m pass", nil, nil},
	})
}
