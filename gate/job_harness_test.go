package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/githubstore"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
)

// world is a repository on a GitHub for tests, with the jobs that its events start.
type world struct {
	*testing.T
	s     *githubtest.Server
	runID int64
	calls int // of the newest job
	opts  gate.Options
	token string
	main  string // the default branch, as events name it
	ref   string // that the job runs on

	attempt int64          // of the workflow run; 1 if 0
	signer  string         // who signs by hand, in place of who is given
	named   map[string]any // inputs of a sign-off by hand, in place of the right ones
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, s: githubtest.New(t), main: "main", ref: "refs/heads/main"}
	w.token = w.s.Token
	if gate.ThroughGit(t.Name()) {
		w.s.OverGit()
	}
	return w
}

// runJob is one job started by an event.
func (w *world) runJob(e githubtest.Event) (*gate.Result, error) {
	w.Helper()
	w.runID++
	event, err := gate.ParseEvent(e.Name, e.Payload)
	if err != nil {
		w.Fatal(err)
	}
	api, err := githubapi.New(
		githubapi.Options{APIURL: w.s.APIURL(), Token: w.token, Repository: w.s.Name, MaxWait: -1},
	)
	if err != nil {
		w.Fatal(err)
	}
	dir := w.TempDir()
	work, err := gitstore.OpenWork(w.s.CloneURL(), gitstore.Options{Password: w.token, Cache: dir})
	if err != nil {
		w.Fatal(err)
	}
	event.DefaultBranch = w.main
	event.RepositoryID = max(event.RepositoryID, 1)
	j := &gate.Job{Event: event, API: api, Work: work, Embedded: flightsheets.FS(), Tools: ruleTools(), Options: w.opts,
		Open: func(at config.Ledger) (ledger.Store, error) {
			return githubstore.Open(
				api,
				githubstore.Options{URL: w.s.CloneURL(), Token: w.token, Branch: at.Branch, Cache: dir},
			)
		},
		Clone: func(ctx context.Context, at config.Ledger) (*gitstore.Repo, string, error) {
			tip := w.s.Ref("refs/heads/" + at.Branch)
			if tip == "" {
				return nil, "", nil
			}
			repo, err := gitstore.Clone(
				ctx,
				w.s.CloneURL(),
				filepath.Join(w.TempDir(), "ledger"),
				gitstore.Options{Branch: at.Branch, Password: w.token},
			)
			return repo, tip, err
		},
		Runner: gate.Runner{
			Repository:  w.s.Name,
			ServerURL:   w.s.URL,
			Actor:       event.Sender,
			Ref:         w.ref,
			RunID:       w.runID,
			Attempt:     max(w.attempt, 1),
			Now:         w.s.Now(),
			WorkflowRef: w.s.Name + "/.github/workflows/referee.yml@refs/heads/main",
			WorkflowSHA: w.s.Ref("refs/heads/main"),
		}}
	r, err := j.Run(w.Context())
	w.calls = api.Calls()
	return r, err
}

// mustJob is a job that does its work.
func (w *world) mustJob(e githubtest.Event) *gate.Result {
	w.Helper()
	r, err := w.runJob(e)
	if err != nil {
		w.Fatalf("%s: %v", e.Name, err)
	}
	return r
}

// dispatchInputs are the inputs by which an admin signs off a pull request as it is now.
func (w *world) dispatchInputs(pull int64) map[string]any {
	w.Helper()
	c := w.newestCheck(w.s.Head(pull), comment.AuditCheck)
	inputs := map[string]any{
		"mode":   "sign-off",
		"pr":     fmt.Sprint(pull),
		"head":   w.s.Head(pull),
		"digest": c.ExternalID[:16],
	}
	if w.named != nil {
		delete(inputs, "head")
		delete(inputs, "digest")
		maps.Copy(inputs, w.named)
	}
	return inputs
}

// byHand is the job of a workflow that somebody starts by hand, with the record that GitHub keeps of the run.
func (w *world) byHand(pull int64, who string, inputs map[string]any) (*gate.Result, error) {
	w.Helper()
	if w.signer != "" {
		who = w.signer
	}
	title := fmt.Sprintf(
		"referee %v pr=%v head=%v digest=%v",
		inputs["mode"],
		inputs["pr"],
		inputs["head"],
		inputs["digest"],
	)
	w.runID = w.s.AddRun(
		githubtest.Run{Name: "referee", Event: "workflow_dispatch", DisplayTitle: title, Actor: who},
	) - 1
	return w.runJob(w.s.DispatchEvent(who, inputs))
}

func ruleTools() rulebook.Tools {
	return rulebook.Tools{
		Lint: func(s *referee.Sheet) (problems, warnings []string) {
			for _, p := range forge.Lint(s, "2026-11-21") {
				if !p.Warning {
					problems = append(problems, p.String())
				}
			}
			return problems, nil
		},
		Test: func(s *referee.Sheet) (string, []string) {
			r := forge.Test(s)
			var failures []string
			for _, f := range r.Failures {
				failures = append(failures, f.String())
			}
			return fmt.Sprintf("%d examples", r.Examples), failures
		},
		Turned: func(where string, c referee.Case, before, after *referee.Sheet) string {
			if t := forge.Turned(where, c, before, after); t != nil {
				return where + ": was " + t.Before + ", would be " + t.After
			}
			return ""
		},
	}
}

// sampleFiles is a run folder of testdata, as files below runs/.
func sampleFiles(t testing.TB, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := filepath.Join("..", "testdata", "runs", name)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(file)
		out[path.Join("runs", name, filepath.ToSlash(rel))] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// proposeRuns opens a pull request of the agent with the sample runs.
func (w *world) proposeRuns(branch string, runs ...string) int64 {
	w.Helper()
	files := map[string]string{}
	for _, r := range runs {
		for k, v := range sampleFiles(w, r) {
			files[k] = v
		}
	}
	return w.proposeFiles(branch, files)
}

func (w *world) proposeFiles(branch string, files map[string]string) int64 {
	w.s.Commit(branch, githubtest.Change{Files: files, Author: "agent"})
	return w.s.Open(githubtest.Pull{Head: branch, Author: "agent"})
}

// answers are what a reviewer of the sample runs says.
const answers = "Looks right.\n/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n"

// approvePull is an approving review, the trigger's run, and the job that follows it.
func (w *world) approvePull(pull int64, who, body string) (*gate.Result, error) {
	w.Helper()
	w.s.Review(pull, who, "APPROVED", body)
	return w.runReviewJob(pull)
}

func (w *world) runReviewJob(pull int64) (*gate.Result, error) {
	w.Helper()
	return w.runJob(w.s.RunEvent(w.s.AddRun(githubtest.Run{Pull: pull, Listed: true})))
}

// newestCheck is the newest run of a check on a commit.
func (w *world) newestCheck(sha, name string) githubtest.Check {
	w.Helper()
	all := w.s.Checks(sha)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Name == name {
			return all[i]
		}
	}
	w.Fatalf("no check %q on %.7s", name, sha)
	return githubtest.Check{}
}

// wantConclusions holds both checks of a pull request's head.
func (w *world) wantConclusions(pull int64, audit, signOff string) {
	w.Helper()
	head := w.s.Head(pull)
	if c := w.newestCheck(head, comment.AuditCheck); c.Conclusion != audit {
		w.Errorf("audit: %s (%s), want %s\n%s", c.Conclusion, c.Title, audit, c.Summary)
	}
	if c := w.newestCheck(head, comment.SignOffCheck); c.Conclusion != signOff {
		w.Errorf("sign-off: %s (%s), want %s\n%s", c.Conclusion, c.Title, signOff, c.Summary)
	}
}

// gateReview is the text of the gate's one review.
func (w *world) gateReview(pull int64) string {
	w.Helper()
	ids := w.s.ReviewsBy(pull, "github-actions[bot]")
	if len(ids) != 1 {
		w.Fatalf("%d reviews of the gate, want one", len(ids))
	}
	body, _ := w.s.ReviewBody(pull, ids[0])
	return body
}

// ledgerEntries are the ledger's, oldest first, after the whole of it was verified.
func (w *world) ledgerEntries() []ledger.Entry {
	w.Helper()
	tip := w.s.Ref("refs/heads/ledger")
	if tip == "" {
		return nil
	}
	repo, err := gitstore.OpenRepo(w.s.DirNow(), "")
	if err != nil {
		w.Fatal(err)
	}
	v, err := repo.Verify(w.Context(), tip, gitstore.VerifyOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range v.Problems {
		w.Error(p)
	}
	var out []ledger.Entry
	for e, err := range repo.Tree(w.Context(), tip).Receipts() {
		if err != nil {
			w.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// entryKinds are the kinds of the ledger's entries, in order.
func (w *world) entryKinds() string {
	w.Helper()
	var out []string
	for _, e := range w.ledgerEntries() {
		out = append(out, string(e.Receipt.Kind))
	}
	return strings.Join(out, " ")
}

func (w *world) wantKinds(want string) {
	w.Helper()
	if got := w.entryKinds(); got != want {
		w.Errorf("the ledger holds %q, want %q", got, want)
	}
}

// wantMatch holds a text to a pattern.
func (w *world) wantMatch(text, pattern string) {
	w.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		w.Errorf("nothing fits %q in:\n%s", pattern, text)
	}
}

// withSender is the event with another sender.
func withSender(t *testing.T, e githubtest.Event, login string) githubtest.Event {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(e.Payload, &o); err != nil {
		t.Fatal(err)
	}
	o["sender"].(map[string]any)["login"] = login
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	e.Payload = b
	return e
}

// forgeEntry appends an entry to the ledger that nobody approved, as a workflow with the job's token can: everything
// about it is in order but for the review, which does not exist.
func (w *world) forgeEntry() {
	w.Helper()
	store, err := gitstore.Open(w.s.DirNow(), gitstore.Options{Now: w.s.Now})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = store.Close() })
	r := *w.ledgerEntries()[0].Receipt
	a := *r.Approval
	a.Review.ID = 4711
	pull := *r.PullRequest
	pull.Number = 1
	r.Approval, r.PullRequest = &a, &pull
	r.Seq, r.ParentHash, r.Log, r.ID = 0, "", ledger.Log{}, ""
	r.IdempotencyKey = strings.Repeat("f", 64)
	if _, err := ledger.Append(w.Context(), store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
		error) {
		return ledger.Draft{Receipts: []ledger.Receipt{r}}, nil
	}); err != nil {
		w.Fatal(err)
	}
}
