package referee

import (
	"bytes"
	"encoding/json"
)

// SheetJSONSchema is the JSON Schema (2020-12) of flight sheet files, for editors. It is made from the tables that the
// loader reads, so that an editor refuses the same keys; what only the loader can see (names, cycles, worked numbers)
// is left to `referee sheet lint`.
func SheetJSONSchema() []byte {
	g := &schemaGenerator{defs: map[string]any{}}
	root := g.recordSchema(sheetRecord)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Flight sheet"
	g.addChecks(root)
	root["$defs"] = g.defs
	return indentJSON(root)
}

// SubmissionSchema is the JSON Schema of what the sheet wants handed in: the canonical submission where that is its
// baseline, its own output schema, and the types of its inputs.
func (s *Sheet) SubmissionSchema() []byte {
	var all []any
	if s.Baseline == "canonical" {
		all = append(all, json.RawMessage(canonicalSchema()))
	}
	if len(s.Inputs) > 0 {
		all = append(all, json.RawMessage(s.inputsSchema(domainType)))
	}
	if v := s.Doc.At("/eval_spec/required_output_schema"); v != nil {
		all = append(all, json.RawMessage(canonicalJSON(v)))
	}
	return indentJSON(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title": "Submission for " + s.Slug, "type": "object", "allOf": all})
}

// indentJSON prints a schema for people. Its parts come from tables and from sheets that were read strictly: it cannot
// fail.
func indentJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic("referee: a schema cannot be written: " + err.Error())
	}
	return b.Bytes()
}

// schemaGenerator turns records into schemas. The checks, which stand in three lists, are definitions.
type schemaGenerator struct{ defs map[string]any }

// recordSchema is the schema of a record: its members, those that are needed, and none beyond but x-….
func (g *schemaGenerator) recordSchema(r *record) map[string]any {
	properties := map[string]any{}
	var required []string
	for i := range r.Fields {
		f := &r.Fields[i]
		properties[f.Name] = g.fieldSchema(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties,
		"patternProperties": map[string]any{"^x-": map[string]any{}}, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// fieldSchema is the schema of one member.
func (g *schemaGenerator) fieldSchema(f *field) map[string]any {
	out := map[string]any{"description": f.Doc}
	switch f.Type {
	case "string", "number", "integer", "boolean":
		out["type"] = f.Type
	case "strings":
		out["type"], out["items"] = "array", map[string]any{"type": "string"}
	case "expr":
		out["type"] = []string{"string", "object", "array", "boolean", "number"}
	case "any":
		out["type"] = []string{"string", "number", "boolean", "array", "object"}
	case "schema":
		out["type"] = "object"
	case "list":
		out["type"] = "array"
	case "object":
		return g.withDescription(g.recordSchema(f.Of), f.Doc)
	case "array":
		out["type"], out["items"] = "array", g.recordSchema(f.Of)
		if f.Prose {
			out["items"] = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, g.recordSchema(f.Of)}}
		}
	case "map":
		out["type"] = "object"
		if f.Of != nil {
			out["additionalProperties"] = g.recordSchema(f.Of)
		}
	}
	if len(f.Enum) > 0 {
		out["enum"] = f.Enum
	}
	return out
}

func (g *schemaGenerator) withDescription(schema map[string]any, doc string) map[string]any {
	schema["description"] = doc
	return schema
}

// addChecks puts the registry in place of the three lists of checks, which the tables leave open.
func (g *schemaGenerator) addChecks(root map[string]any) {
	var names []string
	var forms []any
	for i := range ruleKeys {
		k := &ruleKeys[i]
		names = append(names, k.Name)
		forms = append(forms, g.checkSchema(k.Name, k.Title+". "+k.Why, k.Params, true))
	}
	var gate any
	for i := range ruleKinds {
		k := &ruleKinds[i]
		form := g.checkSchema(k.Name, k.Title+". "+k.Doc, k.Params, k.Name != "match")
		if forms = append(forms, form); k.Name == "expr" {
			gate = g.checkSchema("", "A gate, as the source documents write it: an expr check without the word.", k.Params,
				false)
		}
	}
	word := map[string]any{"enum": names, "description": "a check of the registry, by name"}
	spec := root["properties"].(map[string]any)["eval_spec"].(map[string]any)["properties"].(map[string]any)
	for _, list := range []string{"deterministic_checks", "evidence_checks", "rules"} {
		allowed := append([]any{word}, forms...)
		if list == "rules" {
			allowed = append(allowed, gate)
		}
		spec[list] = map[string]any{"description": spec[list].(map[string]any)["description"], "type": "array",
			"items": map[string]any{"anyOf": allowed}}
	}
}

// checkSchema defines the object form of a check and returns a reference to it. named says that its "check" is the
// registry's word; the source documents' match form carries a word of its own.
func (g *schemaGenerator) checkSchema(name, doc string, params []field, named bool) any {
	schema := g.withDescription(g.recordSchema(checkRecord(name, params)), doc)
	properties := schema["properties"].(map[string]any)
	key := "check_" + name
	switch {
	case named:
		properties["check"] = map[string]any{"const": name}
		required, _ := schema["required"].([]string)
		schema["required"] = append([]string{"check"}, required...)
	case name == "":
		key = "gate"
		delete(properties, "check")
	}
	g.defs[key] = schema
	return map[string]any{"$ref": "#/$defs/" + key}
}
