package gate

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/defendableos/referee/ledger"
)

// maxTailPulls is the reviews of how many other pull requests are read before an append: a sign-off has 15 requests in all.
const maxTailPulls = 1

// VerifyTail holds the end of the ledger to itself (L1) and to the forge's record of reviews (L4), before something is appended behind it: an entry
// that somebody forged with the workflow's token must not be confirmed by the next one. since is the last state that the gate knows; the zero head
// where it knows none. Looked at are all entries of the given pull request, and the entries after since, or some of the newest, from the newest back as
// far as they belong to no more than one other pull request. The schedule verifies the rest.
//
// An approval that was edited or dismissed later is no problem here: to append what says so is the gate's own work.
func VerifyTail(ctx context.Context, store ledger.Store, at ledger.Snapshot, since ledger.Head, pull int64, forge ledger.Online) ([]ledger.Problem, error) {
	entries, problems, err := ledger.VerifyTail(ctx, store, at, since)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	receipts, err := ofPull(ctx, store, at, pull)
	if err != nil {
		return nil, err
	}
	receipts = append(receipts, newestOf(entries, pull)...)
	slices.SortFunc(receipts, func(a, b *ledger.Receipt) int { return cmp.Compare(a.Seq, b.Seq) })
	receipts = slices.CompactFunc(receipts, func(a, b *ledger.Receipt) bool { return a.Seq == b.Seq })
	problems, err = ledger.VerifyApprovals(ctx, each(receipts), forge)
	return slices.DeleteFunc(problems, func(p ledger.Problem) bool { return p.Code == ledger.CodeReviewChanged }), err
}

// ofPull gives the entries of a pull request, none for 0.
func ofPull(ctx context.Context, store ledger.Store, at ledger.Snapshot, pull int64) ([]*ledger.Receipt, error) {
	if pull == 0 {
		return nil, nil
	}
	files, err := store.Read(ctx, at, ledger.PullDir(pull))
	if err != nil {
		return nil, fmt.Errorf("reading the entries of pull request %d: %w", pull, err)
	}
	var out []*ledger.Receipt
	for _, f := range files {
		r, err := ledger.Parse(f.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// newestOf gives the entries at the end that belong to no more pull requests than may be looked at. None is left out in between, for a later entry
// may take back an earlier one.
func newestOf(entries []*ledger.Entry, pull int64) (out []*ledger.Receipt) {
	others := map[int64]bool{}
	for _, e := range slices.Backward(entries) {
		if n := e.Receipt.Pull(); n != pull && n > 0 {
			if others[n] = true; len(others) > maxTailPulls {
				return out
			}
		}
		out = append(out, e.Receipt)
	}
	return out
}

// each gives receipts one after the other.
func each(receipts []*ledger.Receipt) iter.Seq2[*ledger.Receipt, error] {
	return func(yield func(*ledger.Receipt, error) bool) {
		for _, r := range receipts {
			if !yield(r, nil) {
				return
			}
		}
	}
}
