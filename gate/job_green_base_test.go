package gate_test

import (
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// TestRulesChangeOnBase: what is green by the configuration of before is judged again when a push changes it.
func TestRulesChangeOnBase(t *testing.T) {
	t.Parallel()
	w, pull := signed(t, "")
	before := w.s.Ref("refs/heads/main")
	w.configure("approval: {count: 2}\n")
	w.conclusions(pull, "success", "success") // no job has run
	w.must(w.s.PushEvent("main", before, "owner"))
	w.conclusions(pull, "success", "action_required")
}

// TestSignerLeft: who may no longer sign off has not signed what is still open, and the ledger says so, once.
func TestSignerLeft(t *testing.T) {
	t.Parallel()
	w, pull := signed(t, "")
	w.s.AddUser(githubtest.User{Login: "rosa", ID: 7, Role: "read"})
	for range 2 {
		if r := w.must(w.s.ScheduleEvent("0 3 * * *")); r.Failed {
			t.Errorf("%q", r.Messages)
		}
		w.conclusions(pull, "success", "action_required")
		w.wantKinds("approved revoked")
	}
}
