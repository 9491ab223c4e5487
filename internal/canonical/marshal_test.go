package canonical_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/canonical"
)

type level string

type inner struct {
	Code string `json:"code"`
	N    int    `json:"n,omitzero"`
}

type outer struct {
	inner
	Zed    string         `json:"zed"`
	Empty  []string       `json:"empty,omitempty"`
	Nil    []string       `json:"nil"`
	Ptr    *inner         `json:"ptr,omitempty"`
	Map    map[string]any `json:"map,omitempty"`
	Zero   inner          `json:"zero,omitzero"`
	Level  level          `json:"level"`
	Big    uint64         `json:"big"`
	Token  json.Number    `json:"token"`
	OK     bool           `json:"ok"`
	Hidden int            `json:"-"`
	secret int
}

// TestMarshal's text was written by hand from the profile.
func TestMarshal(t *testing.T) {
	v := outer{
		inner: inner{"c", 0}, Zed: "a\"\\/\n\x01é😀<&>", Map: map[string]any{"b": []any{1, "x", false},
			"a": inner{"d", 2}},
		Level: "high", Big: 1<<53 - 1, Token: "-12", Hidden: 1, secret: 2,
	}
	const want = `{"big":9007199254740991,"code":"c","level":"high","map":{"a":{"code":"d","n":2},"b":[1,"x",false]},` +
		`"nil":[],"ok":false,"token":-12,"zed":"a\"\\/\n\u0001é😀<&>"}`
	for _, v := range []any{v, &v} {
		got, err := canonical.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s\n%v", got, want, err)
		}
		if err := canonical.Check(got); err != nil {
			t.Error(err)
		}
	}
}

// TestMarshalRefuses has one case for every refusal of the writer.
func TestMarshalRefuses(t *testing.T) {
	deep := any("x")
	for range 16 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		v    any
		rule string
	}{
		"string root":    {"x", canonical.RuleRoot},
		"slice root":     {[]any{}, canonical.RuleRoot},
		"nil root":       {nil, canonical.RuleRoot},
		"nil pointer":    {(*outer)(nil), canonical.RuleRoot},
		"float":          {map[string]any{"a": 1.0}, canonical.RuleInteger},
		"NaN":            {map[string]any{"a": math.NaN()}, canonical.RuleInteger},
		"fraction token": {map[string]any{"a": json.Number("1.5")}, canonical.RuleInteger},
		"minus zero":     {map[string]any{"a": json.Number("-0")}, canonical.RuleInteger},
		"empty token":    {map[string]any{"a": json.Number("")}, canonical.RuleGrammar},
		"injected token": {map[string]any{"a": json.Number(`1,"b":2`)}, canonical.RuleInteger},
		"too large":      {map[string]any{"a": int64(1 << 53)}, canonical.RuleRange},
		"too small":      {map[string]any{"a": int64(-1 << 53)}, canonical.RuleRange},
		"max uint":       {map[string]any{"a": uint64(math.MaxUint64)}, canonical.RuleRange},
		"nil":            {map[string]any{"a": nil}, canonical.RuleNull},
		"nil inside":     {map[string]any{"a": []any{(*inner)(nil)}}, canonical.RuleNull},
		"upper key":      {map[string]any{"A": 1}, canonical.RuleKey},
		"empty key":      {map[string]any{"": 1}, canonical.RuleKey},
		"no tag":         {struct{ A int }{1}, canonical.RuleKey},
		"int keys":       {map[string]any{"a": map[int]string{1: "x"}}, canonical.RuleKey},
		"twice": {struct {
			inner
			Code string `json:"code"`
		}{}, canonical.RuleDuplicate},
		"string option": {struct {
			A int `json:"a,string"`
		}{}, canonical.RuleType},
		"bytes":    {map[string]any{"a": []byte("x")}, canonical.RuleType},
		"time":     {map[string]any{"a": time.Unix(0, 0)}, canonical.RuleType},
		"function": {map[string]any{"a": func() {}}, canonical.RuleType},
		"too deep": {map[string]any{"a": deep}, canonical.RuleDepth},
		"too long": {map[string]any{"a": strings.Repeat("x", 256<<10)}, canonical.RuleSize},
	} {
		b, err := canonical.Marshal(c.v)
		var e *canonical.Error
		if !errors.As(err, &e) || e.Rule != c.rule || b != nil {
			t.Errorf("%s: %s, %v; want rule %q", name, b, err, c.rule)
		}
	}
}

// TestHashUnbounded: the hash is that of the text, whatever was hashed before it: longer, shorter, or refused halfway.
func TestHashUnbounded(t *testing.T) {
	for _, v := range []any{
		sample(), map[string]any{"a": "short"}, map[string]any{"a": strings.Repeat("x", 2<<20)},
		map[string]any{"a": "é\"\u202e\x7f", "n": -12},
		map[string]any{"a": 1, "b": 1.5}, map[string]any{},
	} {
		text, err := canonical.MarshalUnbounded(v)
		got, errHash := canonical.HashUnbounded(v)
		if (err == nil) != (errHash == nil) {
			t.Fatalf("the text gives %v, the hash %v", err, errHash)
		}
		want := ""
		if err == nil {
			want = canonical.SHA256Hex(text)
		}
		if got != want {
			t.Errorf("%.80s: %s, want %s", text, got, want)
		}
	}
}

func TestMarshalUnbounded(t *testing.T) {
	v := map[string]any{"a": strings.Repeat("x", 256<<10)}
	b, err := canonical.MarshalUnbounded(v)
	if err != nil || len(b) != 256<<10+8 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if err := canonical.CheckLimits(b, canonical.Report); err != nil {
		t.Error(err)
	}
	if err := canonical.Check(b); err == nil {
		t.Error("a receipt of more than 256 KiB is accepted")
	}
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain é 😀 \n\x00":         "plain é 😀 \n\x00",
		"a\u202eb":                 "a<U+202E>b",
		"\x7f\u2028\u2029":         "<U+007F><U+2028><U+2029>",
		"\u061c\u200e\u2066x":      "<U+061C><U+200E><U+2066>x",
		"\uffff\U0010ffff\ufdd0":   "<U+FFFF><U+10FFFF><U+FDD0>",
		"\xff\xed\xa0\x80\ufffd":   "<0xFF><0xED><0xA0><0x80>\ufffd",
		"<U+202E> as it was typed": "<U+202E> as it was typed",
	} {
		got, changed := canonical.Sanitize(in)
		if got != want || changed != (in != want) {
			t.Errorf("%q: %q, %t; want %q", in, got, changed, want)
		}
	}
}

func TestReplaced(t *testing.T) {
	got, err := canonical.Replaced(map[string]any{"b": []any{"ok", "\u202e"}, "a": map[string]any{"c": "\x7f"}})
	if want := []string{"/a/c", "/b/1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := canonical.Replaced("x"); err == nil {
		t.Error("a string root is accepted")
	}
}

func TestTimeAndHash(t *testing.T) {
	if got := canonical.Time(time.Date(2026, 11, 2, 10, 30, 0, 999,
		time.FixedZone("", 3600))); got != "2026-11-02T09:30:00Z" {
		t.Error(got)
	}
	for s, ok := range map[string]bool{
		"2026-11-02T09:30:00Z": true, "2024-02-29T00:00:00Z": true, "2023-02-29T00:00:00Z": false,
		"2026-11-02T09:30:00.5Z": false, "2026-11-02T09:30:00+00:00": false, "2026-11-02 09:30:00Z": false,
		"2026-11-02T24:00:00Z": false, "": false, "2026-11-2T09:30:00Z": false, "2026-11-02T09:30:60Z": false,
	} {
		if err := canonical.CheckTime(s); (err == nil) != ok {
			t.Errorf("time %q: %v", s, err)
		}
	}
	// The SHA-256 of nothing, FIPS 180-4.
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := canonical.SHA256Hex(nil); got != empty {
		t.Error(got)
	}
	for s, ok := range map[string]bool{
		empty: true, strings.ToUpper(empty): false, empty[:63]: false, empty + "0": false, "": false,
		strings.Repeat("g", 64): false,
	} {
		if err := canonical.CheckHash(s); (err == nil) != ok {
			t.Errorf("hash %q: %v", s, err)
		}
	}
}

// A message repeats whole characters: the 80th byte here is in the middle of one.
func TestMessagesTearNoCharacter(t *testing.T) {
	err := canonical.CheckHash(strings.Repeat("a", 79) + strings.Repeat("€", 40))
	if err == nil || !strings.Contains(err.Error(), "a€…") {
		t.Errorf("%v", err)
	}
}

func TestCheckMembers(t *testing.T) {
	var got []string
	err := canonical.CheckMembers([]byte(`{"a":{"x":1},"b":["y"],"c":"z"}`), canonical.Receipt,
		func(key, value []byte) {
			got = append(got, string(key)+"="+string(value))
		})
	if want := []string{`a={"x":1}`, `b=["y"]`, `c="z"`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// FuzzMarshal holds that Check accepts whatever Marshal writes, whatever the text was.
func FuzzMarshal(f *testing.F) {
	f.Add("a", "x\u202e\xff\x00\"", int64(-1), uint(3))
	f.Add("k_1", "\u2028\ufdd0😀", int64(1)<<53, uint(20))
	f.Fuzz(func(t *testing.T, key, text string, n int64, depth uint) {
		v := map[string]any{"text": text, "n": n, "list": []string{text, text}}
		v[key] = text
		for range depth % 20 {
			v = map[string]any{"in": v}
		}
		b, err := canonical.Marshal(v)
		if err != nil {
			return
		}
		if err := canonical.Check(b); err != nil {
			t.Errorf("%v\n%q", err, b)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	text, err := canonical.Marshal(sample())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := canonical.Check(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	v := sample()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canonical.Marshal(v); err != nil {
			b.Fatal(err)
		}
	}
}

// sample is about as long as a receipt, 8 KB.
func sample() map[string]any {
	finding := map[string]any{"code": "math.mismatch", "file": "submission.json", "line": 12, "tier": "high",
		"message": "the claim is 10.2 % above what its own formula gives", "pointer": "/calculations/3/result"}
	findings := make([]any, 40)
	for i := range findings {
		findings[i] = finding
	}
	return map[string]any{"findings": findings, "receipt_id": "DCR-000001-0a1b2c3d", "seq": 1}
}

// TestCheckAllocates holds that a good text costs no memory.
func TestCheckAllocates(t *testing.T) {
	text, err := canonical.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = canonical.Check(text) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
