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

// Tree is a commit's files as ledger.Verify wants them. Directories that no ledger has are not entered, but given as
// files; so neither depth nor breadth outside the layout costs anything.
type Tree struct {
	ctx      context.Context
	repo     *Repo
	commit   string
	blobs    map[string]sized // by id: an entry stands under three paths
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

// The bounds on directories. A ledger of three million entries has fewer.
const (
	maxDirs  = 5_000_000
	atOnce   = 1 << 16 // files whose sizes are asked for at once
	maxFiles = 9_000_000
)

// isLayoutPath reports whether a path is a directory that a ledger has. Each part below the first has a fixed number of
// digits. A verification asks a hundred thousand times, so this is no regular expression.
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

// errTooMany ends a walk that has seen enough.
var errTooMany = errors.New("too many files or directories")

func (t *Tree) addProblem(code ledger.Code, path, format string, args ...any) {
	if len(path) > 120 {
		path = path[:120] + "…"
	}
	about, _ := code.Of()
	t.problems = append(t.problems, ledger.Problem{Code: code, Level: about.Level, Path: path, Seq: -1,
		Message: fmt.Sprintf(format, args...)})
}

// Entries implements ledger.Tree. It goes through the directories level by level, the sizes of all before their
// contents.
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

// walkLevel reads directories and returns those below them.
func (w *walk) walkLevel(dirs []dir) (below []dir, err error) {
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

// readableDirs leaves out the directories that are missing or too large, and says so.
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

// walkDirectory takes one apart: its files are kept for flush, its directories are added to below.
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
		if e.IsTree() && isLayoutPath(name) {
			below = append(below, dir{name, e.ID})
			continue
		}
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

// modeInOctal is a mode as git prints it.
func modeInOctal(mode string) string {
	if mode == gitobject.ModeTree {
		return "0" + mode
	}
	return mode
}

// flushSizes asks for the sizes of the files kept, and gives them.
func (w *walk) flushSizes() error {
	var ids []string
	for _, e := range w.pending {
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

// Blobs implements ledger.Tree.
func (t *Tree) Blobs(ids []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for o, err := range t.repo.all.bodies(t.ctx, ids) {
			if err == nil && o.Kind != gitobject.Blob {
				err = fmt.Errorf("%s is a %s, not a file", o.ID, o.Kind)
			}
			if !yield(o.Data, err) || err != nil {
				return
			}
		}
	}
}

// Recycle takes back what Blobs gave, for the next.
func (t *Tree) Recycle(data []byte) {
	if g, ok := t.repo.all.(*gitBinary); ok {
		g.spare.giveBuffer(data)
	}
}
