package gitstore

import (
	"context"
	"errors"
)

// maxAncestors bounds the commits that are read for the merge base of two of them, at some microseconds each.
const maxAncestors = 20_000

// MergeBase finds the best common ancestor of two commits that the repository holds. It is ok only where the commits
// prove it (Work.MergeBase says how): history may be shallow, or longer than what is read. Commits are read generation
// by generation, because dates cannot be trusted to order them. The proof is tried when their number has doubled:
// trying after each would make the whole quadratic.
func (r *Repo) MergeBase(ctx context.Context, base, head string) (id string, ok bool, err error) {
	came, next := lineage{}, []string{base, head}
	for tryAt := 64; len(next) > 0 && len(came) < maxAncestors; {
		var behind []string
		for _, id := range next {
			if _, known := came[id]; known {
				continue
			}
			rec, err := r.libraryObjects().readCommit(ctx, id)
			// A commit that is not there stays out of came, and the proof then refuses to rest on it.
			if errors.Is(err, ErrMissing) {
				continue
			}
			if err != nil {
				return "", false, err
			}
			came[id] = rec.Parents
			behind = append(behind, rec.Parents...)
		}
		next = behind
		if len(came) >= tryAt || len(next) == 0 {
			if id, ok = came.mergeBase(base, head); ok {
				return id, true, nil
			}
			tryAt = 2 * len(came)
		}
	}
	return "", false, nil
}
