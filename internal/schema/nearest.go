package schema

import (
	"maps"
	"slices"
	"strings"
)

// nearest is the keyword that was probably meant, "" if none is near.
func nearest(word string) string {
	return nearestOf(word, slices.Sorted(maps.Keys(keywords)))
}

// nearestOf is the known name with the fewest differing letters, at most a third of the word's: the first in order among equals, ""
// if none is near.
func nearestOf(word string, known []string) string {
	best, fewest := "", len(word)/3+1
	for _, k := range known {
		if abs(len(k)-len(word)) >= fewest || len(word) > shown {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// distance counts the insertions, deletions and substitutions of bytes (Levenshtein) from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substituted := diagonal
			if a[i-1] != b[j-1] {
				substituted++
			}
			diagonal = row[j]
			row[j] = min(substituted, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
