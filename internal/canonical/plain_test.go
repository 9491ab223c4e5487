package canonical

import (
	"strings"
	"testing"
)

// Every byte at every place of texts of every length up to three words, beside bytes at the edges of each rule, against
// the rule one byte at a time.
func TestIsPlain(t *testing.T) {
	for _, beside := range []string{" ", "!", "#", "[", "]", "~", "a"} {
		for length := range 25 {
			for at := range length {
				for c := range 256 {
					s := strings.Repeat(beside, at) + string([]byte{byte(c)}) + strings.Repeat(beside, length-at-1)
					want := c >= 0x20 && c < 0x7F && c != '"' && c != '\\'
					if got := isPlain(s); got != want {
						t.Fatalf("%d bytes of %q, %#x at %d: %v", length, beside, c, at, got)
					}
				}
			}
		}
	}
	if !isPlain("") || isPlain(strings.Repeat("\"", 8)) || isPlain(strings.Repeat("\x00\xFF", 4)) {
		t.Error("nothing, or eight bytes that all break the rule")
	}
}
