package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/referee"
)

// refuseAt panics with a *ConfigError, which ParseConfig returns.
func refuseAt(n ast.Node, format string, args ...any) {
	e := &Error{Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		e.Line, e.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	panic(e)
}

// yamlMapping is a mapping with its name for messages.
type yamlMapping struct {
	what   string
	values []*ast.MappingValueNode
}

func yamlMap(n ast.Node, what string) *yamlMapping {
	switch v := n.(type) {
	case *ast.MappingNode:
		return &yamlMapping{what, v.Values}
	case *ast.MappingValueNode:
		return &yamlMapping{what, []*ast.MappingValueNode{v}}
	}
	refuseAt(n, "%s must be a mapping", what)
	return nil
}

// readKeys reads each key once; an unknown or repeated one is refused with the nearest name.
func (m *yamlMapping) readKeys(known ...configKey) {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	seen := map[string]bool{}
	for _, v := range m.values {
		name := yamlScalar(v.Key, "a key")
		i := slices.Index(names, name)
		switch {
		case i < 0:
			hint := "known: " + strings.Join(names, ", ")
			if near := nearest.Word(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			refuseAt(v.Key, "unknown key %q in %s; %s", name, m.what, hint)
		case seen[name]:
			refuseAt(v.Key, "the key %q appears twice in %s", name, m.what)
		}
		seen[name] = true
		known[i].read(v.Value)
	}
}

// yamlScalar is the text of a scalar as written, without anchors or tags.
func yamlScalar(n ast.Node, what string) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	refuseAt(n, "%s must be a plain value", what)
	return ""
}

func yamlString(n ast.Node, what string) string {
	s, ok := n.(*ast.StringNode)
	if !ok || strings.TrimSpace(s.Value) == "" {
		refuseAt(n, "%s must be text", what)
		return ""
	}
	return s.Value
}

func yamlBool(n ast.Node, what string) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		refuseAt(n, "%s must be true or false", what)
		return false
	}
	return b.Value
}

func yamlInt(n ast.Node, what string) int {
	if _, ok := n.(*ast.IntegerNode); ok {
		if i, err := strconv.Atoi(n.GetToken().Value); err == nil {
			return i
		}
	}
	refuseAt(n, "%s must be a whole number", what)
	return 0
}

func yamlDecimal(n ast.Node, what string) string {
	d, err := decimal.Parse(yamlScalar(n, what))
	if err != nil {
		refuseAt(n, "%s must be a number", what)
		return ""
	}
	return d.String()
}

func yamlWord(n ast.Node, what string, known ...string) string {
	s := yamlScalar(n, what)
	if !slices.Contains(known, s) {
		refuseAt(n, "%s must be one of %s, not %q", what, strings.Join(known, ", "), s)
	}
	return s
}

// yamlThreshold reads the word of a threshold.
func yamlThreshold(n ast.Node, what string) referee.Threshold {
	limit, err := referee.ParseThreshold(yamlScalar(n, what))
	if err != nil {
		refuseAt(
			n,
			"%s must be one of %s, not %q",
			what,
			strings.Join(referee.ThresholdNames(), ", "),
			yamlScalar(n, what),
		)
	}
	return limit
}

func yamlList(n ast.Node, what string) []ast.Node {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		refuseAt(n, "%s must be a list", what)
		return nil
	}
	return list.Values
}

func yamlStrings(n ast.Node, what string) []string {
	out := []string{}
	for _, item := range yamlList(n, what) {
		out = append(out, yamlString(item, "an entry of "+what))
	}
	return out
}

// yamlPath is a branch or folder name that cannot lead elsewhere.
func yamlPath(n ast.Node, what string) string {
	s := yamlString(n, what)
	if strings.HasPrefix(s, "/") || strings.Contains(s, "..") || strings.ContainsAny(s, "\\ ~^:?*[\x00") {
		refuseAt(n, "%s must be a plain relative name, not %q", what, s)
	}
	return strings.Trim(s, "/")
}
