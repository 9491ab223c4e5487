package strictjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The values of Error.Code.
const (
	codeDuplicate = "duplicate_key"
	codeUTF8      = "invalid_utf8"
	codeSurrogate = "lone_surrogate"
	codeBOM       = "bom"
	codeDepth     = "depth"
	codeSize      = "size"
	codeTrailing  = "trailing_data"
	codeNotObject = "not_an_object"
	codeSyntax    = "syntax"
	codeEmpty     = "empty"
	codeValues    = "values"
	codeNames     = "names"
)

// Error is the place, the message and, within the document, the pointer. Text of the document stands in it only quoted
// and shortened, so that it can be printed as it is.
func (e *Error) Error() string {
	at := fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Col, e.Message)
	if e.Pointer == "" {
		return at
	}
	return at + " (at " + visibleText(e.Pointer) + ")"
}

// quote shows text of the document in a message.
func quote(s string) string { return `"` + visibleText(s) + `"` }

// shown is how many code points of a document's text a message repeats.
const shown = 60

// visibleText shortens s and escapes what does not print or turns the writing direction.
func visibleText(s string) string {
	n := 0
	for i := range s {
		if n++; n > shown {
			s = s[:i] + "…"
			break
		}
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

func (k Kind) article() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	}
	return "an object"
}

// hints are the bare words that other languages write where JSON has another word or none.
var hints = map[string]string{
	"NaN":       "NaN is not JSON; leave the member out or write null",
	"nan":       "nan is not JSON; leave the member out or write null",
	"Infinity":  "Infinity is not JSON; leave the member out or write null",
	"Inf":       "Inf is not JSON; leave the member out or write null",
	"inf":       "inf is not JSON; leave the member out or write null",
	"undefined": "undefined is not JSON; leave the member out or write null",
	"None":      "None is not JSON; write null",
	"nil":       "nil is not JSON; write null",
	"NULL":      "NULL is not JSON; write null",
	"Null":      "Null is not JSON; write null",
	"True":      "True is not JSON; write true",
	"TRUE":      "TRUE is not JSON; write true",
	"False":     "False is not JSON; write false",
	"FALSE":     "FALSE is not JSON; write false",
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// wordAtPos is the run of letters, digits, _ and $ at pos.
func (p *parser) wordAtPos() string {
	end := p.pos
	for end < len(p.doc) && isWordByte(p.doc[end]) {
		end++
	}
	return p.doc[p.pos:end]
}

// notValue refuses what stands at pos in the place of a value.
func (p *parser) notValue(v *Value) *Error {
	if word := p.wordAtPos(); word != "" {
		if hint, ok := hints[word]; ok {
			return p.fail(v, p.here(), codeSyntax, "%s", hint)
		}
		return p.fail(v, p.here(), codeSyntax, "%s is not JSON; text is written in double quotes", visibleText(word))
	}
	switch p.peek() {
	case '+':
		return p.fail(v, p.here(), codeSyntax, "a number has no leading plus sign in JSON; remove it")
	case '.':
		return p.fail(v, p.here(), codeSyntax, "a number does not begin with a point in JSON; write a 0 before it")
	}
	return p.failUnexpected(v, "a value")
}

// notName refuses what stands at pos in the place of a member's name.
func (p *parser) notName(v *Value) *Error {
	if word := p.wordAtPos(); word != "" {
		return p.fail(v, p.here(), codeSyntax, "the name %s must stand in double quotes", visibleText(word))
	}
	return p.failUnexpected(v, "a name in double quotes")
}

// notNumber refuses the number that begins at start; pos stands where it went wrong.
func (p *parser) notNumber(v *Value, start int, why string) *Error {
	rest := p.wordAtPos()
	token := p.doc[start:p.pos] + rest
	switch {
	case why == "a digit must follow the minus sign" && hints[rest] != "":
		why = "leave the member out or write null"
	case strings.HasPrefix(strings.TrimPrefix(token, "-"), "0x"), strings.HasPrefix(strings.TrimPrefix(token, "-"),
		"0X"):
		why = "numbers are written in decimal"
	case why == "":
		why = "if it is text, write it in double quotes"
	}
	return p.fail(v, v.Pos, codeSyntax, "%s is not a JSON number; %s", visibleText(token), why)
}

// failTrailing refuses what stands after the document.
func (p *parser) failTrailing(root *Value) *Error {
	if e := p.failUnexpected(root, ""); e.Code != codeSyntax {
		return e
	}
	return p.fail(root, p.here(), codeTrailing, "%s after the end of the document; one file holds one document (a "+
		"file of one document a line is named .jsonl)", p.foundText())
}

// failUnexpected refuses the byte at pos where the grammar wants something else.
func (p *parser) failUnexpected(v *Value, want string) *Error {
	if p.pos < len(p.doc) {
		if r, size := utf8.DecodeRuneInString(p.doc[p.pos:]); r == utf8.RuneError && size == 1 {
			return p.badUTF8(v)
		}
	}
	return p.fail(v, p.here(), codeSyntax, "%s found where %s is expected", p.foundText(), want)
}

// foundText names what stands at pos.
func (p *parser) foundText() string {
	if p.pos >= len(p.doc) {
		return "the end of the document"
	}
	r, _ := utf8.DecodeRuneInString(p.doc[p.pos:])
	switch r {
	case 0:
		return "a null byte"
	case '\'':
		return "a single quote (JSON text stands in double quotes)"
	case '“', '”', '„', '‘', '’':
		return fmt.Sprintf("the typographic quote %c (JSON text stands in straight double quotes)", r)
	case '/', '#':
		return fmt.Sprintf("%q (JSON has no comments)", r)
	}
	return fmt.Sprintf("%q", r)
}
