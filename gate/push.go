package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// reconcilePush reconciles base with the ledger: each run that a push brings has a live receipt for its bytes, which
// gets its merged entry; a run without one (an admin went past the checks) is kept as unreceipted, fails the job, and
// is told in an issue.
func (j *Job) reconcilePush(ctx context.Context) (*Result, error) {
	e := j.Event
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok || strings.Trim(e.HeadSHA, "0") == "" {
		return ignoredResult("the push deletes %s, or %[1]s is not a branch", e.Ref), nil
	}
	rules, err := j.rulesFor(ctx, branch)
	if err != nil {
		return nil, err
	}
	if branch != e.DefaultBranch && !slices.Contains(rules.Config.Branches, branch) {
		return ignoredResult(
			"the branch %q is not gated: `branches` of the configuration lists %v",
			branch,
			rules.Config.Branches,
		), nil
	}
	steps, err := j.pushedSteps(ctx, e.Before, e.HeadSHA, e.Commits)
	if err != nil {
		return nil, err
	}
	r := &pushReconciler{j: j, branch: branch, pulls: map[int64]githubapi.PullRequest{}}
	if err := r.joinSteps(ctx, steps); err != nil {
		return nil, err
	}
	out, err := r.writeAndTell(ctx)
	if err == nil && r.rulebook { // what is green by the rules of before may not be by those of now
		err = j.decideOpenPulls(ctx, out)
	}
	return out, err
}

// baseStep is one commit on base, with the one before it.
type baseStep struct {
	before, commit string
	at             time.Time
	message        string
}

// maxSteps bounds the commits of one push that are looked at one by one.
const maxSteps = 500

// pushedSteps are the commits that a push brought, along first parents, oldest first. Where the commit before cannot be
// reached, as after a forced push, the push is one step.
func (j *Job) pushedSteps(ctx context.Context, before, after string, commits int) ([]baseStep, error) {
	repo, err := j.Work.Recent(ctx, after, min(commits, maxSteps)+2)
	if err != nil {
		return nil, err
	}
	var out []baseStep
	for c, err := range repo.Commits(ctx, after) {
		if err != nil || c.ID == before || len(out) > maxSteps {
			break // the end of what was fetched, or of what is new
		}
		s := baseStep{commit: c.ID, at: c.Time, message: c.Message}
		if len(c.Parents) > 0 {
			s.before = c.Parents[0]
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, brokenf("the pushed commit %.12s cannot be read", after)
	}
	if oldest := out[len(out)-1]; oldest.before != before {
		out = []baseStep{{before: before, commit: after, at: out[0].at, message: out[0].message}}
	}
	slices.Reverse(out)
	return out, nil
}

// stepAt is one commit on base as a step.
func (j *Job) stepAt(ctx context.Context, commit string) (baseStep, error) {
	repo, err := j.Work.Recent(ctx, commit, 2)
	if err != nil {
		return baseStep{}, err
	}
	for c, err := range repo.Commits(ctx, commit) {
		if err != nil {
			return baseStep{}, err
		}
		s := baseStep{commit: c.ID, at: c.Time, message: c.Message}
		if len(c.Parents) > 0 {
			s.before = c.Parents[0]
		}
		return s, nil
	}
	return baseStep{}, brokenf("the commit %.12s cannot be read", commit)
}

// pushReconciler is what a push comes to.
type pushReconciler struct {
	j       *Job
	branch  string
	pulls   map[int64]githubapi.PullRequest
	drafts  []ledger.Receipt
	sheets  [][]byte
	missing []string // runs without a receipt, for people
	runs    int

	rulebook bool // the push changes the configuration or a sheet
}

// joinSteps reconciles commits, the oldest first. The commits of one pull request are one step: when it was merged by
// rebasing, only what it comes to was signed off.
func (r *pushReconciler) joinSteps(ctx context.Context, steps []baseStep) error {
	var joined baseStep
	var of githubapi.PullRequest
	for _, s := range steps {
		brings, err := r.bringsRuns(ctx, s)
		if err != nil {
			return err
		}
		if !brings {
			continue
		}
		pull, err := r.pullOf(ctx, s)
		if err != nil {
			return err
		}
		if joined.commit != "" && pull.Number != 0 && pull.Number == of.Number {
			joined.commit, joined.at, joined.message = s.commit, s.at, s.message
			continue
		}
		if err := r.reconcileStep(ctx, joined, of); err != nil {
			return err
		}
		joined, of = s, pull
	}
	return r.reconcileStep(ctx, joined, of)
}

// bringsRuns reports whether a commit changes a run.
func (r *pushReconciler) bringsRuns(ctx context.Context, s baseStep) (bool, error) {
	if strings.Trim(s.before, "0") == "" {
		return false, nil // the first commit of a branch: what was there before the gate is not judged
	}
	plan, _, err := r.planOfStep(ctx, s)
	if err != nil {
		return false, err
	}
	r.rulebook = r.rulebook || len(plan.Rulebook) > 0
	return len(plan.Runs)+len(plan.Refusals) > 0, nil
}

// planOfStep is what a step changes, by the rules that were in force before it.
func (r *pushReconciler) planOfStep(ctx context.Context, s baseStep) (*audit.Plan, *Rules, error) {
	j := r.j
	if err := j.fetchTrees(ctx, s.before, s.commit); err != nil {
		return nil, nil, err
	}
	rules, err := j.rulesOf(j.trees[s.before], s.before)
	if err != nil {
		return nil, nil, err
	}
	plan, err := audit.MakePlan(j.trees[s.before], j.trees[s.commit], rules.Config)
	if err != nil {
		return nil, nil, brokenf("the files of the commit %.12s cannot be read: %v", s.commit, err)
	}
	return plan, rules, nil
}

// pullOf is the pull request by which a commit came to this branch; the zero one for a direct push. One that was merged
// into another branch does not count: what was signed for that branch was not signed for this one.
func (r *pushReconciler) pullOf(ctx context.Context, s baseStep) (none githubapi.PullRequest, err error) {
	numbers, err := r.j.API.PullRequestsOf(ctx, s.commit)
	if err != nil {
		return none, err
	}
	for _, n := range numbers {
		pull, ok := r.pulls[n]
		if !ok {
			if pull, err = r.j.API.PullRequest(ctx, n); err != nil {
				return none, err
			}
			r.pulls[n] = pull
		}
		if pull.Merged && pull.BaseRef == r.branch {
			return pull, nil
		}
	}
	return none, nil
}

func (r *pushReconciler) reconcileStep(ctx context.Context, s baseStep, pull githubapi.PullRequest) error {
	if s.commit == "" {
		return nil
	}
	j := r.j
	plan, rules, err := r.planOfStep(ctx, s)
	if err != nil {
		return err
	}
	for _, refusal := range plan.Refusals {
		r.missing = append(
			r.missing,
			fmt.Sprintf("%s, %s: %s", refusal.Path, r.describeOrigin(s, pull), refusal.Reason),
		)
	}
	if len(plan.Runs) == 0 {
		return nil
	}
	signed, err := r.signedIn(ctx, pull)
	if err != nil {
		return err
	}
	for _, run := range plan.Runs {
		r.runs++
		a := j.auditOnBase(ctx, j.trees[s.before], j.trees[s.commit], run, rules, r.whoBrought(pull))
		if a.Work == nil {
			r.missing = append(r.missing, fmt.Sprintf("%s, %s: %s", a.Dir, r.describeOrigin(s, pull), a.Refused))
			continue
		}
		r.draftMerged(a, s, pull, signed)
	}
	return nil
}

// signedIn are the sign-offs of a merged pull request that are live and that the reviews of now bear out.
func (r *pushReconciler) signedIn(ctx context.Context, pull githubapi.PullRequest) ([]ledger.Entry, error) {
	if pull.Number == 0 {
		return nil, nil
	}
	j := r.j
	at, err := j.verifiedLedger(ctx)
	if err != nil {
		return nil, err
	}
	reviews, err := j.API.Reviews(ctx, pull.Number)
	if err != nil {
		return nil, err
	}
	entries, err := j.entriesOfPull(ctx, at, pull.Number, reviews)
	if err != nil {
		return nil, err
	}
	online := verify.NewOnline(j.API, nil)
	online.Know(pull.Number, reviews)
	problems, err := verify.Approvals(ctx, entries, online)
	if err != nil {
		return nil, err
	}
	changed := func(e ledger.Entry) bool { // edited or dismissed, and no job has said so yet
		return slices.ContainsFunc(problems, func(p ledger.Problem) bool { return p.Seq == e.Receipt.Seq })
	}
	return slices.DeleteFunc(ledger.Live(entries), changed), nil
}

// draftMerged drafts the entry of one run on base.
func (r *pushReconciler) draftMerged(
	a audit.AuditedRun,
	s baseStep,
	pull githubapi.PullRequest,
	signed []ledger.Entry,
) {
	by := ledger.ObservedBy{Event: "push", Actor: r.whoBrought(pull), At: canonical.Time(s.at), SHA: s.commit}
	i := slices.IndexFunc(signed, func(e ledger.Entry) bool {
		return e.Receipt.Run.ID == a.Work.Run.ID && receipt.SubjectDigest(e.Receipt) == a.Work.Subject()
	})
	if i >= 0 {
		minted := signed[i]
		draft := r.j.lifecycleEntry(minted, ledger.Merged, minted.Receipt.PullRequest)
		draft.ObservedBy, draft.MintedAt = &by, by.At
		draft.IdempotencyKey = ledger.Key{
			Repository:  r.j.Event.RepositoryID,
			PullRequest: minted.Receipt.Pull(),
			Run:         a.Work.Run.ID,
			Kind:        ledger.Merged,
			Subject:     canonical.SHA256Hex([]byte(receipt.SubjectDigest(minted.Receipt) + " " + s.commit)),
		}.Digest()
		r.drafts = append(r.drafts, draft)
		return
	}
	r.missing = append(
		r.missing,
		fmt.Sprintf(
			"%s, %s: nobody signed off these bytes. Look at the run; then approve a pull request that brings it "+
				"again, or revert the commit",
			a.Dir,
			r.describeOrigin(s, pull),
		),
	)
	var where *ledger.PullRequest
	if pull.Number > 0 {
		where = &ledger.PullRequest{Number: pull.Number, HeadSHA: s.commit, BaseSHA: s.before}
	}
	draft, err := receipt.Observed(*a.Work, ledger.Unreceipted, by, r.j.receiptPlace(where))
	if err != nil {
		return // the issue and the failure say it; a cook or incident that says too little makes no entry
	}
	r.drafts = append(r.drafts, draft)
	if a.Work.Sheet.Origin == "library" {
		r.sheets = append(r.sheets, a.Work.Sheet.Canonical)
	}
}

// whoBrought brought a commit to base: whoever merged its pull request, or sent the push.
func (r *pushReconciler) whoBrought(pull githubapi.PullRequest) string {
	return firstKnown(pull.MergedBy, r.j.Event.Sender)
}

// describeOrigin says how a commit came to base, and by whom.
func (r *pushReconciler) describeOrigin(s baseStep, pull githubapi.PullRequest) string {
	if pull.Number == 0 {
		return fmt.Sprintf("pushed to %s by %s as %.12s", r.branch, r.whoBrought(pull), s.commit)
	}
	return fmt.Sprintf("merged to %s from #%d by %s as %.12s", r.branch, pull.Number, r.whoBrought(pull), s.commit)
}

// writeAndTell writes the entries and tells people of what has no receipt.
func (r *pushReconciler) writeAndTell(ctx context.Context) (*Result, error) {
	out := &Result{
		Word:     "reconciled",
		Failed:   len(r.missing) > 0,
		Messages: []string{fmt.Sprintf("%d runs reached %s, %d without a receipt", r.runs, r.branch, len(r.missing))},
	}
	out.Messages = append(out.Messages, r.missing...)
	if err := r.appendDrafts(ctx); err != nil {
		return nil, err
	}
	if len(r.missing) == 0 {
		return out, nil
	}
	return out, r.j.openIssue(
		ctx,
		"Runs on "+r.branch+" without a receipt",
		"These runs reached the branch without passing the gate.",
		r.missing,
	)
}

// appendDrafts writes the entries.
func (r *pushReconciler) appendDrafts(ctx context.Context) error {
	if len(r.drafts) == 0 {
		return nil
	}
	at, err := r.j.verifiedLedger(ctx)
	if err != nil {
		return err
	}
	if err := r.j.verifyTail(ctx, at, 0, nil); err != nil {
		return err
	}
	if _, err := r.j.appendEntries(ctx, r.drafts, r.sheets); err != nil {
		return fmt.Errorf("writing to the ledger: %w", err)
	}
	return nil
}
