package formula

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
)

// Bounds of a literal (S11).
const (
	maxLiteral  = 64
	maxDigits   = 34
	maxExponent = 300
)

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// scanDigits is the index after digits from i; an underscore may stand between two of them.
func scanDigits(src []rune, i int) int {
	for i < len(src) && (isDigit(src[i]) || src[i] == '_' && i+1 < len(src) && isDigit(src[i+1]) && i > 0 &&
		isDigit(src[i-1])) {
		i++
	}
	return i
}

// scanNumber is the index after the decimal literal at i, or i.
func scanNumber(src []rune, i int) int {
	start := i
	i = scanDigits(src, i)
	whole := i > start
	if i < len(src) && src[i] == '.' {
		end := scanDigits(src, i+1)
		if !whole && end == i+1 {
			return start
		}
		i = end
	} else if !whole {
		return start
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		j := i + 1
		if j < len(src) && (src[j] == '+' || src[j] == '-') {
			j++
		}
		if end := scanDigits(src, j); end > j {
			return end
		}
	}
	return i
}

// parseNumber reads the literal at the current place.
func (p *parser) parseNumber() (*node, error) {
	start := p.pos
	end := scanNumber(p.src, start)
	written := string(p.src[start:end])
	if err := p.checkThousands(start, end); err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(written, "_", "")
	literal, ok := canonicalLiteral(text)
	if len(text) > maxLiteral || !ok {
		return nil, p.failAt(start, "the number "+legible.Clip(written, 24)+" is out of range",
			"at most 64 characters, 34 significant digits and exponents within ±300")
	}
	num, err := decimal.Parse(text)
	if err != nil {
		return nil, p.failAt(start, "the number "+legible.Clip(written, 24)+" cannot be read", "")
	}
	if text != written {
		p.addNote(fmt.Sprintf("%s read as %s", written, text))
	}
	p.pos = end
	n, err := p.newNode(opNum, start)
	if err == nil {
		n.num, n.literal = num, literal
	}
	return n, err
}

// canonicalLiteral is the number with no superfluous digits, exactly as precise as it was written; false where S11
// refuses it. decimal.Num's own String stops at 28 digits, which would make two literals one.
func canonicalLiteral(text string) (string, bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		exponent = smallInt(text[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	// Trailing zeros are significant digits here, as they are to the reader of submissions.
	adjusted := max(len(digits), 1) - 1 + exponent - len(fraction)
	if len(digits) > maxDigits || adjusted > maxExponent || adjusted < -maxExponent {
		return "", false
	}
	digits = strings.TrimRight(digits, "0")
	switch {
	case digits == "":
		return "0", true
	case adjusted < -12 || adjusted >= maxDigits: // written out, 9e34 would have a digit too many to be read back
		m := digits[:1]
		if len(digits) > 1 {
			m += "." + digits[1:]
		}
		return fmt.Sprintf("%se%+d", m, adjusted), true
	case adjusted < 0:
		return "0." + strings.Repeat("0", -adjusted-1) + digits, true
	case len(digits) <= adjusted+1:
		return digits + strings.Repeat("0", adjusted+1-len(digits)), true
	}
	return digits[:adjusted+1] + "." + digits[adjusted+1:], true
}

// smallInt reads a signed integer and stops growing at a million.
func smallInt(s string) int {
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	n := 0
	for _, r := range strings.TrimLeft(s, "+-") {
		n = min(n*10+int(r-'0'), 1_000_000)
	}
	return sign * n
}

// checkThousands refuses 1,000 where the comma cannot separate arguments, and notes it where it does.
func (p *parser) checkThousands(start, end int) error {
	if end-start > 3 || p.src[start] == '0' || !allDigits(p.src[start:end]) {
		return nil
	}
	text, zero := string(p.src[start:end]), false
	i := end
	for i+3 < len(p.src) && p.src[i] == ',' && allDigits(p.src[i+1:i+4]) &&
		(i+4 == len(p.src) || !isDigit(p.src[i+4])) {
		zero = zero || p.src[i+1] == '0'
		text += string(p.src[i+1 : i+4])
		i += 4
	}
	switch {
	case i == end:
		return nil
	case p.inCall && !zero:
		p.addNote(fmt.Sprintf("%s read as separate arguments", string(p.src[start:i])))
		return nil
	}
	return p.failAt(end, fmt.Sprintf("the comma in %s", string(p.src[start:i])),
		fmt.Sprintf("write %s: commas separate arguments", text))
}

func allDigits(src []rune) bool {
	for _, r := range src {
		if !isDigit(r) {
			return false
		}
	}
	return len(src) > 0
}

// binary is an infix operator: its text, level of binding and meaning.
type binary struct {
	text  string
	level int
	op    operator
}

// binaries in the order in which they are tried: the longer first.
var binaries = []binary{
	{"**", levelPower, opPow}, {"//", levelProduct, opFloorDiv}, {"*", levelProduct, opMul}, {"/", levelProduct, opDiv},
	{"%", levelProduct, opMod},
	{"+", levelSum, opAdd}, {"-", levelSum, opSub}, {"×", levelProduct, opMul}, {"÷", levelProduct, opDiv},
	{"−", levelSum, opSub},
}

// peekOperator is the infix operator at the current place, if one stands there.
func (p *parser) peekOperator() (binary, bool, error) {
	p.skipSpace()
	for _, b := range binaries {
		if !hasPrefix(p.src[p.pos:], []rune(b.text)) {
			continue
		}
		if b.op == opMod {
			return b, true, p.checkPercent()
		}
		return b, true, nil
	}
	return binary{}, false, nil
}

// checkPercent refuses a % that ends a value: what stands behind a modulo can begin one. Directly after a number even a
// sign does not (10%-1 is one tenth less one to everyone who writes it).
func (p *parser) checkPercent() error {
	i := p.pos + 1
	for i < len(p.src) && unicode.IsSpace(p.src[i]) {
		i++
	}
	glued := p.pos > 0 && isDigit(p.src[p.pos-1])
	if i < len(p.src) {
		r := p.src[i]
		sign := r == '+' || r == '-' || r == '−'
		if (isWord(r) || r == '(' || r == '.' || r == '`' || sign && !glued) && !p.wordIs(i, "of") {
			return nil
		}
	}
	return p.failAt(p.pos, "a % that is not followed by a value", p.percentHint())
}

// percentHint says how the number before the % is written.
func (p *parser) percentHint() string {
	i := p.pos
	for i > 0 && (isDigit(p.src[i-1]) || p.src[i-1] == '.') {
		i--
	}
	text := string(p.src[i:p.pos])
	n, err := decimal.Parse(text)
	if err != nil {
		return "divide by 100; between two values % is the remainder"
	}
	share, err := decimal.Quo(n, decimal.FromInt(100))
	if err != nil {
		return "divide by 100"
	}
	return fmt.Sprintf("write %s/100 or %s", text, share)
}

func (p *parser) wordIs(i int, word string) bool {
	return hasPrefix(p.src[i:], []rune(word)) && isWordBoundary(p.src, i+len(word)) && len(p.names.normal[word]) == 0
}
