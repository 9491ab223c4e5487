package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
)

// A green sign-off check is turned back before the job reads anything that may fail: whatever happens to the job then,
// no older green outlives it.

// headChecks are the checks on one commit as this job sees and writes them. It is the one thing of a job that changes
// as it goes on, because what is green on GitHub does.
type headChecks struct {
	api        *githubapi.Client
	head       string
	pull       int64
	runs       []githubapi.Check // those that this job has turned back as they are now
	unreadable error             // why they could not be read, nil if they were
	claimed    bool              // this job has written a check, and no sign-off check that it can turn back is green
}

// checksOn are the checks on a commit, before they are read.
func (j *Job) checksOn(head string, pull int64) *headChecks {
	return &headChecks{api: j.API, head: head, pull: pull}
}

// satisfying are the conclusions with which a required check lets a merge pass.
var satisfying = []string{"success", "neutral", "skipped"}

// letsMerge reports whether a check run would let a merge pass.
func letsMerge(c githubapi.Check) bool {
	return c.Status == "completed" && slices.Contains(satisfying, c.Conclusion)
}

// newestRuns are the newest runs of a check, one for each app; checks are sorted, the newest first.
func newestRuns(checks []githubapi.Check, name string) []githubapi.Check {
	var out []githubapi.Check
	for _, c := range checks {
		if c.Name == name &&
			!slices.ContainsFunc(out, func(have githubapi.Check) bool { return have.AppSlug == c.AppSlug }) {
			out = append(out, c)
		}
	}
	return out
}

// turnBackGreen sets every green sign-off check of the head to "in progress". Another app's cannot be set, and is not
// ours to trust. Where the checks cannot be read, the job goes on and writes its own.
func (c *headChecks) turnBackGreen(ctx context.Context) (err error) {
	c.runs, err = c.api.Checks(ctx, c.head)
	if githubapi.IsForbidden(err) {
		c.unreadable = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the checks of the head: %w", err)
	}
	for _, run := range newestRuns(c.runs, comment.SignOffCheck) {
		if !letsMerge(run) {
			continue
		}
		err := c.reopenRun(ctx, run)
		if githubapi.IsForbidden(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("resetting the sign-off check: %w", err)
		}
	}
	return nil
}

// rereading is what a sign-off check says while a job looks again.
const rereading = "reading the reviews again"

// reopenRun sets one run of the sign-off check to "in progress".
func (c *headChecks) reopenRun(ctx context.Context, run githubapi.Check) error {
	run.Status, run.Conclusion, run.Title, run.Text, run.Annotations = "in_progress", "", rereading, "", nil
	run.Summary = "The gate is reading the reviews of this head again."
	run.Posted = 0
	made, err := c.api.PutCheck(ctx, run)
	if err != nil {
		return err
	}
	run.AppSlug = made.AppSlug
	c.keepRun(run)
	c.claimed = true
	return nil
}

// keepRun keeps the list of checks in step with what was written.
func (c *headChecks) keepRun(run githubapi.Check) {
	i := slices.IndexFunc(c.runs, func(have githubapi.Check) bool { return have.ID == run.ID })
	if i < 0 {
		c.runs = slices.Insert(c.runs, 0, run)
		return
	}
	c.runs[i] = run
}

// claimCheck makes sure, before anything is minted, that this job can write checks: a receipt whose green cannot be
// shown, or taken back, is not minted. On a head without either check the audit's check is written, which is as it will
// be: no receipt changes it. Else the sign-off's is set to "in progress".
func (p judgedPull) claimCheck(ctx context.Context, checks *headChecks) error {
	if checks.claimed || checks.unreadable != nil || !p.auditIsFinal(checks) {
		return checks.claimSignOff(ctx, p.out.Digest())
	}
	return checks.writeClaim(ctx, comment.WriteAuditCheck(&p.out, p.rules.Config.Comments.Annotations))
}

// auditIsFinal reports whether the audit's check can be written before the sign-off: no other pull request has a say in
// it, and no run of the sign-off check, whoever made it, is there to be green meanwhile.
func (p judgedPull) auditIsFinal(checks *headChecks) bool {
	ours := func(c githubapi.Check) bool { return c.Name == comment.AuditCheck || c.Name == comment.SignOffCheck }
	return len(p.story.Siblings) == 0 && !slices.ContainsFunc(checks.runs, ours)
}

// claimSignOff sets our own run of the sign-off check to "in progress".
func (c *headChecks) claimSignOff(ctx context.Context, digest string) error {
	if c.claimed {
		return nil
	}
	if c.unreadable != nil {
		return brokenf(
			"the checks of the head cannot be read (%v), so nothing is signed off: give the workflow `checks: write`",
			c.unreadable,
		)
	}
	return c.writeClaim(
		ctx,
		githubapi.Check{Name: comment.SignOffCheck, HeadSHA: c.head, ExternalID: digest, Status: "in_progress",
			Title: rereading, Summary: "The gate is reading the reviews of this head."},
	)
}

// writeClaim writes the check that is the claim.
func (c *headChecks) writeClaim(ctx context.Context, check githubapi.Check) error {
	made, err := c.putCheck(ctx, check, c.runs, "")
	if githubapi.IsForbidden(err) {
		return brokenf(
			"the check %q cannot be written (%v), so nothing is signed off: give the workflow `checks: write`",
			check.Name,
			err,
		)
	}
	if err != nil {
		return fmt.Errorf("claiming the check %q: %w", check.Name, err)
	}
	check.ID, check.AppSlug, check.Posted = made.ID, made.AppSlug, made.Posted
	c.keepRun(check)
	c.claimed = true
	return nil
}

// postBoth puts the sign-off first: who answers it is the app that this token belongs to, and only its own checks are
// trusted. Where it may not be written, and an older one is green or could not be read, stale is true: the job fails.
func (c *headChecks) postBoth(
	ctx context.Context,
	o *outcome.Outcome,
	annotations int,
) (app string, stale bool, err error) {
	made, err := c.putCheck(ctx, comment.WriteSignOffCheck(o), c.runs, "")
	if err != nil {
		stale = c.unreadable != nil || slices.ContainsFunc(newestRuns(c.runs, comment.SignOffCheck), letsMerge)
		return "", stale, err
	}
	_, err = c.putCheck(ctx, comment.WriteAuditCheck(o, annotations), c.runs, made.AppSlug)
	return made.AppSlug, false, err
}

// putCheck updates our own run of a check, or makes one. app is ours, "" as long as it is not known: then an update
// shows whose run it is, for another app's is refused. What is written already is not written again. Only an app's
// newest run is updated: an older one that was brought up to date would still be behind the newer, which may be green.
// One that is in progress is brought to its end.
func (c *headChecks) putCheck(
	ctx context.Context,
	check githubapi.Check,
	have []githubapi.Check,
	app string,
) (githubapi.Check, error) {
	for _, old := range newestRuns(have, check.Name) {
		if app != "" && old.AppSlug != app || old.ExternalID != check.ExternalID && old.Status == "completed" {
			continue
		}
		same := old.Status == check.Status && old.Conclusion == check.Conclusion && old.Title == check.Title &&
			sameText(old.Summary, check.Summary)
		if app != "" && same && old.Posted >= len(check.Annotations) {
			return old, nil // its external id says that the same was audited
		}
		next := check
		next.ID, next.Posted = old.ID, old.Posted
		if old.ExternalID != check.ExternalID {
			next.Posted = 0
		}
		made, err := c.api.PutCheck(ctx, next)
		if !githubapi.IsForbidden(err) {
			return made, err
		}
	}
	return c.api.PutCheck(ctx, check)
}

// sameText compares texts as a forge may keep them: with other line ends, without white space at the end.
func sameText(a, b string) bool {
	kept := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return kept(a) == kept(b)
}

// postBroken says in both checks why nothing was judged: two failures, with one sentence. The sign-off comes first: it
// is what may be green.
func (c *headChecks) postBroken(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return nil
	}
	if c.runs == nil {
		c.runs, _ = c.api.Checks(ctx, c.head) // where they cannot be read, new ones are made, and the newest counts
	}
	var failures error
	for _, name := range []string{comment.SignOffCheck, comment.AuditCheck} {
		paper := BrokenCheck(name, c.head, why)
		paper.Title = fmt.Sprintf("#%d: %s", c.pull, paper.Title)
		_, err := c.putCheck(ctx, paper, c.runs, "")
		if err != nil && !githubapi.IsForbidden(err) { // forbidden: the job's own conclusion says it
			failures = errors.Join(failures, err)
		}
	}
	return failures
}
