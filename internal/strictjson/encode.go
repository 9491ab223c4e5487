package strictjson

import (
	"strings"
	"unicode/utf8"
)

// Encode writes a tree without white space; members keep their order and numbers their digits.
func (v *Value) Encode() []byte { return v.AppendTo(nil) }

// AppendTo appends what Encode writes.
func (v *Value) AppendTo(b []byte) []byte {
	switch v.Kind {
	case Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendTo(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.Value.AppendTo(append(AppendText(b, m.Key), ':'))
		}
		return append(b, '}')
	case Null:
		return append(b, "null"...)
	case String:
		return AppendText(b, v.Text)
	}
	return append(b, v.Text...)
}

// AppendText writes a string with the escapes that JSON needs and no others (RFC 8785).
func AppendText(b []byte, s string) []byte {
	const short = "\b\t\n\f\r"
	b = append(b, '"')
	for _, r := range s {
		switch i := strings.IndexRune(short, r); {
		case i >= 0:
			b = append(b, '\\', "btnfr"[i])
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
