package gate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"

	flightsheets "github.com/defendableos/referee/flight_sheets"
)

// TestParamsOfConfig: limits are read as JSON, each form as it is written (S71).
func TestParamsOfConfig(t *testing.T) {
	src := `runs:
  - path: runs/**/run.json
    sheets: [compute-llm-serving]
    params: {slo_ttft_ms: 300, slo_tpot_ms: 2.50, words: [MIT, "Apache-2.0", 7], strict: true, date: "2026-11-30", table: {b: 2, a: "x"}}
`
	c, err := ParseConfig([]byte(src), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := Params{"slo_ttft_ms": "300", "slo_tpot_ms": "2.5", "words": `["MIT","Apache-2.0",7]`, "strict": "true", "date": `"2026-11-30"`, "table": `{"a":"x","b":2}`}
	if got := c.Runs[0].Params; !reflect.DeepEqual(got, want) {
		t.Errorf("params are %v, want %v", got, want)
	}
}

// TestParamsRefused: what is no plain value is refused at its line.
func TestParamsRefused(t *testing.T) {
	for src, words := range map[string]string{
		"params: [1]":            "params must be a mapping",
		"params: {a: {b: [1]}}":  "a.b must be a plain value",
		"params: {a: [[1]]}":     "an entry of a must be a plain value",
		"params: {a: .inf}":      "must be a plain value",
		"params: {a: 1, a: 2}":   "already defined",
		"params: {a: {x: null}}": "must be a plain value",
	} {
		_, err := ParseConfig([]byte("runs:\n  - {path: runs/run.json, sheets: ['*'], "+src+"}\n"), "f")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", src, err, words)
		}
	}
}

// TestSetParams: a required limit that is missing refuses the audit with the line to add; a limit that no sheet of the rule has is refused; one of
// another sheet of the rule is not this one's.
func TestSetParams(t *testing.T) {
	library := referee.NewLibrary(flightsheets.FS(), nil, "")
	find := func(slug string) *referee.Sheet {
		sheet, err := library.Find(slug)
		if err != nil {
			t.Fatal(err)
		}
		return sheet
	}
	serving, agency := find("compute-llm-serving"), find("cre-multifamily-agency")
	both := RunRule{Path: "runs/**/run.json", Sheets: []string{"compute-llm-serving", "cre-multifamily-agency"}, Params: Params{"slo_ttft_ms": "300", "slo_tpot_ms": "25"}}
	set, err := setParams(serving, both, library)
	if err != nil || set.Ref() != serving.Ref() {
		t.Fatalf("%v, %v", set, err)
	}
	if p, err := set.Param("slo_ttft_ms"); err != nil || p.Value.Text != "300" {
		t.Errorf("slo_ttft_ms is %+v, %v", p, err)
	}
	if same, err := setParams(agency, both, library); err != nil || same != agency {
		t.Errorf("a sheet without these limits: %v", err)
	}
	for words, params := range map[string]Params{
		"params: {slo_tpot_ms: 300}":      {"slo_ttft_ms": "300"},
		`did you mean "slo_ttft_ms"?`:     {"slo_tfft_ms": "300", "slo_tpot_ms": "25"},
		"must be at least 0":              {"slo_ttft_ms": "-1", "slo_tpot_ms": "25"},
		`parameter "slo_ttft_ms" of comp`: {"slo_ttft_ms": `"fast"`, "slo_tpot_ms": "25"},
	} {
		rule := RunRule{Path: "runs/**/run.json", Sheets: []string{"compute-llm-serving"}, Params: params}
		if _, err := setParams(serving, rule, library); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v, want %q", params, err, words)
		}
	}
}

// TestParamsLoosened: another limit in the configuration is said to who reviews it.
func TestParamsLoosened(t *testing.T) {
	rule := func(p Params) *Config {
		c := DefaultConfig()
		c.Runs[0].Params = p
		return c
	}
	for _, c := range []struct {
		was, is Params
		words   string
	}{
		{Params{"cap": "500"}, Params{"cap": "5000"}, "params.cap goes from 500 to 5000"},
		{Params{"cap": "500"}, nil, "params.cap was 500"},
		{nil, Params{"cap": "500"}, "params.cap is set to 500"},
	} {
		if out := loosened(rule(c.was), rule(c.is)); len(out) != 1 || !strings.Contains(out[0], c.words) {
			t.Errorf("%v to %v: %q", c.was, c.is, out)
		}
	}
	if out := loosened(rule(Params{"cap": "5"}), rule(Params{"cap": "5"})); out != nil {
		t.Errorf("the same limits: %q", out)
	}
}

// TestSubjectHoldsParams: other limits are another subject. The digest is worked out by hand from the parts, each with its length before it.
func TestSubjectHoldsParams(t *testing.T) {
	sheet, submission := strings.Repeat("a", 64), strings.Repeat("b", 64)
	s := ledger.Subject{SheetSHA256: sheet, SubmissionSHA256: submission, Params: []ledger.Param{{Name: "cap", Value: "500"}}}
	want := canonical.SHA256Hex([]byte("18:referee.subject/v164:" + sheet + "64:" + submission + "6:params1:13:cap3:500"))
	if got := s.Digest(); got != want {
		t.Errorf("the subject is %s, want %s", got, want)
	}
	s.Params[0].Value = "501"
	if s.Digest() == want {
		t.Error("another limit has the same subject")
	}
}
