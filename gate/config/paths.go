package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// PatternRoot is the folder that a pattern's fixed part names.
func PatternRoot(pattern string) string {
	dir := path.Dir(pattern)
	if i := strings.IndexAny(dir, "*?["); i >= 0 {
		dir = path.Dir(dir[:i] + "x")
	}
	return dir
}

// RunRoots are the folders that the patterns of runs name, each once; the root of the tree is none.
func RunRoots(cfg *Config) []string {
	var out []string
	for _, r := range cfg.Runs {
		if dir := PatternRoot(r.Path); dir != "." && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// CompilePattern turns a pattern into a regular expression: ** is any number of folders, * any part of a name.
func CompilePattern(pattern string) *regexp.Regexp {
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
