package canonical

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Limits bound what CheckLimits accepts.
type Limits struct {
	MaxBytes int // bytes of the whole text; 0 means any number
	MaxDepth int // nested arrays and objects, the root being 1
}

// The limits in force: a receipt and all the ledger's own files, and a report, which may be longer.
var (
	Receipt = Limits{MaxBytes: 256 << 10, MaxDepth: 16}
	Report  = Limits{MaxDepth: 16}
)

// maxInt is the largest integer, and −maxInt the smallest, that every JSON reader holds exactly: 2^53−1.
const maxInt = 1<<53 - 1

// The rules of the profile, as Error.Rule names them.
const (
	RuleGrammar   = "grammar"     // not JSON
	RuleRoot      = "root"        // the root is not an object
	RuleTrailing  = "trailing"    // something follows the root
	RuleBOM       = "bom"         // a byte order mark
	RuleSpace     = "white-space" // white space outside a string
	RuleKey       = "key"         // a key that does not match [a-z][a-z0-9_]*
	RuleSorted    = "sorted"      // keys out of order
	RuleDuplicate = "duplicate"   // the same key twice
	RuleInteger   = "integer"     // a number in another form than an integer's
	RuleRange     = "range"       // an integer beyond ±(2^53−1)
	RuleUTF8      = "utf-8"       // bytes that are not UTF-8
	RuleEscape    = "escape"      // an escape where RFC 8785 has none, or another one
	RuleCodePoint = "code-point"  // a code point that strings must not hold
	RuleNull      = "null"        // null
	RuleDepth     = "depth"       // nested too deep
	RuleSize      = "size"        // too many bytes
	RuleType      = "type"        // a Go value that has no canonical form (Marshal only)
)

// Error says where a text leaves the profile, by which rule, and what would be right.
type Error struct {
	Offset  int    // bytes from the start of the text; -1 from Marshal
	Rule    string // one of the Rule constants
	Message string
}

// Error gives the place, the message and the rule.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("not canonical: %s [%s]", e.Message, e.Rule)
	}
	return fmt.Sprintf("not canonical at byte %d: %s [%s]", e.Offset, e.Message, e.Rule)
}

// Check reports whether b is canonical within the bounds of a receipt, in one pass and without allocating; the error
// is an *Error.
func Check(b []byte) error { return CheckLimits(b, Receipt) }

// CheckLimits is Check with other bounds.
func CheckLimits(b []byte, lim Limits) error { return CheckMembers(b, lim, nil) }

// CheckMembers is CheckLimits and calls member, if it is not nil, with the key and the text of each member of the root
// as soon as that member is known to be canonical. The two slices belong to b.
func CheckMembers(b []byte, lim Limits, member func(key, value []byte)) error {
	if lim.MaxBytes > 0 && len(b) > lim.MaxBytes {
		return &Error{lim.MaxBytes, RuleSize, fmt.Sprintf("%d bytes; at most %d are allowed", len(b), lim.MaxBytes)}
	}
	if bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")) {
		return &Error{0, RuleBOM, "the text begins with a byte order mark; it must begin with {"}
	}
	c := checker{b: b, max: lim.MaxDepth, member: member}
	if c.peek() != '{' {
		return c.rootError()
	}
	if err := c.checkValue(1); err != nil {
		return err
	}
	if c.i < len(b) {
		return &Error{c.i, RuleTrailing, fmt.Sprintf("%q follows the object; the text ends at its last brace",
			b[c.i:c.i+1])}
	}
	return nil
}

// checker is the place of the one pass.
type checker struct {
	b      []byte
	i      int
	max    int
	member func(key, value []byte)
}

// peek is the byte at hand, 0 at the end; a zero byte is not canonical anywhere, so the two need no distinction.
func (c *checker) peek() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// fail is an error at the byte at hand.
func (c *checker) fail(rule, format string, args ...any) *Error {
	return &Error{c.i, rule, fmt.Sprintf(format, args...)}
}

// rootError says why the text does not begin with an object.
func (c *checker) rootError() error {
	switch {
	case len(c.b) == 0:
		return c.fail(RuleGrammar, "the text is empty, an object is expected")
	case isSpace(c.b[0]):
		return c.fail(RuleSpace, "white space before the object")
	}
	return c.fail(RuleRoot, "the text begins with %q, an object is expected", c.b[:1])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// checkValue checks one value; depth is what an array or object here would be.
func (c *checker) checkValue(depth int) error {
	switch b := c.peek(); {
	case b == '"':
		return c.checkString()
	case b == '{' || b == '[':
		if depth > c.max {
			return c.fail(RuleDepth, "nested deeper than %d", c.max)
		}
		if b == '{' {
			return c.checkObject(depth)
		}
		return c.checkArray(depth)
	case b == '-' || b >= '0' && b <= '9':
		return c.checkNumber()
	case b == 't':
		return c.skipWord("true")
	case b == 'f':
		return c.skipWord("false")
	case b == 'n' && bytes.HasPrefix(c.b[c.i:], []byte("null")):
		return c.fail(RuleNull, "null; leave the member out")
	}
	return c.unexpected("a value")
}

// unexpected says what stands where want should.
func (c *checker) unexpected(want string) error {
	if c.i >= len(c.b) {
		return c.fail(RuleGrammar, "the text ends where %s is expected", want)
	}
	if isSpace(c.b[c.i]) {
		return c.fail(RuleSpace, "white space outside a string")
	}
	return c.fail(RuleGrammar, "%q where %s is expected", c.b[c.i:c.i+1], want)
}

func (c *checker) skipWord(w string) error {
	if !bytes.HasPrefix(c.b[c.i:], []byte(w)) {
		return c.unexpected("a value")
	}
	c.i += len(w)
	return nil
}

func (c *checker) checkArray(depth int) error {
	c.i++
	if c.peek() == ']' {
		c.i++
		return nil
	}
	for {
		if err := c.checkValue(depth + 1); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.i++
		case ']':
			c.i++
			return nil
		default:
			return c.unexpected("a comma or ]")
		}
	}
}

func (c *checker) checkObject(depth int) error {
	c.i++
	if c.peek() == '}' {
		c.i++
		return nil
	}
	var last []byte
	for {
		key, err := c.checkKey(last)
		if err != nil {
			return err
		}
		start := c.i
		if err := c.checkValue(depth + 1); err != nil {
			return err
		}
		if depth == 1 && c.member != nil {
			c.member(key, c.b[start:c.i])
		}
		last = key
		switch c.peek() {
		case ',':
			c.i++
		case '}':
			c.i++
			return nil
		default:
			return c.unexpected("a comma or }")
		}
	}
}

// checkKey checks a key and the colon behind it; last is the key before it, nil for the first.
func (c *checker) checkKey(last []byte) ([]byte, error) {
	if c.peek() != '"' {
		return nil, c.unexpected("a key")
	}
	start := c.i + 1
	end := start
	for end < len(c.b) && isKeyByte(c.b[end], end == start) {
		end++
	}
	if end == start || end == len(c.b) || c.b[end] != '"' {
		return nil, &Error{end, RuleKey, "a key must match [a-z][a-z0-9_]*"}
	}
	key := c.b[start:end]
	if order := bytes.Compare(last, key); last != nil && order >= 0 {
		if order == 0 {
			return nil, c.fail(RuleDuplicate, "duplicate key %q", key)
		}
		return nil, c.fail(RuleSorted, "the key %q follows %q; keys must be sorted", key, last)
	}
	c.i = end + 1
	if c.peek() != ':' {
		return nil, c.unexpected("a colon")
	}
	c.i++
	return key, nil
}

func isKeyByte(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || !first && (c >= '0' && c <= '9' || c == '_')
}

// checkNumber checks the token and its range. Sixteen digits fit an int64, so the range needs no big number.
func (c *checker) checkNumber() error {
	start := c.i
	if c.peek() == '-' {
		c.i++
	}
	digits := c.i
	var n int64
	for ; c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9'; c.i++ {
		if c.i-digits < 17 {
			n = n*10 + int64(c.b[c.i]-'0')
		}
	}
	end := c.i
	c.i = start // an error is about the whole token
	switch next := c.byteAt(end); {
	case end == digits:
		return c.fail(RuleGrammar, "a minus sign without digits")
	case next == '.' || next == 'e' || next == 'E':
		return c.fail(RuleInteger, "a number with a fraction or an exponent; write a decimal string")
	case c.b[digits] == '0' && end-digits > 1:
		return c.fail(RuleInteger, "a number with a leading zero")
	case c.b[digits] == '0' && digits > start:
		return c.fail(RuleInteger, "-0; write 0")
	case end-digits > 16 || n > maxInt:
		return c.fail(RuleRange, "an integer beyond ±(2^53−1); write a decimal string")
	}
	c.i = end
	return nil
}

func (c *checker) byteAt(i int) byte {
	if i < len(c.b) {
		return c.b[i]
	}
	return 0
}

// plain marks the bytes that stand for themselves in a string and need no second look.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// checkString checks a string: runs of plain bytes, and the rest one code point at a time.
func (c *checker) checkString() error {
	b, i := c.b, c.i+1
	for {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i < len(b) && b[i] == '"' {
			c.i = i + 1
			return nil
		}
		c.i = i
		if i == len(b) {
			return c.fail(RuleGrammar, "the text ends inside a string")
		}
		if err := c.checkSpecial(); err != nil {
			return err
		}
		i = c.i
	}
}

// checkSpecial checks the escape or the code point at hand and steps over it.
func (c *checker) checkSpecial() error {
	b := c.b[c.i]
	if b == '\\' {
		return c.checkEscape()
	}
	if b < 0x20 {
		return c.fail(RuleEscape, "the control U+%04X must be escaped", b)
	}
	r, n := utf8.DecodeRune(c.b[c.i:])
	if r == utf8.RuneError && n <= 1 {
		return c.fail(RuleUTF8, "the byte 0x%02X is not UTF-8 here", b)
	}
	if Forbidden(r) {
		return c.fail(RuleCodePoint, "U+%04X is not allowed in a string; the writer replaces it with <U+%04X>", r, r)
	}
	c.i += n
	return nil
}

// checkEscape checks that the escape at hand is the one RFC 8785 prints for its code point.
func (c *checker) checkEscape() error {
	switch c.byteAt(c.i + 1) {
	case '"', '\\', 'b', 't', 'n', 'f', 'r':
		c.i += 2
		return nil
	case 'u':
		if len(c.b)-c.i < 6 {
			return c.fail(RuleGrammar, "the text ends inside an escape")
		}
		if isControlEscape(c.b[c.i+2 : c.i+6]) {
			c.i += 6
			return nil
		}
		return c.fail(RuleEscape, "%q is not how RFC 8785 writes this code point", c.b[c.i:c.i+6])
	}
	return c.fail(RuleEscape, `an escape other than \" \\ \b \t \n \f \r and \u00xx of a control`)
}

// isControlEscape reports whether x is 0000…001f in lower case and no control with a short escape.
func isControlEscape(x []byte) bool {
	if x[0] != '0' || x[1] != '0' || x[2] != '0' && x[2] != '1' {
		return false
	}
	low := bytes.IndexByte([]byte(hexDigits), x[3])
	if low < 0 {
		return false
	}
	return short[int(x[2]-'0')<<4|low] == 0
}

const hexDigits = "0123456789abcdef"

// short gives the letter of a control's short escape, 0 where it has none.
var short = [32]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// Forbidden reports whether the profile keeps r out of strings: readers disagree on it (U+007F, U+2028, U+2029), it
// turns the text around for a human (bidirectional controls), or it is no character.
func Forbidden(r rune) bool {
	switch {
	case r < 0x7F:
		return false
	case r == 0x7F, r == 0x061C, r == 0x200E, r == 0x200F:
		return true
	case r >= 0x2028 && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}
