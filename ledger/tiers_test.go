package ledger

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
)

// TestFactsIn: what the verdict is held to is found in the bytes of a receipt's findings whatever their texts say, and
// no member within a finding has the same key as another.
func TestFactsIn(t *testing.T) {
	findings := []Finding{
		{Code: "a", Tier: "high", Severity: "critical", Bucket: "deal-finding", Stage: "policy",
			Message: `"tier":"low","`, RuleIDs: []string{`tier":"mid"`, "x", `\"]`}},
		{Code: "b", Tier: "mid", Severity: "noncritical", Bucket: "work-defect", Stage: "math",
			Why: `\"tier\":\"high\"`, RuleIDs: []string{"b"},
			Fix: &Fix{Text: `{"tier":"high","bucket":"stack-fit"}`}, Spot: &Spot{Gate: `"tier":"high"`}},
		{Code: "c", Tier: "low", Severity: "noncritical", Bucket: "stack-fit", Stage: "checklist",
			Pointer: `/"tier":"high"`, Atoms: []string{`"severity":"critical"`}},
	}
	b, err := canonical.Marshal(struct {
		Findings []Finding `json:"findings"`
	}{findings})
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Findings []struct {
			Tier, Severity, Bucket, Stage string
			RuleIDs                       []string `json:"rule_ids"`
		}
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	var want []findingFacts // by encoding/json
	for _, f := range back.Findings {
		want = append(want, findingFacts{f.Tier, f.Severity, f.Bucket, f.Stage, append([]string(nil), f.RuleIDs...)})
	}
	if got := slices.Collect(factsIn([]byte(strings.TrimPrefix(string(b), `{"findings":`)))); !reflect.DeepEqual(got,
		want) || len(got) != 3 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := slices.Collect(factsIn(nil)); got != nil {
		t.Errorf("%v in no findings", got)
	}
	for _, key := range []string{"tier", "severity", "bucket", "stage", "rule_ids"} {
		if n := countKeys(reflect.TypeFor[Finding](), key); n != 1 {
			t.Errorf("a finding has %d members called %s", n, key)
		}
	}
}

// countKeys counts the members with a key in a type and in all within it.
func countKeys(t reflect.Type, key string) (n int) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return countKeys(t.Elem(), key)
	case reflect.Struct:
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
				n++
			}
			n += countKeys(f.Type, key)
		}
	}
	return n
}
