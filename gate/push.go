package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/ledger"
)

// push reconciles base with the ledger: each run that a push brings has a live receipt for its bytes, which gets its merged entry; a run without
// one (an admin went past the checks) is kept as unreceipted, fails the job, and is told in an issue.
func (j *Job) push(ctx context.Context) (*Result, error) {
	e := j.Event
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok || strings.Trim(e.HeadSHA, "0") == "" {
		return ignored("the push is to %s, which is no branch, or deletes it", e.Ref), nil
	}
	rules, err := j.rulesFor(ctx, branch)
	if err != nil {
		return nil, err
	}
	if branch != e.DefaultBranch && !slices.Contains(rules.Config.Branches, branch) {
		return ignored("the branch %q is not gated: `branches` of the configuration lists %v", branch, rules.Config.Branches), nil
	}
	steps, err := j.steps(ctx, e.Before, e.HeadSHA, e.Commits)
	if err != nil {
		return nil, err
	}
	r := &reconciled{j: j}
	for _, s := range steps {
		if err := r.step(ctx, s); err != nil {
			return nil, err
		}
	}
	return r.finish(ctx)
}

// step is one commit on base, with the one before it.
type step struct {
	before, commit string
	at             time.Time
	message        string
}

// maxSteps bounds the commits of one push that are looked at one by one.
const maxSteps = 500

// steps are the commits that a push brought, along first parents, oldest first. Where the commit before cannot be reached, as after a forced push,
// the push is one step.
func (j *Job) steps(ctx context.Context, before, after string, commits int) ([]step, error) {
	repo, err := j.Work.Recent(ctx, after, min(commits, maxSteps)+2)
	if err != nil {
		return nil, err
	}
	var out []step
	for c, err := range repo.Commits(ctx, after) {
		if err != nil || c.ID == before || len(out) > maxSteps {
			break // the end of what was fetched, or of what is new
		}
		s := step{commit: c.ID, at: c.Time, message: c.Message}
		if len(c.Parents) > 0 {
			s.before = c.Parents[0]
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, broken("the pushed commit %.12s cannot be read", after)
	}
	if oldest := out[len(out)-1]; oldest.before != before {
		out = []step{{before: before, commit: after, at: out[0].at, message: out[0].message}}
	}
	slices.Reverse(out)
	return out, nil
}

// reconciled is what a push comes to.
type reconciled struct {
	j       *Job
	drafts  []ledger.Receipt
	sheets  [][]byte
	missing []string // runs without a receipt, for people
	runs    int
}

func (r *reconciled) step(ctx context.Context, s step) error {
	j := r.j
	if strings.Trim(s.before, "0") == "" {
		return nil // the first commit of a branch: what was there before the gate is not judged
	}
	if err := j.fetch(ctx, s.before, s.commit); err != nil {
		return err
	}
	rules, err := j.rulesOf(j.trees[s.before], s.before)
	if err != nil {
		return err
	}
	plan, err := MakePlan(j.trees[s.before], j.trees[s.commit], rules.Config)
	if err != nil {
		return broken("the commit %.12s cannot be looked through: %v", s.commit, err)
	}
	for _, refusal := range plan.Refusals {
		r.missing = append(r.missing, fmt.Sprintf("%s of %.12s: %s", refusal.Path, s.commit, refusal.Reason))
	}
	if len(plan.Runs) == 0 {
		return nil
	}
	pulls, err := j.API.PullRequestsOf(ctx, s.commit)
	if err != nil {
		return err
	}
	at, err := j.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	for _, run := range plan.Runs {
		r.runs++
		a := j.examineOn(ctx, j.trees[s.before], j.trees[s.commit], run, rules)
		if a.Work == nil {
			r.missing = append(r.missing, fmt.Sprintf("%s of %.12s: %s", a.Dir, s.commit, a.Refused))
			continue
		}
		if err := r.run(ctx, at, a, s, pulls); err != nil {
			return err
		}
	}
	return nil
}

// run drafts the entry of one run on base.
func (r *reconciled) run(ctx context.Context, at ledger.Snapshot, a Audited, s step, pulls []int64) error {
	pull := int64(0)
	if len(pulls) > 0 {
		pull = pulls[0]
	}
	receipt, err := r.j.receiptFor(ctx, at, pull, *a.Work)
	if err != nil {
		return err
	}
	by := ledger.ObservedBy{Event: "push", Actor: r.j.Event.Sender, At: stamp(s.at), SHA: s.commit}
	if receipt != nil {
		draft := r.j.about(*receipt, ledger.Merged, receipt.Receipt.PullRequest)
		draft.ObservedBy, draft.MintedAt = &by, by.At
		draft.IdempotencyKey = ledger.Key{Repository: r.j.Event.RepositoryID, PullRequest: receipt.Receipt.Pull(), Run: a.Work.Run.ID, Kind: ledger.Merged,
			Subject: shaOf([]byte(subjectOf(receipt.Receipt) + " " + s.commit))}.Digest()
		r.drafts = append(r.drafts, draft)
		return nil
	}
	r.missing = append(r.missing, fmt.Sprintf("%s, on base since %.12s, has no receipt for its bytes", a.Dir, s.commit))
	var where *ledger.PullRequest
	if pull > 0 {
		where = &ledger.PullRequest{Number: pull, HeadSHA: s.commit, BaseSHA: s.before}
	}
	draft, err := Observed(*a.Work, ledger.Unreceipted, by, r.j.place(where))
	if err != nil {
		return nil // the issue and the failure say it; a cook or incident that says too little makes no entry
	}
	r.drafts = append(r.drafts, draft)
	if a.Work.Sheet.Origin == "library" {
		r.sheets = append(r.sheets, a.Work.Sheet.Canonical)
	}
	return nil
}

// finish writes the entries and tells people of what has no receipt.
func (r *reconciled) finish(ctx context.Context) (*Result, error) {
	out := &Result{Word: "reconciled", Failed: len(r.missing) > 0, Messages: []string{fmt.Sprintf("%d runs came to base, %d without a receipt", r.runs, len(r.missing))}}
	out.Messages = append(out.Messages, r.missing...)
	if len(r.drafts) > 0 {
		at, err := r.j.Store.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if err := r.j.trusted(ctx, at, 0, nil); err != nil {
			return nil, err
		}
		if _, err := r.j.append(ctx, r.drafts, r.sheets); err != nil {
			return nil, fmt.Errorf("writing to the ledger: %w", err)
		}
	}
	if len(r.missing) == 0 {
		return out, nil
	}
	return out, r.j.tell(ctx, "Runs on base without a receipt", "These runs came to base past the gate. Review each, and sign it off with a pull request, or take it back.", r.missing)
}
