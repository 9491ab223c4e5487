package referee

import (
	"strings"
	"testing"
)

// keySheet has one registry key in the list where it belongs.
func keySheet(list, key, rest string) string {
	return rest + `"eval_spec":{"` + list + `":["` + key + `"]}`
}

func TestStructureKeys(t *testing.T) {
	key := func(name string) string {
		return keySheet("deterministic_checks", name, `"expected_outputs":["Summary","Risks"],`)
	}
	canonicalDoc := `{"assignment_id":"test-sheet","agent_summary":"s","inputs_used":[],"missing_inputs":[],` +
		`"claims":[],"calculations":[],"risks":[],"assumptions":[],"open_questions":[],"final_output":"x",` +
		`"self_check":{}}`
	runRuleCases(t, []ruleCase{
		{"all canonical members", key("required_fields_present"), canonicalDoc, "required_fields_present pass", nil,
			nil},
		{"one is missing", key("required_fields_present"), strings.Replace(canonicalDoc, `"risks":[],`, "", 1),
			"required_fields_present flag", []string{"structure.missing high /risks"}, nil},
		{"no calculations", key("calculations_present"), `{"calculations":[]}`, "calculations_present flag",
			[]string{"structure.calculations_missing high /calculations"}, nil},
		{"no calculations at all", key("calculations_present"), `{}`, "calculations_present flag",
			[]string{"structure.calculations_missing high /calculations"}, nil},
		{"a calculation without units", key("calculations_present"),
			`{"calculations":[{"name":"x","formula":"1 + 1","inputs":{},"result":2}]}`, "calculations_present flag",
			[]string{"structure.missing high /calculations/0/units"}, nil},
		{"sections there", key("sections_present"), `{"final_output":"SUMMARY: fine\nRisks: none"}`,
			"sections_present pass", nil, nil},
		{"sections as members", key("sections_present"), `{"final_output":{"summary":"x","risks":[]}}`,
			"sections_present pass", nil, nil},
		{"a section is missing", key("sections_present"), `{"final_output":"Summary only"}`, "sections_present flag",
			[]string{"structure.section_missing mid /final_output"}, nil},
		{"output", key("output_nonempty"), `{"final_output":"x"}`, "output_nonempty pass", nil, nil},
		{"white space is no output", key("output_nonempty"), `{"final_output":" \n"}`, "output_nonempty flag",
			[]string{"structure.output_empty mid /final_output"}, nil},
		{"nor is nothing", key("output_nonempty"), `{}`, "output_nonempty flag",
			[]string{"structure.output_empty mid /final_output"}, nil},
		{"a number", key("numbers_present"), `{"final_output":"DSCR 1.3"}`, "numbers_present pass", nil, nil},
		{"a number as a member", key("numbers_present"), `{"final_output":{"dscr":1.3}}`, "numbers_present pass", nil,
			nil},
		{"no number", key("numbers_present"), `{"final_output":"good"}`, "numbers_present flag",
			[]string{"structure.numbers_missing low /final_output"}, nil},
		{"a model", key("specs_present"), `{}`, "specs_present pass", nil, []option{withAgent(Agent{Model: "m"})}},
		{"no model", key("specs_present"), `{}`, "specs_present flag", []string{"structure.specs_missing low "},
			[]option{withAgent(Agent{Name: "a"})}},
		{"no agent", key("specs_present"), `{}`, "specs_present skip", nil, nil},
		{"read", key("json_valid"), `{}`, "json_valid pass", nil, nil},
		{"not read", key("json_valid"), `{`, "json_valid flag structure flag", []string{"structure.json_valid high "},
			nil},
		{"long enough", oneCheck(`{"check":"output_nonempty","min_chars":3}`), `{"final_output":"é𝄞x"}`,
			"output_nonempty pass", nil, nil},
		{"too short", oneCheck(`{"check":"output_nonempty","min_chars":4}`), `{"final_output":"é𝄞x"}`,
			"output_nonempty flag", []string{"structure.output_empty mid /final_output"}, nil},
	})
}

func TestEvidenceKeys(t *testing.T) {
	key := func(name string) string { return keySheet("evidence_checks", name, "") }
	inputs := `"required_inputs":[{"name":"noi"},{"name":"note","optional":true}],`
	held := []option{withEvidence("t12.txt", "abc")}
	runRuleCases(t, []ruleCase{
		{"a reference", key("evidence_references_present"), `{"claims":[{"claim":"c","evidence_reference":"t12"}]}`,
			"evidence_references_present pass", nil, nil},
		{"a reference by its other name", key("evidence_references_present"),
			`{"claims":[{"claim":"c","source_location":"t12"}]}`, "evidence_references_present pass", nil, nil},
		{"no reference", key("evidence_references_present"), `{"claims":[{"claim":"c"}]}`,
			"evidence_references_present flag", []string{"evidence.all_claims_cited mid /claims/0/evidence_reference"},
			nil},
		{"no claim", key("evidence_references_present"), `{}`, "evidence_references_present flag",
			[]string{"evidence.all_claims_cited mid /claims"}, nil},
		{"a reference that is no text", key("all_claims_cited"), `{"claims":[{"claim":"c","evidence_reference":5}]}`,
			"all_claims_cited flag", []string{"evidence.all_claims_cited mid /claims/0/evidence_reference"}, nil},
		{"labelled", key("assumptions_labeled"), `{"assumptions":[{"assumption":"a","label":"Assumption"},` +
			`"ASSUMPTION: b"]}`, "assumptions_labeled pass", nil, nil},
		{"not labelled", key("assumptions_labeled"), `{"assumptions":["b",{"assumption":"a"},{"label":"assumption"}]}`,
			"assumptions_labeled flag",
			[]string{"evidence.assumptions_labeled mid /assumptions/0",
				"evidence.assumptions_labeled mid /assumptions/1", "evidence.assumptions_labeled mid /assumptions/2"}, nil},
		{"disclosed", keySheet("evidence_checks", "missing_inputs_disclosed", inputs), `{"missing_inputs":["NOI"]}`,
			"missing_inputs_disclosed pass", []string{"structure.missing mid /inputs/noi"}, nil},
		{"not disclosed", keySheet("evidence_checks", "missing_inputs_disclosed", inputs), `{}`,
			"missing_inputs_disclosed flag", []string{"structure.missing high /inputs/noi",
				"evidence.missing_input_undisclosed mid /inputs/noi"}, nil},
		{"all checks true", key("self_check_true"), `{"self_check":{"a":true,"b":"said"}}`, "self_check_true pass", nil,
			nil},
		{"one false", key("self_check_true"), `{"self_check":{"a":true,"b":false}}`, "self_check_true flag",
			[]string{"evidence.self_check_false mid /self_check/b"}, nil},
		{"no self-check", key("self_check_true"), `{}`, "self_check_true flag",
			[]string{"evidence.self_check_false mid /self_check"}, nil},
		{"a citation in the text", key("citations_present"), `{"final_output":"per the rent roll"}`,
			"citations_present pass", nil, nil},
		{"a citation in a claim", key("citations_present"), `{"claims":[{"evidence_reference":"t12"}]}`,
			"citations_present pass", nil, nil},
		{"no citation", key("citations_present"), `{"final_output":"trust me"}`, "citations_present flag",
			[]string{"evidence.citations_missing mid /final_output"}, nil},
		{"evidence", key("evidence_attached"), `{}`, "evidence_attached pass", nil, held},
		{"none declared", key("evidence_attached"), `{}`, "evidence_attached flag",
			[]string{"evidence.none_attached mid "}, []option{withEvidence()}},
		{"no manifest", key("evidence_attached"), `{}`, "evidence_attached skip", nil, nil},
		{"a name without a value is not consistent", keySheet("deterministic_checks", "inputs_consistent", ""),
			`{"calculations":[{"name":"x","formula":"a + b","inputs":{"a":1},"result":3,"units":"count"}]}`,
			"inputs_consistent flag",
			[]string{"math.input_inconsistent mid /calculations/0/inputs/b",
				"math.inputs_missing mid /calculations/0/inputs"}, nil},
	})
}

// TestHeld: the evidence kind of check. SHA-256 of "abc" by FIPS 180-2.
func TestHeld(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	check := func(rest string) string {
		return `"required_inputs":[{"name":"stated"},{"name":"dated"},{"name":"as_of"}],` +
			`"eval_spec":{"evidence_checks":[{"check":"evidence","id":"held",` + rest + `}]}`
	}
	inputs := `{"inputs":{"stated":"` + abc + `","dated":"2026-01-01","as_of":"2026-01-31"},"rows":[{"q":"the quick ` +
		`brown fox","ref":"b"},{"q":"made up entirely","ref":"b"}]}`
	files := []option{withEvidence("a.txt", "abc", "b.txt", "It says: the quick brown fox jumps.")}
	runRuleCases(t, []ruleCase{
		{"held", check(`"ids":["a","b"]`), inputs, "held pass", nil, files},
		{"not declared", check(`"ids":["a","c"]`), inputs, "held flag", []string{"evidence.missing_file mid "}, files},
		{"the hash", check(`"sha256":{"a":"` + abc + `"}`), inputs, "held pass", nil, files},
		{"another hash", check(`"sha256":{"b":"` + abc + `"}`), inputs, "held flag",
			[]string{"evidence.hash_mismatch high "}, files},
		{"the hash as stated", check(`"sha256":{"a":"stated"}`), inputs, "held pass", nil, files},
		{"another as stated", check(`"sha256":{"b":"stated"}`), inputs, "held flag",
			[]string{"evidence.hash_mismatch high /inputs/stated"}, files},
		{"the stated hash is missing", check(`"sha256":{"a":"stated"}`), `{"inputs":{"dated":"x","as_of":"y"}}`,
			"held skip", []string{"structure.missing high /inputs/stated",
				"evidence.operand_missing mid /inputs/stated"}, files},
		{"enough", check(`"min_items":2`), inputs, "held pass", nil, files},
		{"too few", check(`"min_items":3`), inputs, "held flag", []string{"evidence.too_few mid "}, files},
		{"fresh: 30 days", check(`"dated":"dated","as_of":"as_of","max_age_days":30`), inputs, "held pass", nil, files},
		{"stale", check(`"dated":"dated","as_of":"as_of","max_age_days":29`), inputs, "held flag",
			[]string{"evidence.stale mid /inputs/dated"}, files},
		{"from the future", check(`"dated":"as_of","as_of":"dated","max_age_days":29`), inputs, "held flag",
			[]string{"evidence.stale mid /inputs/as_of"}, files},
		{"quotes of rows", check(`"quote":{"over":"rows","quote":"q","ref":"ref"}`), inputs, "held flag",
			[]string{"evidence.quote_not_found high /rows/1/q"}, files},
		{"quotes of rows from one item", check(`"quote":{"over":"rows","quote":"q","id":"a"}`), inputs, "held flag",
			[]string{"evidence.quote_not_found high /rows/0/q", "evidence.quote_not_found high /rows/1/q"}, files},
		{"references", check(`"refs_resolve":true`), `{"inputs":{"stated":1,"dated":1,"as_of":1},` +
			`"claims":[{"evidence_reference":"a#line=5,6"}]}`, "held flag",
			[]string{"evidence.no_hit mid /claims/0/evidence_reference"}, files},
		{"a bare submission", check(`"ids":["a"]`), inputs, "held skip", nil, nil},
	})
}

func TestStackFit(t *testing.T) {
	check := func(rest string) string {
		return `"required_inputs":[{"name":"judged"}],"eval_spec":{"deterministic_checks":[{"check":"stack_fit",` +
			`"id":"fit",` + rest + `}]}`
	}
	doc := `{"inputs":{"judged":"Model-A"}}`
	agent := func(a Agent) []option { return []option{withAgent(a)} }
	runRuleCases(t, []ruleCase{
		{"class", check(`"min_class":"mid"`), doc, "fit pass", nil, agent(Agent{CapabilityTier: "frontier"})},
		{"class below", check(`"min_class":"mid"`), doc, "fit flag", []string{"lane.min_class high "},
			agent(Agent{CapabilityTier: "small"})},
		{"class unknown", check(`"min_class":"mid"`), doc, "fit skip", []string{"policy.undecided high "},
			agent(Agent{Model: "m"})},
		{"a flag beats what is unknown", check(`"min_class":"mid","min_vram_gb":80`), doc, "fit flag",
			[]string{"lane.min_vram_gb high "}, agent(Agent{VRAMGB: "24"})},
		{"context and tools", check(`"min_context":1000,"tools":["calculator"]`), doc, "fit pass", nil,
			agent(Agent{ContextTokens: "1000", Tools: []string{"Calculator"}, ToolsKnown: true})},
		{"another model", check(`"different_from":"judged"`), doc, "fit pass", nil, agent(Agent{Model: "model-b"})},
		{"the same model", check(`"different_from":"judged"`), doc, "fit flag",
			[]string{"lane.different_from high /inputs/judged"}, agent(Agent{Model: "model_a"})},
		{"a model without a name", check(`"different_from":"judged"`), doc, "fit skip",
			[]string{"policy.undecided high "}, agent(Agent{})},
		{"no agent", check(`"min_params_b":7`), doc, "fit skip", nil, nil},
	})
}

// TestSpaces: $stack, $evidence, $flags, $atoms and $file as expressions read them.
func TestSpaces(t *testing.T) {
	rule := func(expr string) string {
		return `"eval_spec":{"rules":[{"id":"r","expr":"` + expr + `","tier":"low"}]}`
	}
	all := []option{withAgent(Agent{Model: "m", ParamsB: "8", Tools: []string{"a"}, ToolsKnown: true}),
		withEvidence("a.txt", "abc")}
	runRuleCases(t, []ruleCase{
		{"stack", rule(`$stack.params_b >= 7 and $stack.model == \"m\"`), `{}`, "r pass", nil, all},
		{"what the profile does not say is unknown", rule(`$stack.vram_gb >= 7`), `{}`, "r skip", nil, all},
		{"no profile", rule(`$stack.params_b >= 7`), `{}`, "r skip", nil, nil},
		{"evidence", rule(`agg(\"all\", $evidence, \"held and bytes == 3\")`), `{}`, "r pass", nil, all},
		{"flags so far", rule(`agg(\"count\", $flags, \"1\", where=\"tier == 'mid'\") == 1`), `{"assignment_id":"x"}`,
			"r pass", []string{"structure.assignment_mismatch mid /assignment_id"}, nil},
		{"atoms so far", rule(`agg(\"any\", $atoms, \"type == 'structure.json_valid' and pass\")`), `{}`, "r pass", nil,
			nil},
		{"file", rule(`$file.bytes == 2 and $file.sha256 == ` +
			`\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"`), `{}`, "r pass", nil, nil},
	})
}
