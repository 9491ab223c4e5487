package referee

import (
	"encoding/json"
	"strings"
	"testing"
)

// stateSheet reads a raw answer of two numbers as "prediction".
const stateSheet = `"response":{"path":"response","as":"prediction","fields":["Speed (kt)","Slip/Skid"]},
	"eval_spec":{"required_output_schema":{"type":"object","required":["prediction"]},
		"rules":[{"id":"speed","expr":"field(\"/prediction/Speed (kt)\") <= 250","tier":"high"},
			{"check":"range","id":"limits","over":"prediction","limits":{"Speed (kt)":[0,250],"Slip/Skid":[-1,1]}}]}`

// seriesSheet reads a raw answer of two states as "trajectory".
const seriesSheet = `"response":{"path":"response","as":"trajectory","fields":["a","b"],"steps":2},
	"eval_spec":{"rules":[{"check":"jump","id":"steps","series":"trajectory","thresholds":{"a":1,"b":1}}]}`

// recorded is the record of a call with this raw answer.
func recorded(raw string) string {
	b, err := json.Marshal(raw)
	if err != nil {
		panic(err)
	}
	return `{"id": "s-1",` + "\n" + ` "response": ` + string(b) + `, "model": "m"}`
}

func TestResponseIsReadAsItsMember(t *testing.T) {
	sheet := mustSheet(t, stateSheet)
	for name, raw := range map[string]string{
		"bare":       `{"Speed (kt)": 100, "Slip/Skid": 0.02}`,
		"spaced":     "\n  {\"Speed (kt)\": 100, \"Slip/Skid\": 0.02}\r\n",
		"fenced":     "```json\n{\"Speed (kt)\": 100,\n \"Slip/Skid\": 0.02}\n```",
		"plainfence": "```\n{\"Speed (kt)\": 100, \"Slip/Skid\": 0.02}```\n",
		"wrapped": `{"assignment_id": "test-sheet", "sample_id": "s-1", "prediction": {"Speed (kt)": 100, ` +
			`"Slip/Skid": 0.02}}`,
	} {
		rep := auditText(sheet, recorded(raw))
		wantStatus(t, rep, "structure", "pass", "response", "pass", "speed", "pass", "limits", "pass")
		if want := (Protocol{Parsed: true, FieldCompleteness: "2/2", TypeValidation: true}); rep.Protocol != want {
			t.Errorf("%s: protocol %+v", name, rep.Protocol)
		}
		notes := strings.Join(checkNamed(t, rep, "response").Notes, " ")
		if strings.Contains(notes, "code fence") != strings.Contains(name, "fence") {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// The same answer without its record is judged alike: one set of rules for both shapes.
func TestResponseOrTheMemberItself(t *testing.T) {
	sheet := mustSheet(t, stateSheet)
	raw := `{"Speed (kt)": 300, "Slip/Skid": 0.02}`
	record, plain := auditText(sheet, recorded(raw)), auditText(sheet, `{"prediction":`+raw+`}`)
	for _, rep := range []*Report{record, plain} {
		wantCodes(t, rep, "policy.speed high /prediction/Speed (kt)", "math.out_of_range mid /prediction/Speed (kt)")
	}
	f := findingOf(t, record, "policy.speed")
	if f.Line != 2 || f.Column != 14 { // where the text of the raw answer begins
		t.Errorf("the finding stands at %d:%d", f.Line, f.Column)
	}
}

func TestResponseUnreadable(t *testing.T) {
	sheet := mustSheet(t, stateSheet)
	good := `{"Speed (kt)": 100, "Slip/Skid": 0}`
	for name, c := range map[string]struct{ submission, words string }{
		"prose before": {recorded("Sure! Here it is:\n" + good),
			`line 1, column 1 of the raw answer: prose stands before the JSON object: "Sure!`},
		"prose after": {recorded(good + "\nI hope\tthis helps"),
			"line 2, column 1 of the raw answer: something stands after the JSON object"},
		"prose in fence": {recorded("```json\nAnswer: " + good + "\n```"), "line 2, column 1 of the raw answer"},
		"after the fence": {recorded("```json\n" + good + "\n```\nDone."),
			"line 1, column 1 of the raw answer: the code fence is not closed at the end"},
		"another fence": {recorded("```python\n" + good + "\n```"), `marked "python"`},
		"NaN": {recorded("{\"Speed (kt)\": 100,\n \"Slip/Skid\": NaN}"),
			"line 2, column 15 of the raw answer"},
		"NaN in a fence": {recorded("```json\n{\"Speed (kt)\": 100,\n \"Slip/Skid\": NaN}\n```"),
			"line 3, column 15 of the raw answer"},
		"duplicate key": {recorded(`{"Speed (kt)": 100, "Speed (kt)": 90, "Slip/Skid": 0}`),
			`duplicate key "Speed (kt)"`},
		"cut off": {recorded(good[:len(good)-1]), "of the raw answer"},
		"array":   {recorded("[" + good + "]"), "object"},
		"empty":   {recorded(" "), "of the raw answer"},
		"too deep": {recorded(`{"a":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `,"b":` +
			strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`), "of the raw answer"},
		"no text":    {`{"response": {"Speed (kt)": 100, "Slip/Skid": 0}}`, "must be a text"},
		"null":       {`{"response": null}`, "must be a text"},
		"said twice": {`{"prediction": ` + good + `, "response": "{}"}`, "which of them did the model say?"},
		"neither":    {`{"id": "s-1"}`, `neither a raw answer at /response nor the member "prediction"`},
		"more beside it": {recorded(`{"prediction": ` + good + `, "inputs": {}}`),
			`the member "inputs" beside "prediction"`},
		"other answer": {recorded(`{"prediction": ` + good + `, "assignment_id": "other"}`),
			`to the assignment "other"`},
	} {
		rep := auditText(sheet, c.submission)
		f := findingOf(t, rep, "protocol.response_unreadable")
		wantWords(t, f.Message, c.words)
		if f.Tier != High || f.Pointer != "/response" || rep.Protocol.Parsed || rep.Protocol.TypeValidation ||
			rep.Adjudication.Eligible || rep.Verdict.ClientReady {
			t.Errorf("%s: %s %s, protocol %+v, eligible %v", name, f.Tier, f.Pointer, rep.Protocol,
				rep.Adjudication.Eligible)
		}
		if name != "said twice" { // there, the member that is stated is judged, and the doubt stops it
			wantStatus(t, rep, "response", "flag", "speed", "skip", "limits", "skip")
		}
	}
}

func TestResponseFields(t *testing.T) {
	rep := auditText(mustSheet(t, stateSheet), recorded(`{"Speed (kt)": "100"}`))
	wantStatus(t, rep, "response", "flag", "speed", "skip")
	wantWords(t, findingOf(t, rep, "math.not_a_number").Message, `Speed (kt) is not a number: "100"`)
	if f := findingOf(t, rep, "structure.missing"); f.Pointer != "/prediction/Slip~1Skid" {
		t.Errorf("missing at %s", f.Pointer)
	}
	if want := (Protocol{Parsed: true, FieldCompleteness: "1/2"}); rep.Protocol != want {
		t.Errorf("protocol %+v", rep.Protocol)
	}
	types := map[string]bool{}
	for _, at := range rep.Atoms {
		types[at.Type] = at.Pass
	}
	for _, name := range []string{"protocol.field_completeness", "protocol.type_validation"} {
		if pass, there := types[name]; !there || pass {
			t.Errorf("atom %s: there %v, pass %v", name, there, pass)
		}
	}
}

func TestResponseSeries(t *testing.T) {
	sheet := mustSheet(t, seriesSheet)
	for _, raw := range []string{`{"a": [1, 2.5], "b": [0.1, 0.2]}`,
		`{"trajectory": [{"a": 1, "b": 0.1}, {"a": 2.5, "b": 0.2}]}`} {
		rep := auditText(sheet, recorded(raw))
		// a step of 1.5 where 1 is plausible: a ratio of 1.5, not above it
		wantCodes(t, rep, "math.jump mid /trajectory/1/a")
		if rep.Protocol.FieldCompleteness != "4/4" || !rep.Protocol.TypeValidation {
			t.Errorf("protocol %+v", rep.Protocol)
		}
	}
	rep := auditText(sheet, recorded(`{"a": [1, 2]}`))
	// the last two from the step that cannot be seen, at its first gap
	wantCodes(t, rep, "structure.missing high /trajectory/0/b", "structure.missing high /trajectory/1/b",
		"evidence.operand_missing high /trajectory/0/b", "policy.undecided high /trajectory/0/b")
}

// TestResponseOfWrongLength: an answer that can be read is parsed, however many seconds it has; its completeness counts
// the values that were asked for, and its length or shape is the fault (fidelity 003 #140, #141).
//
// Source: 003 #140.
func TestResponseOfWrongLength(t *testing.T) {
	sheet := mustSheet(t, seriesSheet)
	for _, c := range []struct {
		raw, completeness string
		codes             []string
		typed             bool
	}{
		{`{"a": [1], "b": [0.1]}`, "2/4", []string{"protocol.answer_length", "structure.missing"}, true},
		{`{"a": [1, 2, 3], "b": [0.1, 0.2, 0.3]}`, "4/4", []string{"protocol.answer_length"}, true},
		{`{"a": [1, 2], "b": [0.1]}`, "3/4", []string{"structure.missing"}, true},
		{`{"a": [1, 2, 3], "b": [0.1, 0.2]}`, "4/4", []string{"protocol.answer_length"}, true},
		{`{"a": [1, 2]}`, "2/4", []string{"structure.missing"}, true},
		{`{"a": 1, "b": [1, 2]}`, "2/4", []string{"structure.missing", "protocol.answer_shape"}, false},
		{`{"a": [1, "2"], "b": [1, 2]}`, "4/4", []string{"math.not_a_number"}, false},
		{`{}`, "0/4", []string{"protocol.answer_length", "structure.missing"}, true},
		{`{"trajectory": [{"a": 1, "b": 0.1}]}`, "2/4",
			[]string{"protocol.answer_length", "structure.missing"}, true},
		{`{"trajectory": [1, {"a": 1, "b": 2}]}`, "2/4", []string{"structure.missing"}, false},
		{`{"trajectory": []}`, "0/4", []string{"protocol.answer_length", "structure.missing"}, true},
	} {
		rep := auditText(sheet, recorded(c.raw))
		want := Protocol{Parsed: true, FieldCompleteness: c.completeness, TypeValidation: c.typed}
		if rep.Protocol != want || rep.Adjudication.Eligible {
			t.Errorf("%s: protocol %+v, eligible %v", c.raw, rep.Protocol, rep.Adjudication.Eligible)
		}
		for _, code := range c.codes {
			if f := findingOf(t, rep, code); f.Tier != High || len(f.Atoms) == 0 {
				t.Errorf("%s: %s is %s and cites %v", c.raw, code, f.Tier, f.Atoms)
			}
		}
	}
	wantWords(t, findingOf(t, auditText(sheet, recorded(`{"a": [1], "b": [2]}`)), "protocol.answer_length").Message,
		"the answer has 1 state; 2 are asked for")
	wantWords(t, findingOf(t, auditText(sheet, recorded(`{"a": 1}`)), "protocol.answer_shape").Message,
		`"a" of the raw answer is one value; it must be an array of 2`)
	long := `{"a": [` + strings.Repeat("1,", maxSteps) + `1]}`
	rep := auditText(sheet, recorded(long))
	wantWords(t, findingOf(t, rep, "protocol.response_unreadable").Message, "has 1001 values; at most 1000 are read")
}

// TestMissingFieldIsOneFault: a field that is left out is the same fault in a single state and in a series.
//
// Source: 003 #141.
func TestMissingFieldIsOneFault(t *testing.T) {
	single := auditText(mustSheet(t, stateSheet), recorded(`{"Speed (kt)": 100}`))
	series := auditText(mustSheet(t, seriesSheet), recorded(`{"a": [1, 2]}`))
	for name, rep := range map[string]*Report{"single": single, "series": series} {
		f := findingOf(t, rep, "structure.missing")
		if !rep.Protocol.Parsed || !rep.Protocol.TypeValidation || f.Tier != High || rep.Adjudication.Eligible {
			t.Errorf("%s: protocol %+v, %s, eligible %v", name, rep.Protocol, f.Tier, rep.Adjudication.Eligible)
		}
	}
}

func TestResponseRefusals(t *testing.T) {
	rules := `,"eval_spec":{"required_output_schema":{"type":"object"}}`
	for _, c := range []struct{ response, rule, words string }{
		{`{"path":"response","as":"prediction"}`, "missing_key", `"fields"`},
		{`{"path":"response","as":"prediction","fields":[]}`, "missing_key", "an answer of nothing"},
		{`{"path":"a..b","as":"prediction","fields":["a"]}`, "path", "a..b"},
		{`{"path":"rows[*]","as":"prediction","fields":["a"]}`, "path", "one member"},
		{`{"path":"$evidence.x","as":"prediction","fields":["a"]}`, "path", "one member"},
		{`{"path":"response","as":"calculations","fields":["a"]}`, "response", "a plain name of its own"},
		{`{"path":"response","as":"inputs","fields":["a"]}`, "response", "a plain name of its own"},
		{`{"path":"response","as":"response","fields":["a"]}`, "response", "a plain name of its own"},
		{`{"path":"response","as":"my answer","fields":["a"]}`, "response", "a plain name of its own"},
		{`{"path":"response","as":"p","fields":["a"],"steps":1}`, "response", "from 2 to 1000"},
		{`{"path":"response","as":"p","fields":["a"],"steps":2.5}`, "response", "from 2 to 1000"},
		{`{"path":"response","as":"p","fields":["a"],"fenced":true}`, "unknown_key", "fenced"},
	} {
		wantRefusal(t, sheetText(`"response":`+c.response+rules), c.rule, c.words)
	}
}

// FuzzResponse: whatever a model writes, the audit ends, and an answer that cannot be read never lets a rule over it
// pass.
func FuzzResponse(f *testing.F) {
	for _, raw := range []string{`{"Speed (kt)": 100, "Slip/Skid": 0}`, "```json\n{}\n```", "```", "``````",
		`{"prediction": 5}`, "Sure: {}", `{"a":1}}`, "\xff", `{"prediction":{}}`, "```json\r\n{\"a\":[1,2]}```"} {
		f.Add(raw)
	}
	state, err := LoadSheet([]byte(sheetText(stateSheet)), "state.json", "repository")
	if err != nil {
		f.Fatal(err)
	}
	series, err := LoadSheet([]byte(sheetText(seriesSheet)), "series.json", "repository")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, sheet := range []*Sheet{state, series} {
			rep := auditText(sheet, recorded(raw))
			if rep.Protocol.Parsed {
				continue
			}
			for _, ch := range rep.Checks {
				if ch.Status == Pass && ch.Kind != "implicit" {
					t.Errorf("rule %s passes over an answer that cannot be read", ch.ID)
				}
			}
		}
	})
}
