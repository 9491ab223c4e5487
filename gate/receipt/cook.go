package receipt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// cookedSide is one of the two receipts that a cook names, as the ledger holds it.
type cookedSide struct {
	name  string // before or after
	entry policy.Val
	model string
	items map[string]string // the evidence: id → SHA-256
}

// checkCook holds a cook to its two receipts: before is of the base model, after is a later one of the tuned model, and
// both were judged alike on the same items. Without that, a lift could be claimed from two deals of one model, one hard
// and one easy. Sheet, version and scores are the ledger's to check (ledger.Receipt.Resolve), and so is that both are
// signed off; it knows an entry's outcome, but not its evidence.
//
// The same items means the same evidence, by id and by hash, whatever its kind: what was asked is in the evidence, and
// an item that only one of the two has may be the easy one. The kind decides nothing because the run states it: a deal
// labelled model_output would otherwise not count. A model's own output is the submission.
func checkCook(w Work, c *ledger.Cook) error {
	if err := c.CheckLift(); err != nil {
		return err
	}
	if w.Prior == nil {
		return fmt.Errorf("a cook names receipts, and no ledger is at hand to look them up")
	}
	before, err := readCookedSide(w.Prior, "before", c.Before)
	if err != nil {
		return err
	}
	after, err := readCookedSide(w.Prior, "after", c.After)
	if err != nil {
		return err
	}
	if err := checkCookedModels(c, before, after); err != nil {
		return err
	}
	if err := checkCookedAlike(before, after); err != nil {
		return err
	}
	return checkCookInputs(w.Bytes, c)
}

// readCookedSide reads what a receipt says of its model and its evidence. Evidence without a hash has no bytes to be
// the same.
func readCookedSide(prior referee.PriorFunc, name, hash string) (cookedSide, error) {
	side := cookedSide{name: name, items: map[string]string{}}
	var err error
	if side.entry, err = prior(hash, ""); err != nil {
		return side, fmt.Errorf("cook.%s: %w", name, err)
	}
	model := side.entry.Member("agent").Member("model")
	if model.Kind != policy.Str || foldName(model.Str) == "" {
		return side, fmt.Errorf("the receipt cook.%s names no model, so nobody knows whose score it is", name)
	}
	side.model = model.Str
	for _, item := range side.entry.Member("evidence").List {
		id, sum := item.Member("id"), item.Member("sha256")
		if id.Kind != policy.Str || sum.Kind != policy.Str {
			return side, fmt.Errorf("the receipt cook.%s has evidence without a hash; a lift is measured on bytes that "+
				"can be compared", name)
		}
		side.items[id.Str] = sum.Str
	}
	if len(side.items) == 0 {
		return side, fmt.Errorf("the receipt cook.%s has no evidence, so nothing shows which items it is about", name)
	}
	return side, nil
}

// checkCookedModels holds each receipt to the model that the cook names for it. The tuned model has to be named: any
// stronger model would show a lift that no training made.
func checkCookedModels(c *ledger.Cook, before, after cookedSide) error {
	switch {
	case before.model != c.BaseModel:
		return fmt.Errorf("cook.base_model is %q, and the receipt cook.before is of %q: name a receipt of the base model",
			c.BaseModel, before.model)
	case foldName(before.model) == foldName(after.model):
		return fmt.Errorf("both receipts are of %q: cook.after must be a receipt of the tuned model", before.model)
	case c.TunedModel == "":
		return fmt.Errorf("cook.tuned_model is missing: name the model that the training made; the receipt cook.after "+
			"is of %q", after.model)
	case after.model != c.TunedModel:
		return fmt.Errorf("cook.tuned_model is %q, and the receipt cook.after is of %q: name a receipt of the tuned model",
			c.TunedModel, after.model)
	}
	return nil
}

// checkCookedAlike holds both receipts to one set of items, one set of limits and one meaning of the score, and the
// second to being the later one: a model is tuned after its base was measured.
func checkCookedAlike(before, after cookedSide) error {
	if !maps.Equal(before.items, after.items) {
		return fmt.Errorf("the receipts rest on different items (%s): a lift is measured on the same evidence, byte for "+
			"byte", differingItem(before.items, after.items))
	}
	limits, others := before.limits(), after.limits()
	if !maps.Equal(limits, others) {
		return fmt.Errorf("the receipts were judged by different limits (%s): a lift is measured with the same params",
			differingItem(limits, others))
	}
	if one, other := before.number("semantics"), after.number("semantics"); one != other {
		return fmt.Errorf("cook.before was judged by semantics %s, cook.after by %s: audit the older one again", one, other)
	}
	a, okA := before.entry.Member("seq").JSON.Int()
	b, okB := after.entry.Member("seq").JSON.Int()
	if !okA || !okB || a >= b {
		return fmt.Errorf("cook.after is entry %s, cook.before entry %s: the tuned model is measured after its base",
			after.number("seq"), before.number("seq"))
	}
	return nil
}

// limits are the params in force when the receipt was judged (S71).
func (s cookedSide) limits() map[string]string {
	out := map[string]string{}
	for _, p := range s.entry.Member("params").List {
		out[p.Member("name").Str] = p.Member("value").Str
	}
	return out
}

// number is a whole number of the receipt, in words; "none" where it has none.
func (s cookedSide) number(key string) string {
	v := s.entry.Member(key)
	if v.Kind != policy.Num || v.JSON == nil {
		return "none"
	}
	return v.JSON.Text
}

// checkCookInputs holds the cook to the inputs of the same name, in any of their spellings (S18), which the sheet has
// judged: gates that looked at two receipts say nothing of two others.
func checkCookInputs(submission []byte, c *ledger.Cook) error {
	doc, err := strictjson.Parse(submission, strictjson.SubmissionLimits)
	if err != nil {
		return fmt.Errorf("the submission cannot be read: %w", err)
	}
	inputs := doc.Get("inputs")
	if inputs == nil {
		return nil
	}
	held := map[string]struct{ member, value string }{
		"beforereceipt": {"before", c.Before}, "afterreceipt": {"after", c.After},
		"basemodel": {"base_model", c.BaseModel}, "tunedmodel": {"tuned_model", c.TunedModel},
	}
	for _, in := range inputs.Members {
		h, named := held[foldName(in.Key)]
		if judged := memberText(inputs, in.Key); named && judged != h.value {
			return fmt.Errorf("cook.%s is %q, and the input %s that the sheet judged is %q: state the same in both",
				h.member, h.value, in.Key, judged)
		}
	}
	return nil
}

// foldName is a name without case, spaces and punctuation: "Example 7B" and "example-7b" are one model.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// differingItem names the first key, in order, that the two do not share.
func differingItem(before, after map[string]string) string {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		x, inBefore := before[key]
		y, inAfter := after[key]
		switch {
		case !inBefore:
			return key + " only in cook.after"
		case !inAfter:
			return key + " only in cook.before"
		case x != y:
			return fmt.Sprintf("%s is %s before, %s after", key, shortText(x), shortText(y))
		}
	}
	return ""
}

// shortText is a hash or a value, short enough for a sentence.
func shortText(s string) string {
	if len(s) <= 12 {
		return s
	}
	return fmt.Sprintf("%.8s…", s)
}
