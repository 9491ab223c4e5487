package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/defendableos/referee/internal/canonical"
)

// Store is where a ledger is kept. It has no lock, no transaction and no delete: everything that Append needs is one
// compare-and-swap of the newest state, which a git branch has too. TestStore of package storetest says what every
// store must do.
type Store interface {
	// Head returns the newest state; for a ledger that does not exist yet, the zero ID and NewHead.
	Head(ctx context.Context) (Snapshot, error)
	// Read returns the file at path in that state, or the files directly in the directory at path, none if neither
	// exists. It reads the state named and never a newer one: a draft that mixes two states could pass a check that
	// neither of them passes.
	Read(ctx context.Context, at Snapshot, path string) ([]File, error)
	// Append adds the files as one commit, if and only if parent is still the newest state; all of them or none. It
	// returns ErrStale if parent is not the newest state, and ErrAmbiguous if it cannot tell whether the commit was
	// made. Any other error ends the whole append, so a store must not return one once the branch has moved.
	Append(ctx context.Context, parent Snapshot, b Batch) error
}

// What Append of a Store says when another try is due; test with errors.Is.
var (
	ErrStale     = errors.New("the ledger has moved on")
	ErrAmbiguous = errors.New("the reply was lost: whether the ledger has changed is not known")
)

// Snapshot is one state of a ledger. Two snapshots with one ID are the same state.
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

// Draft is what a sign-off wants to add. The receipts are complete but for their place in the chain (Mint). Their
// parent and seq are known only at the swap, and a lost race needs new ones.
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

// Result is what Append did. An entry whose key was in the ledger already is in Found, and was not written again.
type Result struct {
	Added, Found []Entry
	Head         Head
	Tries        int
}

// Append adds the entries that build drafts, once: it reads the head, has build draft for it, leaves out what the
// ledger holds already by idempotency key, mints the rest, and swaps the head. When the head has moved or the reply was
// lost, all of it starts again, because a new parent makes a new hash, and because the entry that moved the head may be
// the one that build would draft; retry says for how long (queue.go). Errors of build, and refusals, end it at once
// with nothing written.
func Append(ctx context.Context, s Store, retry Retry, build func(Snapshot) (Draft, error)) (Result, error) {
	result, err := appendInTurn(ctx, s, retry, build)
	if err != nil {
		return Result{}, fmt.Errorf("appending to the ledger: %w", err)
	}
	return result, nil
}

// appendInTurn is the loop of Append. minted collects the hashes of all tries: an entry that is found under one of them
// was written by this call, whose reply was lost, and counts as added. Without it, a lost reply would look like a
// second delivery of the event.
func appendInTurn(ctx context.Context, s Store, retry Retry, build func(Snapshot) (Draft, error)) (Result, error) {
	t := newTurn(retry)
	minted := map[string]bool{} // by earlier tries, whose reply may have been lost
	for {
		at, wait, err := t.lookAtHead(ctx, s)
		if err != nil {
			return Result{}, fmt.Errorf("reading the head: %w", err)
		}
		// A wait of 0 means that now is the time; otherwise the head is looked at again after the pause.
		if wait == 0 {
			result, err := appendOnce(ctx, s, at, build, minted)
			t.tries++
			if err == nil {
				result.Tries = t.tries
				return result, nil
			}
			if wait, err = t.afterLostTry(err); err != nil {
				return Result{}, err
			}
		}
		if err := t.sleepFor(ctx, wait); err != nil {
			return Result{}, err
		}
	}
}

// appendOnce is one try. The ledger is searched for the keys before anything is minted: the head may have moved because
// another delivery of the same event was faster.
func appendOnce(ctx context.Context, s Store, at Snapshot, build func(Snapshot) (Draft, error),
	minted map[string]bool) (Result, error) {
	draft, err := build(at)
	if err != nil {
		return Result{}, err
	}
	found, err := leaveOut(ctx, s, at, &draft)
	if err != nil {
		return Result{}, err
	}
	result := Result{Head: at.Head}
	// What an earlier try wrote is this call's own work, although its reply never came.
	for _, e := range found {
		if minted[e.Hash] {
			result.Added = append(result.Added, e)
		} else {
			result.Found = append(result.Found, e)
		}
	}
	// All of it is there: a second delivery makes no commit.
	if len(draft.Receipts) == 0 && len(found) > 0 {
		return result, nil
	}
	batch, entries, err := newBatch(ctx, s, at, draft)
	if err != nil {
		return Result{}, err
	}
	// Noted before the swap: if its reply is lost, the next try has to know its own entries.
	for _, e := range entries {
		minted[e.Hash] = true
	}
	if err := s.Append(ctx, at, batch); err != nil {
		return Result{}, err
	}
	result.Added, result.Head = append(result.Added, entries...), batch.Head
	return result, nil
}

// leaveOut takes from the draft what the ledger holds already and returns those entries. Two drafts with one key are
// refused here, since neither is in the ledger yet and both would be written (LDG-205).
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

// lookBack is how many of the newest entries Find reads where no pull request says where to look. It is bounded so that
// an append costs the same at any size of the ledger.
const lookBack = 100

// Find returns the entry with the idempotency key, nil if the ledger has none: among the entries of the pull request,
// or, for a sign-off outside a forge, among the newest hundred. A file that cannot be parsed is an error. Passing over
// it could write the sign-off a second time.
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

// entryOf reads an entry and hashes its bytes. The hash is never taken from a path or from whoever sent it.
func entryOf(b []byte) (*Entry, error) {
	r, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return &Entry{Hash: canonical.SHA256Hex(b), Bytes: b, Receipt: r}, nil
}

// findBack follows parent_hash from the tip, since no directory lists what was signed outside a forge.
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

// Lookup returns the entry with the hash, nil if the ledger has none. The bytes are hashed: a path is only a name, and
// whoever can push chooses it.
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
