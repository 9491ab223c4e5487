package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// wordLeaf is the leaf, or the leaves, of an error without causes, in this program's own words.
func (f *flattener) wordLeaf(at place) []Leaf {
	l := Leaf{Pointer: at.pointer, Keyword: at.keyword, SchemaPointer: at.schemaPointer, Got: showValue(at.got)}
	if at.naming {
		l.Property = strictjson.LastName(at.pointer)
		l.Got = "the name " + quote(l.Property)
	}
	if at.wants != nil && at.wants.Kind == strictjson.Bool && at.wants.Text == "false" &&
		at.keyword != "additionalProperties" && at.keyword != "additionalItems" {
		l.Want, l.Message = "nothing", "is not allowed here; remove it"
		return []Leaf{l}
	}
	switch at.keyword {
	case "required":
		return f.wordRequired(at, l)
	case "additionalProperties":
		return f.wordAdditional(at, l)
	case "dependentRequired", "dependencies":
		return f.wordDependent(at, l)
	}
	l.Want = wantedText(at)
	switch at.keyword {
	case "type":
		l.Message = fmt.Sprintf("is %s; the schema wants %s", withType(l.Got, at.got, l.Want), l.Want)
	case "minItems", "maxItems", "additionalItems":
		l.Got = countOf(len(at.got.Items), "item")
		l.Message = fmt.Sprintf("has %s; the schema wants %s", l.Got, l.Want)
	case "minProperties", "maxProperties":
		l.Got = countOf(len(at.got.Members), "member")
		l.Message = fmt.Sprintf("has %s; the schema wants %s", l.Got, l.Want)
	case "minLength", "maxLength":
		l.Message = fmt.Sprintf("is %s, %s long; the schema wants %s", l.Got, countOf(textLength(at, l), "character"),
			l.Want)
	case "not":
		l.Message = fmt.Sprintf("is %s, which the schema forbids", l.Got)
	default:
		l.Message = fmt.Sprintf("is %s; the schema wants %s", l.Got, l.Want)
	}
	return []Leaf{l}
}

// withType adds the type of a bare number or boolean, unless the schema wants that type in a narrower form.
func withType(got string, v *strictjson.Value, want string) string {
	switch {
	case v == nil || v.OutOfRange:
	case v.Kind == strictjson.Number && !strings.Contains(want, "number"):
		return got + " (a number)"
	case v.Kind == strictjson.Bool:
		return got + " (a boolean)"
	}
	return got
}

// textLength counts the code points of a string, or of a member's name.
func textLength(at place, l Leaf) int {
	if at.naming {
		return utf8.RuneCountInString(l.Property)
	}
	text, _ := at.got.Str()
	return utf8.RuneCountInString(text)
}

// wantedText says what would be right, without a verb.
func wantedText(at place) string {
	value := showValue(at.wants)
	switch at.keyword {
	case "type":
		return typeList(at.wants)
	case "const":
		return literalText(at.wants)
	case "enum":
		return oneOf(at.wants)
	case "minimum":
		return "at least " + value
	case "maximum":
		return "at most " + value
	case "exclusiveMinimum":
		return "more than " + exclusiveBound(at, "minimum")
	case "exclusiveMaximum":
		return "less than " + exclusiveBound(at, "maximum")
	case "multipleOf":
		return "a multiple of " + value
	case "minItems", "minProperties", "minLength":
		return "at least " + value
	case "maxItems", "maxProperties", "maxLength":
		return "at most " + value
	case "additionalItems":
		return fmt.Sprintf("at most %d", len(at.schema.Get("items").Items))
	case "pattern":
		return "text that matches the pattern " + clipAndEscape(at.wants.Text)
	case "format":
		return formatText(at.wants.Text)
	}
	return wantOfCounted(at)
}

// wantOfCounted is for the keywords whose message needs a number that only the library has.
func wantOfCounted(at place) string {
	var a, b int
	switch at.keyword {
	case "uniqueItems":
		if _, err := fmt.Sscanf(at.message, "items at index %d and %d are equal", &a, &b); err == nil {
			return fmt.Sprintf("all items different, and items %d and %d (from 0) are equal", a, b)
		}
	case "contains":
		if _, err := fmt.Sscanf(at.message, "valid must be >= %d, but got %d", &a, &b); err == nil {
			return fmt.Sprintf("at least %d of them of the form under contains, and %d fit", a, b)
		}
	case "maxContains":
		if _, err := fmt.Sscanf(at.message, "valid must be <= %d, but got %d", &a, &b); err == nil {
			return fmt.Sprintf("at most %d of them of the form under contains, and %d fit", a, b)
		}
	case "oneOf":
		if _, err := fmt.Sscanf(at.message, "valid against schemas at indexes %d and %d", &a, &b); err == nil {
			return fmt.Sprintf("exactly one of its forms, and forms %d and %d both fit", a+1, b+1)
		}
	}
	return at.keyword + " " + showValue(at.wants)
}

// exclusiveBound is the number of an exclusive bound: draft 4 writes it as a boolean beside the bound.
func exclusiveBound(at place, plain string) string {
	if at.wants != nil && at.wants.Kind == strictjson.Bool {
		return showValue(at.schema.Get(plain))
	}
	return showValue(at.wants)
}

var typeNames = map[string]string{"integer": "a whole number", "number": "a number", "string": "a string",
	"boolean": "a boolean",
	"array":   "an array", "object": "an object", "null": "null"}

func typeList(v *strictjson.Value) string {
	if name, ok := v.Str(); ok {
		return typeNames[name]
	}
	var names []string
	for _, item := range v.Items {
		names = append(names, typeNames[item.Text])
	}
	return strings.Join(names, " or ")
}

// maxChoices is how many values of an enum a message lists.
const maxChoices = 12

func oneOf(v *strictjson.Value) string {
	var values []string
	for i, item := range v.Items {
		if i == maxChoices {
			values = append(values, fmt.Sprintf("… (%d in all)", len(v.Items)))
			break
		}
		values = append(values, literalText(item))
	}
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}

// formats names the usual ones with an example.
var formats = map[string]string{
	"date": "a date (2026-11-30)", "date-time": "a date and time with zone (2026-11-30T09:00:00Z)",
	"time":     "a time with zone (09:00:00Z)",
	"duration": "a duration (P3Y6M)", "email": "an e-mail address", "uri": "an absolute URI", "uuid": "a UUID",
	"regex":    "a regular expression (RE2)",
	"hostname": "a host name", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address",
	"json-pointer": "a JSON Pointer (/a/0)",
}

func formatText(name string) string {
	if text, ok := formats[name]; ok {
		return text
	}
	return "text of the format " + name
}

// wordRequired is one leaf per missing member; a member with nearly that name that the schema does not know is named as
// its likely meaning.
func (f *flattener) wordRequired(at place, l Leaf) []Leaf {
	var renamed []string
	if at.schema.Get("properties") != nil { // otherwise every member would be a stranger
		renamed = undeclaredMembers(at)
	}
	var leaves []Leaf
	for _, item := range at.wants.Items {
		name := item.Text
		if at.got.Get(name) != nil {
			continue
		}
		l.Property, l.Want, l.Got = name, "a member "+quote(name), "absent"
		l.Message = fmt.Sprintf("has no member %s, which the schema requires", quote(name))
		if near := nearest.Word(name, renamed); near != "" {
			l.Message += fmt.Sprintf("; is it the one called %s?", quote(near))
		}
		leaves = append(leaves, l)
	}
	return leaves
}

// wordAdditional is one leaf per member that the schema does not know, at that member.
func (f *flattener) wordAdditional(at place, l Leaf) []Leaf {
	var declared []string
	if properties := at.schema.Get("properties"); properties != nil {
		for _, m := range properties.Members {
			declared = append(declared, m.Key)
		}
	}
	hint := "the schema knows no member here"
	if len(declared) > 0 {
		hint = "known are " + quoteAll(declared)
	}
	var leaves []Leaf
	for _, name := range undeclaredMembers(at) {
		l.Pointer, l.Property, l.Got, l.Want = strictjson.JoinPointer(at.pointer, name), name, quote(name),
			"no further member"
		l.Message = fmt.Sprintf("is a member that the schema does not allow; %s", hint)
		if near := nearest.Word(name, declared); near != "" {
			l.Message = fmt.Sprintf("is a member that the schema does not allow; did you mean %s?", quote(near))
		}
		leaves = append(leaves, l)
	}
	return leaves
}

// undeclaredMembers are the members that neither properties nor patternProperties of the schema name.
func undeclaredMembers(at place) []string {
	var patterns []*regexp.Regexp
	if pp := at.schema.Get("patternProperties"); pp != nil {
		for _, m := range pp.Members {
			patterns = append(patterns, regexp.MustCompile(m.Key)) // checked by Compile
		}
	}
	properties := at.schema.Get("properties")
	var names []string
	for _, m := range at.got.Members {
		known := properties.Get(m.Key) != nil ||
			slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(m.Key) })
		if !known {
			names = append(names, m.Key)
		}
	}
	return names
}

// wordDependent is one leaf per member that another member's presence requires.
func (f *flattener) wordDependent(at place, l Leaf) []Leaf {
	var leaves []Leaf
	for _, m := range at.wants.Members {
		if at.got.Get(m.Key) == nil {
			continue
		}
		for _, item := range m.Value.Items {
			if at.got.Get(item.Text) != nil {
				continue
			}
			l.Property, l.Want, l.Got = item.Text, "a member "+quote(item.Text), "absent"
			l.Message = fmt.Sprintf("has no member %s, which the schema requires beside %s", quote(item.Text),
				quote(m.Key))
			leaves = append(leaves, l)
		}
	}
	return leaves
}

// showValue is a value in a message: short values as they stand, with their type where it would not be seen.
func showValue(v *strictjson.Value) string {
	switch {
	case v == nil:
		return "absent"
	case v.OutOfRange:
		return clipAndEscape(v.Text) + " (a number out of range: at most 34 digits, exponents within ±300)"
	case v.Kind == strictjson.String:
		return quote(v.Text) + " (a string)"
	case v.Kind == strictjson.Array:
		return "an array of " + countOf(len(v.Items), "item")
	case v.Kind == strictjson.Object:
		return "an object of " + countOf(len(v.Members), "member")
	}
	return literalText(v)
}

// literalText is a value as JSON writes it, cut.
func literalText(v *strictjson.Value) string {
	switch v.Kind {
	case strictjson.Null:
		return "null"
	case strictjson.String:
		return quote(v.Text)
	case strictjson.Array, strictjson.Object:
		return clipAndEscape(encodeForLibrary(v))
	}
	return clipAndEscape(v.Text)
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// quoteAll quotes names, at most maxChoices of them.
func quoteAll(names []string) string {
	var quoted []string
	for i, name := range names {
		if i == maxChoices {
			quoted = append(quoted, fmt.Sprintf("… (%d in all)", len(names)))
			break
		}
		quoted = append(quoted, quote(name))
	}
	return strings.Join(quoted, ", ")
}

// shown is how many code points of a foreign text a message repeats.
const shown = 80

// clipAndEscape cuts a text and escapes what does not print, so that no message carries control or bidirectional
// characters.
func clipAndEscape(s string) string {
	q := strconv.Quote(legible.Clip(s, shown))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

func quote(s string) string { return `"` + clipAndEscape(s) + `"` }
