package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// maxParams bounds what one entry of runs may set.
const maxParams = 100

// yamlParams reads the limits of an entry of runs: plain values, lists of them, and tables of them.
func yamlParams(n ast.Node) Params {
	out := Params{}
	for _, v := range yamlMap(n, "params").values {
		name := yamlScalar(v.Key, "a parameter's name")
		if _, twice := out[name]; twice {
			refuseAt(v.Key, "the parameter %q stands twice in params", name)
		}
		out[name] = yamlJSON(v.Value, name)
	}
	if len(out) > maxParams {
		refuseAt(n, "params sets %d limits; at most %d", len(out), maxParams)
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
				refuseAt(m.Key, "the key %q stands twice in %s", key, what)
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
			refuseAt(n, "%s: %q is no number that a rulebook reads; write it as digits", what, text)
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

// setParams is the sheet with the limits that the rule sets. A limit that this sheet does not have is one of another sheet of the rule; one that no
// sheet of it has is refused, because a misspelt limit is not in force.
func setParams(sheet *referee.Sheet, rule RunRule, library *referee.Library) (*referee.Sheet, error) {
	values := map[string]*strictjson.Value{}
	for _, name := range slices.Sorted(maps.Keys(rule.Params)) {
		if _, err := sheet.Param(name); err != nil {
			if !anotherHas(name, rule, library) {
				return nil, fmt.Errorf("%s sets params.%s for %s: %w", ConfigPath, name, rule.Path, err)
			}
			continue
		}
		v, err := jsonValue(rule.Params[name])
		if err != nil {
			return nil, fmt.Errorf("%s: params.%s cannot be read: %w", ConfigPath, name, err)
		}
		values[name] = v
	}
	return sheet.WithParams(values)
}

// anotherHas reports whether a sheet that the rule allows has a parameter of this name.
func anotherHas(name string, rule RunRule, library *referee.Library) bool {
	sheets, _ := library.Load()
	return slices.ContainsFunc(sheets, func(s *referee.Sheet) bool {
		if s == nil || !allowed(rule.Sheets, s) {
			return false
		}
		_, err := s.Param(name)
		return err == nil
	})
}

func jsonValue(text string) (*strictjson.Value, error) {
	doc, err := strictjson.Parse([]byte(`{"value":`+text+`}`), strictjson.DocumentLimits)
	if err != nil {
		return nil, err
	}
	return doc.Get("value"), nil
}

// withRecorded is a sheet with the limits that a receipt holds, for a replay.
func withRecorded(sheet *referee.Sheet, params []ledger.Param) (*referee.Sheet, error) {
	values := map[string]*strictjson.Value{}
	for _, p := range params {
		v, err := jsonValue(p.Value)
		if err != nil {
			return nil, fmt.Errorf("the recorded parameter %q cannot be read: %w", p.Name, err)
		}
		values[p.Name] = v
	}
	return sheet.WithParams(values)
}
