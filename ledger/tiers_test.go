package ledger

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
)

// TestTiersIn: the tiers of a receipt's findings are found in their bytes whatever their texts say, and no member within a
// finding has the same key.
func TestTiersIn(t *testing.T) {
	findings := []Finding{
		{Code: "a", Tier: "high", Message: `"tier":"low","`, RuleIDs: []string{`tier":"mid"`}},
		{Code: "b", Tier: "mid", Why: `\"tier\":\"high\"`, Fix: &Fix{Text: `{"tier":"high"}`}, Spot: &Spot{Gate: `"tier":"high"`}},
		{Code: "c", Tier: "low", Pointer: `/"tier":"high"`, Atoms: []string{`"tier":"high"`}},
	}
	b, err := canonical.Marshal(struct {
		Findings []Finding `json:"findings"`
	}{findings})
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Findings []struct{ Tier string }
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	var want []string // by encoding/json
	for _, f := range back.Findings {
		want = append(want, f.Tier)
	}
	if got := slices.Collect(tiersIn(b)); !slices.Equal(got, want) || len(got) != 3 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := slices.Collect(tiersIn(nil)); got != nil {
		t.Errorf("%v in no findings", got)
	}
	if n := keys(reflect.TypeFor[Finding](), "tier"); n != 1 {
		t.Errorf("a finding has %d members called tier", n)
	}
}

// keys counts the members with a key in a type and in all within it.
func keys(t reflect.Type, key string) (n int) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return keys(t.Elem(), key)
	case reflect.Struct:
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
				n++
			}
			n += keys(f.Type, key)
		}
	}
	return n
}
