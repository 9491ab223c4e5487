package referee

import "sync"

// SheetSchema names the shape of a flight sheet file.
const SheetSchema = "referee.flight-sheet/v1"

var (
	lanes      = []string{"agent", "dataset", "compute", "cook", "incident"}
	tiers      = []string{"high", "mid", "low"}
	buckets    = []string{string(WorkDefect), string(DealFinding), string(StackFit)}
	categories = []string{"structure", "schema", "math", "evidence", "policy", "lane"}
	statuses   = []string{"verified", "general", "policy"}
	// of FLY-EVAL++: what a verified fact speaks of
	atomFamilies = []string{"numeric_validity", "range_sanity", "jump_dynamics", "cross_field_consistency",
		"physics_constraint", "safety_constraint"}
	classes    = []string{"edge", "small", "mid", "frontier"}
	inputTypes = []string{"number", "integer", "string", "boolean", "date", "datetime", "array", "object"}
	holds      = []string{HeldCell, HeldRecount, HeldAttested, HeldParam, HeldStated}
	paramTypes = []string{"number", "integer", "string", "boolean", "date", "list", "table"}
	fileKinds  = []string{"table", "text", "json", "workbook", "pdf"}
	cellTypes  = []string{"number", "text", "date", "bool"}
)

// inputRecord is one declared input: what it is, how it is held (S70), and what it may be (S72, S73).
var inputRecord = &record{Name: "an input", Fields: []field{
	{Name: "name", Type: "string", Doc: "name in the submission's inputs", Required: true},
	{Name: "type", Type: "string", Doc: "its type", Enum: inputTypes},
	{Name: "unit", Type: "string", Doc: "its unit"},
	{Name: "held", Type: "string", Doc: "what vouches for it (S70): cell: a cell of the evidence; recount: a rule " +
		"that counts it again; attested: attested evidence; param: a parameter; " +
		"stated: nothing but the agent, so that a person is asked. Default: cell where the sheet declares evidence, " +
		"else stated", Enum: holds},
	{Name: "reason", Type: "string", Doc: "of a stated input: why no evidence holds it"},
	{Name: "from", Type: "array", Doc: "of a cell: the places that hold it, all of which must; without it the " +
		"submission cites its cell in sources", Of: placeRecord},
	{Name: "param", Type: "string", Doc: "of held param: the parameter that it restates"},
	{Name: "min", Type: "number", Doc: "the least value it may have (S72); of a list, each of its numbers"},
	{Name: "max", Type: "number", Doc: "the greatest value it may have (S72)"},
	{Name: "signed", Type: "boolean", Doc: "it may be below 0"},
	{Name: "description", Type: "string", Doc: "what it is"},
	{Name: "optional", Type: "boolean", Doc: "it may be absent"},
	{Name: "aliases", Type: "strings", Doc: "other names (S18)"},
	{Name: "enum", Type: "strings", Doc: "the values it may have, compared without case, spaces and hyphens (S73)"},
	{Name: "fields", Type: "strings", Doc: "members of its rows"},
}}

// placeRecord is a place in declared evidence that holds an input.
var placeRecord = &record{Name: "a place of evidence", Fields: []field{
	{Name: "evidence", Type: "string", Doc: "id of the evidence", Required: true},
	{Name: "row", Type: "string", Doc: "of a table: what the row's key is, default the input's name or one of its " +
		"aliases"},
	{Name: "column", Type: "string", Doc: "of a table: the column, default the first that is not the key"},
	{Name: "pointer", Type: "string", Doc: "of json: JSON Pointer of the value, default /NAME"},
}}

// evidenceRecord declares a file of evidence that a run must bring, and its columns.
var evidenceRecord = &record{Name: "an item of evidence", Fields: []field{
	{Name: "id", Type: "string", Doc: "id in run.json", Required: true},
	{Name: "title", Type: "string", Doc: "what it is, for people"},
	{Name: "kind", Type: "string", Doc: "what kind of file it is", Required: true, Enum: fileKinds},
	{Name: "columns", Type: "array", Doc: "of a table: its columns", Of: &record{Name: "a column", Fields: []field{
		{Name: "name", Type: "string", Doc: "its name in the header", Required: true},
		{Name: "type", Type: "string", Doc: "what its cells are", Enum: cellTypes},
		{Name: "unit", Type: "string", Doc: "unit of its numbers"}}}},
	{Name: "key", Type: "string", Doc: "of a table: the column by which a row is found; no two rows have the same"},
}}

// paramRecord is a parameter: a limit that the configuration or the command line sets, and never a submission (S71).
var paramRecord = &record{Name: "a parameter", Fields: []field{
	{Name: "type", Type: "string", Doc: "its type", Required: true, Enum: paramTypes},
	{Name: "unit", Type: "string", Doc: "its unit"},
	{Name: "title", Type: "string", Doc: "what it is", Required: true},
	{Name: "default", Type: "any", Doc: "its value where nobody sets it"},
	{Name: "required", Type: "boolean", Doc: "an audit without it is refused"},
	{Name: "min", Type: "number", Doc: "the least value it may have"},
	{Name: "max", Type: "number", Doc: "the greatest value it may have"},
	{Name: "enum", Type: "strings", Doc: "the words it may be"},
	{Name: "source", Type: "string", Doc: "where the default comes from"},
}}

var sourceRecord = &record{Name: "a source", Fields: []field{
	{Name: "text", Type: "string", Doc: "what is cited, in words"},
	{Name: "url", Type: "string", Doc: "where it can be read"},
	{Name: "status", Type: "string", Doc: "verified: confirmed in a published text; general: from general " +
		"knowledge; policy: the user's own document", Enum: statuses},
	{Name: "as_of", Type: "string", Doc: "date of the source, YYYY-MM-DD"},
}}

// modifiers are valid on every check object and rule (rules.md 1.3).
var modifiers = []field{
	{Name: "id", Type: "string", Doc: "unique name of the rule in this sheet"},
	{Name: "label", Type: "string", Doc: "the rule in a few words"},
	{Name: "category", Type: "string", Doc: "decides the default bucket (S41)", Enum: categories},
	{Name: "tier", Type: "string", Doc: "weight and rank", Enum: tiers},
	{Name: "risk", Type: "string", Doc: "the source documents' name for tier", Enum: tiers},
	{Name: "severity", Type: "string", Doc: "critical iff high, unless said (S8)",
		Enum: []string{"critical", "noncritical"}},
	{Name: "bucket", Type: "string", Doc: "whose move a flag is (S41)", Enum: buckets},
	{Name: "why", Type: "string", Doc: "why the rule exists, in plain words"},
	{Name: "fix", Type: "string", Doc: "what would be right"},
	{Name: "message", Type: "string", Doc: "what to say when it flags"},
	{Name: "on_missing", Type: "string", Doc: "what a missing operand means (S24)", Enum: []string{"skip", "flag"}},
	{Name: "applies_if", Type: "expr", Doc: "the rule passes, vacuously, where this is false"},
	{Name: "tier_by", Type: "object", Doc: "the tier follows a measure", Of: &record{Name: "tier_by", Fields: []field{
		{Name: "measure", Type: "expr", Doc: "a number", Required: true},
		{Name: "mid", Type: "number", Doc: "above this the flag is mid"},
		{Name: "high", Type: "number", Doc: "above this the flag is high", Required: true},
	}}},
	{Name: "non_compensable", Type: "boolean", Doc: "a flag closes the gate whatever the score"},
	{Name: "cap", Type: "number", Doc: "the highest total score, 0 to 100, that a sample can have where a flag of this " +
		"rule closes the gate; the sheet's gating_cap unless said"},
	{Name: "emit", Type: "string", Doc: "one finding a rule, or one a row", Enum: []string{"per_rule", "per_row"}},
	{Name: "family", Type: "string", Doc: "the family of the facts that it verifies", Enum: atomFamilies},
	{Name: "row_name", Type: "string", Doc: "what a row is, for messages, such as second"},
	{Name: "source", Type: "object", Doc: "where the rule comes from", Of: sourceRecord},
	{Name: "equivalent", Type: "array", Doc: "changes to the rule that no submission can notice, as `referee sheet " +
		"test --mutate` words them, each with the reason", Of: &record{Name: "an equivalent change", Fields: []field{
		{Name: "change", Type: "string", Doc: "the change, in the words of sheet test --mutate", Required: true},
		{Name: "why", Type: "string", Doc: "why it makes no difference", Required: true},
	}}},
}

// checkRecord is the record of a check object of one kind or key: the word itself, the modifiers and its own
// parameters.
func checkRecord(name string, params []field) *record {
	r := &record{Name: "a " + name + " check",
		Fields: []field{{Name: "check", Type: "string", Doc: "the kind of check"}}}
	r.Fields = append(append(r.Fields, params...), modifiers...)
	return r
}

// keptRecord is checkRecord, made once for each entry of the registry, which its parameters stand for: a library asks
// 2,000 times.
func keptRecord(name string, params *[]field) *record {
	if r, ok := checkRecords.Load(params); ok {
		return r.(*record)
	}
	r, _ := checkRecords.LoadOrStore(params, checkRecord(name, *params))
	return r.(*record)
}

var checkRecords sync.Map // *[]field → *record

var constRecord = &record{Name: "a constant", Fields: []field{
	{Name: "value", Type: "any", Doc: "a number, text, yes/no, list, or table {key: value}", Required: true},
	{Name: "unit", Type: "string", Doc: "unit of the value"},
	{Name: "source", Type: "string", Doc: "where the value comes from", Required: true},
	{Name: "as_of", Type: "string", Doc: "the day the value was in force, YYYY-MM-DD"},
	{Name: "status", Type: "string", Doc: "verified, general or policy", Required: true, Enum: statuses},
	{Name: "review_by", Type: "string", Doc: "the day after which it must be looked at again, YYYY-MM-DD"},
}}

var penaltyRecord = &record{Name: "penalty", Fields: []field{
	{Name: "tolerance", Type: "number", Doc: "relative error that passes, default 0.01"},
	{Name: "critical_pct", Type: "number", Doc: "where high begins, default 10 (percent; below 1 it is a fraction)"},
	{Name: "noncritical_pct", Type: "number", Doc: "where mid begins, default 2"},
	{Name: "monetary_critical_pct", Type: "number", Doc: "where high begins for money"},
	{Name: "monetary_noncritical_pct", Type: "number", Doc: "where mid begins for money"},
	{Name: "monetary_material_abs", Type: "number", Doc: "an absolute error from which a mid error of money is high " +
		"(S4); no default"},
}}

var laneRecord = &record{Name: "lane_requirements", Fields: []field{
	{Name: "min_params_b", Type: "number", Doc: "billions of parameters"},
	{Name: "min_context_tokens", Type: "number", Doc: "context tokens"},
	{Name: "required_tools", Type: "strings", Doc: "tools the agent must have"},
	{Name: "required_modalities", Type: "strings", Doc: "modalities the model must read"},
	{Name: "min_vram_gb", Type: "number", Doc: "gigabytes of GPU memory"},
	{Name: "allowed_runtimes", Type: "strings", Doc: "runtimes it may run on"},
	{Name: "capability_tier", Type: "string", Doc: "least capability tier", Enum: classes},
}}

var mathRecord = &record{Name: "a math check", Fields: []field{
	{Name: "formula_id", Type: "string", Doc: "the calculation's id", Required: true},
	{Name: "formula", Type: "expr", Doc: "the calculation, over the sheet's inputs, constants and other calculations",
		Required: true},
	{Name: "label", Type: "string", Doc: "its name for people"},
	{Name: "inputs", Type: "any", Doc: "input names, or a worked example {name: number}"},
	{Name: "expected_result", Type: "number", Doc: "what the worked example gives; refused if it does not re-derive " +
		"(S53)"},
	{Name: "aliases", Type: "map", Doc: "other names: {formula_id or input: [names]} (S18)"},
	{Name: "tolerance", Type: "number", Doc: "relative tolerance in place of 0.01 (S6)"},
	{Name: "tolerance_abs", Type: "number", Doc: "absolute tolerance; passing either passes"},
	{Name: "monetary", Type: "boolean", Doc: "an amount of money (S9)"},
	{Name: "units", Type: "string", Doc: "units of the result (S10)"},
	{Name: "optional", Type: "boolean", Doc: "the submission may leave it out"},
	{Name: "tier", Type: "string", Doc: "weight in the score", Enum: tiers},
	{Name: "why", Type: "string", Doc: "what the number is for"},
	{Name: "fix", Type: "string", Doc: "what would be right"},
	{Name: "source", Type: "object", Doc: "where the formula comes from", Of: sourceRecord},
}}

var exampleRecord = &record{Name: "an example", Fields: []field{
	{Name: "name", Type: "string", Doc: "what it shows"},
	{Name: "submission", Type: "schema", Doc: "a worked submission", Required: true},
	{Name: "agent", Type: "schema", Doc: "the agent's profile, for lane requirements"},
	{Name: "evidence", Type: "map", Doc: "{id: {path, text}}: files that the example cites"},
	{Name: "prior", Type: "map", Doc: "{receipt hash: payload}: receipts that the example resolves"},
	{Name: "params", Type: "map", Doc: "{parameter: value}: what the configuration sets (S71)"},
	{Name: "expect", Type: "map", Doc: "{rule id: status} where it is not pass (or open, for a question)"},
	{Name: "trips", Type: "array", Doc: "changes and the rules that they flag",
		Of: &record{Name: "a trip", Fields: []field{
			{Name: "change", Type: "string", Doc: "the change in words", Required: true},
			{Name: "inputs", Type: "map", Doc: "inputs that change; calculations and the cells that hold the " +
				"inputs are worked anew"},
			{Name: "patch", Type: "array", Doc: "JSON Patch on the submission (RFC 6902)",
				Of: &record{Name: "a patch operation", Fields: []field{
					{Name: "op", Type: "string", Doc: "add, remove or replace", Required: true,
						Enum: []string{"add", "remove", "replace"}},
					{Name: "path", Type: "string", Doc: "JSON Pointer", Required: true},
					{Name: "value", Type: "any", Doc: "the new value"}}}},
			{Name: "agent", Type: "schema", Doc: "members of the profile that change"},
			{Name: "evidence", Type: "map", Doc: "{id: new text}: evidence that changes"},
			{Name: "params", Type: "map", Doc: "{parameter: value}: parameters that change"},
			{Name: "flags", Type: "strings", Doc: "the rules that flag, and no others", Required: true},
			{Name: "findings", Type: "strings", Doc: "codes that must be among the findings"},
		}}},
}}

var evalRecord = &record{Name: "eval_spec", Fields: []field{
	{Name: "required_output_schema", Type: "schema", Doc: "JSON Schema 2020-12 of the submission"},
	{Name: "deterministic_checks", Type: "list", Doc: "registry keys or check objects"},
	{Name: "math_checks", Type: "array", Doc: "the calculations", Of: mathRecord},
	{Name: "evidence_checks", Type: "list", Doc: "registry keys or check objects"},
	{Name: "rules", Type: "list", Doc: "policy gates"},
	{Name: "penalty", Type: "object", Doc: "penalty bands (S2–S6)", Of: penaltyRecord},
}}

// sheetRecord is a whole flight sheet.
var sheetRecord = &record{Name: "a flight sheet", Fields: []field{
	{Name: "schema", Type: "string", Doc: "names the format", Enum: []string{SheetSchema}},
	{Name: "slug", Type: "string", Doc: "name in lower-case-with-dashes", Required: true},
	{Name: "name", Type: "string", Doc: "title", Required: true},
	{Name: "version", Type: "string", Doc: "semantic version", Required: true},
	{Name: "lane", Type: "string", Doc: "what kind of work it judges", Required: true, Enum: lanes},
	{Name: "domain", Type: "string", Doc: "field of work, for the index"},
	{Name: "summary", Type: "string", Doc: "one sentence"},
	{Name: "purpose", Type: "string", Doc: "who uses it for what"},
	{Name: "assignment_instructions", Type: "string", Doc: "what to give an agent, as it is"},
	{Name: "required_inputs", Type: "array", Prose: true,
		Doc: "what the agent is given and must restate; texts alone name documents, and the numbers are then those " +
			"of the calculations (S78)", Of: inputRecord},
	{Name: "evidence", Type: "array", Doc: "the files of evidence that a run brings", Of: evidenceRecord},
	{Name: "params", Type: "map", Doc: "limits that the configuration sets, by name (S71)", Of: paramRecord},
	{Name: "expected_outputs", Type: "strings", Doc: "what must be delivered"},
	{Name: "audit_checks", Type: "array", Doc: "labels of automatic checks, and the checklist",
		Of: &record{Name: "an audit check", Fields: []field{
			{Name: "key", Type: "string", Doc: "registry key, or the id of a question", Required: true},
			{Name: "label", Type: "string", Doc: "in words; of a question, the question"},
			{Name: "kind", Type: "string", Doc: "auto or checklist", Enum: []string{"auto", "checklist"}},
			{Name: "category", Type: "string", Doc: "category", Enum: categories},
			{Name: "tier", Type: "string", Doc: "tier", Enum: tiers},
			{Name: "severity", Type: "string", Doc: "severity",
				Enum: []string{"critical", "noncritical"}},
			{Name: "per", Type: "string", Doc: "of a question: asked of every submission, or once of a batch of samples",
				Enum: []string{"submission", "batch"}},
			{Name: "why", Type: "string", Doc: "why it is checked"},
			{Name: "remedy", Type: "string", Doc: "what would be right"}}}},
	{Name: "eval_spec", Type: "object", Doc: "the rules", Required: true, Of: evalRecord},
	{Name: "lane_requirements", Type: "object", Doc: "what the stack must have (S42)", Of: laneRecord},
	{Name: "baseline", Type: "string", Doc: "canonical: the canonical submission and its checks; none: the " +
		"submission has its own shape", Enum: []string{"canonical", "none"}},
	{Name: "response", Type: "object", Doc: "the submission is the record of a call, and one of its members holds " +
		"the model's raw answer", Of: responseRecord},
	{Name: "consts", Type: "map", Doc: "named, dated, sourced constants", Of: constRecord},
	{Name: "lexicons", Type: "map", Doc: "named phrase lists"},
	{Name: "calendars", Type: "map", Doc: "named business calendars", Of: &record{Name: "a calendar", Fields: []field{
		{Name: "weekend", Type: "strings", Doc: "days that never count: monday … sunday"},
		{Name: "holidays", Type: "strings", Doc: "dates that do not count"},
		{Name: "source", Type: "string", Doc: "where the list comes from"}}}},
	{Name: "derive", Type: "array", Doc: "named values that are reported and never gated on",
		Of: &record{Name: "a derived value", Fields: []field{
			{Name: "id", Type: "string", Doc: "its name", Required: true},
			{Name: "expr", Type: "expr", Doc: "the value",
				Required: true}, {Name: "unit", Type: "string", Doc: "its unit"}}}},
	{Name: "scores", Type: "map", Doc: "which derived values are the fixed protocol's scores: {availability, " +
		"constraint_satisfaction, conditional_error, total}"},
	{Name: "gating_cap", Type: "number", Doc: "the highest total score, 0 to 100, of a sample whose gate is closed, " +
		"whatever rule closed it; a rule's own cap replaces it"},
	{Name: "gold", Type: "string", Doc: "the id of the evidence that holds the right answer: without it a sample is " +
		"adjudicated without an error score"},
	{Name: "errors", Type: "object", Doc: "what the error of each field is held against, for `referee summary`",
		Of: errorsRecord},
	{Name: "examples", Type: "array", Doc: "worked submissions; `referee sheet test` runs them", Of: exampleRecord},
	{Name: "notes", Type: "strings", Doc: "what a reader must know, uncertainties first"},
}}
