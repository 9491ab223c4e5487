package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/defendableos/referee/internal/canonical"
)

// Store is where a ledger is kept. TestStore of package storetest says what every store must do.
type Store interface {
	// Head gives the newest state; for a ledger that does not exist yet, the zero ID and NewHead.
	Head(ctx context.Context) (Snapshot, error)
	// Read gives the file at path in that state, or the files directly in the directory at path, none if neither exists.
	Read(ctx context.Context, at Snapshot, path string) ([]File, error)
	// Append adds the files as one commit, if and only if parent is still the newest state; all of them or none. It
	// gives ErrStale if parent is not the newest state, and ErrAmbiguous if it cannot tell whether the commit was made.
	Append(ctx context.Context, parent Snapshot, b Batch) error
}

// What Append of a Store says when another try is due; test with errors.Is.
var (
	ErrStale     = errors.New("the ledger has moved on")
	ErrAmbiguous = errors.New("the reply was lost: whether the ledger has changed is not known")
)

// Snapshot is one state of a ledger.
type Snapshot struct {
	ID   string // the store's own name for it, a commit; "" if there is no ledger yet
	Head Head
	Info *Info // nil before the first entry
}

// File is one file of the branch.
type File struct {
	Path string
	Data []byte
}

// Batch is one commit: files to add, of which only HEAD.json may exist before.
type Batch struct {
	Files   []File
	Message string
	Head    Head // after it
}

// Draft is what a sign-off wants to add. The receipts are complete but for their place in the chain (Mint).
type Draft struct {
	Receipts []Receipt
	Sheets   [][]byte // rulebooks that the repository does not hold; written on first use
	Papers   []File   // README.md and verify.html, written with the first commit; README.md has a default
}

// Entry is one receipt in its place.
type Entry struct {
	Hash    string
	Bytes   []byte
	Receipt *Receipt
}

// Result is what Append did. An entry whose key stood in the ledger already is in Found, and was not written again.
type Result struct {
	Added, Found []Entry
	Head         Head
	Tries        int
}

// Retry says how often Append tries, and how long it waits between. The zero value is the one in force: 12 tries, a
// random wait that grows from 50 ms to at most 5 s.
type Retry struct {
	Tries int
	Pick  func(n time.Duration) time.Duration // a duration below n; random if nil
}

// The bounds of the wait between two tries.
const (
	minWait = 50 * time.Millisecond
	maxWait = 5 * time.Second
)

// wait is the pause before the given try, counted from 1: between 50 ms and twice as much with every try.
func (r Retry) wait(try int) time.Duration {
	pick := r.Pick
	if pick == nil {
		pick = rand.N[time.Duration]
	}
	span := maxWait - minWait
	if try < 7 {
		span = min(span, minWait<<try)
	}
	return minWait + pick(span)
}

// Append adds the entries that build drafts, once: it reads the head, has build draft for it, leaves out what the
// ledger holds already by idempotency key, mints the rest, and swaps the head. When the head has moved or the reply was
// lost, the whole of it starts again, for a new parent is a new hash. Errors of build, and refusals, end it at once
// with nothing written.
func Append(ctx context.Context, s Store, retry Retry, build func(Snapshot) (Draft, error)) (Result, error) {
	tries := retry.Tries
	if tries == 0 {
		tries = 12
	}
	minted := map[string]bool{} // by earlier tries, whose reply may have been lost
	var last error
	for try := 1; try <= tries; try++ {
		if try > 1 {
			if err := sleep(ctx, retry.wait(try-1)); err != nil {
				return Result{}, fmt.Errorf("appending to the ledger: %w (after: %w)", err, last)
			}
		}
		result, err := appendOnce(ctx, s, build, minted)
		if err == nil {
			result.Tries = try
			return result, nil
		}
		if !errors.Is(err, ErrStale) && !errors.Is(err, ErrAmbiguous) {
			return Result{}, fmt.Errorf("appending to the ledger: %w", err)
		}
		last = err
	}
	return Result{}, fmt.Errorf("appending to the ledger: given up after %d tries: %w", tries, last)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func appendOnce(ctx context.Context, s Store, build func(Snapshot) (Draft, error), minted map[string]bool) (Result, error) {
	at, err := s.Head(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("reading the head: %w", err)
	}
	draft, err := build(at)
	if err != nil {
		return Result{}, err
	}
	found, err := leaveOut(ctx, s, at, &draft)
	if err != nil {
		return Result{}, err
	}
	result := Result{Head: at.Head}
	for _, e := range found {
		if minted[e.Hash] {
			result.Added = append(result.Added, e)
		} else {
			result.Found = append(result.Found, e)
		}
	}
	if len(draft.Receipts) == 0 && len(found) > 0 {
		return result, nil
	}
	batch, entries, err := newBatch(ctx, s, at, draft)
	if err != nil {
		return Result{}, err
	}
	for _, e := range entries {
		minted[e.Hash] = true
	}
	if err := s.Append(ctx, at, batch); err != nil {
		return Result{}, err
	}
	result.Added, result.Head = append(result.Added, entries...), batch.Head
	return result, nil
}

// leaveOut takes from the draft what the ledger holds already and gives those entries.
func leaveOut(ctx context.Context, s Store, at Snapshot, draft *Draft) (found []Entry, err error) {
	keys := map[string]bool{}
	var rest []Receipt
	for _, r := range draft.Receipts {
		if keys[r.IdempotencyKey] {
			return nil, fmt.Errorf("two drafts have the idempotency key %s", r.IdempotencyKey)
		}
		keys[r.IdempotencyKey] = true
		e, err := Find(ctx, s, at, r.PullRequest, r.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		if e == nil {
			rest = append(rest, r)
		} else {
			found = append(found, *e)
		}
	}
	draft.Receipts = rest
	return found, nil
}

// lookBack is how many of the newest entries Find reads where no pull request says where to look.
const lookBack = 100

// Find gives the entry with the idempotency key, nil if there is none: among the entries of the pull request, or, for a
// sign-off outside a forge, among the newest hundred.
func Find(ctx context.Context, s Store, at Snapshot, pull *PullRequest, key string) (*Entry, error) {
	if pull == nil {
		return findBack(ctx, s, at, key)
	}
	files, err := s.Read(ctx, at, PullDir(pull.Number))
	if err != nil {
		return nil, fmt.Errorf("reading the entries of pull request %d: %w", pull.Number, err)
	}
	for _, f := range files {
		e, err := entryOf(f.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if e.Receipt.IdempotencyKey == key {
			return e, nil
		}
	}
	return nil, nil
}

func entryOf(b []byte) (*Entry, error) {
	r, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return &Entry{Hash: canonical.SHA256Hex(b), Bytes: b, Receipt: r}, nil
}

func findBack(ctx context.Context, s Store, at Snapshot, key string) (*Entry, error) {
	for e, err := range Backwards(ctx, s, at) {
		if err != nil || e.Receipt.IdempotencyKey == key {
			return e, err
		}
		if e.Receipt.Seq+lookBack <= at.Head.Count {
			break
		}
	}
	return nil, nil
}

// Lookup gives the entry with the hash, nil if the ledger has none; its bytes have that hash.
func Lookup(ctx context.Context, s Store, at Snapshot, hash string) (*Entry, error) {
	if err := canonical.CheckHash(hash); err != nil {
		return nil, err
	}
	path := Place{Class: HashAlias, Hash: hash}.String()
	files, err := s.Read(ctx, at, path)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	e, err := entryOf(files[0].Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Hash != hash {
		return nil, fmt.Errorf("%s holds an entry with the hash %s", path, e.Hash)
	}
	return e, nil
}
