package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/strictjson"
)

// RuleKind is one kind of check that a sheet may declare as an object {"check": "<name>", …}. The loader, `referee
// rules`, docs/rules.md and the editors' schema are all made from this table.
type RuleKind struct {
	Name   string
	Title  string
	Doc    string // when it passes, and what a failure means
	Stage  Stage
	Tier   Tier // where the sheet declares none
	Since  string
	Params []field
	Codes  []string // the finding codes it can raise

	compile func(*loader, *Rule, *strictjson.Value) // turns a check object of the kind into something that runs
}

// RuleKey is a check with nothing to configure but what it may take: a sheet names it as a plain string (rules.md 1.5).
type RuleKey struct {
	Name     string
	Title    string
	Why      string
	Remedy   string
	Stage    Stage
	Tier     Tier
	Since    string
	Baseline bool // brought by "baseline": "canonical"
	Params   []field
	Codes    []string

	run func(*audit, *Rule) outcome
}

var (
	pName = func(name, doc string) field { return field{Name: name, Type: "string", Doc: doc} }
	pNeed = func(name, kind, doc string) field { return field{Name: name, Type: kind, Doc: doc, Required: true} }
	pNum  = func(name, doc string) field { return field{Name: name, Type: "number", Doc: doc} }
	pBool = func(name, doc string) field { return field{Name: name, Type: "boolean", Doc: doc} }
	pList = func(name, doc string) field { return field{Name: name, Type: "strings", Doc: doc} }
	pAny  = func(name, doc string) field { return field{Name: name, Type: "any", Doc: doc} }
	pExpr = func(name, doc string) field { return field{Name: name, Type: "expr", Doc: doc} }
)

// RuleKinds lists the kinds in the order of rules.md 1.3.
func RuleKinds() []RuleKind { return slices.Clone(ruleKinds) }

// ImplicitRules lists the rules that every sheet has without naming them as checks (S36): they are no words for
// "check".
func ImplicitRules() []RuleKind { return slices.Clone(implicitRules) }

var implicitRules = []RuleKind{
	{Name: "structure", Title: "The submission can be read and nothing required is missing", Stage: StageStructure,
		Tier: High, Since: "1",
		Doc: "Fails on bytes that are not one strict JSON object (S46), on what the schema or the sheet requires " +
			"and is absent (S45), on an answer to another assignment, on declared evidence that is not there, on a " +
			"text that hides what it holds (S80), and on two values under one name, written in two ways.",
		Codes: []string{"structure.json_valid", "structure.missing", "structure.min_items", "structure.min_properties",
			"structure.dependent_required", "structure.assignment_mismatch", "structure.param_missing",
			"structure.name_twice", "lane.profile_mismatch", "evidence.hidden_text"}},
	{Name: "schema", Title: "What is there has the declared shape", Stage: StageSchema, Tier: High, Since: "1",
		Doc: "Fails where a value breaks the output schema or a declared input's type, where a number is out of " +
			"range (S11) or an input outside of its domain (S72, S73), where the submission sets a parameter (S71), " +
			"and where a row lacks a member that a rule reads.",
		Codes: []string{"schema.<keyword>", "schema.number_out_of_range", "schema.out_of_domain", "schema.param_set",
			"schema.row_error", "schema.date"}},
	{Name: "response", Title: "The raw answer is one JSON object with every field", Stage: StageStructure, Tier: High,
		Since: "1",
		Doc: "Only of a sheet with `response`. Fails where the model's raw answer is not one strict JSON object " +
			"(one code fence around all of it may stand, prose may not), where a declared field is absent or no " +
			"number, " +
			"and where the submission states the answer twice or not at all. What cannot be read is absent to every " +
			"other rule. A series of another length than asked for is read as far as it goes, and fails.",
		Codes: []string{"protocol.response_unreadable", "protocol.answer_length", "protocol.answer_shape",
			"structure.missing", "math.not_a_number"}},
	{Name: "math.<formula_id>", Title: "A declared calculation is stated once and re-derives", Stage: StageMath,
		Tier: High, Since: "1",
		Doc: "Fails where the claim differs from the agent's own formula or the sheet's by more than the penalty " +
			"bands allow (S1–S7), where the formula is another function (S16), where it or what it restates lies " +
			"across a gate (S14), where it restates an input otherwise (S17a), or where it cannot be computed.",
		Codes: []string{"math.mismatch", "math.coarse_rounding", "math.formula_substituted", "math.straddles_gate",
			"math.calc_missing", "math.duplicate_calc", "math.inputs_missing", "math.result_missing",
			"math.undefined", "math.too_large", "math.irr_ambiguous", "math.formula_unparseable", "math.too_complex",
			"math.input_restated"}},
	{Name: "math.rederivation", Title: "Calculations that the sheet does not know re-derive too", Stage: StageMath,
		Tier: High, Since: "1",
		Doc: "One rule for all of them, so that adding calculations does not pad the score (S21).",
		Codes: []string{"math.mismatch", "math.coarse_rounding", "math.undefined", "math.formula_unparseable",
			"math.too_complex", "math.inputs_missing", "math.input_restated", "math.result_missing"}},
	{Name: "inputs_held", Title: "Every input that evidence must hold is held by it", Stage: StageEvidence, Tier: High,
		Since: "2",
		Doc: "Only of a sheet with such inputs (S70). Fails where the evidence does not hold an input (no such " +
			"file, row or column, or nothing cited), where it holds another value (S62: equal, or rounded as written " +
			"by at most 0.5 %), and where an input that restates a parameter differs from it. The tier is that of " +
			"the heaviest gate that rests on the input.",
		Codes: []string{"evidence.input_unheld", "evidence.input_mismatch", "evidence.param_set"}},
	{Name: "lane.<requirement>", Title: "The stack has what the lane requires", Stage: StageLane, Tier: High,
		Since: "1",
		Doc:   "Fails where the agent's profile is below a requirement; an unknown profile field skips (S42).",
		Codes: []string{"lane.<requirement>"}},
	{Name: "stated_figures", Title: "A person confirms the figures that come from the agent alone",
		Stage: StageChecklist, Tier: Mid, Since: "2",
		Doc: "Only of a sheet with inputs that nothing but the agent states and a mid or high gate rests on (S70): " +
			"one question with their values, open until a person answers.",
		Codes: []string{"checklist.stated_figures"}},
	{Name: "checklist.<key>", Title: "A person's answer to a question", Stage: StageChecklist, Tier: Mid, Since: "1",
		Doc:   "Open until a person answers; an answer of no is a finding with the person's note (S38).",
		Codes: []string{"checklist.<key>"}},
}

// RuleKeys lists the registry keys in the order of rules.md 1.5.
func RuleKeys() []RuleKey { return slices.Clone(ruleKeys) }

var ruleKinds = []RuleKind{
	{Name: "required", compile: (*loader).compileRequired, Title: "Members are present", Stage: StageStructure,
		Tier: High, Since: "1",
		Doc: "Passes when every path is present and, with nonempty, not blank. A finding a missing path, the " +
			"first ten named.",
		Params: []field{pNeed("paths", "strings", "paths into the submission; [*] stands for every item"),
			pBool("nonempty", "blank values count as missing")},
		Codes: []string{"structure.missing"}},
	{Name: "schema", compile: (*loader).compileSchemaPart, Title: "A part has a shape", Stage: StageSchema, Tier: High,
		Since: "1",
		Doc: "Passes when the value at path satisfies the constraints; they are compiled to JSON Schema 2020-12. An " +
			"absent path passes unless required says otherwise.",
		Params: []field{pNeed("path", "string", "path of the value"), pName("type", "JSON type"),
			pAny("enum", "allowed values"), pName("pattern", "RE2 pattern of a string"),
			pNum("min", "least number"), pNum("max", "greatest number"), pNum("min_items", "fewest items"),
			pName("unique_by", "member that must differ between items"),
			pBool("additional", "false: no member beyond the named keys"),
			pList("keys", "members that may occur when additional is false")},
		Codes: []string{"schema.<keyword>"}},
	{Name: "recompute", compile: (*loader).compileRecompute, Title: "A value re-derives", Stage: StageMath, Tier: High,
		Since: "1",
		Doc: "Passes when the value at path (or the calculation calc) equals formula within the penalty bands (S2, " +
			"S2a); the band sets the tier.",
		Params: []field{pName("calc", "calculation id"), pName("path", "path of the claimed value"),
			pNeed("formula", "expr", "what it must equal"), pNum("tolerance", "relative tolerance, default 0.01"),
			pNum("tolerance_abs", "absolute tolerance"), pBool("monetary", "an amount of money (S4, S9)"),
			pName("units", "units of the value")},
		Codes: []string{"math.mismatch", "math.coarse_rounding", "math.undefined"}},
	{Name: "bind", compile: (*loader).compileBind, Title: "One name, one value", Stage: StageMath, Tier: High,
		Since: "1",
		Doc: "Passes when an input of a calculation equals the bound source: an input of the submission, a path, " +
			"or another calculation's recomputed result.",
		Params: []field{pNeed("calc", "string", "calculation id"), pNeed("input", "string", "the calculation's input"),
			pNeed("to", "expr", "what it must equal"), pNum("tolerance", "relative tolerance, default 0.01")},
		Codes: []string{"math.bind_mismatch"}},
	{Name: "expr", compile: (*loader).compileExpr, Title: "A gate holds", Stage: StagePolicy, Tier: High, Since: "1",
		Doc:    "Passes when the expression is true; false is a flag, unknown is skip with the missing operands (S22).",
		Params: []field{pNeed("expr", "expr", "the condition")}, Codes: []string{"policy.<rule id>",
			"math.straddles_gate", "evidence.operand_missing", "evidence.operand_type", "evidence.lookup_missing",
			"evidence.prior_unresolved", "policy.undecided"}},
	{Name: "for_each", compile: (*loader).compileForEach, Title: "Every row holds", Stage: StagePolicy, Tier: High,
		Since: "1",
		Doc:   "Passes when the condition is true for every row; the offending keys are named.",
		Params: []field{pNeed("over", "expr", "the rows"), pExpr("where", "only rows for which this holds"),
			pNeed("each", "expr", "the condition on a row"), pNum("max_violations", "rows that may fail, default 0"),
			pNum("max_rate", "share of rows that may fail"), pName("key", "member that names a row")},
		Codes: []string{"policy.<rule id>"}},
	{Name: "range", compile: (*loader).compileRange, Title: "Numbers lie within limits", Stage: StageMath, Tier: High,
		Since: "1",
		Doc: "ratio = |value − middle| / half-span; above 1 is mid, above `ratio` (1.5) high; a value that is not a " +
			"number is high. `over` is an object, or an array of them.",
		Params: []field{pNeed("over", "string", "path of the object or rows"), {Name: "limits", Type: "map",
			Doc: "member: [low, high]", Required: true, Of: nil}, pNum("ratio", "where mid becomes high, default 1.5"),
			pBool("optional", "an absent member is not checked")},
		Codes: []string{"math.out_of_range", "math.not_a_number"}},
	{Name: "jump", compile: (*loader).compileJump, Title: "Steps are small enough", Stage: StageMath, Tier: High,
		Since: "1",
		Doc: "ratio = |step| / threshold (angles: the shortest arc); above 1 is mid, above `ratio` (1.5) high. " +
			"`series` is an array of objects, or `cur` and `prev` are two objects; a first sample without " +
			"predecessor skips.",
		Params: []field{pName("series", "path of the rows"), pName("cur", "path of the current sample"),
			pName("prev", "path of the one before"), {Name: "thresholds", Type: "map", Doc: "member: largest step",
				Required: true},
			pList("angle_fields", "members that are angles in degrees"),
			pNum("ratio", "where mid becomes high, default 1.5"),
			pNum("factor", "multiplies every threshold, default 1")},
		Codes: []string{"math.jump"}},
	{Name: "agree", compile: (*loader).compileAgree, Title: "Two values agree", Stage: StageMath, Tier: High,
		Since: "1",
		Doc: "Passes when the difference is at most warn; at most critical is mid, beyond it high. metric: abs, rel " +
			"(to right) or angle.",
		Params: []field{pNeed("left", "expr", "one value"), pNeed("right", "expr", "the other"),
			{Name: "metric", Type: "string", Doc: "how to measure", Enum: []string{"abs", "rel", "angle"}},
			pNeed("warn", "number", "largest difference that passes"),
			pNum("critical", "largest difference that is mid; default warn")},
		Codes: []string{"agree.<rule id>"}},
	{Name: "document", compile: (*loader).compileDocument, Title: "The text of an agreement agrees with itself",
		Stage: StagePolicy, Tier: High, Since: "2",
		Doc: "Passes when the text has none of the problems that find names. The text is read as people see it (S80); " +
			"what is ambiguous is passed over. An empty text, and one of more than 1 MiB, is undecided.",
		Params: []field{pNeed("text", "expr", "the text"),
			{Name: "find", Type: "string", Required: true, Doc: "references: to sections, clauses, articles that the " +
				"text does not have; numbering: gaps and repetitions; placeholders: what nobody filled in; figures: " +
				"words and figures that differ; contradictions: two dates, notice periods, percentages or amounts for " +
				"the same thing; attachments: exhibits and schedules that are not attached; names: almost a party's; " +
				"signatures: parties without a block; undefined, unused: defined terms",
				Enum: []string{"references", "numbering", "placeholders", "figures", "contradictions", "attachments",
					"names", "signatures", "undefined", "unused"}},
			pExpr("names", "list: the parties, or what is attached"),
			{Name: "stated", Type: "map", Doc: "what happens (maturity, effective, expiration, …): its date, as an " +
				"expression, which the text must not contradict"}},
		Codes: []string{"document.<find>"}},
	{Name: "evidence", compile: (*loader).compileEvidence, Title: "Evidence is held and fresh", Stage: StageEvidence,
		Tier: Mid, Since: "1",
		Doc: "Passes when each named item exists, its bytes hash to sha256 where given, there are at least " +
			"min_items, each quote stands in the evidence its row cites, and no item is older than max_age_days.",
		Params: []field{pList("ids", "evidence ids that must be declared and held"),
			{Name: "sha256", Type: "map", Doc: "id: expected SHA-256, as text or an expression"},
			pNum("min_items", "fewest items held"), pBool("refs_resolve", "every claim's reference must hit"),
			{Name: "quote", Type: "object", Doc: "rows whose quotes must stand in the cited evidence",
				Of: &record{Name: "quote", Fields: []field{pNeed("over", "string", "path of the rows"),
					pNeed("quote", "string", "member with the quote"),
					pName("ref", "member with the reference"), pName("id", "evidence id for every row"),
					pNum("min_len", "shortest quote that is looked for")}}},
			pExpr("dated", "date of the evidence"), pExpr("as_of", "date to measure its age at"),
			pNum("max_age_days", "oldest allowed")},
		Codes: []string{"evidence.missing_file", "evidence.hash_mismatch", "evidence.quote_not_found", "evidence.stale",
			"evidence.too_few"}},
	{Name: "stack_fit", compile: (*loader).compileStackFit, Title: "The stack meets the lane", Stage: StageLane,
		Tier: High, Since: "1",
		Doc: "Passes when the agent's profile meets the minimum; an unknown profile field skips, never fails (S42).",
		Params: []field{pName("min_class", "edge, small, mid or frontier"),
			pNum("min_params_b", "billions of parameters"), pNum("min_context", "context tokens"),
			pList("tools", "tools it must have"),
			pNum("min_vram_gb", "gigabytes of GPU memory"), pExpr("different_from", "the model must differ from this")},
		Codes: []string{"lane.<requirement>"}},
	{Name: "checklist", compile: (*loader).compileChecklist, Title: "A person answers yes or no", Stage: StageChecklist,
		Tier: Mid, Since: "1",
		Doc: "Open until a person answers; the answer is hashed into the receipt (S38). Opinion words are " +
			"refused: a question must have one right answer.",
		Params: []field{pNeed("question", "string", "a question with a yes or no"), pBool("required", "default true")},
		Codes:  nil},
	{Name: "match", compile: (*loader).compileMatch, Title: "A member has a value", Stage: StageStructure, Tier: High,
		Since: "1",
		Doc: "The source documents' form: {check: any name, match_field, and one of expected_value, " +
			"expected_values, type, required_keys}. match_field is a path or len(path).",
		Params: []field{pNeed("match_field", "string", "path, or len(path)"), pAny("expected_value", "the value"),
			pAny("expected_values", "any of these"), pName("type", "JSON type"),
			pList("required_keys", "members of the object")},
		Codes: []string{"structure.match"}},
}

var pCanon = []string{"structure.missing"}

var ruleKeys = []RuleKey{
	{Name: "json_valid", run: runJSONValid, Title: "The submission is one strict JSON object", Stage: StageStructure,
		Tier: High, Since: "1", Baseline: true, Codes: []string{"structure.json_valid"},
		Why:    "Bytes that two readers read differently cannot be judged.",
		Remedy: "Write one JSON object: UTF-8, no duplicate keys, nothing after it."},
	{Name: "required_fields_present", run: runRequiredFields,
		Title: "Every member of the canonical submission is present", Stage: StageStructure, Tier: High, Since: "1",
		Baseline: true, Codes: pCanon,
		Why:    "A member that is left out hides what it would have said.",
		Remedy: "Add the member; an empty list says that there is nothing to say."},
	{Name: "calculations_present", run: runCalculationsPresent,
		Title: "There are calculations, and each has name, formula, inputs, result and units", Stage: StageStructure,
		Tier: High, Since: "1", Baseline: true, Codes: []string{"structure.calculations_missing", "structure.missing"},
		Why:    "A number without its calculation cannot be re-derived.",
		Remedy: "State each calculation with its formula, its inputs, its result and its units."},
	{Name: "evidence_references_present", run: runReferencesPresent, Title: "Every claim has a reference to evidence",
		Stage: StageEvidence, Tier: Mid, Since: "1", Baseline: true, Codes: []string{"evidence.all_claims_cited"},
		Why:    "A claim that cites nothing rests on nothing.",
		Remedy: "Give each claim an evidence_reference: a declared id, with a selector where it helps."},
	{Name: "all_claims_cited", run: runAllClaimsCited, Title: "No claim cites a blank or a placeholder",
		Stage: StageEvidence, Tier: Mid, Since: "1", Baseline: true, Codes: []string{"evidence.all_claims_cited"},
		Why: "A placeholder looks like a source and is none.", Remedy: "Name the evidence, or drop the claim."},
	{Name: "claim_numbers", run: runClaimNumbers, Title: "Numbers in words are the numbers that are computed",
		Stage: StageEvidence, Tier: Low, Since: "2", Baseline: true, Codes: []string{"evidence.claim_number"},
		Why:    "A reader of the summary acts on its number, not on the calculation's.",
		Remedy: "Say the computed number, rounded as you like, or name what the other number is."},
	{Name: "evidence_references_resolve", run: runReferencesResolve,
		Title: "Every reference names declared evidence and its selector hits", Stage: StageEvidence, Tier: Mid,
		Since: "1", Baseline: true,
		Params: []field{pBool("strict_references", "free text that names no declared id is mid instead of low")},
		Codes: []string{"evidence.unresolved", "evidence.missing_file", "evidence.no_hit", "evidence.not_held",
			"evidence.refused"},
		Why:    "A reference that leads nowhere proves nothing.",
		Remedy: "Declare the evidence in run.json and point at what is there."},
	{Name: "quotes_verbatim", run: runQuotesVerbatim, Title: "Every quote stands in the evidence it cites",
		Stage: StageEvidence, Tier: High, Since: "1", Baseline: true, Codes: []string{"evidence.quote_not_found",
			"evidence.quote_value"},
		Why:    "A quote that is not in the document was made up.",
		Remedy: "Quote the evidence word for word, or drop the quote."},
	{Name: "inputs_match_evidence", run: runInputsMatchEvidence, Title: "Inputs equal the cells they cite",
		Stage: StageEvidence, Tier: High, Since: "1", Baseline: true,
		Params: []field{pBool("require_sources", "an input without a source is flagged")},
		Codes: []string{"evidence.input_mismatch", "evidence.input_unsourced", "evidence.no_hit",
			"evidence.not_a_number", "evidence.ambiguous"},
		Why:    "A right formula over an invented input is a wrong answer.",
		Remedy: "Take the input from the cited cell, or cite the right one."},
	{Name: "inputs_consistent", run: runInputsConsistent, Title: "One input name has one value in all calculations",
		Stage: StageMath, Tier: High, Since: "1", Codes: []string{"math.input_inconsistent"},
		Why: "The same name with two values means that one of them is wrong.", Remedy: "Use one value, or two names."},
	{Name: "assumptions_labeled", run: runAssumptionsLabeled, Title: "Every assumption says that it is one",
		Stage: StageEvidence, Tier: Mid, Since: "1", Baseline: true, Codes: []string{"evidence.assumptions_labeled"},
		Why: "An unlabelled assumption reads as a fact.", Remedy: `Write {"assumption": …, "label": "assumption"} or ` +
			`begin the text with "Assumption:".`},
	{Name: "missing_inputs_disclosed", run: runMissingInputsDisclosed,
		Title: "Every absent required input is named in missing_inputs", Stage: StageEvidence, Tier: Mid, Since: "1",
		Baseline: true, Codes: []string{"evidence.missing_input_undisclosed"},
		Why:    "What is missing must be said, so that a person can supply it.",
		Remedy: "Add the input's name to missing_inputs, or supply it."},
	{Name: "self_check_true", run: runSelfCheckTrue, Title: "Every self-check is true", Stage: StageEvidence, Tier: Mid,
		Since: "1", Codes: []string{"evidence.self_check_false"},
		Why: "An agent that fails its own check has not finished.", Remedy: "Finish what the check asks for."},
	{Name: "self_check_consistent", run: runSelfCheckConsistent,
		Title: "The self-check does not claim what the audit refutes", Stage: StageEvidence, Tier: Low, Since: "1",
		Codes:  []string{"evidence.self_check_inconsistent"},
		Why:    "self_check is a claim like any other (S48).",
		Remedy: "Set the self-check to what is so, or supply the sources."},
	{Name: "final_output_consistent", run: runFinalOutputConsistent, Title: "The final output says what the gates give",
		Stage: StagePolicy, Tier: Mid, Since: "1", Codes: []string{"policy.final_output_inconsistent"},
		Why: "The last line is what a reader acts on (S48).", Remedy: "State the outcome that the gates give."},
	{Name: "sections_present", run: runSectionsPresent, Title: "The final output has the named sections",
		Stage: StageStructure, Tier: Mid, Since: "1",
		Params: []field{pList("sections", "headings; default: the sheet's expected outputs")},
		Codes:  []string{"structure.section_missing"},
		Why:    "A section that is left out is work not done.", Remedy: "Add the section under its name."},
	{Name: "output_nonempty", run: runOutputNonempty, Title: "There is a final output", Stage: StageStructure,
		Tier: Mid, Since: "1",
		Params: []field{pNum("min_chars", "fewest code points, default 1")}, Codes: []string{"structure.output_empty"},
		Why: "Nothing was delivered.", Remedy: "State the result in final_output."},
	{Name: "numbers_present", run: runNumbersPresent, Title: "The final output states a number", Stage: StageStructure,
		Tier: Low, Since: "1", Codes: []string{"structure.numbers_missing"},
		Why: "A result without a figure cannot be used.", Remedy: "State the figures."},
	{Name: "specs_present", run: runSpecsPresent, Title: "The agent's profile names its model", Stage: StageStructure,
		Tier: Low, Since: "1", Codes: []string{"structure.specs_missing"},
		Why: "Who did the work must be on the record.", Remedy: "Name the model in run.json."},
	{Name: "citations_present", run: runCitationsPresent, Title: "The final output or a claim cites its sources",
		Stage: StageEvidence, Tier: Mid, Since: "1", Codes: []string{"evidence.citations_missing"},
		Why: "A reader must be able to look it up.", Remedy: "Cite the evidence."},
	{Name: "evidence_attached", run: runEvidenceAttached, Title: "The run has evidence", Stage: StageEvidence,
		Tier: Mid, Since: "1", Codes: []string{"evidence.none_attached"},
		Why: "Work without evidence cannot be checked.", Remedy: "Declare the evidence in run.json."},
}

// kindNamed and keyNamed look a check up; nil when there is none.
func kindNamed(name string) *RuleKind {
	i := slices.IndexFunc(ruleKinds, func(k RuleKind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &ruleKinds[i]
}

func keyNamed(name string) *RuleKey {
	i := slices.IndexFunc(ruleKeys, func(k RuleKey) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &ruleKeys[i]
}

// checkNames lists every word that "check" may hold.
func checkNames() []string {
	var out []string
	for _, k := range ruleKinds {
		out = append(out, k.Name)
	}
	for _, k := range ruleKeys {
		out = append(out, k.Name)
	}
	return out
}
