package referee

import (
	"regexp"
	"testing"
)

// TestNamesArePatterns holds the checks in code to the patterns that the format states, on good names and on everything
// that is one edit away from them.
func TestNamesArePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		check   func(string) bool
		seeds   []string
	}{
		{`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`, isSlug, []string{"", "a", "cre-multifamily-agency", "fly-s1-next-second",
			"x9-0"}},
		{`^[A-Za-z_][A-Za-z0-9_]*$`, isIdentifier, []string{"", "_", "noi", "occ_90d", "A1"}},
	} {
		want := regexp.MustCompile(c.pattern)
		agree := func(s string) {
			if got := c.check(s); got != want.MatchString(s) {
				t.Errorf("%s: %q is %v in code", c.pattern, s, got)
			}
		}
		for _, s := range c.seeds {
			agree(s)
			for i := range len(s) + 1 {
				for _, edit := range "az09AZ_-.@[`{/: \n\x00éK" {
					agree(s[:i] + string(edit) + s[i:])
					if i < len(s) {
						agree(s[:i] + string(edit) + s[i+1:])
						agree(s[:i] + s[i+1:])
					}
				}
			}
		}
	}
}
