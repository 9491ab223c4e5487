package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// Base says which commits a complete ledger accounts for, and what is a run in them.
type Base struct {
	Commit string // the newest
	Until  string // the commit that the ledger began on, which is not looked at any more; "" for all
	// IsRun tells whether a path is the manifest of a run that the gate judges.
	IsRun func(manifest string) bool
	// Read returns what a ledger knows of the run with that manifest.
	Read func(tree fs.FS, manifest string) (ledger.MergedRun, error)
}

// manifest is the file that makes a directory a run.
const manifest = "run.json"

// Merges returns the commits on base, along first parents from the oldest, that bring or change a run. A run that
// cannot be read is among them, with its path and the reason as its ID, so that it cannot pass for one with a receipt.
func (r *Repo) Merges(ctx context.Context, b Base) (records []ledger.MergeRecord, err error) {
	tree := ""
	var newer *ledger.MergeRecord
	var newerTree string
	look := func(older string) error {
		if newer == nil {
			return nil
		}
		if newer.Runs, err = r.changedRuns(ctx, b, newer.SHA, older, newerTree); err == nil && len(newer.Runs) > 0 {
			records = append(records, *newer)
		}
		return err
	}
	next := b.Commit
	for rec, err := range r.recordsFrom(ctx, b.Commit) {
		if err != nil {
			return nil, fmt.Errorf("base: %w", err)
		}
		tree = rec.Tree
		if err := look(tree); err != nil {
			return nil, err
		}
		if next == b.Until {
			slices.Reverse(records)
			return records, nil
		}
		newer, newerTree = &ledger.MergeRecord{SHA: next, PullRequest: pullOf(rec.Message)}, tree
		next = ""
		if len(rec.Parents) > 0 {
			next = rec.Parents[0]
		}
	}
	if err := look(""); err != nil {
		return nil, err
	}
	slices.Reverse(records)
	return records, nil
}

// pullPattern is how forges name a pull request in the message of its merge.
var pullPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:Merge pull request #([1-9][0-9]{0,7}) |[^\n]*\(#([1-9][0-9]{0,7})\)(?:\n|\z))`)
})

// pullOf is the pull request that a message names, 0 if none. It is a hint for people: anybody can write a message.
func pullOf(message string) int64 {
	m := pullPattern().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// changedRuns returns the runs that stand in the new tree and are other than in the old one.
func (r *Repo) changedRuns(ctx context.Context, b Base, commit, old, now string) ([]ledger.MergedRun, error) {
	c := changes{ctx: ctx, objects: r.libraryObjects(), isRun: b.IsRun}
	if err := c.compareTrees("", old, now); err != nil {
		return nil, err
	}
	if len(c.manifests) == 0 {
		return nil, nil
	}
	tree, err := r.TreeFS(ctx, commit)
	if err != nil {
		return nil, err
	}
	var runs []ledger.MergedRun
	for _, name := range c.manifests {
		run, err := b.Read(tree, name)
		if err != nil {
			run = ledger.MergedRun{ID: fmt.Sprintf("%s (%v)", name, err)}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// changes lists the runs below directories that differ.
type changes struct {
	ctx       context.Context
	objects   *objects
	isRun     func(string) bool
	manifests []string
}

// maxDepth bounds the directories gone through below one another, for a tree may name what it likes.
const maxDepth = 64

func (c *changes) compareTrees(dir, old, now string) error {
	if old == now || pathDepth(dir) > maxDepth {
		return nil
	}
	var before []gitobject.Entry
	read, err := c.objects.readTrees(c.ctx, now)
	if err != nil {
		return err
	}
	if old != "" {
		was, err := c.objects.readTrees(c.ctx, old)
		if err != nil {
			return err
		}
		before = was[0]
	}
	if e := entryOf(read[0], manifest); e.ID != "" && c.isRun(path.Join(dir, manifest)) {
		c.manifests = append(c.manifests, path.Join(dir, manifest))
	}
	for _, e := range read[0] {
		if !e.IsTree() {
			continue
		}
		was := entryOf(before, e.Name)
		if !was.IsTree() {
			was.ID = ""
		}
		if err := c.compareTrees(path.Join(dir, e.Name), was.ID, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// Complete returns the merged runs for which the ledger at commit has neither a live receipt nor an unreceipted entry,
// and the merged entries that no commit on base bears out.
func (r *Repo) Complete(ctx context.Context, commit string, b Base) ([]ledger.Problem, error) {
	merges, err := r.Merges(ctx, b)
	if err != nil {
		return nil, err
	}
	return ledger.VerifyMerges(r.Tree(ctx, commit).Receipts(), merges)
}
