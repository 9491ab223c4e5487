package forge

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// clone copies a tree so that it can be changed; places in the source are kept, parents are not.
func clone(v *strictjson.Value) *strictjson.Value {
	if v == nil {
		return nil
	}
	out := &strictjson.Value{Kind: v.Kind, Text: v.Text, Pos: v.Pos, End: v.End, OutOfRange: v.OutOfRange}
	for _, item := range v.Items {
		out.Items = append(out.Items, clone(item))
	}
	for _, m := range v.Members {
		out.Members = append(out.Members, strictjson.Member{Key: m.Key, KeyPos: m.KeyPos, Value: clone(m.Value)})
	}
	return out
}

func jsonString(s string) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.String, Text: s}
}

func jsonNumber(s string) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Number, Text: s}
}

func jsonBool(b bool) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Bool, Text: strconv.FormatBool(b)}
}

func jsonNull() *strictjson.Value { return &strictjson.Value{Kind: strictjson.Null} }

func jsonArray(items ...*strictjson.Value) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Array, Items: items}
}

func jsonStrings(words []string) *strictjson.Value {
	out := jsonArray()
	for _, w := range words {
		out.Items = append(out.Items, jsonString(w))
	}
	return out
}

// jsonObject makes an object of keys and values in turn; a nil value is left out.
func jsonObject(pairs ...any) *strictjson.Value {
	out := &strictjson.Value{Kind: strictjson.Object}
	for i := 0; i+1 < len(pairs); i += 2 {
		if v, _ := pairs[i+1].(*strictjson.Value); v != nil {
			set(out, pairs[i].(string), v)
		}
	}
	return out
}

// set gives a member of an object a value, in its place where it has one.
func set(object *strictjson.Value, key string, v *strictjson.Value) {
	for i := range object.Members {
		if object.Members[i].Key == key {
			object.Members[i].Value = v
			return
		}
	}
	object.Members = append(object.Members, strictjson.Member{Key: key, Value: v})
}

// remove takes a member away and reports whether there was one.
func remove(object *strictjson.Value, key string) bool {
	for i := range object.Members {
		if object.Members[i].Key == key {
			object.Members = append(object.Members[:i:i], object.Members[i+1:]...)
			return true
		}
	}
	return false
}

// text is the string member key of v, or "".
func text(v *strictjson.Value, key string) string {
	s, _ := v.Get(key).Str()
	return s
}

// num reads a JSON number in range; nil for anything else.
func num(v *strictjson.Value) *decimal.Num {
	if v == nil || v.Kind != strictjson.Number || v.OutOfRange {
		return nil
	}
	n, err := decimal.Parse(v.Text)
	if err != nil {
		return nil
	}
	return n
}

// encode writes a tree without white space; members keep their order and numbers their digits.
// membersOf are the members of an object; none of anything else.
func membersOf(v *strictjson.Value) []strictjson.Member {
	if v == nil {
		return nil
	}
	return v.Members
}

func encode(v *strictjson.Value) []byte { return appendJSON(nil, v) }

func appendJSON(b []byte, v *strictjson.Value) []byte {
	switch v.Kind {
	case strictjson.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case strictjson.Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(append(appendText(b, m.Key), ':'), m.Value)
		}
		return append(b, '}')
	}
	return appendScalar(b, v)
}

// appendScalar writes what is neither a list nor an object.
func appendScalar(b []byte, v *strictjson.Value) []byte {
	switch v.Kind {
	case strictjson.Null:
		return append(b, "null"...)
	case strictjson.String:
		return appendText(b, v.Text)
	}
	return append(b, v.Text...)
}

// appendText writes a string with the escapes that JSON needs and no others (RFC 8785).
func appendText(b []byte, s string) []byte {
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
