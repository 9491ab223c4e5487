package gate

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked. The gate has some thirty of them, a run asks a few, and an audit
// on the command line none: compiled where they are declared they were a tenth of every start of the program.
type pattern struct{ compiled func() *regexp.Regexp }

// newPattern is regexp.MustCompile, later. TestPatterns compiles them all.
func newPattern(src string) *pattern {
	return &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })}
}

// MatchString reports whether s holds a match.
func (p *pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindStringSubmatch is the first match in s and its groups, nil where there is none.
func (p *pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindAllStringSubmatch is the first n matches in s with their groups; n below 0 is all.
func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is s with each match replaced.
func (p *pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// FindString is regexp.Regexp's.
func (p *pattern) FindString(s string) string { return p.compiled().FindString(s) }
