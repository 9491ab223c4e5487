package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// runner is a job's environment, as GitHub's runner makes it.
type runner struct {
	*testing.T
	s   *githubtest.Server
	dir string
	env map[string]string
}

func newRunner(t *testing.T) *runner {
	r := &runner{T: t, s: githubtest.New(t), dir: t.TempDir()}
	return r
}

// step runs the action for an event and gives its exit code and log.
func (r *runner) step(e githubtest.Event, env map[string]string, args ...string) (int, string) {
	r.Helper()
	event := filepath.Join(r.dir, "event.json")
	if err := os.WriteFile(event, e.Payload, 0o600); err != nil {
		r.Fatal(err)
	}
	r.env = map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": event, "GITHUB_EVENT_NAME": e.Name,
		"GITHUB_REPOSITORY": r.s.Name, "GITHUB_API_URL": r.s.APIURL(),
		"GITHUB_SERVER_URL": r.s.URL, "GITHUB_REF": "refs/heads/main", "GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_WORKSPACE": r.dir, "INPUT_TOKEN": r.s.Token,
		"GITHUB_WORKFLOW_REF": r.s.Name + "/.github/workflows/referee.yml@refs/heads/main",
		"GITHUB_WORKFLOW_SHA": r.s.Ref("refs/heads/main"),
		"GITHUB_OUTPUT":       r.file("output"), "GITHUB_STEP_SUMMARY": r.file("summary")}
	for k, v := range env {
		r.env[k] = v
	}
	var out bytes.Buffer
	code := run(r.Context(), append([]string{"gate"}, args...), func(k string) string { return r.env[k] },
		strings.NewReader(""), &out, &out)
	return code, out.String()
}

// file is an empty file of the job.
func (r *runner) file(name string) string {
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

func (r *runner) read(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func (r *runner) propose(names ...string) int64 {
	files := map[string]string{}
	for _, n := range names {
		for k, v := range sampleFiles(r.T, n) {
			files[k] = v
		}
	}
	r.s.Commit("work", githubtest.Change{Files: files, Author: "agent"})
	return r.s.Open(githubtest.Pull{Head: "work", Author: "agent"})
}

// output is what the step has set.
func (r *runner) output(name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `<<(\S+)\n(.*)\n(\S+)$`).FindStringSubmatch(r.read("output"))
	if m == nil || m[1] != m[3] {
		r.Fatalf("no output %q in:\n%s", name, r.read("output"))
	}
	return m[2]
}

// TestGateStep is the action as the runner sees it: exit code, outputs, summary, report file, and a log in which
// nothing is obeyed but what the step itself says.
func TestGateStep(t *testing.T) {
	r := newRunner(t)
	pull := r.propose("elm-plaza")
	code, log := r.step(r.s.PullEvent(pull, "opened", true), nil)
	if code != 1 {
		t.Errorf("exit code %d\n%s", code, log)
	}
	for name, want := range map[string]string{"result": "failed", "severity": "propolis", "high": "4",
		"client_ready": "false", "recommended_action": "resubmit", "report": reportFile, "receipt_sha256": ""} {
		if got := r.output(name); got != want && name != "high" || name == "high" && got == "0" {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	if !strings.Contains(r.read("summary"), "elm-plaza") ||
		!strings.Contains(r.read(reportFile), `"referee.report/v1"`) {
		t.Error("summary or report are empty")
	}
	obeyed(t, log)
	if strings.Contains(strings.ReplaceAll(log, "::add-mask::"+r.s.Token, ""), r.s.Token) {
		t.Error("the token is printed")
	}
}

// obeyed holds a log to commands of the step's own: everything else stands where the runner obeys nothing.
func obeyed(t *testing.T, log string) {
	t.Helper()
	stopped := ""
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		if stopped != "" {
			if line == "::"+stopped+"::" {
				stopped = ""
			}
			continue
		}
		if word, ok := strings.CutPrefix(line, "::stop-commands::"); ok {
			stopped = word
			continue
		}
		if line != "" && !regexp.MustCompile(`^(::add-mask::|::error|::warning|referee: error: |hint: )`).MatchString(
			line) {
			t.Errorf("the runner reads %q", line)
		}
	}
	if stopped != "" {
		t.Error("the runner is left deaf")
	}
}

// TestGateDryRun prints the requests in order and sends no write.
func TestGateDryRun(t *testing.T) {
	r := newRunner(t)
	pull := r.propose("oak-street")
	r.s.Review(pull, "rosa", "APPROVED", "/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n")
	code, log := r.step(r.s.PullEvent(pull, "opened", true), map[string]string{"GITHUB_ACTIONS": ""}, "--dry-run")
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, log)
	}
	for _, want := range []string{"GET /repos/acme/underwriting/pulls/1",
		"would commit to the ledger: receipt 000000000 pr#1", "POST /repos/acme/underwriting/check-runs (not sent)",
		"POST /repos/acme/underwriting/pulls/1/reviews (not sent)"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in:\n%s", want, log)
		}
	}
	for _, q := range r.s.Requests() {
		if q.Method != "GET" && q.Path != "/graphql" {
			t.Errorf("%s %s was sent", q.Method, q.Path)
		}
	}
	if r.s.Ref("refs/heads/ledger") != "" {
		t.Error("a ledger was written")
	}
}

// TestGateRefusals: what is wrong with the job itself is said in one sentence, with the exit code for it, and never
// green.
func TestGateRefusals(t *testing.T) {
	r := newRunner(t)
	pull := r.propose("oak-street")
	good := r.s.PullEvent(pull, "opened", true)
	for name, c := range map[string]struct {
		event githubtest.Event
		env   map[string]string
		code  int
		says  string
	}{
		"no token":     {good, map[string]string{"INPUT_TOKEN": ""}, 2, "no token"},
		"wrong token":  {good, map[string]string{"INPUT_TOKEN": "nonsense"}, 3, "401|another token"},
		"mode":         {good, map[string]string{"INPUT_MODE": "audti"}, 2, "must be one of"},
		"pull-request": {good, map[string]string{"INPUT_PULL-REQUEST": "one"}, 2, "whole number"},
		"max-wait":     {good, map[string]string{"INPUT_MAX-WAIT": "-3"}, 2, "whole number"},
		"summary":      {good, map[string]string{"INPUT_SUMMARY": "maybe"}, 2, "true or false"},
		"fail-on":      {good, map[string]string{"INPUT_FAIL-ON": "never"}, 2, "only be stricter"},
		"sha": {good, map[string]string{"INPUT_SHA": strings.Repeat("1", 40)}, 2,
			"the head is audited"},
		"config":   {good, map[string]string{"INPUT_CONFIG": ".github/none.yml"}, 2, "cannot be read"},
		"no event": {good, map[string]string{"GITHUB_EVENT_PATH": ""}, 2, "no event"},
		"event gone": {good, map[string]string{"GITHUB_EVENT_PATH": filepath.Join(r.dir, "none")}, 2,
			"cannot be read"},
		"event is not JSON": {githubtest.Event{Name: "push", Payload: []byte("{")}, nil, 2, "cannot be read"},
		"event says nothing": {githubtest.Event{Name: "pull_request", Payload: []byte("{}")}, nil, 2,
			"lacks the number of a pull request"},
		"no such repository": {good, map[string]string{"GITHUB_REPOSITORY": "acme/none"}, 3, "404|no such|not show"},
	} {
		code, log := r.step(c.event, c.env)
		if code != c.code || !regexp.MustCompile(c.says).MatchString(log) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", name, code, c.code, c.says, log)
		}
		if strings.Count(log, "::error") != 1 {
			t.Errorf("%s: %d annotations", name, strings.Count(log, "::error"))
		}
	}
}

// TestGateOutsideARunner: without the runner's files nothing is lost but the outputs; an event that is none of the
// gate's is ignored.
func TestGateOutsideARunner(t *testing.T) {
	r := newRunner(t)
	pull := r.propose("oak-street")
	code, log := r.step(r.s.PullEvent(pull, "opened", true), map[string]string{"GITHUB_OUTPUT": "",
		"GITHUB_STEP_SUMMARY": "", "GITHUB_WORKSPACE": "", "GITHUB_ACTIONS": ""})
	if code != 0 || strings.Contains(log, "::") || !strings.Contains(log, "result=awaiting-sign-off") {
		t.Errorf("exit code %d\n%s", code, log)
	}
	e := r.s.PullEvent(pull, "opened", true)
	e.Name = "issue_comment"
	if code, log := r.step(e, nil); code != 0 || r.output("result") != "ignored" ||
		!strings.Contains(log, "not one that the gate acts on") {
		t.Errorf("exit code %d\n%s", code, log)
	}
}
