package gitstore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// A long list of objects is read by two git processes, as one spends its time inflating on one processor. They take
// stretches of the list by turns: neighbours lie in one pack as differences from each other, so each stretch stays whole.
const (
	lanes   = 2
	stretch = 512
)

// What a lane may read ahead: so many batches, each of so many objects or bytes.
const (
	batchesAhead = 4
	batchObjects = 64
	batchBytes   = 1 << 20
)

// batch is what a lane hands over at once; err ended the lane.
type batch struct {
	objects []gitobject.Object
	bytes   int
	err     error
}

// bodies is bulk's.
func (g *gitBinary) bodies(ctx context.Context, ids []string) iter.Seq2[gitobject.Object, error] {
	return func(yield func(gitobject.Object, error) bool) {
		if len(ids) >= lanes*stretch {
			g.abreast(ctx, ids, yield)
			return
		}
		if err := g.each(ctx, ids, func(o gitobject.Object) bool { return yield(o, nil) }); err != nil {
			yield(gitobject.Object{}, err)
		}
	}
}

// each gives the objects as one git process reads them, until use says no.
func (g *gitBinary) each(ctx context.Context, ids []string, use func(gitobject.Object) bool) error {
	if len(ids) == 0 {
		return nil
	}
	return g.stream(ctx, ids, []string{"cat-file", "--batch=%(objecttype) %(objectsize)", "--buffer"}, func(r *bufio.Reader) error {
		for _, id := range ids {
			o, err := g.body(r, id)
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

// errEarly says that a lane ended before its share did, which each does not do without an error of its own.
var errEarly = errors.New("git cat-file gave fewer objects than it was asked for")

// abreast gives the objects in the order of ids while the lanes read ahead. No lane is left running.
func (g *gitBinary) abreast(ctx context.Context, ids []string, yield func(gitobject.Object, error) bool) {
	inner, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	var read [lanes]chan batch
	var held [lanes]batch
	for n := range read {
		read[n] = make(chan batch, batchesAhead)
		running.Go(func() { g.lane(inner, share(ids, n), read[n]) })
	}
	for i := range ids {
		n := i / stretch % lanes
		if len(held[n].objects) == 0 {
			held[n] = <-read[n]
		}
		if len(held[n].objects) == 0 {
			yield(gitobject.Object{}, cmp.Or(held[n].err, ctx.Err(), errEarly))
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

// share is the stretches of the list that fall to lane n.
func share(ids []string, n int) (own []string) {
	for i := n * stretch; i < len(ids); i += lanes * stretch {
		own = append(own, ids[i:min(i+stretch, len(ids))]...)
	}
	return own
}

// lane reads its ids and hands them over in batches; the last one says how it ended, so there is always one.
func (g *gitBinary) lane(ctx context.Context, ids []string, to chan<- batch) {
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
	err := g.each(ctx, ids, func(o gitobject.Object) bool {
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

// take gives a buffer of so many bytes, whose content is anything.
func (s *spare) take(size int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 && int64(cap(s.free[last])) >= size {
		b := s.free[last]
		s.free = s.free[:last]
		return b[:size]
	}
	return make([]byte, size, max(size, spareRoom))
}

// give takes a buffer back. A large one is left to the garbage collection.
func (s *spare) give(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) >= spareRoom && cap(b) <= 4*spareRoom && len(s.free) < maxSpare {
		s.free = append(s.free, b)
	}
}
