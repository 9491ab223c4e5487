package main

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
)

// turnedLedger looks for the stored verdicts of a ledger that a new version of a sheet would change.
type turnedLedger struct {
	*app
	page                  *page
	before, after         *referee.Sheet
	source                string
	library               *referee.Library
	seen, changed, absent int
}

// run lists them, the oldest first. A run that is not at hand is named, and decides nothing.
func (t *turnedLedger) run(where *ledgerFlags) error {
	k, err := t.openLedger(where)
	if err != nil {
		return err
	}
	defer k.Close()
	repo, err := gitstore.OpenRepo(t.source, "")
	if err != nil {
		repo = nil // a folder of runs will do
	}
	entries, err := t.sheetEntries(k)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := t.auditBoth(&replay{app: t.app, k: k, e: e, source: t.source, library: t.library, repo: repo}); err != nil {
			return err
		}
	}
	t.page.line("%s of this sheet in the ledger: the verdict of %d would change; the run of %d was not found",
		countWord(t.seen, "receipt"), t.changed, t.absent)
	return nil
}

// sheetEntries are the receipts of the sheet, of any version, from the first on.
func (t *turnedLedger) sheetEntries(k *kept) ([]*ledger.Entry, error) {
	var out []*ledger.Entry
	for e, err := range ledger.Backwards(t.ctx, k, k.at) {
		if err != nil {
			return nil, toolf("reading the ledger: %w", err).withHint("`referee ledger verify` reports what is wrong")
		}
		if e.Receipt.Audited() && e.Receipt.FlightSheet.Slug == t.before.Slug {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// auditBoth audits the run of a receipt by both versions.
func (t *turnedLedger) auditBoth(r *replay) error {
	t.seen++
	name := fmt.Sprintf("receipt %d  %s@%s  run %s", r.e.Receipt.Seq, r.e.Receipt.FlightSheet.Slug,
		r.e.Receipt.FlightSheet.Version, r.e.Receipt.Run.ID)
	folder, where, done, err := r.runFolder()
	if err != nil {
		t.absent++
		t.page.line("%s", name)
		t.page.text("  ", err.Error())
		return nil
	}
	defer done()
	old, err := t.auditBy(r, t.before, folder)
	if err != nil {
		return err
	}
	now, err := t.auditBy(r, t.after, folder)
	if err != nil {
		return err
	}
	if turn := forge.TurnedReports(name+"  "+where, old, now); turn != nil {
		t.changed++
		t.page.writeTurn(turn)
	}
	return nil
}

// auditBy audits the run as it was audited then, with the profile of its agent and the receipts before it, by one
// version of the sheet.
func (t *turnedLedger) auditBy(r *replay, sheet *referee.Sheet, folder fs.FS) (*referee.Report, error) {
	recorded := *r.e.Receipt
	recorded.FlightSheet = ledger.FlightSheet{Slug: sheet.Slug, Version: sheet.Version, SHA256: sheet.SHA256}
	out, err := audit.Reaudit(&recorded, sheet, folder, receipt.Prior(t.ctx, r.k, receipt.Before(r.k.at, r.e.Receipt)))
	if err != nil {
		return nil, toolf("auditing the run of receipt %d: %w", recorded.Seq, err)
	}
	return out.Report, nil
}
