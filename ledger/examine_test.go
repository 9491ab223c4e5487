package ledger

import (
	"context"
	"iter"
	"testing"
	"time"
)

// TestExamineEndsWhenCancelled: a portion that was dealt to the order, and after the cancellation to no worker, was
// waited for without end.
func TestExamineEndsWhenCancelled(t *testing.T) {
	entries := make([]named, 64*perPortion)
	for round := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		blobs := iter.Seq2[[]byte, error](func(yield func([]byte, error) bool) {
			for i := range entries {
				if i == perPortion*(round%32) {
					cancel()
				}
				if !yield([]byte("{}"), nil) {
					return
				}
			}
		})
		done := make(chan int, 1)
		go func() {
			n := 0
			for range examineBlobs(ctx, blobs, entries, func([]byte) {}) {
				n++
			}
			done <- n
		}()
		select {
		case n := <-done:
			if n != len(entries) {
				t.Fatalf("round %d: %d of %d entries have a result", round, n, len(entries))
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("round %d: the examination does not end", round)
		}
		cancel()
	}
}
