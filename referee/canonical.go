package referee

import (
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// canonicalJSON is the form in which a sheet is hashed (S54): members sorted by key, no white space, strings with RFC
// 8785's escapes, numbers as canonical decimals, so that 0.80 and 0.8 are one sheet and 0.80 and 0.79 are two. It is
// not the ledger's profile: a sheet holds fractions and its authors choose their own keys.
func canonicalJSON(v *strictjson.Value) []byte {
	w := canonicalWriter{out: make([]byte, 0, v.End-v.Pos.Offset)} // what was read is seldom shorter
	w.writeValue(v)
	return w.out
}

// canonicalParts is canonicalJSON of a document, and of some objects and arrays within it, which are written once with
// the whole.
func canonicalParts(doc *strictjson.Value, parts []*strictjson.Value) (whole []byte, of map[*strictjson.Value][]byte) {
	w := canonicalWriter{out: make([]byte, 0, doc.End-doc.Pos.Offset), parts: parts,
		spans: map[*strictjson.Value][2]int{}}
	w.writeValue(doc)
	of = map[*strictjson.Value][]byte{}
	for v, span := range w.spans {
		of[v] = w.out[span[0]:span[1]]
	}
	return w.out, of
}

// canonicalWriter appends values to out and notes where the wanted parts stand.
type canonicalWriter struct {
	out   []byte
	parts []*strictjson.Value
	spans map[*strictjson.Value][2]int
}

func (w *canonicalWriter) writeValue(v *strictjson.Value) {
	switch v.Kind {
	case strictjson.Null:
		w.out = append(w.out, "null"...)
	case strictjson.Bool:
		w.out = append(w.out, v.Text...)
	case strictjson.Number:
		w.out = append(w.out, canonicalNumber(v.Text)...)
	case strictjson.String:
		w.out = appendString(w.out, v.Text)
	default:
		from := len(w.out)
		if v.Kind == strictjson.Array {
			w.writeArray(v)
		} else {
			w.writeObject(v)
		}
		if slices.Contains(w.parts, v) {
			w.spans[v] = [2]int{from, len(w.out)}
		}
	}
}

func (w *canonicalWriter) writeArray(v *strictjson.Value) {
	w.out = append(w.out, '[')
	for i, item := range v.Items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.writeValue(item)
	}
	w.out = append(w.out, ']')
}

func (w *canonicalWriter) writeObject(v *strictjson.Value) {
	var room [24]*strictjson.Member // most objects are smaller
	members := room[:0]
	for i := range v.Members {
		members = append(members, &v.Members[i])
	}
	slices.SortFunc(members, func(a, b *strictjson.Member) int { return strings.Compare(a.Key, b.Key) })
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendString(w.out, m.Key), ':')
		w.writeValue(m.Value)
	}
	w.out = append(w.out, '}')
}

// guardDigits is how many significant digits a comparison looks at (S13a), and a number's String keeps.
const guardDigits = 28

// canonicalNumber spells equal numbers alike: up to 28 digits as the engine prints them, beyond that with every digit,
// because arithmetic goes on to the fortieth and two sheets that compute differently are two. A token that decimals
// cannot hold (S11) is kept as written.
func canonicalNumber(token string) string {
	if isSpelledCanonically(token) {
		return token
	}
	n, err := decimal.Parse(token)
	if err != nil {
		return token
	}
	digits, point := splitSignificand(token)
	if len(digits) <= guardDigits {
		return n.String()
	}
	sign := ""
	if n.IsNeg() {
		sign = "-"
	}
	return sign + digits[:1] + "." + digits[1:] + "e" + strconv.Itoa(point-1)
}

// isSpelledCanonically reports whether a short token of JSON is its own canonical spelling: nearly every number of a
// sheet is, and need not be computed with.
func isSpelledCanonically(token string) bool {
	if len(token) > 12 || token == "-0" || strings.ContainsAny(token, "eE") {
		return false
	}
	return !strings.Contains(token, ".") || token[len(token)-1] != '0'
}

// splitSignificand is a number's digits without zeros at either end, and where the decimal point stands among them.
func splitSignificand(token string) (digits string, point int) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimLeft(token, "+-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	point, _ = strconv.Atoi(exponent) // "" is 0; decimal.Parse has refused what is no number
	point += len(digits) - len(fraction)
	return strings.TrimRight(digits, "0"), point
}

// appendString appends s as RFC 8785 writes it. s is valid UTF-8: the reader has seen to that.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // what stands from here on needs no escape
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !escaped[c] {
			continue
		}
		b = append(b, s[from:i]...)
		b = appendEscape(b, c)
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// escaped marks the bytes that may not stand in a string as they are.
var escaped = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// appendEscape appends an ASCII character that may not stand in a string as it is.
func appendEscape(b []byte, c byte) []byte {
	if c == '\n' {
		return append(b, '\\', 'n')
	}
	if i := strings.IndexByte("\"\\\b\f\r\t", c); i >= 0 {
		return append(b, '\\', "\"\\bfrt"[i])
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
