package gitstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/defendableos/referee/ledger"
)

// VerifyOptions say what Verify looks at.
type VerifyOptions struct {
	Pins []ledger.Pin
	// compares every commit with the one before it; otherwise their messages and dates, and the newest tree
	Full     bool
	Progress func(done, total int)
}

// Verify looks at a ledger's commit: the repository for what would show other objects (Altered), the newest tree as a
// closed world (ledger.Verify), the pins, and the commits (ledger.VerifyHistory). The problems come in that order.
func (r *Repo) Verify(ctx context.Context, commit string, o VerifyOptions) (*ledger.Verification, error) {
	altered, err := r.Altered()
	if err != nil {
		return nil, err
	}
	tree := r.Tree(ctx, commit)
	v, err := ledger.Verify(ctx, tree, ledger.Options{Pins: o.Pins, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	var history []ledger.Problem
	if !slices.ContainsFunc(v.Problems, func(p ledger.Problem) bool { return p.Code == ledger.CodeTooMany }) {
		if history, err = r.verifyHistory(ctx, commit, v, o.Full); err != nil {
			return nil, err
		}
	}
	v.Problems = slices.Concat(altered, tree.Problems(), v.Problems, history)
	if !v.OK() {
		v.Level = 0
	}
	return v, nil
}

// verifyHistory turns commits that are not there into a problem.
func (r *Repo) verifyHistory(ctx context.Context, commit string, v *ledger.Verification, full bool) ([]ledger.Problem,
	error) {
	var last string
	var cut *ledger.Problem
	var broken []ledger.Problem // directories of older commits that cannot be compared
	commits := func(yield func(ledger.Commit, error) bool) {
		for c, err := range r.Commits(ctx, commit) {
			if errors.Is(err, ErrMissing) || errors.Is(err, ErrCorrupt) {
				cut = r.cutProblem(last, err)
				return
			}
			if err == nil && full && len(c.Parents) > 0 {
				edits, failed := r.Edits(ctx, c.ID, c.Parents[0])
				// a missing one is said of the commit itself
				if c.Edits = edits; failed != nil && !errors.Is(failed, ErrMissing) {
					broken = append(broken, ledger.Problem{Code: ledger.CodeUnknownFile, Level: ledger.L1, Seq: -1,
						Message: fmt.Sprintf("commit %.12s: %v", c.ID, failed)})
				}
			}
			if !yield(c, errors.Join(err, ctx.Err())) {
				return
			}
			last = c.ID
		}
	}
	minted := func(seq int64) string {
		if seq < int64(len(v.Minted)) {
			return v.Minted[seq]
		}
		return ""
	}
	problems, err := ledger.VerifyHistory(commits, v, minted)
	if err != nil {
		return nil, err
	}
	problems = append(problems, broken...)
	if cut != nil {
		// The first commit that is there is not the first: what is said of it as such does not count.
		problems = slices.DeleteFunc(problems, func(p ledger.Problem) bool {
			return p.Code == ledger.CodeCommitChain &&
				p.Seq == -1
		})
		problems = append(problems, *cut)
	}
	return problems, nil
}

// cutProblem says where the history ends too early.
func (r *Repo) cutProblem(last string, err error) *ledger.Problem {
	code, why := ledger.CodeUnreadable, err.Error()
	if r.isShallowAt(last) {
		code, why = ledger.CodeShallow, fmt.Sprintf("the clone ends at the commit %.12s, which has a parent", last)
	}
	about, _ := code.Of()
	return &ledger.Problem{Code: code, Level: about.Level, Seq: -1, Message: why}
}

// Receipts returns the entries in order, read as a whole. It is for a ledger that has been verified: a file that is no
// receipt ends it.
func (t *Tree) Receipts() iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		var places []ledger.Place
		ids := map[ledger.Place]string{}
		for e, err := range t.Entries() {
			if err != nil {
				yield(ledger.Entry{}, err)
				return
			}
			if p, err := ledger.Allowed(e.Path, e.Mode, e.Size); err == nil && p.Class == ledger.EntryFile {
				places, ids[p] = append(places, p), e.ID
			}
		}
		slices.SortFunc(places, func(a, b ledger.Place) int { return int(a.Seq - b.Seq) })
		order := make([]string, len(places))
		for i, p := range places {
			order[i] = ids[p]
		}
		i := 0
		for b, err := range t.Blobs(order) {
			e := ledger.Entry{Bytes: b}
			if err == nil {
				e.Hash = places[i].Hash
				e.Receipt, err = ledger.Parse(b)
			}
			if !yield(e, err) || err != nil {
				return
			}
			i++
		}
	}
}
