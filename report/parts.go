package report

import (
	"regexp"
	"strings"
	"sync"

	"github.com/defendableos/referee/referee"
)

// The parts that papers outside of this package are made of: hostile text, cleaned once and in one place.

// Code is a hostile text as a markdown code span of at most limit characters, on one line.
func Code(s string, limit int) string { return codeSpan(s, limit) }

// Cell is Code within a table, where a bar would end the cell.
func Cell(s string, limit int) string { return tableCell(s, limit) }

// tagStart is what begins an element of HTML, or a comment; not the <U+202E> that Clean writes.
var tagStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([A-TV-Za-z/!?]|U[^+])`) })

// Plain is a hostile text for places that show text as it is: titles, annotations. Mentions, tags, comments and a
// workflow command are broken nevertheless, as such texts are copied, mailed, logged and searched for markers; a
// comparison keeps its sign.
func Plain(s string, limit int) string {
	s = CleanStart(tagStart().ReplaceAllString(s, "< $1"), limit)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "-->", "- ->"), "@", "(at)")
	if strings.HasPrefix(strings.TrimLeft(s, " "), "::") {
		s = strings.Replace(s, "::", ": :", 1)
	}
	return s
}

// Fenced is hostile text as a fenced block of markdown, a line each, within a fence that is longer than any run of
// backticks in it.
func Fenced(lines []string) string {
	fence := "```"
	var b strings.Builder
	for _, line := range lines {
		line = Plain(line, maxMessage)
		for strings.Contains(line, fence) {
			fence += "`"
		}
		b.WriteString(line + "\n")
	}
	return fence + "\n" + b.String() + fence + "\n"
}

// File is the path of the file that a finding is about, as the caller would write it: whole, and not cleaned.
func File(r *referee.Report, f *referee.Finding) string { return findingFile(r, f) }

// Text is a finding in words: the run, the rules, what is wrong, and a line for each thing that would be right.
func Text(r *referee.Report, f *referee.Finding) string { return annotationText(r, f) }

// Fixes are what would be right, a line each, none where the finding says nothing of it.
func Fixes(f *referee.Finding) []string { return fixLines(f) }

// FindingCommand is a finding as a workflow command without its line break; a low one is a notice.
func FindingCommand(r *referee.Report, f *referee.Finding) string {
	for _, l := range levels {
		if l.tier == f.Tier {
			return strings.TrimSuffix(commandLine(l.command, annotationPlace(r, f), annotationText(r, f)), "\n")
		}
	}
	// an unknown tier is not made lighter
	return strings.TrimSuffix(commandLine(levels[0].command, annotationPlace(r, f), annotationText(r, f)), "\n")
}

// Command is a workflow command about a file, without its line break: kind is error, warning or notice, file may be "".
func Command(kind, file, title, message string) string {
	properties := []property{{"title", title}}
	if file != "" {
		properties = append([]property{{"file", file}}, properties...)
	}
	return strings.TrimSuffix(commandLine(kind, properties, CleanStart(message, maxMessage)), "\n")
}

// hunk is the one line of a patch that must keep its signs; signs are those that must not be read as a mention, a tag
// or a comment's end elsewhere; foreign is no line of JSON or of a patch: a control character, a workflow command, a
// sentence.
var (
	hunk    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@$`) })
	signs   = strings.NewReplacer("@", `\u0040`, "<", `\u003c`, "-->", `--\u003e`)
	foreign = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`[\x00-\x08\x0a-\x1f]|^\s*::|^[^-+{}\[\]" ]`) })
	newline = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\r?\n`) })
)

// FencedSource is JSON, or a patch, as a fenced block that can be copied: what could be read as more than text is
// written as JSON escapes, so that the value stays the same. Lines are not cut.
func FencedSource(text string) string {
	fence := "```"
	var b strings.Builder
	for _, line := range newline().Split(strings.TrimRight(text, "\r\n"), -1) {
		switch {
		case hunk().MatchString(line):
		case foreign().MatchString(line):
			line = Plain(line, 2*len(line)+1)
		case strings.HasPrefix(line, "+") && !strings.Contains(line, `"`):
			line = Clean(line) // a line of a text file that the patch adds: its bytes are hashed
		default:
			line = signs.Replace(string(escapeJSON([]byte(line))))
		}
		for strings.Contains(line, fence) {
			fence += "`"
		}
		b.WriteString(line + "\n")
	}
	return fence + "\n" + b.String() + fence + "\n"
}
