package gate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// sweepFault is something that goes wrong at one request.
type sweepFault struct {
	name  string
	fault githubtest.Fault
}

var sweepFaults = []sweepFault{
	{
		"401",
		githubtest.BadToken,
	}, {"403", githubtest.NoAccess}, {"404", githubtest.Missing}, {"409", githubtest.Conflicted},
	{"422 abuse", githubtest.Abused},
	{
		"500",
		githubtest.Fault{Status: 500, Body: `{"message":"Server Error"}`},
	}, {"502", githubtest.Unicorn}, {"lost request", githubtest.DropBefore}, {"lost reply", githubtest.DropAfter},
	{
		"502 after the work",
		githubtest.Fault{Status: 502, Body: "<html>Unicorn!</html>", FailAfter: true},
	}, {"429", githubtest.RetryAfter(429, 1)}, {"403 limit", githubtest.RetryAfter(403, 1)},
}

// sweepScene is one kind of job: what comes before it, and what holds once it has done its work.
type sweepScene struct {
	name  string
	begin func(w *world) (pull int64, head string, event func() githubtest.Event)
	may   bool // the reviews bear a green sign-off out
	audit string
	sign  string // conclusion of the sign-off in the end, "" where no check belongs to the job
	kinds string
}

// dismissedPull is a signed pull request whose review was dismissed, and no job has seen it.
func dismissedPull(w *world) (pull int64) {
	pull = signedIn(w)
	w.s.DismissReview(pull, w.s.ReviewsBy(pull, "rosa")[0], "owner")
	return pull
}

func signedIn(w *world) (pull int64) {
	pull = w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
		w.Fatalf("%+v, %v", r, err)
	}
	return pull
}

func (w *world) reviewEvent(pull int64) func() githubtest.Event {
	return func() githubtest.Event { return w.s.RunEvent(w.s.AddRun(githubtest.Run{Pull: pull, Listed: true})) }
}

// queuePull is a merge queue's group of a pull request.
func (w *world) queuePull(pull int64) (head string, event func() githubtest.Event) {
	main := w.s.Ref("refs/heads/main")
	head = w.s.Commit(
		fmt.Sprintf("gh-readonly-queue/main/pr-%d-%s", pull, main),
		githubtest.Change{Files: sampleFiles(w.T, "oak-street"), Parent: main},
	)
	return head, func() githubtest.Event { return w.s.MergeGroupEvent(head, "main") }
}

var sweepScenes = []sweepScene{
	{
		name:  "sign-off",
		may:   true,
		audit: "success",
		sign:  "success",
		kinds: "approved",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := w.proposeRuns("oak", "oak-street")
			w.mustJob(w.s.PullEvent(pull, "opened", true))
			w.s.Review(pull, "rosa", "APPROVED", answers)
			return pull, w.s.Head(pull), w.reviewEvent(pull)
		},
	},
	{
		name:  "dismissal",
		audit: "success",
		sign:  "action_required",
		kinds: "approved revoked",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := dismissedPull(w)
			return pull, w.s.Head(pull), w.reviewEvent(pull)
		},
	},
	{
		name:  "flagged",
		audit: "failure",
		sign:  "action_required",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := w.proposeRuns("elm", "elm-plaza")
			return pull, w.s.Head(pull), func() githubtest.Event { return w.s.PullEvent(pull, "opened", true) }
		},
	},
	{
		name:  "merge",
		may:   true,
		kinds: "approved merged",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := signedIn(w)
			w.s.Merge(pull, "owner", "merge")
			return pull, w.s.Head(
				pull,
			), func() githubtest.Event { return w.s.PushEvent("main", w.s.Ref("refs/heads/main^1"), "owner") }
		},
	},
	{
		name:  "group",
		may:   true,
		audit: "success",
		sign:  "success",
		kinds: "approved",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := signedIn(w)
			head, event := w.queuePull(pull)
			return pull, head, event
		},
	},
	{
		name:  "group after a dismissal",
		audit: "success",
		sign:  "action_required",
		kinds: "approved",
		begin: func(w *world) (int64, string, func() githubtest.Event) {
			pull := dismissedPull(w)
			head, event := w.queuePull(pull)
			return pull, head, event
		},
	},
}

// greenOn reports whether the newest run of a check on a commit lets a merge pass, and how often a run says what the
// one before it says. A job that breaks has a run of its own, which says why; only the newest counts, and so what comes
// behind it is new again.
func (w *world) greenOn(head, name string) (green bool, doubled int) {
	before := ""
	for _, c := range w.s.Checks(head) {
		if c.Name != name {
			continue
		}
		green = c.Conclusion == "success" || c.Conclusion == "neutral" || c.Conclusion == "skipped"
		if c.ExternalID == before {
			doubled++
		}
		before = c.ExternalID
	}
	return green, doubled
}

// playFault lets a fault happen in a scene, and holds what is left to what gate.md says of a job that breaks; then one
// more delivery heals.
func (scene sweepScene) playFault(t *testing.T, f githubtest.Fault) {
	w := newWorld(t)
	pull, head, event := scene.begin(w)
	w.s.Inject(f)
	r, err := w.runJob(event())
	w.s.ClearFaults()
	well := err == nil && !r.Failed
	green, _ := w.greenOn(head, comment.SignOffCheck)
	if scene.sign != "" && green && !scene.may && well {
		t.Errorf("a wrong green: the sign-off passes and the job ends well: %+v", r)
	}
	if scene.sign == "success" && green && !strings.Contains(w.entryKinds(), "approved") {
		t.Errorf("signed without a receipt: %q", w.entryKinds())
	}
	if passes, _ := w.greenOn(head, comment.AuditCheck); passes && scene.audit == "failure" {
		t.Error("the audit of a flagged run is green")
	}
	if kinds := w.entryKinds(); !strings.HasPrefix(scene.kinds, kinds) {
		t.Errorf("the ledger holds %q, which is more than %q", kinds, scene.kinds)
	}
	if _, err = w.runJob(event()); err != nil {
		t.Fatalf("the next delivery: %v", err)
	}
	scene.wantHealed(w, pull, head, f.Status == githubtest.NoAccess.Status && f.Header == nil)
}

// wantHealed: everything is there, once. A run of a check that may not be changed is taken for another app's, and gets
// a newer one beside it.
func (scene sweepScene) wantHealed(w *world, pull int64, head string, refused bool) {
	w.Helper()
	w.wantKinds(scene.kinds)
	w.gateReview(pull)
	for _, issue := range w.s.Issues() {
		w.Errorf("an issue was opened: %s", issue.Title)
	}
	if scene.sign == "" {
		return
	}
	for name, want := range map[string]string{comment.AuditCheck: scene.audit, comment.SignOffCheck: scene.sign} {
		if c := w.newestCheck(head, name); c.Conclusion != want {
			w.Errorf("%s: %s (%s), want %s", name, c.Conclusion, c.Title, want)
		}
		if _, doubled := w.greenOn(head, name); doubled > 0 && !refused {
			w.Errorf("%d runs of %s are there twice", doubled, name)
		}
	}
}

// TestFaults: whatever goes wrong at any request of a sign-off, a dismissal, a flagged run, a merge or a merge group,
// of the API or of git, the job survives it or ends loudly: no green is wrong, nothing is lost or doubled, and the next
// delivery finishes the work.
func TestFaults(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, scene := range sweepScenes {
		w := newWorld(t)
		pull, head, event := scene.begin(w)
		api, git := w.s.Count(), w.s.GitRequests()
		if _, err := w.runJob(event()); err != nil {
			t.Fatalf("%s: %v", scene.name, err)
		}
		scene.wantHealed(w, pull, head, false)
		requests := w.s.Requests()[api:]
		git = w.s.GitRequests() - git
		t.Logf("%s: %d requests of the API, %d of git", scene.name, len(requests), git)
		for i := range len(requests) + git {
			for k, f := range sweepFaults {
				if tried++; tried%sampledCases() != 0 || i >= len(requests) && (i+k)%3 != 0 {
					// git asks for much in the same way: each of its requests has a third of the faults, in turn
					continue
				}
				fault, where := f.fault, ""
				if i < len(requests) {
					fault.Skip, where = i, fmt.Sprintf("%s %s (%d)", requests[i].Method, requests[i].Path, i)
				} else {
					fault.Skip, fault.Git, where = i-len(requests), true, fmt.Sprintf("git %d", i-len(requests))
				}
				t.Run(fmt.Sprintf("%s/%s at %s", scene.name, f.name, where), func(t *testing.T) {
					t.Parallel()
					scene.playFault(t, fault)
				})
			}
		}
	}
}

// sampled is which of the cases are tried where not all are: prime to the number of faults, so that each fault and each
// request has its turn.
const sampled = 31

// sampledCases is every which case is tried: a few, more of them in .ci/run, and all with REFEREE_SWEEP=1, which takes
// a quarter of an hour.
func sampledCases() int {
	switch {
	case os.Getenv("REFEREE_SWEEP") == "1":
		return 1
	case os.Getenv("REFEREE_CI") == "1":
		return 7
	}
	return sampled
}
