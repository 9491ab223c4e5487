package report

import (
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPageCarried opens entries that bind evidence with ids of more than one byte a letter, one of them carried over:
// the page makes the subjects that Go makes.
func TestPageCarried(t *testing.T) {
	ctx := tab(t)
	named := func(n int64) ledger.Receipt {
		r := storetest.Sample(n)
		r.Evidence[0].ID = "Ενοίκια\u202e𝄞"
		r.Evidence = append(r.Evidence, ledger.Evidence{ID: "größe", Kind: "note", Status: "not_held",
			Provenance: "base"})
		return storetest.Key(r)
	}
	first := canonical.SHA256Hex(chain(t, 2, named)[1])
	entries := chain(t, 4, func(n int64) ledger.Receipt {
		switch n {
		case 2:
			return storetest.Carried(named(1), first)
		case 3:
			return storetest.TakenBack(named(1), ledger.Revoked, first)
		}
		return named(n)
	})
	address := lay(t, entries).serve(t)
	for seq := range entries {
		visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[seq]))
		if state, codes := settled(t, ctx); state != "good" {
			t.Errorf("entry %d: %s, %q", seq, state, codes)
		}
	}
}
