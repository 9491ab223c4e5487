package gitstore

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/internal/gitobject"
)

// mergeBaseDepth is how many commits behind each of the two tips are looked at. A commit is a few hundred bytes, so
// this is one small request; a branch that left base longer ago is asked about at the API.
const mergeBaseDepth = 250

// maxStops bounds the work over a history that was made to be tangled. mergeBase walks once for each of them, so their
// number must not be the author's to choose.
const maxStops = 100

// MergeBase finds the best common ancestor of two commits by one request for commits without their trees. It is ok only
// where that is proved by the commits that came; the caller asks somebody else where it is not: history is longer than
// what came, the two have several best common ancestors or none, or the server cannot leave trees out.
//
// The proof. Let seen be the ancestors of base that can be reached through commits that came. The walk from head stops
// at those; where it meets no commit that did not come, every ancestor of head is one of the walked ones or behind a
// commit at which the walk stopped, and one of those, the result, has all the others behind it. The walk from base
// stops at what is behind the result; where it too meets no commit that did not come, every ancestor of base is one of
// the walked ones, all of which are seen, or behind the result. No commit that was walked from head is seen, so
// whatever the two have in common is the result or behind it. A result that is too old would not be on the safe side:
// what a pull request takes back of what base has got since would not show. That is why base is walked too, and why no
// date is looked at, for anybody can write one into a commit.
func (w *Work) MergeBase(ctx context.Context, base, head string) (id string, ok bool, err error) {
	if !gitobject.IsID(base) || !gitobject.IsID(head) {
		return "", false, fmt.Errorf("%q or %q: not a commit id", base, head)
	}
	// An old server would send all files of both commits; asking the API is cheaper.
	if err := w.remote.greetServer(ctx); err != nil || w.remote.wire == nil {
		return "", false, err
	}
	wants := []string{base, head}
	if base == head {
		wants = wants[:1]
	}
	var came lineage
	err = w.remote.again.retryReading(ctx, func() (err error) {
		came, err = w.remote.wire.fetchLineage(ctx, wants, mergeBaseDepth)
		return err
	})
	if err != nil {
		return "", false, fmt.Errorf("reading the commits behind %.12s and %.12s: %w", base, head, err)
	}
	id, ok = came.mergeBase(base, head)
	return id, ok, nil
}

// lineage are commits with their parents.
type lineage map[string][]string

// fetchLineage asks for the commits behind others, without their trees. ReadPack computes the id of each, so a server
// cannot invent a parent.
func (w *wire) fetchLineage(ctx context.Context, wants []string, depth int) (lineage, error) {
	pack, end, err := w.fetchPack(ctx, wants, "filter tree:0", fmt.Sprintf("deepen %d", depth))
	if err != nil {
		return nil, err
	}
	defer end()
	none := func(string) (gitobject.Object, bool) { return gitobject.Object{}, false }
	got, err := gitobject.ReadPack(pack, gitobject.Limits{Objects: atMost, Size: maxCommit, Total: maxHeld}, none)
	if err != nil {
		return nil, err
	}
	out := lineage{}
	for _, o := range got {
		if o.Kind != gitobject.Commit {
			continue // a server may send a tree all the same
		}
		rec, err := gitobject.ParseCommit(o.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.ID, err)
		}
		out[o.ID] = rec.Parents
	}
	return out, nil
}

// walkParents follows all parents from a commit and stops at those of a set: the commits that it passes, and those at
// which it stops. It is whole where it meets no commit that did not come. It keeps its own stack, because a history can
// be deeper than the stack of a process. All parents are followed, since a merge can bring base in from any side.
func (l lineage) walkParents(from string, stop map[string]bool) (passed, stopped map[string]bool, whole bool) {
	passed, stopped, whole = map[string]bool{}, map[string]bool{}, true
	for next := []string{from}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		parents, came := l[id]
		switch {
		case passed[id]:
		case stop[id]:
			stopped[id] = true
		case !came:
			whole = false
		default:
			passed[id] = true
			next = append(next, parents...)
		}
	}
	return passed, stopped, whole
}

// mergeBase is what MergeBase proves; the three walks are those of the proof, in its order. Whatever it cannot prove is
// not ok, and never a guess.
func (l lineage) mergeBase(base, head string) (id string, ok bool) {
	seen, _, _ := l.walkParents(base, nil)
	_, stopped, whole := l.walkParents(head, seen)
	if !whole {
		return "", false
	}
	// An honest history stops once where it left base, and once for each time that base was merged in.
	if len(stopped) > maxStops {
		return "", false
	}
	for id := range stopped { // at most one of them has all the others behind it
		behind, _, _ := l.walkParents(id, nil)
		// Otherwise the two have several best common ancestors, and none of them is the merge base.
		if !includesAll(behind, stopped) {
			continue
		}
		_, _, whole := l.walkParents(base, behind)
		return id, whole
	}
	return "", false
}

// includesAll reports whether all of a set are in another.
func includesAll(all, some map[string]bool) bool {
	for id := range some {
		if !all[id] {
			return false
		}
	}
	return true
}
