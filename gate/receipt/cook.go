package receipt

import (
	"fmt"
	"maps"
	"slices"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// checkCook holds the two receipts of a cook to what it says of them: before is of the base model, after of another
// model, and both rest on the same items. Without that, a lift could be claimed from two deals of one model, one hard
// and one easy. Scores, sheet and version are the ledger's to check (ledger.Receipt.Resolve); it knows an entry's
// outcome, but not its evidence.
//
// The same items means the same evidence, by id and by hash: what was asked is in the evidence, and an item that only
// one of the two has may be the easy one. A model's own output is the submission, not evidence.
func checkCook(prior referee.PriorFunc, c *ledger.Cook, tuned string) error {
	if prior == nil {
		return fmt.Errorf("a cook names receipts, and no ledger is at hand to look them up")
	}
	base, err := modelOf(prior, "before", c.Before)
	if err != nil {
		return err
	}
	other, err := modelOf(prior, "after", c.After)
	switch {
	case err != nil:
		return err
	case base != c.BaseModel:
		return fmt.Errorf("cook.base_model is %q, and the receipt cook.before is of %q: name a receipt of the base model",
			c.BaseModel, base)
	case other == base:
		return fmt.Errorf("both receipts are of %q: cook.after must be a receipt of the tuned model", base)
	case tuned != "" && tuned != other:
		return fmt.Errorf("cook.tuned_model is %q, and the receipt cook.after is of %q", tuned, other)
	}
	items, err := itemsOf(prior, "before", c.Before)
	if err != nil {
		return err
	}
	again, err := itemsOf(prior, "after", c.After)
	if err != nil {
		return err
	}
	if !maps.Equal(items, again) {
		return fmt.Errorf("the receipts rest on different items (%s): a lift is measured on the same evidence, byte for "+
			"byte", differingItem(items, again))
	}
	return nil
}

// modelOf is the model that a receipt names.
func modelOf(prior referee.PriorFunc, side, hash string) (string, error) {
	v, err := prior(hash, "/agent/model")
	if err != nil {
		return "", fmt.Errorf("cook.%s: %w", side, err)
	}
	if v.Kind != policy.Str || v.Str == "" {
		return "", fmt.Errorf("the receipt cook.%s names no model, so nobody knows whose score it is", side)
	}
	return v.Str, nil
}

// itemsOf maps the evidence of a receipt to its hashes. Evidence without a hash has no bytes to be the same.
func itemsOf(prior referee.PriorFunc, side, hash string) (map[string]string, error) {
	v, err := prior(hash, "/evidence")
	if err != nil {
		return nil, fmt.Errorf("cook.%s: %w", side, err)
	}
	items := map[string]string{}
	for _, item := range v.List {
		id, sum := item.Member("id"), item.Member("sha256")
		if id.Kind != policy.Str || sum.Kind != policy.Str {
			return nil, fmt.Errorf("the receipt cook.%s has evidence without a hash; a lift is measured on bytes that "+
				"can be compared", side)
		}
		items[id.Str] = sum.Str
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("the receipt cook.%s has no evidence, so nothing shows which items it is about", side)
	}
	return items, nil
}

// differingItem names the first item, by id, that the two do not share.
func differingItem(a, b map[string]string) string {
	ids := map[string]bool{}
	for id := range a {
		ids[id] = true
	}
	for id := range b {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		x, inA := a[id]
		y, inB := b[id]
		switch {
		case !inA:
			return id + " only in cook.after"
		case !inB:
			return id + " only in cook.before"
		case x != y:
			return fmt.Sprintf("%s is %.8s… before, %.8s… after", id, x, y)
		}
	}
	return ""
}
