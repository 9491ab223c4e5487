package evidence

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
)

// Concealed is a text that hides something (S80), at its first place.
type Concealed struct {
	ID, Path     string // of the item; Path is "" for a text in the manifest
	Line, Column int    // of the text, in code points from 1; of a text in the manifest, where that declares it
	Near         string // the text around
	What         string // what stands there
	More         int    // places more that were found
	Err          error  // the text could not be looked through; then the rest is empty
}

// Hidden lists the items that were read as text and do not show all that they hold, in the order of the manifest. What
// nothing has read decides nothing and is not looked at; a file under several ids is named once.
func (s *Set) Hidden() []Concealed {
	if s == nil {
		return nil
	}
	var out []Concealed
	seen := map[*views]bool{}
	for _, e := range s.entries {
		if !e.loaded || !e.views.haveText || seen[e.views] {
			continue
		}
		seen[e.views] = true
		if c, hides := s.findHidden(e); hides {
			out = append(out, c)
		}
	}
	return out
}

func (s *Set) findHidden(e *entry) (c Concealed, hides bool) {
	c = Concealed{ID: e.file.ID, Path: e.file.heldPath()}
	text, at := e.views.text, func(i int) int { return i }
	if e.file.Format == JSON || e.file.Format == JSONL {
		text, at = unescapeJSON(text)
	}
	if legible.Plain(text) {
		return c, false
	}
	if c.Err = s.takeWork(e, len(text)/8); c.Err != nil {
		return c, true
	}
	found := legible.Find(text)
	if len(found) == 0 {
		return c, false
	}
	c.What, c.More = found[0].What, len(found)-1
	c.Near = excerptAround(text, found[0].At)
	before := e.views.text[:at(found[0].At)]
	c.Line = 1 + strings.Count(before, "\n")
	c.Column = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	if c.Path == "" {
		c.Line, c.Column = e.file.Pos.Line, e.file.Pos.Col
	}
	return c, true
}

// excerptAround is the part of a text around an offset.
func excerptAround(text string, at int) string {
	from, to := max(0, at-16), min(len(text), at+32)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return strings.TrimFunc(text[from:to], func(r rune) bool { return r == '\n' || r == '\r' })
}

// unescapeJSON is a JSON text in which \u200B stands as the character itself, with the way back. Line ends and what
// else JSON writes as \u00XX in ASCII stay as they are, so that lines are the same ones.
func unescapeJSON(text string) (string, func(int) int) {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\b`) {
		return text, func(i int) int { return i }
	}
	var out strings.Builder
	var outs, ins []int // where an escape ends, in both
	for i := 0; i < len(text); {
		n, r := 1, rune(-1)
		if text[i] == '\\' {
			n, r = readEscape(text[i:])
		}
		if r < 0 || r >= 0x20 && r < 0x80 || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\v' {
			out.WriteString(text[i : i+n])
			i += n
			continue
		}
		outs, ins = append(outs, out.Len()), append(ins, i)
		out.WriteRune(r)
		i += n
		outs, ins = append(outs, out.Len()), append(ins, i)
	}
	return out.String(), func(at int) int {
		k := sort.SearchInts(outs, at+1) - 1
		if k < 0 {
			return at
		}
		return min(ins[k]+at-outs[k], len(text))
	}
}

// readEscape reads one escape of JSON: its length and the character, −1 for one that stands for itself.
func readEscape(s string) (int, rune) {
	if len(s) < 2 {
		return len(s), -1
	}
	if s[1] == 'b' {
		return 2, '\b'
	}
	unit := func(s string) rune {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := unit(s)
	switch {
	case r < 0:
		return 2, -1
	case r >= 0xD800 && r < 0xDC00 && len(s) >= 12:
		if low := unit(s[6:]); low >= 0xDC00 && low < 0xE000 {
			return 12, (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		}
	}
	if r >= 0xD800 && r < 0xE000 {
		return 6, -1
	}
	return 6, r
}
