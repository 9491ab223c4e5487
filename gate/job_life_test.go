package gate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
)

// signedWorld is a world with one pull request that rosa has signed off.
func signedWorld(t *testing.T, config string) (*world, int64) {
	t.Helper()
	w := newWorld(t)
	if config != "" {
		w.commitConfig(config)
	}
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	return w, pull
}

func (w *world) commitConfig(text string) {
	w.s.Commit("main", githubtest.Change{Files: map[string]string{config.Path: "version: 1\n" + text}})
}

func (w *world) mustReview(pull int64) *gate.Result {
	w.Helper()
	r, err := w.runReviewJob(pull)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// TestEditedReview: the review's body is changed after the sign-off; nobody may rely on the receipt, and the edited
// review does not count again.
func TestEditedReview(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	w.s.EditReview(pull, w.s.ReviewsBy(pull, "rosa")[0], answers+"/accept dscr_gate whatever")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved amended")
	if pins, err := memory.ParseAnnounced(w.gateReview(pull)); err != nil || len(pins) != 2 {
		t.Errorf("the review announces %d entries, %v; a void one is announced too", len(pins), err)
	}
	w.mustReview(pull)
	w.wantKinds("approved amended")
	w.wantMatch(w.gateReview(pull), "edited after it was submitted")
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("a new review: %+v, %v", r, err)
	}
	w.wantKinds("approved amended approved")
}

// TestEditedBeforeReceipt: a body that somebody changed before the gate saw it makes no receipt.
func TestEditedBeforeReceipt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	id := w.s.Review(pull, "rosa", "APPROVED", answers)
	w.s.EditReview(pull, id, answers+"/accept dscr_gate the agent says so")
	w.mustReview(pull)
	w.wantKinds("")
	w.wantConclusions(pull, "failure", "action_required")
}

// TestDismissed: a dismissed review revokes, also after the merge.
func TestDismissed(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved revoked")
	if e := w.ledgerEntries(); e[1].Receipt.RefersTo != e[0].Hash {
		t.Error("refers to another entry")
	}

	w, pull = signedWorld(t, "")
	w.s.Merge(pull, "owner", "merge")
	body := w.gateReview(pull)
	if r := w.mustReview(pull); r.Word != outcome.ResultIgnored {
		t.Errorf("a merged pull request whose reviews stand: %+v", r)
	}
	w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
	if r := w.mustReview(pull); r.Word != "revoked" {
		t.Errorf("%+v", r)
	}
	w.wantKinds("approved revoked")
	w.wantConclusions(pull, "success", "action_required")
	if w.gateReview(pull) != body {
		t.Error("the review of a merged pull request was written anew")
	}
	w.mustReview(pull)
	w.wantKinds("approved revoked")

	// Changes requested after the merge, by somebody who could have approved.
	w, pull = signedWorld(t, "")
	w.s.Merge(pull, "owner", "merge")
	w.s.Review(pull, "wim", "CHANGES_REQUESTED", "this should not have been merged")
	w.mustReview(pull)
	w.wantKinds("approved revoked")
}

// TestChangesRequested: another qualified person's no revokes the receipt; before a receipt it is kept as rejected. Who
// may not approve cannot revoke.
func TestChangesRequested(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	w.s.Review(pull, "tria", "CHANGES_REQUESTED", "hm")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "success")
	w.s.Review(pull, "wim", "CHANGES_REQUESTED", "no")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved revoked")

	w = newWorld(t)
	pull = w.proposeRuns("elm", "elm-plaza")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.Review(pull, "wim", "CHANGES_REQUESTED", "the coverage is wrong")
	w.mustReview(pull)
	w.mustReview(pull)
	w.wantKinds("rejected")
	if e := w.ledgerEntries()[0].Receipt; e.Verdict == nil || e.Verdict.Risk.High == 0 ||
		e.Approval.Approver.Login != "wim" {
		t.Errorf("%+v", e)
	}
}

// TestPushedAfter: other bytes void the sign-off; the same bytes on a new head are carried where the configuration says
// so, and void otherwise.
func TestPushedAfter(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	text := sampleFiles(t, "oak-street")["runs/oak-street/submission.json"]
	w.s.Push(
		pull,
		githubtest.Change{Files: map[string]string{"runs/oak-street/submission.json": text + "\n"}, Author: "agent"},
	)
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved superseded")

	for config, want := range map[string]string{"": "action_required", "carry_on_rebase: true\n": "success"} {
		w, pull := signedWorld(t, config)
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"README": "more"}, Author: "agent"})
		w.mustJob(w.s.PullEvent(pull, "synchronize", true))
		w.mustJob(w.s.PullEvent(pull, "synchronize", true))
		w.wantConclusions(pull, "success", want)
		kinds := map[string]string{"": "approved", "carry_on_rebase: true\n": "approved carried"}[config]
		w.wantKinds(kinds)
		if config == "" {
			continue
		}
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"README": "even more"}, Author: "agent"})
		w.mustJob(w.s.PullEvent(pull, "synchronize", true))
		w.wantConclusions(pull, "success", "success")
		w.wantKinds("approved carried carried")
		w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
		w.mustReview(pull)
		w.wantConclusions(pull, "success", "action_required")
	}
}

// TestSupersededBySheet: another sheet in force voids a sign-off, and the ledger does not get a rulebook that no entry
// names.
func TestSupersededBySheet(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	src, err := os.ReadFile("../flight_sheets/cre-multifamily-agency.json")
	if err != nil {
		t.Fatal(err)
	}
	w.s.Commit(
		"main",
		githubtest.Change{
			Files: map[string]string{
				"flight_sheets/cre-multifamily-agency.json": strings.Replace(
					string(src),
					`"version": "1.0.0"`,
					`"version": "1.0.1"`,
					1,
				),
			},
		},
	)
	w.mustJob(w.s.PullEvent(pull, "edited", true))
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved superseded")
	w.wantMatch(w.gateReview(pull), "another sheet: submit a new review")
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("a new review: %+v, %v", r, err)
	}
	w.wantKinds("approved superseded approved")

	// From the repository's own sheet to the library's, which the ledger would keep.
	w = newWorld(t)
	own := w.s.Commit(
		"main",
		githubtest.Change{
			Files: map[string]string{
				"flight_sheets/cre-multifamily-agency.json": strings.Replace(
					string(src),
					`"version": "1.0.0"`,
					`"version": "1.0.1"`,
					1,
				),
			},
		},
	)
	pull = w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	w.s.Commit("main", githubtest.Change{Delete: []string{"flight_sheets/cre-multifamily-agency.json"}, Parent: own})
	w.mustJob(w.s.PullEvent(pull, "edited", true))
	w.wantKinds("approved superseded")
}

// TestClosed: work that is given up stays in the agent's history.
func TestClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.Close(pull, "agent")
	closed := w.s.PullEvent(pull, "closed", true)
	w.mustJob(closed)
	w.mustJob(closed)
	w.wantKinds("withdrawn")
	if e := w.ledgerEntries()[0].Receipt; e.ObservedBy.Actor != "agent" || e.Verdict.Severity != "propolis" {
		t.Errorf("%+v", e)
	}
}

// TestMerged: a push to base with a receipt gets a merged entry, one without is kept as unreceipted, fails, and is told
// in one issue.
func TestMerged(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash"} {
		w, pull := signedWorld(t, "")
		before := w.s.Ref("refs/heads/main")
		sha := w.s.Merge(pull, "owner", method)
		push := w.s.PushEvent("main", before, "owner")
		for range 2 {
			if r := w.mustJob(push); r.Failed {
				t.Errorf("%s: %+v", method, r)
			}
		}
		w.wantKinds("approved merged")
		if e := w.ledgerEntries()[1].Receipt; e.ObservedBy.SHA != sha || e.RefersTo != w.ledgerEntries()[0].Hash {
			t.Errorf("%+v", e.ObservedBy)
		}
	}
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(pull, "owner", "merge")
	push := w.s.PushEvent("main", before, "owner")
	for range 2 {
		if r := w.mustJob(push); !r.Failed {
			t.Error("a merge without a receipt is no failure")
		}
	}
	w.wantKinds("unreceipted")
	if issues := w.s.Issues(); len(issues) != 1 || !strings.Contains(issues[0].Body, "runs/oak-street") {
		t.Errorf("%+v", issues)
	}
}

// TestMergeGroup: in a queue every run needs its receipt; both checks stand on the group's head.
func TestMergeGroup(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	group := w.s.Commit(
		"gh-readonly-queue/main/pr-1-"+w.s.Ref("refs/heads/main"),
		githubtest.Change{Files: sampleFiles(t, "oak-street")},
	)
	r := w.mustJob(w.s.MergeGroupEvent(group, "main"))
	if r.Failed {
		t.Errorf("%+v", r)
	}
	if c := w.newestCheck(group, comment.SignOffCheck); c.Conclusion != "success" {
		t.Errorf("%+v", c)
	}
	_ = pull
	other := w.s.Commit(
		"gh-readonly-queue/main/pr-2-"+w.s.Ref("refs/heads/main"),
		githubtest.Change{Files: sampleFiles(t, "maple-court"), Parent: w.s.Ref("refs/heads/main")},
	)
	if r := w.mustJob(w.s.MergeGroupEvent(other, "main")); !r.Failed {
		t.Error("a run without a receipt passes the queue")
	}
	if c := w.newestCheck(other, comment.SignOffCheck); c.Conclusion != "action_required" {
		t.Errorf("%+v", c)
	}
}

// TestSchedule mints what a cancelled job has missed, and tells of a ledger that does not verify.
func TestSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.Review(pull, "rosa", "APPROVED", answers)
	if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
		t.Errorf("%+v", r)
	}
	w.wantKinds("approved")
	w.wantConclusions(pull, "success", "success")
	if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
		t.Errorf("%+v", r.Messages)
	}
	tip := w.s.Ref("refs/heads/ledger")
	w.s.Commit("ledger", githubtest.Change{Files: map[string]string{"receipts/000/00/00/more.json": "{}"}, Parent: tip})
	for range 2 {
		if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); !r.Failed {
			t.Error("a ledger that does not verify is no failure")
		}
	}
	if issues := w.s.Issues(); len(issues) != 1 {
		t.Errorf("%d issues", len(issues))
	}
}

// TestDispatch: what can be asked for by hand.
func TestDispatch(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	for mode, word := range map[string]string{"audit": outcome.ResultSigned, "verify": "verified", "replay": "replayed",
		"": outcome.ResultSigned} {
		r, err := w.runJob(w.s.DispatchEvent("owner", map[string]any{"pr": "1", "mode": mode}))
		if err != nil || r.Word != word || r.Failed {
			t.Errorf("%q: %+v, %v", mode, r, err)
		}
	}
	for _, inputs := range []map[string]any{{"mode": "audit"}, {"mode": "audit", "pr": "x"},
		{"mode": "adit", "pr": "1"}, {"mode": "replay", "pr": "9"}} {
		if r, err := w.runJob(w.s.DispatchEvent("owner", inputs)); err == nil {
			t.Errorf("%v: %+v", inputs, r)
		}
	}
	if _, err := w.runJob(w.s.DispatchEvent("owner", map[string]any{"mode": "sign-off", "pr": "1"})); err == nil {
		t.Error("a self-sign-off that the configuration does not allow")
	}
	_ = pull
}

// TestSelfSign: an admin without a second person, where the configuration allows it; the receipt says so.
func TestSelfSign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {self_sign: true}\n")
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.opts.Commands = answers
	if _, err := w.byHand(pull, "wim", w.dispatchInputs(pull)); err == nil {
		t.Error("somebody who is no admin signs")
	}
	if r, err := w.byHand(pull, "owner", w.dispatchInputs(pull)); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wantKinds("approved")
	if e := w.ledgerEntries()[0].Receipt; !e.SelfSigned || e.Approval.Approver.Login != "owner" ||
		e.Kind != ledger.Approved {
		t.Errorf("%+v", e)
	}
	w.wantConclusions(pull, "success", "success")
	w.wantMatch(w.gateReview(pull), "self")
}

// TestResultWords: every word that a result can have is in the action's description.
func TestResultWords(t *testing.T) {
	t.Parallel()
	description, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, room := range []string{"*.go", "outcome/*.go"} {
		found, err := filepath.Glob(room)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	words := regexp.MustCompile(
		`(?:Word: |Word = |r\.Failed, r\.Word = true, |r\.Word, r\.Messages = |Result[A-Z]\w+ += )"([a-z-]+)"`,
	)
	n := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range words.FindAllStringSubmatch(string(src), -1) {
			if n++; !strings.Contains(string(description), m[1]) {
				t.Errorf("%s: action.yml does not say %q", file, m[1])
			}
		}
	}
	if n < 10 {
		t.Errorf("%d words were found", n)
	}
}
