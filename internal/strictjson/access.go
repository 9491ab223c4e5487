package strictjson

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
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

// Item is an element of an array, nil if v is no array or has no such element.
func (v *Value) Item(i int) *Value {
	if v == nil || i < 0 || i >= len(v.Items) {
		return nil
	}
	return v.Items[i]
}

// Elements are the elements of an array; none of anything else.
func (v *Value) Elements() []*Value {
	if v == nil {
		return nil
	}
	return v.Items
}

// Fields are the members of an object; none of anything else.
func (v *Value) Fields() []Member {
	if v == nil {
		return nil
	}
	return v.Members
}

// Name is the name of a member within its object, "" of anything else.
func (v *Value) Name() string {
	if v == nil {
		return ""
	}
	return v.key
}

// TextOf is the string member key of v, "" if there is none.
func (v *Value) TextOf(key string) string { return v.Get(key).TextOrEmpty() }

// TextOrEmpty is the text of a string, "" of anything else.
func (v *Value) TextOrEmpty() string {
	s, _ := v.Str()
	return s
}

// Texts are the strings among the elements of an array; none of anything else.
func (v *Value) Texts() []string {
	var out []string
	for _, item := range v.Elements() {
		if s, ok := item.Str(); ok {
			out = append(out, s)
		}
	}
	return out
}

// IsTrue reports whether v is the literal true.
func (v *Value) IsTrue() bool { return v != nil && v.Kind == Bool && v.Text == "true" }

// Decimal is a number in range; nil for anything else, so that text is never taken for a number (S25).
func (v *Value) Decimal() *decimal.Num {
	if v == nil || v.Kind != Number || v.OutOfRange {
		return nil
	}
	n, err := decimal.Parse(v.Text)
	if err != nil {
		return nil
	}
	return n
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
	n := splitNumber(v.Text).canonicalParts()
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
