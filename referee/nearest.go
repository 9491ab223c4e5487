package referee

import "strings"

// Nearest returns the known word closest to word (Damerau–Levenshtein, case folded), or "" when none is near enough to be what was
// meant: at most a third of the longer word may differ, and at least one edit is always allowed.
func Nearest(word string, known []string) string {
	best, bestDistance := "", 1<<30
	for _, k := range known {
		d := editDistance([]rune(strings.ToLower(word)), []rune(strings.ToLower(k)))
		limit := max(1, max(len(word), len(k))/3)
		if d <= limit && d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of neighbours.
func editDistance(a, b []rune) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, prev, cur := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
