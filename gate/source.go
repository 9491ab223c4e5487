package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// ErrNotAtHand is returned where the bytes that a receipt binds are not where one looked.
var ErrNotAtHand = errors.New("not at hand")

// maxReplayed bounds what is read of a submission to recognise it; longer ones never make a receipt that can be replayed.
const maxReplayed = 64 << 20

// FindRun finds in a tree (of files, or of a commit) the run folder that a receipt is about: its manifest names the run, and its submission
// has the recorded bytes. It gives the folder and its path.
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
		return "", fmt.Errorf("the run %s with the submission %.12s… is %w", r.Run.ID, r.Submission.SHA256, ErrNotAtHand)
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
	b, err := referee.ReadFile(tree, path.Join(dir, run.Submission), maxReplayed)
	return err == nil && canonical.SHA256Hex(b) == r.Submission.SHA256
}

// KeptSheet gives the rulebook of a receipt from the ledger, which holds those of the embedded library; nil if it holds none of that hash.
func KeptSheet(ctx context.Context, store ledger.Store, at ledger.Snapshot, r *ledger.Receipt) (*referee.Sheet, error) {
	files, err := store.Read(ctx, at, ledger.Place{Class: ledger.SheetFile, Hash: r.FlightSheet.SHA256}.String())
	if err != nil || len(files) == 0 {
		return nil, err
	}
	if got := canonical.SHA256Hex(files[0].Data); got != r.FlightSheet.SHA256 {
		return nil, fmt.Errorf("%s holds a sheet with the hash %.12s…", files[0].Path, got)
	}
	return referee.LoadSheet(files[0].Data, files[0].Path, "library")
}

// TreeSheet gives the rulebook of a receipt from a tree of the repository; nil if the tree has none of that slug with that hash. shadows says
// whether the library has a sheet of this slug too.
func TreeSheet(tree fs.FS, dir string, r *ledger.Receipt, shadows bool) *referee.Sheet {
	name := path.Join(dir, r.FlightSheet.Slug+".json")
	src, err := referee.ReadFile(tree, name, ledger.SheetFile.MaxBytes()+1)
	if err != nil {
		return nil
	}
	sheet, err := referee.LoadSheet(src, name, "repository")
	if err != nil || sheet.SHA256 != r.FlightSheet.SHA256 {
		return nil // another version, or one of another time's schema
	}
	sheet.Shadows = shadows
	return sheet
}

// Before is the state of the ledger that a receipt was minted on, as far as later entries can be told from earlier ones: what was taken back
// after it counts for nothing in it.
func Before(at ledger.Snapshot, r *ledger.Receipt) ledger.Snapshot {
	at.Head = ledger.Head{Count: r.Seq, Tip: r.ParentHash, Root: r.Log.Root}
	return at
}
