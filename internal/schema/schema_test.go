package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// parse reads a document of a test, which may be any JSON value.
func parse(t testing.TB, src string) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 5 << 20, MaxDepth: 64})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

func compile(t testing.TB, src string) *Schema {
	t.Helper()
	s, err := Compile("sheet.json", parse(t, src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line is a leaf as the tests compare it.
func line(l Leaf) string {
	return fmt.Sprintf("%s [%s @ %s] %s", l.Pointer, l.Keyword, l.SchemaPointer, l.Message)
}

func lines(leaves []Leaf) []string {
	var out []string
	for _, l := range leaves {
		out = append(out, line(l))
	}
	return out
}

// TestLeaves holds one broken document against each keyword. The expected texts were written from the JSON Schema
// specification's meaning of the keyword.
func TestLeaves(t *testing.T) {
	tests := []struct {
		name, schema, doc string
		want              []string
	}{
		{"valid", `{"type":"object"}`, `{}`, nil},
		{"string for a number", `{"properties":{"a":{"type":"number"}}}`, `{"a":"9.5"}`,
			[]string{`/a [type @ /properties/a/type] is "9.5" (a string); the schema wants a number`}},
		{"number for a string", `{"type":"string"}`, `9.5`,
			[]string{` [type @ /type] is 9.5 (a number); the schema wants a string`}},
		{"whole number", `{"type":"integer"}`, `9.5`,
			[]string{` [type @ /type] is 9.5; the schema wants a whole number`}},
		{"whole number written with a point", `{"type":"integer"}`, `9.0`, nil},
		{"integers above 2^53", `{"const":9007199254740993}`, `9007199254740992`,
			[]string{` [const @ /const] is 9007199254740992; the schema wants 9007199254740993`}},
		{"types", `{"type":["number","null"]}`, `true`, []string{` [type @ /type] is true (a boolean); the schema ` +
			`wants a number or null`}},
		{"enum", `{"enum":["a","b"]}`, `"c"`,
			[]string{` [enum @ /enum] is "c" (a string); the schema wants one of "a", "b"`}},
		{"const", `{"const":null}`, `{}`,
			[]string{` [const @ /const] is an object of 0 members; the schema wants null`}},
		{"required, one each", `{"required":["a","b","c"]}`, `{"b":1}`, []string{
			` [required @ /required] has no member "a", which the schema requires`,
			` [required @ /required] has no member "c", which the schema requires`}},
		{"required, nearly there", `{"required":["agent_summary"],"properties":{"agent_summary":{}}}`,
			`{"agent_sumary":1}`,
			[]string{` [required @ /required] has no member "agent_summary", which the schema requires; is it the one ` +
				`called "agent_sumary"?`}},
		{"additional members, one each", `{"properties":{"noi":{}},"patternProperties":{"^x":{}},` +
			`"additionalProperties":false}`, `{"z":1,"nol":2,"noi":3,"x1":4}`, []string{
			`/z [additionalProperties @ /additionalProperties] is a member that the schema does not allow; known are ` +
				`"noi"`,
			`/nol [additionalProperties @ /additionalProperties] is a member that the schema does not allow; did you ` +
				`mean "noi"?`}},
		{"additional members by schema", `{"additionalProperties":{"type":"string"}}`, `{"z":1}`,
			[]string{`/z [type @ /additionalProperties/type] is 1 (a number); the schema wants a string`}},
		{"dependentRequired", `{"dependentRequired":{"a":["b","c"],"d":["e"]}}`, `{"a":1,"c":1}`,
			[]string{` [dependentRequired @ /dependentRequired] has no member "b", which the schema requires beside "a"`}},
		{"minimum", `{"minimum":10}`, `9.5`, []string{` [minimum @ /minimum] is 9.5; the schema wants at least 10`}},
		{"maximum is exact", `{"maximum":0.3}`, `0.30000000000000004`,
			[]string{` [maximum @ /maximum] is 0.30000000000000004; the schema wants at most 0.3`}},
		{"exclusiveMinimum", `{"exclusiveMinimum":10}`, `10`,
			[]string{` [exclusiveMinimum @ /exclusiveMinimum] is 10; the schema wants more than 10`}},
		{"exclusiveMaximum of draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","maximum":10,` +
			`"exclusiveMaximum":true}`, `10`,
			[]string{` [exclusiveMaximum @ /exclusiveMaximum] is 10; the schema wants less than 10`}},
		{"multipleOf", `{"multipleOf":0.01}`, `0.015`, []string{` [multipleOf @ /multipleOf] is 0.015; the schema ` +
			`wants a multiple of 0.01`}},
		{"minLength counts code points", `{"minLength":3}`, `"äö"`,
			[]string{` [minLength @ /minLength] is "äö" (a string), 2 characters long; the schema wants at least 3`}},
		{"pattern", `{"pattern":"^[a-z]+$"}`, `"A"`, []string{` [pattern @ /pattern] is "A" (a string); the schema ` +
			`wants text that matches the pattern ^[a-z]+$`}},
		{"format", `{"format":"date"}`, `"30.11.2026"`, []string{` [format @ /format] is "30.11.2026" (a string); the ` +
			`schema wants a date (2026-11-30)`}},
		{"format in a schema that names its draft", `{"$schema":"https://json-schema.org/draft/2020-12/schema",` +
			`"format":"date"}`, `"x"`,
			[]string{` [format @ /format] is "x" (a string); the schema wants a date (2026-11-30)`}},
		{"minItems", `{"minItems":1}`, `[]`,
			[]string{` [minItems @ /minItems] has 0 items; the schema wants at least 1`}},
		{"maxProperties", `{"maxProperties":1}`, `{"a":1,"b":2}`,
			[]string{` [maxProperties @ /maxProperties] has 2 members; the schema wants at most 1`}},
		{"uniqueItems", `{"uniqueItems":true}`, `[1,2,1.0]`,
			[]string{` [uniqueItems @ /uniqueItems] is an array of 3 items; the schema wants all items different, and ` +
				`items 0 and 2 (from 0) are equal`}},
		{"contains", `{"contains":{"const":1}}`, `[2,3]`,
			[]string{` [contains @ /minContains] is an array of 2 items; the schema wants at least 1 of them of the ` +
				`form under contains, and 0 fit`}},
		{"maxContains", `{"contains":{"const":1},"maxContains":1}`, `[1,1]`,
			[]string{` [maxContains @ /maxContains] is an array of 2 items; the schema wants at most 1 of them of the ` +
				`form under contains, and 2 fit`}},
		{"not", `{"not":{"const":0}}`, `0`, []string{` [not @ /not] is 0, which the schema forbids`}},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`,
			[]string{`/a [properties @ /properties/a] is not allowed here; remove it`}},
		{"unevaluated", `{"properties":{"a":true},"unevaluatedProperties":false}`, `{"b":1}`,
			[]string{`/b [unevaluatedProperties @ /unevaluatedProperties] is not allowed here; remove it`}},
		{"surplus items of a tuple", `{"prefixItems":[{}],"items":false}`, `[1,2]`,
			[]string{`/1 [items @ /items] is not allowed here; remove it`}},
		{"surplus items in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],` +
			`"additionalItems":false}`, `[1,2]`,
			[]string{` [additionalItems @ /additionalItems] has 2 items; the schema wants at most 1`}},
		{"member names", `{"propertyNames":{"maxLength":2}}`, `{"abc":1}`,
			[]string{`/abc [maxLength @ /propertyNames/maxLength] is the name "abc", 3 characters long; the schema ` +
				`wants at most 2`}},
		{"behind a reference", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}}`, `"x"`,
			[]string{` [type @ /$defs/n/type] is "x" (a string); the schema wants a number`}},
		{"one schema by two ways is said once", `{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}],` +
			`"$defs":{"n":{"type":"number"}}}`, `"x"`,
			[]string{` [type @ /$defs/n/type] is "x" (a string); the schema wants a number`}},
		{"recursive", `{"properties":{"next":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"next":{"v":1,"next":{}}}`,
			[]string{`/next/next [required @ /required] has no member "v", which the schema requires`}},
		{"if, then", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`,
			[]string{` [required @ /then/required] has no member "b", which the schema requires`}},
		{"names that need escaping", `{"properties":{"a/b %~é":{"type":"number"}}}`, `{"a/b %~é":""}`,
			[]string{`/a~1b %~0é [type @ /properties/a~1b %~0é/type] is "" (a string); the schema wants a number`}},
		{"a member called like a keyword", `{"properties":{"anyOf":{"properties":{"type":{"type":"number"}}}}}`,
			`{"anyOf":{"type":""}}`,
			[]string{`/anyOf/type [type @ /properties/anyOf/properties/type/type] is "" (a string); the schema wants ` +
				`a number`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(compile(t, test.schema).Validate(parse(t, test.doc))); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestChoices(t *testing.T) {
	const forms = `{"anyOf":[{"type":"null"},{"type":"object","required":["a","b"]},{"type":"object","required":["c"],` +
		`"properties":{"c":{"type":"number"}}}]}`
	tests := []struct {
		name, schema, doc string
		want              []string
	}{
		{"the type fits in no form", `{"anyOf":[{"type":"number"},{"type":"null"},{"type":"number","minimum":3}]}`,
			`"x"`,
			[]string{` [anyOf @ /anyOf] is "x" (a string); the schema wants a number or null`}},
		{"constants", `{"oneOf":[{"const":"a"},{"const":"b"}]}`, `"c"`,
			[]string{` [oneOf @ /oneOf] is "c" (a string); the schema wants "a" or "b"`}},
		{"the nearest form of the right type", forms, `{}`, []string{
			` [anyOf @ /anyOf] fits none of the 3 forms that the schema allows; form 3 comes nearest and fails in 1 ` +
				`place`,
			` [required @ /anyOf/2/required] has no member "c", which the schema requires`}},
		{"several failures in a form", `{"anyOf":[{"required":["a","b"]},{"required":["c","d","e"]}]}`, `{}`, []string{
			` [anyOf @ /anyOf] fits none of the 2 forms that the schema allows; form 1 comes nearest and fails in 2 ` +
				`places`,
			` [required @ /anyOf/0/required] has no member "a", which the schema requires`,
			` [required @ /anyOf/0/required] has no member "b", which the schema requires`}},
		{"two forms at once", `{"oneOf":[{"type":"number"},{"type":"string"},{"minimum":1}]}`, `1`,
			[]string{` [oneOf @ /oneOf] is 1; the schema wants exactly one of its forms, and forms 1 and 3 both fit`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(compile(t, test.schema).Validate(parse(t, test.doc))); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestProperty(t *testing.T) {
	s := compile(t, `{"required":["abc"],"properties":{"cde":{}},"additionalProperties":false}`)
	leaves := s.Validate(parse(t, `{"abd":1}`))
	want := []Leaf{
		{Pointer: "", Keyword: "required", SchemaPointer: "/required", Property: "abc", Want: `a member "abc"`,
			Got:     "absent",
			Message: `has no member "abc", which the schema requires; is it the one called "abd"?`},
		{Pointer: "/abd", Keyword: "additionalProperties", SchemaPointer: "/additionalProperties", Property: "abd",
			Want: "no further member", Got: `"abd"`,
			Message: `is a member that the schema does not allow; known are "cde"`},
	}
	if !reflect.DeepEqual(leaves, want) {
		t.Errorf("got %+v", leaves)
	}
}

// TestOrder states document order and that the library's walk over maps does not show.
func TestOrder(t *testing.T) {
	var members, properties []string
	for i := range 40 {
		members = append(members, fmt.Sprintf(`"m%d":"x"`, (i*7)%40))
		properties = append(properties, fmt.Sprintf(`"m%d":{"type":"number","maxLength":0}`, i))
	}
	s := compile(t, `{"properties":{`+strings.Join(properties, ",")+`},"required":["z"]}`)
	doc := parse(t, `{`+strings.Join(members, ",")+`}`)
	first := s.Validate(doc)
	if len(first) != 41 || first[0].Keyword != "required" {
		t.Fatalf("%d leaves, first %+v", len(first), first[0])
	}
	for i, m := range doc.Members {
		if first[i+1].Pointer != "/"+m.Key {
			t.Fatalf("leaf %d is at %s, member %s", i+1, first[i+1].Pointer, m.Key)
		}
	}
	for range 20 {
		if !reflect.DeepEqual(first, s.Validate(doc)) {
			t.Fatal("two runs differ")
		}
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"remote reference", `{"$ref":"https://example.com/x.json"}`,
			`sheet.json: line 1, column 9 (/$ref): $ref "https://example.com/x.json" (a string) leads to another document; ` +
				`a schema is complete in itself: put the definition under $defs and write #/$defs/…`},
		{"file reference", `{"items":{"$ref":"file:///etc/passwd"}}`, "leads to another document"},
		{"reference beside it", `{"$ref":"other.json#/a"}`, "leads to another document"},
		{"remote dynamic reference", `{"$dynamicRef":"https://example.com/x#a"}`, "leads to another document"},
		{"remote recursive reference", `{"$schema":"https://json-schema.org/draft/2019-09/schema",` +
			`"$recursiveRef":"https://example.com/x"}`, "leads to another document"},
		{"reference in an unused definition", `{"$defs":{"a":{"$ref":"http://x/"}}}`, "leads to another document"},
		{"reference that is no string", `{"$ref":1}`, "$ref is 1; it is a string that begins with #"},
		{"reference to nothing", `{"$ref":"#/$defs/a"}`, "#/$defs/a not found"},
		{"reference to itself", `{"$ref":"#"}`, "infinite loop"},
		{"unknown draft", `{"$schema":"https://example.com/my-draft"}`,
			`not a published draft; known are https://json-schema.org/draft-04/schema, `},
		{"another draft below", `{"items":{"$schema":"http://json-schema.org/draft-07/schema#"}}`,
			"one document has one draft"},
		{"misspelt keyword", `{"requried":["a"]}`, `"requried" is not a JSON Schema keyword and would check nothing; ` +
			`did you mean "required"?`},
		{"unknown keyword", `{"foobarbazqux":1}`, "use x- for names of your own"},
		{"keyword of an older draft", `{"additionalItems":false}`,
			"draft 2020 ignores additionalItems; write prefixItems for the first items"},
		{"keyword of a later draft", `{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{}]}`,
			"draft 7 ignores prefixItems; it came with draft 2020"},
		{"keyword beside a reference", `{"$schema":"http://json-schema.org/draft-07/schema#",` +
			`"properties":{"a":{"$ref":"#","minItems":1}}}`, "where draft 7 ignores it"},
		{"unknown format", `{"format":"data"}`, `format "data" (a string) is unknown and would check nothing; known ` +
			`are date, `},
		{"look-ahead", `{"pattern":"(?=a)"}`, `the pattern "(?=a)" does not compile as RE2`},
		{"pattern of names", `{"patternProperties":{"(a":{}}}`,
			`the pattern "(a" does not compile as RE2: missing closing )`},
		{"huge count", `{"minLength":1e30}`, "minLength is 1e30; it is a whole number from 0 to 2147483647"},
		{"fractional count", `{"maxItems":1.5}`, "maxItems is 1.5; it is a whole number"},
		{"hostile number", `{"maximum":1e5000000}`, "the number 1e5000000 is out of range"},
		{"wrong type of a keyword", `{"properties":{"a":{"required":"b"}}}`, "(/properties/a/required)"},
		{"unknown type", `{"type":"float"}`, "(/type)"},
		{"schema that is false in draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","not":false}`,
			"false where a schema is expected"},
		{"no schema", `3`, "3 where a schema is expected"},
		{"array for items", `{"items":[{}]}`, "(/items)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := Compile("sheet.json", parse(t, test.schema))
			if err == nil || s != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v\nwant %s", s, err, test.want)
			}
			if _, ok := err.(*Error); !ok {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
	if _, err := Compile("sheet.json", nil); err == nil {
		t.Error("no document compiles")
	}
}

// TestAccepted holds schemas that look like refused ones: the same names where they are data or the author's own.
func TestAccepted(t *testing.T) {
	for _, src := range []string{
		`{"properties":{"$ref":{"type":"string"},"requried":{}},"x-unit":"USD","const":{"$ref":"http://x/"},` +
			`"enum":[{"foo":1}],"default":{"minLength":-1}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema#","$id":"https://example.com/own",` +
			`"$ref":"#/$defs/a","$defs":{"a":{"$anchor":"q"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema","properties":{"a":{"$ref":"#/definitions/a",` +
			`"description":"beside"}},"definitions":{"a":true}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","additionalProperties":false,"items":[{}],` +
			`"additionalItems":true}`,
		`true`,
	} {
		compile(t, src)
	}
}

// TestOutOfRange shows that a number beyond S11 is named as such and that its digits reach no arithmetic.
func TestOutOfRange(t *testing.T) {
	got := lines(compile(t, `{"type":"number","maximum":3}`).Validate(parse(t, `1e5000000`)))
	want := []string{` [type @ /type] is 1e5000000 (a number out of range: at most 34 digits, exponents within ±300); ` +
		`the schema wants a number`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestLimits(t *testing.T) {
	s := compile(t, `{"items":{"type":"string"}}`)
	many := s.Validate(parse(t, `[`+strings.Repeat("1,", 499)+`1]`))
	if len(many) != 201 || many[0].Pointer != "/0" || many[199].Pointer != "/199" ||
		many[200].Message != "breaks the schema in 300 more places, not listed" {
		t.Errorf("%d leaves, last %+v", len(many), many[len(many)-1])
	}
	tooMany := s.Validate(parse(t, `[`+strings.Repeat("1,", maxValues)+`1]`))
	if len(tooMany) != 1 || tooMany[0].Keyword != "limit" ||
		!strings.Contains(tooMany[0].Message, "holds 250002 values; at most 250000") {
		t.Errorf("got %+v", tooMany)
	}
}

// TestBrokenIsNoPass states that a failing library is a finding.
func TestBrokenIsNoPass(t *testing.T) {
	broken := &Schema{} // nil inside: the library panics
	if leaves := broken.Validate(parse(t, `{}`)); len(leaves) != 1 || leaves[0].Keyword != "internal" {
		t.Errorf("got %+v", leaves)
	}
	if leaves := compile(t, `{}`).Validate(nil); len(leaves) != 1 || leaves[0].Keyword != "internal" {
		t.Errorf("no document: got %+v", leaves)
	}
}

func TestMessagesAreClean(t *testing.T) {
	s := compile(t, `{"additionalProperties":false,"required":["a"]}`)
	name, _ := json.Marshal("\u202e\x1b[31m\u200b\n" + strings.Repeat("x", 500))
	for _, l := range s.Validate(parse(t, `{`+string(name)+`:1}`)) {
		if strings.ContainsAny(l.Message, "\u202e\x1b\u200b\n") || len(l.Message) > 400 {
			t.Errorf("message %q", l.Message)
		}
	}
}

// seeds are schemas that use every part of the flattener.
var seeds = []string{
	`{"type":"object","required":["a"],"properties":{"a":{"type":"number","minimum":1}},"additionalProperties":false}`,
	`{"anyOf":[{"type":"null"},{"oneOf":[{"required":["a"]},{"minItems":1,"items":{"$ref":"#"}}]}]}`,
	`{"contains":{"const":1},"maxContains":1,"uniqueItems":true,"prefixItems":[{"multipleOf":0.1}],` +
		`"unevaluatedItems":false}`,
	`{"propertyNames":{"pattern":"^a"},"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"minProperties":3}},` +
		`"not":{"const":0}}`,
	`{"if":{"type":"string"},"then":{"format":"date","maxLength":3},"else":false}`,
}

// FuzzValidate states that no document makes Validate panic, that it is deterministic, and that only a valid document
// has no leaves.
func FuzzValidate(f *testing.F) {
	for _, doc := range []string{`{"a":"x"}`, `[1,1,2]`, `"2026-13-01"`, `{"a":{"b":[null]}}`, `1e999999`,
		`{"~1/":1}`} {
		f.Add(doc)
	}
	var schemas []*Schema
	for _, src := range seeds {
		schemas = append(schemas, compile(f, src))
	}
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 16, MaxDepth: 64})
		if err != nil {
			return
		}
		for _, s := range schemas {
			leaves := s.Validate(doc)
			library, err := s.compiled()
			if err != nil {
				t.Fatal(err)
			}
			if (library.Validate(doc.Any()) == nil) != (len(leaves) == 0) {
				t.Fatalf("%s: leaves %v do not agree with the library", src, leaves)
			}
			if !reflect.DeepEqual(leaves, s.Validate(doc)) {
				t.Fatalf("%s: two runs differ", src)
			}
			if slices.ContainsFunc(leaves, func(l Leaf) bool { return l.Keyword == "internal" || l.Message == "" }) {
				t.Fatalf("%s: %v", src, leaves)
			}
		}
	})
}

// FuzzCompile states that no schema makes Compile panic or reach out, and that what compiles also validates.
func FuzzCompile(f *testing.F) {
	for _, src := range append(seeds, `{"$ref":"#/$defs/a"}`, `{"$id":"x","$anchor":"y","$ref":"#y"}`,
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
		`{"properties":{"Turn Rate (deg/s)":{"type":"null"},"..":{},"/":{}}}`) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 12, MaxDepth: 16})
		if err != nil {
			return
		}
		s, err := Compile("fuzz", doc)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Fatalf("%s: %v, %v", src, s, err)
			}
			return
		}
		if _, err := s.compiled(); err != nil {
			t.Fatalf("%s is taken for simple, and the library refuses it: %v", src, err)
		}
		s.Validate(doc)
	})
}

// TestSimple: what is compiled later is what the library can refuse nothing of; anything else it reads at once.
func TestSimple(t *testing.T) {
	for src, want := range map[string]bool{
		`true`: true, `{}`: true, `{"type":["string","null"],"pattern":"^a","x-of":1}`: true,
		`{"properties":{"a":{"items":{"enum":[1],"minimum":0}}},"required":["a"]}`: true,
		`{"$ref":"#/$defs/a"}`: false, `{"$id":"https://example.com/"}`: false,
		`{"properties":{"Turn Rate (deg/s)":{}}}`: true, `{"properties":{"a%2":{}}}`: false,
		`{"type":[]}`: false, `{"type":["string","string"]}`: false, `{"type":"float"}`: false,
		`{"required":"a"}`: false, `{"required":["a","a"]}`: false,
		`{"allOf":[]}`: false, `{"allOf":{}}`: false, `{"items":[{}]}`: false, `{"properties":[]}`: false,
		`{"multipleOf":0}`: false, `{"uniqueItems":1}`: false,
		`{"minimum":"1"}`: false, `{"not":{"not":{"title":1}}}`: false,
	} {
		if got := isSimpleSchema(parse(t, src)); got != want {
			t.Errorf("%s: simple is %v", src, got)
		}
	}
}

// BenchmarkValidate is the schema stage on a submission of ordinary size.
func BenchmarkValidate(b *testing.B) {
	s := compile(b, `{"type":"object","required":["a","c"],"properties":{"a":{"type":"array","items":{"type":"object",`+
		`"required":["n"],"properties":{"n":{"type":"number"}}}}}}`)
	doc := parse(b, `{"c":1,"a":[`+strings.Repeat(`{"n":1.5,"m":"text"},`, 40)+`{"n":2}]}`)
	for b.Loop() {
		s.Validate(doc)
	}
}
