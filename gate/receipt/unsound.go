package receipt

import (
	"fmt"

	"github.com/defendableos/referee/ledger"
)

// UnsoundLedger says why a ledger is neither read nor written.
func UnsoundLedger(problems []ledger.Problem) error {
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf(
		"the ledger failed verification: %s%s; restore its branch from a clone that verifies (`referee ledger "+
			"verify --online` lists everything), then run this job again",
		problems[0].String(),
		more,
	)
}
