package gate_test

import (
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/internal/githubtest"
)

// TestNoCheckNoReceipt: where the checks cannot be written, nothing is minted: on a head that has them, and on a fresh
// one, where the audit's check is the first to be written.
func TestNoCheckNoReceipt(t *testing.T) {
	t.Parallel()
	refusals := [][][2]string{
		{{"GET", "commits/*/check-runs"}, {"POST", "check-runs"}},
		{{"PATCH", "check-runs/*"}, {"POST", "check-runs"}},
	}
	for _, fresh := range []bool{false, true} {
		for _, refused := range refusals {
			w := newWorld(t)
			pull := w.proposeRuns("oak", "oak-street")
			if !fresh {
				w.mustJob(w.s.PullEvent(pull, "opened", true))
			}
			for _, at := range refused {
				w.s.Inject(githubtest.NoAccess.On(at[0], at[1]).Always())
			}
			r, err := w.approvePull(pull, "rosa", answers)
			if err == nil && !r.Failed {
				t.Errorf("%v: %+v", refused, r)
			}
			w.s.ClearFaults()
			w.wantKinds("")
			w.mustReview(pull)
			w.wantKinds("approved")
			w.wantConclusions(pull, "success", "success")
		}
	}
}

// TestClaim: the first check of a fresh head is the audit's, before anything is minted, and it is written once. Where a
// run of the sign-off check is there, whoever made it, or another pull request has the head, the sign-off's own is in
// progress first.
func TestClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(w *world, pull int64)
		first  string
	}{
		"fresh": {func(*world, int64) {}, comment.AuditCheck},
		"forged green": {func(w *world, pull int64) {
			w.s.ForgeCheck("evil", w.s.Head(pull), comment.SignOffCheck, "success")
		}, comment.SignOffCheck},
		"sibling": {func(w *world, _ int64) {
			w.s.Commit("dev", githubtest.Change{Files: map[string]string{"x": "y"}})
			w.s.Open(githubtest.Pull{Head: "oak", Base: "dev", Author: "agent"})
		}, comment.SignOffCheck},
	} {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		c.before(w, pull)
		had := len(w.s.Checks(w.s.Head(pull)))
		var then []githubtest.Check
		w.s.Inject(githubtest.Fault{Do: func() { then = w.s.Checks(w.s.Head(pull))[had:] }}.On("POST", "git/trees"))
		if _, err := w.approvePull(pull, "rosa", answers); err != nil {
			t.Fatal(name, err)
		}
		if len(then) != 1 || then[0].Name != c.first ||
			(then[0].Status == "completed") != (c.first == comment.AuditCheck) {
			t.Errorf("%s: before the ledger was written there were %+v", name, then)
		}
		w.wantKinds("approved")
		if n := len(w.s.Checks(w.s.Head(pull))) - had; n != 2 {
			t.Errorf("%s: %d checks were made", name, n)
		}
	}
}
