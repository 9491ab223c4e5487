package schema

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// isSimpleSchema reports whether the library can refuse nothing of a schema that check has let pass: it says nothing
// beyond keywords of draft 2020-12 that refer to nothing, each with a value of its form. Nearly every schema is simple,
// and such a one is compiled when a document is first held against it: loading a sheet does not pay for schemas that
// the work at hand never asks. FuzzCompile holds simple to the library.
func isSimpleSchema(schema *strictjson.Value) bool {
	if schema.Kind == strictjson.Bool {
		return true
	}
	return schema.Kind == strictjson.Object &&
		!slices.ContainsFunc(schema.Members, func(m strictjson.Member) bool { return !isSimpleMember(m.Key, m.Value) })
}

// isSimpleMember reports whether a member is the author's own or a simple keyword with a value of its form.
func isSimpleMember(key string, v *strictjson.Value) bool {
	switch key {
	case "$comment", "title", "description", "format", "pattern":
		return v.Kind == strictjson.String
	case "default", "const":
		return true
	case "examples", "enum":
		return v.Kind == strictjson.Array
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		return v.Kind == strictjson.Bool
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
		"maxContains":
		return v.Kind == strictjson.Number
	case "type":
		return isTypeName(v)
	case "required":
		return isDistinctTexts(v)
	case "properties":
		return allMembers(v, func(m strictjson.Member) bool { return plainName(m.Key) && isSimpleSchema(m.Value) })
	case "dependentRequired":
		return allMembers(v, func(m strictjson.Member) bool { return isDistinctTexts(m.Value) })
	case "items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else":
		return isSimpleSchema(v)
	case "prefixItems", "allOf", "anyOf", "oneOf":
		return len(v.Items) > 0 &&
			!slices.ContainsFunc(v.Items, func(item *strictjson.Value) bool { return !isSimpleSchema(item) })
	}
	return strings.HasPrefix(key, "x-")
}

// plainName is a name that the library, which addresses a property by it, escapes and finds again.
func plainName(s string) bool {
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("_ ./()-", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isTypeName reports whether v is the name of a type, or distinct ones.
func isTypeName(v *strictjson.Value) bool {
	if v.Kind == strictjson.String {
		return typeNames[v.Text] != ""
	}
	return len(v.Items) > 0 && isDistinctTexts(v) &&
		!slices.ContainsFunc(v.Items, func(item *strictjson.Value) bool { return typeNames[item.Text] == "" })
}

// isDistinctTexts reports whether v is a list of texts, none of them twice.
func isDistinctTexts(v *strictjson.Value) bool {
	seen := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		if item.Kind != strictjson.String || seen[item.Text] {
			return false
		}
		seen[item.Text] = true
	}
	return v.Kind == strictjson.Array
}

// allMembers reports whether v is an object all of whose members are as they should be.
func allMembers(v *strictjson.Value, ok func(strictjson.Member) bool) bool {
	return v.Kind == strictjson.Object &&
		!slices.ContainsFunc(v.Members, func(m strictjson.Member) bool { return !ok(m) })
}
