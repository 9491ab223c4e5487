package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// moving is a store whose head has always moved when Append comes.
type moving struct {
	ledger.MemStore
	calls int
	err   error
}

func (m *moving) Append(context.Context, ledger.Snapshot, ledger.Batch) error {
	m.calls++
	return m.err
}

func one(ledger.Snapshot) (ledger.Draft, error) {
	return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(0)}}, nil
}

// TestRetry holds the waits to their bounds: at least 50 ms, at most 5 s, twelve tries, and the sum that the longest and
// the shortest waits make.
func TestRetry(t *testing.T) {
	for name, c := range map[string]struct {
		pick func(time.Duration) time.Duration
		want time.Duration
	}{
		"shortest": {func(time.Duration) time.Duration { return 0 }, 11 * 50 * time.Millisecond},
		// 50+100, 50+200, 50+400, 50+800, 50+1600, 50+3200, then five times 50+4950
		"longest": {func(n time.Duration) time.Duration { return n }, 31_600 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, start := &moving{err: ledger.ErrStale}, time.Now()
			_, err := ledger.Append(t.Context(), m, ledger.Retry{Pick: c.pick}, one)
			if !errors.Is(err, ledger.ErrStale) || m.calls != 12 || time.Since(start) != c.want {
				t.Errorf("%s: %d calls in %v, %v; want 12 in %v", name, m.calls, time.Since(start), err, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m, start := &moving{err: ledger.ErrAmbiguous}, time.Now()
		_, err := ledger.Append(t.Context(), m, ledger.Retry{}, one)
		if took := time.Since(start); !errors.Is(err, ledger.ErrAmbiguous) || took < 550*time.Millisecond || took > 55*time.Second {
			t.Errorf("%v in %v", err, took)
		}
	})
}

// TestRetryEnds holds that another error ends it at once, and a cancelled context while it waits.
func TestRetryEnds(t *testing.T) {
	disk := errors.New("disk full")
	m := &moving{err: disk}
	if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, one); !errors.Is(err, disk) || m.calls != 1 {
		t.Errorf("%d calls, %v", m.calls, err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		m := &moving{err: ledger.ErrStale}
		_, err := ledger.Append(ctx, m, ledger.Retry{}, one)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ledger.ErrStale) || m.calls != 1 {
			t.Errorf("%d calls, %v", m.calls, err)
		}
	})
}

// TestPapers holds that a draft brings no other file into a ledger.
func TestPapers(t *testing.T) {
	for name, d := range map[string]ledger.Draft{
		"another file": {Papers: []ledger.File{{Path: "x.html"}}},
		"a long sheet": {Receipts: []ledger.Receipt{storetest.Sample(0)}, Sheets: [][]byte{make([]byte, 5<<20+1)}},
	} {
		m := &ledger.MemStore{}
		if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) { return d, nil }); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// TestUnnamedSheet: a rulebook that no new entry names is not written, for the closed world has no place for it; one that two entries name is
// written once.
func TestUnnamedSheet(t *testing.T) {
	named, other := []byte(`{"slug":"named"}`), []byte(`{"slug":"other"}`)
	var receipts []ledger.Receipt
	for n := range int64(2) {
		r := storetest.Sample(n)
		r.FlightSheet.SHA256 = ledger.SheetHash(named)
		receipts = append(receipts, storetest.Key(r))
	}
	m := &ledger.MemStore{}
	if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: receipts, Sheets: [][]byte{named, other, named}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	at, err := m.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.Read(t.Context(), at, "sheets")
	if err != nil || len(files) != 1 || string(files[0].Data) != string(named) {
		t.Errorf("%d sheets, %v", len(files), err)
	}
}

func TestLookupRefuses(t *testing.T) {
	m := &ledger.MemStore{}
	if e, err := ledger.Lookup(t.Context(), m, ledger.Snapshot{}, "../../etc"); err == nil || e != nil {
		t.Errorf("%v, %v", e, err)
	}
}
