package verify

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/defendableos/referee/ledger"
)

// maxTailPulls is the reviews of how many other pull requests are read before an append: a sign-off has 16 requests in
// all.
const maxTailPulls = 1

// Tail holds the end of the ledger to itself (L1) and to the forge's record of reviews (L4), before something is
// appended behind it: an entry that somebody forged must not be confirmed by the next one. since is the last state that
// the gate knows; the zero head where it knows none. Looked at are all entries of the given pull request, and the
// entries after since, or some of the newest, from the newest back as far as they belong to no more than one other pull
// request. The schedule verifies the rest.
//
// An approval that was edited or dismissed later is no problem here: to append what says so is the gate's own work.
func Tail(
	ctx context.Context,
	store ledger.Store,
	at ledger.Snapshot,
	since ledger.Head,
	pull int64,
	forge ledger.Online,
) ([]ledger.Problem, error) {
	entries, problems, err := ledger.VerifyTail(ctx, store, at, since)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	looked, problems, err := ledger.EntriesOf(ctx, store, at, pull, 0)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	looked = append(looked, newestOf(entries, pull)...)
	slices.SortFunc(looked, func(a, b ledger.Entry) int { return cmp.Compare(a.Receipt.Seq, b.Receipt.Seq) })
	looked = slices.CompactFunc(looked, func(a, b ledger.Entry) bool { return a.Hash == b.Hash })
	problems, err = Approvals(ctx, looked, forge)
	return slices.DeleteFunc(problems, func(p ledger.Problem) bool { return p.Code == ledger.CodeReviewChanged }), err
}

// newestOf gives the entries at the end that belong to no more pull requests than may be looked at. None is left out in
// between, for a later entry may take back an earlier one.
func newestOf(entries []*ledger.Entry, pull int64) (out []ledger.Entry) {
	others := map[int64]bool{}
	for _, e := range slices.Backward(entries) {
		if n := e.Receipt.Pull(); n != pull && n > 0 {
			if others[n] = true; len(others) > maxTailPulls {
				return out
			}
		}
		out = append(out, *e)
	}
	return out
}

// Approvals holds entries to the reviews that they name, and to nothing else that the forge knows: its merges and runs
// are the whole verification's to compare.
func Approvals(ctx context.Context, entries []ledger.Entry, forge ledger.Online) ([]ledger.Problem, error) {
	return ledger.VerifyApprovals(ctx, entrySeq(entries), reviewsOnly{forge})
}

// reviewsOnly hides what an Online knows beside reviews.
type reviewsOnly struct{ ledger.Online }

// entrySeq gives entries one after the other.
func entrySeq(entries []ledger.Entry) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}
