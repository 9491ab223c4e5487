package githubapi

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v62/github"
)

// PullRequest reads a pull request as it is now. Who closed one that was not merged takes one more request.
func (c *Client) PullRequest(ctx context.Context, number int64) (PullRequest, error) {
	p, _, err := c.gh.PullRequests.Get(ctx, c.owner, c.name, int(number))
	if err != nil {
		return PullRequest{}, unwrapFailure("the pull request", err)
	}
	if int64(p.GetNumber()) != number || p.GetHead().GetSHA() == "" {
		return PullRequest{}, unwrapFailure("the pull request", errOther)
	}
	out := PullRequest{Number: int64(p.GetNumber()), NodeID: p.GetNodeID(), Author: p.GetUser().GetLogin(),
		AuthorType: p.GetUser().GetType(),
		State:      p.GetState(), Draft: p.GetDraft(), Merged: p.GetMerged(),
		HeadSHA: p.GetHead().GetSHA(), HeadRef: p.GetHead().GetRef(), HeadRepo: p.GetHead().GetRepo().GetFullName(),
		BaseSHA: p.GetBase().GetSHA(), BaseRef: p.GetBase().GetRef(), ChangedFiles: p.GetChangedFiles(),
		Commits:  p.GetCommits(),
		ClosedBy: p.GetMergedBy().GetLogin(), UpdatedAt: p.GetUpdatedAt().Time, ClosedAt: p.GetClosedAt().Time}
	if out.Merged { // before that, it is the commit of a test merge
		out.MergeSHA, out.MergedBy = p.GetMergeCommitSHA(), p.GetMergedBy().GetLogin()
	}
	if out.State == "closed" && !out.Merged {
		issue, _, err := c.gh.Issues.Get(ctx, c.owner, c.name, int(number))
		if err != nil {
			return PullRequest{}, unwrapFailure("the pull request", err)
		}
		out.ClosedBy = issue.GetClosedBy().GetLogin()
	}
	return out, nil
}

func numberOf(p *github.PullRequest) int64 { return int64(p.GetNumber()) }

// OpenPullRequests are the numbers of all open pull requests.
func (c *Client) OpenPullRequests(ctx context.Context) ([]int64, error) {
	return c.openPulls(ctx, github.PullRequestListOptions{State: "open"})
}

// OpenPullRequestsFrom are the open pull requests from a branch of owner, which may be a fork's: the only way to find
// those that a workflow run on a fork belongs to.
func (c *Client) OpenPullRequestsFrom(ctx context.Context, owner, branch string) ([]int64, error) {
	return c.openPulls(ctx, github.PullRequestListOptions{State: "open", Head: owner + ":" + branch})
}

func (c *Client) openPulls(ctx context.Context, o github.PullRequestListOptions) ([]int64, error) {
	return collectPages("the open pull requests", numberOf, func(page github.ListOptions) ([]*github.PullRequest,
		*github.Response, error) {
		o.ListOptions = page
		return c.gh.PullRequests.List(ctx, c.owner, c.name, &o)
	})
}

// PullRequestsOf are the pull requests that a commit belongs to, merged ones included.
func (c *Client) PullRequestsOf(ctx context.Context, sha string) ([]int64, error) {
	return collectPages("the pull requests of a commit", numberOf, func(o github.ListOptions) ([]*github.PullRequest,
		*github.Response, error) {
		return c.gh.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.name, url.PathEscape(sha), &o)
	})
}

// Reviews are all reviews, dismissed ones included, the oldest first.
func (c *Client) Reviews(ctx context.Context, number int64) ([]Review, error) {
	return collectPages("the reviews", reviewOf, func(o github.ListOptions,
	) ([]*github.PullRequestReview, *github.Response, error) {
		return c.gh.PullRequests.ListReviews(ctx, c.owner, c.name, int(number), &o)
	})
}

func reviewOf(r *github.PullRequestReview) Review {
	return Review{ID: r.GetID(), NodeID: r.GetNodeID(), User: r.GetUser().GetLogin(), UserID: r.GetUser().GetID(),
		UserType: r.GetUser().GetType(),
		State:    r.GetState(), Body: r.GetBody(), CommitSHA: r.GetCommitID(), SubmittedAt: r.GetSubmittedAt().UTC()}
}

// Files are the files that a pull request changes. GitHub lists at most 3,000 and leaves further ones out without a
// word: a list of that length is ErrTooMany, and a shorter one is held against PullRequest.ChangedFiles by the caller.
func (c *Client) Files(ctx context.Context, number int64) ([]ChangedFile, error) {
	files, err := collectPages("the changed files", func(f *github.CommitFile) ChangedFile {
		return ChangedFile{Path: f.GetFilename(), Previous: f.GetPreviousFilename(), Status: f.GetStatus()}
	}, func(o github.ListOptions) ([]*github.CommitFile, *github.Response, error) {
		return c.gh.PullRequests.ListFiles(ctx, c.owner, c.name, int(number), &o)
	})
	if err == nil && len(files) >= maxPages*perPage {
		return nil, fmt.Errorf("the changed files: GitHub lists at most %d: %w", maxPages*perPage, ErrTooMany)
	}
	return files, err
}

// MergeBase is the commit from which base and head went different ways, which may lie in a fork.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	var found struct {
		MergeBase struct {
			SHA string `json:"sha"`
		} `json:"merge_base_commit"`
	}
	// The files of a comparison stand on its first page only, and nobody reads them here.
	_, err := c.Get(ctx, "compare/"+url.PathEscape(base)+"..."+url.PathEscape(head)+"?page=2&per_page=1", &found)
	if err == nil && found.MergeBase.SHA == "" {
		err = unwrapFailure("the merge base", errOther)
	}
	return found.MergeBase.SHA, err
}

// CreateReview adds a review with a body, which is a comment and never a verdict (event COMMENT), on a commit. If the
// reply is lost, a review with this body on this commit is the one.
func (c *Client) CreateReview(ctx context.Context, number int64, commit, body string) (int64, error) {
	made, err := sendOnce(ctx, c, "the new review", func() (Review, error) {
		made, _, err := c.gh.PullRequests.CreateReview(ctx, c.owner, c.name, int(number),
			&github.PullRequestReviewRequest{CommitID: &commit, Body: &body, Event: github.String("COMMENT")})
		return Review{ID: made.GetID()}, err
	}, func() (Review, bool, error) {
		reviews, err := c.Reviews(ctx, number)
		return findAmong(reviews, err, func(r Review) bool {
			return r.State == "COMMENTED" && r.CommitSHA == commit &&
				sameText(r.Body, body)
		})
	})
	return made.ID, err
}

// UpdateReview replaces a review's body. A review that was submitted cannot be deleted.
func (c *Client) UpdateReview(ctx context.Context, number, id int64, body string) error {
	_, _, err := c.gh.PullRequests.UpdateReview(withRetry(ctx), c.owner, c.name, int(number), id, body)
	return unwrapFailure("the review", err)
}

// sameText compares texts as a forge may store them: with other line ends, without white space at the end.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// Comments are the inline comments of a pull request, replies included. Line is 0 where the diff no longer has the
// line.
func (c *Client) Comments(ctx context.Context, number int64) ([]Comment, error) {
	return collectPages("the comments", commentOf, func(o github.ListOptions,
	) ([]*github.PullRequestComment, *github.Response, error) {
		return c.gh.PullRequests.ListComments(ctx, c.owner, c.name, int(number),
			&github.PullRequestListCommentsOptions{ListOptions: o})
	})
}

func commentOf(p *github.PullRequestComment) Comment {
	return Comment{ID: p.GetID(), InReplyTo: p.GetInReplyTo(), User: p.GetUser().GetLogin(), Path: p.GetPath(),
		Line: p.GetLine(), Body: p.GetBody()}
}

// CreateComment adds an inline comment on a line of the diff's new side. If the reply is lost, a comment with this body
// there is the one.
func (c *Client) CreateComment(ctx context.Context, number int64, commit string, comment Comment) (int64, error) {
	made, err := sendOnce(ctx, c, "the new comment", func() (Comment, error) {
		made, _, err := c.gh.PullRequests.CreateComment(ctx, c.owner, c.name, int(number), &github.PullRequestComment{
			CommitID: &commit, Path: &comment.Path, Line: &comment.Line, Body: &comment.Body,
			Side: github.String("RIGHT")})
		return Comment{ID: made.GetID()}, err
	}, func() (Comment, bool, error) {
		comments, err := c.Comments(ctx, number)
		return findAmong(comments, err, func(have Comment) bool {
			return have.Path == comment.Path && have.Line == comment.Line && sameText(have.Body, comment.Body)
		})
	})
	return made.ID, err
}

// DeleteComment removes an inline comment; one that is gone already is fine.
func (c *Client) DeleteComment(ctx context.Context, id int64) error {
	_, err := c.gh.PullRequests.DeleteComment(withRetry(ctx), c.owner, c.name, id)
	if err = unwrapFailure("the comment", err); IsNotFound(err) {
		return nil
	}
	return err
}
