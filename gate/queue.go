package gate

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/defendableos/referee/ledger"
)

// queueRef is how a merge queue names its branches: the pull request's number stands behind the base's name.
var queueRef = newPattern(`/pr-([1-9][0-9]{0,7})-[0-9a-f]{40,64}$`)

// mergeGroup looks at what a merge queue is about to merge: every run that it brings must have a live receipt for these bytes. Both checks are
// reported on the group's own head, where nobody can review.
func (j *Job) mergeGroup(ctx context.Context) (*Result, error) {
	e := j.Event
	rules, err := j.rulesFor(ctx, e.BaseRef)
	if err != nil {
		return nil, j.brokenAt(ctx, e.HeadSHA, err)
	}
	o := &Outcome{Repository: j.Runner.Repository, ServerURL: j.Runner.ServerURL, RunID: j.Runner.RunID, Attempt: j.Runner.Attempt, Head: e.HeadSHA, Base: e.BaseSHA,
		FailOn: rules.Config.FailOn, Accept: rules.Config.Accept, Ledger: rules.Config.Ledger, Need: rules.Config.Approval.Count}
	if m := queueRef.FindStringSubmatch(e.Ref); m != nil {
		o.Pull, _ = strconv.ParseInt(m[1], 10, 64) // at most eight digits
	}
	if err := j.grouped(ctx, o, rules); err != nil {
		return nil, j.brokenAt(ctx, e.HeadSHA, err)
	}
	p := &pulled{j: j, rules: rules, out: o}
	p.pr.HeadSHA = e.HeadSHA
	if _, err := p.postChecks(ctx); err != nil {
		return nil, err
	}
	return &Result{Word: o.Result(), Failed: !o.AuditPasses() || !o.Signed(), Outcome: o}, nil
}

// grouped audits the runs of a merge group and finds their receipts.
func (j *Job) grouped(ctx context.Context, o *Outcome, rules *Rules) error {
	if err := j.fetch(ctx, o.Base, o.Head); err != nil {
		return err
	}
	plan, err := MakePlan(j.trees[o.Base], j.trees[o.Head], rules.Config)
	if err != nil {
		return broken("the merge group cannot be looked through: %v", err)
	}
	o.Refusals, o.Removed = plan.Refusals, plan.Removed
	at, err := j.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	o.LedgerHead = at.Head.Tip
	for _, run := range plan.Runs {
		a := j.examineOn(ctx, j.trees[o.Base], j.trees[o.Head], run, rules)
		o.Audits = append(o.Audits, a)
		if a.Work == nil {
			continue
		}
		receipt, err := j.receiptFor(ctx, at, o.Pull, *a.Work)
		if err != nil {
			return err
		}
		if receipt != nil {
			o.Receipts = append(o.Receipts, *receipt)
			o.Waived = append(o.Waived, receipt.Receipt.Accepted...)
		}
	}
	return nil
}

// examineOn audits a run that base is about to hold, or holds already: brought by whoever started the event.
func (j *Job) examineOn(ctx context.Context, before, after fs.FS, run PlannedRun, rules *Rules) Audited {
	a := Examine(after, run, rules.Library, rules.Config, j.prior(ctx))
	if a.Work != nil {
		a.Work.Evidence = EvidenceOf(a.Work.Report, provenance(before, run.Dir, a.Work.Report, j.Event.Sender))
	}
	return a
}

// brokenAt says on a commit why nothing was audited, and gives that reason.
func (j *Job) brokenAt(ctx context.Context, sha string, why error) error {
	p := &pulled{j: j}
	p.pr.HeadSHA = sha
	if err := p.postBroken(ctx, why); err != nil {
		return fmt.Errorf("%w; and the check could not be written: %w", why, err)
	}
	return why
}

// searched is how many of the newest entries are looked through for a receipt whose pull request is not known.
const searched = 2000

// receiptFor finds the live receipt for a run's bytes: among the entries of the pull request, and else among the newest of the ledger.
func (j *Job) receiptFor(ctx context.Context, at ledger.Snapshot, pull int64, w Work) (*ledger.Entry, error) {
	fits := func(e *ledger.Entry) bool {
		return e.Receipt.Kind.Live() && e.Receipt.Run.ID == w.Run.ID && subjectOf(e.Receipt) == w.Subject()
	}
	if pull > 0 {
		entries, err := pullEntries(ctx, j.Store, at, pull)
		if err != nil {
			return nil, err
		}
		p := &pulled{entries: entries}
		live := p.live()
		if i := slices.IndexFunc(live, func(e ledger.Entry) bool { return fits(&e) }); i >= 0 {
			return &live[i], nil
		}
	}
	ended := map[string]bool{}
	n := 0
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if n++; n > searched {
			break
		}
		if ends[e.Receipt.Kind] {
			ended[e.Receipt.RefersTo] = true
		}
		if fits(e) && !ended[e.Hash] && !ended[e.Receipt.RefersTo] {
			return e, nil
		}
	}
	return nil, nil
}
