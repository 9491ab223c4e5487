package referee

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// canonicalJSON is the form in which a sheet is hashed (S54): members sorted by key, no white space, strings with RFC 8785's
// escapes, numbers as canonical decimals, so that 0.80 and 0.8 are one sheet and 0.80 and 0.79 are two. It is not the ledger's
// profile: a sheet holds fractions and its authors choose their own keys.
func canonicalJSON(v *strictjson.Value) []byte { return appendCanonical(nil, v) }

func appendCanonical(b []byte, v *strictjson.Value) []byte {
	switch v.Kind {
	case strictjson.Null:
		return append(b, "null"...)
	case strictjson.Bool:
		return append(b, v.Text...)
	case strictjson.Number:
		return append(b, canonicalNumber(v.Text)...)
	case strictjson.String:
		return appendString(b, v.Text)
	case strictjson.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	}
	members := slices.Clone(v.Members)
	slices.SortFunc(members, func(a, b strictjson.Member) int { return strings.Compare(a.Key, b.Key) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCanonical(append(appendString(b, m.Key), ':'), m.Value)
	}
	return append(b, '}')
}

// canonicalNumber spells equal numbers alike; a token that decimals cannot hold (S11) is kept as written.
func canonicalNumber(token string) string {
	n, err := decimal.Parse(token)
	if err != nil {
		return token
	}
	return n.String()
}

// appendString appends s as RFC 8785 writes it. s is valid UTF-8: the reader has seen to that.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x20:
			b = append(b, `\u00`...)
			if r < 0x10 {
				b = append(b, '0')
			}
			b = strconv.AppendInt(b, int64(r), 16)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
