package nearest

import (
	"strings"
	"testing"
)

// The distances are counted by hand: one swap, one letter changed, one dropped, one added; three of nine letters are
// the most that pass.
func TestWord(t *testing.T) {
	known := []string{"range", "recompute", "required", "expr"}
	for word, want := range map[string]string{
		"range": "range", "ragne": "range", "rnage": "range", "rang": "range", "RANGE": "range", "ranges": "range",
		"recomptue": "recompute", "reconpoote": "recompute", "exp": "expr", "": "", "zzz": "", "quired": "required",
		strings.Repeat("r", 65): "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("Word(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Word("a", make([]string, most+1)); got != "" {
		t.Errorf("too many known words give %q", got)
	}
}

func FuzzWord(f *testing.F) {
	f.Add("ragne", "range")
	f.Fuzz(func(t *testing.T, word, known string) {
		if got := Word(word, []string{known}); got != "" && got != known {
			t.Errorf("%q is not a known word", got)
		}
	})
}
