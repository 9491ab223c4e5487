package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"

	"github.com/defendableos/referee/referee"
)

// listedSheet is one line of `referee sheet list` (formats.md).
type listedSheet struct {
	Slug    string `json:"slug"`
	Version string `json:"version"`
	Lane    string `json:"lane"`
	Domain  string `json:"domain"`
	SHA256  string `json:"sha256"`
	Source  string `json:"source"`
}

func sheetListCommand() *command {
	c := newCommand("sheet list", "", "list the active flight sheets", 0)
	c.long = "Sheets of the repository replace the library's of the same slug. A sheet\nthat is refused is " +
		"named on standard error, and the exit code is 2."
	c.examples = []string{"referee sheet list", "referee sheet list --format json"}
	format := c.formatFlag("table", "json")
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		library, err := a.openLibrary(*dir)
		if err != nil {
			return err
		}
		sheets, refused := activeSheets(library)
		if *format == "json" {
			err = a.printJSON(sheetList(sheets))
		} else {
			err = a.print(sheetTable(sheets))
		}
		for _, refusal := range refused {
			printError(a.stderr, refusal)
		}
		if err == nil && len(refused) > 0 {
			return &failure{code: exitUsage}
		}
		return err
	}
	return c
}

// loadPercent lets the heap grow while the library is loaded: all of it stays, and collecting it again and again as it
// grows took as long as reading it.
const loadPercent = 800

// activeSheets loads every sheet; those that are refused are errors.
func activeSheets(library *referee.Library) (sheets []*referee.Sheet, refused []error) {
	defer debug.SetGCPercent(debug.SetGCPercent(loadPercent))
	all, errs := library.Load()
	for i, s := range all {
		if errs[i] != nil {
			refused = append(refused, sheetError(errs[i]))
			continue
		}
		sheets = append(sheets, s)
	}
	return sheets, refused
}

func sheetList(sheets []*referee.Sheet) any {
	list := make([]listedSheet, len(sheets))
	for i, s := range sheets {
		list[i] = listedSheet{s.Slug, s.Version, s.Lane, s.Domain, s.SHA256, s.Origin}
	}
	return struct {
		Sheets []listedSheet `json:"sheets"`
	}{list}
}

func sheetTable(sheets []*referee.Sheet) string {
	p := &page{}
	rows := [][]string{{"SLUG", "VERSION", "LANE", "DOMAIN", "FROM"}}
	for _, s := range sheets {
		rows = append(rows, []string{s.Slug, s.Version, s.Lane, orDash(s.Domain), s.Origin})
	}
	p.writeColumns(rows)
	p.line("")
	p.line("%s. `referee sheet show SLUG` prints one.", countWord(len(sheets), "flight sheet"))
	return p.b.String()
}

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return toolf("writing the result: %w", err)
	}
	return a.print(b.String())
}
