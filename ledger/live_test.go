package ledger_test

import (
	"slices"
	"testing"

	"github.com/defendableos/referee/ledger"
)

// TestLive holds the one meaning of "live" to a table that was written from docs/receipts.md.
func TestLive(t *testing.T) {
	type entry struct {
		hash string
		kind ledger.Kind
		of   string
	}
	for name, c := range map[string]struct {
		entries []entry
		live    []string
	}{
		"approved": {[]entry{{"a", ledger.Approved, ""}}, []string{"a"}},
		"carried": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Carried, "a"}},
			[]string{"a", "b"}},
		"revoked":    {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Revoked, "a"}}, nil},
		"amended":    {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Amended, "a"}}, nil},
		"superseded": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Superseded, "a"}}, nil},
		"the carried one alone": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Carried, "a"},
			{"c", ledger.Superseded, "b"}}, []string{"a"}},
		"what was carried": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Carried, "a"},
			{"c", ledger.Revoked, "a"}}, nil},
		"what was carried, twice": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Carried, "a"},
			{"c", ledger.Carried, "b"}, {"d", ledger.Revoked, "a"}}, nil},
		"closed and opened again": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Withdrawn, "a"}},
			[]string{"a"}},
		"merged": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Merged, "a"}},
			[]string{"a"}},
		"rejected says nothing of another": {[]entry{{"a", ledger.Approved, ""}, {"b", ledger.Rejected, ""}},
			[]string{"a"}},
	} {
		var entries []ledger.Entry
		for _, e := range c.entries {
			entries = append(entries,
				ledger.Entry{Hash: e.hash, Receipt: &ledger.Receipt{Kind: e.kind, RefersTo: e.of}})
		}
		var got []string
		for _, e := range ledger.Live(entries) {
			got = append(got, e.Hash)
		}
		if !slices.Equal(got, c.live) {
			t.Errorf("%s: %q, want %q", name, got, c.live)
		}
		// The order in which entries are added does not matter.
		var backwards ledger.Standing
		for _, e := range slices.Backward(entries) {
			backwards.Add(e.Hash, e.Receipt)
		}
		for _, e := range entries {
			if backwards.Live(e.Hash, e.Receipt) != slices.Contains(c.live, e.Hash) {
				t.Errorf("%s, added backwards: %s", name, e.Hash)
			}
		}
	}
}
