package legible

import (
	"bytes"
	"slices"
	"testing"
)

// Every byte at every place of texts of every length up to three words, beside bytes that carry or do not, against the
// rule one byte at a time.
func TestASCII(t *testing.T) {
	for _, beside := range []byte{0, ' ', 'a', 0x7E} {
		for length := range 25 {
			for at := range length {
				for c := range 256 {
					b := bytes.Repeat([]byte{beside}, length)
					b[at] = byte(c)
					want := !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x7F })
					if got := ASCII(b); got != want {
						t.Fatalf("%d bytes of %#x, %#x at %d: %v", length, beside, c, at, got)
					}
				}
			}
		}
	}
	if !ASCII(nil) {
		t.Error("nothing is not ASCII")
	}
}
