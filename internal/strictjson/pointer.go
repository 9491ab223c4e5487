package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

// JSON Pointers (RFC 6901) are written, taken apart and followed here and nowhere else. A token is one step as a
// pointer writes it, with ~1 for / and ~0 for ~; a name is what it says.

// What is wrong with a pointer, for errors.Is. Who reports it adds the pointer.
var (
	ErrPointerStart  = errors.New("a JSON Pointer begins with /")
	ErrPointerEscape = errors.New("~ is written ~0 and / is written ~1 in a JSON Pointer")
)

var (
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
)

// EscapeToken writes a name as a token.
func EscapeToken(name string) string {
	if strings.IndexByte(name, '~') < 0 && strings.IndexByte(name, '/') < 0 { // nearly always
		return name
	}
	return pointerEscaper.Replace(name)
}

// UnescapeToken reads the name that a token writes; false if it holds a ~ that is neither ~0 nor ~1.
func UnescapeToken(token string) (string, bool) {
	if strings.IndexByte(token, '~') < 0 { // nearly always
		return token, true
	}
	if !WellEscaped(token) {
		return "", false
	}
	return pointerUnescaper.Replace(token), true
}

// WellEscaped reports whether each ~ of a token, or of a whole pointer, begins ~0 or ~1.
func WellEscaped(pointer string) bool {
	for i := 0; i < len(pointer); i++ {
		if pointer[i] == '~' && (i+1 == len(pointer) || pointer[i+1] != '0' && pointer[i+1] != '1') {
			return false
		}
	}
	return true
}

// ParsePointer lists the names of a pointer from the root down, none for "". The error is ErrPointerStart or
// ErrPointerEscape, and then there are no names.
func ParsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, ErrPointerStart
	}
	names := strings.Split(pointer[1:], "/")
	for i, token := range names {
		name, ok := UnescapeToken(token)
		if !ok {
			return nil, ErrPointerEscape
		}
		names[i] = name
	}
	return names, nil
}

// JoinPointer is the pointer to what the names lead to from the place of a pointer. It undoes ParsePointer.
func JoinPointer(pointer string, names ...string) string {
	for _, name := range names {
		pointer += "/" + EscapeToken(name)
	}
	return pointer
}

// JoinIndex is the pointer to an element of the array at a pointer.
func JoinIndex(pointer string, i int) string {
	return pointer + "/" + strconv.Itoa(i)
}

// CutPointer cuts off a pointer's last token; false for the root, which has none.
func CutPointer(pointer string) (parent, token string, ok bool) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", "", false
	}
	return pointer[:i], pointer[i+1:], true
}

// LastName is the last name of a well-formed pointer, "" of the root.
func LastName(pointer string) string {
	_, token, _ := CutPointer(pointer)
	return pointerUnescaper.Replace(token)
}

// ArrayIndex reads a token as an array's index: digits without a leading zero. "-", the element after the last, is
// none.
func ArrayIndex(token string) (int, bool) {
	i, err := strconv.ParseUint(token, 10, 31)
	if err != nil || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	return int(i), true
}

// At is the value a JSON Pointer names, starting at v; nil if there is none or the pointer is malformed.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.Step(token); v == nil {
			return nil
		}
	}
	return v
}

// Step is the value that one token of a pointer names below v; nil if there is none or the token is malformed.
func (v *Value) Step(token string) *Value {
	name, ok := UnescapeToken(token)
	if !ok {
		return nil
	}
	return v.Child(name)
}

// Child is the value that one name of a pointer leads to: a member of an object, or an element of an array.
func (v *Value) Child(name string) *Value {
	if v == nil || v.Kind != Array {
		return v.Get(name)
	}
	i, ok := ArrayIndex(name)
	if !ok {
		return nil
	}
	return v.Item(i)
}

// Deepest is the value that a pointer leads to as far as there is one, and the pointer to it.
func (v *Value) Deepest(pointer string) (*Value, string) {
	for {
		if at := v.At(pointer); at != nil || pointer == "" {
			return at, pointer
		}
		pointer, _, _ = CutPointer(pointer)
	}
}

// Pointer is the JSON Pointer of v within its document, "" for the root.
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
	return append(b, EscapeToken(v.key)...)
}
