package ledger

import (
	"regexp"
	"strings"
	"testing"
)

// TestFormsArePatterns holds the checks in code to the patterns that the published schemas give, on good texts and on
// everything that is one edit away from them.
func TestFormsArePatterns(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	seeds := map[string][]string{
		"hash":       {sha + "89abcdef0123456789abcdef", ""},
		"git":        {sha, sha + "89abcdef0123456789abcdef"},
		"receipt_id": {"DCR-000012-0a1b2c3d", "DCR-999999999-ffffffff", "DCR-99999-ffffffff", ""},
		"decimal": {
			"0", "-0", "1.50", "-12e+3", "9E5", "0.1e-999", strings.Repeat("9", 40), strings.Repeat("9", 41),
			"1." + strings.Repeat("0", 40), "-1." + strings.Repeat("7", 41), "1" + strings.Repeat("0", 39) + "." +
				strings.Repeat("3", 40) + "e-123",
		},
	}
	for name, texts := range seeds {
		want := regexp.MustCompile(patterns[name])
		agree := func(s string) {
			if got := forms[name].Check([]byte(s)); got != want.MatchString(s) {
				t.Errorf("%s: %q is %v in code", name, s, got)
			}
		}
		for _, s := range texts {
			agree(s)
			for i := range len(s) + 1 {
				for _, c := range "0159afgAFzDCR-+.eE \n\x00é" {
					agree(s[:i] + string(c) + s[i:])
					if i < len(s) {
						agree(s[:i] + string(c) + s[i+1:])
						agree(s[:i] + s[i+1:])
					}
				}
			}
		}
	}
}

func TestPadded(t *testing.T) {
	for n, want := range map[int64]string{0: "000", 7: "007", 12: "012", 999: "999", 1000: "1000"} {
		if got := zeroPadded(n, 3); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
