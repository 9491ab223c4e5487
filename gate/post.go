package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
)

// postedPull is the fifth step: what was posted, and what was not.
type postedPull struct{ out outcome.Outcome }

// posting is the post while it goes on: what could not be posted is added to the outcome, because later texts say so.
type posting struct {
	signedPull
	checks *headChecks
}

// postOutcome compares the pull request with the others of the same head and writes the two checks and the review.
func (p signedPull) postOutcome(ctx context.Context, checks *headChecks) (postedPull, error) {
	p.out.Siblings = p.judgeSiblings(ctx)
	w := &posting{signedPull: p, checks: checks}
	err := w.postAll(ctx)
	return postedPull{w.out}, err
}

// postAll writes the two checks and the review. What the token may not write is left out, and said: the job's own
// conclusion, the annotations of the log, the summary and the report file still carry the verdict (the ladder of
// gate.md). Where there is no review, the checks carry all.
func (p *posting) postAll(ctx context.Context) error {
	if own := slices.DeleteFunc(p.ownReviews(p.reviews), isPending); len(own) > 0 {
		p.out.ReviewID = own[0].ID
	}
	p.out.NoReview = p.out.ReviewID == 0 && p.out.Idle() || p.story.Viewer == "" // as postReview has it
	app, err := p.postChecks(ctx)
	if err = p.noteRefused("the checks", err); err != nil {
		return err
	}
	refused := p.postReview(ctx, app)
	if err := p.noteRefused("the review", refused); err != nil {
		return err
	}
	if refused != nil && app != "" {
		p.out.NoReview = true
		if p.checks.runs, err = p.job.API.Checks(ctx, p.pr.HeadSHA); err == nil { // with those of just now
			_, err = p.postChecks(ctx)
		}
		if err = p.noteRefused("the details in the checks", err); err != nil {
			return err
		}
	}
	if p.rules.Config.Comments.Inline && app != "" && p.pr.State == "open" {
		return p.noteRefused("the inline comments", p.postInline(ctx, app))
	}
	return nil
}

// noteRefused takes a refused write for a step down the ladder, and every other error for one.
func (p *posting) noteRefused(what string, err error) error {
	if githubapi.IsForbidden(err) {
		p.out.NotPosted = append(p.out.NotPosted, fmt.Sprintf("%s: the token may not write them (%v)", what, err))
		return nil
	}
	return err
}

// postChecks writes both checks. app is whose they are.
func (p *posting) postChecks(ctx context.Context) (app string, err error) {
	app, stale, err := p.checks.postBoth(ctx, &p.out, p.rules.Config.Comments.Annotations)
	p.out.StaleGreen = p.out.StaleGreen || stale
	return app, err
}

// jobResult is how the job ends. A sign-off check that could not be written, while an older green one may stand, is a
// failure.
func (p postedPull) jobResult() *Result {
	r := &Result{Word: p.out.Result(), Failed: !p.out.AuditPasses(), Outcome: &p.out}
	if p.out.StaleGreen {
		r.Failed = true
		r.Messages = append(
			r.Messages,
			"the sign-off check could not be written, and an older one may still be green: give the workflow "+
				"`checks: write`, and run it again",
		)
	}
	return r
}
