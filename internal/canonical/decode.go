package canonical

import (
	"bytes"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
)

// Form is what a string must look like beyond being a string; a field names one in its tag `is:"…"`.
type Form struct {
	Check func(text []byte) bool
	Want  string   // for messages: "64 lower-case hexadecimal digits"
	Enum  []string // the words allowed, if the form is a list of words; Check is then not needed
}

// Decoder reads canonical texts into one type of struct, strictly: every key must be a field's, every field without
// omitempty or omitzero must stand there, a member that the writer would have left out is refused, every string must
// have its form, and no integer is negative. So a text that decodes is the very text that Marshal gives for the value.
type Decoder struct{ root *plan }

// plan is what the decoder knows of a type.
type plan struct {
	kind   reflect.Kind // String, Bool, Int64, Slice or Struct
	form   *Form
	elem   *plan
	fields []field // in key order
	must   uint64  // the fields that must stand there, a bit each
}

// field is one member of a struct.
type field struct {
	key   string
	index []int
	omit  bool // left out when empty or zero
	bulk  bool // not filled by Scan
	ptr   bool
	plan  *plan
}

// NewDecoder prepares a decoder for the struct type t. It panics if t has a field that cannot be read back, a mistake
// of the program that any test of the type finds.
func NewDecoder(t reflect.Type, forms map[string]*Form) *Decoder {
	return &Decoder{planOf(t, "", forms)}
}

func planOf(t reflect.Type, is string, forms map[string]*Form) *plan {
	p := &plan{kind: t.Kind()}
	if is != "" {
		if p.form = forms[is]; p.form == nil {
			panic("canonical: no form " + is)
		}
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool:
	case reflect.Int, reflect.Int64:
		p.kind = reflect.Int64
	case reflect.Slice:
		p.elem, p.form = planOf(t.Elem(), is, forms), nil
	case reflect.Struct:
		p.fields = fieldsOf(t, nil, forms)
		for i, f := range p.fields {
			if !f.omit {
				p.must |= 1 << i
			}
		}
	default:
		panic("canonical: cannot decode into " + t.String())
	}
	return p
}

func fieldsOf(t reflect.Type, at []int, forms map[string]*Form) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		index := append(slices.Clone(at), i)
		if f.Anonymous && !tagged {
			all = append(all, fieldsOf(f.Type, index, forms)...)
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		key, options, _ := strings.Cut(tag, ",")
		ft, ptr := f.Type, f.Type.Kind() == reflect.Pointer
		if ptr {
			ft = ft.Elem()
		} else if ft.Kind() == reflect.Struct && options != "" {
			panic("canonical: a struct that may be left out must be a pointer: " + key)
		}
		all = append(all, field{
			key: key, index: index, omit: strings.Contains(options, "omit"), ptr: ptr,
			bulk: f.Tag.Get("scan") == "-", plan: planOf(ft, f.Tag.Get("is"), forms),
		})
	}
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.key, b.key) })
	if len(all) > 64 {
		panic("canonical: more than 64 fields in " + t.String())
	}
	return all
}

// Decode checks b and fills the struct that v points to. On an error, an *Error, v is left as it was.
func (d *Decoder) Decode(b []byte, lim Limits, v any) error { return d.decodeWithin(b, lim, v, nil) }

// Scan is Decode without filling the fields tagged `scan:"-"`, which it checks all the same: for whoever reads a
// hundred thousand texts and needs a few members of each. v must be zero, and is good for nothing after an error. bulk
// is given the bytes of each member of the text itself that was checked and not filled; it may not be nil.
func (d *Decoder) Scan(b []byte, lim Limits, v any, bulk func(key string, value []byte)) error {
	return d.decodeWithin(b, lim, v, bulk)
}

func (d *Decoder) decodeWithin(b []byte, lim Limits, v any, bulk func(string, []byte)) error {
	if err := CheckLimits(b, lim); err != nil {
		return err
	}
	r := reader{b: b, bulk: bulk}
	to := reflect.ValueOf(v).Elem()
	if bulk != nil {
		return r.readValue(d.root, to)
	}
	into := reflect.New(to.Type()).Elem()
	if err := r.readValue(d.root, into); err != nil {
		return err
	}
	to.Set(into)
	return nil
}

// reader walks a text that is known to be canonical, so it looks for no grammar errors.
type reader struct {
	b    []byte
	i    int
	bulk func(key string, value []byte) // of Scan, else nil
	path []step
}

// step is one segment of the pointer of the value at hand: a key, or the number of an element.
type step struct {
	key string
	n   int
}

func (r *reader) fail(rule, format string, args ...any) error {
	var at strings.Builder
	for _, s := range r.path {
		at.WriteByte('/')
		if s.key == "" {
			s.key = strconv.Itoa(s.n)
		}
		at.WriteString(s.key)
	}
	return &Error{r.i, rule, fmt.Sprintf("%q: ", at.String()) + fmt.Sprintf(format, args...)}
}

// readValue reads one value by its plan; into is not valid where the value is only checked.
func (r *reader) readValue(p *plan, into reflect.Value) error {
	if got := kindOf(r.b[r.i]); got != p.kind {
		return r.fail(RuleShape, "%s, %s is expected", names[got], names[p.kind])
	}
	switch p.kind {
	case reflect.String:
		return r.readString(p.form, into)
	case reflect.Slice:
		return r.readSlice(p, into)
	case reflect.Struct:
		return r.readObject(p, into)
	case reflect.Bool:
		if into.IsValid() {
			into.SetBool(r.b[r.i] == 't')
		}
		r.skipScalar()
		return nil
	}
	start := r.i
	if r.b[start] == '-' {
		return r.fail(RuleShape, "a negative number; counts, sizes and ids are never negative")
	}
	r.skipScalar()
	if into.IsValid() {
		n, err := strconv.ParseInt(string(r.b[start:r.i]), 10, 64)
		if err != nil {
			return err
		}
		into.SetInt(n)
	}
	return nil
}

// kindOf tells the type of a value from its first byte.
func kindOf(first byte) reflect.Kind {
	switch first {
	case '"':
		return reflect.String
	case '[':
		return reflect.Slice
	case '{':
		return reflect.Struct
	case 't', 'f':
		return reflect.Bool
	}
	return reflect.Int64
}

// names are the kinds as messages call them.
var names = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Slice: "an array", reflect.Struct: "an object", reflect.Bool: "true or false",
	reflect.Int64: "an integer",
}

// skipScalar steps over a boolean or a number.
func (r *reader) skipScalar() {
	for r.b[r.i] != ',' && r.b[r.i] != '}' && r.b[r.i] != ']' {
		r.i++
	}
}

// rawString steps over a string and gives what stands between its quotation marks.
func (r *reader) rawString() (text []byte, escaped bool) {
	start := r.i + 1
	end := start + bytes.IndexByte(r.b[start:], '"')
	if bytes.IndexByte(r.b[start:end], '\\') < 0 {
		r.i = end + 1
		return r.b[start:end], false
	}
	for i := start; ; i++ {
		switch r.b[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			r.i = i + 1
			return r.b[start:i], escaped
		}
	}
}

func (r *reader) readString(form *Form, into reflect.Value) error {
	at := r.i
	text, escaped := r.rawString()
	if escaped && (form != nil || into.IsValid()) {
		text = unescapeText(text)
	}
	word, ok := "", true
	if form != nil {
		word, ok = form.matches(text)
	}
	switch {
	case !ok:
		r.i = at
		return r.fail(RuleShape, "%q is not %s%s", legible.Clip(string(text), mostQuoted), form.wantedForm(),
			form.hintFor(string(text)))
	case !into.IsValid():
	case word != "":
		into.SetString(word)
	default:
		into.SetString(string(text))
	}
	return nil
}

// matches reports whether the text has the form; word is the one of a list that it is, which needs no copy.
func (f *Form) matches(text []byte) (word string, ok bool) {
	if f.Enum == nil {
		return "", f.Check(text)
	}
	for _, word := range f.Enum {
		if word == string(text) {
			return word, true
		}
	}
	return "", false
}

func (f *Form) wantedForm() string {
	if f.Enum == nil {
		return f.Want
	}
	return "one of " + strings.Join(f.Enum, ", ")
}

func (f *Form) hintFor(text string) string {
	if near := nearest.Word(text, f.Enum); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// unescapeText undoes the escapes of a canonical string.
func unescapeText(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case '"', '\\':
			out = append(out, c)
		case 'u':
			out = append(out, (text[i+3]-'0')<<4|byte(strings.IndexByte(hexDigits, text[i+4])))
			i += 4
		default:
			out = append(out, byte(bytes.IndexByte(short[:], c)))
		}
	}
	return out
}

func (r *reader) readSlice(p *plan, into reflect.Value) error {
	r.i++
	if r.b[r.i] == ']' {
		r.i++
		if into.IsValid() {
			into.Set(reflect.MakeSlice(into.Type(), 0, 0))
		}
		return nil
	}
	r.path = append(r.path, step{})
	for n := 0; ; n++ {
		var item reflect.Value
		if into.IsValid() {
			into.Grow(1)
			into.SetLen(n + 1)
			item = into.Index(n)
		}
		r.path[len(r.path)-1].n = n
		if err := r.readValue(p.elem, item); err != nil {
			return err
		}
		r.i++
		if r.b[r.i-1] == ']' {
			r.path = r.path[:len(r.path)-1]
			return nil
		}
	}
}

// readObject reads members against the fields; both are in key order, so one walk over both is enough.
func (r *reader) readObject(p *plan, into reflect.Value) error {
	r.i++
	var seen uint64
	next := 0
	for r.b[r.i] == '"' {
		for next < len(p.fields) && !r.atKey(p.fields[next].key) {
			next++
		}
		if next == len(p.fields) {
			key, _ := r.rawString()
			return r.unknownKey(p, string(key))
		}
		seen |= 1 << next
		r.i += len(p.fields[next].key) + len(`"":`)
		if err := r.readMember(&p.fields[next], into); err != nil {
			return err
		}
		if r.b[r.i] == ',' {
			r.i++
		}
	}
	r.i++
	if missing := p.must &^ seen; missing != 0 {
		return r.fail(RuleShape, "the member %q is missing", p.fields[bits.TrailingZeros64(missing)].key)
	}
	return nil
}

// atKey reports whether the key at hand is this one; a canonical key holds no escape.
func (r *reader) atKey(key string) bool {
	rest := r.b[r.i+1:]
	return len(rest) > len(key) && rest[len(key)] == '"' && string(rest[:len(key)]) == key
}

func (r *reader) unknownKey(p *plan, key string) error {
	known := make([]string, len(p.fields))
	for i, f := range p.fields {
		known[i] = f.key
	}
	if near := nearest.Word(key, known); near != "" {
		return r.fail(RuleShape, "unknown key %q; did you mean %q?", key, near)
	}
	return r.fail(RuleShape, "unknown key %q; known are %s", key, strings.Join(known, ", "))
}

func (r *reader) readMember(f *field, into reflect.Value) error {
	r.path = append(r.path, step{key: f.key})
	if f.omit && r.isEmpty(f) {
		return r.fail(RuleShape, "an empty member; leave it out")
	}
	var at reflect.Value
	passed := r.bulk != nil && f.bulk
	if into.IsValid() && !passed {
		if at = into.Field(f.index[0]); len(f.index) > 1 {
			at = at.FieldByIndex(f.index[1:])
		}
		if f.ptr {
			at.Set(reflect.New(at.Type().Elem()))
			at = at.Elem()
		}
	}
	start := r.i
	if err := r.readValue(f.plan, at); err != nil {
		return err
	}
	r.path = r.path[:len(r.path)-1]
	if passed && len(r.path) == 0 {
		r.bulk(f.key, r.b[start:r.i])
	}
	return nil
}

// isEmpty reports whether the value at hand is one that the writer leaves out.
func (r *reader) isEmpty(f *field) bool {
	rest := r.b[r.i:]
	switch {
	case f.ptr:
		return false
	case f.plan.kind == reflect.Bool:
		return rest[0] == 'f'
	case f.plan.kind == reflect.Int64:
		return rest[0] == '0'
	}
	return rest[0] == '"' && rest[1] == '"' || rest[0] == '[' && rest[1] == ']'
}

// RuleShape is the rule of Decoder: an unknown, missing or ill-formed member.
const RuleShape = "shape"
