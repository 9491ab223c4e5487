package githubapi

import (
	"context"

	"github.com/google/go-github/v62/github"
)

// Pending is the state of a review that was not submitted. Only its author sees it, and a user has at most one on a
// pull request: GitHub refuses a second one as unprocessable.
const Pending = "PENDING"

// StartReview adds a review with a body on a commit that is not submitted yet. If the reply is lost, a pending review
// with this body on this commit is the one. State says what the server made of it; it is "" where nothing was sent
// (Options.Dry).
func (c *Client) StartReview(ctx context.Context, number int64, commit, body string) (Review, error) {
	return sendOnce(ctx, c, "the new review", func() (Review, error) {
		made, _, err := c.gh.PullRequests.CreateReview(ctx, c.owner, c.name, int(number),
			&github.PullRequestReviewRequest{CommitID: &commit, Body: &body})
		return reviewOf(made), err
	}, func() (Review, bool, error) {
		reviews, err := c.Reviews(ctx, number)
		return findAmong(reviews, err, func(r Review) bool {
			return r.State == Pending && r.CommitSHA == commit &&
				sameText(r.Body, body)
		})
	})
}

// SubmitReview submits a pending review with a body, as a comment and never as a verdict. If the reply is lost, a
// review that is not pending any more was submitted.
func (c *Client) SubmitReview(ctx context.Context, number, id int64, body string) error {
	_, err := sendOnce(ctx, c, "the review", func() (Review, error) {
		made, _, err := c.gh.PullRequests.SubmitReview(ctx, c.owner, c.name, int(number), id,
			&github.PullRequestReviewRequest{Body: &body, Event: github.String("COMMENT")})
		return reviewOf(made), err
	}, func() (Review, bool, error) {
		reviews, err := c.Reviews(ctx, number)
		return findAmong(reviews, err, func(r Review) bool { return r.ID == id && r.State != Pending })
	})
	return err
}

// DropReview deletes a pending review; one that is gone already is fine. A review that was submitted cannot be deleted:
// that is unprocessable.
func (c *Client) DropReview(ctx context.Context, number, id int64) error {
	_, _, err := c.gh.PullRequests.DeletePendingReview(withRetry(ctx), c.owner, c.name, int(number), id)
	if err = unwrapFailure("the pending review", err); IsNotFound(err) {
		return nil
	}
	return err
}
