package comment

import (
	"bytes"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// The bounds of a diff that is made here: GitHub shows no larger file's, and the work grows with the square of the
// lines that differ.
const (
	maxDiffBytes = 1 << 20
	maxDiffLines = 20_000 // of a file
	maxDiffering = 6_000  // of both sides, between what they begin and end with alike
	diffContext  = 3      // lines that GitHub shows around a change
)

// DiffLines lists the lines of the new side that GitHub shows in a diff: those that were added or changed, and three
// lines around each change. A comment on another line is refused there. Nil where the diff is too large to be made, or
// there is no change. The lines are aligned by the same algorithm as git's (Myers), without its heuristics: where a
// change can be shown in two ways, the two may differ by a line.
func DiffLines(before, after []byte) map[int]bool {
	if len(before) > maxDiffBytes || len(after) > maxDiffBytes {
		return nil
	}
	old, now := numberLines(before, after)
	if len(old) > maxDiffLines || len(now) > maxDiffLines || countDiffering(old, now) > maxDiffering {
		return nil
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // no clock decides what is shown; maxDiffering bounds the work
	shown := map[int]bool{}
	line := 1
	for _, part := range d.DiffMainRunes(old, now, false) {
		n := utf8.RuneCountInString(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffInsert:
			markShown(shown, line-diffContext, line+n+diffContext, len(now))
			line += n
		case diffmatchpatch.DiffDelete:
			markShown(shown, line-diffContext, line+diffContext, len(now))
		case diffmatchpatch.DiffEqual:
			line += n
		}
	}
	return shown
}

// markShown marks the lines from first up to, not including, end.
func markShown(shown map[int]bool, first, end, lines int) {
	for n := max(first, 1); n < end && n <= lines; n++ {
		shown[n] = true
	}
}

// numberLines gives each different line a character of its own. There are at most 2·maxDiffLines of them where it
// matters, below the first number that is no character (U+D800).
func numberLines(before, after []byte) (old, now []rune) {
	known := map[string]rune{}
	side := func(b []byte) []rune {
		var out []rune
		for line := range bytes.Lines(b) {
			n, ok := known[string(line)]
			if !ok {
				n = rune(len(known) + 1)
				known[string(line)] = n
			}
			out = append(out, n)
		}
		return out
	}
	return side(before), side(after)
}

// countDiffering is how many lines of both sides lie between what they begin and end with alike; none where one side
// has nothing there, as then there is nothing to align.
func countDiffering(old, now []rune) int {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	if len(old) == 0 || len(now) == 0 {
		return 0
	}
	return len(old) + len(now)
}
