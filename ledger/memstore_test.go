package ledger_test

import (
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

func TestMemStore(t *testing.T) {
	storetest.TestStore(t, func(*testing.T) func() ledger.Store {
		m := &ledger.MemStore{}
		return func() ledger.Store { return m }
	})
}
