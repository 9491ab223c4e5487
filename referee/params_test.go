package referee

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

const paramSheet = `"params":{"cap":{"type":"number","title":"the cap","unit":"USD","required":true,"min":0},
	"words":{"type":"list","title":"allowed words","default":["a","b"]},
	"day":{"type":"date","title":"a day","default":"2026-01-31"},"strict":{"type":"boolean","title":"strictly",
	"default":true},"n":{"type":"integer","title":"how many","default":2}},
	"required_inputs":[{"name":"spend","type":"number","held":"recount"},{"name":"word","type":"string"}],
	"eval_spec":{"math_checks":[{"formula_id":"util","formula":"spend / cap"}],"rules":[{"id":"within",
	"expr":"util <= 1","tier":"high"},{"id":"known","expr":"word in words","tier":"high"}]}`

func paramsOf1(t *testing.T, s *Sheet, texts map[string]string) (*Sheet, error) {
	t.Helper()
	values := map[string]*strictjson.Value{}
	for name, text := range texts {
		p, err := s.Param(name)
		if err != nil {
			return nil, err
		}
		if values[name], err = p.ParseParam(text); err != nil {
			return nil, err
		}
	}
	return s.WithParams(values)
}

// TestParams: a gate and a formula read the value that is set; the sheet's identity stays, and the report's digest does
// not.
func TestParams(t *testing.T) {
	s := mustSheet(t, paramSheet)
	small, err := paramsOf1(t, s, map[string]string{"cap": "100"})
	if err != nil {
		t.Fatal(err)
	}
	large, err := paramsOf1(t, s, map[string]string{"cap": "1000", "words": "b, c"})
	if err != nil {
		t.Fatal(err)
	}
	submission := `{"inputs":{"spend":500,"word":"b"},"calculations":[{"name":"util","formula":"spend / 1000",` +
		`"inputs":{"spend":500},"result":0.5}]}`
	x, y := auditText(small, submission), auditText(large, submission)
	wantStatus(t, x, "within", "flag", "known", "pass")
	wantStatus(t, y, "within", "pass", "known", "pass")
	if small.Ref() != s.Ref() || x.Sheet != y.Sheet || x.Digest == y.Digest {
		t.Errorf("sheets %v %v, digests %.8s %.8s", x.Sheet, y.Sheet, x.Digest, y.Digest)
	}
	if len(y.Params) != 5 || y.Params[0] != (ParamValue{"cap", "1000", "USD"}) || y.Params[1].Value != `["b","c"]` {
		t.Errorf("the report's parameters: %+v", y.Params)
	}
	again, err := paramsOf1(t, s, map[string]string{"cap": "100"})
	if err != nil || again != small {
		t.Errorf("the same parameters give another sheet: %v", err)
	}
}

// TestParamRefusals: what cannot be a parameter's value is refused with what would be right.
func TestParamRefusals(t *testing.T) {
	s := mustSheet(t, paramSheet)
	for words, texts := range map[string]map[string]string{
		`params: {cap: 300}`:          {},
		`did you mean "cap"?`:         {"cup": "1"},
		"must be at least 0":          {"cap": "-1"},
		"cannot be read from":         {"cap": "1;2"},
		"must be a number":            {"cap": `"1"`},
		"must be a whole number":      {"cap": "1", "n": "1.5"},
		"must be a date":              {"cap": "1", "day": "2026-02-30"},
		"must be a boolean":           {"cap": "1", "strict": "1"},
		"a rule over it would decide": {"cap": "1", "words": ","},
	} {
		_, err := paramsOf1(t, s, texts)
		var refused *ParamError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v, want %q", texts, err, words)
		}
	}
}

// TestUnsetParam: an audit by a sheet whose limit nobody set is never clean.
func TestUnsetParam(t *testing.T) {
	rep := auditText(mustSheet(t, paramSheet), `{"inputs":{"spend":1,"word":"a"}}`)
	if f := findingOf(t, rep, "structure.param_missing"); f.Tier != High || !rep.Fails(FailOnHigh) {
		t.Errorf("%+v", f)
	}
}

// TestSpellingsOfParams: the written-out name and the tree read the parameter too.
func TestSpellingsOfParams(t *testing.T) {
	s := mustSheet(t, `"params":{"cap":{"type":"number","title":"t","default":5}},"required_inputs":[{"name":"x",
		"type":"number","held":"recount"}],
		"eval_spec":{"rules":[{"id":"a","expr":"x <= param.cap"},{"id":"b","expr":{"op":"<=","left":{"input":"x"},
		"right":{"param":"cap"}}}]}`)
	wantStatus(t, auditText(s, `{"inputs":{"x":6}}`), "a", "flag", "b", "flag")
	wantStatus(t, auditText(s, `{"inputs":{"x":5}}`), "a", "pass", "b", "pass")
}

// FuzzParseParam: no text is a parameter's value that its type refuses, and what is read prints to a text that reads
// the same.
func FuzzParseParam(f *testing.F) {
	for _, seed := range []string{"1", "1e5", `"x"`, "a,b", `["a"]`, "{}", "2026-01-31", "true", `1},"x":{`, " ", "[",
		"\"", "1e999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range paramTypes {
			p := Param{Name: "p", Type: kind}
			v, err := p.ParseParam(text)
			if err != nil {
				if v != nil {
					t.Fatalf("%s %q: a value beside the error", kind, text)
				}
				continue
			}
			again, err := p.ParseParam(string(canonicalJSON(v)))
			if err != nil || string(canonicalJSON(again)) != string(canonicalJSON(v)) {
				t.Fatalf("%s %q: %s reads as %v, %v", kind, text, canonicalJSON(v), again, err)
			}
		}
	})
}
