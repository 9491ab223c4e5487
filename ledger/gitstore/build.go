package gitstore

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// builder makes the trees of a commit that adds files to another one's. Only the directories on the way to the files
// are read, all of one depth at once.
type builder struct {
	objects *objects
	dirs    map[string][]gitobject.Entry // as they are, by path; "" is the root
	was     map[string]string            // their ids; "" for one that is new
	fresh   []gitobject.Object
}

// buildTree returns the id of the new root and adds every new object to fresh, those that others name before them.
func (o *objects) buildTree(ctx context.Context, root string, files []ledger.File) (string, []gitobject.Object, error) {
	b := &builder{objects: o, dirs: map[string][]gitobject.Entry{}, was: map[string]string{"": root}}
	if err := b.readDirectories(ctx, files); err != nil {
		return "", nil, err
	}
	for _, f := range files {
		if err := b.addFile(f); err != nil {
			return "", nil, err
		}
	}
	id := b.closeDirectories()
	return id, b.fresh, nil
}

// readDirectories brings in the directories of the files, from the root down.
func (b *builder) readDirectories(ctx context.Context, files []ledger.File) error {
	for depth := 0; ; depth++ {
		paths, ids := b.wantedDirectories(files, depth)
		if len(paths) == 0 {
			return nil
		}
		have := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
		read, err := b.objects.readTrees(ctx, have...)
		if err != nil {
			return err
		}
		for i, p := range paths {
			b.was[p], b.dirs[p] = ids[i], nil
			if ids[i] != "" {
				b.dirs[p], read = slices.Clone(read[0]), read[1:]
			}
		}
	}
}

// wantedDirectories returns the directories of one depth and what their parents say of them.
func (b *builder) wantedDirectories(files []ledger.File, depth int) (paths, ids []string) {
	for _, f := range files {
		parts := strings.Split(f.Path, "/")
		if depth >= len(parts) {
			continue
		}
		p := strings.Join(parts[:depth], "/")
		if slices.Contains(paths, p) {
			continue
		}
		id := b.was[""]
		if depth > 0 {
			parent := strings.Join(parts[:depth-1], "/")
			id = entryOf(b.dirs[parent], parts[depth-1]).ID
		}
		paths, ids = append(paths, p), append(ids, id)
	}
	return paths, ids
}

func entryOf(entries []gitobject.Entry, name string) gitobject.Entry {
	if i := slices.IndexFunc(entries, func(e gitobject.Entry) bool { return e.Name == name }); i >= 0 {
		return entries[i]
	}
	return gitobject.Entry{}
}

// addFile puts one file into its directory. Only HEAD.json may be there already.
func (b *builder) addFile(f ledger.File) error {
	if _, err := ledger.Allowed(f.Path, ledger.RegularMode, int64(len(f.Data))); err != nil {
		return err
	}
	dir, name := splitPath(f.Path)
	if entryOf(b.dirs[dir], name).ID != "" && f.Path != ledger.HeadPath {
		return fmt.Errorf("%s exists; files of a ledger never change", f.Path)
	}
	blob := gitobject.New(gitobject.Blob, f.Data)
	if !slices.ContainsFunc(b.fresh, func(o gitobject.Object) bool { return o.ID == blob.ID }) {
		b.fresh = append(b.fresh, blob)
	}
	b.setEntry(dir, gitobject.Entry{Mode: gitobject.ModeFile, Name: name, ID: blob.ID})
	return nil
}

func (b *builder) setEntry(dir string, e gitobject.Entry) {
	b.dirs[dir] = append(slices.DeleteFunc(b.dirs[dir], func(x gitobject.Entry) bool { return x.Name == e.Name }), e)
}

func splitPath(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

// closeDirectories makes the directories, the deepest first, and returns the root's id.
func (b *builder) closeDirectories() (id string) {
	paths := slices.SortedFunc(maps.Keys(b.dirs), func(x, y string) int {
		if pathDepth(x) != pathDepth(y) {
			return pathDepth(y) - pathDepth(x)
		}
		return strings.Compare(x, y)
	})
	for _, p := range paths {
		tree := gitobject.New(gitobject.Tree, gitobject.EncodeTree(b.dirs[p]))
		if was, ok := b.objects.heldObject(b.was[p]); ok {
			tree.Base = &was
		}
		b.fresh = append(b.fresh, tree)
		id = tree.ID
		if p != "" {
			dir, name := splitPath(p)
			b.setEntry(dir, gitobject.Entry{Mode: gitobject.ModeTree, Name: name, ID: tree.ID})
		}
	}
	return id
}

// pathDepth is 0 for the root.
func pathDepth(path string) int {
	if path == "" {
		return 0
	}
	return strings.Count(path, "/") + 1
}
