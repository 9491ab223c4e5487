package gitstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// Tree is a commit's files as ledger.Verify wants them. Directories that no ledger has are not entered, but listed as
// files, and ledger.Verify refuses them (LDG-101); so neither depth nor breadth outside the layout costs anything.
type Tree struct {
	ctx      context.Context
	repo     *Repo
	commit   string
	blobs    map[string]sized // by id: an entry has three paths
	problems []ledger.Problem
}

// sized is a blob whose size was asked for. The one copy of its id serves all its paths.
type sized struct {
	id   string
	size int64
}

// Tree returns the files of a commit.
func (r *Repo) Tree(ctx context.Context, commit string) *Tree {
	return &Tree{ctx: ctx, repo: r, commit: commit, blobs: map[string]sized{}}
}

// Problems are what Entries found wrong with the directories themselves.
func (t *Tree) Problems() []ledger.Problem { return t.problems }

// The bounds on directories and files. A ledger of three million entries, as many as ledger.Verify reads, has fewer. A
// tree can name one subtree a million times at little cost, so what is counted is what is walked and not what is
// stored.
const (
	maxDirs  = 5_000_000
	atOnce   = 1 << 16 // files whose sizes are asked for at once
	maxFiles = 9_000_000
)

// isLayoutPath reports whether a path is a directory that a ledger has. Each part below the first has a fixed number of
// digits (ledger.EntryDir, ledger.PullDir). A verification asks a hundred thousand times, so this is no regular
// expression. It decides only what is entered; ledger.ParsePath decides what belongs there.
func isLayoutPath(path string) bool {
	top, below, deeper := strings.Cut(path, "/")
	if !deeper {
		return top == "receipts" || top == "pr" || top == "hash" || top == "sheets"
	}
	switch top {
	case "receipts":
		return hasParts(below, '9', 3, 2, 2)
	case "pr":
		return hasParts(below, '9', 4, 2, 2)
	case "hash":
		return hasParts(below, 'f', 2, 2)
	case "sheets":
		return hasParts(below, 'f', 2)
	}
	return false
}

// hasParts reports whether a path has at most as many parts as lengths are given, each of so many digits.
func hasParts(path string, last byte, lengths ...int) bool {
	for _, n := range lengths {
		first, rest, deeper := strings.Cut(path, "/")
		if !areDigits(first, n, last) {
			return false
		}
		if !deeper {
			return true
		}
		path = rest
	}
	return false
}

// areDigits reports whether s is so many digits, decimal ones (last is '9') or lower-case hexadecimal ones ('f').
func areDigits(s string, n int, last byte) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > last) {
			return false
		}
	}
	return true
}

// dir is a directory of which the id is known.
type dir struct{ path, id string }

// errTooMany ends a walk that has seen enough. It becomes a problem and not an error: a branch that is too large is a
// finding about the branch.
var errTooMany = errors.New("too many files or directories")

// addProblem lists a problem of a directory, with at most 120 bytes of its path, which is foreign text.
func (t *Tree) addProblem(code ledger.Code, path, format string, args ...any) {
	if len(path) > 120 {
		path = path[:120] + "…"
	}
	about, _ := code.Of()
	t.problems = append(t.problems, ledger.Problem{Code: code, Level: about.Level, Path: path, Seq: -1,
		Message: fmt.Sprintf(format, args...)})
}

// Entries implements ledger.Tree. It goes through the directories level by level, the sizes of all before their
// contents: git answers a long list of ids in one process, and one question at a time would be a round trip each. A
// second walk starts with no problems, so that none is listed twice.
func (t *Tree) Entries() iter.Seq2[ledger.TreeEntry, error] {
	return func(yield func(ledger.TreeEntry, error) bool) {
		t.problems = nil
		root, err := t.repo.objects.readCommit(t.ctx, t.commit)
		if err != nil {
			yield(ledger.TreeEntry{}, err)
			return
		}
		w := walk{t: t, yield: yield}
		level := []dir{{"", root.Tree}}
		for len(level) > 0 && err == nil {
			// Stable, so that the same tree is always walked in the same order.
			slices.SortStableFunc(level, func(a, b dir) int { return readRank(a.path) - readRank(b.path) })
			level, err = w.walkLevel(level)
		}
		if err == nil {
			err = w.flushSizes()
		}
		switch {
		case errors.Is(err, errTooMany):
			t.addProblem(ledger.CodeTooMany, "", "more than %d files or %d directories; the rest was not read", maxFiles,
				maxDirs)
		case err != nil && !errors.Is(err, errStop):
			yield(ledger.TreeEntry{}, err)
		}
	}
}

// readRank puts the entries' own directories first: their objects lie in a pack in the order in which they were
// written.
func readRank(path string) int {
	if strings.HasPrefix(path, "receipts") {
		return 0
	}
	return 1
}

// walk is one pass of Entries.
type walk struct {
	t           *Tree
	yield       func(ledger.TreeEntry, error) bool
	dirs, files int
	pending     []ledger.TreeEntry // files whose size is not known yet
}

// walkLevel reads directories and returns those below them. The number of directories is counted before they are read,
// so a bound that is passed costs no reading.
func (w *walk) walkLevel(dirs []dir) (below []dir, err error) {
	// Counted before they are read: the next level of a hostile tree can be a thousand times as large.
	if w.dirs += len(dirs); w.dirs > maxDirs {
		return nil, errTooMany
	}
	readable, err := w.readableDirs(dirs)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(readable))
	for i, d := range readable {
		ids[i] = d.id
	}
	i := 0
	for o, err := range w.t.repo.all.bodies(w.t.ctx, ids) {
		if err != nil {
			return nil, err
		}
		if below, err = w.walkDirectory(readable[i].path, o, below); err != nil {
			return nil, err
		}
		w.t.Recycle(o.Data) // ParseTree made copies
		i++
	}
	return below, nil
}

// readableDirs leaves out the directories that are missing or too large, and says so. A problem of one directory must
// not hide those of the others.
func (w *walk) readableDirs(dirs []dir) (out []dir, err error) {
	ids := make([]string, len(dirs))
	for i, d := range dirs {
		ids[i] = d.id
	}
	i := 0
	for size, err := range w.t.repo.all.sizes(w.t.ctx, ids) {
		switch d := dirs[i]; {
		case err != nil:
			return nil, err
		case size < 0:
			w.t.addProblem(ledger.CodeUnreadable, d.path, "the directory %s is missing", d.id)
		case size > maxTree:
			w.t.addProblem(ledger.CodeTooMany, d.path, "the directory has %d bytes, at most %d are read", size, maxTree)
		default:
			out = append(out, d)
		}
		i++
	}
	return out, nil
}

// walkDirectory takes one apart: its files are kept for flushSizes, its directories are added to below. Its id is
// computed, because git cat-file does not check what it reads. An empty directory is refused: git never writes one, and
// it would be a place for names that no file explains.
func (w *walk) walkDirectory(path string, o gitobject.Object, below []dir) ([]dir, error) {
	entries, err := gitobject.ParseTree(o.Data)
	switch {
	case o.Kind != gitobject.Tree:
		err = fmt.Errorf("the object is a %s", o.Kind)
	case err == nil && gitobject.ID(o.Kind, o.Data) != o.ID:
		err = fmt.Errorf("the object does not match its id %s", o.ID)
	case err == nil && len(entries) == 0 && path != "":
		err = errors.New("it is empty")
	}
	if err != nil {
		w.t.addProblem(ledger.CodeUnknownFile, path, "not a directory of a ledger: %v", err)
		return below, nil
	}
	for _, e := range entries {
		name := e.Name
		if path != "" {
			name = path + "/" + e.Name
		}
		// Every other directory is passed on as if it were a file. Its mode is 040000, so it is refused, and its
		// contents cost nothing.
		if e.IsTree() && isLayoutPath(name) {
			below = append(below, dir{name, e.ID})
			continue
		}
		// The bound is ledger.Verify's own; it is kept here too, so that the memory for names is bounded before they
		// are passed on.
		if w.files++; w.files > maxFiles {
			return nil, errTooMany
		}
		w.pending = append(w.pending, ledger.TreeEntry{Path: name, Mode: modeInOctal(e.Mode), ID: e.ID})
		if len(w.pending) >= atOnce {
			if err := w.flushSizes(); err != nil {
				return nil, err
			}
		}
	}
	return below, nil
}

// modeInOctal is a mode as git prints it. Trees spell a directory's mode with five digits, and every listing of git's
// with six.
func modeInOctal(mode string) string {
	if mode == gitobject.ModeTree {
		return "0" + mode
	}
	return mode
}

// flushSizes asks for the sizes of the files kept, and passes them on. Each blob is asked for once, although it has
// three paths. A symlink, a submodule or a directory is not asked for: its mode already says that it does not belong
// there, and a submodule's id is no object of this repository.
func (w *walk) flushSizes() error {
	var ids []string
	for _, e := range w.pending {
		// Of an entry's three paths, one question is enough.
		if _, known := w.t.blobs[e.ID]; !known && e.Mode == ledger.RegularMode {
			id := strings.Clone(e.ID) // lets go of the directory's bytes
			w.t.blobs[id] = sized{id: id}
			ids = append(ids, id)
		}
	}
	i := 0
	for size, err := range w.t.repo.all.sizes(w.t.ctx, ids) {
		if err != nil {
			return err
		}
		w.t.blobs[ids[i]] = sized{ids[i], max(size, 0)} // a missing one is found when it is read
		i++
	}
	for _, e := range w.pending {
		if b, ok := w.t.blobs[e.ID]; ok {
			e.ID, e.Size = b.id, b.size
		}
		if !w.yield(e, nil) {
			return errStop
		}
	}
	w.pending = w.pending[:0]
	return nil
}

// Blobs implements ledger.Tree. The id of a blob is not computed here, unlike a tree's: ledger.Verify holds the bytes
// of every entry and rulebook to the SHA-256 in its name, which is the stronger check.
func (t *Tree) Blobs(ids []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for o, err := range t.repo.all.bodies(t.ctx, ids) {
			// A mode is only a name's word for what the object is.
			if err == nil && o.Kind != gitobject.Blob {
				err = fmt.Errorf("%s is a %s, not a file", o.ID, o.Kind)
			}
			if !yield(o.Data, err) || err != nil {
				return
			}
		}
	}
}

// Recycle takes back the bytes that Blobs handed out, for the next object. Whoever calls it must not look at them
// again.
func (t *Tree) Recycle(data []byte) {
	if g, ok := t.repo.all.(*gitBinary); ok {
		g.spare.giveBuffer(data)
	}
}
