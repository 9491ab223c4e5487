package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// root is the folder that a pattern's fixed part names.
func root(pattern string) string {
	dir := path.Dir(pattern)
	if i := strings.IndexAny(dir, "*?["); i >= 0 {
		dir = path.Dir(dir[:i] + "x")
	}
	return dir
}

func roots(cfg *Config) []string {
	var out []string
	for _, r := range cfg.Runs {
		if dir := root(r.Path); dir != "." && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// glob turns a pattern into a regular expression: ** is any number of folders, * any part of a name.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(?:[^/]+/)*")
			i += 2
		case pattern[i] == '*':
			b.WriteString("[^/]*")
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return regexp.MustCompile(b.String() + "$")
}
