package gate_test

import (
	"fmt"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// pushEntries pushes entries to the ledger as anybody with push access can, through the same code that makes them right
// in every respect.
func (w *world) pushEntries(receipts ...ledger.Receipt) []ledger.Entry {
	w.Helper()
	store, err := gitstore.Open(w.s.DirNow(), gitstore.Options{Now: w.s.Now})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = store.Close() })
	for i := range receipts {
		r := &receipts[i]
		r.Seq, r.ParentHash, r.Log, r.ID = 0, "", ledger.Log{}, ""
		if r.IdempotencyKey == "" {
			r.IdempotencyKey = fmt.Sprintf("%064x", 0xf00d+i)
		}
	}
	res, err := ledger.Append(
		w.Context(),
		store,
		ledger.Retry{},
		func(ledger.Snapshot) (ledger.Draft, error) { return ledger.Draft{Receipts: receipts}, nil },
	)
	if err != nil {
		w.Fatal(err)
	}
	return res.Added
}

// notGreen holds a pull request's head to a sign-off check that would not let it merge.
func (w *world) notGreen(pull int64) {
	w.Helper()
	for _, c := range w.s.Checks(w.s.Head(pull)) {
		if c.Name == comment.SignOffCheck && c.Conclusion == "success" {
			w.Errorf("pull request %d: the sign-off is green: %s\n%s", pull, c.Title, c.Summary)
		}
	}
}

// approvedBySomeone is the receipt that the gate would mint of a pull request's run, which the forger takes from their
// own copy of the gate.
func approvedBySomeone(t *testing.T) ledger.Receipt {
	t.Helper()
	w, _ := signedWorld(t, "")
	return *w.ledgerEntries()[0].Receipt
}

// notGreenNow is about the newest run of the sign-off check.
func (w *world) notGreenNow(pull int64) {
	w.Helper()
	if c := w.newestCheck(w.s.Head(pull), comment.SignOffCheck); c.Conclusion == "success" {
		w.Errorf("the sign-off is green: %s", c.Title)
	}
}
