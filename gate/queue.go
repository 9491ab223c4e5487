package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
)

// queueRef is how a merge queue names its branches: the pull request's number is behind the base's name.
var queueRef = pattern.New(`/pr-([1-9][0-9]{0,7})-[0-9a-f]{40,64}$`)

// mergeGroup looks at what a merge queue is about to merge: every run that it brings must be signed off now, in the
// pull request that brings it, for these bytes. Both checks are reported on the group's own head, where nobody can
// review.
func (j *Job) mergeGroup(ctx context.Context) (*Result, error) {
	e := j.Event
	o := &outcome.Outcome{
		Repository: j.Runner.Repository,
		ServerURL:  j.Runner.ServerURL,
		RunID:      j.Runner.RunID,
		Attempt:    j.Runner.Attempt,
		Head:       e.HeadSHA,
		Base:       e.BaseSHA,
	}
	if m := queueRef.FindStringSubmatch(e.Ref); m != nil {
		o.Pull, _ = strconv.ParseInt(m[1], 10, 64) // at most eight digits
	}
	checks := j.checksOn(e.HeadSHA, 0)
	err := checks.turnBackGreen(ctx)
	if err == nil {
		err = j.judgeGroup(ctx, o, checks)
	}
	if err != nil {
		if failed := checks.postBroken(ctx, err); failed != nil {
			return nil, fmt.Errorf("%w; and the check could not be written: %w", err, failed)
		}
		return nil, err
	}
	return &Result{Word: o.Result(), Failed: !o.AuditPasses() || !o.Signed(), Outcome: o}, nil
}

// judgeGroup audits the runs of a merge group, decides, from the reviews of now, whether the pull requests that bring
// them are signed off, and posts both checks.
func (j *Job) judgeGroup(ctx context.Context, o *outcome.Outcome, checks *headChecks) error {
	rules, err := j.rulesFor(ctx, j.Event.BaseRef)
	if err != nil {
		return err
	}
	if err := j.auditGroup(ctx, o, rules); err != nil {
		return err
	}
	_, stale, err := checks.postBoth(ctx, o, rules.Config.Comments.Annotations)
	o.StaleGreen = stale
	return err
}

// auditGroup audits the runs that a merge group brings and finds the receipt of each.
func (j *Job) auditGroup(ctx context.Context, o *outcome.Outcome, rules *Rules) error {
	cfg := rules.Config
	o.FailOn, o.Accept, o.Ledger, o.Need = cfg.FailOn, cfg.Accept, cfg.Ledger, cfg.Approval.Count
	if err := j.fetchTrees(ctx, o.Base, o.Head); err != nil {
		return err
	}
	plan, err := audit.MakePlan(j.trees[o.Base], j.trees[o.Head], cfg)
	if err != nil {
		return brokenf("the files of the merge group cannot be read: %v", err)
	}
	o.Refusals, o.Removed = plan.Refusals, plan.Removed
	if len(plan.Runs) == 0 {
		return nil
	}
	at, err := j.verifiedLedger(ctx)
	if err != nil {
		return err
	}
	o.LedgerHead = at.Head.Tip
	g := &groupedPulls{job: j, base: j.Event.BaseRef, seen: map[int64]signedPull{}}
	for _, run := range plan.Runs {
		a := j.auditOnBase(ctx, j.trees[o.Base], j.trees[o.Head], run, rules, firstKnown(j.Event.Sender))
		o.Audits = append(o.Audits, a)
		if a.Work == nil {
			continue
		}
		if err := g.findSignOff(ctx, at, o, *a.Work); err != nil {
			return err
		}
	}
	return nil
}

// groupedPulls are the pull requests of a merge group, as they are signed off now.
type groupedPulls struct {
	job  *Job
	base string
	seen map[int64]signedPull
}

// findSignOff adds the receipts of a run's sign-off to the outcome, where the pull request that brings it is signed off
// now. The queue's branch names one pull request; where a group holds several, the ledger tells where to look, and
// nothing more.
func (g *groupedPulls) findSignOff(ctx context.Context, at ledger.Snapshot, o *outcome.Outcome, w receipt.Work) error {
	hintedPulls, err := g.job.hintedPulls(ctx, at, w)
	if err != nil {
		return err
	}
	for _, n := range append([]int64{o.Pull}, hintedPulls...) {
		if n == 0 {
			continue
		}
		p, err := g.viewOnce(ctx, n)
		var unfit *Broken
		if errors.As(err, &unfit) && n != o.Pull {
			continue // one that is closed, say: the ledger's hint was of no use
		}
		if err != nil {
			return err
		}
		if e := p.receiptOnBase(w, g.base); e != nil {
			o.Receipts = append(o.Receipts, *e)
			o.Waived = append(o.Waived, p.out.Waivers()...)
			return nil
		}
	}
	return nil
}

// viewOnce decides about one pull request, once.
func (g *groupedPulls) viewOnce(ctx context.Context, number int64) (signedPull, error) {
	if p, ok := g.seen[number]; ok {
		return p, nil
	}
	p, err := g.job.viewPull(ctx, number)
	if err != nil {
		return p, fmt.Errorf("pull request %d of the merge group: %w", number, err)
	}
	g.seen[number] = p
	return p, nil
}

// receiptOnBase is the receipt by which a pull request against a base is signed off, as a whole, for a run's bytes; nil
// where it is not.
func (p signedPull) receiptOnBase(w receipt.Work, base string) *ledger.Entry {
	if p.pr.BaseRef != base || !p.out.Signed() || !p.out.AuditPasses() {
		return nil
	}
	return p.out.ReceiptOf(audit.AuditedRun{Work: &w})
}

// auditOnBase audits a run that base is about to hold, or holds already, brought by somebody.
func (j *Job) auditOnBase(
	ctx context.Context,
	before, after fs.FS,
	run audit.PlannedRun,
	rules *Rules,
	by string,
) audit.AuditedRun {
	a := audit.Examine(after, run, rules.Library, rules.Config, j.priorReceipts(ctx))
	if a.Work != nil {
		a.Work.Evidence = receipt.EvidenceOf(
			a.Work.Report,
			audit.EvidenceProvenance(before, run.Dir, a.Work.Report, by),
		)
	}
	return a
}

// The bounds of a search for the pull request that a merge group's run comes from.
const (
	maxSearched = 2000 // of the newest entries
	maxHints    = 3    // pull requests
)

// hintedPulls are the pull requests of which the ledger's newest entries say that they signed a run's bytes off, the
// newest first. Whoever asks decides about them from their reviews.
func (j *Job) hintedPulls(ctx context.Context, at ledger.Snapshot, w receipt.Work) ([]int64, error) {
	var out []int64
	n := 0
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if n++; n > maxSearched || len(out) == maxHints {
			break
		}
		r := e.Receipt
		if r.Kind.Live() && r.Pull() > 0 && r.Run.ID == w.Run.ID && receipt.SubjectDigest(r) == w.Subject() &&
			!slices.Contains(out, r.Pull()) {
			out = append(out, r.Pull())
		}
	}
	return out, nil
}

// firstKnown names who is not known: an entry of the ledger has a name there.
func firstKnown(logins ...string) string {
	for _, login := range logins {
		if login != "" {
			return login
		}
	}
	return "unknown"
}
