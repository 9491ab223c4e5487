package audit

import (
	"fmt"
	"io/fs"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
)

// EvidenceProvenance tells whose an evidence file is (S66): already on base with these bytes, or added by this pull
// request.
func EvidenceProvenance(base fs.FS, dir string, rep *referee.Report, author string) func(id string) (from, by string) {
	return func(id string) (string, string) {
		for _, e := range rep.Evidence {
			if e.ID == id && e.Path != "" && onBase(base, dir+"/"+e.Path, e.SHA256) {
				return "base", ""
			}
		}
		return "pull_request", author
	}
}

// onBase reports whether base holds a file with these bytes.
func onBase(base fs.FS, name, sha256 string) bool {
	info, err := Lstat(base, name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if object, ok := info.Sys().(gitstore.Object); ok && object.ID == "" {
		return false
	}
	b, err := referee.ReadFile(base, name, receipt.MaxReplayed)
	return err == nil && canonical.SHA256Hex(b) == sha256
}

// RefuseForeignEvidence refuses evidence that the pull request brings along, where the configuration takes only what is
// on base already (S66).
func RefuseForeignEvidence(a AuditedRun, cfg *config.Config) []Refusal {
	var out []Refusal
	for _, e := range a.Work.Evidence {
		if cfg.Evidence == "base_only" && e.Provenance != "base" {
			out = append(
				out,
				Refusal{
					Path: a.Dir + "/" + e.Path,
					Reason: fmt.Sprintf(
						"the evidence %q was added in this pull request by %s; the configuration accepts only "+
							"evidence that is already on base (evidence: base_only)",
						e.ID,
						e.AddedBy,
					),
				},
			)
		}
	}
	return out
}
