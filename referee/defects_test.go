package referee

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The three public systems whose doctrine this engine carries out have defects that were found by reading and running
// them. Each is a test here that neither the engine nor the library has it. The first eight are of the original engine
// and its catalogue, in the order of the project's list; then those of the flight evaluator and of the evaluator gate.

// librarySheet loads a sheet of the library, with its source.
func librarySheet(t *testing.T, slug string) (*Sheet, []byte) {
	t.Helper()
	src, err := os.ReadFile("../flight_sheets/" + slug + ".json")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := LoadSheet(src, slug+".json", "library")
	if err != nil {
		t.Fatal(err)
	}
	return sheet, src
}

// exampleCase is the sheet's n-th example: its submission as text, and its evidence.
func exampleCase(sheet *Sheet, src []byte, n int) (string, option) {
	ex := sheet.Examples()[n]
	var pairs []string
	for _, f := range ex.Evidence {
		pairs = append(pairs, f.ID+".json", f.Text)
	}
	return string(ex.Submission.Source(src)), withEvidence(pairs...)
}

// debtService is a sheet that declares what its own formula gives for 8,625,000 at 7.25 % over 360 months.
func debtService(expected string) string {
	return sheetText(
		`"required_inputs":[{"name":"principal"},{"name":"rate"},{"name":"months"}],
			"eval_spec":{"math_checks":[{"formula_id":"annual_debt_service",
		"formula":"12 * principal * (rate / 12) / (1 - (1 + rate / 12) ** -months)","inputs":{"principal":8625000,
		"rate":0.0725,"months":360},"expected_result":` + expected + `,"tolerance_abs":500}]}`)
}

// Defect 1: a sheet of the original declares an annual debt service of 703,452 (tolerance 500) where its formula gives
// 706,052.45 (python3 decimal, 50 digits: 706052.449859…). A rulebook's own numbers are re-derived when it loads.
func TestDefectSheetsOwnNumberIsWrong(t *testing.T) {
	wantRefusal(t, debtService("703452"), "worked_number", "706052.4", "not 703452")
	mustLoad(t, debtService("706052.45"))
}

// Defect 2: a gate that reads "dscr" did not find the calculation named "DSCR", was skipped, and honey resulted.
func TestDefectGateDoesNotFindItsCalculation(t *testing.T) {
	sheet := mustSheet(t, strings.Replace(ratioSheet, `"units":"ratio"}`,
		`"units":"ratio","aliases":{"dscr":["Debt Service Coverage Ratio"]}}`, 1))
	bad := ratioSubmission("100", "100", "noi / debt", "1.0")
	for _, name := range []string{"dscr", "DSCR", "Dscr", "debt service coverage ratio"} {
		wantStatus(t, auditText(sheet, strings.Replace(bad, `"name":"dscr"`, `"name":"`+name+`"`, 1)), "math.dscr",
			"pass", "dscr_gate", "flag")
	}
	rep := auditText(sheet, strings.Replace(ratioSubmission("130", "100", "noi / debt", "1.3"), `"name":"dscr"`,
		`"name":"coverage"`, 1))
	if checkNamed(t, rep, "dscr_gate").Status == Pass || rep.Verdict.ClientReady ||
		rep.Verdict.RecommendedAction == "approve" {
		t.Errorf("a gate over a calculation that is not there: %+v", rep.Verdict)
	}
}

// Defect 3: under 1 % passed, 2 to 10 % was mid, and between them nothing was said; and what is only low was honey.
// Here each error has one band (S2), and a low flag is jelly.
func TestDefectHoleBetweenBands(t *testing.T) {
	sheet := mustSheet(t, strings.Replace(ratioSheet, "dscr >= 1.20", "dscr >= 0.5", 1))
	for stated, want := range map[string]Tier{"1.005": "", "1.0150": Low, "1.0199": Low, "1.0500": Mid,
		"1.1500": High} {
		rep := auditText(sheet, ratioSubmission("100", "100", "noi / debt", stated))
		if want == "" {
			wantCodes(t, rep)
			continue
		}
		if f := findingOf(t, rep, "math.mismatch"); f.Tier != want {
			t.Errorf("stated %s for 1: %s, want %s", stated, f.Tier, want)
		}
		if want == Low && (rep.Verdict.Severity != Jelly || rep.Verdict.SeverityIfApproved != Jelly) {
			t.Errorf("a low flag alone: %+v", rep.Verdict)
		}
	}
}

// Defect 4: a formula that cannot be parsed was skipped and fell out of the score, so prose hid a number. The formula
// is the original's own.
func TestDefectProseFormula(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	for _, formula := range []string{"12 * P * [r(1+r)^n / ((1+r)^n - 1)]",
		"NOI divided by annual debt service, as agreed"} {
		rep := auditText(sheet, ratioSubmission("130", "100", formula, "1.3"))
		wantStatus(t, rep, "math.dscr", "flag")
		if f := findingOf(t, rep, "math.formula_unparseable"); f.Bucket != WorkDefect || rep.Verdict.ClientReady {
			t.Errorf("%q: %s, client ready %v", formula, f.Bucket, rep.Verdict.ClientReady)
		}
	}
}

// Defect 5: gates read the result that the agent states. 100 / 100 is 1, whatever is stated.
func TestDefectGateReadsTheClaim(t *testing.T) {
	rep := auditText(mustSheet(t, ratioSheet), ratioSubmission("100", "100", "noi / debt", "1.25"))
	wantStatus(t, rep, "math.dscr", "flag", "dscr_gate", "flag")
}

// Defect 6: 9**9**9 did not end, and a division by zero was skipped. 9**9**9 has 369,693,100 digits.
func TestDefectUnboundedPowerAndDivisionByZero(t *testing.T) {
	sheet, start := mustSheet(t, ratioSheet), time.Now()
	wantStatus(t, auditText(sheet, ratioSubmission("130", "100", "9**9**9", "1.3")), "math.dscr", "flag")
	wantStatus(t, auditText(sheet, ratioSubmission("130", "100", "noi / debt + 9^9^9", "1.3")), "math.dscr", "flag")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("two audits of 9**9**9 took %v", took)
	}
	rep := auditText(sheet, ratioSubmission("130", "0", "noi / debt", "1.3"))
	wantStatus(t, rep, "math.dscr", "flag")
	findingOf(t, rep, "math.undefined")
}

// Defect 7: a result was compared with the agent's own inputs only, and never those with the evidence.
func TestDefectInputsNeverComparedWithEvidence(t *testing.T) {
	sheet := mustSheet(t, strings.Replace(ratioSheet, `"rules"`, `"evidence_checks":["inputs_match_evidence"],"rules"`,
		1))
	submission := strings.Replace(ratioSubmission("130", "100", "noi / debt", "1.3"), `"result":`,
		`"sources":{"noi":"t12#/noi","debt":"t12#/debt"},"result":`, 1)
	wantStatus(t, auditText(sheet, submission, withEvidence("t12.json", `{"noi":130,"debt":100}`)),
		"inputs_match_evidence", "pass", "dscr_gate", "pass")
	rep := auditText(sheet, submission, withEvidence("t12.json", `{"noi":100,"debt":100}`))
	wantCodes(t, rep, "evidence.input_mismatch high /calculations/0/inputs/noi",
		"evidence.input_mismatch high /inputs/noi")
}

// Defect 8: honey with no rule applied: none declared, or all skipped.
func TestDefectHoneyWithoutARule(t *testing.T) {
	wantRefusal(t, sheetText(`"eval_spec":{}`), "no_rule", "declares no rule")
	onlyQuestions := mustSheet(t, `"audit_checks":[{"key":"q","kind":"checklist","label":"Is the rent roll signed?"}],`+
		`"eval_spec":{}`)
	allSkipped := mustSheet(t, `"required_inputs":[{"name":"a","optional":true}],"eval_spec":{"rules":[{"id":"r",`+
		`"expr":"a > 1","tier":"high"}]}`)
	for _, sheet := range []*Sheet{onlyQuestions, allSkipped} {
		v := auditText(sheet, `{"inputs":{}}`).Verdict
		if v.Severity == Honey || v.ClientReady || v.RecommendedAction == "approve" {
			t.Errorf("%+v", v)
		}
	}
}

// The flight evaluator hashed the names of its limits, so that its version did not change with them. Here every value
// moves a hash.
func TestDefectTraceOfNames(t *testing.T) {
	sheet := `"consts":{"TOP":{"value":250,"source":"s","status":"policy"}},"eval_spec":{"penalty":{"critical_pct":10},
		"deterministic_checks":[{"check":"range","id":"limits","over":"state","limits":{"speed":[0,200]}}],
		"rules":[{"check":"jump","id":"steps","series":"rows","thresholds":{"speed":10}},{"id":"top",
		"expr":"field(\"/state/speed\") <= TOP"}]}`
	was := auditText(mustSheet(t, sheet), `{}`).Trace
	for _, change := range [][2]string{{`"value":250`, `"value":251`}, {`[0,200]`, `[0,201]`},
		{`{"speed":10}`, `{"speed":11}`}, {`"critical_pct":10`, `"critical_pct":11`}} {
		is := auditText(mustSheet(t, strings.Replace(sheet, change[0], change[1], 1)), `{}`).Trace
		if is.Limits == was.Limits || is.Sheet == was.Sheet {
			t.Errorf("%s for %s leaves the trace as it was", change[1], change[0])
		}
	}
	same := auditText(mustSheet(t, strings.Replace(sheet, `"value":250`, `"value": 250.0`, 1)), `{}`).Trace
	if same.Limits != was.Limits {
		t.Error("250.0 is another value than 250")
	}
}

// The flight evaluator's file of limits was not published, and without it no range and no step was checked, without a
// word.
func TestDefectMissingLimits(t *testing.T) {
	for _, check := range []string{`{"check":"range","id":"r","over":"state"}`,
		`{"check":"jump","id":"r","series":"rows"}`} {
		wantRefusal(t, sheetText(`"eval_spec":{"rules":[`+check+`]}`), "missing_key")
	}
	for _, check := range []string{`{"check":"range","id":"r","over":"state","limits":{}}`,
		`{"check":"jump","id":"r","series":"rows","thresholds":{}}`} {
		wantRefusal(t, sheetText(`"eval_spec":{"rules":[`+check+`]}`), "missing_key", "pass everything")
	}
	for _, slug := range []string{"fly-s1-next-second", "fly-m1-window", "fly-m3-trajectory"} {
		sheet, _ := librarySheet(t, slug)
		for _, r := range sheet.Rules {
			limits := r.v.Get("limits")
			if r.Kind == "jump" {
				limits = r.v.Get("thresholds")
			}
			if (r.Kind == "range" || r.Kind == "jump") && len(limits.Fields()) != 19 {
				t.Errorf("%s: %s checks %d of 19 fields", slug, r.ID, len(limits.Fields()))
			}
		}
	}
}

// The flight evaluator did not wrap angles in the continuity of a series: from 359 to 1 degree is a step of 2.
func TestDefectAnglesNotWrapped(t *testing.T) {
	sheet := mustSheet(t, `"eval_spec":{"rules":[{"check":"jump","id":"steps","series":"rows",`+
		`"thresholds":{"track":20},"angle_fields":["track"]}]}`)
	wantStatus(t, auditText(sheet, `{"rows":[{"track":359},{"track":1},{"track":350}]}`), "steps", "pass")
	wantCodes(t, auditText(sheet, `{"rows":[{"track":359},{"track":20}]}`), "math.jump mid /rows/1/track") // 21 of 20
}

// The flight evaluator gave 100 for constraints where nothing had been checked, and that 100 in place of an error that
// could not be computed.
func TestDefectFalseCleanScore(t *testing.T) {
	sheet, src := librarySheet(t, "fly-s1-next-second")
	record, evidence := exampleCase(sheet, src, 1)
	if rep := auditText(sheet, record, evidence); rep.Scores == nil || rep.Scores.Gated ||
		rep.Scores.ConstraintSatisfaction != "100" {
		t.Fatalf("the example itself: %+v, findings %v", rep.Scores, codes(rep))
	}
	at := strings.Index(record, `"response": "`) + len(`"response": "`)
	rep := auditText(sheet, record[:at]+"I would say: "+record[at:], evidence)
	if rep.Scores == nil || *rep.Scores != (Scores{Gated: true}) || rep.Adjudication.Eligible {
		t.Errorf("an unreadable answer scores %+v", rep.Scores)
	}
	withoutGold, _ := exampleCase(sheet, src, 1)
	rep = auditText(sheet, withoutGold, withEvidence("sample.json", sheet.Examples()[1].Evidence[0].Text))
	if rep.Scores == nil || rep.Scores.ConditionalError != "" || rep.Scores.Total != "" {
		t.Errorf("without gold: %+v", rep.Scores)
	}
}

// The evaluator gate believed the evaluator's own "passed". Here it follows from the scores.
func TestDefectPassedIsBelieved(t *testing.T) {
	sheet, src := librarySheet(t, "genai-evaluator-gate")
	report, evidence := exampleCase(sheet, src, 0)
	report = regexp.MustCompile(`"score": [0-9.]+`).ReplaceAllString(report, `"score": 0.45`)
	rep := auditText(sheet, report, evidence)
	wantStatus(t, rep, "pass_logic", "flag", "overall_recompute", "flag")
	if rep.Verdict.ClientReady || rep.Verdict.Severity != Propolis {
		t.Errorf("%+v", rep.Verdict)
	}
}
