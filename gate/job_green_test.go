package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
)

// Here somebody wants a green check that no person gave. Whoever has push access can append to the ledger what they
// like, well formed in every respect: no entry makes a check green.

// TestPushToLedger: a forged approved, self-signed, carried or loose entry below this pull request's name turns neither
// check green, whatever the configuration allows.
func TestPushToLedger(t *testing.T) {
	t.Parallel()
	for _, config := range []string{"", "approval: {self_sign: true}\ncarry_on_rebase: true\n"} {
		for name, forge := range map[string]func(w *world, pull int64, r ledger.Receipt){
			"approved": func(w *world, _ int64, r ledger.Receipt) { w.pushEntries(r) },
			"self_signed": func(w *world, _ int64, r ledger.Receipt) {
				a := *r.Approval
				a.Approver.Login, a.Approver.Permission = "owner", "admin"
				r.Approval, r.SelfSigned = &a, true
				w.pushEntries(r)
			},
			"carried": func(w *world, pull int64, r ledger.Receipt) {
				was := r
				before := *r.PullRequest
				before.HeadSHA = strings.Repeat("1", 40)
				was.PullRequest = &before
				first := w.pushEntries(was)[0]
				r.Kind, r.Approval, r.RefersTo, r.IdempotencyKey = ledger.Carried, nil, first.Hash,
					strings.Repeat("c", 64)
				r.ObservedBy = &ledger.ObservedBy{Event: "synchronize", Actor: "agent", At: r.MintedAt,
					SHA: w.s.Head(pull)}
				w.pushEntries(r)
			},
			"loose": func(w *world, pull int64, r ledger.Receipt) {
				w.pushEntries(r)
				entry := w.ledgerEntries()[0]
				place := ledger.Place{Class: ledger.PullAlias, Seq: 7, Pull: pull, Hash: entry.Hash}.String()
				w.s.Commit("ledger", githubtest.Change{Files: map[string]string{place: string(entry.Bytes)},
					Parent: w.s.Ref("refs/heads/ledger")})
			},
		} {
			w := newWorld(t)
			if config != "" {
				w.commitConfig(config)
			}
			pull := w.proposeRuns("oak", "oak-street")
			r := approvedBySomeone(t)
			place := *r.PullRequest
			place.HeadSHA, place.Number = w.s.Head(pull), pull
			a := *r.Approval
			a.Review.CommitSHA = place.HeadSHA
			r.PullRequest, r.Approval = &place, &a
			w.mustJob(w.s.PullEvent(pull, "opened", true))
			forge(w, pull, r)
			for range 2 {
				_, _ = w.runJob(w.s.PullEvent(pull, "edited", true))
				w.notGreen(pull)
			}
			_, _ = w.runReviewJob(pull)
			w.notGreen(pull)
			_, _ = w.runJob(w.s.ScheduleEvent("0 3 * * *"))
			w.notGreen(pull)
			if t.Failed() {
				t.Fatalf("%s, with the configuration %q", name, config)
			}
		}
	}
}

// TestForgedWaiver: a forged receipt that accepts a finding does not turn the audit green.
func TestForgedWaiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if _, err := w.approvePull(pull, "rosa",
		answers+"/accept dscr_gate the sponsor guarantees the shortfall"); err != nil {
		t.Fatal(err)
	}
	r := *w.ledgerEntries()[0].Receipt

	w = newWorld(t)
	pull = w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	id := w.s.Review(pull, "rosa", "APPROVED", answers) // a real one, that accepts nothing
	a, place := *r.Approval, *r.PullRequest
	a.Review.ID, a.Review.SubmittedAt, place.HeadSHA = id, w.s.Now().
		UTC().
		Format("2006-01-02T15:04:05Z"),
		w.s.Head(
			pull,
		)
	r.Approval, r.PullRequest, r.MintedAt = &a, &place, a.Review.SubmittedAt
	w.pushEntries(r)
	for range 2 {
		_, _ = w.runReviewJob(pull)
		w.notGreen(pull)
		if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion == "success" {
			t.Errorf("the audit is green: %s", c.Title)
		}
	}
}

// TestForeignCommit: a commit of the ledger that is no sign-off stops every append, and the checks of who waits for
// one.
func TestForeignCommit(t *testing.T) {
	t.Parallel()
	w, _ := signedWorld(t, "")
	w.s.Commit(
		"ledger",
		githubtest.Change{
			Files:   map[string]string{"README.md": "mine"},
			Message: "hello",
			Parent:  w.s.Ref("refs/heads/ledger"),
		},
	)
	pull := w.proposeRuns("maple", "maple-court")
	_, err := w.approvePull(pull, "rosa", answers)
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "LDG-403") {
		t.Errorf("%v", err)
	}
	w.notGreen(pull)
	w.wantConclusions(pull, "failure", "failure")
}

// TestQueueTakesNoEntry: a merge queue takes what the reviews of now say, and no entry, however live it looks.
func TestQueueTakesNoEntry(t *testing.T) {
	t.Parallel()
	queue := func(w *world, pull int64) *gate.Result {
		group := w.s.Commit(
			fmt.Sprintf("gh-readonly-queue/main/pr-%d-%s", pull, w.s.Ref("refs/heads/main")),
			githubtest.Change{Files: sampleFiles(w.T, "oak-street"), Parent: w.s.Ref("refs/heads/main")},
		)
		r, err := w.runJob(w.s.MergeGroupEvent(group, "main"))
		if err != nil {
			return &gate.Result{Failed: true}
		}
		return r
	}
	for name, change := range map[string]func(w *world, pull int64){
		"dismissed, and no job saw it": func(w *world, pull int64) {
			w.s.DismissReview(pull,
				w.s.ReviewsBy(pull, "rosa")[0], "owner")
		},
		"edited, and no job saw it": func(w *world, pull int64) {
			w.s.EditReview(pull,
				w.s.ReviewsBy(pull, "rosa")[0], "hm")
		},
		"changes requested": func(w *world, pull int64) {
			w.s.Review(pull, "wim", "CHANGES_REQUESTED",
				"no")
		},
		"retargeted": func(w *world,
			pull int64) {
			w.s.Commit("dev", githubtest.Change{})
			w.s.Retarget(pull, "dev")
		},
		"closed": func(w *world, pull int64) { w.s.Close(pull, "owner") },
	} {
		w, pull := signedWorld(t, "")
		if r := queue(w, pull); r.Failed {
			t.Fatalf("%s: a signed pull request does not pass the queue: %+v", name, r)
		}
		w, pull = signedWorld(t, "")
		change(w, pull)
		if r := queue(w, pull); !r.Failed {
			t.Errorf("%s: it passes the queue", name)
		}
	}
	// A forged entry that names no pull request, and one whose review does not exist.
	for _, number := range []int64{0, 1} {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		r := approvedBySomeone(t)
		a := *r.Approval
		a.Review.ID = 4711
		if r.Approval = &a; number == 0 {
			r.PullRequest = nil
		}
		w.pushEntries(r)
		if r := queue(w, pull); !r.Failed {
			t.Errorf("an entry of pull request %d passes the queue", number)
		}
	}
}

// TestSelfSignRerun: somebody with write access pushes other bytes and runs the admin's dispatch again; neither that
// nor a forged receipt of it signs anything.
func TestSelfSignRerun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {self_sign: true}\n")
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.opts.Commands = answers
	inputs := w.dispatchInputs(pull)
	if r, err := w.byHand(pull, "owner", inputs); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	run := w.runID
	w.mustJob(w.s.PullEvent(pull, "edited", true))
	w.wantConclusions(pull, "success", "success") // it holds for as long as all of it holds

	maple := sampleFiles(t, "maple-court")
	w.s.Push(pull, githubtest.Change{Files: maple, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantConclusions(pull, "success", "action_required")
	w.s.Rerun(run, "wim")
	for _, attempt := range []int64{1, 2} { // whatever the runner says of the attempt, GitHub knows
		w.runID, w.attempt = run-1, attempt
		if _, err := w.runJob(w.s.DispatchEvent("owner", inputs)); err == nil {
			t.Error("the dispatch signs other bytes")
		}
		// With inputs for what is there now: the record of the run says another head.
		inputs = w.dispatchInputs(pull)
		w.runID = run - 1
		if _, err := w.runJob(w.s.DispatchEvent("owner", inputs)); err == nil {
			t.Error("the dispatch signs another head than it was started for")
		}
		w.notGreenNow(pull)
	}
}

// TestSelfSignEnds: what an admin signed by hand ends when somebody qualified requests changes, when the configuration
// no longer allows it, and when they are no admin any more.
func TestSelfSignEnds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, pull int64){
		"changes requested": func(w *world, pull int64) { w.s.Review(pull, "wim", "CHANGES_REQUESTED", "no") },
		"not allowed":       func(w *world, _ int64) { w.commitConfig("approval: {self_sign: false}\n") },
		"no admin": func(w *world,
			_ int64) {
			w.s.AddUser(githubtest.User{Login: "owner", ID: 1, Role: "write"})
		},
	} {
		w := newWorld(t)
		w.commitConfig("approval: {self_sign: true}\n")
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		w.opts.Commands = answers
		if r, err := w.byHand(pull, "owner", w.dispatchInputs(pull)); err != nil || r.Word != outcome.ResultSigned {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		change(w, pull)
		w.mustReview(pull)
		w.wantConclusions(pull, "success", "action_required")
		if kinds := w.entryKinds(); name == "changes requested" && kinds != "approved revoked" {
			t.Errorf("%s: %s", name, kinds)
		}
	}
}

// TestCarryNeedsTheGatesWord: an entry that lends a real review of other bytes to the bytes of now is carried nowhere,
// for the gate never announced it; and an announcement that somebody wrote into the gate's review is not believed.
func TestCarryNeedsTheGatesWord(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "carry_on_rebase: true\n")
	maple := sampleFiles(t, "maple-court")
	honest := *w.ledgerEntries()[0].Receipt
	w.s.Push(
		pull,
		githubtest.Change{
			Files: maple,
			Delete: []string{
				"runs/oak-street/run.json",
				"runs/oak-street/submission.json",
				"runs/oak-street/evidence/t12.csv",
			},
			Author: "agent",
		},
	)
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.notGreenNow(pull)

	other := newWorld(t)
	theirs := other.proposeRuns("maple", "maple-court")
	other.mustJob(other.s.PullEvent(theirs, "opened", true))
	if r, err := other.approvePull(theirs, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	lent := *other.ledgerEntries()[0].Receipt
	lent.PullRequest = honest.PullRequest
	a := *lent.Approval
	a.Review, a.Approver = honest.Approval.Review, honest.Approval.Approver
	lent.Approval, lent.MintedAt = &a, honest.MintedAt
	entry := w.pushEntries(lent)[0]
	_, _ = w.runJob(w.s.PullEvent(pull, "edited", true))
	w.notGreenNow(pull)
	ids := w.s.ReviewsBy(pull, "github-actions[bot]")
	body, _ := w.s.ReviewBody(pull, ids[0])
	line := fmt.Sprintf("<!-- referee:receipts %d:%s -->", entry.Receipt.Seq, entry.Hash)
	first, rest, _ := strings.Cut(body, "\n")
	w.s.EditReviewBy(pull, ids[0], "mallory", first+"\n"+line+"\n"+rest)
	for range 3 { // the gate writes its review anew, and does not take the line over
		_, _ = w.runJob(w.s.PullEvent(pull, "edited", true))
		w.notGreenNow(pull)
	}
}

// TestAnotherAgentIsAnotherSubject: what was signed is the work of the agent that run.json names: with another model it
// is not carried, nor signed.
func TestAnotherAgentIsAnotherSubject(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "carry_on_rebase: true\n")
	files := editFile(sampleFiles(t, "oak-street"), "runs/oak-street/run.json", "example-70b-instruct",
		"example-7b-instruct")
	w.s.Push(pull, githubtest.Change{Files: files, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.notGreenNow(pull)
	w.wantKinds("approved superseded")
}

// TestStaleGreen: after a dismissal, whatever request of the job that sees it fails, the older green does not outlive
// it with exit 0; one more delivery heals.
func TestStaleGreen(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{"403": githubtest.NoAccess, "500": githubtest.Unicorn,
		"404": githubtest.Missing} {
		for _, at := range [][2]string{{"GET", "commits/*/check-runs"}, {"GET", "pulls/*/reviews"},
			{"POST", "/graphql"},
			{"GET", "collaborators/*/permission"}, {"POST", "git/trees"}, {"POST", "git/commits"},
			{"PATCH", "git/refs/*"}, {"PATCH", "check-runs/*"}} {
			t.Run(name+" at "+at[0]+" "+at[1], func(t *testing.T) {
				t.Parallel()
				w, pull := signedWorld(t, "")
				w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
				w.s.Inject(fault.On(at[0], at[1]).Always())
				r, err := w.runReviewJob(pull)
				w.s.ClearFaults()
				green := w.newestCheck(w.s.Head(pull), comment.SignOffCheck).Conclusion == "success"
				if green && err == nil && !r.Failed {
					t.Errorf("the job ends well and the sign-off is green: %+v", r)
				}
				w.mustReview(pull)
				w.notGreenNow(pull)
				w.wantKinds("approved revoked")
			})
		}
	}
}

// TestOneHeadTwoPulls: two open pull requests with one head share their checks; neither is green before both are signed
// off, and closing one frees the other.
func TestOneHeadTwoPulls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.Commit("dev", githubtest.Change{Files: map[string]string{"x": "y"}})
	first := w.proposeRuns("oak", "oak-street")
	second := w.s.Open(githubtest.Pull{Head: "oak", Base: "dev", Author: "agent"})
	w.mustJob(w.s.PullEvent(first, "opened", true))
	w.mustJob(w.s.PullEvent(second, "opened", true))
	if r, err := w.approvePull(first, "rosa", answers); err != nil || r.Word == outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.notGreenNow(first)
	w.wantMatch(w.newestCheck(w.s.Head(first), comment.SignOffCheck).Title+w.gateReview(first), fmt.Sprintf("#%d", second))
	if r, err := w.approvePull(second, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantConclusions(first, "success", "success")

	w = newWorld(t)
	w.s.Commit("dev", githubtest.Change{Files: map[string]string{"x": "y"}})
	first = w.proposeRuns("oak", "oak-street")
	second = w.s.Open(githubtest.Pull{Head: "oak", Base: "dev", Author: "agent"})
	if _, err := w.approvePull(first, "rosa", answers); err != nil {
		t.Fatal(err)
	}
	w.notGreenNow(first)
	w.s.Close(second, "agent")
	w.mustJob(w.s.PullEvent(second, "closed", true))
	w.wantConclusions(first, "success", "success")

	// A pull request whose base holds the run already has nothing to sign: its green is not the other's.
	w = newWorld(t)
	w.s.Commit("dev", githubtest.Change{Files: sampleFiles(t, "oak-street")})
	first = w.proposeRuns("oak", "oak-street")
	second = w.s.Open(githubtest.Pull{Head: "oak", Base: "dev", Author: "agent"})
	w.mustJob(w.s.PullEvent(first, "opened", true))
	w.mustJob(w.s.PullEvent(second, "opened", true))
	w.notGreenNow(first)
}

// TestRevokedStaysRevoked: a receipt that was taken back is not the record of a later green; the same person submits a
// new review.
func TestRevokedStaysRevoked(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	id := w.s.Review(pull, "wim", "CHANGES_REQUESTED", "no")
	w.mustReview(pull)
	w.wantKinds("approved revoked")
	w.s.DismissReview(pull, id, "owner")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.wantMatch(w.gateReview(pull), "submit a new review")
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantKinds("approved revoked approved")
}

// TestEarlierAnswersHold: what a person answered in an earlier approving review of this head still holds, until they
// request changes, or that review is edited or dismissed.
func TestEarlierAnswersHold(t *testing.T) {
	t.Parallel()
	start := func() (*world, int64, int64) {
		w := newWorld(t)
		pull := w.proposeRuns("river", "river-lofts")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		id := w.s.Review(pull, "rosa", "APPROVED", answers)
		w.mustReview(pull)
		w.wantKinds("")
		return w, pull, id
	}
	const accept = "/accept dscr_gate the sponsor guarantees the shortfall"
	w, pull, id := start()
	if r, err := w.approvePull(pull, "rosa", accept); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantConclusions(pull, "success", "success")
	w.s.DismissReview(pull, id, "owner") // the answers of the earlier review are part of what was signed
	w.mustReview(pull)
	// the later review's receipt is taken back with them, and so the review accepts nothing any more, in this job
	// as in the next
	for range 2 {
		w.wantConclusions(pull, "failure", "action_required")
		w.wantKinds("approved amended")
		w.mustReview(pull)
	}

	for name, change := range map[string]func(w *world, pull, id int64){
		"dismissed":         func(w *world, pull, id int64) { w.s.DismissReview(pull, id, "owner") },
		"edited":            func(w *world, pull, id int64) { w.s.EditReview(pull, id, answers+"\nand more") },
		"changes requested": func(w *world, pull, _ int64) { w.s.Review(pull, "rosa", "CHANGES_REQUESTED", "no") },
		"somebody else's": func(w *world, pull, id int64) {
			w.s.DismissReview(pull, id, "owner")
			w.s.Review(pull, "wim", "COMMENTED", answers)
		},
	} {
		w, pull, id := start()
		change(w, pull, id)
		if r, err := w.approvePull(pull, "rosa", accept); err != nil || r.Word == outcome.ResultSigned {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestEditedAndRestored: a body that was edited and put back is amended all the same: what stood there meanwhile may
// have been read.
func TestEditedAndRestored(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	id := w.s.ReviewsBy(pull, "rosa")[0]
	body, _ := w.s.ReviewBody(pull, id)
	w.s.EditReview(pull, id, "something else")
	w.s.EditReview(pull, id, body)
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	w.wantKinds("approved amended")
}

// TestScheduleHeals: one pull request that cannot be judged does not keep the others from being healed: a lost
// dismissal is revoked, also after the merge, a sign-off whose job was cancelled is minted, a lost push is reconciled;
// then the schedule has nothing more to say.
func TestScheduleHeals(t *testing.T) {
	t.Parallel()
	w, merged := signedWorld(t, "")
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(merged, "owner", "merge")
	w.mustJob(w.s.PushEvent("main", before, "owner"))
	w.s.DismissReview(merged, w.s.ReviewsBy(merged, "rosa")[0], "owner") // no job sees it

	bypass := w.proposeRuns("elm", "elm-plaza")
	w.s.Merge(bypass, "owner", "merge") // nor this push

	late := w.proposeRuns("maple", "maple-court")
	w.mustJob(w.s.PullEvent(late, "opened", true))
	w.s.Review(late, "rosa", "APPROVED", answers)

	hopeless := w.proposeFiles(
		"twins",
		map[string]string{
			"runs/a/x/run.json": sampleFiles(t, "oak-street")["runs/oak-street/run.json"],
			"runs/b/x/run.json": "{",
		},
	)
	_ = hopeless
	r, err := w.runJob(w.s.ScheduleEvent("0 3 * * *"))
	if err != nil {
		t.Fatal(err)
	}
	w.wantConclusions(late, "success", "success")
	if kinds := w.entryKinds(); !strings.Contains(kinds, "revoked") || !strings.Contains(kinds, "unreceipted") ||
		strings.Count(kinds, "approved") != 2 {
		t.Errorf("%s; %q", kinds, r.Messages)
	}
	r = w.mustJob(w.s.ScheduleEvent("0 3 * * *"))
	for _, m := range r.Messages {
		if strings.Contains(m, "LDG-603") || strings.Contains(m, "LDG-604") && !strings.Contains(m, "oak-street") {
			t.Errorf("drift for ever: %s", m)
		}
	}
}

// TestRebaseMerge: a signed pull request of two commits that is merged by rebasing is no merge past the gate, neither
// for the push nor for the schedule.
func TestRebaseMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	oak := sampleFiles(t, "oak-street")
	rough := editFile(oak, "runs/oak-street/submission.json", "{", "{\n ")
	w.s.Commit("oak", githubtest.Change{Files: rough, Author: "agent"})
	w.s.Commit("oak", githubtest.Change{Files: oak, Author: "agent", Parent: w.s.Ref("refs/heads/oak")})
	pull := w.s.Open(githubtest.Pull{Head: "oak", Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(pull, "owner", "rebase")
	if r := w.mustJob(w.s.PushEvent("main", before, "owner")); r.Failed {
		t.Errorf("%q", r.Messages)
	}
	w.wantKinds("approved merged")
	if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
		t.Errorf("%q", r.Messages)
	}
}

// TestReopened: a pull request that was closed and opened again is signed off as it was, and its merge is no merge past
// the gate.
func TestReopened(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	w.s.Close(pull, "agent")
	w.mustJob(w.s.PullEvent(pull, "closed", true))
	w.s.Reopen(pull, "agent")
	w.mustJob(w.s.PullEvent(pull, "reopened", true))
	w.wantConclusions(pull, "success", "success")
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(pull, "owner", "merge")
	if r := w.mustJob(w.s.PushEvent("main", before, "owner")); r.Failed {
		t.Errorf("%q", r.Messages)
	}
	w.wantKinds("approved withdrawn merged")
	if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
		t.Errorf("%q", r.Messages)
	}
}

// TestSignedForAnotherBase: bytes that were signed off for one branch are not signed off for main, neither by a merge
// of that branch nor by an unapproved pull request with the same bytes.
func TestSignedForAnotherBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("branches: [main, dev]\n")
	w.s.Commit("dev", githubtest.Change{Files: map[string]string{"x": "y"}, Parent: w.s.Ref("refs/heads/main")})
	w.s.Commit(
		"oak",
		githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent", Parent: w.s.Ref("refs/heads/dev")},
	)
	forDev := w.s.Open(githubtest.Pull{Head: "oak", Base: "dev", Author: "agent"})
	w.mustJob(w.s.PullEvent(forDev, "opened", true))
	if r, err := w.approvePull(forDev, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	w.s.Merge(forDev, "owner", "merge")

	w.s.Commit(
		"copy",
		githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent", Parent: w.s.Ref("refs/heads/main")},
	)
	toMain := w.s.Open(githubtest.Pull{Head: "copy", Author: "agent"})
	w.mustJob(w.s.PullEvent(toMain, "opened", true))
	w.notGreenNow(toMain)
	before := w.s.Ref("refs/heads/main")
	w.s.Merge(toMain, "owner", "squash")
	r := w.mustJob(w.s.PushEvent("main", before, "owner"))
	if !r.Failed {
		t.Errorf("%q", r.Messages)
	}
	w.wantMatch(strings.Join(r.Messages, "\n"), fmt.Sprintf("#%d by owner", toMain))
	w.wantMatch(w.s.Issues()[0].Body, fmt.Sprintf("#%d by owner", toMain))
}
