package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/internal/githubtest"
)

// wantBroken holds a job to a sentence that somebody can act on.
func (w *world) wantBroken(err error, says string) {
	w.Helper()
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), says) {
		w.Errorf("%v, want %q", err, says)
	}
}

// TestTwins: two runs of one id in a pull request, in two folders of one name.
func TestTwins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{}
	for k, v := range sampleFiles(t, "oak-street") {
		files[strings.Replace(k, "runs/", "runs/a/", 1)], files[strings.Replace(k, "runs/", "runs/b/", 1)] = v, v
	}
	pull := w.proposeFiles("x", files)
	_, err := w.runJob(w.s.PullEvent(pull, "opened", true))
	w.wantBroken(err, `share the id "oak-street"`)
	if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion != "failure" {
		t.Errorf("%+v", c)
	}
}

// TestSelfSignRefusals: every condition of a sign-off by hand, one at a time.
func TestSelfSignRefusals(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(w *world, pull int64){
		"choose the default branch":   func(w *world, _ int64) { w.ref = "refs/heads/agent" },
		"is a draft":                  func(w *world, pull int64) { w.s.SetDraft(pull, true) },
		"is closed":                   func(w *world, pull int64) { w.s.Close(pull, "owner") },
		"the commands cannot be read": func(w *world, _ int64) { w.opts.Commands = "/satisfy x" },
		"unanswered checklist items":  func(w *world, _ int64) { w.opts.Commands = "" },
		"names what it signs":         func(w *world, pull int64) { w.named = map[string]any{"head": w.s.Head(pull)} },
		"with the inputs head": func(w *world,
			pull int64) {
			w.named = map[string]any{"head": strings.Repeat("1", 40)}
		},
		"does not match the audit": func(w *world, _ int64) { w.opts.Commands = answers + "/digest 01234567" },
		"which no run asks":        func(w *world, _ int64) { w.opts.Commands = answers + "/satisfied nothing" },
		"changes are requested": func(w *world, pull int64) {
			w.s.Review(pull, "wim", "CHANGES_REQUESTED",
				"no")
		},
		"only an admin":     func(w *world, _ int64) { w.signer = "wim" },
		"this is attempt 2": func(w *world, _ int64) { w.attempt = 2 },
		"could not be audited": func(w *world, pull int64) {
			w.s.Push(pull, githubtest.Change{Files: map[string]string{"runs/oak-street/run.json": "{"},
				Author: "agent"})
		},
	} {
		w := newWorld(t)
		w.commitConfig("approval: {self_sign: true}\n")
		pull := w.proposeRuns("oak", "oak-street")
		head := w.s.Head(pull)
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		w.opts.Commands = answers
		change(w, pull)
		if w.s.Head(pull) != head {
			w.mustJob(w.s.PullEvent(pull, "synchronize", true))
		}
		_, err := w.byHand(pull, "owner", w.dispatchInputs(pull))
		w.wantBroken(err, says)
		w.wantKinds(map[string]string{"changes are requested": "rejected"}[says])
	}
}

// TestNothingToStandOn: a default branch that does not exist, and a ledger that cannot be reached.
func TestNothingToStandOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.main = "trunk"
	_, err := w.runJob(w.s.PullEvent(pull, "opened", true))
	w.wantBroken(err, `"trunk"`)

	w = newWorld(t)
	w.commitConfig("ledger: {branch: \"-x\"}\n")
	pull = w.proposeRuns("oak", "oak-street")
	_, err = w.runJob(w.s.PullEvent(pull, "opened", true))
	if err == nil {
		t.Error("a ledger's branch that git would refuse")
	}
}

// TestOneFailingCheck: what cannot be judged leaves one failing check, however often it is delivered, and the next
// verdict of the same head stands behind it and not before.
func TestOneFailingCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	head := w.s.Head(pull)
	opened := func() { _, _ = w.runJob(w.s.PullEvent(pull, "opened", true)) }
	audits := func() (n int) {
		for _, c := range w.s.Checks(head) {
			if c.Name == comment.AuditCheck {
				n++
			}
		}
		return n
	}
	w.commitConfig("fail_onn: high\n")
	for range 5 {
		opened()
	}
	if n := audits(); n != 1 {
		t.Errorf("%d failing checks", n)
	}
	w.commitConfig("fail_on: never\n")
	opened()
	if c := w.newestCheck(head, comment.AuditCheck); c.Conclusion != "success" {
		t.Errorf("%+v", c)
	}
	w.commitConfig("fail_onn: high\n")
	opened() // the same words as before: the newest check of the name must say them
	if c := w.newestCheck(head, comment.AuditCheck); c.Conclusion != "failure" {
		t.Errorf("a green check stands before the failure: %+v", c)
	}
}
