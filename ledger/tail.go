package ledger

import "context"

// The bounds of a tail of which nothing is known from before: as many entries as are wanted, and as are read at most.
// The store of package gitstore reads 64 entries at once on its way back, so a tail takes one or two.
const (
	wantTail = 8
	maxTail  = 64
)

// VerifyTail looks at the end of a ledger, and returns the entries that it looked at, the oldest first. With a head
// that was verified before, it is VerifySince. With none (Count 0), it goes back by whole subtrees of the tree, whose
// roots HEAD.json names, to where the log of an entry tells whether they are the ones that it was minted on: some 8
// entries, 64 at most. Where the last subtree alone is larger, the newest entries are held to each other by parent_hash
// only. It costs the same at any size of the ledger.
func VerifyTail(ctx context.Context, s Store, at Snapshot, seen Head) ([]*Entry, []Problem, error) {
	if seen.Count > 0 {
		v, err := VerifySince(ctx, s, at, seen)
		return v.fresh, v.Problems, err
	}
	trunk, whole := at.Head.dropLastSubtrees()
	if !whole {
		entries, problem := newestEntries(ctx, s, at, wantTail)
		return entries, problem, ctx.Err()
	}
	v, err := VerifySince(ctx, s, at, trunk)
	return v.fresh, v.Problems, err
}

// dropLastSubtrees is the head without its last subtrees, as far as a tail goes; its tip is not known. It is false
// where the last one alone is too large. Only whole subtrees can go: HEAD.json has their roots, and what is left is
// again the edge of a tree.
func (h Head) dropLastSubtrees() (Head, bool) {
	e, err := h.decodeEdge()
	if err != nil {
		return Head{}, false // HEAD.json is read strictly: its edge fits its count
	}
	for e.count > 0 && h.Count-e.count < wantTail {
		low := e.count & -e.count
		if h.Count-e.count+low > maxTail {
			break
		}
		// The lowest set bit is the size of the last subtree, whose root is the last hash.
		e.count, e.hashes = e.count-low, e.hashes[:len(e.hashes)-1]
	}
	if e.count == 0 {
		return NewHead(), true
	}
	return e.headOf(""), e.count < h.Count
}

// newestEntries returns the newest n entries, the oldest first, each held to the parent_hash of the one after it. The
// tree is not checked here: its last subtree begins before them.
func newestEntries(ctx context.Context, s Store, at Snapshot, n int) (entries []*Entry, problems []Problem) {
	for e, err := range Backwards(ctx, s, at) {
		if err != nil {
			return nil, []Problem{newProblem(CodeUnreadable, "", at.Head.Count-1-int64(len(entries)), "%v", err)}
		}
		entries = append([]*Entry{e}, entries...)
		if len(entries) == n {
			break
		}
	}
	return entries, nil
}
