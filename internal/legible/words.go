package legible

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// alphabets are the scripts that have letters like Latin ones, beside Latin, Cyrillic and Greek. No word mixes them
// with another.
var alphabets = []*unicode.RangeTable{unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret,
	unicode.Canadian_Aboriginal,
	unicode.Tifinagh, unicode.Gothic, unicode.Old_Italic, unicode.Georgian, unicode.Glagolitic, unicode.Osage,
	unicode.Warang_Citi, unicode.Runic}

// script is a set of the alphabets that a word may mix.
type script uint8

const (
	latin script = 1 << iota
	cyrillic
	greek
	other
)

func scriptOf(r rune) script {
	switch {
	case r < 0x0370:
		if unicode.Is(unicode.Latin, r) {
			return latin
		}
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.IsLetter(r) && unicode.IsOneOf(alphabets, r):
		return other
	}
	return 0
}

// word is a run of letters with what has no shape left out.
type word struct {
	letters []rune
	at      []int // where each stands
	scripts script
}

// disguise is a word that does not show what it is.
type disguise struct {
	word
	mixed bool // letters of several scripts; else written whole in letters of another one
}

// findDisguises flags the words in disguise.
func (f *finder) findDisguises() {
	for _, w := range f.disguises() {
		if name := Clip(string(w.letters), mostWord); w.mixed {
			f.noteHidden(w.at[0], "the word %q, which mixes letters of %s that look alike", name, w.scripts)
		} else {
			f.noteHidden(w.at[0], "the word %q, whose letters are %s and look Latin", name, w.scripts)
		}
	}
}

// disguises looks at every word. One written whole in letters that look like those of another script hides among words
// of that script, unless the text has words that can only be its own.
func (f *finder) disguises() []disguise {
	var found []disguise
	var own script // that some word can only be
	for i := 0; i < len(f.text); i++ {
		if r := f.text[i]; r < 0x80 && (r|0x20 < 'a' || r|0x20 > 'z') || !unicode.IsLetter(r) {
			continue
		}
		w, end := f.wordAt(i)
		i = end - 1
		own |= w.ownScript()
		if w.mixesScripts() {
			found = append(found, disguise{w, true})
		} else if w.looksLatin() {
			found = append(found, disguise{w, false})
		}
	}
	return slices.DeleteFunc(found, func(w disguise) bool { return !w.mixed && (own&latin == 0 || own&w.scripts != 0) })
}

// wordAt reads the word that begins at a place, and says where it ends.
func (f *finder) wordAt(i int) (w word, end int) {
	for ; i < len(f.text); i++ {
		r := f.text[i]
		if unicode.IsLetter(r) {
			r = ofFormula(r)
			w.letters, w.at = append(w.letters, r), append(w.at, i)
			w.scripts |= scriptOf(r)
		} else if !unicode.IsMark(r) && !Ignorable(r) {
			break
		}
	}
	return w, i
}

// ofFormula is the Greek letter that a mathematical one is a form of; any other letter is itself.
func ofFormula(r rune) rune {
	if r >= 0x1D6A8 && r <= 0x1D7CB {
		r, _ = utf8.DecodeRuneInString(norm.NFKC.String(string(r)))
	}
	return r
}

// ownScript is the script that the word is plainly of: some letter of it looks like no other.
func (w word) ownScript() script {
	for _, r := range w.letters {
		switch s := scriptOf(r); s {
		case latin:
			return latin
		case cyrillic, greek:
			if !looksIdentical(r) && !strings.ContainsRune(greekNear, r) {
				return s
			}
		}
	}
	return 0
}

// looksLatin reports whether a word of at least three letters looks Latin letter by letter.
func (w word) looksLatin() bool {
	stranger := func(r rune) bool { return scriptOf(r) != w.scripts }
	return len(w.letters) >= 3 && (w.scripts == cyrillic || w.scripts == greek) && w.ownScript() == 0 &&
		!slices.ContainsFunc(w.letters, stranger)
}

// mixesScripts reports whether the word hides letters of one script among those of another.
func (w word) mixesScripts() bool {
	if w.hasPlantedLetter() {
		return true
	}
	if w.scripts&(w.scripts-1) == 0 {
		return false
	}
	if w.scripts&other != 0 {
		return true
	}
	if w.scripts&cyrillic != 0 && w.hasScript(cyrillic) && !w.isAcronym() {
		return true
	}
	return w.scripts&greek != 0 && (w.hasScript(greek) || w.scripts&cyrillic == 0 && w.nearWithin())
}

// hasScript reports whether the word has a letter of the script that nobody can tell from a Latin one.
func (w word) hasScript(s script) bool {
	return slices.ContainsFunc(w.letters, func(r rune) bool { return scriptOf(r) == s && looksIdentical(r) })
}

// hasPlantedLetter reports whether a letter that looks Latin, of any other script, stands between two Latin ones.
// Languages put their own letters before and behind a Latin word, never into it.
func (w word) hasPlantedLetter() bool {
	for i := 1; i+1 < len(w.letters); i++ {
		r := w.letters[i]
		if r < 0x80 || scriptOf(w.letters[i-1]) != latin || scriptOf(w.letters[i+1]) != latin ||
			strings.ContainsRune(greekFormula, r) && w.countSmall() < 3 {
			continue
		}
		if _, ok := lookalikeOf(r); ok && !strings.ContainsRune(greekNear, r) {
			return true
		}
	}
	return false
}

// countSmall counts the small Latin letters.
func (w word) countSmall() int {
	n := 0
	for i := range w.letters {
		if w.smallAt(i) {
			n++
		}
	}
	return n
}

func (w word) smallAt(i int) bool {
	return i >= 0 && i < len(w.letters) && scriptOf(w.letters[i]) == latin && unicode.IsLower(w.letters[i])
}

// isAcronym reports whether the word is a Latin acronym with an ending of another script, as Russian declines them.
func (w word) isAcronym() bool {
	n := 0
	for n < len(w.letters) && scriptOf(w.letters[n]) == latin && unicode.IsUpper(w.letters[n]) {
		n++
	}
	for _, r := range w.letters[n:] {
		if scriptOf(r) != cyrillic || !unicode.IsLower(r) {
			return false
		}
	}
	return n >= 2
}

// nearWithin reports whether a Greek letter that resembles a Latin one stands where a formula would not have it:
// between small Latin letters, or before or behind four and more of them.
func (w word) nearWithin() bool {
	run := w.countSmall()
	for i, r := range w.letters {
		if strings.ContainsRune(greekNear, r) && (w.smallAt(i-1) && w.smallAt(i+1) || run >= 4) {
			return true
		}
	}
	return false
}

// String names the scripts.
func (s script) String() string {
	var names []string
	for i, name := range []string{"Latin", "Cyrillic", "Greek", "another script"} {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}
