package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/githubapi"
)

// own is the gate's review of this pull request: it begins with the marker, and an app wrote it, or the person whose token this is. The oldest is
// kept.
func (p *pulled) own(me string) []githubapi.Review { return p.ownAmong(p.reviews, "", me) }

// ownAmong are our own reviews among those given, pending ones included, the oldest first. app is ours, "" where it is not known; me is the person
// whose token this is, "" for an app's.
func (p *pulled) ownAmong(reviews []githubapi.Review, app, me string) []githubapi.Review {
	var out []githubapi.Review
	for _, r := range reviews {
		m, marked := ParseMarker(r.Body)
		wrote := r.User == me && me != "" || r.UserType != "User" && (app == "" || r.User == app+"[bot]")
		if marked && m.Pull == p.pr.Number && wrote {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b githubapi.Review) int { return int(a.ID - b.ID) })
	return out
}

// ownBody is what the gate's review says: the oldest that this token's account wrote, and that nobody else has edited since.
func (p *pulled) ownBody() string {
	for _, r := range p.own("") {
		if me := p.story.Viewer; me == "" || r.User != me || p.story.Editors[r.ID] != "" && p.story.Editors[r.ID] != me {
			continue
		}
		return p.story.Own[r.ID]
	}
	return ""
}

// reviewBody is the review: the paper, with who has pushed in the block of lines that the gate keeps for itself.
func (p *pulled) reviewBody() string {
	marker, paper, _ := strings.Cut(p.out.ReviewPaper(), "\n")
	if pushers := ParsePushers(p.ownBody()).With(p.pusher()).Line(); pushers != "" {
		marker += "\n" + pushers
	}
	return marker + "\n" + paper
}

// replaced is what a second review of ours says: a submitted review cannot be deleted.
const replaced = "This review is a duplicate; the verdict stands in the gate's first review of this pull request."

// maxLooks is how often the reviews are looked at where other jobs write ours at the same time.
const maxLooks = 5

// postReview updates our review, or makes one. Of jobs that begin at once only one makes it: a new review is pending first, and GitHub lets one account
// have one pending review on a pull request. Who holds it looks at the reviews again before it is submitted; who is refused does so too, and finds
// the one of the other job, or one that a job left behind when it died. app is ours, "" where it is not known.
func (p *pulled) postReview(ctx context.Context, app string) error {
	api, number := p.j.API, p.pr.Number
	me := ""
	if app == "" {
		var err error
		if me, err = api.Me(ctx); err != nil {
			return err
		}
	}
	body, reviews, pending := p.reviewBody(), p.reviews, int64(0)
	var refused error
	for range maxLooks {
		own := p.ownAmong(reviews, app, me)
		if i := slices.IndexFunc(own, isPending); i >= 0 {
			pending = own[i].ID
		}
		done, err := p.updateReview(ctx, slices.DeleteFunc(own, isPending), body, app)
		if err != nil {
			return err
		}
		if done || p.out.Empty() && len(p.out.Rulebook) == 0 { // a pull request without a run gets no review
			return p.dropPending(ctx, pending)
		}
		if pending, done, refused = p.makeReview(ctx, pending, body); done {
			return refused
		}
		if reviews, err = api.Reviews(ctx, number); err != nil {
			return err
		}
	}
	return fmt.Errorf("the review: other jobs write it at the same time, or this account has the draft of a review here, to be submitted or discarded first: %w", refused)
}

func isPending(r githubapi.Review) bool { return r.State == githubapi.Pending }

// makeReview takes the next step towards a review: it starts one, or submits the one that is pending. It is done when the review is submitted or
// cannot be. Else the reviews have changed: what is pending now, and why something was refused.
func (p *pulled) makeReview(ctx context.Context, pending int64, body string) (id int64, done bool, err error) {
	api, number := p.j.API, p.pr.Number
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

// dropPending deletes a pending review of ours that is not needed. One that another job has submitted meanwhile is marked as a duplicate next time.
func (p *pulled) dropPending(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	if err := p.j.API.DropReview(ctx, p.pr.Number, id); !githubapi.IsUnprocessable(err) {
		return err
	}
	return nil
}

// updateReview writes the text into the oldest of our submitted reviews, unless a newer run of the workflow has written it, and marks the others as
// duplicates. It is done when there is one that can be written. Where the app is not known, a review that cannot be changed is not ours.
func (p *pulled) updateReview(ctx context.Context, submitted []githubapi.Review, body, app string) (done bool, err error) {
	for _, r := range submitted {
		m, _ := ParseMarker(r.Body)
		text := body
		if done {
			text = replaced
		} else if m.Newer(p.out.Marker()) {
			p.out.NotPosted = append(p.out.NotPosted, "the review: a newer run of the workflow has written it")
			text = r.Body
		}
		if r.Body != text {
			err := p.j.API.UpdateReview(ctx, p.pr.Number, r.ID, text)
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
