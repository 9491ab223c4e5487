// Package legible reads texts as people see them, so that no rule over text is got round by a character that nobody
// sees (UTS #39, UAX #15).
//
// Fold is the form that rules read: hyphens and dashes are "-", spaces are " ", digits of every script are 0 to 9,
// compatibility forms are the plain ones (NFKC), and what has no shape of its own (default-ignorable characters,
// controls) is taken out. Superscripts and subscripts behind a letter, a digit or a bracket, and vulgar fractions,
// keep their form: 10⁶ is not 106. Case and punctuation stay. A letter of another script in a word in disguise is the
// ASCII letter that it looks like (UTS #39). Map is Fold with the way back into the text as it was written.
//
// Find says where a text hides something: a character of no width inside a word or a number, a control that turns the
// direction of writing, a word whose letters come from several scripts and look alike. What languages need is not
// hidden: the joiners of Arabic and of the scripts of India, marks and isolates beside letters written from right to
// left, soft hyphens between syllables, the sequences of emoji, Greek letters in formulas (find.go says which).
//
// The tables are those of package unicode and of golang.org/x/text, and that of lookalikes is generated from UTS
// #39's confusables.txt; TestUnicode holds all of it to Unicode's own data.
package legible

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Clip keeps the first characters of a text, at most most of them, and marks the cut with "…": foreign text in a
// message stays short, and no character is torn apart.
func Clip(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// Count is a number with its noun: "1 entry", "3 entries".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// mostWord is how many letters of a word a message repeats.
const mostWord = 40

// Composed is NFC.
func Composed(s string) string { return norm.NFC.String(s) }

// Decomposed is NFD.
func Decomposed(s string) string { return norm.NFD.String(s) }

// Fold is the text as people see it.
func Fold(s string) string {
	if Plain(s) {
		return s // most texts are
	}
	return foldText(s, false).Text
}

// maxRounds bounds how often a text is folded anew because a word in disguise came to light: each time fewer letters
// are left that could.
const maxRounds = 8

// foldText folds a text until it shows all that it holds.
func foldText(s string, keep bool) Folded {
	shapes := undisguisedLetters(s)
	f := foldOnce(s, shapes, keep)
	for round := 1; round < maxRounds && !Plain(f.Text); round++ {
		if shapes = undisguisedLetters(f.Text); len(shapes) == 0 {
			break
		}
		under := f
		f = foldOnce(under.Text, shapes, keep)
		f.under = &under
	}
	return f
}

// Blank reports whether a text shows nothing.
func Blank(s string) bool { return strings.TrimSpace(Fold(s)) == "" }

// plainByte marks the bytes that stand for themselves whatever is beside them: printable ASCII and ASCII's white space.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < 0x7F; c++ {
		t[c] = true
	}
	for _, c := range "\t\n\v\f\r" {
		t[c] = true
	}
	return t
}()

// Plain reports whether a text is printable ASCII, which is seen as it is written.
func Plain(s string) bool {
	for i := range len(s) {
		if !plainByte[s[i]] {
			return false
		}
	}
	return true
}

// Folded is a folded text with the way back.
type Folded struct {
	Text   string
	pieces []piece // none: the text is as it was written
	under  *Folded // what was folded, where that is not the text as it was written
}

// piece is a part of a folded text and where it was written. Copied bytes stand in the same order there; any others
// come from all of it.
type piece struct {
	at       int
	from, to int
	copied   bool
}

// Map is Fold with the way back.
func Map(s string) Folded {
	if Plain(s) {
		return Folded{Text: s}
	}
	return foldText(s, true)
}

// Original is where text[from:to] of the folded text was written.
func (f Folded) Original(from, to int) (int, int) {
	from, to = f.sourceSpan(from, to)
	if f.under != nil {
		return f.under.Original(from, to)
	}
	return from, to
}

// sourceSpan is where text[from:to] stood in what was folded.
func (f Folded) sourceSpan(from, to int) (int, int) {
	if f.pieces == nil || from >= to {
		return from, to
	}
	first, last := f.pieces[f.pieceAt(from)], f.pieces[f.pieceAt(to-1)]
	start, end := first.from, last.to
	if first.copied {
		start += from - first.at
	}
	if last.copied {
		end = last.from + to - last.at
	}
	return start, end
}

// pieceAt is the number of the piece that holds byte i.
func (f Folded) pieceAt(i int) int {
	return sort.Search(len(f.pieces), func(n int) bool { return f.pieces[n].at > i }) - 1
}

// folder writes a folded text.
type folder struct {
	out    strings.Builder
	pieces []piece
	keep   bool // pieces are wanted

	chunk strings.Builder // characters that are still to be normalised together
	marks []mark          // where each of them was written
}

// mark is one character of the chunk.
type mark struct{ at, from, to int }

// foldOnce folds a text whose letters in disguise are known.
func foldOnce(s string, shapes map[int]rune, keep bool) Folded {
	f := &folder{keep: keep}
	f.out.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		to, how := seenAs(r)
		if shape, ok := shapes[i]; ok {
			to, how = shape, isKept
		}
		switch {
		case how == isDropped || r >= 0x20DD && unicode.Is(unicode.Me, r) && f.chunkEndsInWord():
		case how == isRaised:
			n := raisedRun(s[i:])
			if keepsForm(s[:i], s[i:i+n], s[i+n:]) {
				f.flushChunk()
				f.addText(s[i:i+n], i, i+n, true)
			} else {
				f.lowerRaised(s[i:i+n], i)
			}
			size = n
		case how == isFraction:
			f.flushChunk()
			f.addText(s[i:i+size], i, i+size, true)
		case r == utf8.RuneError && size == 1:
			f.flushChunk()
			f.addText(s[i:i+1], i, i+1, true)
		default:
			f.normaliseRune(to, i, i+size)
		}
		i += size
	}
	f.flushChunk()
	return Folded{Text: f.out.String(), pieces: f.pieces}
}

// normaliseRune puts a character into the chunk.
func (f *folder) normaliseRune(r rune, from, to int) {
	if f.chunk.Len() > 1<<12 && norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
		f.flushChunk()
	}
	f.marks = append(f.marks, mark{f.chunk.Len(), from, to})
	f.chunk.WriteRune(r)
}

// lowerRaised puts superscripts and subscripts that are no exponents into the chunk as what they stand for.
func (f *folder) lowerRaised(run string, at int) {
	for i, r := range run {
		if isRaisedDigit(r) {
			plain, _ := utf8.DecodeRuneInString(norm.NFKC.String(string(r)))
			if isDash(plain) {
				plain = '-'
			}
			f.normaliseRune(plain, at+i, at+i+utf8.RuneLen(r))
		}
	}
}

// chunkEndsInWord reports whether a letter or a digit stands before: an enclosing mark around it does not change what
// it is.
func (f *folder) chunkEndsInWord() bool {
	r, _ := utf8.DecodeLastRuneInString(f.chunk.String())
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// flushChunk normalises the chunk and writes it.
func (f *folder) flushChunk() {
	if f.chunk.Len() == 0 {
		return
	}
	chunk := f.chunk.String()
	if !f.keep {
		f.out.WriteString(norm.NFKC.String(chunk))
	} else {
		f.foldSegments(chunk)
	}
	f.chunk.Reset()
	f.marks = f.marks[:0]
}

// foldSegments normalises the parts of the chunk that do not touch one another, each with its place.
func (f *folder) foldSegments(chunk string) {
	var it norm.Iter
	it.InitString(norm.NFKC, chunk)
	next := 0
	for !it.Done() {
		begin := it.Pos()
		text := string(it.Next())
		first := next
		for next < len(f.marks) && f.marks[next].at < it.Pos() {
			next++
		}
		from, to := f.marks[first].from, f.marks[max(next-1, first)].to
		f.addText(text, from, to, text == chunk[begin:it.Pos()] && to-from == len(text))
	}
}

// addText writes text that was written from … to.
func (f *folder) addText(text string, from, to int, copied bool) {
	if f.keep && text != "" {
		last := len(f.pieces) - 1
		if copied && last >= 0 && f.pieces[last].copied && f.pieces[last].to == from {
			f.pieces[last].to = to
		} else {
			f.pieces = append(f.pieces, piece{f.out.Len(), from, to, copied})
		}
	}
	f.out.WriteString(text)
}
