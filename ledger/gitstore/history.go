package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// maxCommits bounds a walk along the commits.
const maxCommits = 3_000_000

// Commits returns the commits from the one named to the first, along first parents. An error that wraps ErrMissing ends
// them where the repository does not hold the next.
func (r *Repo) Commits(ctx context.Context, from string) iter.Seq2[ledger.Commit, error] {
	return func(yield func(ledger.Commit, error) bool) {
		next := from
		for rec, err := range r.recordsFrom(ctx, from) {
			if err != nil {
				yield(ledger.Commit{}, err)
				return
			}
			c := ledger.Commit{ID: next, Parents: rec.Parents, Time: time.Unix(rec.Time, 0).UTC(), Message: rec.Message}
			if !yield(c, nil) {
				return
			}
			if len(rec.Parents) == 0 {
				return
			}
			next = rec.Parents[0]
		}
	}
}

// recordsFrom reads the commits, and ends with an error that wraps ErrMissing if a parent is not there.
func (r *Repo) recordsFrom(ctx context.Context, from string) iter.Seq2[gitobject.Record, error] {
	return func(yield func(gitobject.Record, error) bool) {
		next := from
		stopped := false
		err := r.eachCommit(ctx, from, func(o gitobject.Object) error {
			if o.Kind != gitobject.Commit || gitobject.ID(o.Kind, o.Data) != next {
				return fmt.Errorf("%s: %w", next, ErrCorrupt)
			}
			rec, err := gitobject.ParseCommit(o.Data)
			if err != nil {
				return fmt.Errorf("commit %s: %w", next, err)
			}
			next = ""
			if len(rec.Parents) > 0 {
				next = rec.Parents[0]
			}
			if stopped = !yield(rec, nil); stopped {
				return errStop
			}
			return nil
		})
		if err == nil && next != "" && !stopped {
			err = fmt.Errorf("commit %s: %w", next, ErrMissing)
		}
		if err != nil && !stopped {
			yield(gitobject.Record{}, err)
		}
	}
}

// eachCommit reads commit by commit along first parents, as far as the repository holds them.
func (r *Repo) eachCommit(ctx context.Context, from string, each func(gitobject.Object) error) error {
	if g, ok := r.all.(*gitBinary); ok {
		return g.eachCommit(ctx, from, each)
	}
	for n := 0; from != "" && n < maxCommits; n++ {
		got, err := r.all.(source).read(ctx, maxCommit, []string{from})
		if errors.Is(err, ErrMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(got[0]); err != nil {
			return stopIs(err)
		}
		rec, err := gitobject.ParseCommit(got[0].Data)
		if err != nil {
			return err
		}
		from = ""
		if len(rec.Parents) > 0 {
			from = rec.Parents[0]
		}
	}
	return nil
}

func stopIs(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// eachCommit lists the ids with rev-list while cat-file reads them. What rev-list says of parents is not believed: the
// caller looks at each commit's own.
func (g *gitBinary) eachCommit(ctx context.Context, from string, each func(gitobject.Object) error) error {
	size, err := readSize(ctx, g, from)
	if err != nil || size < 0 {
		return err
	}
	var ids []string
	err = g.streamGit(ctx, nil, []string{"rev-list", "--first-parent", "--missing=allow-any",
		"--max-count=" + fmt.Sprint(maxCommits), from}, func(r *bufio.Reader) error {
		for {
			line, err := r.ReadString('\n')
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if line = strings.TrimSuffix(line, "\n"); gitobject.IsID(line) {
				ids = append(ids, line)
			}
		}
	})
	if err != nil && len(ids) == 0 {
		ids = []string{from}
	}
	i := 0
	for size, err := range g.sizes(ctx, ids) {
		if err != nil {
			return err
		}
		if size < 0 {
			ids = ids[:i]
			break
		}
		if size > maxCommit {
			return fmt.Errorf("commit %s: %w: %d bytes", ids[i], ErrTooLarge, size)
		}
		i++
	}
	for o, err := range g.bodies(ctx, ids) {
		if err == nil {
			err = each(o)
		}
		if err != nil {
			return stopIs(err)
		}
	}
	return nil
}

func readSize(ctx context.Context, b bulk, id string) (int64, error) {
	for size, err := range b.sizes(ctx, []string{id}) {
		return size, err
	}
	return -1, nil
}

// Edits gives, for a commit, the paths that it changes or deletes, except HEAD.json: in a ledger there are none.
func (r *Repo) Edits(ctx context.Context, commit, parent string) ([]string, error) {
	trees := [2]string{}
	for i, id := range []string{parent, commit} {
		if id == "" {
			continue
		}
		rec, err := r.libraryObjects().readCommit(ctx, id)
		if err != nil {
			return nil, err
		}
		trees[i] = rec.Tree
	}
	if parent == "" {
		return nil, nil
	}
	d := differ{ctx: ctx, objects: r.libraryObjects()}
	err := d.compareTrees("", trees[0], trees[1])
	return d.edits, err
}

// libraryObjects is the objects as go-git reads them, which is the faster way to many small ones in no order.
func (r *Repo) libraryObjects() *objects {
	if _, ok := r.all.(*goGit); ok {
		return r.objects
	}
	r.lib.Do(func() { r.small = newObjects(newGoGit(r.dir)) })
	return r.small
}

// maxEdits bounds the paths listed for one commit.
const maxEdits = 20

type differ struct {
	ctx     context.Context
	objects *objects
	edits   []string
}

// compareTrees lists what stands in the old tree and is another object, or gone, in the new one.
func (d *differ) compareTrees(path, old, now string) error {
	if old == now || len(d.edits) >= maxEdits {
		return nil
	}
	both, err := d.objects.readTrees(d.ctx, old, now)
	if err != nil {
		return err
	}
	names := map[string]gitobject.Entry{}
	for _, e := range both[1] {
		names[e.Name] = e
	}
	for _, was := range both[0] {
		is, name := names[was.Name], strings.TrimPrefix(path+"/"+was.Name, "/")
		switch {
		case is == was || name == ledger.HeadPath && is.Mode == was.Mode:
		case is.IsTree() && was.IsTree():
			if err := d.compareTrees(name, was.ID, is.ID); err != nil {
				return err
			}
		case len(d.edits) < maxEdits:
			d.edits = append(d.edits, name)
		}
	}
	return nil
}

// Altered returns what would make git show other objects or other parents than the ones named: refs/replace and
// info/grafts. None of it is believed here; but who uses git by hand would be shown something else.
func (r *Repo) Altered() ([]ledger.Problem, error) {
	var problems []ledger.Problem
	add := func(format string, args ...any) {
		about, _ := ledger.CodeReplaced.Of()
		problems = append(problems, ledger.Problem{Code: ledger.CodeReplaced, Level: about.Level, Seq: -1,
			Message: fmt.Sprintf(format, args...)})
	}
	replaced, err := r.replacedObjects()
	if err != nil {
		return nil, err
	}
	if len(replaced) > 0 {
		add("refs/replace holds %d references, such as %.60s", len(replaced), replaced[0])
	}
	if info, err := os.Stat(filepath.Join(r.dir, "info", "grafts")); err == nil && info.Size() > 0 {
		add("info/grafts replaces the parents of commits")
	}
	return problems, nil
}

func (r *Repo) replacedObjects() (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, "refs", "replace"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	err = packedRefs(r.dir, func(_, name string) {
		if rest, ok := strings.CutPrefix(name, "refs/replace/"); ok {
			names = append(names, rest)
		}
	})
	return names, err
}

// isShallowAt reports whether the repository says that it ends at this commit.
func (r *Repo) isShallowAt(commit string) bool {
	b, err := os.ReadFile(filepath.Join(r.dir, "shallow"))
	return err == nil && strings.Contains("\n"+string(b)+"\n", "\n"+commit+"\n")
}
