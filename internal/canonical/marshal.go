package canonical

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Marshal gives the canonical text of v within the bounds of a receipt. v is a struct whose exported fields have json
// tags (omitempty and omitzero have encoding/json's meaning), a map with string keys, or a pointer to one, made of
// strings, booleans, integers, json.Number, slices, arrays and the like. A nil slice is [] and a nil map {}. Floats,
// nil pointers and interfaces, []byte, and any other type are refused: money and ratios are decimal strings, and what
// is absent is left out. Unsafe code points are replaced as Sanitize does.
func Marshal(v any) ([]byte, error) { return marshalWithin(v, Receipt) }

// MarshalUnbounded is Marshal with the bounds of a report.
func MarshalUnbounded(v any) ([]byte, error) { return marshalWithin(v, Report) }

// HashUnbounded is SHA256Hex of MarshalUnbounded. The text is written into room that is used again: growing it anew for
// each report was a tenth of all that an audit allocates.
func HashUnbounded(v any) (string, error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	w := writer{out: (*room)[:0], max: Report.MaxDepth}
	if err := w.writeRoot(v); err != nil {
		return "", err
	}
	if cap(w.out) <= maxRoom {
		*room = w.out
	}
	return SHA256Hex(w.out), nil
}

// maxRoom bounds what is kept of one large report.
const maxRoom = 1 << 20

var rooms = sync.Pool{New: func() any { return new([]byte) }}

// Replaced gives the JSON Pointers of the strings that Marshal changes in v, in the order of the text.
func Replaced(v any) ([]string, error) {
	w := writer{max: Report.MaxDepth}
	if err := w.writeRoot(v); err != nil {
		return nil, err
	}
	return w.replaced, nil
}

func marshalWithin(v any, lim Limits) ([]byte, error) {
	w := writer{max: lim.MaxDepth}
	if err := w.writeRoot(v); err != nil {
		return nil, err
	}
	if lim.MaxBytes > 0 && len(w.out) > lim.MaxBytes {
		return nil, &Error{-1, RuleSize, fmt.Sprintf("%d bytes; at most %d are allowed", len(w.out), lim.MaxBytes)}
	}
	return w.out, nil
}

// writer holds the text so far and the pointer of the value at hand.
type writer struct {
	out      []byte
	path     []string
	max      int
	replaced []string
}

func (w *writer) fail(rule, format string, args ...any) error {
	where := "/" + strings.Join(w.path, "/")
	return &Error{-1, rule, where + ": " + fmt.Sprintf(format, args...)}
}

func (w *writer) writeRoot(v any) error {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if rv.Kind() != reflect.Struct && rv.Kind() != reflect.Map {
		return w.fail(RuleRoot, "the root is %T, it must be a struct or a map", v)
	}
	return w.writeValue(rv, 1)
}

var numberType = reflect.TypeFor[json.Number]()

func (w *writer) writeValue(v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == numberType {
			return w.writeNumber(v.String())
		}
		w.writeString(v.String())
	case reflect.Bool:
		w.out = strconv.AppendBool(w.out, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if i := v.Int(); -maxInt <= i && i <= maxInt {
			w.out = strconv.AppendInt(w.out, i, 10)
			return nil
		}
		return w.writeNumber(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return w.writeNumber(strconv.FormatUint(v.Uint(), 10))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return w.fail(RuleNull, "nil has no canonical form; leave the member out")
		}
		return w.writeValue(v.Elem(), depth)
	case reflect.Slice, reflect.Array, reflect.Struct, reflect.Map:
		if depth > w.max {
			return w.fail(RuleDepth, "nested deeper than %d", w.max)
		}
		return w.writeComposite(v, depth)
	case reflect.Float32, reflect.Float64:
		return w.fail(RuleInteger, "a float has no canonical form; use a decimal string")
	case reflect.Invalid:
		return w.fail(RuleNull, "nil has no canonical form; leave the member out")
	default:
		return w.fail(RuleType, "%s has no canonical form", v.Type())
	}
	return nil
}

// writeNumber writes an integer's token. Check knows the rule, so it is asked instead of repeated.
func (w *writer) writeNumber(s string) error {
	c := checker{b: []byte(s)}
	err := c.checkNumber()
	if err == nil && c.i == len(s) {
		w.out = append(w.out, s...)
		return nil
	}
	rule := RuleInteger
	if e, ok := err.(*Error); ok {
		rule = e.Rule
	}
	return w.fail(rule, "%s is not an integer within ±(2^53−1); use a decimal string", s)
}

func (w *writer) writeComposite(v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.Struct:
		if p := rosterOf(v.Type()); p != nil {
			return w.writeByRoster(v, p, depth)
		}
		members, err := w.structMembers(v, nil)
		if err != nil {
			return err
		}
		return w.writeObject(members, depth)
	case reflect.Map:
		members, err := w.mapMembers(v)
		if err != nil {
			return err
		}
		return w.writeObject(members, depth)
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return w.fail(RuleType, "%s has no canonical form; use text or a hash", v.Type())
	}
	w.out = append(w.out, '[')
	for i := range v.Len() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.path = append(w.path, strconv.Itoa(i))
		if err := w.writeValue(v.Index(i), depth+1); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out = append(w.out, ']')
	return nil
}

// member is one key and value of an object to be.
type member struct {
	key   string
	value reflect.Value
}

// structMembers appends the members of a struct; those of an embedded struct without a tag are its own.
func (w *writer) structMembers(v reflect.Value, members []member) ([]member, error) {
	known := len(members)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, tagged := f.Tag.Lookup("json")
		if f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct {
			var err error
			if members, err = w.structMembers(v.Field(i), members); err != nil {
				return nil, err
			}
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		known = -1
		key, options, _ := strings.Cut(tag, ",")
		skip, err := isOmitted(v.Field(i), options)
		if err != nil {
			return nil, w.fail(RuleType, "field %s: %v", f.Name, err)
		}
		if !skip {
			members = append(members, member{key, v.Field(i)})
		}
	}
	if known == len(members) && v.NumField() > 0 {
		return nil, w.fail(RuleType, "%s has no exported field; a time is given as text (Time)", v.Type())
	}
	return members, nil
}

// isOmitted applies the options of a json tag.
func isOmitted(v reflect.Value, options string) (bool, error) {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty":
			if isEmpty(v) {
				return true, nil
			}
		case "omitzero":
			if v.IsZero() {
				return true, nil
			}
		default:
			return false, fmt.Errorf("the option %q is unknown, only omitempty and omitzero are known", option)
		}
	}
	return false, nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (w *writer) mapMembers(v reflect.Value) ([]member, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, w.fail(RuleKey, "the keys of a map are %s, they must be strings", v.Type().Key())
	}
	members := make([]member, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		members = append(members, member{it.Key().String(), it.Value()})
	}
	return members, nil
}

func (w *writer) writeObject(members []member, depth int) error {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
			if members[i-1].key == m.key {
				return w.fail(RuleDuplicate, "duplicate key %q", m.key)
			}
		}
		if !isKey(m.key) {
			return w.fail(RuleKey, "the key %q does not match [a-z][a-z0-9_]*", m.key)
		}
		w.out = append(w.out, '"')
		w.out = append(w.out, m.key...)
		w.out = append(w.out, '"', ':')
		w.path = append(w.path, m.key)
		if err := w.writeValue(m.value, depth+1); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out = append(w.out, '}')
	return nil
}

// isKey reports whether s may be a key: [a-z][a-z0-9_]*.
func isKey(s string) bool {
	for i := range len(s) {
		if !isKeyByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}

// isPlain reports whether s is printable ASCII without an escape, as nearly every text is: it is then copied whole, not
// byte by byte.
func isPlain(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if !isPlainWord(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56) {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7F || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// isPlainWord is isPlain of eight bytes at once. Each term has a top bit set where a byte breaks its rule; a sum or
// difference carries into the next byte only from one that breaks it.
func isPlainWord(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^('"'*ones), w^('\\'*ones)
	return (w|(w+ones)|(w-0x20*ones)|(quote-ones)|(backslash-ones))&tops == 0
}

// writeString writes a string, sanitized and escaped.
func (w *writer) writeString(s string) {
	if isPlain(s) {
		w.out = append(append(append(w.out, '"'), s...), '"')
		return
	}
	s, changed := Sanitize(s)
	if changed {
		w.replaced = append(w.replaced, "/"+strings.Join(w.path, "/"))
	}
	w.out = append(w.out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.out = append(w.out, '\\', c)
		case c < 0x20 && short[c] != 0:
			w.out = append(w.out, '\\', short[c])
		case c < 0x20:
			w.out = append(w.out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			w.out = append(w.out, c)
		}
	}
	w.out = append(w.out, '"')
}
