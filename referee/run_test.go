package referee

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// runText is a run.json with these members beside the required ones.
func runText(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"schema":"referee.run/v1","id":"r1","lane":"agent","flight_sheet":"math-steps"` + members + `}`
}

// fullRun has every member of formats.md.
const fullRun = `"project":"oak-street","agent":{"name":"underwriter","model":"m","provider":"p","harness":"h",
	"tools":["t"],"modalities":["text"],"runtime":"vllm","capability_tier":"frontier","params_b":70,
	"context_tokens":128000,"vram_gb":80,"confidence_prior":0.9},
	"assignment":"a","submission":"out/answer.json","evidence":[{"id":"t12","path":"evidence/t12.csv","kind":"file",
	"title":"T12"},{"id":"n","kind":"note","text":"said so"},{"id":"w","kind":"url","url":"https://example.org",
	"snapshot":"evidence/w.html"}],
	"operator":"bea","cost_usd":"1.84","revision_of":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"x-note":"free"`

func TestParseRun(t *testing.T) {
	r, err := ParseRun([]byte(runText(fullRun)), "run.json")
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != "r1" || r.Lane != "agent" || r.Sheet != "math-steps" || r.Project != "oak-street" ||
		r.Submission != "out/answer.json" || r.Operator != "bea" || r.CostUSD != "1.84" || len(r.Evidence) != 3 {
		t.Errorf("%+v", r)
	}
	if a := r.Agent; a.Model != "m" || a.ParamsB != "70" || a.ContextTokens != "128000" || a.VRAMGB != "80" ||
		!a.ToolsKnown || a.Confidence != "0.9" {
		t.Errorf("%+v", a)
	}
	bare, err := ParseRun([]byte(runText("")), "run.json")
	if err != nil || bare.Submission != "submission.json" || bare.Agent.ToolsKnown {
		t.Errorf("%+v %v", bare, err)
	}
}

// runRefusals are manifests that must not be read.
var runRefusals = []struct{ name, members, rule, words string }{
	{"unknown member", `"sheet":"x"`, "unknown_key", "flight_sheet"},
	{"unknown member of the agent", `"agent":{"params":7}`, "unknown_key", "params_b"},
	{"unknown member of evidence", `"evidence":[{"id":"a","file":"x"}]`, "unknown_key", "file"},
	{"evidence without id", `"evidence":[{"path":"x"}]`, "missing_key", `"id"`},
	{"evidence kind", `"evidence":[{"id":"a","kind":"pdf"}]`, "unknown_word", "pdf"},
	{"evidence that is the submission", `"evidence":[{"id":"a","path":"submission.json"}]`, "evidence",
		"its own evidence"},
	{"the same, otherwise written", `"evidence":[{"id":"a","path":"./x/../submission.json"}]`, "evidence",
		"its own evidence"},
	{"parameters as text", `"agent":{"params_b":"70"}`, "type", "must be a number"},
	{"tier", `"agent":{"capability_tier":"huge"}`, "unknown_word", "huge"},
	{"submission outside", `"submission":"../other/submission.json"`, "path", "inside the run folder"},
	{"submission from the root", `"submission":"/etc/passwd"`, "path", "inside the run folder"},
	{"submission by a backslash", `"submission":"..\\x.json"`, "path", "backslash"},
	{"submission that is the folder", `"submission":"."`, "path", "inside the run folder"},
	{"submission with a control character", `"submission":"a\u0007.json"`, "path", "control character"},
	{"cost as a number", `"cost_usd":1.84`, "type", "must be a string"},
	{"cost in words", `"cost_usd":"two dollars"`, "cost_usd", "plain decimal"},
	{"negative cost", `"cost_usd":"-1"`, "cost_usd", "plain decimal"},
	{"revision", `"revision_of":"abc"`, "revision_of", "SHA-256"},
	{"too many items of evidence", `"evidence":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","path":"b"},`, 1001),
		",") + `]`, "evidence", "1001 items of evidence; at most 1000"},
	{"null", `"project":null`, "type", "leave the member out"},
}

func TestRunRefusals(t *testing.T) {
	refused := func(src, rule, words string) {
		t.Helper()
		_, err := ParseRun([]byte(src), "run.json")
		if err == nil {
			t.Errorf("%s is accepted", src)
			return
		}
		for line := range strings.Lines(err.Error()) {
			if strings.Contains(line, "["+rule+"]") && strings.Contains(line, words) &&
				strings.HasPrefix(line, "run.json:1:") {
				return
			}
		}
		t.Errorf("not refused by %s with %q: %v", rule, words, err)
	}
	for _, c := range runRefusals {
		refused(runText(c.members), c.rule, c.words)
	}
	good := runText("")
	refused(strings.Replace(good, "referee.run/v1", "referee.run/v2", 1), "unknown_word", "referee.run/v1")
	refused(strings.Replace(good, `"id":"r1"`, `"id":"a/b"`, 1), "id", "at most 128")
	refused(strings.Replace(good, `"id":"r1"`, `"id":".."`, 1), "id", "run id")
	for _, sheet := range []string{``, ` `, `@1.0.0`, `\u200b`} {
		refused(strings.Replace(good, `"flight_sheet":"math-steps"`, `"flight_sheet":"`+sheet+`"`, 1), "flight_sheet",
			"must be the slug of a flight sheet")
	}
	refused(strings.Replace(good, `"lane":"agent"`, `"lane":"agents"`, 1), "unknown_word", "agent")
	refused(strings.Replace(good, `"lane":"agent",`, ``, 1), "missing_key", `"lane"`)
	if _, err := ParseRun([]byte(`{"id":"a","id":"b"}`), "run.json"); err == nil ||
		!strings.Contains(err.Error(), "duplicate") {
		t.Errorf("a duplicate key: %v", err)
	}
}

func TestOpenRunAndFiles(t *testing.T) {
	tree := fstest.MapFS{"run.json": {Data: []byte(runText(`"evidence":[{"id":"a","path":"evidence/a.txt"}]`))},
		"submission.json": {Data: []byte(`{}`)}, "evidence/a.txt": {Data: []byte("abc")},
		"advisory/b.json": {Data: []byte(`{"opinion":1}`)}, "advisory/a.json": {Data: []byte(`{}`)},
		"advisory/note.txt": {Data: []byte("no")}}
	f, err := OpenRun(tree)
	if err != nil {
		t.Fatal(err)
	}
	// sha256sum of "{}"
	if len(f.Advisory) != 2 || f.Advisory[0].Path != "advisory/a.json" ||
		f.Advisory[0].SHA256 != "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" {
		t.Errorf("advisory %+v", f.Advisory)
	}
	for name, want := range map[string]string{"run.json": "reading run.json",
		"submission.json": "reading submission.json"} {
		broken := fstest.MapFS{}
		for k, v := range tree {
			if k != name {
				broken[k] = v
			}
		}
		if _, err := OpenRun(broken); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestReadFile: nothing but regular files inside the tree, through no link.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	tree := linkTree(t, dir)
	if b, err := ReadFile(tree, "real/file.txt", 100); err != nil || string(b) != "inside" {
		t.Errorf("%q %v", b, err)
	}
	if b, err := ReadFile(tree, "real/file.txt", 3); err != nil || string(b) != "ins" {
		t.Errorf("cut at the limit: %q %v", b, err)
	}
	for name, want := range map[string]error{"link.txt": ErrNotRegular, "linked/secret.txt": ErrNotRegular,
		"real": ErrNotRegular} {
		if b, err := ReadFile(tree, name, 100); !errors.Is(err, want) || b != nil {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	for _, name := range []string{"../secret.txt", "/etc/passwd", "real/../real/file.txt", "", ".", "a\\b", "a\x00b",
		"none.txt"} {
		if b, err := ReadFile(tree, name, 100); err == nil || b != nil {
			t.Errorf("%q is read: %q", name, b)
		}
	}
}
