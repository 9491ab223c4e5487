package schema

import (
	"regexp"
	"testing"
)

// TestPlainName holds the check to its pattern, for every byte at the beginning, within and at the end of a name.
func TestPlainName(t *testing.T) {
	want := regexp.MustCompile(`^[A-Za-z0-9_ ./()-]+$`)
	for c := range 256 {
		for _, s := range []string{"", string([]byte{byte(c)}), string([]byte{'a', byte(c)}),
			string([]byte{byte(c), '9'}), string(rune(c))} {
			if got := plainName(s); got != want.MatchString(s) {
				t.Errorf("%q is %v in code", s, got)
			}
		}
	}
}
