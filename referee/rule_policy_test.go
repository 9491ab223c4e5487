package referee

import (
	"fmt"
	"strings"
	"testing"
)

func TestTierBy(t *testing.T) {
	sheet := oneRule("a b", `{"id":"r","expr":"a <= 10","tier_by":{"measure":"a - 10","mid":1,"high":5},`+
		`"message":"too much"}`)
	runRuleCases(t, []ruleCase{
		{"low", sheet, `{"inputs":{"a":11,"b":0}}`, "r flag", []string{"policy.r low /inputs/a"}, nil},
		{"mid", sheet, `{"inputs":{"a":12,"b":0}}`, "r flag", []string{"policy.r mid /inputs/a"}, nil},
		{"mid still", sheet, `{"inputs":{"a":15,"b":0}}`, "r flag", []string{"policy.r mid /inputs/a"}, nil},
		{"high", sheet, `{"inputs":{"a":15.1,"b":0}}`, "r flag", []string{"policy.r high /inputs/a"}, nil},
		{"a measure that cannot be taken is high",
			oneRule("a b", `{"id":"r","expr":"a <= 10","tier_by":{"measure":"b","high":5}}`), `{"inputs":{"a":11}}`,
			"r flag", []string{"policy.r high /inputs/a", "structure.missing high /inputs/b"}, nil},
	})
	rep := auditText(mustSheet(t, sheet), `{"inputs":{"a":12,"b":0}}`)
	wantWords(t, rep.Findings[0].Message, "too much", "a = 12")
}

// TestWhatAFailedGateSays: the gate, every operand's value, and the distance.
func TestWhatAFailedGateSays(t *testing.T) {
	rep := auditText(mustSheet(t, ratioSheet), ratioSubmission("102.2", "100", "noi / debt", "1.022"))
	f := findingOf(t, rep, "policy.dscr_gate")
	wantWords(t, f.Message, "dscr >= 1.2", "dscr = 1.022")
	if f.Spot.Gate != "dscr >= 1.2" || f.Spot.Distance != "-0.178" { // 1.022 − 1.2
		t.Errorf("spot %+v", f.Spot)
	}
	if f.Pointer != "/calculations/0" || f.Line != 1 || f.File != "submission.json" {
		t.Errorf("at %s %s:%d", f.Pointer, f.File, f.Line)
	}
}

// TestWhichPartFails: of an "and" only the term that fails is said, of two lists where they part, and of a rule that is
// too long to read its sides or its short operands.
func TestWhichPartFails(t *testing.T) {
	long := func(s string) string { return s + strings.Repeat(" + 0 * (a + b)", 20) }
	for _, c := range []struct{ expr, inputs, want string }{
		{"a <= 10 and b >= 2 and a + b > 0", `"a":3,"b":1`, `r does not hold: b >= 2 (b = 1)`},
		{"a <= 10 or b >= 2", `"a":30,"b":1`, `r does not hold: a <= 10 or b >= 2 (a = 30, b = 1)`},
		{"a == b", `"a":["x","y","z"],"b":["x","q","z"]`, `r does not hold: a == b (number 2 of 3 is "y" against "q")`},
		{"a == b", `"a":[1,2],"b":[1,2,3]`, `r does not hold: a == b (2 values against 3)`},
		{"a != b", `"a":[1,2],"b":[1.0,2]`, `r does not hold: a != b (a = [1,2], b = [1,2])`},
		{"len(a) > 0 and a == b", `"a":[1],"b":[1.5]`, `r does not hold: a == b (number 1 of 1 is 1 against 1.5)`},
		{long("a") + " == 4", `"a":3,"b":1`, `r does not hold: 3 against 4 (a = 3, b = 1)`},
		{"b == 1 and " + long("a") + " == 4", `"a":3,"b":1`, `r does not hold: 3 against 4 (b = 1, a = 3)`},
		{"not (" + long("a") + " == 3)", `"a":3,"b":1`, `r does not hold (a = 3, b = 1)`},
	} {
		sheet := oneRule("a b", fmt.Sprintf(`{"id":"r","tier":"high","expr":%q}`, c.expr))
		rep := auditText(mustSheet(t, sheet), `{"inputs":{`+c.inputs+`}}`)
		if got := findingOf(t, rep, "policy.r").Message; got != c.want {
			t.Errorf("%.60s\n%s\nwant %s", c.expr, got, c.want)
		}
	}
}

// TestExplain: the proof of a gate holds each operand, its value and where it came from.
func TestExplain(t *testing.T) {
	rep := auditText(mustSheet(t, ratioSheet), ratioSubmission("130", "100", "noi / debt", "1.3"),
		func(c *Case) { c.Explain = true })
	for _, e := range rep.Explained {
		if e.RuleID != "dscr_gate" {
			continue
		}
		if e.Outcome != "pass" || len(e.Operands) == 0 || e.Operands[0].Text != "dscr" ||
			e.Operands[0].Value != "1.3" || !strings.Contains(e.Operands[0].From, "/calculations/0") {
			t.Errorf("%+v", e)
		}
		return
	}
	t.Errorf("no proof of the gate: %+v", rep.Explained)
}

// TestTooManyReadings: three calculations stated five times each give 125 readings of one gate; more than 64 are
// refused, loudly.
func TestTooManyReadings(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",`+
		`"formula":"a"},{"formula_id":"y","formula":"a"},{"formula_id":"z","formula":"a"}],"rules":[{"id":"r",`+
		`"expr":"x + y + z > 0","tier":"high"}]}`)
	var calcs []string
	for range 5 {
		for _, id := range []string{"x", "y", "z"} {
			calcs = append(calcs, fmt.Sprintf(`{"name":%q,"formula":"a","inputs":{"a":1},"result":1,"units":"count"}`,
				id))
		}
	}
	rep := auditText(sheet, `{"inputs":{"a":1},"calculations":[`+strings.Join(calcs, ",")+`]}`)
	wantStatus(t, rep, "r", "flag")
	if f := findingOf(t, rep, "math.too_complex"); f.Tier != High || f.Bucket != WorkDefect {
		t.Errorf("%+v", f)
	}
}

// TestGateOfSeveralCalculations: where no single claim crosses a gate and all together do, each is named.
func TestGateOfSeveralCalculations(t *testing.T) {
	// x + y >= 2: recomputed 0.996 + 0.996 = 1.992 fails; claimed 1.004 + 1.004 = 2.008 holds; one claim alone, 2.000,
	// holds too. With a gate of 2.004 neither claim alone reaches it (2.000) and both together do.
	sheet := mustSheet(t, `"required_inputs":[{"name":"a"}],"eval_spec":{"math_checks":[{"formula_id":"x",`+
		`"formula":"a"},{"formula_id":"y","formula":"a * 1"}],"rules":[{"id":"r","expr":"x + y >= 2.004",`+
		`"tier":"high"}]}`)
	rep := auditText(sheet, `{"inputs":{"a":0.996},"calculations":[{"name":"x","formula":"a","inputs":{"a":0.996},`+
		`"result":1.004,"units":"x"},{"name":"y","formula":"a * 1","inputs":{"a":0.996},"result":1.004,"units":"x"}]}`)
	wantCodes(t, rep, "policy.r high /calculations/0", "math.straddles_gate high /calculations/0/result",
		"math.straddles_gate high /calculations/1/result")
	wantStatus(t, rep, "math.x", "flag", "math.y", "flag")
}

// TestLateKeys: self_check and final_output are judged after the gates, wherever the sheet lists them.
func TestLateKeys(t *testing.T) {
	members := `"required_inputs":[{"name":"a"}],"eval_spec":{"deterministic_checks":["final_output_consistent"],` +
		`"rules":[{"id":"r","expr":"a > 1","tier":"high"}]}`
	runRuleCases(t, []ruleCase{
		{"PASS while the gate fails", members, `{"inputs":{"a":0},"final_output":{"decision":"pass"}}`,
			"final_output_consistent flag", []string{"policy.r high /inputs/a",
				"policy.final_output_inconsistent mid /final_output"}, nil},
		{"PASS while nobody knows", members, `{"inputs":{"a":"x"},"final_output":"PASS."}`,
			"final_output_consistent skip r skip", []string{"evidence.operand_type mid /inputs/a",
				"policy.undecided high /inputs/a"}, nil},
		{"passing is another word", members, `{"inputs":{"a":0},"final_output":"PASSING is not PASS"}`,
			"final_output_consistent pass", []string{"policy.r high /inputs/a"}, nil},
	})
}
