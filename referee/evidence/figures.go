package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Figure is a number where it stands in a text, whole: with its sign, brackets, currency, percent sign and scale word.
type Figure struct {
	Number
	Start, End int  // byte offsets of the whole token
	Adjective  bool // "24-unit": it counts what the word names
	from, to   int  // of its digits
}

var (
	months = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|` +
		`sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	// dates and times: a piece of one is no number.
	datePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)\b(?:\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?` +
				`|\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})|` + months +
				`\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}|\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+|day\s+of\s+)?` + months +
				`\.?,?\s+\d{4}|` + months + `\.?,?\s+\d{4}|` + months +
				`\.?\s+\d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)?\s+` + months + `|\d{1,2}:\d{2}(?::\d{2})?)\b`)
	})
	digitsPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\d[\d,.']*\d|\d)(?:[eE][+-]?\d+)?|\.\d+`)
	})
	scalePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[ \x{00a0}\x{202f}-]?(thousand|million|billion|trillion)s?\b`)
	})
	percentPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[ \x{00a0}\x{202f}]?[%％]|[ \x{00a0}]per ?cent\b)`)
	})
)

// scales are the powers of ten that words stand for.
var scales = map[string]int{"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

// Figures lists the numbers of a text as a person reads them. Pieces of dates, times, fractions, versions and names
// ("T-12", "unit_4", "Section 5.2.1", "3/4") are none.
func Figures(text string) []Figure {
	var out []Figure
	dates := datePattern().FindAllStringIndex(text, -1)
	for _, at := range digitsPattern().FindAllStringIndex(text, -1) {
		for len(dates) > 0 && dates[0][1] <= at[0] {
			dates = dates[1:]
		}
		if len(dates) > 0 && dates[0][0] < at[1] {
			continue
		}
		if f, ok := figureAt(text, at[0], at[1]); ok {
			out = append(out, f)
		}
	}
	return out
}

// figureAt reads the digits text[from:to] with what stands around them.
func figureAt(text string, from, to int) (Figure, bool) {
	digits, ok := plainDigits(text[from:to])
	if !ok || partOfName(text[:from], text[to:]) {
		return Figure{}, false
	}
	f := Figure{Number: Number{Text: digits}, Start: from, End: to, from: from, to: to}
	f.takeSuffixes(text)
	f.takePrefixes(text)
	return f, true
}

// partOfName reports whether the digits between the two texts belong to a name, a fraction or a longer token.
func partOfName(before, after string) bool {
	prev, size := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case before != "" && (isWordRune(prev) || prev == '#' || prev == '/' || prev == '.' || prev == '@'):
		return true
	case isWordRune(next) && !isMultiple(after):
		return true
	case strings.HasPrefix(after, "/") && len(after) > 1 && isDigitByte(after[1]):
		return true
	}
	if r, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); (prev == '-' || prev == '‐' || prev == '‑') &&
		unicode.IsLetter(r) {
		return true // T-12
	}
	return false
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

func isDigitByte(c byte) bool { return '0' <= c && c <= '9' }

// isMultiple: 1.30x, and no longer word.
func isMultiple(after string) bool {
	rest, ok := strings.CutPrefix(after, "x")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !isWordRune(r))
}

// takeSuffixes takes in what follows the digits.
func (f *Figure) takeSuffixes(text string) {
	if m := scalePattern().FindStringSubmatch(text[f.End:]); m != nil {
		f.Scale = scales[strings.ToLower(m[1])]
		f.End += len(m[0])
	} else if m := percentPattern().FindString(text[f.End:]); m != "" {
		f.Percent = true
		f.End += len(m)
	} else if isMultiple(text[f.End:]) {
		f.End++
	}
	rest := text[f.End:]
	if hyphen, ok := strings.CutPrefix(rest, "-"); ok {
		r, _ := utf8.DecodeRuneInString(hyphen)
		switch {
		case unicode.IsLetter(r):
			f.Adjective = true
		case hyphen == "" || strings.ContainsRune(" \t\r\n,;)\"|", r):
			f.negateText()
			f.End++
		}
	}
}

// takePrefixes takes in the currency, the sign and the brackets before the digits.
func (f *Figure) takePrefixes(text string) {
	sign := func() bool {
		for _, m := range minusSigns {
			before, ok := strings.CutSuffix(text[:f.Start], m)
			if !ok {
				continue
			}
			if r, _ := utf8.DecodeLastRuneInString(before); before == "" || !isWordRune(r) && r != ')' && r != '%' {
				f.Start = len(before)
				f.negateText()
				return true
			}
		}
		return false
	}
	signed := sign()
	before := strings.TrimRight(text[:f.Start], " \u00a0\u202f")
	for _, c := range append(slices.Clone(currencies), "$", "€", "£", "¥", "₹") {
		if rest, ok := strings.CutSuffix(before, c); ok {
			if r, _ := utf8.DecodeLastRuneInString(rest); rest == "" || !unicode.IsLetter(r) {
				f.Currency, f.Start = c, len(rest)
				break
			}
		}
	}
	if !signed && f.Currency != "" {
		signed = sign()
	}
	f.takeBrackets(text, signed)
}

// brackets: a number in brackets is negative, as accountants write it, unless it restates the words before it ("twelve
// (12) months").
func (f *Figure) takeBrackets(text string, signed bool) {
	before, ok := strings.CutSuffix(text[:f.Start], "(")
	after, also := strings.CutPrefix(text[f.End:], ")")
	if !ok || !also {
		return
	}
	f.Start, f.End = len(before), len(text)-len(after)
	if m := percentPattern().FindString(after); m != "" && !f.Percent {
		f.Percent = true
		f.End += len(m)
	}
	if !signed && !restatesWords(before) {
		f.negateText()
	}
}

func (f *Figure) negateText() {
	if digits, was := strings.CutPrefix(f.Text, "-"); was {
		f.Text = digits
	} else if strings.ContainsAny(mantissaOf(f.Text), "123456789") {
		f.Text = "-" + f.Text
	}
}

var numberWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(
		`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
		seventeen eighteen nineteen twenty thirty
		forty fifty sixty seventy eighty ninety hundred thousand million billion`) {
		words[w] = true
	}
	return words
})

// restatesWords reports whether one of the last words before a bracket is a number in words.
func restatesWords(before string) bool {
	if len(before) > 80 {
		before = strings.ToValidUTF8(before[len(before)-80:], "")
	}
	words := strings.FieldsFunc(strings.ToLower(before), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words[max(0, len(words)-3):], func(w string) bool { return numberWords()[w] })
}

// Dates lists the dates of a text as YYYY-MM-DD. A date of numbers alone is listed both ways where the order of day and
// month is open.
func Dates(text string) []string {
	var out []string
	for _, at := range datePattern().FindAllString(text, -1) {
		for _, d := range datesIn(at) {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}
