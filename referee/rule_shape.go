package referee

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
)

// loadSchemas compiles the schemas that a submission is held against.
func (l *loader) loadSchemas() {
	s := l.sheet
	if v := s.Doc.At("/eval_spec/required_output_schema"); v != nil {
		s.outputs = l.compileSchema(v, "required_output_schema")
	}
	if s.Baseline == "canonical" {
		s.canonical = sharedSchema()
	}
	if len(s.Inputs) > 0 {
		s.inputs = l.ownSchema(s.Doc, "declared inputs", s.inputsSchema(inputType))
	}
}

// sharedSchema is that of the canonical submission, one for all sheets. It is the engine's own, and compiles.
var sharedSchema = sync.OnceValue(func() *schema.Schema {
	l := &loader{}
	out := l.ownSchema(&strictjson.Value{}, "canonical submission", canonicalSchema())
	if out == nil {
		panic("referee: the schema of the canonical submission does not compile")
	}
	return out
})

func (l *loader) compileSchema(v *strictjson.Value, what string) *schema.Schema {
	out, err := schema.Compile(what, v)
	if err != nil {
		p := l.problems.addProblem(v, "schema", "%v", err)
		if se, ok := err.(*schema.Error); ok {
			p.Line, p.Column, p.Message = se.Pos.Line, se.Pos.Col, what+": "+se.Message
		}
	}
	return out
}

// ownSchema compiles a schema that the engine writes itself, from what stands at a place of the sheet.
func (l *loader) ownSchema(at *strictjson.Value, what, src string) *schema.Schema {
	v, err := strictjson.Parse([]byte(src), strictjson.DocumentLimits)
	if err != nil {
		l.problems.addProblem(at, "schema", "%s: %v", what, err)
		return nil
	}
	out, err := schema.Compile(what, v)
	if err != nil {
		l.problems.addProblem(at, "schema", "%v", err)
	}
	return out
}

// inputsSchema is the JSON Schema of the submission's inputs object. Domains are not in it: they have a finding of
// their own (S72). A declared input may be null: it is then missing, which is what missing_inputs_disclosed and the
// gates speak of.
func (s *Sheet) inputsSchema(typeOf func(Input) string) string {
	var properties []string
	for _, in := range s.Inputs {
		body := typeOf(in)
		if body == "" {
			continue
		}
		for _, name := range append([]string{in.Name}, in.Aliases...) {
			properties = append(properties, string(appendString(nil, name))+":"+body)
		}
	}
	return `{"type":"object","properties":{"inputs":{"type":"object","properties":{` + strings.Join(properties, ",") +
		`}}}}`
}

func inputType(in Input) string {
	switch in.Type {
	case "":
		if len(in.Enum) > 0 {
			return `{"type":["string","null"]}`
		}
		return ""
	case "date":
		return `{"type":["string","null"],"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}`
	case "datetime":
		return `{"type":["string","null"],"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}"}`
	}
	return `{"type":["` + in.Type + `","null"]}`
}

// domainType is inputType with the input's domain, for who writes a submission (S72).
func domainType(in Input) string {
	if len(in.Enum) > 0 {
		words := make([]string, len(in.Enum))
		for i, w := range in.Enum {
			words[i] = string(appendString(nil, w))
		}
		if in.Type == "array" {
			return `{"type":["array","null"],"items":{"enum":[` + strings.Join(words, ",") + `]}}`
		}
		return `{"enum":[` + strings.Join(words, ",") + `,null]}`
	}
	bounds := ""
	if in.Min != nil {
		bounds += `,"minimum":` + in.Min.String()
	}
	if in.Max != nil {
		bounds += `,"maximum":` + in.Max.String()
	}
	body := inputType(in)
	if bounds == "" || in.Type == "array" {
		return body
	}
	if body == "" {
		return "{" + bounds[1:] + "}"
	}
	return body[:len(body)-1] + bounds + "}"
}

func (l *loader) compileRequired(r *Rule, v *strictjson.Value) {
	paths, nonempty := v.Get("paths").Texts(), v.Get("nonempty").IsTrue()
	if len(paths) == 0 {
		l.problems.addProblem(v.Get("paths"), "missing_key", "a required check needs paths: it would pass everything")
	}
	for i, p := range paths {
		if _, err := parsePath(p); err != nil {
			l.problems.addProblem(v.Get("paths").Items[i], "path", "%v", err)
		}
	}
	r.Text = "present: " + joinListed(paths)
	r.run = func(a *audit, r *Rule) outcome { return a.checkRequired(r, paths, nonempty) }
}

// required: every path is there; a [*] stands for every item.
func (a *audit) checkRequired(r *Rule, paths []string, nonempty bool) outcome {
	var absent []string
	for _, p := range paths {
		found := selectPath(a.doc, p)
		for _, hit := range found {
			if !a.spendWork(1) {
				return flagged
			}
			if hit.Value.IsMissing() || nonempty && isBlank(hit.Value) {
				absent = append(absent, hit.Pointer)
			}
		}
		if len(found) == 0 {
			pointer, _ := parsePath(p)
			absent = append(absent, pointer)
		}
	}
	for i, pointer := range absent {
		a.addAtom("structure.required", pointer, false, atomSeverity(r.Tier), "field", "absent or empty")
		if i < 10 {
			a.addFinding(r, Finding{Code: "structure.missing", Pointer: pointer,
				Message: fmt.Sprintf("%s is missing or empty", pointer), Fix: fixOf(r)})
		}
	}
	if len(absent) > 0 {
		return flagged
	}
	return passed
}

// fixOf is the sheet's own advice, if it gives any.
func fixOf(r *Rule) *Fix {
	if r.Fix == "" {
		return nil
	}
	return &Fix{Text: r.Fix}
}

// schemaWords maps our parameter names to JSON Schema's keywords.
var schemaWords = []struct{ ours, theirs string }{{"type", "type"}, {"enum", "enum"}, {"pattern", "pattern"},
	{"min", "minimum"}, {"max", "maximum"}, {"min_items", "minItems"}}

func (l *loader) compileSchemaPart(r *Rule, v *strictjson.Value) {
	var parts []string
	for _, w := range schemaWords {
		if p := v.Get(w.ours); p != nil {
			parts = append(parts, `"`+w.theirs+`":`+string(canonicalJSON(p)))
		}
	}
	if add := v.Get("additional"); add != nil && !add.IsTrue() {
		var props []string
		for _, k := range v.Get("keys").Texts() {
			props = append(props, string(appendString(nil, k))+":{}")
		}
		parts = append(parts, `"additionalProperties":false,"properties":{`+strings.Join(props, ",")+`}`)
	}
	path, unique := v.TextOf("path"), v.TextOf("unique_by")
	if len(parts) == 0 && unique == "" {
		l.problems.addProblem(v, "schema", "a schema check needs at least one constraint: it would pass everything")
	}
	if _, err := parsePath(path); err != nil {
		l.problems.addProblem(v.Get("path"), "path", "%v", err)
		return
	}
	s := l.ownSchema(v, "rule "+r.ID, "{"+strings.Join(parts, ",")+"}")
	r.Text = path + " has its shape"
	r.run = func(a *audit, r *Rule) outcome { return a.checkShape(r, s, path, unique) }
}

func (a *audit) checkShape(r *Rule, s *schema.Schema, path, unique string) outcome {
	before := a.raised
	for _, hit := range selectPath(a.doc, path) {
		if hit.Value == nil {
			continue
		}
		if !a.spendWork(4) {
			break
		}
		for _, leaf := range s.Validate(hit.Value) {
			if !strings.HasPrefix(leaf.Pointer, hit.Pointer) {
				leaf.Pointer = hit.Pointer + leaf.Pointer
			}
			a.flagLeaf(r, "schema."+leaf.Keyword, leaf)
		}
		if unique != "" {
			a.uniqueBy(r, hit.Value, unique)
		}
	}
	return flaggedSince(a, before)
}

func (a *audit) uniqueBy(r *Rule, rows *strictjson.Value, member string) {
	seen := map[string]bool{}
	for _, row := range rows.Elements() {
		v := row.Get(member)
		if v == nil {
			continue
		}
		if !a.spendWork(1 + (v.End-v.Pos.Offset)/8) {
			return
		}
		key := string(canonicalJSON(v))
		if seen[key] {
			a.addFinding(r, Finding{Code: "schema.unique_by", Pointer: v.Pointer(), Message: fmt.Sprintf("%s %s occurs twice",
				member, clipText(key)), Fix: fixOf(r)})
		}
		seen[key] = true
	}
}

// match is the source documents' deterministic check.
type match struct {
	path     string
	length   bool
	values   []*strictjson.Value
	kind     string
	required []string
}

func (l *loader) compileMatch(r *Rule, v *strictjson.Value) {
	m := &match{path: v.TextOf("match_field"), kind: v.TextOf("type"), required: v.Get("required_keys").Texts()}
	if inner, ok := strings.CutPrefix(m.path, "len("); ok {
		m.path, m.length = strings.TrimSuffix(inner, ")"), true
	}
	if one := v.Get("expected_value"); one != nil {
		m.values = append(m.values, one)
	}
	m.values = append(m.values, v.Get("expected_values").Elements()...)
	if kinds := kindNames[:]; m.kind != "" && !slices.Contains(kinds, m.kind) {
		l.problems.addNear(v.Get("type"), "unknown_word", m.kind, kinds, "unknown JSON type %q", m.kind)
	}
	if m.values == nil && m.kind == "" && m.required == nil {
		l.problems.addProblem(v, "missing_key", "a match check needs expected_value, expected_values, type or required_keys")
	}
	if _, err := parsePath(m.path); err != nil {
		l.problems.addProblem(v.Get("match_field"), "path", "%v", err)
	}
	r.Text = v.TextOf("match_field") + " matches"
	r.run = func(a *audit, r *Rule) outcome { return a.checkMatch(r, m) }
}

func (a *audit) checkMatch(r *Rule, m *match) outcome {
	pointer, _ := parsePath(m.path)
	v := a.doc.At(pointer)
	if v.IsMissing() {
		a.missingMember(r, pointer, m.path)
		return flagged
	}
	if why := m.mismatchText(v); why != "" {
		a.addFinding(r, Finding{Code: "structure.match", Pointer: pointer, Message: fmt.Sprintf("%s: %s", r.ruleTitle(), why),
			Fix: fixOf(r)})
		return flagged
	}
	return passed
}

// mismatchText says in what way v is not what the check wants; "" when it is.
func (m *match) mismatchText(v *strictjson.Value) string {
	for _, k := range m.required {
		if v.Get(k).IsMissing() {
			return fmt.Sprintf("the member %q is missing", k)
		}
	}
	if m.kind != "" && kindName(v) != m.kind {
		return fmt.Sprintf("is %s, not %s", kindName(v), m.kind)
	}
	if m.values == nil {
		return ""
	}
	if m.length {
		n := max(len(v.Items), len(v.Members))
		if v.Kind == strictjson.String {
			n = len([]rune(v.Text))
		}
		if slices.ContainsFunc(m.values, func(w *strictjson.Value) bool {
			i, ok := w.Int()
			return ok &&
				int(i) == n
		}) {
			return ""
		}
		return fmt.Sprintf("its length is %d", n)
	}
	if slices.ContainsFunc(m.values, func(w *strictjson.Value) bool { return strictjson.Equal(v, w) }) {
		return ""
	}
	return "is " + clipText(string(canonicalJSON(v)))
}

// kindNames are JSON's types in the reader's order.
var kindNames = [...]string{"null", "boolean", "number", "string", "array", "object"}

func kindName(v *strictjson.Value) string { return kindNames[v.Kind] }
