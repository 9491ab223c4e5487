package gitstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// What reading an object can end in; test with errors.Is.
var (
	ErrMissing  = errors.New("the object is missing")
	ErrTooLarge = errors.New("the object is too large")
	ErrCorrupt  = errors.New("the object does not match its id")
)

// The bounds on one object that is read into memory.
const (
	maxTree   = 16 << 20 // a hundred thousand directories in one take 4 MB
	maxCommit = 1 << 20
	maxBlob   = 64 << 20 // of evidence; a ledger's own files are bounded by their class
	maxHeld   = 64 << 20 // of objects remembered
)

// source reads objects by their ids.
type source interface {
	// read returns the objects in the order of ids, none of which has more than limit bytes: that is known before
	// anything is inflated. ErrMissing and ErrTooLarge name the object.
	read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error)
}

// bulk is a source on this machine, which can stream.
type bulk interface {
	// sizes returns the size of each object from its header, −1 for a missing one.
	sizes(ctx context.Context, ids []string) iter.Seq2[int64, error]
	// bodies returns each object in the order of ids. Whoever calls it has looked at the sizes.
	bodies(ctx context.Context, ids []string) iter.Seq2[gitobject.Object, error]
}

// readBulk is the source that a bulk is.
func readBulk(ctx context.Context, b bulk, limit int64, ids []string) ([]gitobject.Object, error) {
	i := 0
	for size, err := range b.sizes(ctx, ids) {
		switch {
		case err != nil:
			return nil, err
		case size < 0:
			return nil, fmt.Errorf("%s: %w", ids[i], ErrMissing)
		case size > limit:
			return nil, fmt.Errorf("%s: %w: %d bytes, at most %d are read", ids[i], ErrTooLarge, size, limit)
		}
		i++
	}
	out := make([]gitobject.Object, 0, len(ids))
	for o, err := range b.bodies(ctx, ids) {
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// objects is a source that remembers what it read, and believes no object whose bytes do not make its id.
type objects struct {
	from source
	mu   sync.Mutex
	held map[string]gitobject.Object
	dirs map[string][]gitobject.Entry // of the trees held, taken apart
	size int                          // of both, in bytes, about
}

func newObjects(from source) *objects {
	return &objects{from: from, held: map[string]gitobject.Object{}, dirs: map[string][]gitobject.Entry{}}
}

// getObjects returns the objects in the order of ids.
func (o *objects) getObjects(ctx context.Context, limit int64, ids ...string) ([]gitobject.Object, error) {
	var want []string
	for _, id := range ids {
		if _, ok := o.heldObject(id); !ok && !slices.Contains(want, id) {
			want = append(want, id)
		}
	}
	fresh := map[string]gitobject.Object{}
	if len(want) > 0 {
		read, err := o.from.read(ctx, limit, want)
		if err != nil {
			return nil, err
		}
		for i, obj := range read {
			if gitobject.ID(obj.Kind, obj.Data) != want[i] {
				return nil, fmt.Errorf("%s: %w", want[i], ErrCorrupt)
			}
			fresh[want[i]] = obj
			o.holdObject(obj)
		}
	}
	out := make([]gitobject.Object, len(ids))
	for i, id := range ids {
		obj, ok := fresh[id]
		if !ok {
			if obj, ok = o.heldObject(id); !ok {
				return nil, fmt.Errorf("%s: %w", id, ErrMissing)
			}
		}
		if int64(len(obj.Data)) > limit {
			return nil, fmt.Errorf("%s: %w: %d bytes, at most %d are read", id, ErrTooLarge, len(obj.Data), limit)
		}
		out[i] = obj
	}
	return out, nil
}

func (o *objects) heldObject(id string) (gitobject.Object, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.held[id]
	return obj, ok
}

// holdObject keeps an object; when there are too many bytes, it forgets all others.
func (o *objects) holdObject(obj gitobject.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size+len(obj.Data) > maxHeld {
		clear(o.held)
		clear(o.dirs)
		o.size = 0
	}
	o.held[obj.ID] = obj
	o.size += len(obj.Data)
}

// parsedTree takes a tree apart, once as long as it is held: a directory of ten thousand is looked into for one name,
// and then for the next. Nobody changes what it gives.
func (o *objects) parsedTree(tree gitobject.Object) ([]gitobject.Entry, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if entries, ok := o.dirs[tree.ID]; ok {
		return entries, nil
	}
	entries, err := gitobject.ParseTree(tree.Data)
	if err != nil {
		return nil, err
	}
	if _, held := o.held[tree.ID]; held {
		o.dirs[tree.ID] = entries
		o.size += 5 * len(tree.Data)
	}
	return entries, nil
}

func (o *objects) readCommit(ctx context.Context, id string) (gitobject.Record, error) {
	got, err := o.getObjects(ctx, maxCommit, id)
	if err != nil {
		return gitobject.Record{}, fmt.Errorf("commit %w", err)
	}
	if got[0].Kind != gitobject.Commit {
		return gitobject.Record{}, fmt.Errorf("%s is a %s, not a commit", id, got[0].Kind)
	}
	r, err := gitobject.ParseCommit(got[0].Data)
	if err != nil {
		return gitobject.Record{}, fmt.Errorf("%s: %w", id, err)
	}
	return r, nil
}

// readTrees reads several directories at once.
func (o *objects) readTrees(ctx context.Context, ids ...string) ([][]gitobject.Entry, error) {
	got, err := o.getObjects(ctx, maxTree, ids...)
	if err != nil {
		return nil, fmt.Errorf("tree %w", err)
	}
	out := make([][]gitobject.Entry, len(got))
	for i, obj := range got {
		if obj.Kind != gitobject.Tree {
			return nil, fmt.Errorf("%s is a %s, not a tree", obj.ID, obj.Kind)
		}
		if out[i], err = o.parsedTree(obj); err != nil {
			return nil, fmt.Errorf("tree %s: %w", obj.ID, err)
		}
	}
	return out, nil
}

// lookupPath finds a path below a tree; the entry is zero if there is nothing. No link is followed.
func (o *objects) lookupPath(ctx context.Context, tree, path string) (gitobject.Entry, error) {
	at := gitobject.Entry{Mode: gitobject.ModeTree, ID: tree}
	if path == "" || path == "." {
		return at, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if !at.IsTree() {
			return gitobject.Entry{}, nil
		}
		entries, err := o.readTrees(ctx, at.ID)
		if err != nil {
			return gitobject.Entry{}, err
		}
		i := slices.IndexFunc(entries[0], func(e gitobject.Entry) bool { return e.Name == name })
		if i < 0 {
			return gitobject.Entry{}, nil
		}
		at = entries[0][i]
	}
	return at, nil
}
