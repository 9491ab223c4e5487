package report

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// variants are what each member of a receipt is replaced by, one at a time; nil takes it away.
var variants = []any{
	nil,
	"",
	"x",
	int64(0),
	int64(-1),
	int64(1),
	true,
	false,
	[]any{},
	map[string]any{},
	"9999",
	"open",
	"2026-11-02T09:30:01Z",
	"honey",
	"approved",
	"high",
	strings.Repeat("0", 64),
	strings.Repeat("a", 40),
}

// mutations gives a receipt with each member changed to each variant, and one member more in each object.
func mutations(t testing.TB, b []byte) [][]byte {
	var all [][]byte
	var walk func(v any, put func(any))
	var root map[string]any
	keep := func() {
		if m, err := canonical.Marshal(root); err == nil {
			all = append(all, m)
		}
	}
	walk = func(v any, put func(any)) {
		switch v := v.(type) {
		case map[string]any:
			v["zz_more"] = "x"
			keep()
			delete(v, "zz_more")
			for _, k := range slices.Sorted(maps.Keys(v)) {
				old := v[k]
				for _, variant := range variants {
					if v[k] = variant; variant == nil {
						delete(v, k)
					}
					keep()
				}
				v[k] = old
				walk(old, func(x any) { v[k] = x })
			}
		case []any:
			for i := range v {
				walk(v[i], func(x any) { v[i] = x })
			}
			put(append(slices.Clone(v), v...))
			keep()
			put(v)
		}
	}
	edit(t, b, func(v map[string]any) { root = v }) // edit turns its numbers into integers, in place
	walk(root, func(any) {})
	return all
}

// TestPageRules holds the page's rules for receipts to ledger.Parse, one changed member at a time: of every member each
// variant, or, but for .ci/run, one variant in five, another one at each member.
func TestPageRules(t *testing.T) {
	ctx := tab(t)
	visit(t, ctx, lay(t, nil).serve(t))
	accepted, refused, each := 0, 0, 5
	if everyDocument {
		each = 1
	}
	for _, what := range []string{"short", "cook", "incident", "revoked", "merged"} {
		_, b, err := storetest.Minted(storetest.Samples()[what])
		if err != nil {
			t.Fatal(err)
		}
		all := [][]byte{b}
		for i, m := range mutations(t, b) {
			if i%each == 0 {
				all = append(all, m)
			}
		}
		texts := make([]string, len(all))
		for i, m := range all {
			texts[i] = string(m)
		}
		payload, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		got := ask[[]string](t, ctx, `(async () => {
			const out = [];
			for (const text of `+string(payload)+`)
				out.push((await examine(new TextEncoder().encode(text))).problem?.message ?? '');
			return out;
		})()`)
		for i, m := range all {
			_, err := ledger.Parse(m)
			if (err == nil) != (got[i] == "") {
				t.Errorf("%s: Go says %v, the page %q of %s", what, err, got[i], m)
			}
			if err == nil {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < 200/each || refused < 5000/each {
		t.Errorf("%d accepted and %d refused, too few to tell", accepted, refused)
	}
}
