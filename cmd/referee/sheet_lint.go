package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

func sheetLintCommand() *command {
	c := newCommand("sheet lint", "[FILE|SLUG…]", "check flight sheets: refusals and warnings", -1)
	c.long = "Without arguments every active sheet is looked at. Each refusal and warning has\nits " +
		"file:line:column. Refusals make the exit code 2; warnings leave it 0."
	c.examples = []string{"referee sheet lint", "referee sheet lint flight_sheets/my-sheet.json",
		"referee sheet lint cre-multifamily-agency"}
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		library, err := a.openLibrary(*dir)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			args = library.Slugs()
		}
		return a.lintSheets(library, args)
	}
	return c
}

// linted is what is wrong with one sheet.
type linted struct {
	problems []referee.Problem
	err      error
}

// lintSheets loads each sheet and prints what is wrong with it, in the order of the names.
func (a *app) lintSheets(library *referee.Library, names []string) error {
	p := &page{}
	today := a.now().Format(time.DateOnly)
	refused, warned, clean := 0, 0, 0
	err := runOrdered(a.ctx, min(runtime.GOMAXPROCS(0), maxJobs), func(emit func(string) bool) error {
		for _, name := range names {
			if !emit(name) {
				break
			}
		}
		return nil
	}, func(name string) linted {
		s, err := a.anySheet(library, name)
		if err != nil {
			return linted{err: err}
		}
		return linted{problems: slices.Concat(s.Warnings, refuseReusedVersion(s), forge.Lint(s, today))}
	}, func(l linted) error {
		switch {
		case l.err != nil && codeOf(l.err) != exitUsage:
			return l.err
		case l.err != nil:
			refused++
			p.writeRefusal(l.err)
		case p.writeProblems(l.problems):
			refused++
		case len(l.problems) > 0:
			warned++
		default:
			clean++
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.line("%s: %d clean, %d with warnings, %d refused", countWord(len(names), "sheet"), clean, warned, refused)
	if err := a.print(p.b.String()); err != nil {
		return err
	}
	if refused > 0 {
		return &failure{code: exitUsage}
	}
	return nil
}

// refuseReusedVersion refuses another content under the slug and version of a sheet of the library: who reads the two
// words would take one for the other (S54).
func refuseReusedVersion(s *referee.Sheet) []referee.Problem {
	own, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(s.Slug)
	if err != nil || own.Version != s.Version || own.SHA256 == s.SHA256 {
		return nil // the library's own sheets load, and a slug of the author's is in none
	}
	at := s.Doc.Get("version")
	return []referee.Problem{{File: s.File, Line: at.Pos.Line, Column: at.Pos.Col, Pointer: at.Pointer(),
		Rule:    "version",
		Message: fmt.Sprintf("the library's %s@%s has different content (S54)", s.Slug, s.Version),
		Hint:    "change the version of this one; `referee sheet diff` says what differs"}}
}

// writeProblems prints what is wrong with a sheet that loads and reports whether any of it refuses the sheet.
func (p *page) writeProblems(list []referee.Problem) (refused bool) {
	for _, problem := range list {
		if !problem.Warning {
			refused = true
			p.line("%s", problem)
			continue
		}
		p.line("%s (warning)", problem)
	}
	return refused
}

// writeRefusal prints every problem of a refused sheet on a line of its own.
func (p *page) writeRefusal(err error) {
	var refused *referee.RefusedError
	if errors.As(err, &refused) {
		for _, problem := range refused.Problems {
			p.line("%s", problem)
		}
		return
	}
	for line := range strings.Lines(err.Error()) {
		p.line("%s", report.Clean(strings.TrimRight(line, "\n")))
	}
	var f *failure
	if errors.As(err, &f) {
		for _, h := range f.hints {
			p.line("  hint: %s", h)
		}
	}
}

// anySheet is the sheet in a file, or the active one of that slug.
func (a *app) anySheet(library *referee.Library, name string) (*referee.Sheet, error) {
	if isFile(name) {
		return a.sheetFile(name)
	}
	s, err := library.Find(name)
	if err != nil {
		return nil, sheetError(err)
	}
	return s, nil
}

// isFile tells a file from a slug: a slug has neither a dot nor a slash.
func isFile(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.ContainsAny(name, `/\`)
}

// sheetFile loads a sheet from a file that need not be active.
func (a *app) sheetFile(name string) (*referee.Sheet, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, usagef("opening the flight sheet: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSubmission))
	if err != nil {
		return nil, toolf("reading the flight sheet %s: %w", name, err)
	}
	s, err := referee.LoadSheet(b, filepath.ToSlash(name), "repository")
	if err != nil {
		return nil, sheetError(err)
	}
	return s, nil
}
