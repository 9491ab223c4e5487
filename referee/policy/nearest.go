package policy

import "strings"

// nearest is the known name with the smallest Damerau–Levenshtein distance (adjacent swaps count as one) to a word, if that is at
// most a third of the longer one (never less than one edit allowed); "" otherwise. The first of equals wins, so callers give a
// fixed order.
func nearest(word string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		limit := max(1, max(len(word), len(k))/3)
		if d := distance([]rune(strings.ToLower(word)), []rune(strings.ToLower(k))); d <= limit && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

func distance(a, b []rune) int {
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
