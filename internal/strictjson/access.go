package strictjson

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Get is the value of an object's member, nil if v is no object or has no such member.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	if v.places != nil {
		if i, ok := v.places[key]; ok {
			return v.Members[i].Value
		}
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// At is the value a JSON Pointer (RFC 6901) names, starting at v; nil if there is none or the pointer is malformed.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.child(token); v == nil {
			return nil
		}
	}
	return v
}

func (v *Value) child(token string) *Value {
	if v == nil {
		return nil
	}
	if v.Kind == Array {
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(v.Items) || strconv.Itoa(i) != token {
			return nil
		}
		return v.Items[i]
	}
	name, ok := unescapePointer(token)
	if !ok {
		return nil
	}
	return v.Get(name)
}

var (
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
)

// unescapePointer decodes ~0 and ~1 and refuses any other tilde.
func unescapePointer(token string) (string, bool) {
	for i := 0; i < len(token); i++ {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return "", false
		}
	}
	if strings.IndexByte(token, '~') < 0 {
		return token, true
	}
	return pointerUnescaper.Replace(token), true
}

// Pointer is the JSON Pointer (RFC 6901) of v within its document, "" for the root.
func (v *Value) Pointer() string {
	if v == nil || v.up == nil {
		return ""
	}
	var room [64]byte
	return string(v.appendPointer(room[:0]))
}

// appendPointer writes the tokens from the root down; depth bounds the recursion (S46).
func (v *Value) appendPointer(b []byte) []byte {
	if v.up == nil {
		return b
	}
	b = append(v.up.appendPointer(b), '/')
	if v.up.Kind == Array {
		return strconv.AppendInt(b, int64(v.index), 10)
	}
	return append(b, pointerEscaper.Replace(v.key)...) // Replace returns a key without ~ and / as it is
}

// Str is the text of a string.
func (v *Value) Str() (string, bool) {
	if v == nil || v.Kind != String {
		return "", false
	}
	return v.Text, true
}

// Int is the value of a number that is a whole number within int64, however it is written: 3, 3.0 and 30e-1 are 3.
func (v *Value) Int() (int64, bool) {
	if v == nil || v.Kind != Number || v.OutOfRange {
		return 0, false
	}
	n := dissect(v.Text).canonical()
	const int64Digits = 19
	if n.exp < 0 || n.exp+len(n.digits) > int64Digits {
		return 0, false
	}
	text := "0" + n.digits + strings.Repeat("0", n.exp)
	if n.neg {
		text = "-" + text
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

// IsMissing says that there is nothing to calculate with: no value, null (S25), or a number beyond the bound of S11.
func (v *Value) IsMissing() bool {
	return v == nil || v.Kind == Null || v.OutOfRange
}

// Any is v as a schema library wants it: map[string]any, []any, json.Number, string, bool or nil. A number beyond the
// bound of S11 becomes nil and so never reaches the library.
func (v *Value) Any() any {
	if v.IsMissing() {
		return nil
	}
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case Array:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			items[i] = item.Any()
		}
		return items
	}
	members := make(map[string]any, len(v.Members))
	for _, m := range v.Members {
		members[m.Key] = m.Value.Any()
	}
	return members
}

// Walk calls visit for v and all values below it in document order, a value before its children; false from visit
// leaves the children out.
func (v *Value) Walk(visit func(*Value) bool) {
	if v == nil || !visit(v) {
		return
	}
	for _, item := range v.Items {
		item.Walk(visit)
	}
	for _, m := range v.Members {
		m.Value.Walk(visit)
	}
}

// Source is the text of v as it stands in src, which must be the bytes that were parsed.
func (v *Value) Source(src []byte) []byte {
	if v == nil || v.Pos.Offset > v.End || v.End > len(src) {
		return nil
	}
	return src[v.Pos.Offset:v.End]
}

// OutOfRange lists the numbers of the document that break the bound of S11, in document order.
func OutOfRange(root *Value) []*Value {
	var out []*Value
	root.Walk(func(v *Value) bool {
		if v.OutOfRange {
			out = append(out, v)
		}
		return true
	})
	return out
}

// Equal is JSON equality: members in any order, numbers by value and not by spelling (1.0 equals 1).
func Equal(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	switch a.Kind {
	case Number:
		return sameNumber(a.Text, b.Text)
	case Array:
		return equalItems(a, b)
	case Object:
		return equalMembers(a, b)
	}
	return a.Text == b.Text
}

func equalItems(a, b *Value) bool {
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

func equalMembers(a, b *Value) bool {
	for _, m := range a.Members {
		if !Equal(m.Value, b.Get(m.Key)) {
			return false
		}
	}
	return true
}
