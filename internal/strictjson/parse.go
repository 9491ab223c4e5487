package strictjson

import (
	"fmt"
	"strings"
)

// slabSize bounds how many values one allocation holds: a document of 5 MiB that is one string full of commas must not
// cost an arena for five million values.
const slabSize = 256

// Parse reads src as one JSON document (RFC 8259) and refuses what S46 refuses. The error is a *Error, and then the
// value is nil. A zero MaxBytes, MaxDepth or MaxValues means the bound of S46, so that no caller can read without
// limits by forgetting one. Numbers beyond the bound of S11 are kept and marked OutOfRange: they are the engine's
// finding, not a refusal to read.
func Parse(src []byte, lim Limits) (*Value, error) {
	if lim.MaxBytes <= 0 {
		lim.MaxBytes = SubmissionLimits.MaxBytes
	}
	if lim.MaxDepth <= 0 {
		lim.MaxDepth = SubmissionLimits.MaxDepth
	}
	if lim.MaxValues <= 0 {
		lim.MaxValues = SubmissionLimits.MaxValues
	}
	if len(src) > lim.MaxBytes {
		return nil, &Error{Code: codeSize, Pos: startPos,
			Message: fmt.Sprintf("the document has more than the %d bytes that are read", lim.MaxBytes)}
	}
	p := &parser{doc: string(src), lim: lim, line: 1}
	p.slab = make([]Value, min(slabSize, p.valueBound()))
	root, err := p.readDocument()
	if err != nil {
		return nil, err
	}
	return root, nil
}

// startPos is where a refusal of the whole document stands.
var startPos = Pos{Offset: 0, Line: 1, Col: 1}

// parser is one pass over one document. Texts are substrings of doc; values, element lists and member lists come from
// slabs.
type parser struct {
	doc string
	lim Limits
	pos int

	line      int // of pos, from 1
	lineStart int // offset of the line's first byte
	wide      int // bytes of the line so far that begin no code point, so that columns need no second pass

	values int // made so far
	path   int // bytes of the names on the way to the value under way

	slab    []Value
	items   []*Value // elements of the arrays that are still open, innermost last
	members []Member // members of the objects that are still open, innermost last
	refs    []*Value // room for the element lists of closed arrays
	fields  []Member // room for the member lists of closed objects
	decoded []byte   // room for a text with escapes while it is read
}

func (p *parser) valueBound() int { return ValueBound(p.doc) }

// ValueBound is never less than the number of values of a document: each follows a comma or an opening bracket, or is
// the root.
func ValueBound(doc string) int {
	return 1 + strings.Count(doc, ",") + strings.Count(doc, "[") + strings.Count(doc, "{")
}

// maxPath bounds the names on the way to a value, in bytes: a JSON Pointer is written for whatever is flagged, and one
// name of a megabyte above a hundred thousand values would be a hundred gigabytes of them.
const maxPath = 4096

// here is the place of the next byte.
func (p *parser) here() Pos {
	return Pos{Offset: p.pos, Line: p.line, Col: p.pos - p.lineStart - p.wide + 1}
}

func (p *parser) fail(v *Value, at Pos, code, format string, args ...any) *Error {
	return &Error{Code: code, Pos: at, Pointer: v.Pointer(), Message: fmt.Sprintf(format, args...)}
}

// readDocument reads white space, one value, white space and the end.
func (p *parser) readDocument() (*Value, *Error) {
	if err := p.readOpening(); err != nil {
		return nil, err
	}
	root := p.newValue(nil, "", 0)
	if err := p.readValue(root, 1); err != nil {
		return nil, err
	}
	if p.lim.Object && root.Kind != Object {
		return nil, p.fail(root, root.Pos, codeNotObject, "the document is %s; one object { … } is expected",
			root.Kind.article())
	}
	p.skipSpace()
	if p.pos < len(p.doc) {
		return nil, p.failTrailing(root)
	}
	return root, nil
}

// readOpening refuses a byte order mark and a document without a value, and stops at the first byte of the value.
func (p *parser) readOpening() *Error {
	switch {
	case strings.HasPrefix(p.doc, "\uFEFF"):
		return p.fail(nil, startPos, codeBOM,
			"the document begins with a byte order mark; save it as UTF-8 without BOM")
	case strings.HasPrefix(p.doc, "\xFE\xFF"), strings.HasPrefix(p.doc, "\xFF\xFE"):
		return p.fail(nil, startPos, codeBOM, "the document begins with a UTF-16 byte order mark; save it as UTF-8 "+
			"without BOM")
	}
	p.skipSpace()
	if p.pos == len(p.doc) {
		return p.fail(nil, p.here(), codeEmpty, "the document is empty; one JSON value is expected")
	}
	return nil
}

// skipSpace skips the four white space characters of JSON.
func (p *parser) skipSpace() {
	for p.pos < len(p.doc) {
		switch p.doc[p.pos] {
		case ' ', '\t', '\r':
			p.pos++
		case '\n':
			p.pos++
			p.line++
			p.lineStart, p.wide = p.pos, 0
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end. A 0 in the document is never valid outside a string either, so nothing is lost.
func (p *parser) peek() byte {
	if p.pos < len(p.doc) {
		return p.doc[p.pos]
	}
	return 0
}

// readValue reads the value at pos into v, whose parent and name are already set, so that every refusal has a pointer.
func (p *parser) readValue(v *Value, depth int) (err *Error) {
	v.Pos = p.here()
	if p.values > p.lim.MaxValues {
		return p.fail(v, v.Pos, codeValues, "the document has more than %d values", p.lim.MaxValues)
	}
	switch c := p.peek(); {
	case c == '"':
		v.Kind = String
		v.Text, err = p.readString(v)
	case c == '{' || c == '[':
		err = p.readContainer(v, c, depth)
	case c == '-' || isDigit(c):
		err = p.readNumber(v)
	case c == 't':
		err = p.readLiteral(v, Bool, "true")
	case c == 'f':
		err = p.readLiteral(v, Bool, "false")
	case c == 'n':
		err = p.readLiteral(v, Null, "null")
	default:
		err = p.notValue(v)
	}
	v.End = p.pos
	return err
}

func (p *parser) readLiteral(v *Value, kind Kind, word string) *Error {
	if p.wordAtPos() != word {
		return p.notValue(v)
	}
	v.Kind = kind
	if kind == Bool {
		v.Text = word
	}
	p.pos += len(word)
	return nil
}

// readContainer refuses the bracket that goes too deep before anything is read or called for it: depth bounds the
// recursion.
func (p *parser) readContainer(v *Value, open byte, depth int) *Error {
	if depth > p.lim.MaxDepth {
		return p.fail(v, v.Pos, codeDepth, "arrays and objects are nested more than %d deep", p.lim.MaxDepth)
	}
	p.pos++
	p.skipSpace()
	if open == '[' {
		v.Kind = Array
		return p.readArray(v, depth)
	}
	v.Kind = Object
	return p.readObject(v, depth)
}

func (p *parser) readArray(v *Value, depth int) *Error {
	base := len(p.items)
	for first := true; ; first = false {
		if first && p.peek() == ']' {
			break
		}
		item := p.newValue(v, "", len(p.items)-base)
		if err := p.readValue(item, depth+1); err != nil {
			return err
		}
		p.items = append(p.items, item)
		more, err := p.readNext(v, ']')
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	p.pos++
	v.Items = p.keepItems(p.items[base:])
	p.items = p.items[:base]
	return nil
}

func (p *parser) readObject(v *Value, depth int) *Error {
	base := len(p.members)
	var seen map[string]int
	for first := true; ; first = false {
		if first && p.peek() == '}' {
			break
		}
		m, err := p.readName(v)
		if err != nil {
			return err
		}
		if seen, err = p.checkUnique(v, p.members[base:], m, seen); err != nil {
			return err
		}
		if p.path += len(m.Key); p.path > maxPath {
			return p.fail(v, m.KeyPos, codeNames, "the names of this member and of those around it have more than "+
				"%d bytes together", maxPath)
		}
		m.Value = p.newValue(v, m.Key, 0)
		if err := p.readValue(m.Value, depth+1); err != nil {
			return err
		}
		p.path -= len(m.Key)
		p.members = append(p.members, m)
		more, err := p.readNext(v, '}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	p.pos++
	v.Members = p.keepMembers(p.members[base:])
	if len(v.Members) >= indexFrom {
		v.places = seen
	}
	p.members = p.members[:base]
	return nil
}

// readName reads a member's name and the colon, and stops at the first byte of its value.
func (p *parser) readName(v *Value) (Member, *Error) {
	m := Member{KeyPos: p.here()}
	if p.peek() != '"' {
		return m, p.notName(v)
	}
	var err *Error
	if m.Key, err = p.readString(v); err != nil {
		return m, err
	}
	p.skipSpace()
	if p.peek() != ':' {
		return m, p.failUnexpected(v, fmt.Sprintf("a colon after the name %s", quote(m.Key)))
	}
	p.pos++
	p.skipSpace()
	return m, nil
}

// mapFrom is the number of members from which names are looked up in a map: below it comparing is faster, above it the
// square of the number of names would let a hostile document burn time.
const mapFrom = 12

// indexFrom is the number of members from which the map is kept, so that looking a name up does not go through them
// all.
const indexFrom = 64

// checkUnique refuses a name that the object already has, compared as decoded: "a" and "\u0061" are one name.
func (p *parser) checkUnique(v *Value, sofar []Member, m Member, seen map[string]int) (map[string]int, *Error) {
	if seen == nil && len(sofar) < mapFrom {
		for i := range sofar {
			if sofar[i].Key == m.Key {
				return nil, p.failDuplicate(v, sofar[i], m)
			}
		}
		return nil, nil
	}
	if seen == nil {
		seen = make(map[string]int, 2*mapFrom)
		for i := range sofar {
			seen[sofar[i].Key] = i
		}
	}
	if i, dup := seen[m.Key]; dup {
		return nil, p.failDuplicate(v, sofar[i], m)
	}
	seen[m.Key] = len(sofar)
	return seen, nil
}

func (p *parser) failDuplicate(v *Value, first, again Member) *Error {
	at := &Value{up: v, key: again.Key}
	return p.fail(at, again.KeyPos, codeDuplicate, "duplicate key %s (first at line %d, column %d): a name may "+
		"stand only once in an object",
		quote(again.Key), first.KeyPos.Line, first.KeyPos.Col)
}

// readNext reads what stands after an element: a comma (more follows, and is not the closing bracket) or the closing
// bracket, which is left unread.
func (p *parser) readNext(v *Value, end byte) (more bool, err *Error) {
	p.skipSpace()
	switch p.peek() {
	case end:
		return false, nil
	case ',':
		at := p.here()
		p.pos++
		p.skipSpace()
		if p.peek() == end {
			return false, p.fail(v, at, codeSyntax, "a comma before the closing %q; remove it", end)
		}
		return true, nil
	}
	return false, p.failUnexpected(v, fmt.Sprintf("a comma or the closing %q", end))
}

func (p *parser) newValue(up *Value, key string, index int) *Value {
	if len(p.slab) == 0 {
		p.slab = make([]Value, slabSize)
	}
	v := &p.slab[0]
	p.slab = p.slab[1:]
	p.values++
	v.up, v.key, v.index = up, key, int32(index) // a document of MaxBytes has fewer values than that
	return v
}

func (p *parser) keepItems(from []*Value) []*Value {
	if len(from) == 0 {
		return nil
	}
	if len(p.refs) < len(from) {
		p.refs = make([]*Value, max(len(from), slabSize/4))
	}
	kept := p.refs[:len(from):len(from)]
	p.refs = p.refs[len(from):]
	copy(kept, from)
	return kept
}

func (p *parser) keepMembers(from []Member) []Member {
	if len(from) == 0 {
		return nil
	}
	if len(p.fields) < len(from) {
		p.fields = make([]Member, max(len(from), slabSize/4))
	}
	kept := p.fields[:len(from):len(from)]
	p.fields = p.fields[len(from):]
	copy(kept, from)
	return kept
}
