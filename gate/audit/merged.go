package audit

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Manifests tells which paths are manifests of runs that a pattern covers: ** is any number of folders, * any part of a
// name.
func Manifests(pattern string) func(string) bool { return config.CompilePattern(pattern).MatchString }

// MergedRun reads a run as it stands on base, as the ledger's receipts bind it: its id, its submission's hash and the
// hash of the sheet that was active in that tree. embedded is the library's sheets, dir the folder of the repository's
// own.
func MergedRun(embedded fs.FS, dir string) func(tree fs.FS, manifest string) (ledger.MergedRun, error) {
	return func(tree fs.FS, manifest string) (ledger.MergedRun, error) {
		sub, err := fs.Sub(tree, path.Dir(manifest))
		if err != nil {
			return ledger.MergedRun{}, fmt.Errorf("reading %s: %w", manifest, err)
		}
		folder, err := referee.OpenRun(WithLinks(tree, sub, path.Dir(manifest)))
		if err != nil {
			return ledger.MergedRun{}, err
		}
		own, err := fs.Sub(tree, dir)
		if err != nil {
			return ledger.MergedRun{}, fmt.Errorf("reading %s: %w", dir, err)
		}
		sheet, err := referee.NewLibrary(embedded, WithLinks(tree, own, dir), dir).Find(folder.Run.Sheet)
		if err != nil {
			return ledger.MergedRun{}, err
		}
		run := ledger.MergedRun{
			ID:               folder.Run.ID,
			SubmissionSHA256: canonical.SHA256Hex(folder.Bytes),
			SheetSHA256:      sheet.SHA256,
		}
		if folder.Ref != nil {
			run.SubmissionSHA256 = folder.Ref.SHA256
		}
		return run, nil
	}
}
