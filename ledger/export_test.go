package ledger

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// SchemaFor generates the JSON Schema of the receipts with the given schema name from the type Receipt and the table of
// forms, for docs/ and for the tests.
func SchemaFor(name string) []byte {
	g := generator{defs: map[string]any{}}
	root := g.objectSchema(reflect.TypeFor[Receipt]())
	members := root["properties"].(map[string]any)
	members["schema"] = map[string]any{"const": name}
	lanes := []string{"agent", "dataset", "compute"}
	for lane, own := range map[string]string{"cook": CookSchema, "incident": IncidentSchema} {
		if own == name {
			lanes = []string{lane}
			root["required"] = append(root["required"].([]string), lane)
		} else {
			delete(members, lane)
			delete(g.defs, strings.ToUpper(lane[:1])+lane[1:])
		}
	}
	g.defs["Run"].(map[string]any)["properties"].(map[string]any)["lane"] = map[string]any{"enum": lanes}
	members["findings"].(map[string]any)["maxItems"] = MaxFindings
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = name
	root["description"] = "One entry of a ledger. The file's bytes are canonical JSON (internal/canonical); what a " +
		"schema cannot say, ledger.Parse refuses."
	audit := []string{"semantics", "engine", "agent", "assignment", "verdict", "report_digest"}
	root["allOf"] = []any{
		requireForKinds([]Kind{Approved, Amended, Revoked, Rejected}, "approval"),
		requireForKinds([]Kind{Carried, Superseded, Withdrawn, Merged, Unreceipted}, "observed_by"),
		requireForKinds([]Kind{Carried, Amended, Revoked, Superseded, Merged}, "refers_to"),
		requireForKinds([]Kind{Approved, Carried, Rejected}, audit...),
	}
	root["$defs"] = g.defs
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// requireForKinds requires members of the kinds.
func requireForKinds(kinds []Kind, members ...string) map[string]any {
	return map[string]any{
		"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"enum": kindWords(kinds)}}},
		"then": map[string]any{"required": members},
	}
}

type generator struct{ defs map[string]any }

func (g *generator) objectSchema(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[key] = g.memberSchema(f.Type, f.Tag.Get("is"), options != "")
		if options == "" {
			required = append(required, key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false}
}

// memberSchema gives the schema of a member; optional ones are left out rather than empty.
func (g *generator) memberSchema(t reflect.Type, is string, optional bool) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return g.memberSchema(t.Elem(), is, false)
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = nil // before its members, as types may nest
			g.defs[t.Name()] = g.objectSchema(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		out := map[string]any{"type": "array", "items": g.memberSchema(t.Elem(), is, false)}
		if optional {
			out["minItems"] = 1
		}
		return out
	case reflect.Bool:
		if optional {
			return map[string]any{"const": true}
		}
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		out := map[string]any{"type": "integer", "minimum": 0, "maximum": int64(1)<<53 - 1}
		if optional {
			out["minimum"] = 1
		}
		return out
	}
	return textSchema(is, optional)
}

func textSchema(is string, optional bool) map[string]any {
	switch {
	case is != "" && forms[is].Enum != nil:
		return map[string]any{"enum": forms[is].Enum}
	case patterns[is] != "":
		return map[string]any{"type": "string", "pattern": patterns[is]}
	case is != "" || optional:
		return map[string]any{"type": "string", "minLength": 1}
	}
	return map[string]any{"type": "string"}
}

// Patterns and IsForm let a test hold each form's code to its pattern.
var Patterns = patterns

// IsForm reports whether text has the form.
func IsForm(name, text string) bool { return forms[name].Check([]byte(text)) }
