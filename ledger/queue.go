package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry says how long Append goes on while others append, and how it waits. The zero value is the one in force: five
// minutes.
type Retry struct {
	// For is how long Append goes on while the ledger does not move; DefaultFor if 0. A queue that moves is waited for
	// up to three times as long: every entry of another brings this one nearer.
	For   time.Duration
	Tries int                                 // at most so many tries to write; as many as fit into the time if 0
	Pick  func(n time.Duration) time.Duration // a duration below n, which is positive; random if nil
}

// DefaultFor is how long Append goes on where Retry does not say. Fifty writers at once, at 290 ms a request, took 317
// s (performance.md), so a queue that moves needs the patience above it.
const DefaultFor = 5 * time.Minute

// What the queue is tuned by: fifty at once, with and without a slow network, by simulation and by TestFiftyAtOnce of
// both stores.
const (
	minWait   = 50 * time.Millisecond // between two looks, on the fastest machine
	lookShare = 2                     // a whole append takes about twice as long as reading a head that moved
	spread    = 3                     // cycles over which the first tries of a burst are spread
	// the part of the time in which others append, up to which a try is worth its requests: a race that is lost costs
	// them for nothing, and the forge counts them by the hour
	calm     = 0.2
	widest   = 32 // cycles of the longest random wait while the ledger moves
	patience = 3  // times Retry.For, while the ledger moves
)

// turn is the place of one Append in a queue that nobody keeps. Writers know nothing of each other but what the branch
// shows: how many entries came since the last look. From that and from how long its own looks take, each one guesses
// how much of the time the ledger is being written to. Above a bound it does not try, which would cost requests that
// the forge counts, but waits for a random time, and the longer the busier it is; below it, it tries. The bound rises
// with the time waited, so that the oldest go first. None of this decides anything: the swap does.
type turn struct {
	retry  Retry
	began  time.Time
	moved  time.Time     // when the ledger was last seen to have moved
	looked time.Time     // the last look; zero before the first
	seen   Snapshot      // what it saw
	others int64         // entries that others have added meanwhile
	cycle  time.Duration // what an append takes now, about
	window time.Duration // of the random wait
	tries  int
	last   error // what the last try ended in
}

func newTurn(r Retry) *turn {
	if r.For == 0 {
		r.For = DefaultFor
	}
	if r.Pick == nil {
		r.Pick = rand.N[time.Duration]
	}
	now := time.Now()
	return &turn{retry: r, began: now, moved: now}
}

// lookAtHead reads the head, and says how long to wait before the next look; 0 is to try now. The first look waits for
// a random time: jobs that one event starts together would otherwise all try together. A head that has not moved means
// that nobody is writing, so the next step is to try.
func (t *turn) lookAtHead(ctx context.Context, s Store) (Snapshot, time.Duration, error) {
	start := time.Now()
	at, err := s.Head(ctx)
	if err != nil {
		return at, 0, err
	}
	now := time.Now()
	first, before, since := t.looked.IsZero(), t.seen, now.Sub(t.looked)
	t.seen, t.looked = at, now
	if first {
		t.cycle = lookShare * now.Sub(start)
		t.window = spread * t.cycle
		return at, t.pickWait(), nil
	}
	if at.ID == before.ID {
		return at, 0, nil
	}
	t.moved, t.cycle = now, lookShare*now.Sub(start)
	came := max(1, at.Head.Count-before.Head.Count)
	t.others += came
	load := t.ledgerLoad(came, since, now)
	t.widenWindow(max(1, load), widest*max(t.cycle, minWait))
	// A try whose reply was lost may have been written: that is found out at once.
	if load > 1 && !errors.Is(t.last, ErrAmbiguous) && now.Before(t.lastTry()) {
		return at, t.pauseUntilLook(), nil
	}
	return at, 0, nil
}

// ledgerLoad is how busy the ledger was in the time since the last look; 1 is as busy as a try may find it. The divisor
// grows from calm to 1 with the time waited: whoever came first tries while newer ones still hold back, so nobody
// starves.
func (t *turn) ledgerLoad(came int64, since time.Duration, now time.Time) float64 {
	busy := 1.0
	if spent := time.Duration(came) * t.cycle; spent < since {
		busy = float64(spent) / float64(since)
	}
	age := min(1, float64(now.Sub(t.began))/float64(t.retry.For))
	return busy / (calm + (1-calm)*age)
}

// widenWindow makes the window of the random wait larger by a factor, up to a bound. An eighth of Retry.For leaves
// several looks before the time is up, however busy it gets.
func (t *turn) widenWindow(by float64, atMost time.Duration) {
	wider := max(time.Duration(float64(t.window)*by), t.cycle, minWait)
	t.window = min(wider, atMost, t.retry.For/8)
}

// pickWait is a random time within the window.
func (t *turn) pickWait() time.Duration {
	if t.window <= 0 {
		return 0
	}
	return t.retry.Pick(t.window)
}

// pauseUntilLook is the time until the next look. What is under way needs some time itself; asking without a pause
// would only add to the load.
func (t *turn) pauseUntilLook() time.Duration {
	return max(minWait, t.cycle/2, t.window/8) + t.pickWait()
}

// lastTry is when the last try is made: so long after the ledger last moved, and never later than patience allows, or a
// busy ledger could hold a job for ever.
func (t *turn) lastTry() time.Time {
	end, last := t.moved.Add(t.retry.For), t.began.Add(patience*t.retry.For)
	if last.Before(end) {
		return last
	}
	return end
}

// afterLostTry says how long to wait after a try that failed, or the error that ends it. Only a lost race and a lost
// reply are tried again; nothing else becomes true by waiting.
func (t *turn) afterLostTry(err error) (time.Duration, error) {
	if !errors.Is(err, ErrStale) && !errors.Is(err, ErrAmbiguous) {
		return 0, err
	}
	t.last = err
	now := time.Now()
	if t.tries == t.retry.Tries || !now.Before(t.lastTry()) {
		return 0, fmt.Errorf("gave up after %s and %s, while others added %s: %w; run it again: nothing is written "+
			"twice",
			now.Sub(t.began).Round(time.Millisecond), countInWords(int64(t.tries), "try", "tries"),
			countInWords(t.others, "entry", "entries"), err)
	}
	t.widenWindow(2, t.retry.For) // if nothing has moved, the server fails, and needs rest
	return min(t.pauseUntilLook(), max(minWait, t.lastTry().Sub(now))), nil
}

func countInWords(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sleepFor waits, or says why that ended early.
func (t *turn) sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	}
	err := fmt.Errorf("%w after %s and %s", ctx.Err(), time.Since(t.began).Round(time.Millisecond),
		countInWords(int64(t.tries), "try", "tries"))
	if t.last != nil {
		err = fmt.Errorf("%w: %w", err, t.last)
	}
	return err
}
