package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// TestSignOff is the way of a clean run: opened, audited, reviewed by somebody who may, kept, and announced; the same
// events again change nothing.
func TestSignOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	opened := w.s.PullEvent(pull, "opened", true)
	r := w.mustJob(opened)
	if r.Failed || r.Word != outcome.ResultAwaiting || w.calls > 12 {
		t.Errorf("opened: %+v after %d calls", r, w.calls)
	}
	t.Logf("opened: %d requests", w.calls)
	w.wantConclusions(pull, "success", "action_required")
	w.wantMatch(w.gateReview(pull), `/satisfied appraisal_within_12_months`)

	r, err := w.approvePull(pull, "rosa", answers)
	if err != nil || r.Failed || r.Word != outcome.ResultSigned || w.calls > 16 {
		t.Fatalf("approved: %+v, %v after %d calls", r, err, w.calls)
	}
	w.wantConclusions(pull, "success", "success")
	w.wantKinds("approved")
	e := w.ledgerEntries()[0]
	if a := e.Receipt.Approval; a.Approver.Login != "rosa" || a.Approver.Permission != "maintain" ||
		e.Receipt.Verdict.Severity != "honey" ||
		e.Receipt.PullRequest.HeadSHA != w.s.Head(pull) ||
		e.Receipt.Evidence[0].AddedBy != "agent" {
		t.Errorf("%+v", e.Receipt)
	}
	w.wantMatch(w.gateReview(pull), e.Hash)

	checks := len(w.s.Checks(w.s.Head(pull)))
	for range 5 {
		w.mustJob(opened)
		if _, err := w.runReviewJob(pull); err != nil {
			t.Fatal(err)
		}
	}
	w.wantKinds("approved")
	if n := len(w.s.Checks(w.s.Head(pull))); n != checks || checks != 2 {
		t.Errorf("%d checks, then %d", checks, n)
	}
	w.gateReview(pull)
}

// TestSignOffInOneGo: a job that audits a pull request and signs it off, because its review came first, needs at most
// 14 requests.
func TestSignOffInOneGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, run := range []string{"oak-street", "maple-court"} {
		pull := w.proposeRuns(run, run)
		from := len(w.s.Requests())
		r, err := w.approvePull(pull, "rosa", answers)
		if err != nil || r.Word != outcome.ResultSigned || w.calls > 14 {
			t.Errorf("%d: %+v, %v after %d calls:", i, r, err, w.calls)
			for _, r := range w.s.Requests()[from:] {
				t.Log(r.Method, r.Path)
			}
		}
		t.Logf("sign-off %d: %d requests", i, w.calls)
		w.wantConclusions(pull, "success", "success")
	}
	w.wantKinds("approved approved")
}

// TestSignOffBehindAnother: the sign-off of the next pull request holds the ledger's end to GitHub's record first,
// within 16 requests.
func TestSignOffBehindAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, run := range []string{"oak-street", "maple-court"} {
		pull := w.proposeRuns(run, run)
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		r, err := w.approvePull(pull, "rosa", answers)
		if err != nil || r.Word != outcome.ResultSigned || w.calls > 16 {
			t.Fatalf("%d: %+v, %v after %d calls", i, r, err, w.calls)
		}
		t.Logf("sign-off %d: %d requests", i, w.calls)
	}
	w.wantKinds("approved approved")
}

// TestMergeBaseIsAsked: where the commits do not prove from which one a pull request is looked at, because main is far
// ahead, GitHub is asked; where it does not answer, nothing is green.
func TestMergeBaseIsAsked(t *testing.T) {
	t.Parallel()
	asked := func(w *world, from int) bool {
		return slices.ContainsFunc(
			w.s.Requests()[from:],
			func(r githubtest.Request) bool { return strings.Contains(r.Path, "/compare/") },
		)
	}
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if asked(w, 0) {
		t.Error("GitHub is asked for what the commits prove")
	}
	w.s.CommitMany("main", 260, "owner")
	from := len(w.s.Requests())
	w.s.Inject(githubtest.NoAccess.On("GET", "compare/*").Always())
	if r, err := w.approvePull(pull, "rosa", answers); err == nil && !r.Failed || !asked(w, from) {
		t.Errorf("%+v, %v", r, err)
	}
	w.notGreen(pull)
	w.wantKinds("")
	w.s.ClearFaults()
	if r, err := w.runReviewJob(pull); err != nil || r.Word != outcome.ResultSigned || len(r.Outcome.Audits) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFlagged: a high work-defect fails the audit, an approval makes no receipt, and /accept does not help; a high
// deal-finding can be accepted.
func TestFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed || r.Word != outcome.ResultFailed {
		t.Errorf("%+v", r)
	}
	w.wantConclusions(pull, "failure", "action_required")
	c := w.newestCheck(w.s.Head(pull), comment.AuditCheck)
	if len(c.Annotations) == 0 || c.Annotations[0]["path"] != "runs/elm-plaza/submission.json" ||
		c.Annotations[0]["start_line"] == nil {
		t.Errorf("%v", c.Annotations)
	}
	if r, err := w.approvePull(pull, "rosa", answers+"/accept math.dscr it is fine"); err != nil || !r.Failed {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantKinds("")
	w.wantMatch(w.gateReview(pull), "cannot be accepted")

	deal := w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(deal, "opened", true))
	w.wantConclusions(deal, "failure", "action_required")
	if r, err := w.approvePull(deal, "rosa", answers); err != nil || !r.Failed {
		t.Errorf("without /accept: %+v, %v", r, err)
	}
	w.wantKinds("")
	if r, err := w.approvePull(deal, "rosa",
		answers+"/accept dscr_gate the sponsor guarantees the shortfall"); err != nil ||
		r.Failed ||
		r.Word != outcome.ResultSigned {
		t.Errorf("with /accept: %+v, %v", r, err)
	}
	w.wantConclusions(deal, "success", "success")
	w.wantKinds("approved")
	if e := w.ledgerEntries()[0].Receipt; len(e.Accepted) != 1 || e.Accepted[0].RuleID != "dscr_gate" ||
		e.Accepted[0].By != "rosa" {
		t.Errorf("%+v", e.Accepted)
	}
}

// TestSeveralRuns: two runs by one sheet are signed off by one review, in one commit.
func TestSeveralRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("both", "oak-street", "maple-court")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	r, err := w.approvePull(pull, "rosa", answers)
	if err != nil || r.Word != outcome.ResultSigned || w.calls > 16 {
		t.Fatalf("%+v, %v after %d calls", r, err, w.calls)
	}
	w.wantKinds("approved approved")
	w.wantConclusions(pull, "success", "success")
}

// TestTwoApprovals: where two people have to sign, one is not enough, each has a receipt, and the word of one can be
// taken back.
func TestTwoApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {count: 2}\n")
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultAwaiting {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wantKinds("")
	if r, err := w.approvePull(pull, "wim", ""); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wantKinds("approved approved")
	w.s.DismissReview(pull, w.s.ReviewsBy(pull, "wim")[0], "owner")
	w.mustReview(pull)
	w.wantKinds("approved approved revoked")
	w.wantConclusions(pull, "success", "action_required")
}

// TestDigestRequired: where the configuration asks for it, a review counts only if it names the audit that the reviewer
// saw.
func TestDigestRequired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {digest_required: true}\n")
	pull := w.proposeRuns("oak", "oak-street")
	r := w.mustJob(w.s.PullEvent(pull, "opened", true))
	digest := r.Outcome.Digest()[:8]
	for text, want := range map[string]string{answers: outcome.ResultAwaiting,
		answers + "/digest 01234567": outcome.ResultAwaiting, answers + "/digest " + digest: outcome.ResultSigned} {
		if want == outcome.ResultSigned {
			continue
		}
		if r, err := w.approvePull(pull, "wim", text); err != nil || r.Word != want {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if r, err := w.approvePull(pull, "rosa", answers+"/digest "+digest); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestUnaskedCommands: an answer to no question, or a waiver of a rule that flags nothing, is a slip that its author
// has to mend: nothing is minted.
func TestUnaskedCommands(t *testing.T) {
	t.Parallel()
	for _, text := range []string{answers + "/satisfied borrower_name", answers + "/accept dscr_gates the sponsor " +
		"pays"} {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		if r, err := w.approvePull(pull, "rosa", text); err != nil || r.Word != outcome.ResultAwaiting {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
		w.wantKinds("")
		w.wantMatch(w.gateReview(pull), "borrower_name|dscr_gates")
	}
}

// TestCarryNeedsAll: where two people have to sign, what is carried over to a new head holds only as long as both stand
// behind it.
func TestCarryNeedsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {count: 2}\ncarry_on_rebase: true\n")
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	for _, who := range []string{"rosa", "wim"} {
		if _, err := w.approvePull(pull, who, answers); err != nil {
			t.Fatal(err)
		}
	}
	w.s.Push(pull, githubtest.Change{Files: map[string]string{"README": "more"}, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantConclusions(pull, "success", "success")
	w.wantKinds("approved approved carried carried")
	w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.s.Push(pull, githubtest.Change{Files: map[string]string{"README": "even more"}, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantConclusions(pull, "success", "action_required")
}
