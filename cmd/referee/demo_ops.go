package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/testdata"
)

// What referee demo --all goes on with: work that stands on receipts.

// enterRejections puts the refused runs into the ledger as what they are, so that what follows can name them.
func (d *demo) enterRejections() error {
	p := &page{}
	for _, w := range d.work {
		if slices.ContainsFunc(d.minted, func(e *ledger.Entry) bool { return e.Receipt.Run.ID == w.Run.ID }) {
			continue
		}
		entry, err := d.enterReceipt(w, receipt.Local{Name: demoSigner, At: d.at, Reject: "the rules refuse it"})
		if err != nil {
			return toolf("rejecting %s: %w", w.Run.ID, err)
		}
		d.minted = append(d.minted, entry)
		p.writeEntry(w.Run.ID, demoColumn, entry.Receipt.ID+", "+string(entry.Receipt.Kind))
		p.writeLabelled(demoColumn, "", entry.Hash)
	}
	return d.printStage(8, "Reject: a rejection is an entry too", func(all *page) { all.b.WriteString(p.b.String()) })
}

// demoModels are one deal, worked on by the base model and by the tuned one.
var demoModels = []string{"oak-street-base", "oak-street-tuned"}

// demoOperations are the runs that stand on receipts, in the order in which they are shown.
var demoOperations = []string{"cook-with-lift", "cook-without-lift", "lane-lock", "spend-breach", "rogue-agent"}

// demoParams are the limits that the demonstration's configuration would set.
func demoParams() *paramFlags {
	return &paramFlags{given: []string{"cap=200", "limit=2", "heartbeat_min=30"}, used: map[string]bool{}}
}

// operationsTime is when the operations are signed: after the last incident of the samples was opened.
var operationsTime = demoDay.Add(2 * time.Hour)

// signOperations writes, audits and signs them. The audit resolves the receipts that they name in the ledger.
func (d *demo) signOperations() error {
	hashes := map[string]string{}
	for _, e := range d.minted {
		hashes[e.Receipt.Run.ID] = e.Hash
	}
	d.at = demoTimeOf(d.now(), operationsTime)
	p := &page{}
	// A cook names the receipts of both models, so theirs are minted first; then their hashes are known.
	for _, names := range [][]string{demoModels, demoOperations} {
		if err := d.signRuns(p, names, hashes); err != nil {
			return err
		}
	}
	d.next = 10
	return d.printStage(9, "Cook and incidents: what they say about receipts is looked up in the ledger",
		func(all *page) { all.b.WriteString(p.b.String()) })
}

// signRuns writes the runs with the hashes that are known, and signs those of the names.
func (d *demo) signRuns(p *page, names []string, hashes map[string]string) error {
	if err := writeTree(d.dir, testdata.OnLedger(hashes)); err != nil {
		return toolf("writing the runs: %w", err)
	}
	for _, name := range names {
		if err := d.signOperation(p, name); err != nil {
			return err
		}
	}
	for _, e := range d.minted {
		hashes[e.Receipt.Run.ID] = e.Hash
	}
	return nil
}
func (d *demo) signOperation(p *page, name string) error {
	at, err := d.store.Head(d.ctx)
	if err != nil {
		return toolf("%w", err)
	}
	w, err := d.judgeRun(name, receipt.Prior(d.ctx, d.store, at))
	if err != nil {
		return toolf("auditing the sample run %s: %w", name, err)
	}
	entry, err := d.signOff(w)
	var no *receipt.NotSignable
	switch {
	case errors.As(err, &no):
		why := no.Error()
		if len(w.Report.Findings) > 0 {
			why = w.Report.Findings[0].Message
		}
		p.writeEntry(name, demoColumn, "REFUSED: "+why)
	case err != nil:
		return toolf("signing %s off: %w", name, err)
	default:
		d.minted = append(d.minted, entry)
		p.writeEntry(name, demoColumn,
			entry.Receipt.ID+", "+entry.Receipt.Verdict.Severity+", "+aboutOperation(entry.Receipt))
		p.writeLabelled(demoColumn, "", entry.Hash)
	}
	return nil
}

// aboutOperation says what the receipt is about.
func aboutOperation(r *ledger.Receipt) string {
	switch {
	case r.Cook == nil && r.Incident == nil:
		return r.Agent.Model + ", score " + r.Verdict.Score
	case r.Cook != nil:
		return "lift " + r.Cook.Lift + ": " + r.Cook.EvalBefore + " before, " + r.Cook.EvalAfter + " after"
	}
	return r.Incident.Kind + ": " + r.Incident.Title
}

// writeTree writes files below a folder.
func writeTree(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
