package main

import (
	"context"
	"sync"
)

// runOrdered runs work on the items that produce emits, n at a time, and hands the results to consume in the order of
// the items: no goroutine's speed reaches a result. At most a few items for each worker are under way, so that memory
// does not grow with the number of items. It ends early when the context ends or consume returns an error; emit then
// returns false.
func runOrdered[T, R any](ctx context.Context, n int, produce func(emit func(T) bool) error, work func(T) R,
	consume func(R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type slot struct {
		item T
		done chan R
	}
	queue, order := make(chan *slot, 2*n), make(chan *slot, 4*n)
	var produced error
	go func() {
		defer close(order)
		defer close(queue)
		produced = produce(func(item T) bool {
			s := &slot{item, make(chan R, 1)}
			return sendOrStop(ctx, order, s) && sendOrStop(ctx, queue, s)
		})
	}()
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for s := range queue {
				if ctx.Err() == nil {
					s.done <- work(s.item)
				}
			}
		})
	}
	for {
		s, ok := receiveOrStop(ctx, order)
		if !ok {
			break
		}
		r, ok := receiveOrStop(ctx, s.done)
		if !ok {
			break
		}
		if err := consume(r); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err // the producer may wait for input that never comes: it is not waited for
	}
	workers.Wait()
	return produced
}

// sendOrStop and receive give up when the context ends.
func sendOrStop[T any](ctx context.Context, c chan<- T, v T) bool {
	select {
	case c <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

func receiveOrStop[T any](ctx context.Context, c <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-c:
		return v, ok
	case <-ctx.Done():
		return v, false
	}
}
