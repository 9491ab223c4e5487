package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// followClosedPull looks at a pull request that is closed: its reviews may still change, and what rests on them with
// them. Nothing is audited again, for base may hold the work already, and nothing is minted; the review stays as it
// was, and the sign-off check says what became void.
func (j *Job) followClosedPull(ctx context.Context, pr githubapi.PullRequest) (*Result, error) {
	checks := j.checksOn(pr.HeadSHA, pr.Number)
	p, drafts, err := j.draftEndings(ctx, pr)
	if err == nil {
		p, err = p.writeEntries(ctx, drafts)
	}
	if err != nil {
		return nil, errors.Join(err, checks.postBroken(ctx, err))
	}
	said := fmt.Sprintf("pull request %d is %s: %d of its receipts became void", pr.Number, pr.State, len(drafts))
	out := &Result{Word: outcome.ResultIgnored, Messages: append(p.out.Drift, said)}
	if !p.held.tookBackAll() {
		return out, nil
	}
	if len(drafts) > 0 {
		out.Word = "revoked"
	}
	return out, checks.turnVoid(ctx, p.out.Drift)
}

// draftEndings drafts the entries that end sign-offs of a closed pull request.
func (j *Job) draftEndings(
	ctx context.Context,
	pr githubapi.PullRequest,
) (a auditedPull, drafts []ledger.Receipt, err error) {
	f := pullFacts{job: j, pr: pr}
	if f.rules, err = j.rulesFor(ctx, pr.BaseRef); err != nil {
		return a, nil, err
	}
	if f.reviews, err = j.API.Reviews(ctx, pr.Number); err != nil {
		return a, nil, err
	}
	a = f.beginAudit()
	if a.held.at, err = j.verifiedLedger(ctx); err != nil {
		return a, nil, err
	}
	if a.held.entries, err = j.entriesOfPull(ctx, a.held.at, pr.Number, f.reviews); err != nil ||
		len(a.held.entries) == 0 {
		return a, nil, err
	}
	p, err := a.readRecord(ctx)
	if err != nil {
		return a, nil, err
	}
	for _, e := range p.held.liveSignOffs() {
		if r, why := p.draftEnding(e); r != nil {
			drafts, p.out.Drift = append(drafts, *r), append(p.out.Drift, why)
		}
	}
	return p.auditedPull, drafts, nil
}

// tookBackAll reports whether a sign-off of this pull request was taken back, now or earlier, and none is left: a job
// that died may have left the check green.
func (h heldEntries) tookBackAll() bool {
	return len(h.liveSignOffs()) == 0 && slices.ContainsFunc(h.entries, func(e ledger.Entry) bool {
		return e.Receipt.Kind == ledger.Revoked || e.Receipt.Kind == ledger.Amended
	})
}

// turnVoid turns the sign-off check of a closed pull request back, where it is green.
func (c *headChecks) turnVoid(ctx context.Context, lines []string) error {
	have, err := c.api.Checks(ctx, c.head)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		lines = []string{"a receipt of this pull request was taken back"}
	}
	if !slices.ContainsFunc(newestRuns(have, comment.SignOffCheck), letsMerge) {
		return nil
	}
	id := canonical.SHA256Hex([]byte("referee.void/v1\n" + strings.Join(lines, "\n")))
	_, err = c.putCheck(
		ctx,
		githubapi.Check{Name: comment.SignOffCheck, HeadSHA: c.head, ExternalID: id, Status: "completed",
			Conclusion: "action_required", Title: "the sign-off was taken back", Summary: report.Fenced(lines)},
		have,
		"",
	)
	return err
}

// withdrawClosedPull says on the ledger that audited work was withdrawn: its history counts, also where nobody signed
// it. A merge has an event of its own. The checks of another open pull request with the same head may have waited for
// this one.
func (j *Job) withdrawClosedPull(ctx context.Context, number int64) (*Result, error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	if pr.Merged || pr.State == "open" {
		return ignoredResult("pull request %d is merged or open again: the push to base is what counts", number), nil
	}
	facts, err := j.readFacts(ctx, pr)
	if err != nil {
		return nil, err
	}
	p, err := facts.auditRuns(ctx)
	if err != nil {
		return nil, err
	}
	drafts, notices := p.draftWithdrawals()
	p.out.Notices = append(p.out.Notices, notices...)
	if p, err = p.writeEntries(ctx, drafts); err != nil {
		return nil, err
	}
	said := fmt.Sprintf("pull request %d was closed; %d runs are withdrawn", number, len(drafts))
	r := &Result{Word: "withdrawn", Outcome: &p.out, Messages: []string{said}}
	story, err := j.API.Story(ctx, number)
	if err != nil {
		return nil, err
	}
	for _, n := range story.Siblings {
		one, err := j.decidePull(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("pull request %d, which has the same head: %w", n, err)
		}
		r.Messages = append(r.Messages, fmt.Sprintf("pull request %d has the same head: %s", n, one.Word))
	}
	return r, nil
}

// draftWithdrawals drafts one entry for each audited run of a pull request that was closed without a merge.
func (a auditedPull) draftWithdrawals() (drafts []ledger.Receipt, notices []string) {
	at := a.pr.UpdatedAt
	if !a.pr.ClosedAt.IsZero() {
		at = a.pr.ClosedAt
	}
	by := ledger.ObservedBy{Event: "closed", Actor: a.pr.ClosedBy, At: canonical.Time(at), SHA: a.pr.HeadSHA}
	for _, one := range a.out.Audits {
		if one.Work == nil {
			continue
		}
		r, err := receipt.Observed(*one.Work, ledger.Withdrawn, by, a.job.receiptPlace(a.pullRef()))
		if err != nil {
			notices = append(notices, fmt.Sprintf("%s: the withdrawal cannot be recorded: %v", one.Dir, err))
			continue
		}
		if g := &a.rules.Config.Governance; governance.IsAttributed(g, &r) && !g.Operates(r.Agent.Name, a.pr.Author) {
			receipt.WithoutAudit(&r)
		}
		for _, e := range a.held.liveSignOffs() {
			if e.Receipt.Run.ID == r.Run.ID && a.signedWork(e) != nil {
				r.RefersTo = e.Hash
			}
		}
		drafts = append(drafts, r)
	}
	return drafts, notices
}
