package receipt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// Prior resolves the `prior` operand in one state of a ledger: the receipt is found by its hash, its bytes are hashed
// again, and the value at the pointer is returned. A decimal of the verdict or of a cook is a number; other texts are
// texts. An entry that is not, or no longer, signed off does not resolve: nobody may rely on it.
func Prior(ctx context.Context, store ledger.Store, at ledger.Snapshot) referee.PriorFunc {
	return func(sha, pointer string) (policy.Val, error) {
		return ResolvePrior(ctx, store, at, sha, pointer, nil)
	}
}

// ResolvePrior is Prior for one receipt; vouch, where it is given, must also believe it.
func ResolvePrior(ctx context.Context, store ledger.Store, at ledger.Snapshot, sha, pointer string,
	vouch func(context.Context, ledger.Snapshot, *ledger.Entry) error) (policy.Val, error) {
	entry, err := ledger.Lookup(ctx, store, at, sha)
	switch {
	case err != nil:
		return policy.Val{}, fmt.Errorf("receipt %.8s…: %w", sha, err)
	case entry == nil:
		return policy.Val{}, fmt.Errorf("receipt %.8s… is not in this ledger", sha)
	case !entry.Receipt.Kind.Live():
		return policy.Val{}, fmt.Errorf("receipt %.8s… is an entry of kind %q, not a sign-off", sha, entry.Receipt.Kind)
	}
	live, err := isLive(ctx, store, at, entry)
	if err != nil {
		return policy.Val{}, fmt.Errorf("receipt %.8s…: %w", sha, err)
	}
	if !live {
		return policy.Val{}, fmt.Errorf("receipt %.8s… was taken back by a later entry", sha)
	}
	if vouch != nil {
		if err := vouch(ctx, at, entry); err != nil {
			return policy.Val{}, fmt.Errorf("receipt %.8s… is not believed: %w", sha, err)
		}
	}
	return receiptValue(entry.Bytes, pointer)
}

// isLive reports whether nothing takes a sign-off back in this state of the ledger (ledger.Standing). Entries of a pull
// request are read from its folder, where none that came after this state counts (Before); others from the newest back
// to it.
func isLive(ctx context.Context, store ledger.Store, at ledger.Snapshot, entry *ledger.Entry) (bool, error) {
	var standing ledger.Standing
	if pull := entry.Receipt.PullRequest; pull != nil {
		entries, problems, err := ledger.EntriesOf(ctx, store, at, pull.Number, 0)
		problems = slices.DeleteFunc(
			problems,
			func(p ledger.Problem) bool { return p.Code == ledger.CodeAliasOrphan },
		) // later than this state
		if err == nil && len(problems) > 0 {
			err = UnsoundLedger(problems)
		}
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			standing.Add(e.Hash, e.Receipt)
		}
		return standing.Live(entry.Hash, entry.Receipt), nil
	}
	for e, err := range ledger.Backwards(ctx, store, at) {
		if err != nil {
			return false, fmt.Errorf("reading the ledger: %w", err)
		}
		if e.Receipt.Seq <= entry.Receipt.Seq {
			break
		}
		standing.Add(e.Hash, e.Receipt)
	}
	return standing.Live(entry.Hash, entry.Receipt), nil
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
