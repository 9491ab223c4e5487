package receipt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// TestCookReceipts: a lift is between the named base model and another one, on the same items. Each refusal is a way to
// claim one otherwise.
//
// Source: 001 #81.
func TestCookReceipts(t *testing.T) {
	const sum = `"sha256":"1111111111111111111111111111111111111111111111111111111111111111"`
	item := func(id string) string { return `{"id":"` + id + `",` + sum + `}` }
	entry := func(model string, evidence ...string) string {
		return `{"agent":{"model":"` + model + `"},"evidence":[` + strings.Join(evidence, ",") + `]}`
	}
	for _, tt := range []struct{ name, before, after, tuned, want string }{
		{"right", entry("m", item("a"), item("b")), entry("m-tuned", item("b"), item("a")), "", ""},
		{"the tuned model is named", entry("m", item("a")), entry("m-tuned", item("a")), "m-tuned", ""},
		{"one model twice", entry("m", item("a")), entry("m", item("a")), "", "both receipts are of \"m\""},
		{"another base", entry("x", item("a")), entry("m-tuned", item("a")), "", `cook.before is of "x"`},
		{"another tuned model", entry("m", item("a")), entry("m-tuned", item("a")), "m-2", `cook.after is of "m-tuned"`},
		{"no model", entry("", item("a")), entry("m-tuned", item("a")), "", "cook.before names no model"},
		{"another deal", entry("m", item("a")), entry("m-tuned", strings.Replace(item("a"), "1", "2", 1)), "",
			"a is 11111111… before, 21111111… after"},
		{"an easy item more", entry("m", item("a")), entry("m-tuned", item("a"), item("b")), "", "b only in cook.after"},
		{"a hard item less", entry("m", item("a"), item("b")), entry("m-tuned", item("a")), "", "b only in cook.before"},
		{"an item renamed", entry("m", item("a")), entry("m-tuned", item("b")), "", "a only in cook.before"},
		{"no evidence", entry("m"), entry("m-tuned"), "", "has no evidence"},
		{"a link without a snapshot", entry("m", `{"id":"a"}`), entry("m-tuned", `{"id":"a"}`), "", "without a hash"},
		{"a receipt that is gone", "", entry("m-tuned", item("a")), "", "cook.before: receipt b is not here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prior := fakePrior(t, map[string]string{"b": tt.before, "a": tt.after})
			err := checkCook(prior, &ledger.Cook{Before: "b", After: "a", BaseModel: "m"}, tt.tuned)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := checkCook(nil, &ledger.Cook{}, ""); err == nil {
		t.Error("a cook without a ledger is believed")
	}
}

// fakePrior reads receipts from a map.
func fakePrior(t *testing.T, entries map[string]string) referee.PriorFunc {
	return func(sha, pointer string) (policy.Val, error) {
		if entries[sha] == "" {
			return policy.Val{}, fmt.Errorf("receipt %s is not here", sha)
		}
		doc, err := strictjson.Parse([]byte(entries[sha]), strictjson.DocumentLimits)
		if err != nil {
			t.Fatal(err)
		}
		return policy.FromJSON(doc.At(pointer)), nil
	}
}
