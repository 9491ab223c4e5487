package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
)

// structureKeywords are JSON Schema's words for "something is missing"; the others say that what is there has a wrong
// shape (S45).
var structureKeywords = map[string]string{"required": "missing", "minItems": "min_items",
	"minProperties": "min_properties", "dependentRequired": "dependent_required"}

// runStructure: the bytes are one strict JSON object, made for this sheet, and nothing required is missing (S45, S46).
func runStructure(a *audit, r *Rule) outcome {
	if a.doc == nil {
		a.flagUnreadable(r)
		return flagged
	}
	before := a.raised
	a.addAtom("structure.json_valid", "", true, "info", "sample", "one strict JSON object")
	a.checkAssignment(r)
	a.unsetParam(r)
	a.profileMatches(r)
	a.hiddenText(r)
	a.namedTwice(r)
	if a.Evidence != nil && a.Sheet.Rule("evidence_references_resolve") == nil {
		a.flagUnheldEvidence(r) // no other rule would say that declared evidence is not there
	}
	a.flagAbsent(r)
	return flaggedSince(a, before)
}

// flagAbsent flags what is required and not there: members that a schema requires, and the sheet's declared inputs (mid
// where the submission discloses them). Both the structure and the schema rule raise it: what is absent does not have
// its declared shape either, and if only one of them did, leaving out a value of the wrong type would raise the score
// (S51).
func (a *audit) flagAbsent(r *Rule) {
	for _, leaf := range a.schemaLeaves() {
		if code, ok := structureKeywords[leaf.Keyword]; ok {
			a.flagLeaf(r, "structure."+code, leaf)
		}
	}
	for _, in := range a.Sheet.Inputs {
		if !in.Optional && a.inputValue(in.Name).IsMissing() {
			a.inputAbsent(r, in)
		}
	}
}

// inputAbsent flags a required input that is not there; mid where the submission says so itself.
func (a *audit) inputAbsent(r *Rule, in Input) {
	if a.strangeWord(in.Name) {
		return // it is there, and inDomain says what is wrong with it
	}
	tier := High
	if a.missing[normalName(in.Name)] {
		tier = Mid
	}
	pointer := inputPointer(in.Name)
	id := a.addAtom("structure.missing", pointer, false, atomSeverity(tier), "field", "the input is absent")
	a.addFinding(r, Finding{Code: "structure.missing", Tier: tier, Stage: StageStructure, Pointer: pointer,
		Atoms:   []string{id},
		Message: fmt.Sprintf("the input %q is absent", in.Name),
		Fix:     &Fix{Text: fmt.Sprintf("supply inputs.%s", in.Name)}})
}

// flagUnreadable is the one finding that a submission gets which cannot be read.
func (a *audit) flagUnreadable(r *Rule) {
	message := "the submission cannot be read"
	if a.readErr != nil {
		message = a.readErr.Message
	}
	id := a.addAtom("structure.json_valid", "", false, "critical", "sample", message)
	a.addFinding(r, Finding{Code: "structure.json_valid", Tier: High, Stage: StageStructure, Atoms: []string{id},
		Message: message,
		Fix: &Fix{Text: "write one JSON object: UTF-8 without byte order mark, no duplicate keys, at most 64 levels " +
			"deep, 500,000 values and 5 MiB, nothing after it"}})
}

// unsetParam: a limit that nobody has set decides nothing. Who runs audits refuses before that (WithParams); this is
// for who forgot to.
func (a *audit) unsetParam(r *Rule) {
	if p := a.Sheet.unsetParam(); p != nil {
		missing := p.missingError(a.Sheet.Slug)
		a.addFinding(r, Finding{Code: "structure.param_missing", Tier: High, Message: missing.Message,
			Fix: &Fix{Text: missing.Hint}})
	}
}

// assignment: an answer to another assignment is not an answer to this one (S46).
func (a *audit) checkAssignment(r *Rule) {
	id := a.doc.Get("assignment_id")
	got, ok := id.Str()
	if id == nil || ok && got == a.Sheet.Slug {
		return
	}
	a.addFinding(r, Finding{Code: "structure.assignment_mismatch", Tier: Mid, Pointer: "/assignment_id",
		Message: fmt.Sprintf("assignment_id is %s; this sheet is %q", clipText(string(id.Source(a.Bytes))), a.Sheet.Slug),
		Fix: &Fix{Text: "answer the assignment that was given", JSONPatch: singlePatch("replace", "/assignment_id",
			string(appendString(nil, a.Sheet.Slug)))}})
}

// profileMatches: where the configuration pins the agent's profile, the run must not state another (S42).
func (a *audit) profileMatches(r *Rule) {
	if a.Declared == nil || a.Agent == nil {
		return
	}
	if diff := a.Agent.differencesFrom(a.Declared); len(diff) > 0 {
		a.addFinding(r, Finding{Code: "lane.profile_mismatch", Tier: Mid, Stage: StageLane, Bucket: StackFit,
			Message: "run.json states another agent profile than the configuration pins: " + joinListed(diff),
			Fix:     &Fix{Text: "state the profile that ran, or have the configuration changed"}})
	}
}

// schemaLeaves are the violations of the sheet's output schema and of its declared inputs' types. Two rules ask for
// them; they are found once.
func (a *audit) schemaLeaves() []schema.Leaf {
	if a.validated {
		return a.violations
	}
	var out []schema.Leaf
	doc := schema.Prepare(a.doc)
	if a.showsAll() {
		doc.ShowsAll()
	}
	for _, s := range []*schema.Schema{a.Sheet.canonical, a.Sheet.outputs, a.Sheet.inputs} {
		if s != nil {
			out = append(out, doc.Validate(s)...)
		}
	}
	a.violations, a.validated = out, true
	return out
}

// flagLeaf turns a violation into a finding, at the place where the missing member would stand.
func (a *audit) flagLeaf(r *Rule, code string, leaf schema.Leaf) {
	pointer := leaf.Pointer
	if leaf.Property != "" && leaf.Keyword != "additionalProperties" {
		pointer = strictjson.JoinPointer(pointer, leaf.Property)
	}
	stage, _, _ := strings.Cut(code, ".")
	id := a.addAtom(code, pointer, false, "critical", "field", leaf.Message)
	a.addFinding(r, Finding{Code: code, Stage: Stage(stage), Pointer: pointer, Atoms: []string{id}, Message: leaf.Message,
		Fix: a.fixLeaf(leaf)})
}

func (a *audit) fixLeaf(leaf schema.Leaf) *Fix {
	switch {
	case leaf.Keyword == "required":
		return &Fix{Text: fmt.Sprintf("add the member %q", leaf.Property)}
	case leaf.Want != "":
		return &Fix{Text: "write " + leaf.Want}
	}
	return nil
}

// runSchema: what is there has the declared shape, and every number is one that can be computed with (S11).
func runSchema(a *audit, r *Rule) outcome {
	before := a.raised
	a.flagAbsent(r)
	out := strictjson.OutOfRange(a.doc)
	for _, v := range out {
		id := a.addAtom("schema.number_out_of_range", v.Pointer(), false, "critical", "field", clipText(v.Text))
		a.addFinding(r, Finding{Code: "schema.number_out_of_range", Pointer: v.Pointer(), Atoms: []string{id},
			Message: fmt.Sprintf("%s is out of range: a number has at most 64 characters, 34 significant digits and "+
				"an exponent within ±300; it counts as missing", clipText(v.Text)),
			Fix: &Fix{Text: "round the number, or choose larger units"}})
	}
	for _, leaf := range a.schemaLeaves() {
		if _, structural := structureKeywords[leaf.Keyword]; structural ||
			slices.ContainsFunc(out, func(v *strictjson.Value) bool { return v.Pointer() == leaf.Pointer }) {
			continue
		}
		a.flagLeaf(r, "schema."+leaf.Keyword, leaf)
	}
	a.inDomain(r)
	return flaggedSince(a, before)
}

// canonicalKeys are the members of the canonical submission with their JSON types (formats.md).
var canonicalKeys = []struct{ name, kind string }{
	{"assignment_id", "string"}, {"agent_summary", "string"}, {"inputs_used", "array"}, {"missing_inputs", "array"},
	{"claims", "array"}, {"calculations", "array"},
	{"risks", "array"}, {"assumptions", "array"}, {"open_questions", "array"}, {"final_output", ""},
	{"self_check", "object"},
}

// canonicalSchema is the JSON Schema of the canonical submission. Members may be objects of the author's own shape;
// those that the engine reads have theirs.
func canonicalSchema() string {
	var required, properties []string
	for _, k := range canonicalKeys {
		required = append(required, `"`+k.name+`"`)
		if k.kind != "" {
			properties = append(properties, fmt.Sprintf(`"%s":%s`, k.name, canonicalType(k.name, k.kind)))
		}
	}
	properties = append(properties, `"inputs":{"type":"object"}`)
	return `{"type":"object","required":[` + strings.Join(required, ",") + `],"properties":{` + strings.Join(properties,
		",") + `}}`
}

func canonicalType(name, kind string) string {
	switch name {
	case "calculations":
		return `{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"formula":{"type":"string"},
			"units":{"type":"string"},
			"result":{"type":["number","null"]},"inputs":{"type":"object","additionalProperties":{"type":["number","array",
			"null"],"items":{"type":"number"}}},
			"sources":{"type":"object","additionalProperties":{"type":"string"}}}}}`
	case "claims":
		return `{"type":"array","items":{"type":"object","required":["claim"],"properties":{"claim":{"type":"string"},` +
			`"quote":{"type":"string"}}}}`
	case "missing_inputs":
		return `{"type":"array","items":{"type":"string"}}`
	}
	return `{"type":"` + kind + `"}`
}

// runRequiredFields: the canonical members are all there.
func runRequiredFields(a *audit, r *Rule) outcome {
	before := a.raised
	for _, k := range canonicalKeys {
		if a.doc.Get(k.name).IsMissing() {
			a.missingMember(r, "/"+k.name, k.name)
		}
	}
	return flaggedSince(a, before)
}

// missingMember flags one absent member.
func (a *audit) missingMember(r *Rule, pointer, name string) {
	id := a.addAtom("structure.missing", pointer, false, "critical", "field", "the member is absent")
	a.addFinding(r, Finding{Code: "structure.missing", Pointer: pointer, Atoms: []string{id},
		Message: fmt.Sprintf("the member %q is missing", name),
		Fix:     &Fix{Text: fmt.Sprintf("add the member %q", name)}})
}

// flaggedSince is flag if findings were raised since, else pass.
func flaggedSince(a *audit, before int) outcome {
	if a.raised > before {
		return flagged
	}
	return passed
}

// runJSONValid: this key states what the structure stage has found.
func runJSONValid(a *audit, r *Rule) outcome {
	if a.doc == nil {
		a.flagUnreadable(r)
		return flagged
	}
	return passed
}

// runCalculationsPresent: there are calculations, and each has what re-deriving it needs.
func runCalculationsPresent(a *audit, r *Rule) outcome {
	list := a.doc.Get("calculations")
	if len(list.Elements()) == 0 {
		a.addFinding(r, Finding{Code: "structure.calculations_missing", Pointer: "/calculations",
			Message: "there are no calculations to re-derive", Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	out := passed
	for _, c := range a.calcs {
		for _, name := range []string{"name", "formula", "inputs", "result", "units"} {
			if !c.v.Get(name).IsMissing() || name == "formula" && c.check != nil && c.check.formula == nil {
				continue
			}
			if name == "name" && c.name != "" {
				continue
			}
			a.missingMember(r, c.pointer+"/"+name, name)
			out = flagged
		}
	}
	return out
}
