package flightsheets_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"testing"
)

// TestValues compares the recomputed values of every example with those of an independent evaluator (testdata/vals.json: binary
// floating point, worked outside of this repository) to 1e-9.
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
	limit := big.NewRat(1, 1_000_000_000)
	for slug, values := range want {
		t.Run(slug, func(t *testing.T) {
			sheet, examples := load(t, slug)
			r := examples[0].run(sheet)
			r.submission = clone(t, r.submission)
			got := map[string]string{}
			for _, v := range r.audit(t).Derived {
				got[v.ID] = v.Value
			}
			calcs, _ := r.submission["calculations"].([]any)
			if calcs != nil {
				r.rework(t)
			}
			for _, c := range calcs {
				calc := c.(map[string]any)
				got[calc["name"].(string)] = calc["result"].(json.Number).String()
			}
			for id, number := range values {
				a, ok := new(big.Rat).SetString(got[id])
				b, _ := new(big.Rat).SetString(number.String())
				if !ok || relativeError(a, b).Cmp(limit) > 0 {
					t.Errorf("%s is %q, not %s", id, got[id], number)
				}
			}
		})
	}
}
