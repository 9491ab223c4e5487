package doctor

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/gate/config"
)

// ownerFiles are where GitHub looks for owners; the first that is there counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// ownerRule is one line of CODEOWNERS: the last that matches a path names its owners, who may be nobody.
type ownerRule struct {
	match *regexp.Regexp
	owned bool
}

// parseOwners reads CODEOWNERS. Lines that GitHub does not understand are left out, as GitHub leaves them out.
func parseOwners(src string) []ownerRule {
	var rules []ownerRule
	for line := range strings.Lines(src) {
		if i := strings.Index(line, "#"); i >= 0 && (i == 0 || line[i-1] != '\\') {
			line = line[:i]
		}
		words := strings.Fields(strings.ReplaceAll(line, `\ `, "\x00"))
		if len(words) == 0 || strings.ContainsAny(words[0], "![]") {
			continue
		}
		owners := words[1:]
		if slices.ContainsFunc(owners, func(o string) bool { return !strings.Contains(o, "@") }) {
			continue
		}
		rules = append(rules, ownerRule{ownerPattern(strings.ReplaceAll(words[0], "\x00", " ")), len(owners) > 0})
	}
	return rules
}

// ownerPattern turns a pattern into a regular expression: as in gitignore, a slash that is not the last anchors it, and
// what matches a folder matches all below it, unless it ends in /*.
func ownerPattern(pattern string) *regexp.Regexp {
	trimmed := strings.TrimSuffix(pattern, "/")
	folder := trimmed != pattern
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(trimmed, "/") {
		b.WriteString("(?:.*/)?")
	}
	trimmed = strings.TrimPrefix(trimmed, "/")
	for rest := strings.ToValidUTF8(trimmed, "\ufffd"); rest != ""; {
		n := 1
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			n = 3
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			n = 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		default:
			if rest[0] == '\\' && len(rest) > 1 {
				rest = rest[1:]
			}
			_, n = utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:n]))
		}
		rest = rest[n:]
	}
	switch {
	case folder:
		b.WriteString("/.*$")
	case strings.HasSuffix(trimmed, "/*"):
		b.WriteString("$")
	default:
		b.WriteString("(?:/.*)?$")
	}
	return regexp.MustCompile(b.String())
}

// ownerOfPath reports whether a path has an owner.
func ownerOfPath(rules []ownerRule, name string) bool {
	for _, r := range slices.Backward(rules) {
		if r.match.MatchString(name) {
			return r.owned
		}
	}
	return false
}

// guarded are the paths that decide what passes: those that are there, and those that somebody might add.
func (p *checkup) guarded() []string {
	return []string{
		".github/workflows/referee.yml",
		".github/workflows/new.yml",
		config.Path,
		".github/CODEOWNERS",
		p.config.Sheets + "/new.json",
	}
}

func (p *checkup) filesOwned() doctorFinding {
	i := slices.IndexFunc(ownerFiles, func(name string) bool { return p.Files[name] != nil })
	if i < 0 {
		return problemf("CODEOWNERS is missing")
	}
	rules := parseOwners(string(p.Files[ownerFiles[i]]))
	var bare []string
	for _, name := range p.guarded() {
		if !ownerOfPath(rules, name) {
			bare = append(bare, name)
		}
	}
	if len(bare) > 0 {
		return problemf("%s lists no owner for %s", ownerFiles[i], strings.Join(bare, ", "))
	}
	return p.madeByEither(
		p.rules.owners,
		finef("the workflows, the configuration and the sheets have owners, whose review is required"),
		problemf(
			"the workflows, the configuration and the sheets have owners, whose review is not required",
		),
		FromRules,
		FromProtection,
	)
}
