package gate_test

import (
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// TestRulesChangeOnBase: what is green by the configuration of before is judged again when a push changes it.
func TestRulesChangeOnBase(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	before := w.s.Ref("refs/heads/main")
	w.commitConfig("approval: {count: 2}\n")
	w.wantConclusions(pull, "success", "success") // no job has run
	w.mustJob(w.s.PushEvent("main", before, "owner"))
	w.wantConclusions(pull, "success", "action_required")
}

// TestSignerLeft: who may no longer sign off has not signed what is still open, and the ledger says so, once.
func TestSignerLeft(t *testing.T) {
	t.Parallel()
	w, pull := signedWorld(t, "")
	w.s.AddUser(githubtest.User{Login: "rosa", ID: 7, Role: "read"})
	for range 2 {
		if r := w.mustJob(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
			t.Errorf("%q", r.Messages)
		}
		w.wantConclusions(pull, "success", "action_required")
		w.wantKinds("approved revoked")
	}
}
