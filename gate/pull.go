package gate

import (
	"context"
	"errors"

	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
)

// decidePull audits an open pull request as it is now, works out who has signed, writes what the ledger has to say, and
// posts it. An older green sign-off is turned back before anything is read that may fail. Where the work cannot be
// done, both checks fail and say why.
func (j *Job) decidePull(ctx context.Context, number int64) (*Result, error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	if sha := j.Options.SHA; sha != "" && sha != pr.HeadSHA {
		return nil, brokenf(
			"the input sha is %.12s, but the head of pull request %d is now %.12s: the head is audited",
			sha,
			number,
			pr.HeadSHA,
		)
	}
	if pr.State != "open" {
		return j.followClosedPull(ctx, pr)
	}
	checks := j.checksOn(pr.HeadSHA, number)
	posted, err := j.throughTheSteps(ctx, pr, checks, nil)
	if err != nil {
		return nil, errors.Join(err, checks.postBroken(ctx, err))
	}
	return posted.jobResult(), nil
}

// throughTheSteps is the way of an open pull request. Each step takes what the one before it gives and changes none of
// it. byHand is nil, or what an admin who signs off by hand adds between the receipts and the post.
func (j *Job) throughTheSteps(ctx context.Context, pr githubapi.PullRequest, checks *headChecks,
	byHand func(context.Context, signedPull) (signedPull, error)) (postedPull, error) {
	if err := checks.turnBackGreen(ctx); err != nil {
		return postedPull{}, err
	}
	facts, err := j.readFacts(ctx, pr)
	if err != nil {
		return postedPull{}, err
	}
	audited, err := facts.auditRuns(ctx)
	if err != nil {
		return postedPull{}, err
	}
	judged, err := audited.judgeReviews(ctx)
	if err != nil {
		return postedPull{}, err
	}
	signed, err := judged.writeEntriesAndReceipts(ctx, checks)
	if err != nil {
		return postedPull{}, err
	}
	if byHand != nil {
		if signed, err = byHand(ctx, signed); err != nil {
			return postedPull{}, err
		}
	}
	return signed.postOutcome(ctx, checks)
}

// viewPull reads a pull request and decides about it as decidePull does, and writes nothing: whether it is signed off
// now, for what depends on that. What is not in the ledger yet is not signed off.
func (j *Job) viewPull(ctx context.Context, number int64) (none signedPull, err error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return none, err
	}
	if pr.State != "open" {
		return none, brokenf("pull request %d is %s", number, pr.State)
	}
	facts, err := j.readFacts(ctx, pr)
	if err != nil {
		return none, err
	}
	audited, err := facts.auditRuns(ctx)
	if err != nil {
		return none, err
	}
	judged, err := audited.judgeReviews(ctx)
	if err != nil {
		return none, err
	}
	signing, blocked := judged.draftReceipts()
	judged.out.Blocked = append(judged.out.Blocked, blocked...)
	if signed := (signedPull{judged}); len(judged.held.withoutEntry(signing)) > 0 {
		return signed, nil
	}
	return judged.confirmSigned(ctx, signing)
}

// newOutcome begins an outcome with what the job knows of itself.
func (j *Job) newOutcome(head string, number int64) outcome.Outcome {
	direct := j.Event.Name == "pull_request" || j.Event.Name == "pull_request_review"
	return outcome.Outcome{
		Repository: j.Runner.Repository,
		ServerURL:  j.Runner.ServerURL,
		RunID:      j.Runner.RunID,
		Attempt:    j.Runner.Attempt,
		Direct:     direct,
		Pull:       number,
		Head:       head,
	}
}
