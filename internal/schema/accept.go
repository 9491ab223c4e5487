package schema

import (
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/strictjson"
)

// acceptor says of a document that it is valid, where that is plain to see. Most submissions have the shape that their
// sheet asks for, and the library builds maps, texts and closures for every value of them: an eighth of the time of an
// audit. An acceptor reads the strict values as they are and allocates nothing. It never says that a document is
// invalid: whatever it does not know, a keyword or a value that needs a second look, is the library's to judge.
// FuzzAccept holds that it accepts nothing that the library refuses.
type acceptor struct {
	never      bool   // it asks for something that only the library knows
	types      uint16 // a bit for each type that is allowed; 0 allows all
	required   []string
	properties map[string]*acceptor
	others     *acceptor // additionalProperties
	items      *acceptor
	enum       []string // of texts; nil where there is none
	pattern    func() *regexp.Regexp

	minLength, maxLength, minItems, maxItems, minProperties, maxProperties limit
}

// limit is a length that is asked for.
type limit struct {
	n     int64
	given bool
}

// The bits of acceptor.types, beside 1 << kind: an integer is a number too, but not every number is one.
const integerBit = 1 << 15

var typeBits = map[string]uint16{
	"null": 1 << strictjson.Null, "boolean": 1 << strictjson.Bool, "number": 1 << strictjson.Number,
	"integer": integerBit,
	"string":  1 << strictjson.String, "array": 1 << strictjson.Array, "object": 1 << strictjson.Object,
}

// annotations say nothing of what is valid.
var annotations = []string{"title", "description", "$comment", "default", "examples", "deprecated", "readOnly",
	"writeOnly"}

// newAcceptor reads a schema that check has passed. Only the newest draft is read: in the older ones the same words
// mean other things.
func newAcceptor(schema *strictjson.Value) *acceptor {
	if schema.Kind == strictjson.Bool {
		return &acceptor{never: schema.Text != "true"}
	}
	a := &acceptor{never: schema.Kind != strictjson.Object}
	for _, m := range schema.Members {
		a.never = !a.readKeyword(m.Key, m.Value) || a.never
	}
	return a
}

// readKeyword reads one keyword; false where the library has to judge it.
func (a *acceptor) readKeyword(key string, v *strictjson.Value) bool {
	switch key {
	case "type":
		return a.readTypes(v)
	case "required":
		return readTexts(v, &a.required)
	case "enum":
		return readTexts(v, &a.enum) && len(a.enum) > 0
	case "properties":
		a.properties = make(map[string]*acceptor, len(v.Members))
		for _, m := range v.Members {
			a.properties[m.Key] = newAcceptor(m.Value)
		}
		return v.Kind == strictjson.Object
	case "additionalProperties":
		a.others = newAcceptor(v)
		return true
	case "items":
		a.items = newAcceptor(v)
		return true
	case "pattern":
		a.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(v.Text) }) // checked by Compile
		return v.Kind == strictjson.String
	}
	if b := a.limitOf(key); b != nil {
		b.n, b.given = v.Int()
		return b.given
	}
	return slices.Contains(annotations, key) || len(key) > 2 && key[:2] == "x-"
}

// limitOf is the field that a keyword of a length sets.
func (a *acceptor) limitOf(key string) *limit {
	switch key {
	case "minLength":
		return &a.minLength
	case "maxLength":
		return &a.maxLength
	case "minItems":
		return &a.minItems
	case "maxItems":
		return &a.maxItems
	case "minProperties":
		return &a.minProperties
	case "maxProperties":
		return &a.maxProperties
	}
	return nil
}

func (a *acceptor) readTypes(v *strictjson.Value) bool {
	var names []string
	if v.Kind == strictjson.String {
		names = []string{v.Text}
	} else if !readTexts(v, &names) {
		return false
	}
	for _, name := range names {
		bit := typeBits[name]
		if bit == 0 {
			return false
		}
		a.types |= bit
	}
	return len(names) > 0
}

// readTexts reads an array of texts; false where it is anything else.
func readTexts(v *strictjson.Value, into *[]string) bool {
	for _, item := range v.Items {
		s, ok := item.Str()
		if !ok {
			return false
		}
		*into = append(*into, s)
	}
	return v.Kind == strictjson.Array
}

// surelyAccepts reports whether v is valid for sure.
func (a *acceptor) surelyAccepts(v *strictjson.Value) bool {
	kind := v.Kind
	if v.IsMissing() {
		kind = strictjson.Null // as the library is told of a number out of range (S11)
	}
	if a.never || !a.isType(kind, v.Text) {
		return false
	}
	if a.enum != nil && (kind != strictjson.String || !slices.Contains(a.enum, v.Text)) {
		return false
	}
	switch kind {
	case strictjson.String:
		return a.acceptsText(v.Text)
	case strictjson.Array:
		return a.acceptsItems(v.Items)
	case strictjson.Object:
		return a.acceptsMembers(v)
	}
	return true
}

// isType reports whether the type is plainly among those allowed. An integer is plain where it is written without point
// and exponent; of 1.0 and 1e3 the library decides.
func (a *acceptor) isType(kind strictjson.Kind, text string) bool {
	if a.types == 0 || a.types&(1<<kind) != 0 {
		return true
	}
	if kind != strictjson.Number || a.types&integerBit == 0 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptsText(s string) bool {
	if a.minLength.given || a.maxLength.given {
		if !withinBounds(utf8.RuneCountInString(s), a.minLength, a.maxLength) {
			return false
		}
	}
	return a.pattern == nil || a.pattern().MatchString(s)
}

func (a *acceptor) acceptsItems(items []*strictjson.Value) bool {
	if !withinBounds(len(items), a.minItems, a.maxItems) {
		return false
	}
	if a.items == nil {
		return true
	}
	for _, item := range items {
		if !a.items.surelyAccepts(item) {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptsMembers(v *strictjson.Value) bool {
	if !withinBounds(len(v.Members), a.minProperties, a.maxProperties) {
		return false
	}
	for _, name := range a.required {
		if v.Get(name) == nil {
			return false
		}
	}
	if a.properties == nil && a.others == nil {
		return true
	}
	for i := range v.Members {
		below, declared := a.properties[v.Members[i].Key]
		if !declared {
			below = a.others
		}
		if below != nil && !below.surelyAccepts(v.Members[i].Value) {
			return false
		}
	}
	return true
}

// withinBounds reports whether a length keeps both bounds.
func withinBounds(length int, least, most limit) bool {
	return (!least.given || int64(length) >= least.n) && (!most.given || int64(length) <= most.n)
}
