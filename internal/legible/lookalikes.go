package legible

import (
	"strings"
	"sync"
	"unicode"
)

//go:generate go run gen_lookalikes.go -from confusables.txt

// Letters that Unicode lists and that readers tell from Latin ones when they look twice: some only where they stand
// between Latin letters hide (cyrillicNear, greekFormula), others where no formula would have them (greekNear).
const (
	cyrillicNear = "бшѡЗӠҽꙄ"
	greekNear    = "αγινρυ"
	greekFormula = "σϱϸᴦι"
)

// lookalikes are Unicode's letters of other scripts with the ASCII letter or digit that each looks like, and one
// capital whose small letter Unicode lists. They are made when a text first needs them.
var lookalikes = sync.OnceValue(func() map[rune]byte {
	table := map[rune]byte{0x051A: 'Q'}
	i := 0
	for _, r := range lookalikeLetters {
		table[r] = lookalikeShapes[i]
		i++
	}
	return table
})

// lookalikeOf is what a letter of another script looks like.
func lookalikeOf(r rune) (byte, bool) {
	if r < 0x0370 {
		return 0, false
	}
	shape, ok := lookalikes()[r]
	return shape, ok
}

// looksIdentical reports whether nobody tells a letter of Cyrillic or Greek from a Latin one.
func looksIdentical(r rune) bool {
	_, ok := lookalikeOf(r)
	return ok && !strings.ContainsRune(cyrillicNear+greekNear+greekFormula, r)
}

// maxStretch is how much of a text is looked at together for words in disguise, to the end of its line.
const maxStretch = 1 << 16

// firstStretch is the length of the first part of a text that is looked at together.
func firstStretch(s string) int {
	if len(s) <= maxStretch {
		return len(s)
	}
	if i := strings.IndexByte(s[maxStretch:], '\n'); i >= 0 {
		return maxStretch + i + 1
	}
	return len(s)
}

// undisguisedLetters are the letters of a text that stand in words in disguise, by their offset, with what they look
// like. Honest words of other scripts are none: a rule reads what a reader reads.
func undisguisedLetters(s string) map[int]rune {
	if !strings.ContainsFunc(s, isForeignLetter) {
		return nil
	}
	out := map[int]rune{}
	for from := 0; from < len(s); {
		part := s[from : from+firstStretch(s[from:])]
		f := &finder{text: []rune(part)}
		shapes := map[int]rune{}
		for _, w := range f.disguises() {
			w.readShapes(shapes)
		}
		char := 0
		for at := range part {
			if shape, ok := shapes[char]; ok {
				out[from+at] = shape
			}
			char++
		}
		from += len(part)
	}
	return out
}

// isForeignLetter reports whether a letter may stand in a word in disguise.
func isForeignLetter(r rune) bool {
	if r < 0x0370 {
		return false
	}
	_, listed := lookalikeOf(ofFormula(r))
	return listed
}

// readShapes notes what each letter of the word looks like, by its place in the text. What looks like l and like I is a
// capital behind a capital, and at the beginning of a word where it is one or a capital follows.
func (w word) readShapes(shapes map[int]rune) {
	before := rune(0)
	for i, r := range w.letters {
		if shape, ok := lookalikeOf(r); ok {
			r = rune(shape)
			capital := before == 0 && (!unicode.IsLower(w.letters[i]) || i+1 < len(w.letters) &&
				unicode.IsUpper(w.letters[i+1]))
			if r == 'l' && (capital || unicode.IsUpper(before)) {
				r = 'I'
			}
			shapes[w.at[i]] = r
		}
		before = r
	}
}
