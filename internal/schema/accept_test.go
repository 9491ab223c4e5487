package schema

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// TestAccept: what is plain to see is accepted without the library; what only the library knows, or what is invalid, is
// not.
func TestAccept(t *testing.T) {
	for _, c := range []struct {
		schema, doc string
		want        bool
	}{
		{`{}`, `1`, true}, {`true`, `{"a":[null]}`, true}, {`false`, `1`, false},
		{`{"type":"string","minLength":2,"maxLength":2,"pattern":"^.é$"}`, `"éé"`, true},
		{`{"minLength":3}`, `"éé"`, false}, {`{"maxLength":1}`, `"éé"`, false}, {`{"pattern":"^a"}`, `"b"`, false},
		{`{"pattern":"^a"}`, `1`, true},
		{`{"type":["number","null"]}`, `null`, true}, {`{"type":"number"}`, `1e999999`, false},
		{`{"type":"null"}`, `1e999999`, true},
		{`{"type":"integer"}`, `-12`, true}, {`{"type":"integer"}`, `12.0`, false}, {`{"type":"number"}`, `12`, true},
		{`{"type":"boolean"}`, `false`, true},
		{`{"required":["a"]}`, `{"a":null}`, true}, {`{"required":["a"]}`, `{"b":1}`, false},
		{`{"required":["a"]}`, `[]`, true},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"","b":1}`, true}, {`{"properties":{"a":{"type":"string"}}}`,
			`{"a":1}`, false},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1}`, true},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, false},
		{`{"additionalProperties":{"type":"number"}}`, `{"b":1}`, true}, {`{"additionalProperties":{"type":"number"}}`,
			`{"b":""}`, false},
		{`{"items":{"type":"number"},"minItems":1,"maxItems":2}`, `[1,2]`, true},
		{`{"items":{"type":"number"}}`, `[1,""]`, false},
		{`{"minItems":1}`, `[]`, false}, {`{"maxItems":1}`, `[1,2]`, false}, {`{"minProperties":1}`, `{}`, false},
		{`{"maxProperties":0}`, `{"a":1}`, false},
		{`{"enum":["a","b"]}`, `"b"`, true}, {`{"enum":["a"]}`, `"b"`, false}, {`{"enum":["a",1]}`, `"a"`, false},
		{`{"properties":{"a":{"minimum":1}}}`, `{"b":1}`, true}, {`{"properties":{"a":{"minimum":1}}}`, `{"a":1}`,
			false},
		{`{"if":{"type":"string"},"then":{"minLength":1}}`, `1`, false}, {`{"title":"t","x-of":{"minimum":1}}`, `1`,
			true},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `1`, false},
	} {
		if got := compile(t, c.schema).plain.surelyAccepts(parse(t, c.doc)); got != c.want {
			t.Errorf("%s accepts %s: %v, want %v", c.schema, c.doc, got, c.want)
		}
	}
}

// FuzzAccept states that nothing is accepted which the library refuses, whatever the schema and the document are.
func FuzzAccept(f *testing.F) {
	for _, schema := range seeds {
		for _, doc := range []string{`{"a":"x","b":1}`, `["a",1,1.0]`, `"2026-13-01"`, `{"a":{"b":[null]}}`, `1e999999`,
			`12.0`} {
			f.Add(schema, doc)
		}
	}
	f.Add(`{"properties":{"a":{"type":["integer","null"],"enum":["a"]}},"additionalProperties":{"maxLength":1},`+
		`"maxProperties":2}`, `{"a":3,"b":"c"}`)
	f.Fuzz(func(t *testing.T, schema, doc string) {
		lim := strictjson.Limits{MaxBytes: 1 << 12, MaxDepth: 16}
		source, err := strictjson.Parse([]byte(schema), lim)
		if err != nil {
			return
		}
		v, err := strictjson.Parse([]byte(doc), lim)
		if err != nil {
			return
		}
		s, err := Compile("schema", source)
		if err != nil || !s.plain.surelyAccepts(v) {
			return
		}
		library, err := s.compiled()
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Validate(v.Any()); err != nil {
			t.Fatalf("%s accepts %s, which the library refuses: %v", schema, doc, err)
		}
	})
}

// TestAcceptAgrees holds acceptors to the library over schemas and documents drawn from one small world, so that many
// of them meet: what is accepted is valid, and of what the words below say, all that is valid is accepted.
func TestAcceptAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 400 {
		src := drawSchema(r, 3)
		s := compile(t, src)
		library, err := s.compiled()
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		for range 50 {
			doc := parse(t, drawDocument(r, 3))
			valid, plain := library.Validate(doc.Any()) == nil, s.plain.surelyAccepts(doc)
			if valid != plain {
				t.Fatalf("%s: the library says %v of %s, the acceptor %v", src, valid, encodeForLibrary(doc), plain)
			}
			if plain {
				accepted++
			}
		}
	}
	if accepted < 1000 || accepted > 19000 {
		t.Errorf("%d of 20000 documents are accepted: the draw shows nothing", accepted)
	}
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func drawSchema(r *rand.Rand, depth int) string {
	if depth == 0 {
		return pick(r, `true`, `false`, `{}`, `{"type":"number"}`, `{"type":"string"}`)
	}
	words := []string{
		`"type":` + pick(r, `"object"`, `"array"`, `"string"`, `"null"`, `["object","array"]`, `["string","number"]`,
			`["integer","boolean","array","object"]`),
		`"required":` + pick(r, `[]`, `["a"]`, `["a","b"]`),
		fmt.Sprintf(`"properties":{"a":%s,"b":%s}`, drawSchema(r, depth-1), drawSchema(r, depth-1)),
		`"additionalProperties":` + drawSchema(r, depth-1), `"items":` + drawSchema(r, depth-1),
		fmt.Sprintf(`"%s":%d`, pick(r, "minLength", "maxLength", "minItems", "maxItems", "minProperties",
			"maxProperties"), r.IntN(3)),
		`"pattern":` + pick(r, `"^x"`, `"é$"`, `""`), `"title":"t"`,
	}
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return "{" + strings.Join(words[:r.IntN(4)], ",") + "}"
}

func drawDocument(r *rand.Rand, depth int) string {
	switch n := r.IntN(8); {
	case n < 3 && depth > 0:
		return fmt.Sprintf(`{"%s":%s,"%s":%s}`, pick(r, "a", "c"), drawDocument(r, depth-1), pick(r, "b", "d"),
			drawDocument(r, depth-1))
	case n < 5 && depth > 0:
		return fmt.Sprintf(`[%s,%s]`, drawDocument(r, depth-1), drawDocument(r, depth-1))
	}
	return pick(r, `1`, `-20`, `""`, `"x"`, `"xé"`, `"é"`, `null`, `true`, `1e999999`, `{}`, `[]`, `{"a":1}`)
}
