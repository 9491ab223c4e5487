package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var anyLimits = Limits{MaxBytes: 5 << 20, MaxDepth: 64}

// Positions are counted by hand in the source text of each case.
func TestRefusals(t *testing.T) {
	cases := []struct {
		name, src, code string
		line, col       int
		pointer, says   string
	}{
		{"duplicate key", "{\n \"a\": 1,\n \"a\": 2}", codeDuplicate, 3, 2, "/a",
			`duplicate key "a" (first at line 2, column 2)`},
		{"duplicate key, escaped", `{"a":1,"\u0061":2}`, codeDuplicate, 1, 8, "/a", `duplicate key "a"`},
		{"duplicate key, deep", `{"x":[{"b":1,"b":1}]}`, codeDuplicate, 1, 14, "/x/0/b", `duplicate key "b"`},
		{"invalid UTF-8 in a string", "{\"a\":\"x\xff\"}", codeUTF8, 1, 8, "/a", "byte 0xFF"},
		{"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", codeUTF8, 1, 7, "/a", "byte 0xC0"},
		{"UTF-8 surrogate", "{\"a\":\"\xed\xa0\x80\"}", codeUTF8, 1, 7, "/a", "byte 0xED"},
		{"invalid UTF-8 in a name", "{\"\xfe\":1}", codeUTF8, 1, 3, "", "byte 0xFE"},
		{"invalid UTF-8 outside", "{\"a\":\xff}", codeUTF8, 1, 6, "/a", "byte 0xFF"},
		{"invalid UTF-8 after the end", "{}\xff", codeUTF8, 1, 3, "", "byte 0xFF"},
		{"lone high surrogate", `{"a":"é\uD83D"}`, codeSurrogate, 1, 8, "/a", `\uD83D is half of a surrogate pair`},
		{"lone low surrogate", `{"a":"\udc00"}`, codeSurrogate, 1, 7, "/a", `\uDC00`},
		{"high surrogate and a letter", `{"a":"\uD83D\u0041"}`, codeSurrogate, 1, 7, "/a", `half of a surrogate pair`},
		{"byte order mark", "\xef\xbb\xbf{}", codeBOM, 1, 1, "", "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00", codeBOM, 1, 1, "", "UTF-16"},
		{"empty", "", codeEmpty, 1, 1, "", "empty"},
		{"white space only", "\n  ", codeEmpty, 2, 3, "", "empty"},
		{"trailing value", "{}\n{}", codeTrailing, 2, 1, "", ".jsonl"},
		{"trailing null byte", "{}\x00", codeTrailing, 1, 3, "", "a null byte"},
		{"NaN", `{"a": NaN}`, codeSyntax, 1, 7, "/a", "NaN is not JSON"},
		{"Infinity", `{"a":Infinity}`, codeSyntax, 1, 6, "/a", "Infinity is not JSON"},
		{"-Infinity", `{"a":-Infinity}`, codeSyntax, 1, 6, "/a",
			"-Infinity is not a JSON number; leave the member out"},
		{"hex", `{"a":0x1F}`, codeSyntax, 1, 6, "/a", "0x1F is not a JSON number; numbers are written in decimal"},
		{"leading zeros", `{"a":007}`, codeSyntax, 1, 6, "/a", "no leading zeros"},
		{"negative leading zeros", `{"a":-01}`, codeSyntax, 1, 6, "/a", "no leading zeros"},
		{"leading plus", `{"a":+1}`, codeSyntax, 1, 6, "/a", "no leading plus"},
		{"leading point", `{"a":.5}`, codeSyntax, 1, 6, "/a", "write a 0 before it"},
		{"closing point", `{"a":5.}`, codeSyntax, 1, 6, "/a", "a digit must follow the decimal point"},
		{"bare minus", `{"a":-}`, codeSyntax, 1, 6, "/a", "a digit must follow the minus sign"},
		{"empty exponent", `{"a":1e+}`, codeSyntax, 1, 6, "/a", "a digit must follow the exponent's e"},
		{"underscores", `{"a":1_000}`, codeSyntax, 1, 6, "/a", "1_000 is not a JSON number"},
		{"two points", `{"a":1.2.3}`, codeSyntax, 1, 6, "/a", "not a JSON number"},
		{"Python True", `{"a":True}`, codeSyntax, 1, 6, "/a", "write true"},
		{"truex", `{"a":truex}`, codeSyntax, 1, 6, "/a", "truex is not JSON"},
		{"nul", `{"a":nul}`, codeSyntax, 1, 6, "/a", "nul is not JSON"},
		{"bare word", `{"a":hello}`, codeSyntax, 1, 6, "/a", "double quotes"},
		{"bare name", `{a:1}`, codeSyntax, 1, 2, "", "the name a must stand in double quotes"},
		{"single quotes", `{'a':1}`, codeSyntax, 1, 2, "", "single quote"},
		{"typographic quotes", `{“a”:1}`, codeSyntax, 1, 2, "", "typographic quote"},
		{"comment", "{\"a\":1, // one\n\"b\":2}", codeSyntax, 1, 9, "", "JSON has no comments"},
		{"tab in a string", "{\"a\":\"x\ty\"}", codeSyntax, 1, 8, "/a", `write it as \t`},
		{"newline in a string", "{\"a\":\"x\ny\"}", codeSyntax, 1, 8, "/a", `write it as \n`},
		{"null byte in a string", "{\"a\":\"\x00\"}", codeSyntax, 1, 7, "/a", `write it as \u0000`},
		{"null byte as value", "{\"a\":\x00}", codeSyntax, 1, 6, "/a", "a null byte"},
		{"unknown escape", `{"a":"\x41"}`, codeSyntax, 1, 7, "/a", "no escape of JSON"},
		{"short \\u", `{"a":"\u12"}`, codeSyntax, 1, 7, "/a", "four hexadecimal digits"},
		{"cut in an escape", `{"a":"\`, codeSyntax, 1, 6, "/a", "not closed"},
		{"unclosed string", "{\"a\":\n \"x", codeSyntax, 2, 2, "/a", "not closed"},
		{"unclosed after escape", `{"a":"\n`, codeSyntax, 1, 6, "/a", "not closed"},
		{"unclosed object", `{"a":1`, codeSyntax, 1, 7, "", "the end of the document found"},
		{"trailing comma, object", `{"a":1,}`, codeSyntax, 1, 7, "", "a comma before the closing"},
		{"trailing comma, array", `{"a":[1, ]}`, codeSyntax, 1, 8, "/a", "a comma before the closing"},
		{"missing comma", `{"a":[1 2]}`, codeSyntax, 1, 9, "/a", "a comma or the closing"},
		{"missing colon", `{"a" 1}`, codeSyntax, 1, 6, "", "a colon after the name \"a\""},
		{"missing value", `{"a":}`, codeSyntax, 1, 6, "/a", "where a value is expected"},
		{"form feed is no white space", "{\f}", codeSyntax, 1, 2, "", "a name in double quotes"},
		{"no-break space is no white space", "{\u00a0}", codeSyntax, 1, 2, "", "a name in double quotes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := Parse([]byte(c.src), anyLimits)
			e := refusal(t, v, err)
			if e.Code != c.code || e.Pos.Line != c.line || e.Pos.Col != c.col || e.Pointer != c.pointer {
				t.Errorf("got %s at %d:%d, pointer %q; want %s at %d:%d, pointer %q", e.Code, e.Pos.Line, e.Pos.Col,
					e.Pointer, c.code, c.line, c.col, c.pointer)
			}
			if !strings.Contains(e.Error(), c.says) {
				t.Errorf("message %q does not say %q", e, c.says)
			}
			if !strings.HasPrefix(e.Error(), fmt.Sprintf("line %d, column %d: ", c.line, c.col)) {
				t.Errorf("message %q does not begin with the place", e)
			}
		})
	}
}

func refusal(t *testing.T, v *Value, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("accepted, or not a *Error: %v", err)
	}
	if v != nil {
		t.Error("a refused document gave a value")
	}
	return e
}

func TestNotAnObject(t *testing.T) {
	for src, says := range map[string]string{`[1]`: "an array", ` 1`: "a number", `"x"`: "a string", `null`: "null",
		`true`: "a boolean"} {
		v, err := Parse([]byte(src), SubmissionLimits)
		if e := refusal(t, v, err); e.Code != codeNotObject || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v", src, e)
		}
		if _, err := Parse([]byte(src), anyLimits); err != nil {
			t.Errorf("%s without Limits.Object: %v", src, err)
		}
	}
}

func TestDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Parse(nested(64), anyLimits); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	v, err := Parse(nested(65), anyLimits)
	if e := refusal(t, v, err); e.Code != codeDepth || e.Pos.Col != 65 {
		t.Errorf("65 levels: %v", e)
	}
	for _, open := range []string{"[", `{"a":`} {
		v, err := Parse([]byte(strings.Repeat(open, 100_000)), anyLimits)
		if e := refusal(t, v, err); e.Code != codeDepth || e.Pos.Offset != 64*len(open) {
			t.Errorf("100,000 times %s: %v", open, e)
		}
	}
	v, err = Parse([]byte(`{"a":{}}`), Limits{MaxDepth: 1})
	if e := refusal(t, v, err); e.Code != codeDepth || e.Pointer != "/a" {
		t.Errorf("MaxDepth 1: %v", e)
	}
}

func TestSize(t *testing.T) {
	fits := []byte(`{"a":"` + strings.Repeat("x", SubmissionLimits.MaxBytes-8) + `"}`)
	if _, err := Parse(fits, SubmissionLimits); err != nil {
		t.Errorf("5 MiB: %v", err)
	}
	for _, lim := range []Limits{SubmissionLimits, {}} {
		v, err := Parse(append(fits, ' '), lim)
		if e := refusal(t, v, err); e.Code != codeSize || !strings.Contains(e.Message, "more than the 5242880 bytes") {
			t.Errorf("one byte more: %v", e)
		}
	}
}

func TestManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k0":0`)
	for i := 1; i < 50_000; i++ {
		fmt.Fprintf(&b, ",\n\"k%d\":%d", i, i)
	}
	if _, err := Parse([]byte(b.String()+"}"), anyLimits); err != nil {
		t.Fatal(err)
	}
	v, err := Parse([]byte(b.String()+",\n\"k777\":1}"), anyLimits)
	if e := refusal(t, v, err); e.Code != codeDuplicate ||
		!strings.Contains(e.Message, "first at line 778, column 1") || e.Pos.Line != 50_001 {
		t.Errorf("%v", e)
	}
}

func TestMessagesPrint(t *testing.T) {
	hostile := "\u202e\x7f\u009b31m" + strings.Repeat("x", 1000)
	v, err := Parse([]byte(`{"`+hostile+`":1,"`+hostile+`":2}`), anyLimits)
	e := refusal(t, v, err)
	if strings.ContainsAny(e.Error(), "\u202e\x7f\u009b") || len(e.Error()) > 400 {
		t.Errorf("message repeats hostile text: %q", e)
	}
}

const sample = `{
  "a": 1.50,
  "é𝄞": "x", "b": [true, {"c/d~": null}, -0],
  "s": "q\"\\\/\b\f\n\r\t\u00e9\ud834\udd1e"
}`

func TestPlaces(t *testing.T) {
	root := mustParse(t, sample)
	// Counted by hand: columns are code points, so that "é𝄞" is 4 wide with its quotes.
	places := map[string]struct{ line, col int }{
		"": {1, 1}, "/a": {2, 8}, "/é𝄞": {3, 9}, "/b": {3, 19}, "/b/0": {3, 20}, "/b/1": {3, 26},
		"/b/1/c~1d~0": {3, 35}, "/b/2": {3, 42}, "/s": {4, 8},
	}
	n := 0
	root.Walk(func(v *Value) bool {
		n++
		want, ok := places[v.Pointer()]
		if !ok || v.Pos.Line != want.line || v.Pos.Col != want.col {
			t.Errorf("%q at %d:%d, want %v", v.Pointer(), v.Pos.Line, v.Pos.Col, want)
		}
		if root.At(v.Pointer()) != v {
			t.Errorf("At(%q) is another value", v.Pointer())
		}
		return true
	})
	if n != len(places) {
		t.Errorf("walked over %d values, want %d", n, len(places))
	}
	if m := root.Members[1]; m.KeyPos.Line != 3 || m.KeyPos.Col != 3 {
		t.Errorf("name at %+v", m.KeyPos)
	}
	if got := string(root.At("/b/1").Source([]byte(sample))); got != `{"c/d~": null}` {
		t.Errorf("source %q", got)
	}
	if got, _ := root.Get("s").Str(); got != "q\"\\/\b\f\n\r\té𝄞" {
		t.Errorf("decoded %q", got)
	}
	if got := root.Get("a").Text; got != "1.50" {
		t.Errorf("number text %q: the digits as written are lost", got)
	}
}

func mustParse(t testing.TB, src string) *Value {
	t.Helper()
	v, err := Parse([]byte(src), anyLimits)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// The bound of S11, each side of each edge.
func TestOutOfRange(t *testing.T) {
	in := []string{"0", "-0", "1e300", "1e-300", "9.99e300", "-1E+300", strings.Repeat("9", 34),
		"0." + strings.Repeat("0", 27) + strings.Repeat("3", 34),
		"0.0e0", "0e300", "1" + strings.Repeat("0", 33), "0.1e301", "10e299"}
	out := []string{"1e301", "10e300", "1e-301", "0.1e-300", "1e5000000", "-1e5000000", "0e5000000",
		"1e99999999999999999999999999", "1e-99999999999999999999999999",
		strings.Repeat("9", 35), "0." + strings.Repeat("0", 40) + strings.Repeat("3", 23),
		"1" + strings.Repeat("0", 34), "1." + strings.Repeat("0", 34), strings.Repeat("1", 100_000)}
	for _, s := range in {
		if v := mustParse(t, s); v.OutOfRange || v.IsMissing() {
			t.Errorf("%s is out of range", s)
		}
	}
	for _, s := range out {
		v := mustParse(t, s)
		if !v.OutOfRange || !v.IsMissing() || v.Any() != nil || v.Text != s {
			t.Errorf("%.80s is not out of range", s)
		}
	}
	root := mustParse(t, `{"b":[1,1e999],"a":{"x":1e400},"c":2}`)
	var at []string
	for _, v := range OutOfRange(root) {
		at = append(at, v.Pointer())
	}
	if !slices.Equal(at, []string{"/b/1", "/a/x"}) {
		t.Errorf("out of range at %v", at)
	}
}

func BenchmarkParse(b *testing.B) {
	src, err := os.ReadFile("testdata/submission.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(src, SubmissionLimits); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzParse states what every accepted document keeps: the standard library accepts it too and decodes the same strings
// and numbers, and reading a value's own source text again gives an equal value. A refusal gives no value and has a
// place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, `{"a":1,"\u0061":2}`, `[1e5000000,-0.0,"\ud834\udd1e",{}]`, "\xef\xbb\xbf{}",
		`{"a":[[[[]]]]}`, `"\ud834"`, `[1,]`, "{\"a\":\"\xff\"}", ` "x" `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := Parse(src, anyLimits)
		if err != nil {
			e := refusal(t, v, err)
			if e.Pos.Line < 1 || e.Pos.Col < 1 || e.Pos.Offset > len(src) || e.Code == "" || e.Message == "" {
				t.Fatalf("refusal without a place: %+v", e)
			}
			return
		}
		if !json.Valid(src) {
			t.Fatalf("accepted what encoding/json refuses: %q", src)
		}
		v.Walk(func(w *Value) bool {
			again, err := Parse(w.Source(src), anyLimits)
			if err != nil || !Equal(w, again) {
				t.Fatalf("%q at %s reads differently again: %v", w.Source(src), w.Pointer(), err)
			}
			if v.At(w.Pointer()) != w {
				t.Fatalf("pointer %q leads elsewhere", w.Pointer())
			}
			sameAsStandard(t, w, w.Source(src))
			return true
		})
	})
}

func sameAsStandard(t *testing.T, v *Value, src []byte) {
	switch v.Kind {
	case String:
		var want string
		if err := json.Unmarshal(src, &want); err != nil || want != v.Text {
			t.Fatalf("%q decoded as %q, encoding/json has %q, %v", src, v.Text, want, err)
		}
	case Number:
		var want json.Number
		if err := json.Unmarshal(src, &want); err != nil || want.String() != v.Text {
			t.Fatalf("%q read as %q, encoding/json has %q, %v", src, v.Text, want, err)
		}
	}
}

// TestValuesAndNamesAreBounded: a document of too many values, and names that would make every pointer below them long,
// are refused where they stand.
func TestValuesAndNamesAreBounded(t *testing.T) {
	many := "[" + strings.TrimSuffix(strings.Repeat("0,", 50), ",") + "]"
	if _, err := Parse([]byte(many), Limits{MaxValues: 51}); err != nil {
		t.Errorf("51 values: %v", err)
	}
	var refused *Error
	if _, err := Parse([]byte(many), Limits{MaxValues: 50}); !errors.As(err, &refused) || refused.Code != "values" ||
		refused.Pos.Col != 100 {
		t.Errorf("51 values where 50 may stand: %v", err)
	}
	if _, err := Parse([]byte("["+strings.Repeat("0,", 500_000)+"0]"), SubmissionLimits); !errors.As(err, &refused) ||
		refused.Code != "values" {
		t.Errorf("500,002 values of a submission: %v", err)
	}
	half := strings.Repeat("k", 2048)
	if _, err := Parse([]byte(`{"`+half+`":{"`+half+`":1},"`+half+`x":[{"`+half[1:]+`":2}]}`), Limits{}); err != nil {
		t.Errorf("names of 4,096 bytes: %v", err)
	}
	if _, err := Parse([]byte(`{"a":{"`+half+`":{"`+half+`":1}}}`), Limits{}); !errors.As(err, &refused) ||
		refused.Code != "names" {
		t.Errorf("names of 4,097 bytes: %v", err)
	}
}

// TestGetAmongMany: names are found by an index where there are many, and what is not there is not.
func TestGetAmongMany(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	v, err := Parse([]byte(`{`+b.String()+`"last":1}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("k999"); got == nil || got.Text != "999" || v.Get("k1000") != nil || v.At("/k7").Text != "7" {
		t.Errorf("k999 is %v", got)
	}
}
