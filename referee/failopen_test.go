package referee

import (
	"strings"
	"testing"
)

// The six ways in which a general policy tool was seen to fail open (issue 2): each time it answered "no violations".
// Here each is refused when the sheet loads, or flagged, or undecided with its reason; none passes.

func TestFailOpenMisspeltRuleKind(t *testing.T) {
	wantRefusal(t, sheetText(`"eval_spec":{"deterministic_checks":["calculations_presnt"]}`), "unknown_check",
		`unknown check "calculations_presnt"`, `did you mean "calculations_present"?`)
	wantRefusal(t, sheetText(`"eval_spec":{"deterministic_checks":[{"check":"rnage","over":"inputs","limits":{"a":[0,`+
		`1]}}]}`), "unknown_check", `did you mean "range"?`)
	wantRefusal(t, sheetText(`"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","exprr":"a > 0"}]}`),
		"unknown_key", `did you mean "expr"?`)
}

func TestFailOpenMisspeltField(t *testing.T) {
	wantRefusal(t, sheetText(`"required_inputs":[{"name":"occupancy"}],"eval_spec":{"rules":[{"id":"r",`+
		`"expr":"occupency >= 0.9"}]}`), "expression", `unknown name "occupency"`, "occupancy")
	// A path into the submission cannot be checked when the sheet loads: at run time it is undecided and the work is
	// flagged, never passed.
	sheet := mustSheet(t, `"eval_spec":{"rules":[{"id":"r","expr":"field(\"occupency\") >= 0.9","tier":"high"}]}`)
	rep := auditText(sheet, `{"occupancy":0.5}`)
	wantStatus(t, rep, "r", "skip")
	wantCodes(t, rep, "evidence.operand_missing high /occupency", "policy.undecided high /occupency")
	if !rep.Fails(FailOnHigh) {
		t.Error("an undecided high gate does not fail")
	}
}

func TestFailOpenDivisionByZero(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	rep := auditText(sheet, ratioSubmission("130", "0", "noi / debt", "1.3"))
	wantStatus(t, rep, "math.dscr", "flag", "dscr_gate", "skip")
	if f := findingOf(t, rep, "math.undefined"); f.Tier != High || f.Bucket != WorkDefect {
		t.Errorf("math.undefined is %s %s", f.Tier, f.Bucket)
	}
	inGate := mustSheet(t, `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"rules":[{"id":"r","expr":"not `+
		`(a / b < 1.2)","tier":"high"}]}`)
	rep = auditText(inGate, `{"inputs":{"a":1,"b":0}}`)
	wantStatus(t, rep, "r", "skip")
	if f := findingOf(t, rep, "math.undefined"); f.Tier != High {
		t.Errorf("math.undefined is %s", f.Tier)
	}
}

func TestFailOpenTextForNumber(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"ltv"}],"eval_spec":{"rules":[{"id":"r","expr":"not (ltv > `+
		`0.8)","tier":"high"}]}`)
	rep := auditText(sheet, `{"inputs":{"ltv":"0.9"}}`)
	wantStatus(t, rep, "r", "skip")
	wantCodes(t, rep, "evidence.operand_type mid /inputs/ltv", "policy.undecided high /inputs/ltv")
	if !rep.Fails(FailOnHigh) || rep.Verdict.ClientReady || rep.Verdict.RecommendedAction != "resubmit" {
		t.Errorf("%+v", rep.Verdict)
	}
}

func TestFailOpenDuplicateKey(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	good := ratioSubmission("130", "100", "noi / debt", "1.3")
	wantCodes(t, auditText(sheet, good))
	rep := auditText(sheet, strings.Replace(good, `"inputs":{"noi":130,`, `"inputs":{"noi":13,"noi":130,`, 1))
	wantCodes(t, rep, "structure.json_valid high ")
	if f := rep.Findings[0]; f.Line != 1 || f.Column != 21 { // after {"inputs":{ (11) and "noi":13, (9)
		t.Errorf("at %d:%d", f.Line, f.Column)
	}
	wantStatus(t, rep, "dscr_gate", "skip", "math.dscr", "skip", "schema", "skip")
}

func TestFailOpenBigIntegers(t *testing.T) {
	// 9007199254740993 is 2^53 + 1, which float64 makes 2^53.
	sheet := mustSheet(t, `"required_inputs":[{"name":"a"},{"name":"b"}],"eval_spec":{"rules":[{"id":"same","expr":"a `+
		`== b","tier":"high"},{"id":"less","expr":"a > b","tier":"high"}]}`)
	wantStatus(t, auditText(sheet, `{"inputs":{"a":9007199254740993,"b":9007199254740992}}`), "same", "flag", "less",
		"pass")
	wantRefusal(t, sheetText(`"consts":{"K":{"value":9007199254740993,"source":"s","status":"policy"}},`+
		`"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a"},{"id":"r","expr":"a == K"}]}`),
		"duplicate", `"r"`)
	exact := mustSheet(t, `"consts":{"K":{"value":9007199254740993,"source":"s","status":"policy"}},`+
		`"required_inputs":[{"name":"a"}],"eval_spec":{"rules":[{"id":"r","expr":"a == K"}]}`)
	wantStatus(t, auditText(exact, `{"inputs":{"a":9007199254740992}}`), "r", "flag")
	wantStatus(t, auditText(exact, `{"inputs":{"a":9007199254740993}}`), "r", "pass")
}

// TestHostileInput: what is meant to break a reader is refused or flagged, quickly, and says so.
func TestHostileInput(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	calcs := strings.Repeat(`{"name":"y","formula":"1","inputs":{},"result":1,"units":"count"},`, 600)
	for name, c := range map[string]struct{ submission, code string }{
		"a number of five million digits' worth": {ratioSubmission("1e5000000", "100", "noi / debt", "1.3"),
			"schema.number_out_of_range"},
		"a hundred thousand brackets": {strings.Repeat("[", 100_000), "structure.json_valid"},
		"a hundred thousand objects":  {strings.Repeat(`{"a":`, 100_000), "structure.json_valid"},
		"a tower of powers": {ratioSubmission("130", "100", "9**9**9**9", "1.3"),
			"math.too_complex"},
		"a power of the debt": {ratioSubmission("130", "100", "noi**99999", "1.3"),
			"math.too_complex"},
		"prose": {ratioSubmission("130", "100", "as agreed with the lender on Tuesday",
			"1.3"), "math.formula_unparseable"},
		"a formula of brackets": {ratioSubmission("130", "100", strings.Repeat("(", 1500), "1.3"),
			"math.too_complex"},
		"a formula of two megabytes": {ratioSubmission("130", "100", strings.Repeat("1+", 1<<20)+"1",
			"1.3"), "math.too_complex"},
		"a formula in right-to-left override": {ratioSubmission("130", "100", "noi \u202e/ debt", "1.3"),
			"math.formula_unparseable"},
		"code": {ratioSubmission("130", "100", `__import__('os').system('true')`,
			"1.3"), "math.formula_unparseable"},
		"six hundred calculations": {strings.Replace(ratioSubmission("130", "100", "noi / debt", "1.3"),
			`"calculations":[`, `"calculations":[`+calcs, 1), "math.too_complex"},
		"a control character":    {"{\"a\":\"\x01\"}", "structure.json_valid"},
		"bytes that are no text": {"{\"a\":\"\xff\"}", "structure.json_valid"},
		"nothing":                {"", "structure.json_valid"},
	} {
		rep := auditText(sheet, c.submission)
		if f := findingOf(t, rep, c.code); f.Tier != High || f.Fix == nil {
			t.Errorf("%s: %s is %s, fix %v", name, f.Code, f.Tier, f.Fix)
		}
		if rep.Verdict.RecommendedAction != "resubmit" || !rep.Fails(FailOnHigh) {
			t.Errorf("%s: %+v", name, rep.Verdict)
		}
		for _, f := range rep.Findings {
			if len(f.Message) > maxMessage+500 {
				t.Errorf("%s: a message of %d bytes", name, len(f.Message))
			}
		}
	}
}

// TestNothingInvisibleIsPrinted: no message carries a control or direction character of the submission raw; a reader
// sees what is there.
func TestNothingInvisibleIsPrinted(t *testing.T) {
	const evil = "a\u202eb\u2066c\u0007d\u200be"
	sheet := mustSheet(t, `"required_inputs":[{"name":"noi"},{"name":"debt"},{"name":"state"}],
		"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"noi / debt"}],
		"deterministic_checks":["inputs_consistent",{"check":"m","match_field":"tag","expected_value":"x"},
		{"check":"schema","id":"part","path":"tag","enum":["x"]}],
		"evidence_checks":["all_claims_cited","evidence_references_resolve","quotes_verbatim","inputs_match_evidence",
		"self_check_true"],
		"rules":[{"id":"gate","expr":"dscr >= 1.2","tier":"high"},{"id":"where","expr":"state == \"TX\"","tier":"mid"},
		{"id":"each","check":"for_each","over":"field(\"rows\")","each":"ok","key":"id"}]}`)
	j := strings.ReplaceAll(
		`{"assignment_id":"EVIL","tag":"EVIL","inputs":{"noi":"EVIL","debt":1,"state":"EVIL"},"rows":[{"id":"EVIL",
			"ok":false}],
		"claims":[{"claim":"c","evidence_reference":"EVIL","quote":"EVIL and more of it"},{"claim":"c",
		"evidence_reference":"src#EVIL"},{"claim":"d"}],"self_check":{"EVIL":false},
		"calculations":[{"name":"dscr","formula":"EVIL / 2","inputs":{"EVIL":1,"noi":2},"result":"EVIL","units":"EVIL",
		"sources":{"EVIL":"EVIL#EVIL","noi":"src#text=EVIL"}},{"name":"EVIL","formula":"x","inputs":{},"result":2,
		"units":"x"}]}`, "EVIL", `a\u202eb\u2066c\u0007d\u200be`)
	rep := auditText(sheet, j, withEvidence("src.txt", "text "+evil))
	if len(rep.Findings) < 10 {
		t.Fatalf("only %v", codes(rep))
	}
	visible := func(where, text string) {
		if i := strings.IndexAny(text, "\u202e\u2066\u0007\u200b"); i >= 0 {
			t.Errorf("%s prints %q", where, text)
		}
	}
	for _, f := range rep.Findings {
		visible(f.Code+" message", f.Message)
		if f.Fix != nil {
			visible(f.Code+" fix", f.Fix.Text)
		}
	}
	for _, ch := range rep.Checks {
		visible(ch.ID+" reason", ch.Reason)
		visible(ch.ID+" notes", strings.Join(ch.Notes, "\n"))
	}
	for _, at := range rep.Atoms {
		visible(at.ID+" "+at.Type, at.Message)
	}
}
