package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/internal/githubapi"
)

// A green sign-off check is turned back before the job reads anything that may fail: whatever happens to the job then, no older green outlives it.

// satisfying are the conclusions with which a required check lets a merge pass.
var satisfying = []string{"success", "neutral", "skipped"}

// passes reports whether a check run would let a merge pass.
func passes(c githubapi.Check) bool {
	return c.Status == "completed" && slices.Contains(satisfying, c.Conclusion)
}

// newestRuns are the newest runs of a check, one for each app; checks are sorted, the newest first.
func newestRuns(checks []githubapi.Check, name string) []githubapi.Check {
	var out []githubapi.Check
	for _, c := range checks {
		if c.Name == name && !slices.ContainsFunc(out, func(have githubapi.Check) bool { return have.AppSlug == c.AppSlug }) {
			out = append(out, c)
		}
	}
	return out
}

// turnBack sets every green sign-off check of the head to "in progress". Another app's cannot be set, and is not ours to trust. Where the checks
// cannot be read, the job goes on and writes its own.
func (p *pulled) turnBack(ctx context.Context) (err error) {
	p.checks, err = p.j.API.Checks(ctx, p.pr.HeadSHA)
	if githubapi.IsForbidden(err) {
		p.unseen = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the checks of the head: %w", err)
	}
	for _, c := range newestRuns(p.checks, comment.SignOffCheck) {
		if !passes(c) {
			continue
		}
		err := p.reopen(ctx, c)
		if githubapi.IsForbidden(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("turning the sign-off check back: %w", err)
		}
	}
	return nil
}

// rereading is what a sign-off check says while a job looks again.
const rereading = "reading the reviews again"

// reopen sets one run of the sign-off check to "in progress".
func (p *pulled) reopen(ctx context.Context, c githubapi.Check) error {
	c.Status, c.Conclusion, c.Title, c.Summary, c.Text, c.Annotations = "in_progress", "", rereading, "The gate is reading the reviews of this head again.", "", nil
	c.Posted = 0
	made, err := p.j.API.PutCheck(ctx, c)
	if err != nil {
		return err
	}
	c.AppSlug = made.AppSlug
	p.replaceCheck(c)
	p.claimed = true
	return nil
}

// replaceCheck keeps the list of checks in step with what was written.
func (p *pulled) replaceCheck(c githubapi.Check) {
	i := slices.IndexFunc(p.checks, func(have githubapi.Check) bool { return have.ID == c.ID })
	if i < 0 {
		p.checks = slices.Insert(p.checks, 0, c)
		return
	}
	p.checks[i] = c
}

// claim makes sure, before anything is minted, that this job can write checks: a receipt whose green cannot be shown, or taken back, is not minted. On
// a head without either check the audit's check is written, which is as it will be: no receipt changes it. Else the sign-off's is set to "in progress".
func (p *pulled) claim(ctx context.Context) error {
	if p.claimed || p.unseen != nil || !p.auditIsFinal() {
		return p.claimSignOff(ctx)
	}
	return p.writeClaim(ctx, comment.WriteAuditCheck(p.out, p.rules.Config.Comments.Annotations))
}

// auditIsFinal reports whether the audit's check can be written before the sign-off: no other pull request has a say in it, and no run of the sign-off
// check, whoever made it, is there to be green meanwhile.
func (p *pulled) auditIsFinal() bool {
	ours := func(c githubapi.Check) bool { return c.Name == comment.AuditCheck || c.Name == comment.SignOffCheck }
	return len(p.story.Siblings) == 0 && !slices.ContainsFunc(p.checks, ours)
}

// claimSignOff sets our own run of the sign-off check to "in progress".
func (p *pulled) claimSignOff(ctx context.Context) error {
	if p.claimed {
		return nil
	}
	if p.unseen != nil {
		return broken("the checks of the head cannot be read (%v), so nothing is signed off: give the workflow `checks: write`", p.unseen)
	}
	return p.writeClaim(ctx, githubapi.Check{Name: comment.SignOffCheck, HeadSHA: p.pr.HeadSHA, ExternalID: p.out.Digest(), Status: "in_progress", Title: rereading,
		Summary: "The gate is reading the reviews of this head."})
}

// writeClaim writes the check that is the claim.
func (p *pulled) writeClaim(ctx context.Context, check githubapi.Check) error {
	made, err := p.put(ctx, check, p.checks, "")
	if githubapi.IsForbidden(err) {
		return broken("the check %q cannot be written (%v), so nothing is signed off: give the workflow `checks: write`", check.Name, err)
	}
	if err != nil {
		return fmt.Errorf("claiming the check %q: %w", check.Name, err)
	}
	check.ID, check.AppSlug, check.Posted = made.ID, made.AppSlug, made.Posted
	p.replaceCheck(check)
	p.claimed = true
	return nil
}
