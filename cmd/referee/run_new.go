package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/defendableos/referee/referee"
)

func runNewCommand() *command {
	c := newCommand("run new", "[DIR]", "write a run folder for an agent to fill", 1)
	c.long = `DIR (default runs/ID) becomes a run folder: run.json, the manifest;
submission.json, a skeleton with the sheet's inputs and calculations;
INSTRUCTIONS.md, what to give the agent; evidence/, for what it is given.
DIR must be absent or empty: nothing is ever overwritten.`
	c.examples = []string{"referee run new --sheet cre-multifamily-agency --id oak-street",
		"referee run new --sheet math-steps /tmp/steps",
		"referee run new --sheet math-steps --agent underwriter"}
	sheet := c.flags.String("sheet", "", "flight `SHEET` that the run is judged by")
	id := c.flags.String("id", "", "the run's `ID` (default: the name of DIR, else the sheet's slug)")
	agent := c.flags.String("agent", "", "`NAME` of an agent of governance.agents: its profile is written into run.json")
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if *sheet == "" {
			return usagef("run new needs --sheet").withHint("`referee sheet list` lists them")
		}
		library, err := a.openLibrary(*dir)
		if err != nil {
			return err
		}
		s, err := library.Find(*sheet)
		if err != nil {
			return sheetError(err)
		}
		profile, err := a.libraryProfile(*agent)
		if err != nil {
			return err
		}
		return a.newRun(s, *id, profile, args)
	}
	return c
}

// newRun writes the folder.
func (a *app) newRun(s *referee.Sheet, id string, agent *referee.Agent, args []string) error {
	folder := ""
	if len(args) == 1 {
		folder = filepath.Clean(args[0])
	}
	if id == "" {
		id = s.Slug
		if folder != "" {
			id = filepath.Base(absolutePath(folder))
		}
	}
	if folder == "" {
		folder = filepath.Join("runs", id)
	}
	files := runFiles(s, id, agent)
	if _, err := referee.ParseRun([]byte(files[0].text), "run.json"); err != nil {
		return usagef("%q cannot be a run's id: letters, digits, dots, dashes and underscores, at most 128",
			id).withHint("--id names the run")
	}
	if err := writeNew(folder, files); err != nil {
		return err
	}
	p := &page{}
	p.line("%s", filepath.ToSlash(folder))
	for _, f := range files {
		p.writeEntry(f.name, wide, f.about)
	}
	p.beginSection("Fill it, then: referee audit " + filepath.ToSlash(folder))
	return a.print(p.b.String())
}

// absolutePath is the folder's full name, so that "." has one too.
func absolutePath(folder string) string {
	if full, err := filepath.Abs(folder); err == nil {
		return full
	}
	return folder
}

// newFile is one file of a new run.
type newFile struct{ name, text, about string }

func runFiles(s *referee.Sheet, id string, agent *referee.Agent) []newFile {
	files := []newFile{
		{"run.json", newManifest(s, id, agent), "the manifest: name the agent, list the evidence"},
		{"submission.json", newSkeleton(s), "what the agent hands in: a skeleton"},
		{"INSTRUCTIONS.md", promptOf(s), "what to give the agent"},
		{"evidence/README.md", evidenceReadme, "where the evidence goes"},
	}
	for _, e := range s.Evidence {
		if e.Kind == "table" {
			files = append(files, newFile{evidencePath(e), tableOf(s, e),
				"what holds the inputs: fill it from the documents"})
		}
	}
	return files
}

const evidenceReadme = `Put what the agent was given here, and declare each file in ../run.json:

    "evidence": [{"id": "t12", "path": "evidence/t12.csv", "kind": "file", "title": "Trailing twelve months"}]

Claims then cite it by its id, with a selector where that helps: t12#row=6, t12#cell=6,2, quote#/rate,
memo#line=10,12. CSV, JSON and text are read; PDFs and images are hashed and left to a person.
`

func evidencePath(e referee.EvidenceItem) string { return "evidence/" + e.ID + ".csv" }

// tableOf is the header of a declared table, and a row for each input that it holds under its name.
func tableOf(s *referee.Sheet, e referee.EvidenceItem) string {
	var b strings.Builder
	out := csv.NewWriter(&b)
	key := -1
	header := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		if header[i] = c.Name; c.Name == e.Key {
			key = i
		}
	}
	rows := [][]string{header}
	for _, in := range s.Inputs {
		for _, p := range in.From {
			if p.Evidence == e.ID && key >= 0 {
				row := make([]string, len(header))
				if row[key] = in.Name; p.Row != "" {
					row[key] = p.Row
				}
				rows = append(rows, row)
			}
		}
	}
	_ = out.WriteAll(rows) // into memory: it cannot fail
	return b.String()
}

// declaredEvidence are the entries of the manifest for the tables that the new run holds.
func declaredEvidence(s *referee.Sheet) string {
	var out []string
	for _, e := range s.Evidence {
		if e.Kind == "table" {
			out = append(out, fmt.Sprintf("\n    {\"id\": %s, \"path\": %s, \"kind\": \"file\"}", quoteJSON(e.ID),
				quoteJSON(evidencePath(e))))
		}
	}
	return "[" + strings.Join(out, ",") + closingBracket(out)
}

func newManifest(s *referee.Sheet, id string, agent *referee.Agent) string {
	return fmt.Sprintf(`{
  "schema": %s,
  "id": %s,
  "lane": %s,
  "flight_sheet": %s,
  "agent": %s,
  "evidence": %s
}
`, quoteJSON(referee.RunSchema), quoteJSON(id), quoteJSON(s.Lane), quoteJSON(s.Slug+"@"+s.Version), profileText(agent),
		declaredEvidence(s))
}

// newSkeleton is a submission with every name in place and no value: null is missing, so that an audit of it says what
// is to be done.
func newSkeleton(s *referee.Sheet) string {
	var inputs, calculations []string
	for _, in := range s.Inputs {
		inputs = append(inputs, "\n    "+quoteJSON(in.Name)+": null")
	}
	for _, m := range s.Math {
		var names []string
		for _, name := range m.Inputs {
			names = append(names, quoteJSON(name)+": null")
		}
		calculations = append(calculations, fmt.Sprintf("\n    {\n      \"name\": %s,\n      \"formula\": %s,\n     "+
			" \"inputs\": {%s},\n      \"result\": null,\n      \"units\": %s\n    }",
			quoteJSON(m.ID), quoteJSON(m.Text), strings.Join(names, ", "), quoteJSON(m.Units)))
	}
	members := []string{`"assignment_id": ` + quoteJSON(s.Slug)}
	if s.Baseline == "canonical" {
		members = append(members, `"agent_summary": ""`, `"inputs_used": []`, `"missing_inputs": []`)
	}
	if len(inputs) > 0 {
		members = append(members, `"inputs": {`+strings.Join(inputs, ",")+"\n  }")
	}
	if s.Baseline == "canonical" {
		members = append(members, `"claims": []`)
	}
	if len(calculations) > 0 || s.Baseline == "canonical" {
		members = append(members, `"calculations": [`+strings.Join(calculations, ",")+closingBracket(calculations))
	}
	if s.Baseline == "canonical" {
		members = append(members, `"risks": []`, `"assumptions": []`, `"open_questions": []`, `"final_output": ""`,
			selfCheck)
	}
	return "{\n  " + strings.Join(members, ",\n  ") + "\n}\n"
}

func closingBracket(list []string) string {
	if len(list) == 0 {
		return "]"
	}
	return "\n  ]"
}

// selfCheck begins with false: the agent says true where it is so.
const selfCheck = `"self_check": {
    "all_numbers_have_sources": false,
    "all_required_sections_completed": false,
    "assumptions_labeled": false,
    "missing_inputs_disclosed": false
  }`

// writeNew writes files into a folder that is absent or empty. When one of them cannot be written, those before it are
// removed again.
func writeNew(folder string, files []newFile) error {
	entries, err := os.ReadDir(folder)
	switch {
	case err == nil && len(entries) > 0:
		return usagef("%s is not empty: refusing to overwrite", folder).withHint("name another DIR, or another --id")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usagef("cannot create the run folder %s: %w", folder, err)
	}
	made := errors.Is(err, fs.ErrNotExist)
	for i, f := range files {
		if err := writeOne(filepath.Join(folder, filepath.FromSlash(f.name)), f.text); err != nil {
			removeWritten(folder, files[:i], made)
			return toolf("writing the run: %w", err)
		}
	}
	return nil
}

func writeOne(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// removeWritten removes what writeNew wrote. A removal that fails leaves a file behind, which the error before it
// explains.
func removeWritten(folder string, written []newFile, made bool) {
	for _, f := range written {
		_ = os.Remove(filepath.Join(folder, filepath.FromSlash(f.name)))
	}
	_ = os.Remove(filepath.Join(folder, "evidence"))
	if made {
		_ = os.Remove(folder)
	}
}
