package gate_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// TestMeanwhile: a head that is pushed, and a review that is dismissed, while a sign-off is under way.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	f := githubtest.Fault{Do: func() {
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"x": "1"}, Author: "agent"})
	}}
	w.s.Inject(f.On("GET", "collaborators/*/permission"))
	_, err := w.approvePull(pull, "rosa", answers)
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "changed during this job") {
		t.Errorf("%v", err)
	}
	w.wantKinds("")
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantConclusions(pull, "success", "action_required")

	w = newWorld(t)
	pull = w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	id := w.s.Review(pull, "rosa", "APPROVED", answers)
	f = githubtest.Fault{Do: func() { w.s.DismissReview(pull, id, "owner") }}
	w.s.Inject(f.On("POST", "git/commits"))
	w.mustReview(pull)
	w.mustReview(pull) // the dismissal's own event
	w.wantKinds("approved revoked")
	w.wantConclusions(pull, "success", "action_required")
}

// TestFiftyAtOnce: fifty sign-offs at once, each of a pull request that no job has seen before, give fifty receipts and
// one chain: each at its first run, and with at most 750 requests together.
func TestFiftyAtOnce(t *testing.T) {
	t.Parallel()
	if os.Getenv("REFEREE_CI") != "1" {
		t.Skip("fifty jobs take a minute: .ci/run starts them")
	}
	w := newWorld(t)
	first := w.proposeRuns("first", "maple-court")
	w.mustJob(w.s.PullEvent(first, "opened", true))
	if _, err := w.approvePull(first, "rosa", answers); err != nil {
		t.Fatal(err)
	}
	var events []githubtest.Event
	oak := sampleFiles(t, "oak-street")
	for i := range 50 {
		name := fmt.Sprintf("oak-%02d", i)
		files := map[string]string{}
		for k, v := range oak {
			files[strings.Replace(k, "oak-street", name, 1)] = strings.Replace(
				v,
				`"id": "oak-street"`,
				`"id": "`+name+`"`,
				1,
			)
		}
		pull := w.proposeFiles(name, files)
		w.s.Review(pull, "rosa", "APPROVED", answers)
		events = append(events, w.s.RunEvent(w.s.AddRun(githubtest.Run{Pull: pull, Listed: true})))
	}
	before := w.s.Count()
	var group sync.WaitGroup
	start := time.Now()
	for i, e := range events {
		group.Go(func() {
			one := &world{T: w.T, s: w.s, token: w.token, runID: int64(100 + i), main: w.main, ref: w.ref}
			if r, err := one.runJob(e); err != nil || r.Word != outcome.ResultSigned {
				t.Errorf("%d: %+v, %v", i, r, err)
			}
		})
	}
	group.Wait()
	requests := w.s.Count() - before
	t.Logf("fifty sign-offs in %s, %d requests", time.Since(start).Round(time.Second), requests)
	if requests > 750 {
		t.Errorf("%d requests, want 750 at most", requests)
	}
	if n := len(w.ledgerEntries()); n != 51 {
		t.Errorf("%d entries, want 51", n)
	}
}

// TestReadOnlyToken: on a fork the direct set-up may write nothing: the job's conclusion carries the verdict, and says
// what was not posted.
func TestReadOnlyToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.AddToken("fork", githubtest.Token{Login: "github-actions[bot]", App: "github-actions", ReadOnly: true})
	w.token = "fork"
	w.s.CommitFork("mallory/work", "x", githubtest.Change{Files: sampleFiles(t, "elm-plaza"), Author: "agent"})
	pull := w.s.Open(githubtest.Pull{Head: "x", Author: "agent", Fork: "mallory/work"})
	r := w.mustJob(w.s.PullEvent(pull, "opened", false))
	if !r.Failed || len(r.Outcome.NotPosted) == 0 || !r.Outcome.Direct {
		t.Errorf("%+v", r.Outcome.NotPosted)
	}
	if len(comment.WorkflowCommands(r.Outcome, 10)) == 0 {
		t.Error("nothing is said in the log")
	}
	if n := len(w.s.Checks(w.s.Head(pull))); n != 0 {
		t.Errorf("%d checks", n)
	}
}

// TestPersonsToken: a person's token may make no checks. The review is theirs, and is still one.
func TestPersonsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.AddToken("ghp_x", githubtest.Token{Login: "owner"})
	w.token = "ghp_x"
	pull := w.proposeRuns("elm", "elm-plaza")
	for range 3 {
		if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed || len(r.Outcome.NotPosted) != 1 {
			t.Errorf("%+v", r.Outcome.NotPosted)
		}
	}
	if ids := w.s.ReviewsBy(pull, "owner"); len(ids) != 1 {
		t.Errorf("%d reviews", len(ids))
	}
}

// TestFork: a fork's pull request by the two workflows: the trigger names no pull request, and it is found by its
// branch.
func TestFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.CommitFork("mallory/work", "x", githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent"})
	pull := w.s.Open(githubtest.Pull{Head: "x", Author: "agent", Fork: "mallory/work"})
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.Review(pull, "rosa", "APPROVED", answers)
	r, err := w.runJob(w.s.RunEvent(w.s.AddRun(githubtest.Run{Pull: pull})))
	if err != nil || r.Word != outcome.ResultSigned || w.calls > 16 {
		t.Errorf("%+v, %v after %d calls", r, err, w.calls)
	}
	w.wantKinds("approved")
}

// TestDirect: the set-up on the pull request's own events works, and says whose workflow it was.
func TestDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", false))
	w.wantMatch(w.gateReview(pull), "workflow")
	id := w.s.Review(pull, "rosa", "APPROVED", answers)
	if r, err := w.runJob(w.s.ReviewEvent(pull, id, "submitted")); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantKinds("approved")
}

// TestNoRuns: a pull request that touches no run passes both checks.
func TestNoRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeFiles("x", map[string]string{"README.md": "more"})
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); r.Failed || r.Word != outcome.ResultNoRuns {
		t.Errorf("%+v", r)
	}
	w.wantConclusions(pull, "success", "success")
}

// TestIgnored: what the gate does not act on is said to be ignored.
func TestIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	push := w.s.PushEvent("main", w.s.Ref("refs/heads/main"), "owner")
	push.Payload = []byte(strings.Replace(string(push.Payload), "refs/heads/main", "refs/heads/other", 1))
	for _, e := range []githubtest.Event{push, w.s.RunEvent(w.s.AddRun(githubtest.Run{Pull: pull, Event: "push"}))} {
		if r := w.mustJob(e); r.Word != "ignored" || r.Failed || len(r.Messages) == 0 {
			t.Errorf("%s: %+v", e.Name, r)
		}
	}
}

// TestBadConfiguration: whatever is wrong with what judges, the audit check fails with one sentence that says what to
// do.
func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"fail_onn: high\n":              `fail_on`,
		"branches: [\n":                 `YAML`,
		"fail_on: whenever\n":           `high, mid, low`,
		"flight_sheets: ../elsewhere\n": `flight_sheets`,
	} {
		w := newWorld(t)
		w.commitConfig(text)
		pull := w.proposeRuns("oak", "oak-street")
		_, err := w.runJob(w.s.PullEvent(pull, "opened", true))
		var b *gate.Broken
		if !errors.As(err, &b) {
			t.Errorf("%q: %v", text, err)
		}
		if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion != "failure" ||
			!strings.Contains(c.Summary, says) {
			t.Errorf("%q: %+v", text, c)
		}
	}
	w := newWorld(t)
	w.opts.FailOn = "never"
	pull := w.proposeRuns("oak", "oak-street")
	if _, err := w.runJob(w.s.PullEvent(pull, "opened", true)); err == nil ||
		!strings.Contains(err.Error(), "only be stricter") {
		t.Errorf("%v", err)
	}
	w.opts = gate.Options{SHA: strings.Repeat("1", 40)}
	if _, err := w.runJob(w.s.PullEvent(pull, "opened", true)); err == nil {
		t.Error("another sha than the head's is audited")
	}
	// A sheet of the repository that does not load.
	w = newWorld(t)
	w.s.Commit(
		"main",
		githubtest.Change{Files: map[string]string{"flight_sheets/cre-multifamily-agency.json": `{"schema": "x"}`}},
	)
	pull = w.proposeRuns("oak", "oak-street")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("a sheet that does not load passes")
	}
	w.wantConclusions(pull, "failure", "action_required")
}

// TestBadToken: a token that is missing or wrong ends the job loudly.
func TestBadToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	e := w.s.PullEvent(pull, "opened", true)
	w.token = "wrong"
	_, err := w.runJob(e)
	var api *githubapi.Error
	if !errors.As(err, &api) || api.Kind != githubapi.Unauthorized {
		t.Errorf("%v", err)
	}
}

// TestHundredRuns: a pull request of a hundred runs stays within 25 requests, and within two seconds beside the
// server's own time.
func TestHundredRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{}
	for _, name := range []string{"oak-street", "elm-plaza"} {
		for i := range 50 {
			id := fmt.Sprintf("%s-%02d", name, i)
			for k, v := range sampleFiles(t, name) {
				files[strings.Replace(k, name, id, 1)] = strings.Replace(v, `"id": "`+name+`"`, `"id": "`+id+`"`, 1)
			}
		}
	}
	pull := w.proposeFiles("x", files)
	start := time.Now()
	r := w.mustJob(w.s.PullEvent(pull, "opened", true))
	t.Logf("a hundred runs: %s, %d requests", time.Since(start).Round(time.Millisecond), w.calls)
	if !r.Failed || len(r.Outcome.Audits) != 100 || w.calls > 25 {
		t.Errorf("%d audits, %d calls", len(r.Outcome.Audits), w.calls)
	}
	body := w.gateReview(pull)
	if len(body) > 60_000+2_000 {
		t.Errorf("the review has %d bytes", len(body))
	}
}
