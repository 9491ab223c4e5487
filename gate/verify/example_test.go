package verify_test

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/gate/verify"
)

// A ledger of somebody else, of which nothing is known from before: it agrees with itself, and that is L1.
func Example() {
	result, err := verify.Ledger(context.Background(), receiptsGit(), verify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.OK(), result.Level, result.Head.Count, result.Problems)
	// Output: true L1 6 []
}
