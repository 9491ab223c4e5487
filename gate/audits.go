package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// auditedPull is the second step: the audits of the runs that a pull request changes, the limits of their agents, and
// what the ledger holds of the pull request.
type auditedPull struct {
	pullFacts
	plan *audit.Plan
	held heldEntries
	out  outcome.Outcome // what is known so far
}

// maxSubmitted bounds the bytes of all submissions of a pull request together, which are held at once.
const maxSubmitted = 256 << 20

// auditRuns examines every changed run by the rules of base, holds the agents to their limits, and says what changed
// rulebooks would do.
func (f pullFacts) auditRuns(ctx context.Context) (a auditedPull, err error) {
	a = f.beginAudit()
	before, head, cfg := f.job.trees[f.mergeBase], f.job.trees[f.pr.HeadSHA], f.rules.Config
	if a.plan, err = audit.MakePlan(before, head, cfg); err != nil {
		return a, brokenf("the pull request's files cannot be read: %v", err)
	}
	a.out.Refusals, a.out.Removed = a.plan.Refusals, a.plan.Removed
	if a.held, err = f.readHeldEntries(ctx, a.plan); err != nil {
		return a, err
	}
	if a.held.at.Head.Count > 0 {
		a.out.LedgerHead = a.held.at.Head.Tip
	}
	prior := f.job.priorReceipts(ctx)
	room, work := maxSubmitted, &decimal.Meter{Most: audit.MaxPullWork}
	for _, run := range a.plan.Runs {
		one := audit.ExamineWithin(head, run, f.rules.Library, cfg, prior, work)
		if one.Work != nil {
			if room -= len(one.Work.Bytes); room < 0 {
				return a, brokenf(
					"the submissions of this pull request total more than %d MiB: split it",
					maxSubmitted>>20,
				)
			}
			added := audit.EvidenceProvenance(before, run.Dir, one.Work.Report, f.pr.Author)
			one.Work.Evidence = receipt.EvidenceOf(one.Work.Report, added)
			a.out.Refusals = append(a.out.Refusals, audit.RefuseForeignEvidence(one, cfg)...)
		}
		a.out.Audits = append(a.out.Audits, one)
	}
	if err := refuseSharedRunID(a.out.Audits); err != nil {
		return a, err
	}
	return a.checkAgentsAndRulebooks(ctx)
}

// beginAudit is the outcome before anything is audited: whose it is, and by which rules.
func (f pullFacts) beginAudit() auditedPull {
	a := auditedPull{pullFacts: f, plan: &audit.Plan{}, held: heldEntries{vouched: map[string]bool{}}}
	a.out = f.job.newOutcome(f.pr.HeadSHA, f.pr.Number)
	cfg := f.rules.Config
	a.out.Base, a.out.FailOn, a.out.Accept = f.rules.Commit, cfg.FailOn, cfg.Accept
	a.out.Need, a.out.Ledger, a.out.DigestRequired = cfg.Approval.Count, f.job.ledgerPlace, cfg.Approval.DigestRequired
	return a
}

// refuseSharedRunID refuses two runs of one id in a pull request: a receipt could not tell them apart.
func refuseSharedRunID(audits []audit.AuditedRun) error {
	seen := map[string]string{}
	for _, a := range audits {
		if a.Work == nil {
			continue
		}
		if other := seen[a.Work.Run.ID]; other != "" {
			return brokenf("the runs %s and %s share the id %q: give each its own", other, a.Dir, a.Work.Run.ID)
		}
		seen[a.Work.Run.ID] = a.Dir
	}
	return nil
}

// priorReceipts resolves receipts of the ledger as it is when the first one is asked for. A receipt that the forge's
// record of reviews does not bear out is not believed: a forged one would open whatever builds on it.
func (j *Job) priorReceipts(ctx context.Context) referee.PriorFunc {
	head := sync.OnceValues(func() (ledger.Snapshot, error) { return j.verifiedLedger(ctx) })
	return func(sha, pointer string) (v policy.Val, err error) {
		at, err := head()
		if err != nil {
			return v, fmt.Errorf("reading the ledger: %w", err)
		}
		return receipt.ResolvePrior(ctx, j.Store, at, sha, pointer, j.believeEntry)
	}
}

// checkAgentsAndRulebooks holds the agents to their limits and says what changed rulebooks would do.
func (a auditedPull) checkAgentsAndRulebooks(ctx context.Context) (auditedPull, error) {
	j, cfg := a.job, a.rules.Config
	history := governance.NewHistory(cfg, a.pr.Number, a.out.Audits)
	if len(a.out.Audits) > 0 {
		if err := j.feedHistory(ctx, a.held.at, history, cfg.Governance.SpendCapUSD != ""); err != nil {
			return a, err
		}
	}
	a.out.Governance = governance.CheckLimits(a.out.Audits, cfg, history, a.pr.UpdatedAt)
	if len(a.plan.Rulebook) == 0 {
		return a, nil
	}
	stored, err := j.storedRuns(ctx, a.held.at, a.rules)
	if err != nil {
		return a, err
	}
	a.out.Rulebook = rulebook.Changes(j.trees[a.mergeBase], j.trees[a.pr.HeadSHA], cfg, j.Embedded, j.Tools, stored)
	return a, nil
}

// maxRecalled is how many of the newest entries governance looks at where nothing is summed up over all of them.
const maxRecalled = 5000

// feedHistory feeds the ledger to a history, oldest first: all of it, or the newest entries.
func (j *Job) feedHistory(ctx context.Context, at ledger.Snapshot, h *governance.History, all bool) error {
	var newest []ledger.Entry
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		newest = append(newest, ledger.Entry{Hash: e.Hash, Receipt: e.Receipt}) // the bytes of many would not fit
		if len(newest) == maxRecalled && !all {
			break
		}
	}
	for i := range slices.Backward(newest) {
		if err := h.Add(&newest[i]); err != nil {
			return err
		}
	}
	return nil
}

// storedRuns are the live receipts whose runs are on base, for asking what another rulebook would say of them.
func (j *Job) storedRuns(ctx context.Context, at ledger.Snapshot, rules *Rules) ([]rulebook.StoredRun, error) {
	var newest []ledger.Entry
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if e.Receipt.Seq+maxRecalled < at.Head.Count {
			break
		}
		newest = append(newest, ledger.Entry{Hash: e.Hash, Receipt: e.Receipt})
	}
	var out []rulebook.StoredRun
	for _, e := range ledger.Live(newest) {
		folder, where, err := receipt.FindRun(rules.Tree, e.Receipt)
		if errors.Is(err, receipt.ErrNotAtHand) || errors.Is(err, fs.ErrNotExist) {
			continue // not merged, or changed since
		}
		if err != nil {
			return nil, err
		}
		out = append(out, rulebook.StoredRun{Receipt: e.Receipt, Folder: folder, Where: where})
	}
	return out, nil
}
