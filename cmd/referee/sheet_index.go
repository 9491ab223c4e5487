package main

import (
	"os"
	"path/filepath"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/referee"
)

func sheetIndexCommand() *command {
	c := newCommand("sheet index", "", "write a searchable page of all flight sheets", 0)
	c.long = `The page is one HTML file that needs nothing else: every sheet's inputs,
formulas, gates, sources and example. Without --out it goes to standard
output.`
	c.examples = []string{"referee sheet index --out docs/library/index.html"}
	out := c.flags.String("out", "", "`FILE` for the page")
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		library, err := a.openLibrary(*dir)
		if err != nil {
			return err
		}
		var sheets []*referee.Sheet
		for _, slug := range library.Slugs() {
			s, err := library.Find(slug)
			if err != nil {
				return sheetError(err)
			}
			sheets = append(sheets, s)
		}
		page, err := forge.Index(sheets)
		if err != nil {
			return err
		}
		if *out == "" {
			return a.print(string(page))
		}
		if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
			return toolf("writing the page: %w", err)
		}
		if err := os.WriteFile(*out, page, 0o644); err != nil {
			return toolf("writing the page: %w", err)
		}
		return nil
	}
	return c
}
