package flightsheets_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// TestValues compares the recomputed and derived values of every example with those of independent evaluators to 1e-9:
// testdata/vals.json was worked out in binary floating point outside of this repository, from the inputs of the
// examples.
func TestValues(t *testing.T) {
	src, err := os.ReadFile("testdata/vals.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]json.Number
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	for _, slug := range flightsheets.Names() {
		if want[slug] == nil && !valueless[slug] {
			t.Errorf("%s: testdata/vals.json has no values", slug)
		}
	}
	for slug, values := range want {
		t.Run(slug, func(t *testing.T) {
			got := valuesOf(t, slug)
			for id, number := range values {
				a, ok := new(big.Rat).SetString(got[id])
				b, _ := new(big.Rat).SetString(number.String())
				if !ok || relativeError(a, b).Cmp(big.NewRat(1, 1_000_000_000)) > 0 {
					t.Errorf("%s is %q, not %s", id, got[id], number)
				}
			}
		})
	}
}

// valueless sheets declare no calculation with a worked value: the three for published data re-derive whatever a
// submission states.
var valueless = map[string]bool{"fin-table-arithmetic": true, "math-steps": true, "compute-mlperf-inference": true}

// valuesOf recomputes a sheet's first example.
func valuesOf(t *testing.T, slug string) map[string]string {
	t.Helper()
	sheet := load(t, slug)
	ex := sheet.Examples()[0]
	c := openExample(t, sheet, &ex)
	out := map[string]string{}
	for _, d := range referee.Audit(c).Derived {
		out[d.ID] = d.Value
	}
	calcs := ex.Submission.Get("calculations")
	for i, result := range referee.Recomputed(c) {
		name, _ := calcs.Items[i].Get("name").Str()
		out[name] = result
	}
	return out
}

// openExample lays an example out as a run folder and opens it as one.
func openExample(t *testing.T, sheet *referee.Sheet, ex *referee.Example) referee.Case {
	t.Helper()
	items := []map[string]string{}
	src, _ := flightsheets.Read(sheet.Slug)
	tree := fstest.MapFS{"submission.json": {Data: sourceOf(ex.Submission, src)}}
	for _, f := range ex.Evidence {
		tree[f.Path] = &fstest.MapFile{Data: []byte(f.Text)}
		items = append(items, map[string]string{"id": f.ID, "path": f.Path, "kind": "file"})
	}
	manifest, err := json.Marshal(map[string]any{"schema": referee.RunSchema, "id": "example", "lane": sheet.Lane,
		"flight_sheet": sheet.Slug, "evidence": items})
	if err != nil {
		t.Fatal(err)
	}
	tree["run.json"] = &fstest.MapFile{Data: manifest}
	folder, err := referee.OpenRun(tree)
	if err != nil {
		t.Fatal(err)
	}
	return folder.Case(sheet, nil)
}

// sourceOf is a value's own bytes within the sheet.
func sourceOf(v *strictjson.Value, sheet []byte) []byte { return slices.Clone(v.Source(sheet)) }

// relativeError is |a − b| / |b|, exactly; |a| where b is 0.
func relativeError(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	d.Abs(d)
	if b.Sign() != 0 {
		d.Quo(d, new(big.Rat).Abs(b))
	}
	return d
}
