package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the bytes that a string may hold as they are: printable ASCII without the quote and the backslash, and
// DEL.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// readString reads the string at pos. Without an escape the text is a substring of the document.
func (p *parser) readString(v *Value) (string, *Error) {
	open := p.here()
	p.pos++
	start := p.pos
	if err := p.run(v, open); err != nil {
		return "", err
	}
	if p.doc[p.pos] == '"' {
		p.pos++
		return p.doc[start : p.pos-1], nil
	}
	text := append(p.decoded[:0], p.doc[start:p.pos]...)
	for p.doc[p.pos] == '\\' {
		var err *Error
		if text, err = p.readEscape(v, open, text); err != nil {
			return "", err
		}
		start = p.pos
		if err = p.run(v, open); err != nil {
			return "", err
		}
		text = append(text, p.doc[start:p.pos]...)
	}
	p.pos++
	p.decoded = text
	return string(text), nil
}

// run goes over plain and well-formed UTF-8 text and stops at a quote or a backslash.
func (p *parser) run(v *Value, open Pos) *Error {
	for p.pos < len(p.doc) {
		c := p.doc[p.pos]
		if plain[c] {
			p.pos++
			continue
		}
		if c == '"' || c == '\\' {
			return nil
		}
		if c < 0x20 {
			return p.fail(v, p.here(), codeSyntax, "control character U+%04X in a string; write it as %s", c,
				controlEscape(c))
		}
		r, size := utf8.DecodeRuneInString(p.doc[p.pos:])
		if r == utf8.RuneError && size == 1 {
			return p.badUTF8(v)
		}
		p.wide += size - 1
		p.pos += size
	}
	return p.failUnterminated(v, open)
}

func (p *parser) failUnterminated(v *Value, open Pos) *Error {
	return p.fail(v, open, codeSyntax, "the string that begins here is not closed before the end of the document")
}

func (p *parser) badUTF8(v *Value) *Error {
	return p.fail(v, p.here(), codeUTF8, "byte 0x%02X is not UTF-8; save the document as UTF-8", p.doc[p.pos])
}

// simple are the escapes of one character; none stands for U+0000.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// readEscape reads the escape at pos and appends what it stands for.
func (p *parser) readEscape(v *Value, open Pos, text []byte) ([]byte, *Error) {
	at := p.here()
	if p.pos+1 >= len(p.doc) {
		return nil, p.failUnterminated(v, open)
	}
	c := p.doc[p.pos+1]
	if c == 'u' {
		r, err := p.readUnicodeEscape(v, at)
		return utf8.AppendRune(text, r), err
	}
	b := simple[c]
	if b == 0 {
		r, _ := utf8.DecodeRuneInString(p.doc[p.pos+1:])
		return nil, p.fail(v, at, codeSyntax, `\ before %q is no escape of JSON; a backslash itself is written \\`, r)
	}
	p.pos += 2
	return append(text, b), nil
}

// readUnicodeEscape reads \uXXXX, or the two of a surrogate pair. Half a pair is no character and is refused (S46):
// libraries replace it, so that two different documents would read the same.
func (p *parser) readUnicodeEscape(v *Value, at Pos) (rune, *Error) {
	r, ok := p.hex4(p.pos)
	if !ok {
		return 0, p.fail(v, at, codeSyntax, `\u needs four hexadecimal digits`)
	}
	p.pos += 6
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	low, ok := p.hex4(p.pos)
	pair := utf16.DecodeRune(r, low)
	if !ok || pair == utf8.RuneError {
		return 0, p.fail(v, at, codeSurrogate, `\u%04X is half of a surrogate pair; the other half must follow or `+
			`precede it`, r)
	}
	p.pos += 6
	return pair, nil
}

// hex4 is the code unit of the \uXXXX at offset i.
func (p *parser) hex4(i int) (rune, bool) {
	if i+6 > len(p.doc) || p.doc[i] != '\\' || p.doc[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.doc[i+2 : i+6]) {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// controlEscape is how JSON writes a control character.
func controlEscape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[c>>4], hex[c&15]})
}
