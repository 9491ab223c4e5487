package gitstore

import (
	"regexp"
	"testing"
)

// TestLayout holds the check in code to the layout of receipts.md ("The branch") as a pattern, on every directory that
// a ledger has and on everything that is one edit away.
func TestLayout(t *testing.T) {
	want := regexp.MustCompile(
		`\A(receipts(/[0-9]{3}(/[0-9]{2}){0,2})?|pr(/[0-9]{4}(/[0-9]{2}){0,2})?|hash(/[0-9a-f]{2}){0,` +
			`2}|sheets(/[0-9a-f]{2})?)\z`)
	agree := func(s string) {
		if got := isLayoutPath(s); got != want.MatchString(s) {
			t.Errorf("%q is %v in code", s, got)
		}
	}
	for _, s := range []string{"", "receipts", "receipts/000", "receipts/000/99", "receipts/000/99/01",
		"receipts/000/999", "pr", "pr/0100", "pr/0100/00", "pr/0100/00/99", "pr/001", "pr/001/00099", "hash", "hash/ab",
		"hash/09/ff", "sheets", "sheets/ab", "sheets/ab/cd", "receipts/000/00/00/00", "hash/ab/cd/ef",
		"pr/0001/00/99/1"} {
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
