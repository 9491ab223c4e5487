package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// moving is a store in which no Append succeeds.
type moving struct {
	ledger.MemStore
	calls int
	err   error
	at    []time.Time
}

func (m *moving) Append(context.Context, ledger.Snapshot, ledger.Batch) error {
	m.calls++
	m.at = append(m.at, time.Now())
	return m.err
}

func draftSample(ledger.Snapshot) (ledger.Draft, error) {
	return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(0)}}, nil
}

// TestRetry: a ledger that stands still is tried for five minutes, or as long as is said, at intervals that grow: a
// forge that fails must not be asked as often as its rate limit allows. The last try is at the end, and the error says
// how long and how often it was tried.
func TestRetry(t *testing.T) {
	longest := func(n time.Duration) time.Duration { return n - 1 }
	for name, c := range map[string]struct {
		retry ledger.Retry
		last  error
		took  time.Duration
		least int // tries
		most  int
	}{
		"random":    {ledger.Retry{}, ledger.ErrStale, 5 * time.Minute, 10, 100},
		"lost":      {ledger.Retry{}, ledger.ErrAmbiguous, 5 * time.Minute, 10, 100},
		"longest":   {ledger.Retry{Pick: longest}, ledger.ErrStale, 5 * time.Minute, 10, 20},
		"a minute":  {ledger.Retry{For: time.Minute}, ledger.ErrStale, time.Minute, 8, 100},
		"two tries": {ledger.Retry{Tries: 2, Pick: longest}, ledger.ErrStale, 100 * time.Millisecond, 2, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, start := &moving{err: c.last}, time.Now()
			_, err := ledger.Append(t.Context(), m, c.retry, draftSample)
			took := time.Since(start)
			if !errors.Is(err, c.last) || m.calls < c.least || m.calls > c.most || took > c.took ||
				took < c.took-60*time.Millisecond {
				t.Errorf("%s: %d tries in %s, %v; want %d to %d in %s", name, m.calls, took, err, c.least, c.most,
					c.took)
			}
			if want := fmt.Sprintf("gave up after %s and %d tries, while others added 0 entries",
				took.Round(time.Millisecond), m.calls); !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", name, err, want)
			}
			for i := 1; i < len(m.at); i++ {
				if m.at[i].Sub(m.at[i-1]) < 50*time.Millisecond {
					t.Errorf("%s: the tries %d and %d are %s apart", name, i, i+1, m.at[i].Sub(m.at[i-1]))
				}
			}
		})
	}
}

// slow is a store whose requests take time, and whose swaps fail while others append to it.
type slow struct {
	*ledger.MemStore
	request time.Duration
	swaps   *int
}

func (s slow) Head(ctx context.Context) (ledger.Snapshot, error) {
	time.Sleep(s.request)
	return s.MemStore.Head(ctx)
}

func (s slow) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	time.Sleep(s.request)
	*s.swaps++
	return s.MemStore.Append(ctx, at, b)
}

// TestQueue: many writers who know nothing of each other all get their entry, whether a request takes no time or
// seconds, and few of their tries to write are lost, for each of them costs requests. Nobody is kept waiting while the
// ledger stands still.
func TestQueue(t *testing.T) {
	for name, c := range map[string]struct {
		writers int64
		request time.Duration
		within  time.Duration
		swaps   int // at most
	}{
		// a look, its six seconds of spread at most, a look, a swap
		"alone":         {1, time.Second, 10 * time.Second, 1},
		"fifty":         {50, 20 * time.Millisecond, 30 * time.Second, 120},
		"fifty, slow":   {50, 500 * time.Millisecond, 6 * time.Minute, 120},
		"fifty, slower": {50, 2 * time.Second, 15 * time.Minute, 160},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, swaps, start := &ledger.MemStore{}, 0, time.Now()
				var group sync.WaitGroup
				var mu sync.Mutex // of swaps
				for n := range c.writers {
					group.Go(func() {
						mine := 0
						_, err := ledger.Append(t.Context(), slow{m, c.request, &mine}, ledger.Retry{},
							func(ledger.Snapshot) (ledger.Draft, error) {
								return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(n)}}, nil
							})
						mu.Lock()
						defer mu.Unlock()
						if swaps += mine; err != nil {
							t.Errorf("writer %d: %v", n, err)
						}
					})
				}
				group.Wait()
				at, err := m.Head(t.Context())
				if err != nil || at.Head.Count != c.writers {
					t.Errorf("%d entries, %v; want %d", at.Head.Count, err, c.writers)
				}
				took := time.Since(start)
				t.Logf("%s and %d swaps", took.Round(time.Millisecond), swaps)
				if took > c.within || swaps > c.swaps {
					t.Errorf("%s and %d swaps, want %s and %d at most", took, swaps, c.within, c.swaps)
				}
			})
		})
	}
}

// lossy is a store whose first swap is carried out and its reply lost.
type lossy struct {
	slow
	lost *bool
}

func (l lossy) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	err := l.slow.Append(ctx, at, b)
	if err == nil && !*l.lost {
		*l.lost = true
		return fmt.Errorf("connection reset: %w", ledger.ErrAmbiguous)
	}
	return err
}

// TestLostInQueue: who does not know whether its entry was written looks for it, however busy the ledger is, before
// anything is sent again.
func TestLostInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, swaps, lost := &ledger.MemStore{}, 0, false
		var group sync.WaitGroup
		for n := range int64(20) {
			group.Go(func() {
				others := 0
				if _, err := ledger.Append(t.Context(), slow{m, 100 * time.Millisecond, &others}, ledger.Retry{},
					func(ledger.Snapshot) (ledger.Draft, error) {
						return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(n + 1)}}, nil
					}); err != nil {
					t.Error(err)
				}
			})
		}
		result, err := ledger.Append(t.Context(), lossy{slow{m, 100 * time.Millisecond, &swaps}, &lost}, ledger.Retry{},
			draftSample)
		if err != nil || len(result.Added) != 1 || len(result.Found) != 0 || result.Tries != swaps+1 {
			t.Errorf("%d added, %d found after %d tries and %d swaps, %v; want it added, and found by the last try "+
				"without a swap",
				len(result.Added), len(result.Found), result.Tries, swaps, err)
		}
		group.Wait()
		if at, err := m.Head(t.Context()); err != nil || at.Head.Count != 21 {
			t.Errorf("%d entries, %v; want 21", at.Head.Count, err)
		}
	})
}

// TestMovingQueue: a queue that moves is waited for longer than one that stands still, and not for ever.
func TestMovingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, start := &moving{err: ledger.ErrStale}, time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		others := int64(0)
		var group sync.WaitGroup
		group.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(10 * time.Second) {
				others++
				if _, err := ledger.Append(ctx, &m.MemStore, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
					error) {
					return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(others)}}, nil
				}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		_, err := ledger.Append(ctx, m, ledger.Retry{}, draftSample)
		cancel()
		if took := time.Since(start); !errors.Is(err, ledger.ErrStale) || took < 14*time.Minute ||
			took > 15*time.Minute+time.Second {
			t.Errorf("%v after %s, want 15 minutes", err, took)
		}
		if err != nil && (strings.Contains(err.Error(), "others added 0 entries") ||
			!strings.Contains(err.Error(), "run it again")) {
			t.Errorf("%v; want how many others came first, and what to do", err)
		}
		group.Wait()
	})
}

// TestRetryEnds holds that another error ends it at once, and a cancelled context while it waits.
func TestRetryEnds(t *testing.T) {
	disk := errors.New("disk full")
	m := &moving{err: disk}
	if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, draftSample); !errors.Is(err, disk) || m.calls != 1 {
		t.Errorf("%d calls, %v", m.calls, err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		m := &moving{err: ledger.ErrStale}
		_, err := ledger.Append(ctx, m, ledger.Retry{}, draftSample)
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
		if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
			error) {
			return d, nil
		}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// TestUnnamedSheet: a rulebook that no new entry names is not written, for the closed world has no place for it; one
// that two entries name is written once.
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
	tree, err := m.Tree(at)
	if err != nil {
		t.Fatal(err)
	}
	var sheets []string
	for e := range tree.Entries() {
		if p, err := ledger.ParsePath(e.Path); err == nil && p.Class == ledger.SheetFile {
			sheets = append(sheets, p.Hash)
		}
	}
	if !slices.Equal(sheets, []string{ledger.SheetHash(named)}) {
		t.Errorf("the ledger holds the sheets %v", sheets)
	}
}

func TestLookupRefuses(t *testing.T) {
	m := &ledger.MemStore{}
	if e, err := ledger.Lookup(t.Context(), m, ledger.Snapshot{}, "../../etc"); err == nil || e != nil {
		t.Errorf("%v, %v", e, err)
	}
}
