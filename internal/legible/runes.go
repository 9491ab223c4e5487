package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// manner is what becomes of a character.
type manner uint8

const (
	isKept     manner = iota // as what look says
	isDropped                // it has no shape
	isRaised                 // a superscript or subscript digit, sign or bracket
	isFraction               // ½
)

// seenAs says what a character is seen as.
func seenAs(r rune) (rune, manner) {
	switch {
	case r < 0x7F && plainByte[byte(r)]:
		return r, isKept
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		return '\n', isKept
	case r == 0x2800 || unicode.Is(unicode.Zs, r):
		return ' ', isKept
	case Ignorable(r):
		return r, isDropped
	case isRaisedDigit(r):
		return r, isRaised
	case r >= 0xBC && r <= 0xBE || r >= 0x2150 && r <= 0x215F || r == 0x2189:
		return r, isFraction
	case isDash(r):
		return '-', isKept
	}
	if d := digitValue(r); d >= 0 {
		return '0' + d, isKept
	}
	return r, isKept
}

// isDash reports whether a character is a hyphen, a dash or a minus. Those that wave, and the double one of Katakana,
// look like themselves.
func isDash(r rune) bool {
	switch r {
	case 0x2053, 0x301C, 0x3030, 0x30A0:
		return false
	case 0x02D7, 0x2043, 0x2796:
		return true
	}
	return unicode.Is(unicode.Dash, r)
}

// digitValue is the value of a decimal digit of any script, −1 of anything else. The digits of a script stand in order,
// and every range of the table holds whole sets of ten (TestDigits).
func digitValue(r rune) rune {
	if r <= 0xFFFF {
		for _, s := range unicode.Nd.R16 {
			if rune(s.Lo) <= r && r <= rune(s.Hi) {
				return (r - rune(s.Lo)) % 10
			}
		}
		return -1
	}
	for _, s := range unicode.Nd.R32 {
		if rune(s.Lo) <= r && r <= rune(s.Hi) {
			return (r - rune(s.Lo)) % 10
		}
	}
	return -1
}

// Ignorable reports whether a character has no shape of its own: Unicode's Default_Ignorable_Code_Point (UAX #44
// derives it so), the controls that are no white space, the marks of annotations, and the musical head that is nothing.
func Ignorable(r rune) bool {
	switch {
	case r < 0xA0:
		return r < 0x20 && !plainByte[byte(r)] || r >= 0x7F && r != 0x85
	case r >= 0xFFF9 && r <= 0xFFFB || r == 0x1D159:
		return true
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		!(r >= 0x13430 && r <= 0x13440)
}

// raisedRunes are the superscripts and subscripts that numbers are written with.
const raisedRunes = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"

func isRaisedDigit(r rune) bool {
	return (r >= 0x2070 && r <= 0x209C || r >= 0xB2 && r <= 0xB9) && strings.ContainsRune(raisedRunes, r)
}

// raisedRun is how many bytes of s are raised, with what has no shape between them.
func raisedRun(s string) int {
	end := 0
	for i, r := range s {
		if isRaisedDigit(r) {
			end = i + utf8.RuneLen(r)
		} else if !Ignorable(r) {
			break
		}
	}
	return end
}

// longExponent is how many characters an exponent or an index may have; more is a number that is written high.
const longExponent = 4

// keepsForm reports whether a raised run is an exponent or an index: it stands behind a letter, a digit or a bracket,
// is short, hides nothing, and no digit follows.
func keepsForm(before, run, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, Ignorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, Ignorable))
	if utf8.RuneCountInString(run) > longExponent || strings.ContainsFunc(run, Ignorable) || unicode.IsDigit(next) {
		return false
	}
	return unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune(")]}", last) &&
		last != utf8.RuneError
}

// Names reports whether a pattern names a character that Fold changes, as itself or by its number: such a pattern is
// about the text as written.
func Names(pattern string) bool {
	if !Plain(pattern) && norm.NFC.String(pattern) != Fold(pattern) {
		return true
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if r := escapedRune(pattern[i+1:]); r >= 0x80 && Fold(string(r)) != string(r) || r > 0 && r < 0x80 &&
			!plainByte[byte(r)] {
			return true
		}
		i++
	}
	return false
}

// escapedRune is the character that \xFF, \x{10FFFF} or \177 names (RE2), −1 for any other escape.
func escapedRune(s string) rune {
	digits, base := "", rune(16)
	switch {
	case strings.HasPrefix(s, "x{"):
		digits, _, _ = strings.Cut(s[2:], "}")
	case s[0] == 'x' && len(s) >= 3:
		digits = s[1:3]
	case s[0] >= '0' && s[0] <= '7':
		digits, base = s[:min(3, len(s))], 8
	}
	r := rune(-1)
	for i, c := range strings.ToLower(digits) {
		v := rune(strings.IndexRune("0123456789abcdef", c))
		if v < 0 || v >= base || i > 7 {
			break
		}
		r = max(r, 0)*base + v
	}
	return r
}
