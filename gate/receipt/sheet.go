package receipt

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// KeptSheet gives the rulebook of a receipt from the ledger, which holds those of the embedded library; nil if it holds
// none of that hash.
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

// TreeSheet gives the rulebook of a receipt from a tree of the repository; nil if the tree has none of that slug with
// that hash. shadows says whether the library has a sheet of this slug too.
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
