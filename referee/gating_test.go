package referee

import "testing"

// cappedSheet scores a sample at ten times its input a. Its gates cap what a closed gate leaves: the sheet at 40, the
// rule "soft" at 60, the rule "hard" at 12.5.
const cappedSheet = `"required_inputs":[{"name":"a"},{"name":"b"},{"name":"c"}],"gating_cap":40,
	"derive":[{"id":"all","expr":"a * 10"}],"scores":{"total":"all"},
	"eval_spec":{"rules":[
		{"id":"plain","expr":"a != 3","tier":"high"},
		{"id":"soft","expr":"b > 0","tier":"low","non_compensable":true,"cap":60},
		{"id":"hard","expr":"c > 0","tier":"high","cap":12.5},
		{"id":"mild","expr":"a != 5","tier":"mid","cap":1}]}`

// TestGatingCap: the lowest cap of the rules that closed the gate holds the total down, by hand.
//
// Source: 003 #171.
func TestGatingCap(t *testing.T) {
	sheet := mustSheet(t, cappedSheet)
	for _, c := range []struct {
		submission, limit, total string
		passed                   bool
	}{
		{`{"inputs":{"a":9,"b":1,"c":1}}`, "", "90", true},
		{`{"inputs":{"a":5,"b":1,"c":1}}`, "", "50", true},        // a mid flag closes no gate: its cap is not used
		{`{"inputs":{"a":3,"b":1,"c":1}}`, "40", "30", false},     // 30 is below the sheet's 40
		{`{"inputs":{"a":9,"b":0,"c":1}}`, "60", "60", false},     // the rule's own, above the sheet's
		{`{"inputs":{"a":9,"b":0,"c":0}}`, "12.5", "12.5", false}, // the lowest of 60 and 12.5
		{`{"inputs":{"a":3,"b":0,"c":1}}`, "40", "30", false},     // the lowest of 40 and 60
		{`{"inputs":{"a":1,"b":0,"c":0}}`, "12.5", "10", false},   // what is below the cap stays
		{`{"inputs":{"b":1,"c":1}}`, "1", "", false},              // "mild" misses the same operand
		{`{"inputs":{"a":9,"b":1,"c":1}`, "40", "", false},        // not readable: the engine's rule, the sheet's cap
	} {
		rep := auditText(sheet, c.submission)
		if rep.Gating.Passed != c.passed || rep.Gating.Cap != c.limit || rep.Scores.Total != c.total ||
			rep.Scores.Gated == c.passed {
			t.Errorf("%s: gating %+v, scores %+v; want cap %q, total %q", c.submission, rep.Gating, rep.Scores, c.limit,
				c.total)
		}
	}
}

// TestGatingCapOnlyWhereDeclared: without a cap a closed gate sets none and leaves no score at all.
func TestGatingCapOnlyWhereDeclared(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"a"}],"derive":[{"id":"all","expr":"a * 10"}],
		"scores":{"total":"all"},"eval_spec":{"rules":[{"id":"r","expr":"a > 1","tier":"high"}]}`)
	rep := auditText(sheet, `{"inputs":{"a":1}}`)
	if rep.Gating.Passed || rep.Gating.Cap != "" || rep.Scores.Total != "" {
		t.Errorf("%+v %+v", rep.Gating, rep.Scores)
	}
}

// TestGatingCapRefusals: a cap is a number from 0 to 100 over a total that exists.
func TestGatingCapRefusals(t *testing.T) {
	with := func(sheetCap, ruleCap, scores string) string {
		return sheetText(`"required_inputs":[{"name":"a"}],"derive":[{"id":"all","expr":"a"}]` + scores + sheetCap +
			`,"eval_spec":{"rules":[{"id":"r","expr":"a > 1"` + ruleCap + `}]}`)
	}
	total := `,"scores":{"total":"all"}`
	wantRefusal(t, with(`,"gating_cap":101`, "", total), "cap", "gating_cap must be a number from 0 to 100")
	wantRefusal(t, with(`,"gating_cap":-1`, "", total), "cap", "gating_cap must be a number from 0 to 100")
	wantRefusal(t, with(`,"gating_cap":"0"`, "", total), "type", "must be a number")
	wantRefusal(t, with("", `,"cap":100.5`, total), "cap", "r: cap must be a number from 0 to 100")
	wantRefusal(t, with("", `,"cap":0`, ""), "cap", "the sheet's scores have no total")
	wantRefusal(t, with(`,"gating_cap":0`, "", `,"scores":{"availability":"all"}`), "cap", "scores have no total")
}
