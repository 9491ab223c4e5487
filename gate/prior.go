package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// Prior resolves the `prior` operand in one state of a ledger: the receipt is found by its hash, its bytes are hashed again, and the value at
// the pointer is returned. A decimal of the verdict or of a cook is a number; other texts are texts. An entry that is not, or no longer,
// signed off does not resolve: nobody may rely on it.
func Prior(ctx context.Context, store ledger.Store, at ledger.Snapshot) referee.PriorFunc {
	return func(sha, pointer string) (policy.Val, error) {
		entry, err := ledger.Lookup(ctx, store, at, sha)
		switch {
		case err != nil:
			return policy.Val{}, fmt.Errorf("receipt %.8s…: %w", sha, err)
		case entry == nil:
			return policy.Val{}, fmt.Errorf("receipt %.8s… is not in this ledger", sha)
		case !entry.Receipt.Kind.Live():
			return policy.Val{}, fmt.Errorf("receipt %.8s… is an entry of kind %q, not a sign-off", sha, entry.Receipt.Kind)
		}
		end, err := Ended(ctx, store, at, entry)
		if err != nil {
			return policy.Val{}, fmt.Errorf("receipt %.8s…: %w", sha, err)
		}
		if end != nil {
			return policy.Val{}, fmt.Errorf("receipt %.8s… is %s by a later entry", sha, end.Receipt.Kind)
		}
		return receiptValue(entry.Bytes, pointer)
	}
}

func receiptValue(payload []byte, pointer string) (policy.Val, error) {
	doc, err := strictjson.Parse(payload, strictjson.DocumentLimits)
	if err != nil {
		return policy.Val{}, fmt.Errorf("reading the receipt: %w", err)
	}
	if pointer != "" && !strings.HasPrefix(pointer, "/") {
		pointer = "/" + strings.ReplaceAll(pointer, ".", "/")
	}
	v := doc.At(pointer)
	if v == nil {
		return policy.Val{}, fmt.Errorf("the receipt has nothing at %s", pointer)
	}
	numeric := strings.HasPrefix(pointer, "/verdict/") || strings.HasPrefix(pointer, "/cook/")
	if text, ok := v.Str(); ok && numeric {
		if n, err := decimal.Parse(text); err == nil {
			return policy.Number(n), nil
		}
	}
	out := policy.FromJSON(v)
	if v.Kind != strictjson.Object && v.Kind != strictjson.Array {
		out.JSON = nil // its pointer is the receipt's, not the submission's
	}
	return out, nil
}
