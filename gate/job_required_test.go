package gate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// ownApp is the App of the set-ups that have one.
const ownApp = "example-referee"

// protectBranches sets the rulesets that `referee init` prints, for the workflow's own token or, with an app, as
// `referee init
// --app` does.
func (w *world) protectBranches(app string) {
	w.Helper()
	files, id := []string{"protect-default.json", "protect-ledger.json"}, githubtest.AppID("github-actions")
	if app != "" {
		files, id = append(files, "protect-ledger-app.json"), githubtest.AppID(app)
	}
	for _, file := range files {
		text, err := os.ReadFile("../cmd/referee/setup/" + file)
		if err != nil {
			w.Fatal(err)
		}
		if err := w.s.Protect(strings.NewReplacer("@APP_ID@", fmt.Sprint(id), "@LEDGER@",
			`"refs/heads/ledger"`).Replace(string(text))); err != nil {
			w.Fatal(err)
		}
	}
}

// wantMissing holds a pull request to what its base's rulesets still demand of it.
func (w *world) wantMissing(pull int64, want ...string) {
	w.Helper()
	if ok, missing := w.s.Mergeable(pull); !slices.Equal(missing, want) || ok != (len(want) == 0) {
		w.Errorf("mergeable %v, it lacks %q, want %q", ok, missing, want)
	}
}

// accepted is what a reviewer of river-lofts says who lends although the coverage is too low.
const accepted = answers + "/accept dscr_gate the sponsor guarantees the shortfall"

// TestRequiredFollowsTheReview: what the printed ruleset requires is green when, and only as long as, a review accepts
// what was flagged; the job of the first audit stays red, and holds nothing up.
func TestRequiredFollowsTheReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.protectBranches("")
	pull := w.proposeRuns("river", "river-lofts")
	w.wantMissing(pull, "approvals: 0 of 1", "referee / audit: expected", "referee / sign-off: expected")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("a flagged deal passes")
	}
	w.s.RunJob(
		w.s.Head(pull),
		"referee-audit",
		"failure",
	) // of pull_request_target, on the head; no later job changes it
	red := []string{"referee / audit: failure", "referee / sign-off: action_required"}
	w.wantMissing(pull, append([]string{"approvals: 0 of 1"}, red...)...)

	if _, err := w.approvePull(pull, "rosa", answers); err != nil {
		t.Fatal(err)
	}
	w.wantMissing(pull, red...)
	w.s.ForgeCheck("evil", w.s.Head(pull), comment.AuditCheck, "success")
	w.s.ForgeCheck("evil", w.s.Head(pull), comment.SignOffCheck, "success")
	w.s.ForgeStatus("", w.s.Head(pull), comment.SignOffCheck, "success")
	w.wantMissing(pull, red...)

	review := w.s.Review(pull, "rosa", "APPROVED", accepted)
	w.mustReview(pull)
	w.wantMissing(pull)
	w.wantKinds("approved")

	w.s.DismissReview(pull, review, "owner")
	w.mustReview(pull)
	if ok, missing := w.s.Mergeable(pull); ok || !slices.Contains(missing, red[1]) {
		t.Errorf("dismissed, and it lacks %q", missing)
	}
	if _, err := w.approvePull(pull, "rosa", accepted); err != nil {
		t.Fatal(err)
	}
	w.wantMissing(pull)

	w.s.Push(pull, githubtest.Change{Files: map[string]string{"runs/river-lofts/notes.md": "later"}, Author: "agent"})
	w.wantMissing(pull, "approvals: 0 of 1", "referee / audit: expected", "referee / sign-off: expected")
	w.mustJob(w.s.PullEvent(pull, "synchronize", true))
	w.wantMissing(pull, append([]string{"approvals: 0 of 1"}, red...)...)
}

// TestRequiredJob: where a ruleset requires the job, as earlier versions printed it, nothing that a person says later
// makes it green. doctor warns.
func TestRequiredJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.protectBranches("")
	err := w.s.Protect(
		`{"name": "as before", "target": "branch", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
		"rules": [{"type": "required_status_checks", "parameters": {"strict_required_status_checks_policy": false,
		"required_status_checks": [{"context": "referee-audit", "integration_id": 15368}]}}]}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	pull := w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.RunJob(w.s.Head(pull), "referee-audit", "failure")
	if _, err := w.approvePull(pull, "rosa", accepted); err != nil {
		t.Fatal(err)
	}
	w.s.RunJob(
		w.s.Ref("refs/heads/main"),
		"referee-audit",
		"success",
	) // the job of the workflow_run runs on the default branch's commit
	w.wantMissing(pull, "referee-audit: failure")
}

// TestRequiredInQueue: a merge queue looks at the commit of its group; a group with a run that nobody has signed off
// does not merge.
func TestRequiredInQueue(t *testing.T) {
	t.Parallel()
	w, _ := signedWorld(t, "")
	w.protectBranches("")
	tip := w.s.Ref("refs/heads/main")
	group := w.s.Commit("gh-readonly-queue/main/pr-1-"+tip, githubtest.Change{Files: sampleFiles(t, "oak-street")})
	if ok, missing := w.s.GroupMergeable(group, "main"); ok {
		t.Errorf("before the gate has looked: %q", missing)
	}
	w.mustJob(w.s.MergeGroupEvent(group, "main"))
	if ok, missing := w.s.GroupMergeable(group, "main"); !ok {
		t.Errorf("signed off, and it lacks %q", missing)
	}
	other := w.s.Commit(
		"gh-readonly-queue/main/pr-2-"+tip,
		githubtest.Change{Files: sampleFiles(t, "maple-court"), Parent: tip},
	)
	w.mustJob(w.s.MergeGroupEvent(other, "main"))
	if ok, missing := w.s.GroupMergeable(other, "main"); ok ||
		!slices.Contains(missing, "referee / sign-off: action_required") {
		t.Errorf("not signed off, and it lacks %q", missing)
	}
}

// appendEntry pushes an entry to the ledger over the network, with somebody's token.
func (w *world) appendEntry(token string, r ledger.Receipt) error {
	w.Helper()
	store, err := gitstore.Open(w.s.CloneURL(), gitstore.Options{Now: w.s.Now, Password: token, Cache: w.TempDir()})
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	r.Seq, r.ParentHash, r.Log, r.ID, r.IdempotencyKey = 0, "", ledger.Log{}, "", strings.Repeat("f", 64)
	_, err = ledger.Append(w.Context(), store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{r}}, nil
	})
	return err
}

// TestAppAlone: under the rulesets that `init --app` prints the gate works as its App from the audit to the receipt,
// and nobody else appends to the ledger or makes what is required; under those for the workflow's own token anybody who
// can push appends.
func TestAppAlone(t *testing.T) {
	t.Parallel()
	for _, app := range []string{ownApp, ""} {
		w := newWorld(t)
		w.protectBranches(app)
		if app != "" {
			w.token = "of-the-app"
			w.s.AddToken(w.token, githubtest.Token{Login: app + "[bot]", App: app})
			w.s.AddUser(githubtest.User{Login: app + "[bot]", Type: "Bot", Role: "write"})
		}
		w.s.AddToken("of-wim", githubtest.Token{Login: "wim"})
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
			t.Fatalf("app %q: %+v, %v", app, r, err)
		}
		w.wantMissing(pull)
		w.wantKinds("approved")
		forged := *w.ledgerEntries()[0].Receipt
		for _, token := range []string{"of-wim", w.s.Token} {
			if err := w.appendEntry(token, forged); (err == nil) != (app == "") {
				t.Errorf("app %q: an entry pushed with the token %.8s: %v", app, token, err)
			}
			if app == "" {
				return
			}
		}
		w.wantKinds("approved")

		other := w.proposeRuns("maple", "maple-court")
		for _, name := range []string{comment.AuditCheck, comment.SignOffCheck} {
			w.s.ForgeCheck(
				"github-actions",
				w.s.Head(other),
				name,
				"success",
			) // as a workflow on the agent's branch can
		}
		w.wantMissing(other, "approvals: 0 of 1", "referee / audit: expected", "referee / sign-off: expected")
		w.token = w.s.Token // a gate that is not the App
		w.mustJob(w.s.PullEvent(other, "opened", true))
		if _, err := w.approvePull(other, "rosa", answers); err == nil || !strings.Contains(err.Error(), "ruleset") {
			t.Errorf("without the App's token: %v", err)
		}
		w.wantKinds("approved")
		w.wantMissing(other, "referee / audit: expected", "referee / sign-off: expected")
	}
}
