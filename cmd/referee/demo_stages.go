package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
	"github.com/defendableos/referee/report/pdf"
)

// demoColumn is where texts begin beside the name of a run.
const demoColumn = 15

// printStage prints one of the seven.
func (d *demo) printStage(n int, name string, write func(p *page)) error {
	p := &page{}
	p.line("")
	p.line("%d %s", n, name)
	write(p)
	return d.print(p.b.String())
}

// showAssignment shows the rulebook: what is asked for, and by what it is judged.
func (d *demo) showAssignment() error {
	sheet := d.work[0].Sheet
	return d.printStage(1, "Assignment: a flight sheet says what is asked for and by which rules", func(p *page) {
		p.text("  ", sheet.Name)
		p.text("  ", sheet.Slug+"@"+sheet.Version+", "+countWord(len(sheet.Rules),
			"rule")+", sha256 "+legible.Clip(sheet.SHA256, 16))
	})
}

// showRuns shows who did the work.
func (d *demo) showRuns() error {
	agent := d.work[0].Run.Agent
	return d.printStage(2, "Run: the agent "+agent.Name+" ("+agent.Model+") writes four memos", func(p *page) {
		for _, w := range d.work {
			p.writeEntry(w.Run.ID, demoColumn, fmt.Sprintf("%s with %d pieces of evidence, for %s USD", w.Report.Location,
				len(w.Evidence), w.Run.CostUSD))
		}
	})
}

// showSubmissions shows the bytes that everything after is bound to.
func (d *demo) showSubmissions() error {
	return d.printStage(3, "Submission: numbers, formulas and sources, bound by their hash", func(p *page) {
		for _, w := range d.work {
			p.writeEntry(w.Run.ID, demoColumn, fmt.Sprintf("%d bytes, sha256 %s", len(w.Bytes),
				legible.Clip(w.Report.Submission.SHA256, 32)))
		}
	})
}

// showAudits shows the verdict and the heaviest finding of each.
func (d *demo) showAudits() error {
	return d.printStage(4, "Audit: every number derived again, every source looked up", func(p *page) {
		for _, w := range d.work {
			v := w.Report.Verdict
			p.writeEntry(w.Run.ID, demoColumn, fmt.Sprintf("%s, score %s: %d high, %d mid, %d low", v.Severity, v.Score,
				v.Risk.High, v.Risk.Mid, v.Risk.Low))
			if len(w.Report.Findings) > 0 {
				f := w.Report.Findings[0]
				p.writeLabelled(demoColumn, "", string(f.Tier)+", "+string(f.Bucket)+": "+f.Message)
			}
		}
	})
}

// signOffs tries to sign each run off. The rules say no to two of them, whoever signs.
func (d *demo) signOffs() error {
	p := &page{}
	for _, w := range d.work {
		entry, err := d.signOff(w)
		var no *receipt.NotSignable
		switch {
		case errors.As(err, &no):
			p.writeEntry(w.Run.ID, demoColumn, "REFUSED, whoever signs")
			p.writeLabelled(demoColumn, "", whoseMove(w))
		case err != nil:
			return toolf("signing %s off: %w", w.Run.ID, err)
		default:
			d.minted = append(d.minted, entry)
			p.writeEntry(w.Run.ID, demoColumn, fmt.Sprintf("signed, with %s answered: %s",
				countWord(len(entry.Receipt.Checklist), "question"), entry.Receipt.Verdict.Severity))
		}
	}
	return d.printStage(5, "Sign-off: "+demoSigner+" answers what only a person can, and signs",
		func(all *page) { all.b.WriteString(p.b.String()) })
}

// whoseMove says whose move a refused run is.
func whoseMove(w receipt.Work) string {
	for _, f := range w.Report.Findings {
		if f.Tier == referee.High && f.Bucket != referee.DealFinding {
			return "a work-defect cannot be accepted: the agent resubmits"
		}
	}
	return "the work is right and the deal is not; with --accept " + w.Report.Findings[0].RuleIDs[0] +
		"=WHY the client could go ahead, and the receipt would say so"
}

// showReceipts shows what was minted.
func (d *demo) showReceipts() error {
	return d.printStage(6, "Receipt: minted into the ledger, each bound to the one before", func(p *page) {
		for _, e := range d.minted {
			p.writeEntry(e.Receipt.Run.ID, demoColumn,
				e.Receipt.ID+", "+e.Receipt.Verdict.Severity+", score "+e.Receipt.Verdict.Score)
			p.writeLabelled(demoColumn, "", e.Hash)
		}
	})
}

// verifyLedger reads the ledger back as a stranger would.
func (d *demo) verifyLedger() error {
	repo := d.store.Repo()
	commit, err := repo.Resolve("refs/heads/ledger")
	if err != nil {
		return toolf("%w", err)
	}
	v, err := repo.Verify(d.ctx, commit, gitstore.VerifyOptions{Full: true})
	if err != nil {
		return toolf("verifying the ledger: %w", err)
	}
	if !v.OK() {
		return rulesf("the new ledger failed verification: %s", v.Problems[0])
	}
	return d.printStage(d.next, "Verify: "+v.Level.Says(), func(p *page) {
		p.text("  ", fmt.Sprintf("level %s; %s; tip %s", v.Level, countEntries(v.Head.Count), legible.Clip(v.Head.Tip, 16)))
	})
}

// writePapers leaves papers and says what is where.
func (d *demo) writePapers() error {
	papers := filepath.Join(d.dir, "papers")
	files := map[string][]byte{"verify.html": report.VerifyPage()}
	for _, e := range d.minted {
		var b bytes.Buffer
		if err := pdf.Write(&b, e.Receipt, e.Bytes, pdf.Place{Standing: pdf.Standing{InLedger: true}}); err != nil {
			return toolf("%w", err)
		}
		files[e.Receipt.Run.ID+".pdf"] = b.Bytes()
		files[filepath.Base(ledger.Place{Class: ledger.EntryFile, Seq: e.Receipt.Seq, Hash: e.Hash}.String())] = e.Bytes
	}
	if err := os.Mkdir(papers, 0o755); err != nil {
		return toolf("leaving the papers: %w", err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(papers, name), b, 0o644); err != nil {
			return toolf("leaving the papers: %w", err)
		}
	}
	p := &page{}
	p.beginSection("Left in " + d.dir)
	p.writeEntry("runs/", demoColumn+2, "the four runs, committed on main")
	p.writeEntry("branch ledger", demoColumn+2, "the receipts, plain files: sha256sum alone checks them")
	p.writeEntry("papers/", demoColumn+2, d.minted[0].Receipt.Run.ID+".pdf, the paper to file")
	p.writeEntry("papers/", demoColumn+2, "verify.html: open it in a browser and drop a receipt on it")
	p.writeEntry("papers/", demoColumn+2, "000000000-….json, a receipt to drop")
	p.beginSection("Look further")
	for _, line := range []string{"cd " + d.dir, "referee audit runs/elm-plaza", "referee ledger log",
		"referee ledger verify", "referee receipt replay 0"} {
		p.line("  %s", line)
	}
	return d.print(p.b.String())
}
