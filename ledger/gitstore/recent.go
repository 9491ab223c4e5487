package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// Commits is ledger.History's: the newest n commits of that state, the newest first, as far as they can be had: a
// server that sends only the newest commit whole ends the list there. The newest commit itself must be there; only an
// older one may be missing.
func (s *Store) Commits(ctx context.Context, at ledger.Snapshot, n int) ([]ledger.Commit, error) {
	// Without this, the loop below would ask for one commit at a time.
	if r, ok := s.at.(*remote); ok && r.wire != nil && at.ID != "" {
		if err := r.wire.fetchRecent(ctx, at.ID, n); err != nil {
			return nil, fmt.Errorf("%s: %w", s.ledgerRef(), err)
		}
	}
	var out []ledger.Commit
	for id := at.ID; id != "" && len(out) < n; {
		rec, err := s.objects.readCommit(ctx, id)
		// A mirror holds the newest commit only.
		if errors.Is(err, ErrMissing) && len(out) > 0 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.ledgerRef(), err)
		}
		out = append(out, ledger.Commit{ID: id, Parents: rec.Parents, Time: time.Unix(rec.Time, 0).UTC(),
			Message: rec.Message})
		if id = ""; len(rec.Parents) > 0 {
			id = rec.Parents[0]
		}
	}
	return out, nil
}

// fetchRecent brings in the newest commits of a branch by one request, without their trees. One by one, each would be a
// request. What came is kept by its id, so a server that sends other commits only fills memory, within the limits of
// ReadPack.
func (w *wire) fetchRecent(ctx context.Context, commit string, depth int) error {
	pack, end, err := w.fetchPack(ctx, []string{commit}, "filter tree:0", fmt.Sprintf("deepen %d", depth))
	if err != nil {
		return err
	}
	defer end()
	none := func(string) (gitobject.Object, bool) { return gitobject.Object{}, false }
	got, err := gitobject.ReadPack(pack, gitobject.Limits{Objects: atMost, Size: maxCommit, Total: maxHeld}, none)
	if err != nil {
		return err
	}
	for _, o := range got {
		w.keep(o)
	}
	return nil
}
