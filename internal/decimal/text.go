package decimal

import (
	"math/big"
	"strconv"
	"strings"
)

// maxText is the longest token that Parse reads (S11).
const maxText = 64

// Plain notation is used for adjusted exponents in [plainMin, plainMax].
const (
	plainMin = -12
	plainMax = 34
)

// Parse reads a JSON number or a decimal literal: an optional sign, digits with at most one point, an optional
// exponent; no underscores, no white space. More than 40 digits are rounded. A token of more than 64 characters or a
// number beyond the exponents of S13a is ErrTooLarge. (The tighter bound of S11 on what a submission may say is its
// reader's.)
func Parse(s string) (*Num, error) {
	if len(s) > maxText {
		return nil, newRefusal(ErrTooLarge, "a number of %d characters (at most %d)", len(s), maxText)
	}
	if n := parseShort(s); n != nil {
		return n, nil
	}
	t, ok := scanToken(s)
	if !ok {
		return nil, newRefusal(ErrSyntax, "%q is not a decimal number", s)
	}
	if t.digits == "" {
		return new(Num), nil
	}
	// The exponent is judged before a library sees the number: 1e5000000 costs others seconds and memory.
	if adj := t.exponent + len(t.digits) - 1; adj > maxExponent || adj < -maxExponent {
		return nil, ErrTooLarge
	}
	n := new(Num)
	if len(t.digits) <= 18 {
		v, _ := strconv.ParseInt(t.digits, 10, 64) // 18 digits fit
		n.d.SetFinite(v, int32(t.exponent))
		n.d.Negative = t.negative
		return n, nil
	}
	var coeff big.Int
	coeff.SetString(t.digits, 10)
	if t.negative {
		coeff.Neg(&coeff)
	}
	return fromBig(&coeff, t.exponent)
}

// parseShort is Parse for at most 18 digits without exponent, in one pass: nearly every number of a submission. Nil is
// anything else.
func parseShort(s string) *Num {
	digits := s
	if s != "" && s[0] == '-' {
		digits = s[1:]
	}
	if digits == "" || len(digits) > 18 {
		return nil
	}
	v, point := int64(0), -1
	for i := range len(digits) {
		switch c := digits[i]; {
		case '0' <= c && c <= '9':
			v = v*10 + int64(c-'0')
		case c == '.' && point < 0 && len(digits) > 1:
			point = i
		default:
			return nil
		}
	}
	n := new(Num)
	if v == 0 {
		return n
	}
	exponent := 0
	if point >= 0 {
		exponent = point + 1 - len(digits)
	}
	n.d.SetFinite(v, int32(exponent))
	n.d.Negative = len(digits) < len(s)
	return n
}

// MustParse is Parse for literals in code; it panics on a text that is not a number.
func MustParse(s string) *Num {
	n, err := Parse(s)
	if err != nil {
		panic("decimal: " + err.Error())
	}
	return n
}

// token is a literal taken apart: digits · 10**exponent, digits without leading zeros ("" is 0).
type token struct {
	digits   string
	exponent int
	negative bool
}

func scanToken(s string) (token, bool) {
	var t token
	if s != "" && (s[0] == '-' || s[0] == '+') {
		t.negative, s = s[0] == '-', s[1:]
	}
	mantissa, exponent, hasExp := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, hasExp = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(fraction) == 0 || !allDigits(whole) || !allDigits(fraction) {
		return token{}, false
	}
	e, ok := 0, true
	if hasExp {
		e, ok = scanExponent(exponent)
	}
	t.digits = strings.TrimLeft(whole+fraction, "0")
	t.exponent = e - len(fraction)
	return t, ok
}

// scanExponent reads [+-]digits, held within ±1,000,000 whatever was written.
func scanExponent(s string) (int, bool) {
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" || !allDigits(s) {
		return 0, false
	}
	e := 0
	for i := range len(s) {
		e = min(e*10+int(s[i]-'0'), 1_000_000)
	}
	return sign * e, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// String is the canonical decimal (S13a): rounded to 28 digits, no trailing zeros, plain notation when the adjusted
// exponent lies in [-12, 34], else d.ddde±x. Equal numbers (Cmp) have equal strings.
func (n *Num) String() string {
	if n.IsZero() {
		return "0"
	}
	var room [1]Num
	d := roundGuarded(n, &room[0].d)
	ds, short := "", [20]byte{}
	if d.Coeff.IsUint64() {
		ds = string(strconv.AppendUint(short[:0], d.Coeff.Uint64(), 10)) // in one pass: most numbers
	} else {
		ds = d.Coeff.String()
	}
	adj := int(d.Exponent) + len(ds) - 1
	ds = strings.TrimRight(ds, "0")
	s := layOutDigits(ds, adj)
	if d.Negative {
		return "-" + s
	}
	return s
}

// layOutDigits writes the digits ds, the first of which stands for 10**adj.
func layOutDigits(ds string, adj int) string {
	switch {
	case adj < plainMin || adj > plainMax:
		mark := "e+"
		if adj < 0 {
			mark = "e-"
			adj = -adj
		}
		m := ds[:1]
		if len(ds) > 1 {
			m += "." + ds[1:]
		}
		return m + mark + strconv.Itoa(adj)
	case adj < 0:
		return "0." + strings.Repeat("0", -adj-1) + ds
	case len(ds) <= adj+1:
		return ds + strings.Repeat("0", adj+1-len(ds))
	}
	return ds[:adj+1] + "." + ds[adj+1:]
}
