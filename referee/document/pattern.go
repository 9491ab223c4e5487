package document

import (
	"regexp"
	"sync"
)

// lazyRegexp compiles an expression when it is first needed: most audits read no agreement, and a start compiles
// nothing.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
