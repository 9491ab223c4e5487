// Package nearest finds the known word that was probably meant, for refusals: "unknown key %q; did you mean %q?".
package nearest

import (
	"strings"
	"unicode/utf8"
)

// The bounds of a search: a submission full of long or wrong names must cost no time.
const (
	longest = 64  // code points of a word
	most    = 512 // known words
)

// Word returns the known word closest to word (Damerau–Levenshtein, case folded), or "" when none is near enough to be
// what was meant: at most a third of the longer word may differ, and at least one edit is always allowed. The first of
// equals wins, so callers give a fixed order.
func Word(word string, known []string) string {
	if utf8.RuneCountInString(word) > longest || len(known) > most {
		return ""
	}
	best, fewest := "", 1<<30
	folded := []rune(strings.ToLower(word))
	for _, k := range known {
		if utf8.RuneCountInString(k) > longest {
			continue
		}
		other := []rune(strings.ToLower(k))
		limit := max(1, max(len(folded), len(other))/3)
		if d := editDistance(folded, other); d <= limit && d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of neighbours.
func editDistance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range a {
		row[0] = i + 1
		for j, y := range b {
			change := last[j]
			if x != y {
				change++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, change)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
