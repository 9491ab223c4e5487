package legible

import (
	"strings"
	"unicode"
)

// Letters of Cyrillic and Greek that people cannot tell from Latin ones (UTS #39, confusables; TestLookalikes). Those of Greek in near differ to a
// reader who looks twice, and formulas are full of them.
const (
	cyrillicLookalikes = "асԁеһіјӏорԛѕуѵԝхгАВСЕНІЈКМОРԚЅТѴԜХҮԌӀ"
	greekLookalikes    = "οϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ"
	greekNear          = "αγινρυ"
)

// alphabets are the scripts that have letters like Latin ones, beside Latin, Cyrillic and Greek. No word mixes them with another.
var alphabets = []*unicode.RangeTable{unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret, unicode.Canadian_Aboriginal,
	unicode.Tifinagh, unicode.Gothic, unicode.Old_Italic, unicode.Georgian, unicode.Glagolitic, unicode.Osage, unicode.Warang_Citi, unicode.Runic}

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
	from    int
	letters []rune
	scripts script
}

// words looks at every word. One written whole in letters that look like those of another script hides among words of that script, unless the
// text has words that can only be its own.
func (f *finder) words() {
	var disguised []word
	var own script // that some word can only be
	for i := 0; i < len(f.text); i++ {
		if !unicode.IsLetter(f.text[i]) {
			continue
		}
		w := f.wordAt(i)
		i = w.from + len(w.letters) - 1 + f.skipped(w)
		own |= w.own()
		if w.mixes() {
			f.hide(w.from, "the word %q, which mixes letters of %s that look alike", Clip(string(w.letters), mostWord), w.scripts)
		} else if w.disguised() {
			disguised = append(disguised, w)
		}
	}
	if own&latin == 0 {
		return
	}
	for _, w := range disguised {
		if own&w.scripts == 0 {
			f.hide(w.from, "the word %q, whose letters are %s and look Latin", Clip(string(w.letters), mostWord), w.scripts)
		}
	}
}

// wordAt reads the word that begins at a place.
func (f *finder) wordAt(i int) word {
	w := word{from: i}
	for ; i < len(f.text); i++ {
		r := f.text[i]
		if unicode.IsLetter(r) {
			w.letters = append(w.letters, r)
			w.scripts |= scriptOf(r)
		} else if !unicode.IsMark(r) && !Ignorable(r) {
			break
		}
	}
	return w
}

// skipped is how many characters of the text the word leaves out.
func (f *finder) skipped(w word) int {
	n, letters := 0, 0
	for i := w.from; letters < len(w.letters); i++ {
		if unicode.IsLetter(f.text[i]) {
			letters++
		} else {
			n++
		}
	}
	return n
}

// own is the script that the word is plainly of: some letter of it looks like no other.
func (w word) own() script {
	for _, r := range w.letters {
		switch scriptOf(r) {
		case latin:
			return latin
		case cyrillic:
			if !strings.ContainsRune(cyrillicLookalikes, r) {
				return cyrillic
			}
		case greek:
			if !strings.ContainsRune(greekLookalikes+greekNear, r) {
				return greek
			}
		}
	}
	return 0
}

// disguised reports whether a word of at least three letters looks Latin letter by letter.
func (w word) disguised() bool {
	return len(w.letters) >= 3 && (w.scripts == cyrillic || w.scripts == greek) && w.own() == 0
}

// mixes reports whether the word hides letters of one script among those of another.
func (w word) mixes() bool {
	if w.scripts&(w.scripts-1) == 0 {
		return false
	}
	if w.scripts&other != 0 {
		return true
	}
	if w.scripts&cyrillic != 0 && w.has(cyrillicLookalikes) && !w.acronym() {
		return true
	}
	return w.scripts&greek != 0 && (w.has(greekLookalikes) || w.scripts&cyrillic == 0 && w.nearWithin())
}

func (w word) has(letters string) bool { return strings.ContainsAny(string(w.letters), letters) }

// acronym reports whether the word is a Latin acronym with an ending of another script, as Russian declines them.
func (w word) acronym() bool {
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

// nearWithin reports whether a Greek letter that resembles a Latin one stands where a formula would not have it: between small Latin letters, or
// before or behind four and more of them.
func (w word) nearWithin() bool {
	small := func(i int) bool {
		return i >= 0 && i < len(w.letters) && scriptOf(w.letters[i]) == latin && unicode.IsLower(w.letters[i])
	}
	run := 0
	for i := range w.letters {
		if small(i) {
			run++
		}
	}
	for i, r := range w.letters {
		if strings.ContainsRune(greekNear, r) && (small(i-1) && small(i+1) || run >= 4) {
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
