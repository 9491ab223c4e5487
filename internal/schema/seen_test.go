package schema

import (
	"strings"
	"testing"
)

// TestTextsAsSeen: a character that nobody sees lets no text pass and dodges no rule; a form that only looks another
// way to a program breaks nothing. What is wanted follows from S80 by hand.
func TestTextsAsSeen(t *testing.T) {
	for _, c := range []struct{ schema, doc, keyword string }{
		{`{"minLength":3}`, `"a\u200b\u200bb"`, "minLength"}, {`{"minLength":1}`, `"\u200b"`, "minLength"},
		{`{"minLength":2}`, `"ab"`, ""},
		{`{"pattern":"^[^0-9]*$"}`, `"call ５５５"`, "pattern"}, {`{"pattern":"\\S"}`, `"\u00a0\u3000"`, "pattern"},
		{`{"pattern":"^\\d{3}-\\d{4}$"}`, `"555\u20110123"`, ""},
		{`{"pattern":"^\\d{3}-\\d{4}$"}`, `"555\u2011\u200b0123"`, "pattern"},
		{`{"not":{"pattern":"secret"}}`, `"sec\u200bret"`, "not"}, {`{"not":{"pattern":"secret"}}`, `"sеcret"`, "not"},
		{`{"not":{"const":"no"}}`, `"ｎｏ"`, "not"},
		{`{"enum":["R-1","C 2"]}`, `"R\u20111"`, ""}, {`{"enum":["R-1","C 2"]}`, `"C\u00a02"`, ""},
		{`{"enum":["R-1"]}`, `"R-\u200b1"`, "enum"},
		{`{"enum":["1–4 family","1-4 family"]}`, `"1–4 family"`, ""}, {`{"const":"a\u00a0b"}`, `"a b"`, "const"},
		{`{"const":"a\u00a0b"}`, `"a\u00a0b"`, ""},
		{`{"pattern":"–"}`, `"1–4"`, ""}, {`{"pattern":"-"}`, `"1–4"`, ""}, {`{"maxLength":2}`, `"a…"`, ""},
		{`{"maxLength":1}`, `"e\u0301"`, ""}, {`{"maxLength":1}`, `"ab…"`, "maxLength"},
		{`{"uniqueItems":true}`, `["a-b","a\u2011b"]`, "uniqueItems"}, {`{"properties":{"enum":{"enum":["a–b"]}}}`,
			`{"enum":"a–b"}`, ""},
		{`{"minLength":4,"pattern":"^п"}`, `"привет\u00a0мир"`, ""}, {`{"minLength":2}`, `"👩\u200d👧"`, ""},
	} {
		var got []string
		for _, l := range compile(t, c.schema).Validate(parse(t, c.doc)) {
			got = append(got, l.Keyword)
		}
		if words := strings.Join(got, " "); words != c.keyword {
			t.Errorf("%s of %s breaks %q, want %q", c.doc, c.schema, words, c.keyword)
		}
	}
}
