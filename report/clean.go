package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
)

// Clean makes a hostile text fit to be shown on one line: whatever moves the cursor, turns the writing direction, has
// no width or is no character stands there as <U+202E>, other spaces than the plain one become it, and "##[", which a
// GitHub runner takes for a command anywhere in a line, loses its bracket. Clean text is left as it is.
func Clean(s string) string {
	// bytes that are not UTF-8, and what the ledger replaces: shown here as it is shown there
	s, _ = canonical.Sanitize(s)
	if isClean(s) {
		return s
	}
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if marks = marks + 1; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		switch {
		case isHiddenRune(r) || marks > maxMarks:
			fmt.Fprintf(&b, "<U+%04X>", r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "##[", "##<U+005B>")
}

// maxMarks is how many combining marks in a row are taken for writing; more only paint over the lines around.
const maxMarks = 4

// isClean finds the usual case without building a string.
func isClean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7F || s[i] == '[' {
			return false
		}
	}
	return true
}

// isHiddenRune says that a character is not seen as itself: controls, format characters (bidirectional, zero-width,
// tags), line and paragraph separators, private and unassigned ones, and those that Unicode calls ignorable.
func isHiddenRune(r rune) bool {
	if r < 0x7F {
		return r < ' '
	}
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) ||
		r != utf8.RuneError && !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
}

// The longest texts that a paper shows, in characters.
const (
	maxMessage = 1200
	maxName    = 160
)

// CleanStart cuts a text to n characters, saying how many are left out, and cleans it.
func CleanStart(s string, n int) string {
	if len(s) <= n {
		return Clean(s)
	}
	for i := range s {
		if n--; n < 0 {
			return fmt.Sprintf("%s… (%d more)", Clean(s[:i]), utf8.RuneCountInString(s[i:]))
		}
	}
	return Clean(s)
}

// CleanMessage cleans a message and bounds its length.
func CleanMessage(s string) string { return CleanStart(s, maxMessage) }

// CleanName cleans a name and bounds its length.
func CleanName(s string) string { return CleanStart(s, maxName) }

// CleanNames cleans a list of names, at most limit of them.
func CleanNames(list []string, limit int) string {
	var out []string
	for i, s := range list {
		if i == limit {
			out = append(out, fmt.Sprintf("… (%d more)", len(list)-limit))
			break
		}
		out = append(out, CleanName(s))
	}
	return strings.Join(out, ", ")
}

// escapeJSON writes what Clean would show as <U+…> in JSON text as \u escapes: the value stays the same, and the bytes
// are safe to print. Outside strings JSON holds no such character.
func escapeJSON(b []byte) []byte {
	if legible.ASCII(b) && bytes.IndexByte(b, '#') < 0 {
		return b
	}
	var out strings.Builder
	for _, r := range strings.ReplaceAll(string(b), "##[", `##\u005b`) {
		switch {
		case r == '\n' || !isHiddenRune(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			high, low := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return []byte(out.String())
}
