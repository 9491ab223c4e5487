package referee

import (
	"strings"
	"testing"
)

// refusalCases are sheets that must not load: every branch that refuses, with the rule of the format and what the
// message must say.
var refusalCases = []struct{ name, members, rule, words string }{
	{"not an object", `"eval_spec":[]`, "type", "eval_spec must be an object"},
	{"no eval_spec", `"summary":"x"`, "missing_key", `needs the member "eval_spec"`},
	{"unknown member", `"sumary":"x","eval_spec":{}`, "unknown_key", `did you mean "summary"?`},
	{"unknown member without a neighbour", `"zzzzzz":1,"eval_spec":{}`, "unknown_key", "known: schema, slug"},
	{"null", `"summary":null,"eval_spec":{}`, "type", "null; leave the member out"},
	{"a text for a list", `"expected_outputs":"x","eval_spec":{}`, "type", "array of strings"},
	{"a number in a list of texts", `"notes":[1],"eval_spec":{}`, "type", "strings only"},
	{"an object for an array", `"required_inputs":{},"eval_spec":{}`, "type", "must be an array"},
	{"an array for a map", `"consts":[],"eval_spec":{}`, "type", "must be an object"},
	{"a number for a text", `"summary":1,"eval_spec":{}`, "type", "must be a string"},
	{"an unknown word", `"baseline":"canonicl","eval_spec":{}`, "unknown_word", `did you mean "canonical"?`},
	{"a number out of range", `"eval_spec":{"penalty":{"tolerance":1e999}}`, "number_out_of_range", "±300"},
	{"checks that are no list", `"eval_spec":{"deterministic_checks":"calculations_present"}`, "type",
		"deterministic_checks"},
	{"evidence checks that are no list", `"eval_spec":{"evidence_checks":{"check":"all_claims_cited"}}`, "type",
		"evidence_checks"},
	{"rules that are no list", `"eval_spec":{"rules":{"id":"r","expr":"1 == 1"}}`, "type", "rules"},
	{"a rule that is no object", `"eval_spec":{"rules":[5]}`, "unknown_check", "unknown check"},
	{"a rule that is a text", `"eval_spec":{"rules":["1 == 1"]}`, "unknown_check", "unknown check"},
	{"a document check without a text", `"eval_spec":{"rules":[{"check":"document","id":"d","find":"references"}]}`,
		"missing_key", `text`},
	{"a document check that finds nothing known", `"required_inputs":[{"name":"t","type":"string"}],"eval_spec":` +
		`{"rules":[{"check":"document","id":"d","text":"t","find":"refs"}]}`, "unknown_word", "references"},
	{"signatures of nobody", `"required_inputs":[{"name":"t","type":"string"}],"eval_spec":{"rules":[` +
		`{"check":"document","id":"d","text":"t","find":"signatures"}]}`, "missing_key", "needs names"},
	{"names that nothing reads", `"required_inputs":[{"name":"t","type":"string"}],"eval_spec":{"rules":[` +
		`{"check":"document","id":"d","text":"t","find":"references","names":"t"}]}`, "unknown_key", "reads no names"},
	{"stated values that nothing reads", `"required_inputs":[{"name":"t","type":"string"}],"eval_spec":{"rules":[` +
		`{"check":"document","id":"d","text":"t","find":"references","stated":{"maturity":"t"}}]}`, "unknown_key",
		"reads no stated values"},
	{"no rule", `"eval_spec":{}`, "no_rule", "declares no rule"},

	{"input name", `"required_inputs":[{"name":"net income"}],"eval_spec":{}`, "name", "plain name"},
	{"input twice", `"required_inputs":[{"name":"noi"},{"name":"NOI"}],"eval_spec":{}`, "duplicate", "declared twice"},
	{"input type", `"required_inputs":[{"name":"a","type":"float"}],"eval_spec":{}`, "unknown_word",
		`does not know "float"`},
	{"alias taken", `"required_inputs":[{"name":"a","aliases":["x"]},{"name":"b","aliases":["X"]}],"eval_spec":{}`,
		"duplicate", `names both "a" and "b"`},
	{"stated without a reason", `"required_inputs":[{"name":"a","held":"stated"}],"eval_spec":{}`, "held",
		"without a reason"},
	{"a reason for what is held", `"evidence":[{"id":"e","kind":"text"}],"required_inputs":[{"name":"a","held":"cell",` +
		`"reason":"r"}],"eval_spec":{}`, "held", "only a stated input takes"},
	{"unknown way of holding", `"required_inputs":[{"name":"a","held":"cel"}],"eval_spec":{}`, "unknown_word",
		`did you mean "cell"?`},
	{"a place of what is not a cell", `"evidence":[{"id":"e","kind":"text"}],"required_inputs":[{"name":"a",` +
		`"held":"recount","from":[{"evidence":"e"}]}],"eval_spec":{}`, "held", "a held that is not cell"},
	{"a cell that holds a list", `"required_inputs":[{"name":"a","type":"array","held":"cell"}],"eval_spec":{}`, "held",
		"which no cell can hold"},
	{"held param without one", `"required_inputs":[{"name":"a","held":"param"}],"eval_spec":{}`, "held",
		"require each other"},
	{"held param of nothing", `"params":{"cap":{"type":"number","title":"t","default":1}},` +
		`"required_inputs":[{"name":"a","held":"param","param":"cup"}],"eval_spec":{}`, "unknown_name",
		`did you mean "cap"?`},
	{"a place in no evidence", `"evidence":[{"id":"terms","kind":"text"}],"required_inputs":[{"name":"a",` +
		`"held":"cell","from":[{"evidence":"trems"}]}],"eval_spec":{}`, "unknown_name", `did you mean "terms"?`},
	{"a place in a table without a key", `"evidence":[{"id":"e","kind":"table","columns":[{"name":"x"}]}],` +
		`"required_inputs":[{"name":"a","held":"cell","from":[{"evidence":"e"}]}],"eval_spec":{}`, "place",
		"has no key"},
	{"a place in no column", `"evidence":[{"id":"e","kind":"table","key":"item","columns":[{"name":"item"},` +
		`{"name":"value"}]}],"required_inputs":[{"name":"a","held":"cell","from":[{"evidence":"e","column":"vlue"}]}],` +
		`"eval_spec":{}`, "unknown_name", `did you mean "value"?`},
	{"a row of a text", `"evidence":[{"id":"e","kind":"text"}],"required_inputs":[{"name":"a","held":"cell",` +
		`"from":[{"evidence":"e","row":"x"}]}],"eval_spec":{}`, "place", "only a table"},
	{"a pointer into a text", `"evidence":[{"id":"e","kind":"text"}],"required_inputs":[{"name":"a","held":"cell",` +
		`"from":[{"evidence":"e","pointer":"/x"}]}],"eval_spec":{}`, "place", "only json"},
	{"evidence twice", `"evidence":[{"id":"e","kind":"text"},{"id":"e","kind":"json"}],"eval_spec":{}`, "duplicate",
		"declared twice"},
	{"a column twice", `"evidence":[{"id":"e","kind":"table","columns":[{"name":"x"},{"name":"x"}]}],"eval_spec":{}`,
		"duplicate", "declared twice"},
	{"columns of a text", `"evidence":[{"id":"e","kind":"text","columns":[{"name":"x"}]}],"eval_spec":{}`, "columns",
		"only a table"},
	{"a key that is no column", `"evidence":[{"id":"e","kind":"table","columns":[{"name":"item"}],"key":"itm"}],` +
		`"eval_spec":{}`, "unknown_name", `did you mean "item"?`},
	{"bounds of a text", `"required_inputs":[{"name":"a","type":"string","min":0}],"eval_spec":{}`, "domain",
		"only numbers"},
	{"bounds that cross", `"required_inputs":[{"name":"a","type":"number","min":2,"max":1}],"eval_spec":{}`, "domain",
		"is greater than"},
	{"signed and not below zero", `"required_inputs":[{"name":"a","type":"number","min":0,"signed":true}],` +
		`"eval_spec":{}`, "domain", "one of the two"},
	{"enum of numbers", `"required_inputs":[{"name":"a","type":"number","enum":["1"]}],"eval_spec":{}`, "domain",
		"only texts"},
	{"empty enum", `"required_inputs":[{"name":"a","enum":[]}],"eval_spec":{}`, "domain", "is empty"},
	{"enum of one word twice", `"required_inputs":[{"name":"a","enum":["multi-family","Multi family"]}],"eval_spec":{}`,
		"domain", "compare as equal"},
	{"param without a type", `"params":{"cap":{"title":"t","default":1}},"eval_spec":{}`, "missing_key", `"type"`},
	{"param without a value", `"params":{"cap":{"type":"number","title":"t"}},"eval_spec":{}`, "param",
		"needs a default"},
	{"param that is required and has a default", `"params":{"cap":{"type":"number","title":"t","default":1,` +
		`"required":true}},"eval_spec":{}`, "param", "not both"},
	{"param of another type", `"params":{"cap":{"type":"number","title":"t","default":"1"}},"eval_spec":{}`, "param",
		"must be"},
	{"param beyond its bounds", `"params":{"cap":{"type":"number","title":"t","default":1,"min":2}},"eval_spec":{}`,
		"param", "at least 2"},
	{"param with bounds that cross", `"params":{"cap":{"type":"number","title":"t","default":1,"min":2,"max":1}},` +
		`"eval_spec":{}`, "param", "is greater than"},
	{"param that is no day", `"params":{"d":{"type":"date","title":"t","default":"2026-02-30"}},"eval_spec":{}`,
		"param", "must be a date"},
	{"param that is an empty list", `"params":{"l":{"type":"list","title":"t","default":[]}},"eval_spec":{}`, "param",
		"is empty"},
	{"param that is no word of its list", `"params":{"w":{"type":"string","title":"t","default":"c","enum":["a",` +
		`"b"]}},"eval_spec":{}`, "param", "must be one of"},
	{"param with the name of an input", `"params":{"a":{"type":"number","title":"t","default":1}},` +
		`"required_inputs":[{"name":"a"}],"eval_spec":{}`, "ambiguous_name", "rename one"},
	{"param with a strange name", `"params":{"a b":{"type":"number","title":"t","default":1}},"eval_spec":{}`, "name",
		"plain name"},

	{"empty lexicon", `"lexicons":{"HEDGE":[]},"eval_spec":{}`, "lexicon", "is empty"},
	{"lexicon of numbers", `"lexicons":{"HEDGE":[1]},"eval_spec":{}`, "lexicon", "must hold phrases"},
	{"lexicon of blanks", `"lexicons":{"HEDGE":[" "]},"eval_spec":{}`, "lexicon", "must hold phrases"},
	{"constant without status", `"consts":{"K":{"value":1,"source":"s"}},"eval_spec":{}`, "missing_key", `"status"`},
	{"constant without source", `"consts":{"K":{"value":1,"status":"policy"}},"eval_spec":{}`, "missing_key",
		`"source"`},
	{"name of a calculation and a constant", `"consts":{"k":{"value":1,"source":"s","status":"policy"}},` +
		`"eval_spec":{"math_checks":[{"formula_id":"k","formula":"1 + 1"}]}`, "ambiguous_name", "rename one"},
	{"a holiday that is no date", `"calendars":{"FED":{"holidays":["2026-13-01"]}},"required_inputs":[{"name":"a"},` +
		`{"name":"b"}],"eval_spec":{"rules":[{"id":"r","expr":"business_days(a, b, FED) < 3"}]}`, "expression",
		"2026-13-01"},
	{"a weekend that is no day", `"calendars":{"FED":{"weekend":["sunnday"]}},"required_inputs":[{"name":"a"},` +
		`{"name":"b"}],"eval_spec":{"rules":[{"id":"r","expr":"business_days(a, b, FED) < 3"}]}`, "expression",
		"sunnday"},

	{"bands", `"eval_spec":{"penalty":{"critical_pct":1}}`, "penalty", "must not decrease"},
	{"tolerance above the mid edge", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a","tolerance":0.05}]}`, "tolerance", "above the mid edge"},
	{"formula that does not parse", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a +"}]}`, "expression", "formula of x"},
	{"formula of an unknown name", `"required_inputs":[{"name":"rate"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"rte * 2"}]}`, "expression", `"rate"`},
	{"formula that is a condition", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a > 1"}]}`, "not_a_number", "can never be a number"},
	{"formula missing", `"eval_spec":{"math_checks":[{"formula_id":"x"}]}`, "missing_key", `"formula"`},
	{"formula in a circle", `"eval_spec":{"math_checks":[{"formula_id":"x","formula":"y + 1"},{"formula_id":"y",` +
		`"formula":"x + 1"}]}`, "cycle", "depends on itself"},
	{"formula of itself", `"eval_spec":{"math_checks":[{"formula_id":"x","formula":"x + 1"}]}`, "cycle",
		"depends on itself"},
	{"calculation twice", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a"},{"formula_id":"X","formula":"a"}]}`, "duplicate", "used twice"},
	{"alias of nothing", `"required_inputs":[{"name":"noi"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"noi","aliases":{"noy":["n"]}}]}`, "unknown_name", `did you mean "noi"?`},
	{"worked example that is wrong", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a * 2","inputs":{"a":2},"expected_result":5}]}`, "worked_number", "computes to 4, not 5"},
	{"worked example without inputs", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a * 2","expected_result":5}]}`, "worked_number", "to be recomputed from"},
	{"worked example that is undefined", `"required_inputs":[{"name":"a"}],` +
		`"eval_spec":{"math_checks":[{"formula_id":"x","formula":"1 / a","inputs":{"a":0},"expected_result":5}]}`,
		"worked_number", "cannot be computed"},

	{"unknown key", `"eval_spec":{"deterministic_checks":["calculation_present"]}`, "unknown_check",
		`did you mean "calculations_present"?`},
	{"kind without parameters", `"eval_spec":{"deterministic_checks":["range"]}`, "unknown_check", "range"},
	{"equivalents misspelt", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"equivalents":[]}]}`, "unknown_key", `did you mean "equivalent"?`},
	{"equivalent without a reason", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"equivalent":[{"change":"1 became 2"}]}]}`, "missing_key", `"why"`},
	{"equivalent without a change", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"equivalent":[{"why":"w"}]}]}`, "missing_key", `"change"`},
	{"equivalent that is a text", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"equivalent":"w"}]}`, "type", "must be an array"},
	{"equivalent with a word of its own", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a ` +
		`> 1","equivalent":[{"change":"c","wy":"w"}]}]}`, "unknown_key", `did you mean "why"?`},
	{"equivalent on a calculation", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a","equivalent":[]}]}`, "unknown_key", `"equivalent"`},
	{"rule without id", `"eval_spec":{"rules":[{"expr":"1 == 1"}]}`, "missing_key", "needs an id"},
	{"rule id twice", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1"},{"id":"R",` +
		`"expr":"a > 2"}]}`, "duplicate", "used twice"},
	{"rule id of an implicit rule", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"schema","expr":"a ` +
		`> 1"}]}`, "duplicate", "used twice"},
	{"value for a condition", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a + 1"}]}`,
		"not_boolean", "not a condition"},
	{"applies_if that is a value", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"applies_if":"a + 1"}]}`, "not_boolean", "applies_if"},
	{"high and noncritical", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"tier":"high","severity":"noncritical"}]}`, "severity", "S8"},
	{"tier_by in disorder", `"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a > 1",` +
		`"tier_by":{"measure":"a","mid":5,"high":2}}]}`, "tier_by", "greater than high"},
	{"tier_by without high, on a key", `"eval_spec":{"deterministic_checks":[{"check":"calculations_present",` +
		`"tier_by":{"measure":"1 + 1","mid":5}}]}`, "missing_key", `"high"`},
	{"audit check of nothing", `"audit_checks":[{"key":"struture","kind":"auto"}],` +
		`"eval_spec":{"deterministic_checks":["json_valid"]}`, "unknown_check", `did you mean "structure"?`},
	{"question that asks nothing", `"audit_checks":[{"key":"q","kind":"checklist","label":" "}],"eval_spec":{}`,
		"question", "has no question"},
	{"question of taste", `"audit_checks":[{"key":"q","kind":"checklist","label":"Is the tone appropriate?"}],` +
		`"eval_spec":{}`, "opinion_word", "appropriate"},

	{"required without paths", `"eval_spec":{"deterministic_checks":[{"check":"required","paths":[]}]}`, "missing_key",
		"paths"},
	{"required path", `"eval_spec":{"deterministic_checks":[{"check":"required","paths":["a","a..b"]}]}`, "path",
		"a..b"},
	{"schema without constraint", `"eval_spec":{"deterministic_checks":[{"check":"schema","path":"a"}]}`, "schema",
		"pass everything"},
	{"schema path", `"eval_spec":{"deterministic_checks":[{"check":"schema","path":"a[","type":"string"}]}`, "path",
		"a["},
	{"schema type", `"eval_spec":{"deterministic_checks":[{"check":"schema","path":"a","type":"nubmer"}]}`, "schema",
		"must be one of"},
	{"schema pattern", `"eval_spec":{"deterministic_checks":[{"check":"schema","path":"a","pattern":"("}]}`, "schema",
		"pattern"},
	{"match without expectation", `"eval_spec":{"deterministic_checks":[{"check":"x","match_field":"a"}]}`,
		"missing_key", "expected_value"},
	{"match path", `"eval_spec":{"deterministic_checks":[{"check":"x","match_field":"a b[","expected_value":1}]}`,
		"path", "a b["},
	{"match type", `"eval_spec":{"deterministic_checks":[{"check":"x","match_field":"a","type":"objekt"}]}`,
		"unknown_word", `did you mean "object"?`},
	{"output schema", `"eval_spec":{"required_output_schema":{"type":"objekt"}}`, "schema", "required_output_schema"},
	{"output schema from elsewhere", `"eval_spec":{"required_output_schema":{"$ref":"https://example.org/x.json"}}`,
		"schema", "$ref"},
	{"output schema from a file", `"eval_spec":{"required_output_schema":{"$ref":"file:///etc/passwd"}}`, "schema",
		"$ref"},

	{"recompute of nothing", `"eval_spec":{"deterministic_checks":[{"check":"recompute","formula":"1 + 1"}]}`,
		"missing_key", "either path or calc"},
	{"recompute of both", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a"}],"deterministic_checks":[{"check":"recompute","calc":"x","path":"y","formula":"1 + 1"}]}`,
		"missing_key", "either path or calc"},
	{"recompute of an unknown calculation", `"eval_spec":{"deterministic_checks":[{"check":"recompute","calc":"x",` +
		`"formula":"1 + 1"}]}`, "unknown_name", "x"},
	{"recompute path", `"eval_spec":{"deterministic_checks":[{"check":"recompute","path":"a..b","formula":"1 + 1"}]}`,
		"path", "a..b"},
	{"recompute tolerance", `"eval_spec":{"deterministic_checks":[{"check":"recompute","path":"a","formula":"1 + 1",` +
		`"tolerance":0.5}]}`, "tolerance", "must not decrease"},
	{"bind to an unknown calculation", `"required_inputs":[{"name":"a"}],` +
		`"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"a"}],"deterministic_checks":[{"check":"bind",` +
		`"calc":"dsrc","input":"a","to":"a"}]}`, "unknown_name", `did you mean "dscr"?`},
	{"bind tolerance", `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",` +
		`"formula":"a"}],"deterministic_checks":[{"check":"bind","calc":"x","input":"a","to":"a","tolerance":0.5}]}`,
		"tolerance", "must not decrease"},
	{"for_each condition", `"required_inputs":[{"name":"rows","fields":["rent"]}],"eval_spec":{"rules":[{"id":"r",` +
		`"check":"for_each","over":"rows","each":"rent +"}]}`, "expression", "r:"},
	{"range without limits", `"eval_spec":{"deterministic_checks":[{"check":"range","over":"a","limits":{}}]}`,
		"missing_key", "limits"},
	{"range limits", `"eval_spec":{"deterministic_checks":[{"check":"range","over":"a","limits":{"x":[2,1]}}]}`,
		"limits", "low below high"},
	{"range limits of one number", `"eval_spec":{"deterministic_checks":[{"check":"range","over":"a",` +
		`"limits":{"x":[2]}}]}`, "limits", "[low, high]"},
	{"range path", `"eval_spec":{"deterministic_checks":[{"check":"range","over":"a..b","limits":{"x":[1,2]}}]}`,
		"path", "over"},
	{"jump of nothing", `"eval_spec":{"deterministic_checks":[{"check":"jump","thresholds":{"x":1}}]}`, "missing_key",
		"series"},
	{"jump without thresholds", `"eval_spec":{"deterministic_checks":[{"check":"jump","series":"a","thresholds":{}}]}`,
		"missing_key", "thresholds"},
	{"jump threshold", `"eval_spec":{"deterministic_checks":[{"check":"jump","series":"a","thresholds":{"x":0}}]}`,
		"thresholds", "above 0"},
	{"jump factor", `"eval_spec":{"deterministic_checks":[{"check":"jump","series":"a","thresholds":{"x":1},` +
		`"factor":0}]}`, "thresholds", "above 0"},
	{"jump path", `"eval_spec":{"deterministic_checks":[{"check":"jump","series":"a..b","thresholds":{"x":1}}]}`,
		"path", "series"},
	{"agree in disorder", `"required_inputs":[{"name":"a"}],"eval_spec":{"deterministic_checks":[{"check":"agree",` +
		`"id":"g","left":"a","right":"a","warn":5,"critical":1}]}`, "agree", "at most critical"},
	{"agree metric", `"required_inputs":[{"name":"a"}],"eval_spec":{"deterministic_checks":[{"check":"agree","id":"g",` +
		`"left":"a","right":"a","warn":5,"metric":"relative"}]}`, "unknown_word", "relative"},
	{"evidence of nothing", `"eval_spec":{"evidence_checks":[{"check":"evidence"}]}`, "missing_key", "pass everything"},
	{"evidence without a date", `"required_inputs":[{"name":"d"}],"eval_spec":{"evidence_checks":[{"check":"evidence",` +
		`"dated":"d"}]}`, "missing_key", "no clock"},
	{"stack_fit of nothing", `"eval_spec":{"deterministic_checks":[{"check":"stack_fit"}]}`, "missing_key",
		"at least one requirement"},
	{"stack_fit class", `"eval_spec":{"deterministic_checks":[{"check":"stack_fit","min_class":"medium"}]}`,
		"unknown_word", "medium"},
	{"lane class", `"lane_requirements":{"capability_tier":"huge"},"eval_spec":{}`, "unknown_word", "huge"},
	{"checklist of taste", `"eval_spec":{"evidence_checks":[{"check":"checklist","id":"q","question":"Does it look ` +
		`good?"}]}`, "opinion_word", "good"},
	{"sections of nothing", `"eval_spec":{"deterministic_checks":["sections_present"]}`, "missing_key", "sections"},
	{"derived value that does not parse", `"derive":[{"id":"d","expr":"1 +"}],` +
		`"eval_spec":{"deterministic_checks":["json_valid"]}`, "expression", "derive"},
	{"derived value twice", `"derive":[{"id":"d","expr":"1 + 1"},{"id":"D","expr":"1 + 2"}],` +
		`"eval_spec":{"deterministic_checks":["json_valid"]}`, "duplicate", "derive.D"},
	{"score of nothing", `"scores":{"total":"x"},"eval_spec":{"deterministic_checks":["json_valid"]}`, "scores",
		"derive does not define"},
	{"unknown score", `"scores":{"totl":"x"},"eval_spec":{"deterministic_checks":["json_valid"]}`, "unknown_key",
		`did you mean "total"?`},
	{"two rules of one kind without ids", `"eval_spec":{"deterministic_checks":[{"check":"required","paths":["a"]},` +
		`{"check":"required","paths":["b"]}]}`, "duplicate", "used twice"},
}

func TestSheetRefusals(t *testing.T) {
	for _, c := range refusalCases {
		t.Run(c.name, func(t *testing.T) { wantRefusal(t, sheetText(c.members), c.rule, c.words) })
	}
	for name, c := range map[string]struct{ src, rule, words string }{
		"slug": {strings.Replace(sheetText(`"eval_spec":{}`), "test-sheet", "Test Sheet", 1), "slug",
			"joined by dashes"},
		"version":     {strings.Replace(sheetText(`"eval_spec":{}`), "1.0.0", "1.0", 1), "version", "semantic version"},
		"lane":        {strings.Replace(sheetText(`"eval_spec":{}`), "dataset", "data", 1), "unknown_word", "dataset"},
		"no slug":     {`{"name":"x","version":"1.0.0","lane":"agent","eval_spec":{}}`, "missing_key", `"slug"`},
		"not a check": {sheetText(`"eval_spec":{"math_checks":[5]}`), "type", "a math check must be an object"},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, c.src, c.rule, c.words) })
	}
}

// TestRefusalsHaveTheirPlace: line and column are those of the thing that is refused, counted by hand.
func TestRefusalsHaveTheirPlace(t *testing.T) {
	src := "{\"slug\":\"x\",\"name\":\"x\",\"version\":\"1.0.0\",\"lane\":\"dataset\",\n" +
		"  \"required_inputs\": [{\"name\": \"a\"}],\n" + // line 2
		"  \"eval_spec\": {\"rules\": [\n" +
		"    {\"id\": \"r1\", \"expr\": \"b > 1\"},\n" + // line 4: expr's value begins in column 26
		"    {\"id\": \"r2\", \"expr\": \"a > 1\", \"teir\": \"high\"}\n" +
		"  ]}}"
	problems := refusals(t, src)
	if len(problems) != 2 {
		t.Fatalf("%d refusals, want both at once: %v", len(problems), problems)
	}
	if p := problems[0]; p.Line != 4 || p.Column != 26 || p.Pointer != "/eval_spec/rules/0/expr" {
		t.Errorf("the expression is refused at %d:%d %s", p.Line, p.Column, p.Pointer)
	}
	if p := problems[1]; p.Line != 5 || p.Column != 43 || p.Pointer != "/eval_spec/rules/1/teir" {
		t.Errorf("the unknown member is refused at %d:%d %s", p.Line, p.Column, p.Pointer)
	}
	_, err := LoadSheet([]byte("{\n  \"slug\": \"a\",\n  \"slug\": \"b\"}"), "s.json", "repository")
	wantWords(t, err.Error(), "s.json", "line 3", "duplicate", "line 2")
}
