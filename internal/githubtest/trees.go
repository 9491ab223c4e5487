package githubtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// treeEdit is a tree that is being changed. A slot's folder is opened when something below it is touched.
type treeEdit struct {
	objects *objects
	slots   map[string]*slot
}

type slot struct {
	mode, id string
	open     *treeEdit
}

func (o *objects) editTree(id string) (*treeEdit, bool) {
	f := &treeEdit{objects: o, slots: map[string]*slot{}}
	if id == "" {
		return f, true
	}
	entries, known := o.readTree(id)
	for _, e := range entries {
		f.slots[e.Name] = &slot{mode: e.Mode, id: e.ID}
	}
	return f, known
}

// openFolder opens the folder of a name; one that is missing, or a file, becomes a new one where make is set.
func (f *treeEdit) openFolder(name string, make bool) (*treeEdit, bool) {
	at := f.slots[name]
	if at == nil || at.mode != gitobject.ModeTree {
		if !make {
			return nil, true
		}
		at = &slot{mode: gitobject.ModeTree}
		f.slots[name] = at
	}
	if at.open == nil {
		var known bool
		if at.open, known = f.objects.editTree(at.id); !known {
			return nil, false
		}
	}
	return at.open, true
}

// setEntry puts an entry at a path; one without an id takes away what is there, a folder only where whole is set. It
// reports whether the trees on the way are known.
func (f *treeEdit) setEntry(path, mode, id string, whole bool) bool {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			break
		}
		below, known := f.openFolder(name, id != "")
		if !known || below == nil {
			return known
		}
		f, path = below, rest
	}
	switch was := f.slots[path]; {
	case id != "":
		f.slots[path] = &slot{mode: mode, id: id}
	case was != nil && (whole || was.mode != gitobject.ModeTree):
		delete(f.slots, path)
	}
	return true
}

// writeTree stores the folder and gives its id. An empty folder is in no tree.
func (f *treeEdit) writeTree() (string, error) {
	entries := make([]gitobject.Entry, 0, len(f.slots))
	for name, s := range f.slots {
		e := gitobject.Entry{Mode: s.mode, Name: name, ID: s.id}
		if s.open != nil {
			var err error
			if e.ID, err = s.open.writeTree(); err != nil {
				return "", err
			}
			if len(s.open.slots) == 0 {
				continue
			}
		}
		entries = append(entries, e)
	}
	for name, s := range f.slots { // what holds nothing but empty folders is empty
		if s.open != nil && len(s.open.slots) == 0 {
			delete(f.slots, name)
		}
	}
	return f.objects.putObject(gitobject.Tree, gitobject.EncodeTree(entries))
}

// fileKinds are the modes of what is not a tree, and what they name.
var fileKinds = map[string]gitobject.Kind{gitobject.ModeFile: gitobject.Blob, gitobject.ModeExec: gitobject.Blob,
	gitobject.ModeSymlink: gitobject.Blob, gitobject.ModeModule: gitobject.Commit}

// overlayTree makes a tree of base and the entries; false where git must, or refuse.
func (o *objects) overlayTree(base string, entries []entry) (string, bool) {
	root, known := o.editTree(base)
	if !known {
		return "", false
	}
	for _, e := range entries {
		if !isPlainPath(e.path) {
			return "", false
		}
		if e.id != "" {
			kind, plain := fileKinds[e.mode]
			if _, there := o.ofKind(e.id, kind); !plain || !there && kind == gitobject.Blob || !isID(e.id) {
				return "", false
			}
		}
		if !root.setEntry(e.path, e.mode, e.id, false) {
			return "", false
		}
	}
	id, err := root.writeTree()
	return id, err == nil
}

// overlayTree makes a tree of base and the entries; an entry without an id takes its path away.
func (r *repo) overlayTree(base string, entries []entry) (string, error) {
	if id, done := r.objects.overlayTree(base, entries); done {
		return id, nil
	}
	return r.overlayByGit(base, entries)
}

// listTree reads a tree as `git ls-tree` does; false where an object is not known here.
func (o *objects) listTree(id string, all bool, under string) (list []entry, known bool) {
	entries, known := o.readTree(id)
	for _, e := range entries {
		made := entry{mode: e.Mode, kind: "blob", id: e.ID, path: under + e.Name}
		switch {
		case e.IsTree():
			made.mode, made.kind = "040000", "tree"
		case e.Mode == gitobject.ModeModule:
			made.kind = "commit"
		default:
			blob, there := o.ofKind(e.ID, gitobject.Blob)
			made.size, known = int64(len(blob.Data)), known && there
		}
		list = append(list, made)
		if all && e.IsTree() {
			below, there := o.listTree(e.ID, all, made.path+"/")
			list, known = append(list, below...), known && there
		}
	}
	return list, known
}

// listTree reads a tree, one level or all of it.
func (r *repo) listTree(tree string, all bool) ([]entry, error) {
	name := tree
	if isID(tree) {
		name += "^{tree}"
	}
	if id, sure := r.objects.resolveName(name); sure && id != "" {
		if list, known := r.objects.listTree(id, all, ""); known {
			return list, nil
		}
	}
	return r.listByGit(tree, all)
}

// filesBelow are all files of a tree by their paths; false where a tree is not known here.
func (o *objects) filesBelow(id, under string, into map[string]gitobject.Entry) bool {
	entries, known := o.readTree(id)
	for _, e := range entries {
		if e.IsTree() {
			known = o.filesBelow(e.ID, under+e.Name+"/", into) && known
			continue
		}
		into[under+e.Name] = e
	}
	return known
}

// filesOfBoth are the files of two commits.
func (o *objects) filesOfBoth(from, to string) (before, after map[string]gitobject.Entry, known bool) {
	before, after = map[string]gitobject.Entry{}, map[string]gitobject.Entry{}
	one, ok1 := o.resolveName(from + "^{tree}")
	two, ok2 := o.resolveName(to + "^{tree}")
	known = ok1 && ok2 && o.filesBelow(one, "", before) && o.filesBelow(two, "", after)
	return before, after, known
}

// resolveFork resolves a base and a head, and where they part.
func (o *objects) resolveFork(base, head string) (from, to string, known bool) {
	a, ok1 := o.commitNamed(base)
	to, ok2 := o.commitNamed(head)
	if !ok1 || !ok2 {
		return "", "", false
	}
	from, known = o.mergeBase(a, to)
	return from, to, known
}

// changesOf compares a head with its merge base; false where git must: files that went and files that came may be
// renamed ones.
func (o *objects) changesOf(base, head string) (all []change, known bool) {
	from, to, known := o.resolveFork(base, head)
	if !known {
		return nil, false
	}
	before, after, known := o.filesOfBoth(from, to)
	came, went := false, false
	for path, e := range after {
		was, there := before[path]
		switch {
		case !there:
			came = true
			all = append(all, change{status: "added", path: path, id: e.ID})
		case kindOfFile(was) != kindOfFile(e):
			all = append(all, change{status: "changed", path: path, id: e.ID})
		case was.ID != e.ID || was.Mode != e.Mode:
			all = append(all, change{status: "modified", path: path, id: e.ID})
		}
	}
	for path, e := range before {
		if _, there := after[path]; !there {
			went = true
			all = append(all, change{status: "removed", path: path, id: e.ID})
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return all, known && !(came && went)
}

// kindOfFile tells files, links and submodules apart, as the types of objects in git's modes do.
func kindOfFile(e gitobject.Entry) string { return e.Mode[:3] }

// compared is a question to git's diff whose answer never changes.
type compared struct{ base, head string }

// changesOf compares a head with its merge base on base, as a pull request does.
func (r *repo) changesOf(base, head string) ([]change, error) {
	if all, known := r.objects.changesOf(base, head); known {
		return all, nil
	}
	key := compared{base: r.resolveName(base), head: r.resolveName(head)}
	if all, asked := r.diffs[key]; asked {
		return all, nil
	}
	all, err := r.changesByGit(base, head)
	if err == nil {
		r.diffs[key] = all
	}
	return all, err
}

// addedLines are the lines of a file that a head adds; false where the file is not new, or no text.
func (o *objects) addedLines(base, head, path string) (spans [][2]int, known bool) {
	from, to, known := o.resolveFork(base, head)
	if !known {
		return nil, false
	}
	before, after, known := o.filesOfBoth(from, to)
	_, old := before[path]
	for was := range before { // a folder that the file replaces is part of git's answer
		old = old || strings.HasPrefix(was, path+"/")
	}
	blob, there := o.ofKind(after[path].ID, gitobject.Blob)
	if !known || old || !there || !isPlainPath(path) || slices.Contains(blob.Data, 0) {
		return nil, false
	}
	n := strings.Count(string(blob.Data), "\n")
	if len(blob.Data) > 0 && blob.Data[len(blob.Data)-1] != '\n' {
		n++
	}
	if n > 0 {
		spans = append(spans, [2]int{1, n})
	}
	return spans, true
}

// addedLines are the lines of a file's new side that the diff of a pull request shows.
func (r *repo) addedLines(base, head, path string) ([][2]int, error) {
	if spans, known := r.objects.addedLines(base, head, path); known {
		return spans, nil
	}
	return r.linesByGit(base, head, path)
}

// mergeTrees merges two commits where each file was changed on one side at most; false where git must.
func (o *objects) mergeTrees(ours, theirs string) (string, bool) {
	from, to, known := o.resolveFork(ours, theirs)
	if !known {
		return "", false
	}
	before, mine, ok1 := o.filesOfBoth(from, ours)
	_, others, ok2 := o.filesOfBoth(from, to)
	tree, ok3 := o.resolveName(ours + "^{tree}")
	if !ok1 || !ok2 || !ok3 || mayRename(before, mine) || mayRename(before, others) {
		return "", false
	}
	root, known := o.editTree(tree)
	if !known || collides(mine, others) {
		return "", false
	}
	for path := range unionOfPaths(before, others) {
		was, now, here := before[path], others[path], mine[path]
		if sameEntry(was, now) || sameEntry(now, here) {
			continue
		}
		if !sameEntry(was, here) || !isPlainPath(path) || !root.setEntry(path, now.Mode, now.ID, false) {
			return "", false
		}
	}
	id, err := root.writeTree()
	return id, err == nil
}

func sameEntry(a, b gitobject.Entry) bool { return a.ID == b.ID && a.Mode == b.Mode }

func unionOfPaths(a, b map[string]gitobject.Entry) map[string]bool {
	all := map[string]bool{}
	for path := range a {
		all[path] = true
	}
	for path := range b {
		all[path] = true
	}
	return all
}

// mayRename reports whether files went and others came: then git may find that some were renamed.
func mayRename(before, after map[string]gitobject.Entry) bool {
	came, went := false, false
	for path := range after {
		_, there := before[path]
		came = came || !there
	}
	for path := range before {
		_, there := after[path]
		went = went || !there
	}
	return came && went
}

// collides reports whether a file of one side is a folder of the other.
func collides(a, b map[string]gitobject.Entry) bool {
	all := unionOfPaths(a, b)
	for path := range all {
		for i, c := range path {
			if c == '/' && all[path[:i]] {
				return true
			}
		}
	}
	return false
}

// mergeTrees gives the tree of two commits merged.
func (r *repo) mergeTrees(ours, theirs string) (string, error) {
	if tree, done := r.objects.mergeTrees(ours, theirs); done {
		return tree, nil
	}
	return r.runGit(nil, "merge-tree", "--write-tree", ours, theirs)
}
