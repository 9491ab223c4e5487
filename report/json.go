package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/defendableos/referee/referee"
)

// jsonWriter writes one report a line, in input order.
type jsonWriter struct {
	w    io.Writer
	o    Options
	room bytes.Buffer // of the last report, to be used again
}

func newJSON(w io.Writer, o Options) Writer { return &jsonWriter{w: w, o: o} }

// Add writes the report as it is, without HTML escapes. Atoms that nothing cites are left out unless they are asked
// for.
func (j *jsonWriter) Add(r *referee.Report) error {
	if !j.o.Atoms {
		shown := *r
		shown.Atoms = citedAtoms(r)
		r = &shown
	}
	j.room.Reset()
	line, err := compactIn(&j.room, r)
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(line, '\n'))
	return err
}

// Close has nothing to add.
func (j *jsonWriter) Close() error { return nil }

// compactJSON is v as one line of JSON that is safe to print.
func compactJSON(v any) ([]byte, error) { return compactIn(new(bytes.Buffer), v) }

// compactIn is compact, written into room; the line may lie there.
func compactIn(room *bytes.Buffer, v any) ([]byte, error) {
	enc := json.NewEncoder(room)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeJSON(bytes.TrimRight(room.Bytes(), "\n")), nil
}

// citedAtoms are the atoms that a finding or the adjudication names, in their order.
func citedAtoms(r *referee.Report) []referee.Atom {
	named := map[string]bool{}
	for _, f := range r.Findings {
		for _, id := range f.Atoms {
			named[id] = true
		}
	}
	for _, a := range r.Adjudication.Attribution {
		for _, id := range a.Atoms {
			named[id] = true
		}
	}
	var atoms []referee.Atom
	for _, a := range r.Atoms {
		if named[a.ID] {
			atoms = append(atoms, a)
		}
	}
	return atoms
}
