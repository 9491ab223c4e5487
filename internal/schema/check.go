package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// shape says where in a keyword's value further schemas lie.
type shape uint8

const (
	plain    shape = iota // no schema in it
	one                   // a schema
	list                  // an array of schemas
	oneList               // either
	named                 // an object of schemas by name
	namedAny              // an object of schemas or arrays of names
)

// keyword is what a draft knows under a name. A draft outside since..until ignores it, and the schema would check less
// than it says.
type keyword struct {
	shape        shape
	since, until int
	asserts      bool // decides by itself, so that drafts up to 7 must not find it beside a $ref
}

const newest = 2020

// keywords are those of the five drafts.
var keywords = map[string]keyword{
	"$schema": {since: 4, until: newest}, "$comment": {since: 7, until: newest}, "$id": {since: 6, until: newest},
	"id":      {since: 4, until: 4},
	"$anchor": {since: 2019, until: newest}, "$dynamicAnchor": {since: 2020, until: newest},
	"$recursiveAnchor": {since: 2019, until: 2019},
	"$ref":             {since: 4, until: newest}, "$dynamicRef": {since: 2020, until: newest},
	"$recursiveRef": {since: 2019, until: 2019},
	"$vocabulary":   {since: 2019, until: newest},
	"$defs":         {shape: named, since: 4, until: newest}, "definitions": {shape: named, since: 4, until: newest},

	"title": {since: 4, until: newest}, "description": {since: 4, until: newest}, "default": {since: 4, until: newest},
	"examples": {since: 6, until: newest}, "readOnly": {since: 7, until: newest},
	"writeOnly":  {since: 7, until: newest},
	"deprecated": {since: 2019, until: newest}, "contentEncoding": {since: 7, until: newest},
	"contentMediaType": {since: 7, until: newest},
	"contentSchema":    {shape: one, since: 2019, until: newest},

	"type": {since: 4, until: newest, asserts: true}, "enum": {since: 4, until: newest, asserts: true},
	"const":   {since: 6, until: newest, asserts: true},
	"format":  {since: 4, until: newest, asserts: true},
	"minimum": {since: 4, until: newest, asserts: true}, "maximum": {since: 4, until: newest, asserts: true},
	"exclusiveMinimum": {since: 4, until: newest, asserts: true}, "exclusiveMaximum": {since: 4, until: newest,
		asserts: true},
	"multipleOf": {since: 4, until: newest, asserts: true},
	"minLength":  {since: 4, until: newest, asserts: true}, "maxLength": {since: 4, until: newest, asserts: true},
	"pattern":  {since: 4, until: newest, asserts: true},
	"minItems": {since: 4, until: newest, asserts: true}, "maxItems": {since: 4, until: newest, asserts: true},
	"uniqueItems":   {since: 4, until: newest, asserts: true},
	"minProperties": {since: 4, until: newest, asserts: true}, "maxProperties": {since: 4, until: newest,
		asserts: true},
	"required": {since: 4, until: newest, asserts: true}, "dependentRequired": {since: 2019, until: newest,
		asserts: true},
	"minContains": {since: 2019, until: newest, asserts: true}, "maxContains": {since: 2019, until: newest,
		asserts: true},

	"properties": {shape: named, since: 4, until: newest, asserts: true}, "patternProperties": {shape: named, since: 4,
		until: newest, asserts: true},
	"additionalProperties":  {shape: one, since: 4, until: newest, asserts: true},
	"propertyNames":         {shape: one, since: 6, until: newest, asserts: true},
	"unevaluatedProperties": {shape: one, since: 2019, until: newest, asserts: true},
	"unevaluatedItems":      {shape: one, since: 2019, until: newest, asserts: true},
	"items":                 {shape: oneList, since: 4, until: newest, asserts: true},
	"prefixItems": {shape: list, since: 2020,
		until: newest, asserts: true},
	"additionalItems": {shape: one, since: 4, until: 2019, asserts: true}, "contains": {shape: one, since: 6,
		until: newest, asserts: true},
	"dependencies": {shape: namedAny, since: 4, until: 7, asserts: true}, "dependentSchemas": {shape: named,
		since: 2019, until: newest, asserts: true},
	"allOf": {shape: list, since: 4, until: newest, asserts: true}, "anyOf": {shape: list, since: 4, until: newest,
		asserts: true},
	"oneOf": {shape: list, since: 4, until: newest, asserts: true}, "not": {shape: one, since: 4, until: newest,
		asserts: true},
	"if": {shape: one, since: 7, until: newest, asserts: true}, "then": {shape: one, since: 7, until: newest,
		asserts: true}, "else": {shape: one, since: 7, until: newest, asserts: true},
}

// successors say what to write instead of a keyword that the draft no longer knows.
var successors = map[string]string{
	"additionalItems": `write prefixItems for the first items and items for the rest`,
	"dependencies":    `write dependentRequired or dependentSchemas`,
	"$recursiveRef":   `write $dynamicRef`, "$recursiveAnchor": `write $dynamicAnchor`, "id": `write $id`,
}

// drafts are the published ones, by the year or number that keyword.since counts in.
var drafts = map[string]int{
	"https://json-schema.org/draft/2020-12/schema": 2020, "https://json-schema.org/draft/2019-09/schema": 2019,
	"https://json-schema.org/draft-07/schema": 7, "https://json-schema.org/draft-06/schema": 6,
	"https://json-schema.org/draft-04/schema": 4,
}

// draftOf is the draft that a $schema names, 0 if none.
func draftOf(uri string) int {
	uri = strings.TrimSuffix(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "http://"); ok {
		uri = "https://" + rest
	}
	return drafts[uri]
}

// checker walks a schema before the library sees it.
type checker struct {
	name  string
	root  *strictjson.Value
	draft int
}

func checkSchema(name string, doc *strictjson.Value) error {
	c := checker{name: name, root: doc, draft: newest}
	if v := doc.Get("$schema"); v != nil {
		uri, _ := v.Str()
		if c.draft = draftOf(uri); c.draft == 0 {
			return c.fail(v, "$schema %s is not a published draft; known are %s", showValue(v),
				strings.Join(slices.Sorted(maps.Keys(drafts)), ", "))
		}
	}
	if out := strictjson.OutOfRange(doc); len(out) > 0 {
		return c.fail(out[0], "the number %s is out of range: at most 34 significant digits and exponents within ±300",
			clipAndEscape(out[0].Text))
	}
	return c.checkSchema(doc)
}

func (c *checker) fail(v *strictjson.Value, format string, args ...any) error {
	return &Error{Name: c.name, Pos: v.Pos, Pointer: v.Pointer(), Message: fmt.Sprintf(format, args...)}
}

// checkSchema checks one schema and those below it.
func (c *checker) checkSchema(v *strictjson.Value) error {
	switch {
	case v.Kind == strictjson.Bool && c.draft >= 6:
		return nil
	case v.Kind != strictjson.Object:
		return c.fail(v, "%s where a schema is expected; a schema is an object", showValue(v))
	}
	for _, m := range v.Members {
		if err := c.checkMember(v, m); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkMember(schema *strictjson.Value, m strictjson.Member) error {
	if strings.HasPrefix(m.Key, "x-") {
		return nil
	}
	k, ok := keywords[m.Key]
	switch {
	case !ok:
		return c.unknownKeyword(m)
	case c.draft < k.since || c.draft > k.until:
		return c.ignoredKeyword(m, k)
	case k.asserts && c.draft <= 7 && schema.Get("$ref") != nil:
		return c.fail(m.Value, "%s is beside a $ref, where draft %d ignores it; put both into allOf", m.Key, c.draft)
	}
	if err := c.checkKeywordValue(m); err != nil {
		return err
	}
	if m.Value.Kind == strictjson.Bool && (m.Key == "additionalProperties" || m.Key == "additionalItems") {
		return nil // in draft 4 too, which has no other schema that is true or false
	}
	return c.checkBelow(k.shape, m.Value)
}

func (c *checker) unknownKeyword(m strictjson.Member) error {
	hint := "use x- for names of your own"
	if near := nearest.Word(m.Key, slices.Sorted(maps.Keys(keywords))); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return c.fail(m.Value, "%s is not a JSON Schema keyword and would check nothing; %s", quote(m.Key), hint)
}

func (c *checker) ignoredKeyword(m strictjson.Member, k keyword) error {
	instead := successors[m.Key]
	if c.draft < k.since {
		instead = fmt.Sprintf("it came with draft %d: name that in $schema", k.since)
	}
	return c.fail(m.Value, "draft %d ignores %s; %s", c.draft, m.Key, instead)
}

// checkKeywordValue checks a keyword's own value where the library would pass it over or fail on it.
func (c *checker) checkKeywordValue(m strictjson.Member) error {
	switch m.Key {
	case "$schema":
		if uri, _ := m.Value.Str(); draftOf(uri) != c.draft {
			return c.fail(m.Value, "$schema %s differs from that of the whole schema; one document has one draft",
				showValue(m.Value))
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		return c.checkRef(m)
	case "format":
		return c.checkFormat(m.Value)
	case "pattern":
		return c.checkPattern(m.Value, m.Value.Text)
	case "patternProperties":
		for _, p := range m.Value.Members {
			if err := c.checkPattern(p.Value, p.Key); err != nil {
				return err
			}
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
		"maxContains":
		return c.checkCount(m)
	}
	return nil
}

func (c *checker) checkRef(m strictjson.Member) error {
	target, ok := m.Value.Str()
	switch {
	case !ok:
		return c.fail(m.Value, "%s is %s; it is a string that begins with #", m.Key, showValue(m.Value))
	case !strings.HasPrefix(target, "#"):
		return c.fail(m.Value, "%s %s leads to another document; a schema is complete in itself: put the definition "+
			"under $defs and write #/$defs/…", m.Key, showValue(m.Value))
	}
	return nil
}

func (c *checker) checkFormat(v *strictjson.Value) error {
	name, _ := v.Str()
	if _, ok := jsonschema.Formats[name]; !ok {
		return c.fail(v, "format %s is unknown and would check nothing; known are %s", showValue(v),
			strings.Join(slices.Sorted(maps.Keys(jsonschema.Formats)), ", "))
	}
	return nil
}

// checkPattern refuses what is no RE2: look-around and back-references cannot be matched in linear time.
func (c *checker) checkPattern(at *strictjson.Value, text string) error {
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return c.fail(at, "the pattern %s does not compile as RE2: %s", quote(text), clipAndEscape(why))
	}
	return nil
}

// checkCount keeps counts where an int of every platform holds them (S52): the library converts them from floating
// point.
func (c *checker) checkCount(m strictjson.Member) error {
	if n, ok := m.Value.Int(); !ok || n < 0 || n > 1<<31-1 {
		return c.fail(m.Value, "%s is %s; it is a whole number from 0 to %d", m.Key, showValue(m.Value), 1<<31-1)
	}
	return nil
}

// checkBelow checks the schemas in a keyword's value. A value of another form is left to the draft's own schema.
func (c *checker) checkBelow(s shape, v *strictjson.Value) error {
	switch {
	case s == one, s == oneList && v.Kind != strictjson.Array:
		return c.checkSchema(v)
	case s == list || s == oneList:
		for _, item := range v.Items {
			if err := c.checkSchema(item); err != nil {
				return err
			}
		}
	case s == named || s == namedAny:
		for _, m := range v.Members {
			if s == namedAny && m.Value.Kind == strictjson.Array {
				continue
			}
			if err := c.checkSchema(m.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeForLibrary writes doc as JSON for the library, which wants a stream. Names are unique and numbers keep their
// text.
func encodeForLibrary(doc *strictjson.Value) string {
	b, err := json.Marshal(doc.Any())
	if err != nil {
		panic(err) // recovered by Compile
	}
	return string(b)
}
