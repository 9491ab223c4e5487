package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// verifiedLedger gives the ledger's newest state after holding it to itself: nothing is read from a ledger that fails.
// Each state is looked at once.
func (j *Job) verifiedLedger(ctx context.Context) (ledger.Snapshot, error) {
	at, err := j.Store.Head(ctx)
	if err != nil {
		return at, fmt.Errorf("reading the ledger: %w", err)
	}
	if j.verifiedState == at.ID && j.hasVerified {
		return at, nil
	}
	problems, err := ledger.VerifyForReading(ctx, j.Store, at, j.ledgerPlace.Genesis)
	if err != nil {
		return at, fmt.Errorf("verifying the ledger: %w", err)
	}
	if len(problems) > 0 {
		return at, brokenLedger(problems)
	}
	j.verifiedState, j.hasVerified = at.ID, true
	return at, nil
}

// readHeldEntries reads what the ledger holds of this pull request. A pull request that never had a run is not the
// ledger's business.
func (f pullFacts) readHeldEntries(ctx context.Context, plan *audit.Plan) (held heldEntries, err error) {
	held.vouched = map[string]bool{}
	if len(plan.Runs)+len(plan.Refusals)+len(plan.Rulebook) == 0 && !f.hasMarkedReview() {
		return held, nil
	}
	if held.at, err = f.job.verifiedLedger(ctx); err != nil {
		return held, err
	}
	held.entries, err = f.job.entriesOfPull(ctx, held.at, f.pr.Number, f.reviews)
	return held, err
}

// hasMarkedReview tells whether any review begins with the gate's marker, whoever wrote it.
func (f pullFacts) hasMarkedReview() bool {
	return slices.ContainsFunc(f.reviews, func(r githubapi.Review) bool {
		m, marked := memory.ParseMarker(r.Body)
		return marked && m.Pull == f.pr.Number
	})
}

// entriesOfPull gives the entries of a pull request, in the order of the chain. Each is at its place in the chain, of
// this pull request and repository, and says of reviews what the forge says; that one was edited or dismissed since is
// no problem here, for to write that down is the gate's own work. It holds nothing to be signed off: only reviews that
// are read now can do that.
func (j *Job) entriesOfPull(
	ctx context.Context,
	at ledger.Snapshot,
	pull int64,
	reviews []githubapi.Review,
) ([]ledger.Entry, error) {
	entries, problems, err := ledger.EntriesOf(ctx, j.Store, at, pull, j.Event.RepositoryID)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	if len(problems) == 0 && len(entries) > 0 {
		online := verify.NewOnline(j.API, nil)
		if reviews != nil {
			online.Know(pull, reviews)
		}
		if problems, err = verify.Approvals(ctx, entries, online); err != nil {
			return nil, fmt.Errorf("comparing the ledger with the reviews: %w", err)
		}
		problems = slices.DeleteFunc(
			problems,
			func(p ledger.Problem) bool { return p.Code == ledger.CodeReviewChanged },
		)
	}
	if len(problems) > 0 {
		return nil, brokenLedger(problems)
	}
	return entries, nil
}

// believeEntry holds a receipt that others build on to the forge's record: its review, and all that the ledger says of
// its pull request.
func (j *Job) believeEntry(ctx context.Context, at ledger.Snapshot, e *ledger.Entry) error {
	pull := e.Receipt.Pull()
	if pull == 0 {
		return fmt.Errorf("it was signed off outside a pull request, and the forge has no record of that")
	}
	reviews, err := j.API.Reviews(ctx, pull)
	if err != nil {
		return err
	}
	entries, err := j.entriesOfPull(ctx, at, pull, reviews)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(entries, func(x ledger.Entry) bool { return x.Hash == e.Hash }) {
		return fmt.Errorf("it is not among the entries of pull request %d", pull)
	}
	return nil
}

// brokenLedger ends a job whose ledger is neither read nor written.
func brokenLedger(problems []ledger.Problem) error {
	return brokenf("%v", receipt.UnsoundLedger(problems))
}
