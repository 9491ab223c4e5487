package gate

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/ledger"
)

// ends are the kinds that take an earlier entry's word back.
var ends = map[ledger.Kind]bool{ledger.Amended: true, ledger.Revoked: true, ledger.Superseded: true}

// Ended returns the entry that takes an earlier one back in this state of the ledger, or nil: it is amended, revoked or superseded. Entries of
// a pull request are read from its folder; others from the newest back to it.
func Ended(ctx context.Context, store ledger.Store, at ledger.Snapshot, earlier *ledger.Entry) (*ledger.Entry, error) {
	if pull := earlier.Receipt.PullRequest; pull != nil {
		return endedIn(ctx, store, at, earlier, ledger.PullDir(pull.Number))
	}
	for e, err := range ledger.Backwards(ctx, store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if e.Receipt.Seq <= earlier.Receipt.Seq {
			break
		}
		if e.Receipt.RefersTo == earlier.Hash && ends[e.Receipt.Kind] {
			return e, nil
		}
	}
	return nil, nil
}

func endedIn(ctx context.Context, store ledger.Store, at ledger.Snapshot, earlier *ledger.Entry, dir string) (*ledger.Entry, error) {
	files, err := store.Read(ctx, at, dir)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	for _, f := range files {
		r, err := ledger.Parse(f.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if r.RefersTo == earlier.Hash && ends[r.Kind] && r.Seq < at.Head.Count { // not what came after this state (Before)
			return &ledger.Entry{Bytes: f.Data, Receipt: r}, nil
		}
	}
	return nil, nil
}
