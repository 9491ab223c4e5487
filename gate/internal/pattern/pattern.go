// Package pattern holds regular expressions that are compiled when they are first asked.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first asked. The gate has some thirty of them, a run asks
// a few, and an audit on the command line none: compiled where they are declared they were a tenth of every start of
// the program.
type Pattern struct{ compiled func() *regexp.Regexp }

// New is regexp.MustCompile, later. TestPatterns compiles them all.
func New(src string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })}
}

// MatchString reports whether s holds a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindStringSubmatch is the first match in s and its groups, nil where there is none.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindAllStringSubmatch is the first n matches in s with their groups; n below 0 is all.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is s with each match replaced.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// FindString is regexp.Regexp's.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }
