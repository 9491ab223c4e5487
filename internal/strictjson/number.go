package strictjson

import "strings"

// The bound of S11. Beyond it a number is kept as text only and counts as missing: "1e5000000" in the hands of a
// decimal library is minutes and gigabytes.
const (
	maxToken    = 64
	maxDigits   = 34
	maxExponent = 300
)

// exponentCap is where counting an exponent stops: beyond any bound, and far from where an int overflows.
const exponentCap = 1 << 24

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// readNumber reads the number at pos: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func (p *parser) readNumber(v *Value) *Error {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	whole := p.skipDigits()
	switch {
	case whole == 0:
		return p.notNumber(v, start, "a digit must follow the minus sign")
	case whole > 1 && p.doc[p.pos-whole] == '0':
		return p.notNumber(v, start, "a number has no leading zeros; if it is a code, write it as a string")
	}
	if p.peek() == '.' {
		p.pos++
		if p.skipDigits() == 0 {
			return p.notNumber(v, start, "a digit must follow the decimal point")
		}
	}
	if p.peek()|0x20 == 'e' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.skipDigits() == 0 {
			return p.notNumber(v, start, "a digit must follow the exponent's e")
		}
	}
	if c := p.peek(); isWordByte(c) || c == '.' {
		return p.notNumber(v, start, "")
	}
	v.Kind, v.Text = Number, p.doc[start:p.pos]
	v.OutOfRange = outOfRange(v.Text)
	return nil
}

// skipDigits goes over decimal digits and counts them.
func (p *parser) skipDigits() int {
	start := p.pos
	for p.pos < len(p.doc) && isDigit(p.doc[p.pos]) {
		p.pos++
	}
	return p.pos - start
}

// outOfRange applies S11 to a number token. Significant digits are those from the first that is not 0, trailing zeros
// included, as decimal arithmetic counts the digits of a coefficient.
func outOfRange(token string) bool {
	if len(token) > maxToken {
		return true
	}
	if len(token) <= maxDigits && strings.IndexByte(token, 'e') < 0 && strings.IndexByte(token, 'E') < 0 {
		return false // short and without exponent: both bounds hold
	}
	n := splitNumber(token)
	adjusted := n.exp + max(len(n.digits), 1) - 1
	return len(n.digits) > maxDigits || adjusted > maxExponent || adjusted < -maxExponent
}

// parts is a number token as ±digits·10^exp; digits has no leading zeros and is empty for zero. The exponent stops
// counting at exponentCap, which capped tells.
type parts struct {
	neg    bool
	digits string
	exp    int
	capped bool
}

// splitNumber takes a valid number token apart.
func splitNumber(token string) parts {
	var n parts
	if strings.HasPrefix(token, "-") {
		n.neg, token = true, token[1:]
	}
	mantissa := token
	if i := strings.IndexAny(token, "eE"); i >= 0 {
		mantissa = token[:i]
		n.exp, n.capped = readExponent(token[i+1:])
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	n.digits = strings.TrimLeft(whole+frac, "0")
	n.exp -= len(frac)
	return n
}

func readExponent(s string) (n int, capped bool) {
	neg := s[0] == '-'
	for _, c := range []byte(strings.TrimLeft(s, "+-")) {
		n = n*10 + int(c-'0')
		if n > exponentCap {
			n, capped = exponentCap, true
			break
		}
	}
	if neg {
		n = -n
	}
	return n, capped
}

// canonicalParts drops the trailing zeros and the sign and exponent of a zero, so that equal numbers have equal parts.
func (n parts) canonicalParts() parts {
	if n.digits == "" {
		return parts{}
	}
	short := strings.TrimRight(n.digits, "0")
	n.exp += len(n.digits) - len(short)
	n.digits = short
	return n
}

// sameNumber compares two number tokens by value: 1.0, 1 and 10e-1 are one number. Exponents too large to count are
// only equal as written.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, y := splitNumber(a).canonicalParts(), splitNumber(b).canonicalParts()
	return !x.capped && !y.capped && x == y
}
