package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/legible"
)

// The frozen tokenizer of the text operand (rules.md 1.1). It belongs to the semantics: TestTextMetrics holds it to
// counts made by hand, and a change of any of these rules needs a new semantics version.
//
//	word      a run of letters, marks and digits that may hold, between two of them, an apostrophe or a hyphen and,
//	          between two digits, a comma or a full stop: don't, well-known and 1,200.50 are one word each.
//	sentence  ends at a run of . ! ? followed by closing quotes or brackets, if any, and then white space or the end. A
//	          single full stop behind an abbreviation of the list, or behind one capital letter, ends nothing. What is
//	          left at the end is a sentence too. A sentence has at least one word. A line break alone ends nothing.
//	syllable  groups of neighbouring vowels a e i o u y of the word without accents; a last e behind a consonant is
//	          silent, except with an accent and in -le behind a consonant (table has 2). Every word has at least 1.
//	passive   a sentence in which a form of be or get is followed, with at most one adverb (not, never, also, always,
//	          often, then, now, ever, or a word in -ly) between, by a word in -ed or an irregular participle of the
//	          list. A heuristic.

// abbreviations end no sentence; lower case, without the full stop.
var abbreviations = strings.Fields(`mr mrs ms dr prof sr jr st vs etc e.g i.e inc ltd co corp no nos sec art cl para ` +
	`fig eq vol pp approx dept est al cf u.s u.k a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec`)

var (
	beForms = strings.Fields(`am is are was were be been being get gets got gotten getting isn't aren't wasn't weren't`)
	adverbs = strings.Fields(`not never also always often then now ever`)
	// participles are the irregular past participles of common verbs that do not end in -ed.
	participles = strings.Fields(
		`begun bent bet bitten bled blown born borne bought bound broken brought built burnt burst cast caught chosen
		come cut dealt done drawn driven drunk dug eaten fallen fed felt fought found fled flown forbidden forecast
		forgiven forgotten frozen given gone ground grown heard held hidden hit hung hurt kept known laid lain led
		left lent let lit lost made meant met mistaken overcome overtaken paid proven put quit read rid risen run said
		seen sent set sewn shaken shed shot shown shut sold sought spent split spoken spread stolen stood struck stuck
		sung sunk sworn taken taught thought thrown told torn understood undertaken upheld upset withdrawn withheld
		won worn wound woven written`)
)

// span is a word's place in the runes of a text.
type span struct{ from, to int }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// wordSpans finds the words of a text.
func wordSpans(text []rune) []span {
	var out []span
	for i := 0; i < len(text); {
		if !isWordRune(text[i]) {
			i++
			continue
		}
		from := i
		for i++; i < len(text) && (isWordRune(text[i]) || joinsRunes(text, i)); i++ {
		}
		out = append(out, span{from, i})
	}
	return out
}

// joinsRunes says whether the rune at i holds the two runes beside it together in one word.
func joinsRunes(text []rune, i int) bool {
	if i+1 >= len(text) || !isWordRune(text[i-1]) || !isWordRune(text[i+1]) {
		return false
	}
	switch text[i] {
	case '\'', '’', '-', '‐', '‑':
		return true
	case ',', '.':
		return unicode.IsDigit(text[i-1]) && unicode.IsDigit(text[i+1])
	}
	return false
}

// sentencesOf are the words of each sentence.
func sentencesOf(s string) [][]string {
	text := []rune(s)
	words := wordSpans(text)
	var out [][]string
	var current []string
	for i, w := range words {
		current = append(current, string(text[w.from:w.to]))
		next := len(text)
		if i+1 < len(words) {
			next = words[i+1].from
		}
		if next == len(text) && i+1 == len(words) || endsSentence(text, w, next) {
			out = append(out, current)
			current = nil
		}
	}
	return out
}

// endsSentence looks at what stands between a word and the next.
func endsSentence(text []rune, w span, next int) bool {
	for i := w.to; i < next; i++ {
		if !strings.ContainsRune(".!?", text[i]) {
			continue
		}
		from := i
		for i < next && strings.ContainsRune(".!?", text[i]) {
			i++
		}
		single := i-from == 1 && text[from] == '.'
		for i < next && strings.ContainsRune(`"'”’»)]}`, text[i]) {
			i++
		}
		ends := i >= len(text) || unicode.IsSpace(text[i])
		if ends && !(single && from == w.to && endsAbbreviation(text, w)) {
			return true
		}
	}
	return false
}

// endsAbbreviation says whether a full stop behind the word belongs to it. Abbreviations of letters, e.g, are words of
// one letter each.
func endsAbbreviation(text []rune, w span) bool {
	from := w.from
	for from >= 2 && text[from-1] == '.' && unicode.IsLetter(text[from-2]) && (from == 2 || !isWordRune(text[from-3])) {
		from -= 2
	}
	word := string(text[from:w.to])
	initial := from == w.from && w.to-w.from == 1 && unicode.IsUpper(text[w.from]) && text[w.from] != 'I'
	return initial || slices.Contains(abbreviations, strings.ToLower(word))
}

// countSyllables of one word.
func countSyllables(word string) int {
	var letters []rune
	accented := false // the last letter, which then is not silent
	for _, r := range legible.Decomposed(strings.ToLower(word)) {
		if accented = unicode.IsMark(r); !accented {
			letters = append(letters, r)
		}
	}
	vowel := func(i int) bool { return i >= 0 && strings.ContainsRune("aeiouy", letters[i]) }
	n := 0
	for i := range letters {
		if vowel(i) && !vowel(i-1) {
			n++
		}
	}
	last := len(letters) - 1
	consonant := func(i int) bool { return i >= 0 && unicode.IsLetter(letters[i]) && !vowel(i) }
	if last > 0 && letters[last] == 'e' && !accented && consonant(last-1) &&
		!(letters[last-1] == 'l' && consonant(last-2)) {
		n--
	}
	return max(n, 1)
}

// holdsPassive says whether a sentence holds a passive.
func holdsPassive(words []string) bool {
	lower := make([]string, len(words))
	for i, w := range words {
		lower[i] = strings.ReplaceAll(strings.ToLower(w), "’", "'")
	}
	for i, w := range lower {
		if !slices.Contains(beForms, w) {
			continue
		}
		next := i + 1
		if next < len(lower) && (slices.Contains(adverbs, lower[next]) || strings.HasSuffix(lower[next], "ly")) {
			next++
		}
		if next < len(lower) && (strings.HasSuffix(lower[next], "ed") && len(lower[next]) > 3 ||
			slices.Contains(participles, lower[next])) {
			return true
		}
	}
	return false
}

// quotedWords is the number of words in the longest text between two double quotes, straight or typographic.
func quotedWords(s string) int {
	longest, open, from := 0, rune(0), 0
	text := []rune(s)
	for i, r := range text {
		switch {
		case open == 0 && (r == '"' || r == '“' || r == '„'):
			open, from = r, i+1
		case open == '"' && r == '"', open != 0 && open != '"' && (r == '”' || r == '“'):
			longest = max(longest, len(wordSpans(text[from:i])))
			open = 0
		}
	}
	return longest
}

// phraseIn says whether a phrase stands in a text, without regard to case, white space and the shape of apostrophes,
// and with no letter or digit right before or behind it. Both are folded already.
func phraseIn(text, phrase string) bool {
	for from := 0; phrase != ""; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		before, after := []rune(lastRune(text[:i])), []rune(firstRune(text[i+len(phrase):]))
		if (len(before) == 0 || !isWordRune(before[0])) && (len(after) == 0 || !isWordRune(after[0])) {
			return true
		}
		from = i + len(firstRune(text[i:]))
	}
	return false
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

func lastRune(s string) string {
	from := len(s)
	for from > 0 {
		from--
		if s[from]&0xC0 != 0x80 {
			break
		}
	}
	return s[from:]
}

// foldPhrase is the form in which phrases are compared: as people see them (S80), case and the shape of apostrophes
// aside.
func foldPhrase(s string) string {
	s = strings.NewReplacer("’", "'", "‘", "'").Replace(strings.ToLower(legible.Fold(s)))
	return strings.Join(strings.Fields(s), " ")
}

// numbersIn are the numbers written in a text, without their signs: 1,815,000 and 42 and 0.5. Commas count only between
// groups of three digits; digits that are part of a word, as in T12, are no number.
func numbersIn(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		if !isDigit(rune(s[i])) {
			i++
			continue
		}
		from := i
		var digits []byte
		digits, i = wholeDigits(s, i)
		if i+1 < len(s) && s[i] == '.' && isDigit(rune(s[i+1])) {
			digits = append(digits, '.')
			for i++; i < len(s) && isDigit(rune(s[i])); i++ {
				digits = append(digits, s[i])
			}
		}
		if before := []rune(lastRune(s[:from])); len(before) == 0 || !unicode.IsLetter(before[0]) {
			out = append(out, string(digits))
		}
	}
	return out
}

// wholeDigits reads the digits before the point: 1815000, or 1,815,000.
func wholeDigits(s string, i int) ([]byte, int) {
	from := i
	for i < len(s) && isDigit(rune(s[i])) {
		i++
	}
	digits := []byte(s[from:i])
	for first := i - from; first <= 3 && groupsThousands(s, i); {
		digits = append(digits, s[i+1:i+4]...)
		i += 4
	}
	return digits, i
}

// groupsThousands says whether a comma and exactly three digits stand at i.
func groupsThousands(s string, i int) bool {
	if i+3 >= len(s) || s[i] != ',' {
		return false
	}
	for _, c := range s[i+1 : i+4] {
		if !isDigit(c) {
			return false
		}
	}
	return i+4 >= len(s) || !isDigit(rune(s[i+4]))
}
