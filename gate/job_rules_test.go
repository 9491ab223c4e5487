package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/githubtest"
)

// TestInline: inline comments stand on lines of the diff, once; a finding that is gone takes its comment along, unless
// somebody has answered.
func TestInline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("comments: {inline: true}\n")
	pull := w.proposeRuns("elm", "elm-plaza")
	for range 2 {
		w.mustJob(w.s.PullEvent(pull, "opened", true))
	}
	before := w.s.Comments(pull)
	if len(before) == 0 || len(before) > 30 {
		t.Fatalf("%d comments", len(before))
	}
	prints := map[string]bool{}
	for _, body := range before {
		if p := comment.ParseFingerprint(body); p == "" || prints[p] {
			t.Errorf("fingerprint %q twice, or none", p)
		} else {
			prints[p] = true
		}
	}
	files := map[string]string{}
	for k, v := range sampleFiles(t, "oak-street") {
		files[strings.ReplaceAll(k, "oak-street", "elm-plaza")] = strings.ReplaceAll(v, "oak-street", "elm-plaza")
	}
	w.s.Push(pull, githubtest.Change{Files: files, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	if after := w.s.Comments(pull); len(after) >= len(before) {
		t.Errorf("%d comments before, %d after the findings were mended", len(before), len(after))
	}
}

// TestSpendCapInPull: an agent over its cap fails the audit, with an incident ready to commit.
func TestSpendCapInPull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("governance: {spend_cap_usd: \"1.00\"}\n")
	pull := w.proposeRuns("oak", "oak-street")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("over the cap, and passes")
	}
	w.wantConclusions(pull, "failure", "action_required")
	w.wantMatch(w.gateReview(pull), "spend_breach")
	w.wantMatch(w.gateReview(pull), `\+\+\+ b/runs/`)
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || !r.Failed {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantKinds("")
}

// TestRogueInPull: an agent that the configuration does not list.
func TestRogueInPull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("governance: {agents: [{name: somebody-else}]}\n")
	pull := w.proposeRuns("oak", "oak-street")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("an unknown agent passes")
	}
	w.wantMatch(w.gateReview(pull), "rogue")
}

// TestDarkAgent: a listed agent that no entry is of is told in an issue, once.
func TestDarkAgent(t *testing.T) {
	t.Parallel()
	w, _ := signedWorld(
		t,
		"governance: {heartbeat_minutes: 5, agents: [{name: underwriter, model: example-70b-instruct, "+
			"capability_tier: frontier, params_b: 70, context_tokens: 128000, runtime: cloud, tools: [calculator, "+
			"document_reader]}, {name: sleeper}]}\n",
	)
	w.s.Sleep(1e12) // nanoseconds: more than the five minutes
	for range 2 {
		r := w.mustJob(w.s.ScheduleEvent("0 3 * * *"))
		if len(r.Drafts) == 0 {
			t.Errorf("%+v %s", r, w.gateReview(1))
		}
	}
	issues := w.s.Issues()
	if len(issues) != 1 || !strings.Contains(issues[0].Body, "sleeper") || len(issues[0].Comments) > 1 {
		t.Errorf("%+v", issues)
	}
}

// TestRulebookInPull: a pull request that edits a sheet or the configuration is judged by the base's; what its own
// would mean is said: a stored verdict that it turns, a setting that it loosens.
func TestRulebookInPull(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(pull, "owner", "merge")
	w.mustJob(w.s.PushEvent("main", before, "owner"))
	src, err := os.ReadFile(filepath.Join("..", "flight_sheets", "cre-multifamily-agency.json"))
	if err != nil {
		t.Fatal(err)
	}
	stricter := strings.Replace(string(src), `"version": "1.0.0"`, `"version": "1.1.0"`, 1)
	stricter = strings.Replace(
		stricter,
		"\"MIN_DSCR\": {\n      \"value\": 1.25",
		"\"MIN_DSCR\": {\n      \"value\": 9.25",
		1,
	)
	if !strings.Contains(stricter, "9.25") {
		t.Fatal("nothing changed")
	}
	next := w.proposeFiles(
		"sheet",
		map[string]string{
			"flight_sheets/cre-multifamily-agency.json": stricter,
			config.Path: "version: 1\nfail_on: never\n",
		},
	)
	w.mustJob(w.s.PullEvent(next, "opened", true))
	body := w.gateReview(next)
	w.wantMatch(body, "cre-multifamily-agency")
	w.wantMatch(body, `fail_on`)
	w.wantMatch(body, `oak-street`)

	broken := w.proposeFiles(
		"broken",
		map[string]string{"flight_sheets/my-sheet.json": `{"schema": "referee.flight-sheet/v1", "slug": "other"}`},
	)
	if r := w.mustJob(w.s.PullEvent(broken, "opened", true)); !r.Failed {
		t.Error("a broken sheet passes")
	}
	w.wantConclusions(broken, "failure", "success") // there is nothing to sign off
}

// TestRevisionLoop: after two failed heads of one run a person decides, whatever the run says of its revision.
func TestRevisionLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	r := w.mustJob(w.s.PullEvent(pull, "opened", true))
	text := sampleFiles(t, "elm-plaza")["runs/elm-plaza/submission.json"]
	for i := range 2 {
		if got := r.Outcome.RecommendedAction(); got != "resubmit" {
			t.Errorf("head %d: %s", i, got)
		}
		text += "\n"
		w.s.Push(
			pull,
			githubtest.Change{Files: map[string]string{"runs/elm-plaza/submission.json": text}, Author: "agent"},
		)
		r = w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	}
	if got := r.Outcome.RecommendedAction(); got != "review" || r.Outcome.Audits[0].Failed != 2 {
		t.Errorf("after two failed heads: %s, %d", got, r.Outcome.Audits[0].Failed)
	}
	w.wantMatch(w.gateReview(pull), "human")
}
