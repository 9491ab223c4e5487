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

// mergeGroup looks at what a merge queue is about to merge: every run that it brings must be signed off now, in the pull request that brings it,
// for these bytes. Both checks are reported on the group's own head, where nobody can review.
func (j *Job) mergeGroup(ctx context.Context) (*Result, error) {
	e := j.Event
	o := &outcome.Outcome{Repository: j.Runner.Repository, ServerURL: j.Runner.ServerURL, RunID: j.Runner.RunID, Attempt: j.Runner.Attempt, Head: e.HeadSHA, Base: e.BaseSHA}
	if m := queueRef.FindStringSubmatch(e.Ref); m != nil {
		o.Pull, _ = strconv.ParseInt(m[1], 10, 64) // at most eight digits
	}
	p := &pulled{j: j, out: o}
	p.pr.HeadSHA = e.HeadSHA
	for _, step := range []func(context.Context) error{p.turnBack, p.group, p.postGroup} {
		if err := step(ctx); err != nil {
			if failed := p.postBroken(ctx, err); failed != nil {
				return nil, fmt.Errorf("%w; and the check could not be written: %w", err, failed)
			}
			return nil, err
		}
	}
	return &Result{Word: o.Result(), Failed: !o.AuditPasses() || !o.Signed(), Outcome: o}, nil
}

func (p *pulled) postGroup(ctx context.Context) error {
	_, err := p.postChecks(ctx)
	return err
}

// group audits the runs of a merge group and decides, from the reviews of now, whether the pull requests that bring them are signed off.
func (p *pulled) group(ctx context.Context) (err error) {
	j, o := p.j, p.out
	if p.rules, err = j.rulesFor(ctx, j.Event.BaseRef); err != nil {
		return err
	}
	cfg := p.rules.Config
	o.FailOn, o.Accept, o.Ledger, o.Need = cfg.FailOn, cfg.Accept, cfg.Ledger, cfg.Approval.Count
	if err := j.fetch(ctx, o.Base, o.Head); err != nil {
		return err
	}
	plan, err := audit.MakePlan(j.trees[o.Base], j.trees[o.Head], cfg)
	if err != nil {
		return broken("the merge group cannot be looked through: %v", err)
	}
	o.Refusals, o.Removed = plan.Refusals, plan.Removed
	if len(plan.Runs) == 0 {
		return nil
	}
	at, err := j.verified(ctx)
	if err != nil {
		return err
	}
	o.LedgerHead = at.Head.Tip
	g := &grouped{j: j, base: j.Event.BaseRef, seen: map[int64]*pulled{}}
	for _, run := range plan.Runs {
		a := j.examineOn(ctx, j.trees[o.Base], j.trees[o.Head], run, p.rules, nobody(j.Event.Sender))
		o.Audits = append(o.Audits, a)
		if a.Work == nil {
			continue
		}
		if err := g.find(ctx, at, o, *a.Work); err != nil {
			return err
		}
	}
	return nil
}

// grouped are the pull requests of a merge group, as they are signed off now.
type grouped struct {
	j    *Job
	base string
	seen map[int64]*pulled
}

// find adds the receipts of a run's sign-off to the outcome, where the pull request that brings it is signed off now. The queue's branch names one
// pull request; where a group holds several, the ledger tells where to look, and nothing more.
func (g *grouped) find(ctx context.Context, at ledger.Snapshot, o *outcome.Outcome, w receipt.Work) error {
	hinted, err := g.j.hinted(ctx, at, w)
	if err != nil {
		return err
	}
	for _, n := range append([]int64{o.Pull}, hinted...) {
		if n == 0 {
			continue
		}
		p, err := g.pull(ctx, n)
		var unfit *Broken
		if errors.As(err, &unfit) && n != o.Pull {
			continue // one that is closed, say: the ledger's hint was of no use
		}
		if err != nil {
			return err
		}
		if e := p.signedFor(w, g.base); e != nil {
			o.Receipts = append(o.Receipts, *e)
			o.Waived = append(o.Waived, p.out.Waivers()...)
			return nil
		}
	}
	return nil
}

// pull decides about one pull request, once.
func (g *grouped) pull(ctx context.Context, number int64) (*pulled, error) {
	if p, ok := g.seen[number]; ok {
		return p, nil
	}
	p, err := g.j.view(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("pull request %d, which the merge group brings: %w", number, err)
	}
	g.seen[number] = p
	return p, nil
}

// signedFor is the receipt by which a pull request against a base is signed off, as a whole, for a run's bytes; nil where it is not.
func (p *pulled) signedFor(w receipt.Work, base string) *ledger.Entry {
	if p.pr.BaseRef != base || !p.out.Signed() || !p.out.AuditPasses() {
		return nil
	}
	return p.out.ReceiptOf(audit.AuditedRun{Work: &w})
}

// examineOn audits a run that base is about to hold, or holds already, brought by somebody.
func (j *Job) examineOn(ctx context.Context, before, after fs.FS, run audit.PlannedRun, rules *Rules, by string) audit.AuditedRun {
	a := audit.Examine(after, run, rules.Library, rules.Config, j.prior(ctx))
	if a.Work != nil {
		a.Work.Evidence = receipt.EvidenceOf(a.Work.Report, audit.EvidenceProvenance(before, run.Dir, a.Work.Report, by))
	}
	return a
}

// The bounds of a search for the pull request that a merge group's run comes from.
const (
	searched = 2000 // of the newest entries
	hints    = 3    // pull requests
)

// hinted are the pull requests of which the ledger's newest entries say that they signed a run's bytes off, the newest first. Whoever asks decides
// about them from their reviews.
func (j *Job) hinted(ctx context.Context, at ledger.Snapshot, w receipt.Work) ([]int64, error) {
	var out []int64
	n := 0
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if n++; n > searched || len(out) == hints {
			break
		}
		r := e.Receipt
		if r.Kind.Live() && r.Pull() > 0 && r.Run.ID == w.Run.ID && receipt.SubjectDigest(r) == w.Subject() && !slices.Contains(out, r.Pull()) {
			out = append(out, r.Pull())
		}
	}
	return out, nil
}

// nobody names who is not known: an entry of the ledger has a name there.
func nobody(logins ...string) string {
	for _, login := range logins {
		if login != "" {
			return login
		}
	}
	return "unknown"
}
