package ledger

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/canonical"
)

// MemStore keeps a ledger in memory. Its zero value is a ledger that does not exist yet; it is safe for concurrent use.
type MemStore struct {
	mu     sync.Mutex
	states []memState
}

// memState is one state: all files, and the head they say. States are kept whole, and their maps never change after the
// append that made them: a Snapshot stays readable while others append, as it does in git. The bytes of the files are
// shared between states.
type memState struct {
	files map[string][]byte
	at    Snapshot
}

// Head implements Store.
func (m *MemStore) Head(ctx context.Context) (Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.headSnapshot(), ctx.Err()
}

func (m *MemStore) headSnapshot() Snapshot {
	if len(m.states) == 0 {
		return Snapshot{Head: NewHead()}
	}
	return m.states[len(m.states)-1].at
}

// Read implements Store. A directory contains its own files and not those below it, as a git tree does.
func (m *MemStore) Read(ctx context.Context, at Snapshot, path string) ([]File, error) {
	state, err := m.stateAt(at)
	if err != nil {
		return nil, err
	}
	var found []File
	for p, data := range state {
		rest, below := strings.CutPrefix(p, path+"/")
		if p == path || below && !strings.Contains(rest, "/") {
			found = append(found, File{p, data})
		}
	}
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return found, ctx.Err()
}

// stateAt returns the files of a state. IDs count states from 1, because "" means that no ledger exists yet.
func (m *MemStore) stateAt(at Snapshot) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.ID == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(at.ID)
	if err != nil || n < 1 || n > len(m.states) {
		return nil, fmt.Errorf("no state %q", at.ID)
	}
	return m.states[n-1].files, nil
}

// Append implements Store. The lock is held from the comparison to the change: that is the compare-and-swap on which
// package ledger relies.
func (m *MemStore) Append(ctx context.Context, parent Snapshot, b Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	now := m.headSnapshot()
	if parent.ID != now.ID {
		return fmt.Errorf("state %q is not the newest, %q is: %w", parent.ID, now.ID, ErrStale)
	}
	next := memState{files: map[string][]byte{}, at: Snapshot{ID: strconv.Itoa(len(m.states) + 1), Head: b.Head,
		Info: now.Info}}
	if len(m.states) > 0 {
		next.files = maps.Clone(m.states[len(m.states)-1].files)
	}
	for _, f := range b.Files {
		if _, ok := next.files[f.Path]; ok && f.Path != HeadPath {
			return fmt.Errorf("%s exists; files of a ledger never change", f.Path)
		}
		// The caller may use its buffer again; what is in the ledger must not change with it.
		next.files[f.Path] = slices.Clone(f.Data)
	}
	if data, ok := next.files[InfoPath]; ok {
		info, err := ParseInfo(data)
		if err != nil {
			return err
		}
		next.at.Info = &info
	}
	m.states = append(m.states, next)
	return nil
}

// Tree returns the files of a state for verification.
func (m *MemStore) Tree(at Snapshot) (Tree, error) {
	state, err := m.stateAt(at)
	if err != nil {
		return nil, err
	}
	var files FileTree
	for _, path := range slices.Sorted(maps.Keys(state)) {
		files = append(files, File{path, state[path]})
	}
	return Indexed(files), nil
}

// FileTree is a Tree of files in memory, all of them regular. An object's id is the SHA-256 of its bytes.
type FileTree []File

// Entries implements Tree.
func (t FileTree) Entries() iter.Seq2[TreeEntry, error] { return Indexed(t).Entries() }

// Blobs implements Tree.
func (t FileTree) Blobs(ids []string) iter.Seq2[[]byte, error] { return Indexed(t).Blobs(ids) }

// Indexed is the same Tree with its objects hashed once, for more than one look. FileTree alone hashes all of them for
// each call.
func Indexed(files FileTree) Tree {
	t := indexed{blobs: map[string][]byte{}}
	for _, f := range files {
		id := canonical.SHA256Hex(f.Data)
		t.blobs[id] = f.Data
		t.entries = append(t.entries, TreeEntry{f.Path, RegularMode, id, int64(len(f.Data))})
	}
	return t
}

// indexed is a Tree whose objects are found by id, as in a repository: three paths of one entry share one object.
type indexed struct {
	entries []TreeEntry
	blobs   map[string][]byte
}

func (t indexed) Entries() iter.Seq2[TreeEntry, error] {
	return func(yield func(TreeEntry, error) bool) {
		for _, e := range t.entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Blobs implements Tree. It ends at the first id that is missing, as a reader of a broken repository does.
func (t indexed) Blobs(ids []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, id := range ids {
			data, ok := t.blobs[id]
			if !ok {
				yield(nil, fmt.Errorf("no object %s", id))
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}
