package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/report"
)

// scheduledPulls is how many open pull requests one scheduled look goes through: the API grants 1,000 requests an hour
// to all jobs of a repository together.
const scheduledPulls = 50

// runSchedule looks at what no event tells of: the whole chain, reviews that changed while no job ran, sign-offs and
// merges whose job was cancelled, and agents that have gone dark. It heals each pull request by itself, and then tells
// in an issue what is left.
func (j *Job) runSchedule(ctx context.Context) (*Result, error) {
	rules, err := j.rulesFor(ctx, j.Event.DefaultBranch)
	if err != nil {
		return nil, err
	}
	r := &Result{Word: "verified"}
	if err := j.decideOpenPulls(ctx, r); err != nil {
		return nil, err
	}
	seen, err := j.verifyWholeLedger(ctx, rules)
	if err != nil {
		return nil, err
	}
	if j.healPulls(ctx, r, seen) {
		if seen, err = j.verifyWholeLedger(ctx, rules); err != nil {
			return nil, err
		}
	}
	r.Messages = append(r.Messages, seen.message)
	if wrong := seen.problemTexts(); len(wrong) > 0 {
		r.Word, r.Failed, r.Messages = "drift", true, append(r.Messages, wrong...)
		if err := j.openIssue(ctx, "The ledger does not verify", "A scheduled verification found this and could "+
			"not put it right by itself. `referee ledger verify --online` shows it with what to do.",
			wrong); err != nil {
			return nil, err
		}
	}
	return r, j.reportSilentAgents(ctx, rules, r)
}

// ledgerCheck is what a verification of the whole ledger has come to.
type ledgerCheck struct {
	problems []ledger.Problem
	pulls    map[int64]int64 // of the entries that problems are about: seq to pull request
	merges   []ledger.MergeRecord
	message  string
}

// problemTexts words the problems.
func (s *ledgerCheck) problemTexts() []string {
	var out []string
	for _, p := range s.problems {
		out = append(out, p.String())
	}
	return out
}

// verifyWholeLedger holds the whole ledger to itself and to GitHub's record.
func (j *Job) verifyWholeLedger(ctx context.Context, rules *Rules) (*ledgerCheck, error) {
	repo, commit, err := j.Clone(ctx, j.ledgerPlace)
	if err != nil {
		return nil, fmt.Errorf("fetching the ledger: %w", err)
	}
	if commit == "" {
		return &ledgerCheck{message: "the ledger has not begun yet"}, nil
	}
	v, err := repo.Verify(ctx, commit, gitstore.VerifyOptions{})
	if err != nil {
		return nil, fmt.Errorf("verifying the ledger: %w", err)
	}
	s := &ledgerCheck{problems: v.Problems, pulls: map[int64]int64{}}
	if len(s.problems) == 0 {
		if s.problems, s.merges, err = j.compareWithGitHub(ctx, repo, commit, rules); err != nil {
			return nil, err
		}
	}
	if len(s.problems) > 0 {
		for e, err := range repo.Tree(ctx, commit).Receipts() {
			if err != nil {
				break // what cannot be read is among the problems
			}
			if slices.ContainsFunc(s.problems, func(p ledger.Problem) bool { return p.Seq == e.Receipt.Seq }) {
				s.pulls[e.Receipt.Seq] = e.Receipt.Pull()
			}
		}
	}
	s.message = fmt.Sprintf(
		"the ledger holds %d entries, tip %.12s: %d problems at L1 and L4",
		v.Head.Count,
		v.Head.Tip,
		len(s.problems),
	)
	return s, nil
}

// compareWithGitHub holds the ledger's approvals and merges to GitHub's record (L4).
func (j *Job) compareWithGitHub(
	ctx context.Context,
	repo *gitstore.Repo,
	commit string,
	rules *Rules,
) ([]ledger.Problem, []ledger.MergeRecord, error) {
	base, err := j.Work.History(ctx, rules.Commit)
	if err != nil {
		return nil, nil, fmt.Errorf("fetching base: %w", err)
	}
	var merges []ledger.MergeRecord
	online := verify.NewOnline(j.API, func(ctx context.Context) (_ []ledger.MergeRecord, err error) {
		merges, err = j.mergesSinceGenesis(ctx, base, rules, repo, commit)
		return merges, err
	})
	problems, err := ledger.VerifyOnline(ctx, repo.Tree(ctx, commit).Receipts(), online)
	return problems, merges, err
}

// healPulls does what a job has missed, and reports whether it wrote anything: it takes back sign-offs whose review has
// changed since, also of pull requests that are closed, and reconciles merges. What goes wrong for one pull request is
// said and does not keep it from the next.
func (j *Job) healPulls(ctx context.Context, r *Result, seen *ledgerCheck) bool {
	tried := false
	try := func(what string, do func() (*Result, error)) {
		tried = true
		one, err := do()
		if err != nil {
			r.Messages, r.Failed = append(r.Messages, fmt.Sprintf("%s: %v", what, err)), true
			return
		}
		r.Messages = append(r.Messages, fmt.Sprintf("%s: %s", what, one.Word))
	}
	var pulls []int64
	unreceipted := false
	for _, p := range seen.problems {
		n := seen.pulls[p.Seq]
		if p.Code == ledger.CodeReviewChanged && n > 0 && !slices.Contains(pulls, n) && len(pulls) < scheduledPulls {
			pulls = append(pulls, n)
		}
		unreceipted = unreceipted || p.Code == ledger.CodeUnreceipted
	}
	for _, n := range pulls {
		try(fmt.Sprintf("pull request %d", n), func() (*Result, error) { return j.decidePull(ctx, n) })
	}
	if unreceipted {
		try("merges", func() (*Result, error) { return j.reconcileLate(ctx, seen.merges) })
	}
	return tried
}

// reconcileLate does for merges what their push would have done.
func (j *Job) reconcileLate(ctx context.Context, merges []ledger.MergeRecord) (*Result, error) {
	var steps []baseStep
	for _, m := range merges[max(0, len(merges)-scheduledPulls):] {
		one, err := j.stepAt(ctx, m.SHA)
		if err != nil {
			return nil, err
		}
		steps = append(steps, one)
	}
	r := &pushReconciler{j: j, branch: j.Event.DefaultBranch, pulls: map[int64]githubapi.PullRequest{}}
	if err := r.joinSteps(ctx, steps); err != nil {
		return nil, err
	}
	return r.writeAndTell(ctx)
}

// mergesSinceGenesis are the commits on base that brought runs since the ledger began: what was there before is
// nobody's to sign off.
func (j *Job) mergesSinceGenesis(
	ctx context.Context,
	base *gitstore.Repo,
	rules *Rules,
	repo *gitstore.Repo,
	commit string,
) ([]ledger.MergeRecord, error) {
	until, err := j.genesisBase(ctx, repo, commit)
	if err != nil {
		return nil, err
	}
	var patterns []func(string) bool
	for _, rule := range rules.Config.Runs {
		patterns = append(patterns, audit.Manifests(rule.Path))
	}
	isRun := func(manifest string) bool {
		for _, matches := range patterns {
			if matches(manifest) {
				return true
			}
		}
		return false
	}
	return base.Merges(
		ctx,
		gitstore.Base{
			Commit: rules.Commit,
			Until:  until,
			IsRun:  isRun,
			Read:   audit.MergedRun(j.Embedded, rules.Config.Sheets),
		},
	)
}

// genesisBase is the commit on base that the ledger began on, as its first entry says; "" where that does not say.
func (j *Job) genesisBase(ctx context.Context, repo *gitstore.Repo, commit string) (string, error) {
	for e, err := range repo.Tree(ctx, commit).Receipts() {
		if err != nil {
			return "", err
		}
		if e.Receipt.PullRequest != nil {
			return e.Receipt.PullRequest.BaseSHA, nil
		}
		break
	}
	return "", nil
}

// decideOpenPulls looks at the open pull requests again: a job that was cancelled has left a sign-off unminted, or a
// dismissal unsaid. One that cannot be judged fails by itself, and does not keep the others from being healed.
func (j *Job) decideOpenPulls(ctx context.Context, r *Result) error {
	open, err := j.API.OpenPullRequests(ctx)
	if err != nil {
		return err
	}
	for _, n := range open[:min(len(open), scheduledPulls)] {
		one, err := j.decidePull(ctx, n)
		if err != nil {
			r.Messages = append(r.Messages, fmt.Sprintf("pull request %d: %v", n, err))
			r.Failed = true
			continue
		}
		r.Messages = append(r.Messages, fmt.Sprintf("pull request %d: %s", n, one.Word))
	}
	if len(open) > scheduledPulls {
		r.Messages = append(
			r.Messages,
			fmt.Sprintf("%d more open pull requests were not checked", len(open)-scheduledPulls),
		)
	}
	return nil
}

// reportSilentAgents reports listed agents without a sign of life.
func (j *Job) reportSilentAgents(ctx context.Context, rules *Rules, r *Result) error {
	if rules.Config.Governance.HeartbeatMinutes == 0 {
		return nil
	}
	at, err := j.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	history := governance.NewHistory(rules.Config, 0, nil)
	if err := j.feedHistory(ctx, at, history, true); err != nil {
		return err
	}
	dark := governance.SilentAgents(rules.Config, history, j.Runner.Now)
	if len(dark) == 0 {
		return nil
	}
	var lines []string
	for _, v := range dark {
		r.Messages = append(r.Messages, v.Reason)
		lines = append(lines, v.Reason)
	}
	body := "These agents are listed in the configuration and have submitted nothing for longer than " +
		"heartbeat_minutes. An incident is drafted for each in the job's summary."
	r.Drafts = append(r.Drafts, dark...)
	return j.openIssue(ctx, "Agents have gone dark", body, lines)
}

// label marks the issues that the gate opens.
const label = "referee"

// openIssue opens an issue, once: an open one of this title gets a comment where it says something else, and nothing
// where it says the same.
func (j *Job) openIssue(ctx context.Context, title, intro string, lines []string) error {
	var b strings.Builder
	b.WriteString(intro + "\n\n")
	for i, l := range lines {
		if i == 100 {
			fmt.Fprintf(&b, "\nand %d more\n", len(lines)-i)
			break
		}
		b.WriteString("- " + report.Code(l, 500) + "\n")
	}
	body := b.String()
	issues, err := j.API.Issues(ctx, label)
	if err != nil {
		return err
	}
	for _, have := range issues {
		if have.State != "open" || have.Title != title {
			continue
		}
		if strings.TrimSpace(strings.ReplaceAll(have.Body, "\r\n", "\n")) == strings.TrimSpace(body) {
			return nil
		}
		return j.API.CommentIssue(ctx, have.Number, body)
	}
	_, err = j.API.CreateIssue(ctx, githubapi.Issue{Title: title, Body: body, Labels: []string{label}})
	return err
}
