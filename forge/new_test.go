package forge

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

func spec(t *testing.T, lane string) Spec {
	t.Helper()
	s := Spec{Slug: "my-loan", Name: "My loan", Lane: lane, Summary: "s"}
	for _, text := range []string{"noi:number:USD/yr=150", "loan:number:USD=1000", "tier:string=market"} {
		in, err := ParseInput(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Inputs = append(s.Inputs, in)
	}
	for _, text := range []string{"debt_service:USD/yr=loan * 0.08", "dscr:ratio=noi / debt_service"} {
		c, err := ParseCalc(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Why, c.Fix = "w", "f"
		s.Calcs = append(s.Calcs, c)
	}
	g, err := ParseGate("dscr_gate:high:dscr >= 1.25")
	if err != nil {
		t.Fatal(err)
	}
	g.Why, g.Fix, g.Source = "w", "f", "our policy"
	s.Gates = []SpecGate{g}
	s.Questions = []SpecQuestion{{Key: "q", Text: "Is it signed?"}}
	return s
}

// TestNew: in both baselines the new sheet loads, tests, and lints but for the amount that only its author knows. 150 /
// (1000 * 0.08) is 1.875 by hand, and the gate turns at noi = 100.
func TestNew(t *testing.T) {
	for _, lane := range []string{"agent", "dataset"} {
		src, err := New(spec(t, lane))
		if err != nil {
			t.Fatal(err)
		}
		sheet := loadSheet(t, string(src))
		if formatted, err := Format(src); err != nil || !bytes.Equal(formatted, src) {
			t.Errorf("Format changes it (%v):\n%s", err, formatted)
		}
		for _, p := range Lint(sheet, "") {
			if p.Rule != "material" {
				t.Errorf("%s: %v", lane, p)
			}
		}
		if r := Test(sheet); !r.OK() || r.Trips != 1 {
			t.Errorf("%+v", r)
		}
		for _, in := range sheet.Inputs {
			if want := map[string]string{"noi": "cell", "loan": "cell",
				"tier": ""}[in.Name]; in.Value().Get("held") != nil != (want != "") || in.Held != want {
				t.Errorf("%s: the input %s is held by %q, want %q", lane, in.Name, in.Held, want)
			}
		}
		for _, want := range []string{`"result": 1.875`, `"noi": 99.9999`, `"dscr_gate"`,
			`"text": "item,value\nnoi,150\nloan,1000\ntier,market\n"`} {
			if !strings.Contains(string(src), want) {
				t.Errorf("no %s in\n%s", want, src)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	s := spec(t, "agent")
	s.Inputs[0].Value = "10"
	var example *ExampleError
	if _, err := New(s); !errors.As(err, &example) ||
		!strings.Contains(err.Error(), "dscr_gate must be pass and is flag") {
		t.Errorf("values that fail the gate: %v", err)
	}
	s = spec(t, "agent")
	s.Gates[0].Expr = "dsrc >= 1"
	var refused *referee.RefusedError
	if _, err := New(s); !errors.As(err, &refused) || !strings.Contains(err.Error(), `"dscr"`) {
		t.Errorf("an unknown name: %v", err)
	}
	s = spec(t, "agent")
	s.Inputs[0].Value = ""
	src, err := New(s)
	if err != nil || strings.Contains(string(src), "examples") {
		t.Errorf("without values there is no example: %v", err)
	}
	for _, bad := range []string{"noi", ":number", "noi:", "noi:number=x", "b:boolean=maybe"} {
		if in, err := ParseInput(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, in)
		}
	}
	for _, bad := range []string{"dscr", "=1", "a b=1"} {
		if _, err := ParseCalc(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	for _, bad := range []string{"g", "g:high", "g:high:", ":high:a"} {
		if _, err := ParseGate(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestDiff(t *testing.T) {
	src := strings.Replace(loanSheet, "TRIPS", ok, 1)
	src = strings.Replace(src, `"eval_spec"`, `"consts": {"K": {"value": 1, "source": "s", "status": "general", `+
		`"as_of": "2025-01-01"}}, "lexicons": {"L": ["may"]}, "eval_spec"`, 1)
	edit := func(pairs ...string) *referee.Sheet { return loadSheet(t, strings.NewReplacer(pairs...).Replace(src)) }
	tests := []struct {
		name    string
		after   *referee.Sheet
		want    string
		matters bool
	}{
		{"a bound", edit("dscr >= 1.25", "dscr >= 1.3"), "the rule dscr_gate: its condition was dscr >= 1.25 and is " +
			"dscr >= 1.3", true},
		{"the same version", edit("dscr >= 1.25", "dscr >= 1.3"), "the version is still 1.0.0", true},
		{"a version", edit(`"version": "1.0.0"`, `"version": "1.1.0"`), "the version was 1.0.0 and is 1.1.0", false},
		{"a tier", edit(`"ltv <= 0.8", "tier": "mid"`, `"ltv <= 0.8", "tier": "low"`),
			"the rule ltv_gate: its tier was mid and is low", true},
		{"a formula", edit("loan * 0.08", "loan * 0.09"), "the calculation debt_service: its formula was loan * " +
			"0.08 and is loan * 0.09", true},
		{"an input", edit(`{"name": "value", "type": "number"}`,
			`{"name": "value", "type": "number", "optional": true}`), "the input value was required and is optional",
			true},
		{"an input gone", edit(`, {"name": "value", "type": "number"}`, ``, "loan / value", "loan / noi"),
			"the input value is removed", true},
		{"a rule gone", edit(",\n      "+`{"id": "ltv_gate", "expr": "ltv <= 0.8", "tier": "mid"}`, "", `"ltv_gate", `, ""),
			"the rule ltv_gate is removed: ltv <= 0.8", true},
		{"a rule new", edit(`"rules": [`, `"rules": [{"id": "n", "expr": "noi > 0", "tier": "low"}, `),
			"the rule n is new (low): noi > 0", true},
		{"a constant", edit(`"value": 1,`, `"value": 2,`), "the constant K was 1 and is 2", true},
		{"a date", edit("2025-01-01", "2026-01-01"), `the constant K: its as of was "2025-01-01" and is "2026-01-01"`,
			false},
		{"a lexicon", edit(`["may"]`, `["may", "might"]`), `the lexicon L was ["may"] and is ["may","might"]`, true},
		{"words", edit(`"name": "Loan"`, `"name": "The loan"`), "name was reworded", false},
		{"a modifier", edit(`"expr": "dscr >= 1.25"`, `"expr": "dscr >= 1.25", "on_missing": "flag"`),
			`the rule dscr_gate: its on missing is now "flag"`, true},
		{"bands", edit(`"eval_spec": {`, `"eval_spec": {"penalty": {"tolerance": 0.005},`),
			`the penalty bands is now {"tolerance":0.005}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Diff(edit(), tt.after)
			if !slices.ContainsFunc(got, func(c Change) bool {
				return strings.Contains(c.Text, tt.want) &&
					c.Matters == tt.matters
			}) {
				t.Errorf("no %q in %+v", tt.want, got)
			}
		})
	}
	if got := Diff(edit(), edit()); len(got) != 0 {
		t.Errorf("a sheet differs from itself: %+v", got)
	}
}

// TestTurned: at a dscr of 1.875 only a gate above it turns the verdict.
func TestTurned(t *testing.T) {
	src := strings.Replace(loanSheet, "TRIPS", ok, 1)
	before, same := loadSheet(t, src), loadSheet(t, strings.Replace(src, "dscr >= 1.25", "dscr >= 1.5", 1))
	stricter := loadSheet(t, strings.Replace(src, "dscr >= 1.25", "dscr >= 2", 1))
	ex := before.Examples()[0]
	base, err := workedExample(before, &ex)
	if err != nil {
		t.Fatal(err)
	}
	c, err := base.auditCase()
	if err != nil {
		t.Fatal(err)
	}
	if turned := Turned("x", c, before, same); turned != nil {
		t.Errorf("%+v", turned)
	}
	turned := Turned("x", c, before, stricter)
	if turned == nil || !slices.Contains(turned.Rules, "dscr_gate: pass, now flag") ||
		!strings.Contains(turned.After, "propolis") {
		t.Errorf("%+v", turned)
	}
}
