package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/goccy/go-yaml/ast"
)

// maxParams bounds what one entry of runs may set.
const maxParams = 100

// yamlParams reads the limits of an entry of runs: plain values, lists of them, and tables of them.
func yamlParams(n ast.Node) Params {
	out := Params{}
	for _, v := range yamlMap(n, "params").values {
		name := yamlScalar(v.Key, "a parameter's name")
		if _, twice := out[name]; twice {
			refuseAt(v.Key, "the parameter %q appears twice in params", name)
		}
		out[name] = yamlJSON(v.Value, name)
	}
	if len(out) > maxParams {
		refuseAt(n, "params sets %d limits; at most %d are allowed", len(out), maxParams)
	}
	return out
}

// yamlJSON is a plain value, a list or a table of plain values, as JSON.
func yamlJSON(n ast.Node, what string) string {
	switch v := n.(type) {
	case *ast.SequenceNode:
		items := make([]string, len(v.Values))
		for i, item := range v.Values {
			items[i] = scalarJSON(item, "an entry of "+what)
		}
		return "[" + strings.Join(items, ",") + "]"
	case *ast.MappingNode, *ast.MappingValueNode:
		table := map[string]string{}
		for _, m := range yamlMap(n, what).values {
			key := yamlScalar(m.Key, "a key of "+what)
			if _, twice := table[key]; twice {
				refuseAt(m.Key, "the key %q appears twice in %s", key, what)
			}
			table[key] = scalarJSON(m.Value, what+"."+key)
		}
		var members []string
		for _, key := range slices.Sorted(maps.Keys(table)) {
			members = append(members, jsonText(key)+":"+table[key])
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return scalarJSON(n, what)
}

// scalarJSON is a scalar as JSON: a number stays one, in the digits that a report shows.
func scalarJSON(n ast.Node, what string) string {
	text := yamlScalar(n, what)
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		d, err := decimal.Parse(text)
		if err != nil {
			refuseAt(n, "%s: %q is not a number that a rulebook reads; write it in digits", what, text)
			return ""
		}
		return d.String()
	case *ast.BoolNode:
		if text != "true" && text != "false" {
			refuseAt(n, "%s must be true or false, not %q", what, text)
		}
		return text
	}
	return jsonText(text)
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("gate: a text cannot be written as JSON: " + err.Error()) // it always can
	}
	return string(b)
}
