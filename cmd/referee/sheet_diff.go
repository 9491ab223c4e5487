package main

import (
	"os"
	"path/filepath"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/referee"
)

func sheetDiffCommand() *command {
	c := newCommand("sheet diff", "OLD NEW [PATH…]", "describe what a new version of a sheet changes", -1)
	c.long = `OLD and NEW are files or slugs. With PATHs (run folders, bare submissions,
.jsonl files, as audit takes them) it also lists the stored submissions whose
verdict would change. With --ledger it lists the receipts of this sheet whose
verdict would: their runs are looked for in --source, as receipt replay does. A
star marks what may change a verdict; without one only words do.`
	c.examples = []string{"referee sheet diff cre-multifamily-agency flight_sheets/cre-multifamily-agency.json",
		"referee sheet diff old.json new.json runs/", "referee sheet diff old.json new.json --ledger ."}
	dir := sheetsFlag(c.flags)
	where := ledgerFlag(c.flags)
	source := c.flags.String("source", ".", "with --ledger: git `REPO` that holds the runs")
	c.run = func(a *app, args []string) error {
		if len(args) < 2 {
			return usagef("sheet diff needs two sheets, OLD and NEW").withHint("usage: %s", c.usageLine())
		}
		library, err := a.openLibrary(*dir)
		if err != nil {
			return err
		}
		before, err := a.anySheet(library, args[0])
		if err != nil {
			return err
		}
		after, err := a.anySheet(library, args[1])
		if err != nil {
			return err
		}
		p := &page{}
		p.writeChanges(forge.Diff(before, after))
		if len(args) > 2 {
			if err := a.auditTurned(p, before, after, args[2:]); err != nil {
				return err
			}
		}
		if where.repo != "" {
			t := &turnedLedger{app: a, page: p, before: before, after: after, source: *source, library: library}
			if err := t.run(where); err != nil {
				return err
			}
		}
		return a.print(p.b.String())
	}
	return c
}

// writeChanges prints the differences, part by part.
func (p *page) writeChanges(list []forge.Change) {
	if len(list) == 0 {
		p.line("nothing changes")
	}
	part := ""
	for _, c := range list {
		if c.Part != part {
			part = c.Part
			p.line("%s", part)
		}
		lead := "    "
		if c.Matters {
			lead = "  * "
		}
		p.text(lead, c.Text)
	}
}

// auditTurned audits stored submissions by both versions and lists those whose verdict changes.
func (a *app) auditTurned(p *page, before, after *referee.Sheet, paths []string) error {
	sources, err := sourcesOf(paths)
	if err != nil {
		return err
	}
	seen, changed := 0, 0
	for _, s := range sources {
		var failed error
		err := s.emitUnits(a.stdin, "auto", func(u unit) bool {
			turn, judged, err := turnOf(u, before, after)
			failed = err
			if judged {
				seen++
			}
			if turn != nil {
				changed++
				p.writeTurn(turn)
			}
			return err == nil
		})
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
	}
	p.line("%s of this sheet: the verdict of %d would change", countWord(seen, "stored submission"), changed)
	return nil
}

func (p *page) writeTurn(t *forge.Turn) {
	p.line("%s", t.Where)
	p.text("  was ", t.Before)
	p.text("  is  ", t.After)
	for _, r := range t.Rules {
		p.text("    ", r)
	}
}

// turnOf audits one stored submission by both versions; judged is false for a run of another sheet. A bare submission
// is taken to be of this one.
func turnOf(u unit, before, after *referee.Sheet) (turn *forge.Turn, judged bool, err error) {
	if u.kind != runFolder {
		if u.bytes == nil {
			if u.bytes, err = readBare(u.path); err != nil {
				return nil, false, err
			}
		}
		return forge.Turned(u.unitName(), referee.Case{Path: bareName(u.path), Line: u.line, Bytes: u.bytes}, before,
			after), true, nil
	}
	root, err := os.OpenRoot(filepath.FromSlash(u.path))
	if err != nil {
		return nil, false, toolf("opening the run folder %s: %w", u.path, err)
	}
	defer root.Close()
	folder, err := referee.OpenRun(root.FS())
	if err != nil {
		return nil, false, runError(u.path, root, err)
	}
	if slug, _ := referee.SplitSheet(folder.Run.Sheet); slug != before.Slug {
		return nil, false, nil
	}
	return forge.Turned(u.unitName(), folder.Case(before, nil), before, after), true, nil
}
