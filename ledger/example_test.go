package ledger_test

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// Appending is idempotent: what is in the ledger already is found by its key, and not written again.
func ExampleAppend() {
	ctx, store := context.Background(), &ledger.MemStore{}
	receipt := storetest.Sample(0) // what a sign-off says; the gate drafts it of a report and a review
	draft := func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{receipt}}, nil
	}
	for range 2 {
		result, err := ledger.Append(ctx, store, ledger.Retry{}, draft)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(result.Added), "added,", len(result.Found), "found,", result.Head.Count, "in the ledger")
	}
	// Output:
	// 1 added, 0 found, 1 in the ledger
	// 0 added, 1 found, 1 in the ledger
}

func ExampleVerify() {
	ctx, store := context.Background(), &ledger.MemStore{}
	_, err := ledger.Append(ctx, store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(0)}}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now, _ := store.Head(ctx)
	tree, _ := store.Tree(now)
	v, err := ledger.Verify(ctx, tree, ledger.Options{})
	fmt.Println(v.OK(), v.Head.Count, err)

	// A pin of another ledger, kept elsewhere, does not fit.
	v, err = ledger.Verify(ctx, tree, ledger.Options{
		Pins: []ledger.Pin{{Level: ledger.L2, Count: 1, Tip: ledger.NoParent, Source: "a pin kept elsewhere"}},
	})
	fmt.Println(v.OK(), v.Problems[0].Code, err)
	// Output:
	// true 1 <nil>
	// false LDG-504 <nil>
}
