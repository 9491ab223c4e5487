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
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// pulled is a pull request while a job looks at it.
type pulled struct {
	j       *Job
	pr      githubapi.PullRequest
	rules   *Rules
	fork    string // the merge base
	reviews []githubapi.Review
	checks  []githubapi.Check // of the head, those that this job has turned back as they are now
	unseen  error             // why the checks could not be read, nil if they were
	claimed bool              // this job has written a check, and no sign-off check that it can turn back is green
	story   githubapi.Story   // read last, once everything else that decides has been read
	memory  memory.Memory     // what our own review keeps, by the story
	at      ledger.Snapshot
	entries []ledger.Entry  // of this pull request, verified
	vouched map[string]bool // entries, by hash, that the gate itself has announced, or that this job wrote or decided again
	changed *audit.Plan
	out     *outcome.Outcome
}

// newPulled begins with a pull request as the API gives it now.
func (j *Job) newPulled(ctx context.Context, number int64) (*pulled, error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	direct := j.Event.Name == "pull_request" || j.Event.Name == "pull_request_review"
	out := &outcome.Outcome{Repository: j.Runner.Repository, ServerURL: j.Runner.ServerURL, RunID: j.Runner.RunID, Attempt: j.Runner.Attempt, Direct: direct,
		Pull: number, Head: pr.HeadSHA}
	return &pulled{j: j, pr: pr, vouched: map[string]bool{}, out: out}, nil
}

// pull audits a pull request as it is now, works out who has signed, writes what the ledger has to say, and posts it. An older green sign-off is
// turned back before anything is read that may fail. Where the work cannot be done, both checks fail and say why.
func (j *Job) pull(ctx context.Context, number int64) (*Result, error) {
	p, err := j.newPulled(ctx, number)
	if err != nil {
		return nil, err
	}
	if sha := j.Options.SHA; sha != "" && sha != p.pr.HeadSHA {
		return nil, broken("the input sha is %.12s, the head of pull request %d is %.12s now: the head is what is audited", sha, number, p.pr.HeadSHA)
	}
	if p.pr.State != "open" {
		return p.follow(ctx)
	}
	for _, step := range []func(context.Context) error{p.turnBack, p.look, p.decide, p.compareSiblings, p.post} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, p.postBroken(ctx, err))
		}
	}
	return p.result(), nil
}

// result is how the job ends. A sign-off check that could not be written, while an older green one may stand, is a failure.
func (p *pulled) result() *Result {
	r := &Result{Word: p.out.Result(), Failed: !p.out.AuditPasses(), Outcome: p.out}
	if p.out.StaleGreen {
		r.Failed = true
		r.Messages = append(r.Messages, "the sign-off check could not be written, and an older one may still be green: give the workflow `checks: write`, and run it again")
	}
	return r
}

// view reads a pull request and decides about it as pull does, and writes nothing: whether it is signed off now, for what depends on that.
func (j *Job) view(ctx context.Context, number int64) (*pulled, error) {
	p, err := j.newPulled(ctx, number)
	if err != nil {
		return nil, err
	}
	if p.pr.State != "open" {
		return nil, broken("pull request %d is %s", number, p.pr.State)
	}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	return p, p.judge(ctx)
}

// look reads everything that is judged: rules, trees, runs, and the ledger's entries of this pull request.
func (p *pulled) look(ctx context.Context) error {
	j := p.j
	rules, err := j.rulesFor(ctx, p.pr.BaseRef)
	if err != nil {
		return err
	}
	p.rules = rules
	cfg := rules.Config
	p.out.Base, p.out.FailOn, p.out.Accept, p.out.Need, p.out.Ledger = rules.Commit, cfg.FailOn, cfg.Accept, cfg.Approval.Count, j.kept
	p.out.DigestRequired = cfg.Approval.DigestRequired
	base, err := j.Work.Tip(ctx, "refs/heads/"+p.pr.BaseRef)
	if err != nil {
		return err
	}
	if base == "" {
		base = p.pr.BaseSHA // the base branch was deleted
	}
	if p.fork, err = j.mergeBase(ctx, base, p.pr.HeadSHA); err != nil {
		return err
	}
	if err := j.fetch(ctx, p.fork, p.pr.HeadSHA); err != nil {
		return fmt.Errorf("reading the pull request's commits: %w", err)
	}
	if p.reviews, err = j.API.Reviews(ctx, p.pr.Number); err != nil {
		return err
	}
	return p.audit(ctx)
}

// mergeBase is the commit from which a pull request is looked at: what the commits themselves prove, or else what GitHub says. Where git's own protocol
// fails, GitHub is asked too.
func (j *Job) mergeBase(ctx context.Context, base, head string) (string, error) {
	if id, ok, err := j.Work.MergeBase(ctx, base, head); ok && err == nil {
		return id, nil
	}
	return j.API.MergeBase(ctx, base, head)
}

// maxSubmitted bounds the bytes of all submissions of a pull request together, which are held at once.
const maxSubmitted = 256 << 20

// audit examines every changed run by the rules.
func (p *pulled) audit(ctx context.Context) error {
	before, head, o, cfg := p.j.trees[p.fork], p.j.trees[p.pr.HeadSHA], p.out, p.rules.Config
	plan, err := audit.MakePlan(before, head, cfg)
	if err != nil {
		return broken("the pull request cannot be looked through: %v", err)
	}
	p.changed = plan
	o.Refusals, o.Removed = plan.Refusals, plan.Removed
	if err := p.readLedger(ctx); err != nil {
		return err
	}
	prior := p.j.prior(ctx)
	room := maxSubmitted
	for _, run := range plan.Runs {
		a := audit.Examine(head, run, p.rules.Library, cfg, prior)
		if a.Work != nil {
			if room -= len(a.Work.Bytes); room < 0 {
				return broken("the submissions of this pull request have more than %d MiB together: split it", maxSubmitted>>20)
			}
			a.Work.Evidence = receipt.EvidenceOf(a.Work.Report, audit.EvidenceProvenance(before, run.Dir, a.Work.Report, p.pr.Author))
			o.Refusals = append(o.Refusals, audit.RefuseForeignEvidence(a, cfg)...)
		}
		o.Audits = append(o.Audits, a)
	}
	if err := twins(o.Audits); err != nil {
		return err
	}
	return p.govern(ctx)
}

// twins refuses two runs of one id in a pull request: a receipt could not tell them apart.
func twins(audits []audit.AuditedRun) error {
	seen := map[string]string{}
	for _, a := range audits {
		if a.Work == nil {
			continue
		}
		if other := seen[a.Work.Run.ID]; other != "" {
			return broken("the runs %s and %s have one id, %q: give each its own", other, a.Dir, a.Work.Run.ID)
		}
		seen[a.Work.Run.ID] = a.Dir
	}
	return nil
}

// prior resolves receipts of the ledger as it is when the first one is asked for. A receipt that the forge's record of reviews does not bear out
// is not believed: a forged one would open whatever builds on it.
func (j *Job) prior(ctx context.Context) referee.PriorFunc {
	head := sync.OnceValues(func() (ledger.Snapshot, error) { return j.verified(ctx) })
	return func(sha, pointer string) (v policy.Val, err error) {
		at, err := head()
		if err != nil {
			return v, fmt.Errorf("reading the ledger: %w", err)
		}
		return receipt.ResolvePrior(ctx, j.Store, at, sha, pointer, j.vouch)
	}
}

// govern holds the agents to their limits and says what changed rulebooks would do.
func (p *pulled) govern(ctx context.Context) error {
	j, o, cfg := p.j, p.out, p.rules.Config
	history := governance.NewHistory(cfg, p.pr.Number, o.Audits)
	if len(o.Audits) > 0 {
		if err := j.recall(ctx, p.at, history, cfg.Governance.SpendCapUSD != ""); err != nil {
			return err
		}
	}
	o.Governance = governance.CheckLimits(o.Audits, cfg, history, p.pr.UpdatedAt)
	if len(p.changed.Rulebook) == 0 {
		return nil
	}
	stored, err := j.stored(ctx, p.at, p.rules)
	if err != nil {
		return err
	}
	o.Rulebook = rulebook.Changes(j.trees[p.fork], j.trees[p.pr.HeadSHA], cfg, j.Embedded, j.Tools, stored)
	return nil
}

// recalled is how many of the newest entries governance looks at where nothing is summed up over all of them.
const recalled = 5000

// recall feeds the ledger to a history, oldest first: all of it, or the newest entries.
func (j *Job) recall(ctx context.Context, at ledger.Snapshot, h *governance.History, all bool) error {
	var newest []ledger.Entry
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		newest = append(newest, ledger.Entry{Hash: e.Hash, Receipt: e.Receipt}) // the bytes of many would not fit
		if len(newest) == recalled && !all {
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

// stored are the live receipts whose runs are on base, for asking what another rulebook would say of them.
func (j *Job) stored(ctx context.Context, at ledger.Snapshot, rules *Rules) ([]rulebook.StoredRun, error) {
	var newest []ledger.Entry
	for e, err := range ledger.Backwards(ctx, j.Store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if e.Receipt.Seq+recalled < at.Head.Count {
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
