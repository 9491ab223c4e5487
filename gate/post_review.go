package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/internal/githubapi"
)

// ownReviews are our own reviews among those given, pending ones included, the oldest first: this token's account wrote
// them (package memory).
func (p *posting) ownReviews(reviews []githubapi.Review) []githubapi.Review {
	var out []githubapi.Review
	for _, r := range reviews {
		if m, marked := memory.ParseMarker(r.Body); marked && m.Pull == p.pr.Number && r.User == p.story.Viewer &&
			r.User != "" {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b githubapi.Review) int { return int(a.ID - b.ID) })
	return out
}

// reviewBody is the review: the paper, with what the gate keeps for itself in the block of lines at the top.
func (p *posting) reviewBody() string {
	marker, paper, _ := strings.Cut(comment.WriteReview(&p.out), "\n")
	return marker + "\n" + p.memory.MarkerLines() + paper
}

// replaced is what a second review of ours says: a submitted review cannot be deleted.
const replaced = "This review is a duplicate; the verdict is in the gate's first review of this pull request."

// maxLooks is how often the reviews are looked at where other jobs write ours at the same time.
const maxLooks = 5

// postReview updates our review, or makes one. Of jobs that begin at once only one makes it: a new review is pending
// first, and GitHub lets one account have one pending review on a pull request. Who holds it looks at the reviews again
// before it is submitted; who is refused does so too, and finds the one of the other job, or one that a job left behind
// when it died. app is ours, "" where it is not known.
func (p *posting) postReview(ctx context.Context, app string) error {
	api, number := p.job.API, p.pr.Number
	if p.story.Viewer == "" {
		// whose token this is was not asked, for nothing is to be signed, and a second review of ours would hide
		// what the first one keeps
		return nil
	}
	body, reviews, pending := p.reviewBody(), p.reviews, int64(0)
	var refused error
	for range maxLooks {
		own := p.ownReviews(reviews)
		if i := slices.IndexFunc(own, isPending); i >= 0 {
			pending = own[i].ID
		}
		done, err := p.updateReview(ctx, slices.DeleteFunc(own, isPending), body, app)
		if err != nil {
			return err
		}
		if done || p.out.Idle() { // it gets no review
			return p.dropPending(ctx, pending)
		}
		if pending, done, refused = p.makeReview(ctx, pending, body); done {
			return refused
		}
		if reviews, err = api.Reviews(ctx, number); err != nil {
			return err
		}
	}
	return fmt.Errorf(
		"the review: other jobs are writing it at the same time, or this account has a draft review here; "+
			"submit or discard the draft first: %w",
		refused,
	)
}

func isPending(r githubapi.Review) bool { return r.State == githubapi.Pending }

// makeReview takes the next step towards a review: it starts one, or submits the one that is pending. It is done when
// the review is submitted or cannot be. Else the reviews have changed: what is pending now, and why something was
// refused.
func (p *posting) makeReview(ctx context.Context, pending int64, body string) (id int64, done bool, err error) {
	api, number := p.job.API, p.pr.Number
	if pending != 0 {
		err = api.SubmitReview(ctx, number, pending, body)
		done = err == nil || !githubapi.IsUnprocessable(err) && !githubapi.IsNotFound(err)
		return 0, done, err // where it is refused, another job has submitted or deleted it
	}
	made, err := api.StartReview(ctx, number, p.pr.HeadSHA, body)
	if err != nil {
		return 0, !githubapi.IsUnprocessable(err), err
	}
	return made.ID, !isPending(made), nil // another state: the server submits at once, or nothing was sent (a dry run)
}

// dropPending deletes a pending review of ours that is not needed. One that another job has submitted meanwhile is
// marked as a duplicate next time.
func (p *posting) dropPending(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	if err := p.job.API.DropReview(ctx, p.pr.Number, id); !githubapi.IsUnprocessable(err) {
		return err
	}
	return nil
}

// updateReview writes the text into the oldest of our submitted reviews, unless a newer run of the workflow has written
// it, and marks the others as duplicates. It is done when there is one that can be written. Where the app is not known,
// a review that cannot be changed is not ours.
func (p *posting) updateReview(
	ctx context.Context,
	submitted []githubapi.Review,
	body, app string,
) (done bool, err error) {
	for _, r := range submitted {
		m, _ := memory.ParseMarker(r.Body)
		text := body
		if done {
			text = replaced
		} else if m.Newer(p.out.Marker()) && p.memory.Lost == "" { // an edited marker says nothing
			p.out.NotPosted = append(p.out.NotPosted, "the review: a newer run of the workflow has written it")
			text = r.Body
		}
		if r.Body != text {
			err := p.job.API.UpdateReview(ctx, p.pr.Number, r.ID, text)
			if app == "" && (githubapi.IsForbidden(err) || githubapi.IsNotFound(err)) {
				continue
			}
			if err != nil {
				return false, err
			}
		}
		done = true
	}
	return done, nil
}
