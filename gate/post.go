package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/report"
)

// post writes the two checks and the review. What the token may not write is left out, and said: the job's own conclusion, the annotations of
// the log, the summary and the report file still carry the verdict (the ladder of gate.md).
func (p *pulled) post(ctx context.Context) error {
	app, err := p.postChecks(ctx)
	if err = p.rung("the checks", err); err != nil {
		return err
	}
	if err := p.rung("the review", p.postReview(ctx, app)); err != nil {
		return err
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

// postChecks puts the sign-off first: who answers it is the app that this token belongs to, and only its own checks are trusted.
func (p *pulled) postChecks(ctx context.Context) (app string, err error) {
	have, err := p.j.API.Checks(ctx, p.pr.HeadSHA)
	if err != nil {
		return "", err
	}
	made, err := p.put(ctx, p.out.SignOffPaper(), have, "")
	if err != nil {
		return "", err
	}
	_, err = p.put(ctx, p.out.AuditPaper(p.rules.Config.Comments.Annotations), have, made.AppSlug)
	return made.AppSlug, err
}

// put updates our own run of a check, or makes one. app is ours, "" as long as it is not known: then an update shows whose run it is, for another
// app's is refused. What stands there already is not written again. Only an app's newest run is updated: an older one that was brought up to date
// would still stand behind the newer, which may be green.
func (p *pulled) put(ctx context.Context, check githubapi.Check, have []githubapi.Check, app string) (githubapi.Check, error) {
	newest := map[string]bool{}
	for _, old := range have { // the newest first
		if old.Name != check.Name || app != "" && old.AppSlug != app || newest[old.AppSlug] {
			continue
		}
		if newest[old.AppSlug] = true; old.ExternalID != check.ExternalID {
			continue
		}
		if app != "" && old.Conclusion == check.Conclusion && old.Title == check.Title && old.Posted >= len(check.Annotations) {
			return old, nil // its external id says that the same was audited
		}
		next := check
		next.ID, next.Posted = old.ID, old.Posted
		made, err := p.j.API.PutCheck(ctx, next)
		if !githubapi.IsForbidden(err) {
			return made, err
		}
	}
	return p.j.API.PutCheck(ctx, check)
}

// postBroken says in the audit check why nothing was audited: a failure, with one sentence.
func (p *pulled) postBroken(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return nil
	}
	have, err := p.j.API.Checks(ctx, p.pr.HeadSHA)
	if err == nil {
		_, err = p.put(ctx, BrokenPaper(p.pr.HeadSHA, why), have, "")
	}
	if githubapi.IsForbidden(err) {
		return nil // the job's own conclusion says it
	}
	return err
}

// BrokenPaper is the audit check of a pull request that could not be audited.
func BrokenPaper(head string, why error) githubapi.Check {
	text := "The gate could not finish its work on this commit, and so it may not be merged.\n\n" + sentence(why)
	return githubapi.Check{Name: AuditCheck, HeadSHA: head, ExternalID: shaOf([]byte("referee.broken/v1\n" + text)), Status: "completed", Conclusion: "failure",
		Title: "could not be judged", Summary: text}
}

// sentence is an error for people: a reason that somebody can mend, or what failed.
func sentence(err error) string {
	var b *Broken
	if errors.As(err, &b) {
		return report.Code(b.Reason, 2000)
	}
	return report.Code(err.Error(), 2000) + "\n\nRun the job again; if it fails again, its log says more."
}
