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

// batch is what a reader hands over at once; err ended it.
type batch struct {
	objects []gitobject.Object
	bytes   int
	err     error
}

// bodies implements bulk.
func (g *gitBinary) bodies(ctx context.Context, ids []string) iter.Seq2[gitobject.Object, error] {
	return func(yield func(gitobject.Object, error) bool) {
		if len(ids) >= readers*stretch {
			g.readAbreast(ctx, ids, yield)
			return
		}
		if err := g.eachOf(ctx, ids, func(o gitobject.Object) bool { return yield(o, nil) }); err != nil {
			yield(gitobject.Object{}, err)
		}
	}
}

// sizes implements bulk. Of a long list each reader takes one half: there is nothing to keep in order but numbers.
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

// eachSize returns the sizes as one git process finds them, until use says no.
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

// eachOf returns the objects as one git process reads them, until use says no.
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

// readAbreast returns the objects in the order of ids while the readers go ahead. None is left running.
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
		n := i / stretch % readers
		if len(held[n].objects) == 0 {
			held[n] = <-read[n]
		}
		if len(held[n].objects) == 0 {
			yield(gitobject.Object{}, cmp.Or(held[n].err, ctx.Err(), io.ErrUnexpectedEOF))
			return
		}
		o := held[n].objects[0]
		held[n].objects = held[n].objects[1:]
		if !yield(o, nil) {
			return
		}
	}
	for n := range read { // a git that gave everything may still have ended badly
		if last := <-read[n]; last.err != nil {
			yield(gitobject.Object{}, last.err)
			return
		}
	}
}

// readerShare is the stretches of the list that fall to reader n.
func readerShare(ids []string, n int) (own []string) {
	for i := n * stretch; i < len(ids); i += readers * stretch {
		own = append(own, ids[i:min(i+stretch, len(ids))]...)
	}
	return own
}

// readAhead reads its ids and hands them over in batches; the last one says how it ended, so there is always one.
func (g *gitBinary) readAhead(ctx context.Context, ids []string, to chan<- batch) {
	defer close(to)
	var b batch
	hand := func() bool {
		select {
		case to <- b:
			b = batch{}
			return true
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
// of the same few kilobytes. The zero value is ready.
type spare struct {
	mu   sync.Mutex
	free [][]byte
}

// What spare holds at most, and the room that a small buffer has, so that it serves a larger object later.
const (
	maxSpare  = 512
	spareRoom = 12 << 10
)

// takeBuffer returns a buffer of so many bytes, whose content is anything.
func (s *spare) takeBuffer(size int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 && int64(cap(s.free[last])) >= size {
		b := s.free[last]
		s.free = s.free[:last]
		return b[:size]
	}
	return make([]byte, size, max(size, spareRoom))
}

// giveBuffer takes a buffer back. A large one is left to the garbage collection.
func (s *spare) giveBuffer(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) >= spareRoom && cap(b) <= 4*spareRoom && len(s.free) < maxSpare {
		s.free = append(s.free, b)
	}
}
