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

// memState is one state: all files, and the head they say.
type memState struct {
	files map[string][]byte
	at    Snapshot
}

// Head is Store's.
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

// Read is Store's.
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

// Append is Store's.
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

// Tree gives the files of a state for verification.
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

// Entries is Tree's.
func (t FileTree) Entries() iter.Seq2[TreeEntry, error] { return Indexed(t).Entries() }

// Blobs is Tree's.
func (t FileTree) Blobs(ids []string) iter.Seq2[[]byte, error] { return Indexed(t).Blobs(ids) }

// Indexed is the same Tree with its objects hashed once, for more than one look.
func Indexed(files FileTree) Tree {
	t := indexed{blobs: map[string][]byte{}}
	for _, f := range files {
		id := canonical.SHA256Hex(f.Data)
		t.blobs[id] = f.Data
		t.entries = append(t.entries, TreeEntry{f.Path, RegularMode, id, int64(len(f.Data))})
	}
	return t
}

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
