package referee

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/defendableos/referee/internal/strictjson"
)

// reportLimits bound one report: findings of a large submission take room.
var reportLimits = strictjson.Limits{MaxBytes: 64 << 20, MaxDepth: 64, MaxValues: 8_000_000, Object: true}

// ParseReport reads a report as `--format json` writes it: strict JSON of the known schema, with no unknown member,
// whose digest is the one over its own content, so that a report that was edited, or cut, is refused. Atoms that
// nothing cites are outside the digest.
func ParseReport(src []byte) (*Report, error) {
	doc, err := strictjson.Parse(src, reportLimits)
	if err != nil {
		return nil, fmt.Errorf("the report cannot be read: %w", err)
	}
	if s := doc.TextOf("schema"); s != ReportSchema {
		return nil, fmt.Errorf("the report's schema is %q; this referee reads %q", clipText(s), ReportSchema)
	}
	d := json.NewDecoder(bytes.NewReader(src)) // after the strict pass: no duplicate key or trailing byte is left
	d.DisallowUnknownFields()
	r := new(Report)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("the report cannot be read: %w", err)
	}
	all := r.Atoms
	r.Atoms = citedAtoms(r)
	if got := r.digestOf(); got != r.Digest {
		return nil, fmt.Errorf("the report's digest is %.8s…, but its content hashes to %.8s…: the report was edited",
			r.Digest, got)
	}
	r.Atoms = all
	return r, nil
}

// citedAtoms are the atoms that findings name.
func citedAtoms(r *Report) []Atom {
	names := map[string]bool{}
	for _, f := range r.Findings {
		for _, id := range f.Atoms {
			names[id] = true
		}
	}
	var out []Atom
	for _, a := range r.Atoms {
		if names[a.ID] {
			out = append(out, a)
		}
	}
	return out
}
