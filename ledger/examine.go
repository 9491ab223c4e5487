package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/defendableos/referee/internal/canonical"
	"golang.org/x/mod/sumdb/tlog"
)

// checked is what one entry's bytes say by themselves: all that needs no neighbour, so that it can be found in
// parallel.
type checked struct {
	leaf    tlog.Hash
	receipt *Receipt // without its long members; nil if it could not be read
	code    Code     // of the first problem
	err     error
}

// portion is some consecutive blobs, examined by one worker. done is closed when out is complete.
type portion struct {
	first int
	blobs [][]byte
	err   error // that ended the reading after them
	out   []checked
	done  chan struct{}
}

// perPortion is how many entries a worker takes at once. One at a time would cost a channel operation and a wake-up for
// each few kilobytes.
const perPortion = 32

// examineBlobs checks the blobs, which come in the order of entries, on all processors, and returns the results in that
// order, so that the chain can be followed and the same tree has the same problems in the same order
// (TestVerifyIsStable). drop is called with the bytes of each when it has been looked at. Where the reading ends early,
// every entry left is unreadable: what was not read was not verified (LDG-113). The two channels bound what is read
// ahead, and with it the memory, whatever the size of the ledger.
func examineBlobs(
	ctx context.Context, blobs iter.Seq2[[]byte, error], entries []named, drop func([]byte),
) iter.Seq2[int, checked] {
	return func(yield func(int, checked) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		workers := runtime.GOMAXPROCS(0)
		todo, order := make(chan *portion, 2*workers), make(chan *portion, 4*workers)
		for range workers {
			go examinePortions(todo, entries, drop)
		}
		go dealPortions(ctx, blobs, todo, order)
		// A tree that ends without an error but early is one as well: "fewer files" must not pass for "all files".
		next, last := 0, errors.New("the tree gave fewer files than it has")
		for p := range order {
			// A portion that was dealt to the order, and after a cancellation to no worker, is never done.
			if !isDone(ctx, p) {
				last = ctx.Err()
				break
			}
			for i, c := range p.out {
				next = p.first + i + 1
				if !yield(p.first+i, c) {
					return
				}
			}
			if p.err != nil {
				last = p.err
			}
		}
		for ; next < len(entries); next++ {
			if !yield(next, checked{code: CodeUnreadable, err: last}) {
				return
			}
		}
	}
}

// isDone waits for a portion; false where the context ends first.
func isDone(ctx context.Context, p *portion) bool {
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// examinePortions is one worker. It lets go of the bytes as soon as they were looked at, because a portion may wait
// long for its turn in the order of the results.
func examinePortions(todo <-chan *portion, entries []named, drop func([]byte)) {
	for p := range todo {
		p.out = make([]checked, len(p.blobs))
		for i, b := range p.blobs {
			p.out[i] = examineOne(b, entries[p.first+i])
			drop(b)
		}
		p.blobs = nil
		close(p.done)
	}
}

// dealPortions reads the blobs and hands them out, each portion to a worker and to the order of the results. The order
// comes first: the results must be waited for in the order in which the portions were read.
func dealPortions(ctx context.Context, blobs iter.Seq2[[]byte, error], todo, order chan<- *portion) {
	defer close(order)
	defer close(todo)
	p := &portion{done: make(chan struct{})}
	hand := func() bool {
		next := &portion{first: p.first + len(p.blobs), done: make(chan struct{})}
		for _, to := range []chan<- *portion{order, todo} {
			select {
			case to <- p:
			case <-ctx.Done():
				return false
			}
		}
		p = next
		return true
	}
	for b, err := range blobs {
		if err != nil {
			p.err = err
			break
		}
		if p.blobs = append(p.blobs, b); len(p.blobs) == perPortion && !hand() {
			return
		}
	}
	hand()
}

// examineOne looks at one entry's bytes: size, name, form, and the rules of a receipt. The first problem is the only
// one said, and the name comes before the form: bytes that are not the ones named prove nothing, whatever they look
// like. The leaf is hashed in any case, because the tree covers the bytes that are there.
func examineOne(b []byte, e named) checked {
	c := checked{leaf: LeafHash(b)}
	fail := func(code Code, err error) checked {
		c.code, c.err = code, err
		return c
	}
	if len(b) > canonical.Receipt.MaxBytes {
		return fail(CodeSize, fmt.Errorf("%d bytes", len(b)))
	}
	sum := canonical.SHA256Hex(b)
	r, err := scanReceipt(b)
	c.receipt = r
	var bad *canonical.Error
	var refused *Refusal
	switch {
	case sum != e.hash:
		return fail(CodeName, fmt.Errorf("the SHA-256 of the file is %s", sum))
	// A shape that is wrong (an unknown member, a bad form) is a receipt that could not have been minted; every other
	// rule of the profile is about two texts for one value.
	case errors.As(err, &bad) && bad.Rule != canonical.RuleShape:
		return fail(CodeNotCanonical, err)
	case errors.As(err, &refused) && refused.Code == RefuseSchema:
		return fail(CodeUnknownSchema, err)
	case err != nil:
		return fail(CodeInvalid, err)
	case r.Seq != e.seq:
		return fail(CodeMisplaced, fmt.Errorf("the receipt says seq %d", r.Seq))
	}
	return c
}
