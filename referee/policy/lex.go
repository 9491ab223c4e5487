package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxText is the longest text of an expression, in code points.
const maxText = 4000

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokSpace // $stack
	tokOp
)

// token is one word of a text. cols has, for a string, the column in the source of each of its code points, and of its
// closing quote, so that an error inside a row expression is shown where it stands.
type token struct {
	kind tokenKind
	text string
	col  int
	cols []int
}

func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokString:
		return "a text in quotes"
	}
	return quoteShort(t.text)
}

// lexer cuts a text into tokens. cols maps its code points to columns of the outermost text.
type lexer struct {
	src  []rune
	cols []int
	at   int
}

func newLexer(src string, p place) *lexer {
	if !utf8.ValidString(src) {
		refuse(p, "write UTF-8", "the text is not valid UTF-8")
	}
	l := &lexer{src: []rune(src)}
	if len(l.src) > maxText {
		refuse(p, "split the rule", "the text has %d characters, at most %d are allowed", len(l.src), maxText)
	}
	return l
}

func (l *lexer) columnOf(i int) int {
	if l.cols == nil {
		return i + 1
	}
	return l.cols[min(i, len(l.cols)-1)]
}

func (l *lexer) placeHere() place { return place{col: l.columnOf(l.at)} }

func (l *lexer) peekRune(ahead int) rune {
	if l.at+ahead < len(l.src) {
		return l.src[l.at+ahead]
	}
	return 0
}

// allTokens cuts the whole text.
func (l *lexer) allTokens() []token {
	out := make([]token, 0, 4+len(l.src)/4)
	for {
		t := l.nextToken()
		out = append(out, t)
		if t.kind == tokEnd {
			return out
		}
	}
}

func (l *lexer) nextToken() token {
	for l.at < len(l.src) && strings.ContainsRune(" \t\r\n", l.src[l.at]) {
		l.at++
	}
	t := token{col: l.columnOf(l.at)}
	c := l.peekRune(0)
	switch {
	case l.at >= len(l.src):
		return t
	case c == 'r' && (l.peekRune(1) == '"' || l.peekRune(1) == '\''):
		l.at++
		return l.lexText(t, true)
	case c == '"' || c == '\'':
		return l.lexText(t, false)
	case isLetter(c):
		t.kind, t.text = tokName, l.takeWhile(isWord)
	case isDigit(c) || c == '.' && isDigit(l.peekRune(1)):
		return l.lexNumber(t)
	case c == '$' && isLetter(l.peekRune(1)):
		l.at++
		t.kind, t.text = tokSpace, "$"+l.takeWhile(isWord)
	default:
		return l.lexOperator(t)
	}
	return t
}

func isLetter(c rune) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c rune) bool  { return '0' <= c && c <= '9' }
func isWord(c rune) bool   { return isLetter(c) || isDigit(c) }

// isName says whether a name can stand bare in a text.
func isName(s string) bool {
	if s == "" || !isLetter(rune(s[0])) || reserved[s] {
		return false
	}
	for _, c := range s {
		if !isWord(c) {
			return false
		}
	}
	return true
}

var reserved = map[string]bool{"and": true, "or": true, "not": true, "in": true, "if": true, "else": true,
	"True": true, "False": true, "true": true, "false": true, "None": true, "null": true}

func (l *lexer) takeWhile(ok func(rune) bool) string {
	start := l.at
	for l.at < len(l.src) && ok(l.src[l.at]) {
		l.at++
	}
	return string(l.src[start:l.at])
}

func (l *lexer) lexNumber(t token) token {
	start := l.at
	l.takeWhile(func(c rune) bool { return isDigit(c) || c == '_' || c == '.' })
	if c := l.peekRune(0); c == 'e' || c == 'E' {
		l.at++
		if c := l.peekRune(0); c == '+' || c == '-' {
			l.at++
		}
		l.takeWhile(isDigit)
	}
	if isLetter(l.peekRune(0)) {
		refuse(l.placeHere(), "put an operator or a space between them", "a number runs into a name")
	}
	t.kind, t.text = tokNumber, string(l.src[start:l.at])
	return t
}

// operators, longest first.
var operators = []string{"//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", ",",
	".", ":", "="}

// foreign are the operators of other languages and what to write for them.
var foreign = map[string]string{"^": "write ** for a power", "&&": "write and", "||": "write or", "!": "write not",
	"&": "write and, or intersect(a, b)",
	"|": "write or, or union(a, b)", "≥": "write >=", "≤": "write <=", "≠": "write !=", "×": "write *", "÷": "write /",
	"−": "write -",
	"$": "write the number alone", "€": "write the number alone", "£": "write the number alone",
	"{": "objects cannot be written here",
	"“": `write straight quotes "`, "”": `write straight quotes "`, "’": "write straight quotes '",
	"‘": "write straight quotes '"}

func (l *lexer) lexOperator(t token) token {
	rest := string(l.src[l.at:min(l.at+2, len(l.src))])
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			l.at += len(op)
			t.kind, t.text = tokOp, op
			return t
		}
	}
	hint := foreign[rest]
	if hint == "" {
		hint = foreign[string(l.src[l.at])]
	}
	refuse(place{col: t.col}, hint, "the character %s has no meaning here", quoteShort(string(l.src[l.at])))
	return t
}

// lexText reads a quoted string. In raw text a backslash is itself, and may stand before a quote to keep it from ending
// the text.
func (l *lexer) lexText(t token, raw bool) token {
	end := l.src[l.at]
	l.at++
	room := max(0, slices.Index(l.src[l.at:], end)) // about as long as the text is
	b := make([]rune, 0, room)
	t.cols = make([]int, 0, room+1)
	for {
		c := l.peekRune(0)
		switch {
		case l.at >= len(l.src):
			refuse(place{col: t.col}, "close it with "+string(end), "a text in quotes does not end")
		case c == end:
			t.kind, t.text, t.cols = tokString, string(b), append(t.cols, l.columnOf(l.at))
			l.at++
			return t
		}
		t.cols = append(t.cols, l.columnOf(l.at))
		if c != '\\' {
			b = append(b, c)
			l.at++
			continue
		}
		if raw {
			b = append(b, c)
			l.at++
			if l.at < len(l.src) {
				t.cols = append(t.cols, l.columnOf(l.at))
				b = append(b, l.src[l.at])
				l.at++
			}
			continue
		}
		b = append(b, l.lexEscape())
	}
}

var escapes = map[rune]rune{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}

func (l *lexer) lexEscape() rune {
	p := l.placeHere()
	c := l.peekRune(1)
	l.at += 2
	if r, ok := escapes[c]; ok {
		return r
	}
	if c == 'u' || c == 'x' {
		return l.lexHex(p, map[rune]int{'u': 4, 'x': 2}[c])
	}
	refuse(p, `write a pattern as raw text, r"\d+", and a backslash in other text as \\`, "unknown escape \\%s",
		string(c))
	return 0
}

func (l *lexer) lexHex(p place, digits int) rune {
	var r rune
	for range digits {
		d := strings.IndexRune("0123456789abcdef", l.peekRune(0)|0x20)
		if d < 0 || l.at >= len(l.src) {
			refuse(p, "write \\u with four hexadecimal digits", "a broken escape")
		}
		r = r<<4 | rune(d)
		l.at++
	}
	if !utf8.ValidRune(r) {
		refuse(p, "write the character itself", "the escape is half of a surrogate pair")
	}
	return r
}
