package main

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// logFilter says which entries ledger log shows.
type logFilter struct {
	kind, agent, sheet, run string
	limit                   int
}

func ledgerLogCommand() *command {
	c := newCommand("ledger log", "", "list the entries, the newest first", 0)
	c.long = "One line an entry: number, beginning of its hash, date, kind, severity, score,\nrun. Nothing is " +
		"verified (`referee ledger verify` does that)."
	c.examples = []string{"referee ledger log", "referee ledger log --kind rejected --agent underwriter",
		"referee ledger log --run oak-street --limit 0"}
	w := &logFilter{}
	c.choiceFlag(&w.kind, "kind", "", "only entries of this `KIND`", receiptKinds())
	c.flags.StringVar(&w.agent, "agent", "", "only runs of this agent or model `NAME`")
	c.flags.StringVar(&w.sheet, "sheet", "", "only runs by this flight `SHEET` (slug, or slug@version)")
	c.flags.StringVar(&w.run, "run", "", "only the run with this `ID`")
	c.flags.IntVar(&w.limit, "limit", 50, "at most `N` entries; 0 is all")
	where := ledgerFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		if err := w.checkFlags(); err != nil {
			return err
		}
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		return a.logLedger(k, w)
	}
	return c
}

// receiptKinds are what --kind takes.
func receiptKinds() []string {
	var kinds []string
	for _, k := range ledger.Kinds() {
		kinds = append(kinds, string(k))
	}
	return kinds
}

func (w *logFilter) checkFlags() error {
	if w.limit < 0 {
		return usagef("--limit must not be negative")
	}
	return nil
}

// wantsEntry reports whether an entry passes the filter.
func (w *logFilter) wantsEntry(r *ledger.Receipt) bool {
	agent := []string{""}
	if r.Agent != nil {
		agent = append(agent, r.Agent.Name, r.Agent.Model)
	}
	return (w.kind == "" || w.kind == string(r.Kind)) && slices.Contains(agent, w.agent) &&
		(w.run == "" || w.run == r.Run.ID) &&
		(w.sheet == "" || w.sheet == r.FlightSheet.Slug || w.sheet == r.FlightSheet.Slug+"@"+r.FlightSheet.Version)
}

// logLedger prints each entry as it is read.
func (a *app) logLedger(k *kept, w *logFilter) error {
	shown := 0
	for e, err := range ledger.Backwards(a.ctx, k, k.at) {
		if err != nil {
			return rulesf("reading the ledger, %s: %w", k.name,
				err).withHint("`referee ledger verify` reports what is wrong")
		}
		if !w.wantsEntry(e.Receipt) {
			continue
		}
		if w.limit > 0 && shown == w.limit {
			a.note("there are older ones; --limit 0 lists all")
			break
		}
		shown++
		if err := a.print(logLine(e)); err != nil {
			return err
		}
	}
	if shown == 0 {
		a.note("none of the ledger's %s is shown", countEntries(k.at.Head.Count))
	}
	return nil
}

// mostRunID is what the other columns of a line leave to the run's ID.
const mostRunID = 20

// logLine is an entry in 80 columns.
func logLine(e *ledger.Entry) string {
	r := e.Receipt
	severity, score := "-", "-"
	if r.Verdict != nil {
		severity, score = r.Verdict.Severity, r.Verdict.Score
	}
	id := report.Clean(r.Run.ID)
	if utf8.RuneCountInString(id) > mostRunID {
		id = legible.Clip(id, mostRunID-1)
	}
	p := &page{}
	p.line("%6d  %.8s  %.10s  %-11s  %-8s  %5s  %s", r.Seq, e.Hash, r.MintedAt, r.Kind, severity, score, id)
	return p.b.String()
}

func ledgerHeadCommand() *command {
	c := newCommand("ledger head", "", "print where the chain ends: count, tip and root", 0)
	c.long = "What HEAD.json says; keep it somewhere else, and `referee ledger verify --pin`\nholds the ledger to " +
		"it later. --format json prints the file's own bytes."
	c.examples = []string{"referee ledger head", "referee ledger head --format json > pin.json"}
	format := c.formatFlag("text", "json")
	where := ledgerFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		if *format == "json" {
			b, err := k.at.Head.Format()
			if err != nil {
				return toolf("%w", err)
			}
			return a.print(string(b) + "\n")
		}
		h := k.at.Head
		return a.print(fmt.Sprintf("count  %d\ntip    %s\nroot   %s\npin    %d:%s\n", h.Count, h.Tip, h.Root, h.Count,
			h.Root))
	}
	return c
}
