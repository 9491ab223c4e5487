package main

import (
	"bytes"
	"io"
	"os"

	"github.com/defendableos/referee/forge"
)

func sheetFmtCommand() *command {
	c := newCommand("sheet fmt", "FILE…", "write flight sheets in one layout", -1)
	c.long = `Two spaces, one member a line, members in the order of the format. The sheet
stays the same: its SHA-256 does not change. With --check nothing is written,
and files that would change make the exit code 1. - reads standard input and
writes standard output.`
	c.examples = []string{"referee sheet fmt flight_sheets/*.json",
		"referee sheet fmt --check flight_sheets/my-sheet.json", "referee sheet fmt - < my-sheet.json"}
	check := c.flags.Bool("check", false, "only list the files that would change")
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("sheet fmt needs a FILE").withHint("usage: %s", c.usageLine())
		}
		changed := 0
		for _, name := range args {
			did, err := a.formatFile(name, *check)
			if err != nil {
				return err
			}
			if did {
				changed++
			}
		}
		if *check && changed > 0 {
			return &failure{code: exitRules}
		}
		return nil
	}
	return c
}

// formatFile formats one file and reports whether it was otherwise before.
func (a *app) formatFile(name string, check bool) (changed bool, err error) {
	src, err := a.readSheet(name)
	if err != nil {
		return false, err
	}
	out, err := forge.Format(src)
	if err != nil {
		return false, usagef("%s: %w", name, err)
	}
	switch {
	case name == "-" && !check:
		return false, a.print(string(out))
	case bytes.Equal(src, out):
		return false, nil
	case !check:
		if err := os.WriteFile(name, out, 0o644); err != nil {
			return false, toolf("writing %s: %w", name, err)
		}
	}
	return true, a.print(name + "\n")
}

// readSheet reads a file, or standard input.
func (a *app) readSheet(name string) ([]byte, error) {
	in := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usagef("opening the flight sheet: %w", err)
		}
		defer f.Close()
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, maxSubmission))
	if err != nil {
		return nil, toolf("reading the flight sheet %s: %w", name, err)
	}
	return src, nil
}
