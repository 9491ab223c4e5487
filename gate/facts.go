package gate

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// pullFacts is the first step: a pull request as the API gave it, with the rules of its base, the commit that it is
// compared with, and its reviews.
type pullFacts struct {
	job       *Job
	pr        githubapi.PullRequest
	rules     *Rules
	mergeBase string
	reviews   []githubapi.Review
}

// readFacts reads what is judged and what judges: the rules of base, the commits of the pull request, and its reviews.
func (j *Job) readFacts(ctx context.Context, pr githubapi.PullRequest) (pullFacts, error) {
	f := pullFacts{job: j, pr: pr}
	var err error
	if f.rules, err = j.rulesFor(ctx, pr.BaseRef); err != nil {
		return f, err
	}
	base, err := j.Work.Tip(ctx, "refs/heads/"+pr.BaseRef)
	if err != nil {
		return f, err
	}
	if base == "" {
		base = pr.BaseSHA // the base branch was deleted
	}
	if f.mergeBase, err = j.findMergeBase(ctx, base, pr.HeadSHA); err != nil {
		return f, err
	}
	if err := j.fetchTrees(ctx, f.mergeBase, pr.HeadSHA); err != nil {
		return f, fmt.Errorf("reading the pull request's commits: %w", err)
	}
	f.reviews, err = j.API.Reviews(ctx, pr.Number)
	return f, err
}

// findMergeBase is the commit from which a pull request is looked at: what the commits themselves prove, or else what
// GitHub says. Where git's own protocol fails, GitHub is asked too.
func (j *Job) findMergeBase(ctx context.Context, base, head string) (string, error) {
	if id, ok, err := j.Work.MergeBase(ctx, base, head); ok && err == nil {
		return id, nil
	}
	return j.API.MergeBase(ctx, base, head)
}

// pullRef is the pull request as an entry of the ledger names it.
func (f pullFacts) pullRef() *ledger.PullRequest {
	return &ledger.PullRequest{Number: f.pr.Number, NodeID: f.pr.NodeID, HeadSHA: f.pr.HeadSHA, BaseSHA: f.rules.Commit}
}
