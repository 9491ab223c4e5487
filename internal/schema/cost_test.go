package schema

import (
	"fmt"
	"strings"
	"testing"
)

// doubling is a schema in which each of n definitions applies the next one twice: 2ⁿ in all, in a few kilobytes.
func doubling(n int, twice string) string {
	defs := make([]string, 0, n+1)
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":%s`, i,
			strings.ReplaceAll(twice, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1))))
	}
	return fmt.Sprintf(`{"$defs":{%s,"d%d":{"type":"object"}},"$ref":"#/$defs/d0"}`, strings.Join(defs, ","), n)
}

// TestDoublingSchemaIsRefused: a schema that applies too often at one place does not load; one that does so a few times
// does.
func TestDoublingSchemaIsRefused(t *testing.T) {
	for _, twice := range []string{`{"allOf":[NEXT,NEXT]}`, `{"anyOf":[NEXT,NEXT]}`, `{"oneOf":[NEXT,NEXT]}`,
		`{"if":NEXT,"then":NEXT}`, `{"not":NEXT,"allOf":[NEXT]}`, `{"dependentSchemas":{"a":NEXT,"b":NEXT}}`} {
		src := doubling(40, twice)
		if len(src) > 8<<10 {
			t.Fatalf("%d bytes", len(src))
		}
		_, err := Compile("sheet.json", parse(t, src))
		if err == nil || !strings.Contains(err.Error(), "more than 10000 schemas apply to one place") {
			t.Errorf("%s forty times: %v", twice, err)
		}
		if s, err := Compile("sheet.json", parse(t, doubling(8, twice))); err != nil {
			t.Errorf("%s eight times: %v", twice, err)
		} else if leaves := s.tooMuch(parse(t, `{}`)); leaves != nil {
			t.Errorf("%s eight times takes more than %d steps", twice, maxSteps)
		}
	}
}

// TestDoublingDocumentIsNotValidated: what doubles from one depth of the document to the next loads, and is not held
// against a deep document.
func TestDoublingDocumentIsNotValidated(t *testing.T) {
	s, err := Compile("sheet.json",
		parse(t, doubling(40, `{"properties":{"a":NEXT},"allOf":[{"properties":{"a":NEXT}}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, 45) + "1" + strings.Repeat("}", 45)
	leaves := s.Validate(parse(t, deep))
	if len(leaves) != 1 || leaves[0].Keyword != "limit" ||
		!strings.Contains(leaves[0].Message, "more than 2000000 steps") {
		t.Errorf("%+v", leaves)
	}
	if leaves := s.Validate(parse(t, `{"a":{"a":{"a":{}}}}`)); len(leaves) != 0 {
		t.Errorf("a shallow document: %+v", leaves)
	}
}

// TestCostlyDocuments: what the library would compare pair by pair, or find wrong in too many places, is said and not
// done.
func TestCostlyDocuments(t *testing.T) {
	for _, c := range []struct{ schema, doc, words string }{
		{`{"uniqueItems":true}`, arrayOf("#", 3000), "more than 2000000 steps"},
		{`{"items":{"type":"object"}}`, arrayOf("1", 120_000), "may break the schema in more than 100000 places"},
		{`{"items":{"allOf":[{"minimum":0},{"minimum":1},{"minimum":2},{"minimum":3},{"minimum":4},{"minimum":5},` +
			`{"minimum":6},{"minimum":7},{"minimum":8},{"minimum":9}]}}`, arrayOf("9", 200_000),
			"more than 2000000 steps"},
	} {
		leaves := compile(t, c.schema).Validate(parse(t, c.doc))
		if len(leaves) != 1 || leaves[0].Keyword != "limit" || !strings.Contains(leaves[0].Message, c.words) {
			t.Errorf("%s: %+v", c.schema, leaves)
		}
	}
	for _, c := range []struct{ schema, doc string }{{`{"uniqueItems":true}`, arrayOf("#", 1000)},
		{`{"items":{"minimum":0}}`, arrayOf("1", 90_000)}, {`{"items":{"type":"number"}}`, arrayOf("1", 200_000)}} {
		if leaves := compile(t, c.schema).Validate(parse(t, c.doc)); len(leaves) > 0 {
			t.Errorf("%s refuses what is valid: %+v", c.schema, leaves)
		}
	}
}

// arrayOf is an array of n items, # standing for the number of each.
func arrayOf(item string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// TestCosterIsNoLess: the coster applies at least the schemas that the keywords of this list name, at each place of the
// document, by hand.
func TestCosterIsNoLess(t *testing.T) {
	for _, c := range []struct {
		schema, doc string
		steps       int
	}{
		{`{}`, `1`, 1}, {`{"items":{}}`, `[1,2,3]`, 4}, {`{"properties":{"a":{},"b":{}}}`, `{"a":1}`, 2},
		{`{"additionalProperties":{"items":{}}}`, `{"a":[1],"b":[2,3]}`, 6},
		{`{"$defs":{"x":{"type":"null"}},"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}`, `1`, 5},
		{`{"$defs":{"x":{"$anchor":"n"}},"$ref":"#n"}`, `1`, 2}, {`{"prefixItems":[{},{}]}`, `[1,2,3]`, 3},
		{`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`, 5}, {`{"enum":[1,2,3]}`, `1`, 4},
		{`{"uniqueItems":true}`, `[1,2,3,4]`, 7}, {`{"propertyNames":{"pattern":"a"}}`, `{"a":1,"b":2}`, 3},
	} {
		root := parse(t, c.schema)
		count := newCoster(root, maxSteps)
		count.countSchema(root, parse(t, c.doc))
		if got := maxSteps - count.left; got != c.steps {
			t.Errorf("%s over %s: %d steps, want %d", c.schema, c.doc, got, c.steps)
		}
	}
}
