package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// Job is one delivery of an event with everything that it may reach. Run does what gate.md says of the event, and is
// idempotent: the same event twice leaves one check, one review, one receipt.
type Job struct {
	Event    *Event
	API      *githubapi.Client
	Work     *gitstore.Work // the repository's commits, as objects
	Store    ledger.Store   // opened by Open once the configuration is known, if it is nil
	Embedded fs.FS          // the library's sheets
	Tools    rulebook.Tools
	Papers   []ledger.File // what a new ledger's first commit also holds
	// Open connects to the ledger that the default branch's configuration names.
	Open func(config.Ledger) (ledger.Store, error)
	// Clone fetches that ledger as a whole and gives it with its newest commit, "" where there is none yet.
	Clone   func(context.Context, config.Ledger) (*gitstore.Repo, string, error)
	Runner  Runner
	Options Options

	trees         map[string]fs.FS // by commit
	ledgerPlace   config.Ledger    // where the ledger is
	verifiedState string           // the ledger's state that was verified last …
	hasVerified   bool             // … if any was
}

// Runner is what the runner says of the job. Now dates what no record dates.
type Runner struct {
	Repository  string // owner/name
	ServerURL   string
	Actor       string
	Ref         string // refs/heads/main
	WorkflowRef string
	WorkflowSHA string
	RunID       int64
	Attempt     int64
	Now         time.Time
}

// Options are the action's inputs (formats.md). None of them can make the gate laxer than the configuration on base.
type Options struct {
	Mode     string // auto, audit, verify, replay, dry-run, sign-off
	Pull     int64  // for workflow_dispatch, where the event names none
	SHA      string // audited instead of the head that the event names; it must be that head
	Config   string // path of the configuration on base; "" is ConfigPath
	FailOn   string // may only be stricter than the configuration
	Commands string // of a self-sign-off: what a review's body would say
}

// Result is how a job ended.
type Result struct {
	Word     string // signed, awaiting-sign-off, failed, no-runs, ignored, verified … : the output "result"
	Failed   bool   // the rules, or the chain, say no
	Outcome  *outcome.Outcome
	Messages []string               // what the log says
	Drafts   []governance.Violation // incidents that a scheduled look has drafted
}

// Broken is returned where the gate could not do its work for a reason that somebody can mend: the configuration, a
// sheet, a permission. It says what to do, in one sentence, and is never a pass.
type Broken struct{ Reason string }

// Error gives the sentence.
func (e *Broken) Error() string { return e.Reason }

func brokenf(format string, args ...any) error { return &Broken{fmt.Sprintf(format, args...)} }

// ignoredResult ends a job that there is nothing to do for.
func ignoredResult(format string, args ...any) *Result {
	return &Result{Word: "ignored", Messages: []string{fmt.Sprintf(format, args...)}}
}

// Run does what the event asks for.
func (j *Job) Run(ctx context.Context) (*Result, error) {
	j.trees = map[string]fs.FS{}
	e := j.Event
	if m := j.Options.Mode; m != "" && m != "auto" && m != "audit" && m != "dry-run" || e.Name == "workflow_dispatch" {
		if j.Options.Pull == 0 {
			j.Options.Pull = e.Pull
		}
		return j.runDispatch(ctx)
	}
	switch e.Name {
	case "pull_request", "pull_request_target":
		return j.pullEvent(ctx)
	case "pull_request_review":
		return j.decidePull(ctx, e.Pull)
	case "workflow_run":
		return j.workflowRun(ctx)
	case "merge_group":
		return j.mergeGroup(ctx)
	case "push":
		return j.reconcilePush(ctx)
	case "schedule":
		return j.runSchedule(ctx)
	}
	return ignoredResult("the gate does not act on the event %q; it acts on %v", e.Name, Events), nil
}

// pullActions are those of pull_request that change what is audited, or who may sign.
var pullActions = []string{"opened", "synchronize", "reopened", "ready_for_review", "edited"}

func (j *Job) pullEvent(ctx context.Context) (*Result, error) {
	switch e := j.Event; {
	case slices.Contains(pullActions, e.Action):
		return j.decidePull(ctx, e.Pull)
	case e.Action == "closed":
		return j.withdrawClosedPull(ctx, e.Pull)
	default:
		return ignoredResult("a pull request that was %q is not audited again", e.Action), nil
	}
}

// workflowRun follows the trigger that has no rights of its own to its pull requests. GitHub names none of a fork's:
// they are found by branch.
func (j *Job) workflowRun(ctx context.Context) (_ *Result, err error) {
	e := j.Event
	if e.RunEvent != "pull_request_review" {
		return ignoredResult("the workflow run %d was started by %q, not by a review", e.RunID, e.RunEvent), nil
	}
	pulls := e.Pulls
	if len(pulls) == 0 && e.HeadBranch != "" {
		if pulls, err = j.API.OpenPullRequestsFrom(ctx, ownerOf(e.HeadRepo), e.HeadBranch); err != nil {
			return nil, err
		}
	}
	if len(pulls) == 0 { // the review of a pull request that is closed, and was merged perhaps
		if pulls, err = j.API.PullRequestsOf(ctx, e.HeadSHA); err != nil {
			return nil, err
		}
	}
	if len(pulls) == 0 {
		return ignoredResult("no pull request belongs to the workflow run %d", e.RunID), nil
	}
	return j.decideEach(ctx, pulls)
}

// decideEach does several pull requests; the worst of them is the job's.
func (j *Job) decideEach(ctx context.Context, pulls []int64) (*Result, error) {
	var worst *Result
	var failures error
	for _, n := range pulls {
		r, err := j.decidePull(ctx, n)
		if err != nil {
			failures = errors.Join(failures, fmt.Errorf("pull request %d: %w", n, err))
			continue
		}
		if worst == nil || r.Failed && !worst.Failed {
			if worst != nil {
				r.Messages = append(worst.Messages, r.Messages...)
			}
			worst = r
		} else {
			worst.Messages = append(worst.Messages, r.Messages...)
		}
	}
	return worst, failures
}

// treeAt is a commit's files. What is fetched together should be asked for together, with fetch.
func (j *Job) treeAt(ctx context.Context, commit string) (fs.FS, error) {
	if t, ok := j.trees[commit]; ok {
		return t, nil
	}
	if err := j.fetchTrees(ctx, commit); err != nil {
		return nil, err
	}
	return j.trees[commit], nil
}

func (j *Job) fetchTrees(ctx context.Context, commits ...string) error {
	repo, err := j.Work.Fetch(ctx, commits...)
	if err != nil {
		return err
	}
	for _, id := range commits {
		if j.trees[id], err = repo.TreeFS(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// receiptPlace is where an entry of this job is minted.
func (j *Job) receiptPlace(pull *ledger.PullRequest) receipt.Place {
	p := receipt.Place{
		Repository:  ledger.Repository{ID: j.Event.RepositoryID, Name: j.Runner.Repository},
		PullRequest: pull,
	}
	p.Org = &ledger.Org{Name: ownerOf(j.Runner.Repository)}
	if j.Runner.WorkflowSHA != "" {
		p.Workflow = &ledger.Workflow{
			Ref:        j.Runner.WorkflowRef,
			SHA:        j.Runner.WorkflowSHA,
			RunID:      j.Runner.RunID,
			RunAttempt: j.Runner.Attempt,
			Event:      j.Event.Name,
		}
	}
	return p
}
