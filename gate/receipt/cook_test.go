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

// cookEntry is a receipt as far as a cook looks at it, with its place in the ledger.
func cookEntry(seq int, model string, evidence ...string) string {
	return fmt.Sprintf(`{"seq":%d,"semantics":2,"agent":{"model":%q},"evidence":[%s],"params":[{"name":"cap",`+
		`"value":"200"}]}`, seq, model, strings.Join(evidence, ","))
}

// cookItem is a piece of evidence whose hash repeats one digit.
func cookItem(id, kind, digit string) string {
	return fmt.Sprintf(`{"id":%q,"kind":%q,"sha256":%q}`, id, kind, strings.Repeat(digit, 64))
}

// cookCase is a cook and its two receipts; "" is a receipt that does not resolve.
type cookCase struct {
	name, before, after string
	edit                func(*ledger.Cook)
	inputs, want        string
}

func (c cookCase) check(t *testing.T) error {
	cook := &ledger.Cook{Before: "b", After: "a", BaseModel: "m", TunedModel: "m-tuned", EvalBefore: "90",
		EvalAfter: "95", Lift: "5"}
	if c.edit != nil {
		c.edit(cook)
	}
	w := Work{Bytes: []byte(`{"inputs":{` + c.inputs + `}}`),
		Prior: fakePrior(t, map[string]string{"b": c.before, "a": c.after})}
	return checkCook(w, cook)
}

// TestCookReceipts: a lift is between the named base model and the named tuned one, judged alike on the same items.
// Each refusal is a way to claim one otherwise.
//
// Source: 001 #81.
func TestCookReceipts(t *testing.T) {
	a, b := cookItem("a", "file", "1"), cookItem("b", "file", "2")
	base, tuned := cookEntry(3, "m", a), cookEntry(4, "m-tuned", a)
	unnamed := func(c *ledger.Cook) { c.TunedModel = "" }
	for _, c := range []cookCase{
		{"right", base, tuned, nil, "", ""},
		{"items in another order", cookEntry(3, "m", a, b), cookEntry(4, "m-tuned", b, a), nil, "", ""},
		{"the inputs say the same", base, tuned, nil, `"before_receipt":"b","after_receipt":"a","base_model":"m"`, ""},
		{"one model twice", base, cookEntry(4, "m", a), nil, "", `both receipts are of "m"`},
		{"one model in two spellings", base, cookEntry(4, " M.", a),
			func(c *ledger.Cook) { c.TunedModel = " M." }, "", `both receipts are of "m"`},
		{"another base", cookEntry(3, "x", a), tuned, nil, "", `cook.before is of "x"`},
		{"the tuned model is not named", base, tuned, unnamed, "", "cook.tuned_model is missing"},
		{"a stronger model", base, cookEntry(4, "m-400b", a), nil, "", `cook.after is of "m-400b"`},
		{"no model before", cookEntry(3, "", a), tuned, nil, "", "cook.before names no model"},
		{"no model after", base, cookEntry(4, "-", a), nil, "", "cook.after names no model"},
		{"no lift", base, tuned, func(c *ledger.Cook) { c.EvalAfter = "90" }, "", "no lift: 90 before, 90 after"},
		{"after before its base", cookEntry(5, "m", a), tuned, nil, "",
			"cook.after is entry 4, cook.before entry 5: the tuned model is measured after its base"},
		{"a receipt without a place", base, strings.Replace(tuned, `"seq":4,`, "", 1), nil, "", "is entry none"},
		{"other limits", base, strings.Replace(tuned, `"200"`, `"900"`, 1), nil, "",
			"different limits (cap is 200 before, 900 after)"},
		{"limits in one only", base, strings.Replace(tuned, `{"name":"cap","value":"200"}`, "", 1), nil, "",
			"cap only in cook.before"},
		{"other semantics", strings.Replace(base, `"semantics":2`, `"semantics":1`, 1), tuned, nil, "",
			"semantics 1, cook.after by 2"},
		{"the gates looked at another receipt", base, tuned, nil, `"before_receipt":"c"`, "the input before_receipt"},
		{"the same, spelt otherwise", base, tuned, nil, `"After Receipt":"c"`, "the input After Receipt"},
		{"a receipt that is gone", "", tuned, nil, "", "cook.before: receipt b is not here"},
		{"the other one is gone", base, "", nil, "", "cook.after: receipt a is not here"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCookRefusal(t, c) })
	}
	lone := &ledger.Cook{Before: "b", After: "a", EvalBefore: "1", EvalAfter: "2", Lift: "1"}
	if err := checkCook(Work{}, lone); err == nil || !strings.Contains(err.Error(), "no ledger is at hand") {
		t.Errorf("a cook without a ledger: %v", err)
	}
}

// TestCookItems: a lift is on the same items. The kind of an item is the run's own word, so it excuses none.
//
// Source: 001 #81.
func TestCookItems(t *testing.T) {
	a, b, other := cookItem("a", "file", "1"), cookItem("b", "file", "2"), cookItem("a", "file", "2")
	bare := `{"id":"a","kind":"url"}`
	for _, c := range []cookCase{
		{"another deal", cookEntry(3, "m", a), cookEntry(4, "m-tuned", other), nil, "",
			"a is 11111111… before, 22222222… after"},
		{"an easy item more", cookEntry(3, "m", a), cookEntry(4, "m-tuned", a, b), nil, "", "b only in cook.after"},
		{"a hard item less", cookEntry(3, "m", a, b), cookEntry(4, "m-tuned", a), nil, "", "b only in cook.before"},
		{"an item renamed", cookEntry(3, "m", a), cookEntry(4, "m-tuned", b), nil, "", "a only in cook.before"},
		{"two items change names", cookEntry(3, "m", a, b),
			cookEntry(4, "m-tuned", cookItem("a", "file", "2"), cookItem("b", "file", "1")), nil, "", "a is 11111111…"},
		{"a deal called the model's output", cookEntry(3, "m", b, cookItem("a", "model_output", "1")),
			cookEntry(4, "m-tuned", b, cookItem("a", "model_output", "3")), nil, "", "a is 11111111…"},
		{"no evidence", cookEntry(3, "m"), cookEntry(4, "m-tuned"), nil, "", "has no evidence"},
		{"a link without a snapshot", cookEntry(3, "m", bare), cookEntry(4, "m-tuned", bare), nil, "", "without a hash"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCookRefusal(t, c) })
	}
}

// wantCookRefusal checks a case: a refusal with the words, or none where it wants none.
func wantCookRefusal(t *testing.T, c cookCase) {
	t.Helper()
	err := c.check(t)
	switch {
	case c.want == "" && err != nil:
		t.Error(err)
	case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
		t.Errorf("got %v, want %q", err, c.want)
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
