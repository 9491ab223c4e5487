package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/internal/githubapi"
)

// post writes the two checks and the review. What the token may not write is left out, and said: the job's own conclusion, the annotations of
// the log, the summary and the report file still carry the verdict (the ladder of gate.md). Where there is no review, the checks carry all.
func (p *pulled) post(ctx context.Context) error {
	if own := slices.DeleteFunc(p.ownAmong(p.reviews), isPending); len(own) > 0 {
		p.out.ReviewID = own[0].ID
	}
	p.out.NoReview = p.out.ReviewID == 0 && p.out.Idle() || p.story.Viewer == "" // as postReview has it
	app, err := p.postChecks(ctx)
	if err = p.rung("the checks", err); err != nil {
		return err
	}
	refused := p.postReview(ctx, app)
	if err := p.rung("the review", refused); err != nil {
		return err
	}
	if refused != nil && app != "" {
		p.out.NoReview = true
		var err error
		if p.checks, err = p.j.API.Checks(ctx, p.pr.HeadSHA); err == nil { // with those of just now
			_, err = p.postChecks(ctx)
		}
		if err = p.rung("the details in the checks", err); err != nil {
			return err
		}
	}
	if p.rules.Config.Comments.Inline && app != "" && p.pr.State == "open" {
		return p.rung("the inline comments", p.postInline(ctx, app))
	}
	return nil
}

// rung takes a refused write for a step down the ladder, and every other error for one.
func (p *pulled) rung(what string, err error) error {
	if githubapi.IsForbidden(err) {
		p.out.NotPosted = append(p.out.NotPosted, fmt.Sprintf("%s: the token may not write them (%v)", what, err))
		return nil
	}
	return err
}

// postChecks puts the sign-off first: who answers it is the app that this token belongs to, and only its own checks are trusted. Where it may not
// be written, and an older one is green or could not be read, the job fails.
func (p *pulled) postChecks(ctx context.Context) (app string, err error) {
	made, err := p.put(ctx, comment.WriteSignOffCheck(p.out), p.checks, "")
	if err != nil {
		p.out.StaleGreen = p.unseen != nil || slices.ContainsFunc(newestRuns(p.checks, comment.SignOffCheck), passes)
		return "", err
	}
	_, err = p.put(ctx, comment.WriteAuditCheck(p.out, p.rules.Config.Comments.Annotations), p.checks, made.AppSlug)
	return made.AppSlug, err
}

// put updates our own run of a check, or makes one. app is ours, "" as long as it is not known: then an update shows whose run it is, for another
// app's is refused. What is written already is not written again. Only an app's newest run is updated: an older one that was brought up to date
// would still be behind the newer, which may be green. One that is in progress is brought to its end.
func (p *pulled) put(ctx context.Context, check githubapi.Check, have []githubapi.Check, app string) (githubapi.Check, error) {
	for _, old := range newestRuns(have, check.Name) {
		if app != "" && old.AppSlug != app || old.ExternalID != check.ExternalID && old.Status == "completed" {
			continue
		}
		same := old.Status == check.Status && old.Conclusion == check.Conclusion && old.Title == check.Title && sameText(old.Summary, check.Summary)
		if app != "" && same && old.Posted >= len(check.Annotations) {
			return old, nil // its external id says that the same was audited
		}
		next := check
		next.ID, next.Posted = old.ID, old.Posted
		if old.ExternalID != check.ExternalID {
			next.Posted = 0
		}
		made, err := p.j.API.PutCheck(ctx, next)
		if !githubapi.IsForbidden(err) {
			return made, err
		}
	}
	return p.j.API.PutCheck(ctx, check)
}

// sameText compares texts as a forge may keep them: with other line ends, without white space at the end.
func sameText(a, b string) bool {
	kept := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return kept(a) == kept(b)
}

// postBroken says in both checks why nothing was judged: two failures, with one sentence. The sign-off comes first: it is what may be green.
func (p *pulled) postBroken(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return nil
	}
	if p.checks == nil {
		p.checks, _ = p.j.API.Checks(ctx, p.pr.HeadSHA) // where they cannot be read, new ones are made, and the newest counts
	}
	var failures error
	for _, name := range []string{comment.SignOffCheck, comment.AuditCheck} {
		paper := BrokenPaper(name, p.pr.HeadSHA, why)
		paper.Title = fmt.Sprintf("#%d: %s", p.pr.Number, paper.Title)
		_, err := p.put(ctx, paper, p.checks, "")
		if err != nil && !githubapi.IsForbidden(err) { // forbidden: the job's own conclusion says it
			failures = errors.Join(failures, err)
		}
	}
	return failures
}
