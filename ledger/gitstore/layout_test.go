package gitstore

import (
	"regexp"
	"testing"
)

// TestLayout holds the check in code to the layout of receipts.md ("The branch") as a pattern, on every directory that a ledger
// has and on everything that is one edit away.
func TestLayout(t *testing.T) {
	want := regexp.MustCompile(`\A(receipts(/[0-9]{3}){0,2}|pr(/[0-9]{3}(/[0-9]{5})?)?|hash(/[0-9a-f]{2}){0,2}|sheets)\z`)
	agree := func(s string) {
		if got := layout(s); got != want.MatchString(s) {
			t.Errorf("%q is %v in code", s, got)
		}
	}
	for _, s := range []string{"", "receipts", "receipts/000", "receipts/000/999", "pr", "pr/001", "pr/001/00099", "hash", "hash/ab", "hash/09/ff", "sheets", "sheets/ab", "receipts/000/000/000", "hash/ab/cd/ef", "pr/001/00099/1"} {
		agree(s)
		for i := range len(s) + 1 {
			for _, c := range "/0159:afgAF`\n." {
				agree(s[:i] + string(c) + s[i:])
				if i < len(s) {
					agree(s[:i] + string(c) + s[i+1:])
					agree(s[:i] + s[i+1:])
				}
			}
		}
	}
}
