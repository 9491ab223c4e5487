package legible

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Hidden is one place of a text that does not show what it holds.
type Hidden struct {
	Char int    // its place, in code points from 1
	At   int    // its offset in bytes
	What string // what stands there, for a message
}

// maxHidden bounds how many places of one text are listed.
const maxHidden = 10

// Find lists where a text hides something, the first ten places.
func Find(s string) []Hidden {
	if Plain(s) {
		return nil
	}
	var found []Hidden
	for from, char := 0, 0; from < len(s) && len(found) < maxHidden; {
		part := s[from : from+firstStretch(s[from:])]
		if !Plain(part) {
			for _, h := range findHidden(part) {
				found = append(found, Hidden{Char: char + h.Char, At: from + h.At, What: h.What})
			}
		}
		from, char = from+len(part), char+utf8.RuneCountInString(part)
	}
	return found[:min(len(found), maxHidden)]
}

// findHidden looks at one stretch of a text.
func findHidden(s string) []Hidden {
	f := &finder{text: []rune(s)}
	f.findCharacters()
	f.findDisguises()
	slices.SortStableFunc(f.found, func(a, b Hidden) int { return a.Char - b.Char })
	f.found = f.found[:min(len(f.found), maxHidden)]
	f.toByteOffsets(s)
	return f.found
}

// finder is one pass over a text.
type finder struct {
	text  []rune
	found []Hidden
	turns map[int]bool // controls of direction that are in order, by place; of the paragraph under way
	until int          // where that paragraph ends
}

// noteHidden notes a place, counted from 0.
func (f *finder) noteHidden(at int, format string, args ...any) {
	if len(f.found) < 2*maxHidden {
		f.found = append(f.found, Hidden{Char: at + 1, What: fmt.Sprintf(format, args...)})
	}
}

// toByteOffsets turns places into bytes.
func (f *finder) toByteOffsets(s string) {
	next, char := 0, 0
	for at := range s {
		char++
		for next < len(f.found) && f.found[next].Char == char {
			f.found[next].At = at
			next++
		}
	}
}

// runeAt is the character at a place, 0 outside of the text.
func (f *finder) runeAt(i int) rune {
	if i < 0 || i >= len(f.text) {
		return 0
	}
	return f.text[i]
}

// findCharacters looks at every character that has no shape of its own.
func (f *finder) findCharacters() {
	for i, r := range f.text {
		if r >= 0x20 && r < 0x7F || !Ignorable(r) || f.isHonest(i, r) {
			continue
		}
		switch {
		case turnsDirection(r):
			f.noteHidden(i, "U+%04X, which turns the direction of what people read", r)
		case unicode.Is(unicode.Cc, r):
			f.noteHidden(i, "the control character U+%04X", r)
		default:
			f.noteHidden(i, "U+%04X, which nobody sees", r)
		}
	}
}

// isHonest reports whether a character without a shape is what its language, its emoji or its typesetter needs there.
func (f *finder) isHonest(i int, r rune) bool {
	before, after := f.runeAt(i-1), f.runeAt(i+1)
	switch {
	case r == 0xAD: // a soft hyphen between syllables, or where a line of a PDF ended
		return f.lettersBeside(i, -1) >= 2 && (f.lettersBeside(i, 1) >= 2 || f.endsLine(i+1))
	case r == 0xFEFF: // a byte order mark, also of a file that was put behind another
		return (i == 0 || before == '\n') && i+1 < len(f.text) && !Ignorable(after)
	case r == 0x200C || r == 0x200D:
		return inAnyScript(joining, before) && (unicode.IsLetter(before) || unicode.IsMark(before)) || r == 0x200D &&
			f.emojiBeside(i, -1) && f.emojiBeside(i, 1)
	case r == 0x200B: // where lines may break in scripts that write no spaces
		return inAnyScript(spaceless, before) && inAnyScript(spaceless, after)
	case turnsDirection(r):
		return f.isNeededTurn(i)
	case unicode.Is(unicode.Variation_Selector, r):
		return f.isVariant(i, r, before)
	case r >= 0xE0020 && r <= 0xE007F:
		return f.isFlagTag(i)
	case r == 0x115F || r == 0x1160: // places of a syllable of Old Korean that stay empty
		return unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, after)
	case r == 0x034F: // keeps marks apart
		return unicode.IsMark(before) && unicode.IsMark(after)
	case r == 0x180E || r == 0x17B4 || r == 0x17B5:
		return unicode.In(before, unicode.Mongolian, unicode.Khmer)
	case r >= 0x2061 && r <= 0x2064: // a product or a function that formulas do not write
		return (unicode.IsLetter(before) || unicode.IsLetter(after)) && f.lettersBeside(i, -1)+f.lettersBeside(i, 1) <= 3 ||
			after == '('
	case r >= 0x1D173 && r <= 0x1D17A: // beams and slurs of music
		return unicode.In(before, unicode.So, unicode.Mn, unicode.Mc) || before == 0
	case r >= 0x13430 && r <= 0x1345F, r >= 0x1BCA0 && r <= 0x1BCA3: // hieroglyphs and shorthand
		return unicode.In(before, unicode.Egyptian_Hieroglyphs, unicode.Duployan)
	}
	return false
}

// endsLine reports whether nothing but spaces stands between a place and the end of its line.
func (f *finder) endsLine(i int) bool {
	for f.runeAt(i) == ' ' {
		i++
	}
	return i >= len(f.text) || f.text[i] == '\n' || f.text[i] == '\r'
}

// lettersBeside counts the letters and marks on one side of a place, up to a soft hyphen or the end of the word.
func (f *finder) lettersBeside(i, step int) int {
	n := 0
	for j := i + step; n < 4; j += step {
		if r := f.runeAt(j); !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		n++
	}
	return n
}

// joining are the scripts whose letters join or break by ZWJ and ZWNJ, spaceless those whose lines break by ZWSP.
var (
	joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
		unicode.Phags_Pa, unicode.Manichaean,
		unicode.Psalter_Pahlavi, unicode.Hanifi_Rohingya, unicode.Sogdian, unicode.Adlam, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer,
		unicode.Myanmar, unicode.Balinese, unicode.Javanese, unicode.Brahmi, unicode.Kaithi, unicode.Grantha,
		unicode.Newa, unicode.Tirhuta}
	spaceless = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Tham,
		unicode.New_Tai_Lue, unicode.Tai_Viet,
		unicode.Tibetan, unicode.Balinese, unicode.Javanese}
)

func inAnyScript(scripts []*unicode.RangeTable, r rune) bool {
	return r >= 0x0600 && unicode.IsOneOf(scripts, r)
}

// isPictorial reports whether a character may be the base of an emoji.
func isPictorial(r rune) bool {
	return r >= 0xA9 && (unicode.In(r, unicode.So, unicode.Sm) || strings.ContainsRune("‼⁉〰〽ℹ", r) || r >= 0x1F000 &&
		r <= 0x1FAFF)
}

// emojiBeside reports whether an emoji stands on one side, behind or before its variation and its tone.
func (f *finder) emojiBeside(i, step int) bool {
	for j := i + step; ; j += step {
		r := f.runeAt(j)
		if step < 0 && j > i-3 && (r == 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF) {
			continue
		}
		return isPictorial(r)
	}
}

// isVariant reports whether a variation selector follows what has variants: a pictorial character, a keycap, an
// ideograph, a letter of Mongolian and its kin. A second one selects nothing.
func (f *finder) isVariant(i int, r, before rune) bool {
	switch {
	case r == 0xFE0E || r == 0xFE0F:
		keycap := before == '#' || before == '*' || before >= '0' && before <= '9'
		return isPictorial(before) || keycap && f.runeAt(i+1) == 0x20E3
	case r >= 0x180B && r <= 0x180F:
		return unicode.In(before, unicode.Mongolian, unicode.Phags_Pa)
	case r >= 0xE0100:
		return unicode.Is(unicode.Han, before)
	}
	return unicode.In(before, unicode.Han, unicode.Sm, unicode.So, unicode.Myanmar, unicode.Phags_Pa,
		unicode.Manichaean, unicode.Egyptian_Hieroglyphs, unicode.Mongolian) ||
		before >= 0x3000 && before <= 0x303F || before >= 0xFF00 && before <= 0xFF65 || r == 0xFE00 && before == '0' ||
		before >= 0x2100 && before <= 0x214F || before >= 0x1D400 && before <= 0x1D7FF // letters of formulas
}

// isFlagTag reports whether a tag stands in the sequence of a regional flag: a black flag, three to six tags, the last
// tag.
func (f *finder) isFlagTag(i int) bool {
	first, last := i, i
	for i-first < 8 && f.runeAt(first-1) >= 0xE0020 && f.runeAt(first-1) < 0xE007F {
		first--
	}
	for last-i < 8 && f.runeAt(last) >= 0xE0020 && f.runeAt(last) < 0xE007F {
		last++
	}
	return f.runeAt(first-1) == 0x1F3F4 && f.runeAt(last) == 0xE007F && last-first >= 3 && last-first <= 6
}

// turnsDirection reports whether a character turns the direction of writing.
func turnsDirection(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// isNeededTurn reports whether a control of direction does what a text of two directions needs.
func (f *finder) isNeededTurn(i int) bool {
	if i >= f.until {
		f.judgeParagraph(i)
	}
	return f.turns[i]
}

// judgeParagraph looks at the controls of direction of the paragraph around a place. Overrides turn letters against
// their nature and are never in order. A mark is where the paragraph has letters that are written from right to left,
// but not within a word of others. Embeddings and isolates are in order in pairs: those that turn to the right around
// such letters, any others in a paragraph that has some, or around whole words.
func (f *finder) judgeParagraph(i int) {
	from, to := i, i
	for from > 0 && f.text[from-1] != '\n' {
		from--
	}
	for to < len(f.text) && f.text[to] != '\n' {
		to++
	}
	f.turns, f.until = map[int]bool{}, to
	leftward := f.hasLeftward(from, to)
	var open []int
	for j := from; j < to; j++ {
		switch r := f.text[j]; {
		case r == 0x061C || r == 0x200E || r == 0x200F:
			f.turns[j] = leftward && !(wordRune(f.runeAt(j-1)) && wordRune(f.runeAt(j+1)) && !leftwardRune(f.runeAt(j-1)) &&
				!leftwardRune(f.runeAt(j+1)))
		case r >= 0x202A && r <= 0x202E && r != 0x202C, r >= 0x2066 && r <= 0x2068:
			open = append(open, j)
		case r == 0x202C || r == 0x2069:
			if len(open) == 0 || (r == 0x2069) != (f.text[open[len(open)-1]] >= 0x2066) {
				continue
			}
			start := open[len(open)-1]
			open = open[:len(open)-1]
			f.turns[start] = f.isOrderlyPair(start, j, leftward)
			f.turns[j] = f.turns[start]
		}
	}
}

// isOrderlyPair reports whether an embedding or an isolate from start to end is in order.
func (f *finder) isOrderlyPair(start, end int, leftward bool) bool {
	switch r := f.text[start]; r {
	case 0x202D, 0x202E:
		return false
	case 0x202B, 0x2067:
		return f.hasLeftward(start, end)
	}
	return leftward || !wordRune(f.runeAt(start-1)) && !wordRune(f.runeAt(end+1))
}

func (f *finder) hasLeftward(from, to int) bool {
	return slices.ContainsFunc(f.text[from:to], leftwardRune)
}

// leftwardRune reports whether a letter is written from right to left.
func leftwardRune(r rune) bool {
	if r < 0x0590 || !unicode.IsLetter(r) {
		return false
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
