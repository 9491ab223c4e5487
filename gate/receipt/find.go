package receipt

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// ErrNotAtHand is returned where the bytes that a receipt binds are not where one looked.
var ErrNotAtHand = errors.New("not found")

// MaxReplayed bounds what is read of a submission to recognise it; longer ones never make a receipt that can be
// replayed.
const MaxReplayed = 64 << 20

// FindRun finds in a tree (of files, or of a commit) the run folder that a receipt is about: its manifest names the
// run, and its submission has the recorded bytes. It gives the folder and its path.
func FindRun(tree fs.FS, r *ledger.Receipt) (folder fs.FS, where string, err error) {
	if usual := path.Join("runs", r.Run.ID); holdsRun(tree, usual, r) {
		where = usual
	} else if where, err = searchRun(tree, r); err != nil {
		return nil, "", err
	}
	folder, err = fs.Sub(tree, where)
	return folder, where, err
}

// searchRun looks through the whole tree, in the order of names.
func searchRun(tree fs.FS, r *ledger.Receipt) (string, error) {
	found := ""
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Name() != "run.json" || !holdsRun(tree, path.Dir(name), r):
			return nil
		}
		found = path.Dir(name)
		return fs.SkipAll
	})
	if err != nil {
		return "", fmt.Errorf("looking for the run %s: %w", r.Run.ID, err)
	}
	if found == "" {
		return "", fmt.Errorf(
			"the run %s with the submission %.12s… is %w",
			r.Run.ID,
			r.Submission.SHA256,
			ErrNotAtHand,
		)
	}
	return found, nil
}

// holdsRun reports whether a folder is the run. One that cannot be read is not.
func holdsRun(tree fs.FS, dir string, r *ledger.Receipt) bool {
	src, err := referee.ReadFile(tree, path.Join(dir, "run.json"), 1<<20)
	if err != nil {
		return false
	}
	run, err := referee.ParseRun(src, "run.json")
	if err != nil || run.ID != r.Run.ID {
		return false
	}
	b, err := referee.ReadFile(tree, path.Join(dir, run.Submission), MaxReplayed)
	return err == nil && canonical.SHA256Hex(b) == r.Submission.SHA256
}

// Before is the state of the ledger that a receipt was minted on, as far as later entries can be told from earlier
// ones: what was taken back after it counts for nothing in it.
func Before(at ledger.Snapshot, r *ledger.Receipt) ledger.Snapshot {
	at.Head = ledger.Head{Count: r.Seq, Tip: r.ParentHash, Root: r.Log.Root}
	return at
}
