package gate_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// secondJob is a second job's view of the same repository.
func (w *world) secondJob(runID int64) *world {
	return &world{T: w.T, s: w.s, token: w.token, runID: runID, opts: w.opts, main: w.main, ref: w.ref}
}

// oneReview holds that the gate's account has one review here, and that it was submitted.
func (w *world) oneReview(pull int64) {
	w.Helper()
	ids := w.s.ReviewsBy(pull, "github-actions[bot]")
	if len(ids) != 1 {
		w.Errorf("%d reviews of the gate, want one", len(ids))
		return
	}
	if state := w.s.ReviewState(pull, ids[0]); state != "COMMENTED" {
		w.Errorf("the gate's review is %s", state)
	}
}

// TestNoRunNoReview: a pull request that touches no run gets no review; one that once did, and does no longer, says so
// in its review.
func TestNoRunNoReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeFiles("docs", map[string]string{"docs/a.md": "words\n"})
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); r.Word != outcome.ResultNoRuns || r.Failed {
		t.Errorf("%+v", r)
	}
	w.wantConclusions(pull, "success", "success")
	if ids := w.s.ReviewsBy(pull, "github-actions[bot]"); len(ids) != 0 {
		t.Errorf("%d reviews of the gate, want none", len(ids))
	}
	w.s.Push(pull, githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.oneReview(pull)
	var gone []string
	for name := range sampleFiles(t, "oak-street") {
		gone = append(gone, name)
	}
	w.s.Push(pull, githubtest.Change{Delete: gone, Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.oneReview(pull)
	w.wantMatch(w.gateReview(pull), "touches no run|no runs in this pull request")
}

// TestParallelFirstDeliveries: of jobs that begin at once one makes the review, wherever a whole second job comes
// between two requests of the first.
func TestParallelFirstDeliveries(t *testing.T) {
	t.Parallel()
	for _, at := range [][2]string{{"GET", "pulls/*/reviews"}, {"POST", "pulls/*/reviews"}, {"GET2", "pulls/*/reviews"},
		{"POST", "pulls/*/reviews/*/events"}, {"POST", "check-runs"}} {
		t.Run(strings.Join(at[:], " "), func(t *testing.T) {
			w := newWorld(t)
			pull := w.proposeRuns("oak", "oak-street")
			opened := w.s.PullEvent(pull, "opened", true)
			between := githubtest.Fault{Do: func() {
				if _, err := w.secondJob(500).runJob(opened); err != nil {
					t.Errorf("the job in between: %v", err)
				}
			}}.On(strings.TrimSuffix(at[0], "2"), at[1])
			if at[0] == "GET2" {
				between.Skip = 1
			}
			w.s.Inject(between)
			w.mustJob(opened)
			w.oneReview(pull)
			w.mustJob(opened)
			w.oneReview(pull)
		})
	}
}

// TestFirstDeliveriesAtOnce is the same with six jobs that really run at once.
func TestFirstDeliveriesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	opened := w.s.PullEvent(pull, "opened", true)
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if _, err := w.secondJob(int64(100 * (i + 1))).runJob(opened); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	group.Wait()
	w.oneReview(pull)
}

// TestOrphanedReview: a review that a job left pending when it died is submitted by the next one, and not seen by
// anybody before; where there is a submitted one already, it is deleted.
func TestOrphanedReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	opened := w.s.PullEvent(pull, "opened", true)
	w.s.Inject(githubtest.NoAccess.On("POST", "pulls/*/reviews/*/events"))
	w.mustJob(opened)
	ids := w.s.ReviewsBy(pull, "github-actions[bot]")
	if len(ids) != 1 || w.s.ReviewState(pull, ids[0]) != "PENDING" {
		t.Fatalf("%v", ids)
	}
	w.mustJob(opened)
	w.oneReview(pull)

	body := w.gateReview(pull)
	w.s.StartReview(pull, "github-actions[bot]", body)
	w.mustJob(opened)
	w.oneReview(pull)
	if got := w.gateReview(pull); !strings.Contains(got, "Referee") {
		t.Errorf("the wrong one is left: %s", got)
	}
}

// TestReviewLostReplies: whatever becomes of the answers on the way to the first review, there is one in the end, and
// the next delivery keeps it.
func TestReviewLostReplies(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{"lost reply": githubtest.DropAfter,
		"lost request": githubtest.DropBefore, "502 after": {Status: 502, FailAfter: true}} {
		for _, path := range []string{"pulls/*/reviews", "pulls/*/reviews/*/events"} {
			t.Run(name+" "+path, func(t *testing.T) {
				w := newWorld(t)
				pull := w.proposeRuns("oak", "oak-street")
				opened := w.s.PullEvent(pull, "opened", true)
				w.s.Inject(fault.On("POST", path))
				_, _ = w.runJob(opened) // it may end loudly
				w.mustJob(opened)
				w.oneReview(pull)
			})
		}
	}
}

// TestForeignDraft: where the token is a person's, who has a draft review here, nothing of theirs is touched, and
// the job says what to do.
func TestForeignDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.AddToken("pat", githubtest.Token{Login: "owner"})
	w.token = "pat"
	pull := w.proposeRuns("oak", "oak-street")
	w.s.StartReview(pull, "owner", "my own thoughts, not finished")
	if _, err := w.runJob(w.s.PullEvent(pull, "opened", true)); err == nil ||
		!strings.Contains(err.Error(), "draft review") {
		t.Errorf("%v", err)
	}
	for _, c := range w.s.Checks(w.s.Head(pull)) {
		if strings.Contains(c.Summary+c.Text, "pending") {
			t.Errorf("the draft is shown: %s", c.Summary)
		}
	}
	if ids := w.s.ReviewsBy(pull, "owner"); len(ids) != 1 {
		t.Errorf("%d reviews: the person's draft must stay as it is", len(ids))
	}
}
