package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// ledgerOfEntries is a ledger of n entries.
func ledgerOfEntries(t *testing.T, n int) (*ledger.MemStore, ledger.Snapshot) {
	t.Helper()
	s := &ledger.MemStore{}
	for i := range int64(n) {
		r := storetest.Sample(i)
		if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
			error) {
			return ledger.Draft{Receipts: []ledger.Receipt{r}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	at, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, at
}

// How far back a tail goes, by RFC 6962's subtrees: 9 = 8+1 is read whole, 80 = 64+16 from 64, 128 is one subtree of
// more than 64.
func TestVerifyTail(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 8: 8, 9: 9, 80: 16, 128: 8, 130: 2} {
		s, at := ledgerOfEntries(t, n)
		entries, problems, err := ledger.VerifyTail(t.Context(), s, at, ledger.Head{})
		if err != nil || len(problems) > 0 || len(entries) != want {
			t.Errorf("%d entries: a tail of %d, want %d; %v, %v", n, len(entries), want, problems, err)
			continue
		}
		for i, e := range entries {
			if e.Receipt.Seq != int64(n-want+i) {
				t.Errorf("%d entries: place %d has seq %d", n, i, e.Receipt.Seq)
			}
		}
	}
}

// A HEAD.json that was written anew, entries that cannot be read, and another chain than the one known.
func TestVerifyTailLies(t *testing.T) {
	s, at := ledgerOfEntries(t, 80)
	_, other := ledgerOfEntries(t, 79)
	lies := at
	lies.Head.Edge = []string{other.Head.Edge[1], at.Head.Edge[1]} // another first subtree
	if _, problems, err := ledger.VerifyTail(t.Context(), s, lies, ledger.Head{}); err != nil || len(problems) != 1 ||
		problems[0].Code != ledger.CodeLog {
		t.Errorf("another trunk: %v, %v", problems, err)
	}
	lies = at
	lies.Head.Edge = []string{at.Head.Edge[0], other.Head.Edge[1]}
	lies.Head.Root = other.Head.Root
	if _, problems, err := ledger.VerifyTail(t.Context(), s, lies, ledger.Head{}); err != nil || len(problems) != 1 ||
		problems[0].Code != ledger.CodeHeadLies {
		t.Errorf("another end: %v, %v", problems, err)
	}
	for _, n := range []int{9, 128} {
		s, at := ledgerOfEntries(t, n)
		if _, problems, err := ledger.VerifyTail(t.Context(), unread{s}, at, ledger.Head{}); err != nil ||
			len(problems) != 1 || problems[0].Code != ledger.CodeUnreadable {
			t.Errorf("unread: %v, %v", problems, err)
		}
	}
	known := other.Head
	entries, problems, err := ledger.VerifyTail(t.Context(), s, at, known)
	if err != nil || len(problems) > 0 || len(entries) != 1 || entries[0].Receipt.Seq != 79 {
		t.Errorf("since 79: %v, %v, %v", entries, problems, err)
	}
	if _, problems, err := ledger.VerifyTail(t.Context(), s, other, at.Head); err != nil || len(problems) != 1 ||
		problems[0].Code != ledger.CodeTruncated {
		t.Errorf("cut off: %v, %v", problems, err)
	}
	known.Tip = hashA
	if _, problems, err := ledger.VerifyTail(t.Context(), s, at, known); err != nil || len(problems) != 1 ||
		problems[0].Code != ledger.CodePinTip {
		t.Errorf("written anew: %v, %v", problems, err)
	}
}

// unread is a store whose entries cannot be read.
type unread struct{ ledger.Store }

func (unread) Read(context.Context, ledger.Snapshot, string) ([]ledger.File, error) {
	return nil, errors.New("the connection broke")
}
