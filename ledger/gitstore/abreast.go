package gitstore

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// A long list of objects is read by two git processes, as one spends its time inflating on one processor. They take
// stretches of the list by turns: neighbours lie in one pack as differences from each other, so each stretch stays
// whole.
const (
	readers = 2
	stretch = 512
)

// What a reader may read ahead: so many batches, each of so many objects or bytes.
const (
	batchesAhead = 4
	batchObjects = 64
	batchBytes   = 1 << 20
)

// batch is what a reader hands over at once; err ended it. One channel operation for each object would take longer than
// reading it.
type batch struct {
	objects []gitobject.Object
	bytes   int
	err     error
}

// bodies implements bulk. A short list has one reader: starting a second process takes longer than it saves.
func (g *gitBinary) bodies(ctx context.Context, ids []string) iter.Seq2[gitobject.Object, error] {
	return func(yield func(gitobject.Object, error) bool) {
		// Below one stretch for each reader, the second would have nothing to do.
		if len(ids) >= readers*stretch {
			g.readAbreast(ctx, ids, yield)
			return
		}
		if err := g.eachOf(ctx, ids, func(o gitobject.Object) bool { return yield(o, nil) }); err != nil {
			yield(gitobject.Object{}, err)
		}
	}
}

// sizes implements bulk. Of a long list each reader takes one half and is waited for: numbers are small, so there is no
// memory to bound and no order to keep while they run.
func (g *gitBinary) sizes(ctx context.Context, ids []string) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		if len(ids) < readers*stretch {
			if err := g.eachSize(ctx, ids, func(size int64) bool { return yield(size, nil) }); err != nil {
				yield(0, err)
			}
			return
		}
		var running sync.WaitGroup
		var found [readers][]int64
		var failed [readers]error
		for n := range readers {
			running.Go(func() {
				// The two halves join without a gap, also where the length is odd.
				half := ids[n*len(ids)/readers : (n+1)*len(ids)/readers]
				failed[n] = g.eachSize(ctx, half, func(size int64) bool {
					found[n] = append(found[n], size)
					return true
				})
			})
		}
		running.Wait()
		for n := range readers {
			for _, size := range found[n] {
				if !yield(size, nil) {
					return
				}
			}
			if failed[n] != nil {
				yield(0, failed[n])
				return
			}
		}
	}
}

// eachSize passes the sizes to use as one git process finds them, until use says no. --buffer lets git collect its
// answers and not write after each, which is right here because all questions are known at the start.
func (g *gitBinary) eachSize(ctx context.Context, ids []string, use func(int64) bool) error {
	if len(ids) == 0 {
		return nil
	}
	return g.streamGit(ctx, ids, []string{"cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer"},
		func(r *bufio.Reader) error {
			for range ids {
				_, size, err := readHeader(r)
				if err != nil {
					return err
				}
				if !use(size) {
					return errStop
				}
			}
			return nil
		})
}

// eachOf passes the objects to use as one git process reads them, until use says no.
func (g *gitBinary) eachOf(ctx context.Context, ids []string, use func(gitobject.Object) bool) error {
	if len(ids) == 0 {
		return nil
	}
	return g.streamGit(ctx, ids, []string{"cat-file", "--batch=%(objecttype) %(objectsize)", "--buffer"},
		func(r *bufio.Reader) error {
			for _, id := range ids {
				o, err := g.readBody(r, id)
				if err != nil {
					return err
				}
				if !use(o) {
					return errStop
				}
			}
			return nil
		})
}

// readAbreast passes on the objects in the order of ids while the readers go ahead. Deferred calls run in reverse: the
// readers are stopped first and then waited for, so that none outlives the call and no process is left.
func (g *gitBinary) readAbreast(ctx context.Context, ids []string, yield func(gitobject.Object, error) bool) {
	inner, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	var read [readers]chan batch
	var held [readers]batch
	for n := range read {
		read[n] = make(chan batch, batchesAhead)
		running.Go(func() { g.readAhead(inner, readerShare(ids, n), read[n]) })
	}
	for i := range ids {
		// The same turns as in readerShare: which reader has the object follows from its place in the list.
		n := i / stretch % readers
		if len(held[n].objects) == 0 {
			held[n] = <-read[n]
		}
		if len(held[n].objects) == 0 {
			// A reader that ended without a word was cancelled, or its git answered fewer objects than it was asked
			// for.
			yield(gitobject.Object{}, cmp.Or(held[n].err, ctx.Err(), io.ErrUnexpectedEOF))
			return
		}
		o := held[n].objects[0]
		held[n].objects = held[n].objects[1:]
		if !yield(o, nil) {
			return
		}
	}
	for n := range read { // a git that sent everything may still have failed
		if last := <-read[n]; last.err != nil {
			yield(gitobject.Object{}, last.err)
			return
		}
	}
}

// readerShare is the stretches of the list that fall to reader n. The same rule in readAbreast says whose turn it is.
func readerShare(ids []string, n int) (own []string) {
	for i := n * stretch; i < len(ids); i += readers * stretch {
		own = append(own, ids[i:min(i+stretch, len(ids))]...)
	}
	return own
}

// readAhead reads its ids and hands them over in batches; the last one says how it ended, so there is always one. A
// reader that is stopped while it hands over just returns: nobody listens any more.
func (g *gitBinary) readAhead(ctx context.Context, ids []string, to chan<- batch) {
	defer close(to)
	var b batch
	hand := func() bool {
		select {
		case to <- b:
			b = batch{}
			return true
		// The consumer has left; without this, a full channel would hold the reader for ever.
		case <-ctx.Done():
			return false
		}
	}
	err := g.eachOf(ctx, ids, func(o gitobject.Object) bool {
		b.objects, b.bytes = append(b.objects, o), b.bytes+len(o.Data)
		return len(b.objects) < batchObjects && b.bytes < batchBytes || hand()
	})
	if len(b.objects) > 0 && !hand() {
		return
	}
	b.err = err
	hand()
}

// spare holds buffers that nobody needs any more, for the next objects: a verification reads one object after another
// of the same few kilobytes. The zero value is ready. It is a stack and not a sync.Pool, because a pool is emptied by
// each collection, and they are what it is meant to save.
type spare struct {
	mu   sync.Mutex
	free [][]byte
}

// What spare holds at most, and the room that a small buffer has, so that it serves a larger object later: receipts
// have 8 to 9 kB (performance.md), and 512 buffers of up to four times the room are 24 MiB.
const (
	maxSpare  = 512
	spareRoom = 12 << 10
)

// takeBuffer returns a buffer of so many bytes. Its content is whatever was in it before, so the caller fills all of
// it.
func (s *spare) takeBuffer(size int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Only the last one is looked at: most objects are of one size, and a search would cost what it saves.
	if last := len(s.free) - 1; last >= 0 && int64(cap(s.free[last])) >= size {
		b := s.free[last]
		s.free = s.free[:last]
		return b[:size]
	}
	return make([]byte, size, max(size, spareRoom))
}

// giveBuffer takes a buffer back. A large one is left to the garbage collection: one hostile file of 64 MiB must not
// stay in memory for the rest of a verification.
func (s *spare) giveBuffer(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) >= spareRoom && cap(b) <= 4*spareRoom && len(s.free) < maxSpare {
		s.free = append(s.free, b)
	}
}
