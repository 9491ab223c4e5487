package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// A record describes one JSON object of our own formats: which members it may have and of what type. The strict loader,
// the refusals and the editors' JSON Schema all come from these tables, so that they cannot disagree.
type record struct {
	Name   string
	Fields []field
}

// A field is one member of a record.
type field struct {
	Name     string
	Type     string // string number integer boolean strings expr any list schema object array map
	Doc      string
	Required bool
	Enum     []string
	Of       *record // of object, and of the items of array and map
	Prose    bool    // of array: an item may be a text of its own
}

// fieldNamed returns the named field, or nil.
func (r *record) fieldNamed(name string) *field {
	for i := range r.Fields {
		if r.Fields[i].Name == name {
			return &r.Fields[i]
		}
	}
	return nil
}

// memberNames lists the record's members.
func (r *record) memberNames() []string {
	out := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		out[i] = f.Name
	}
	return out
}

// checkValue walks v against the record and collects every problem: unknown and missing members, wrong types, words
// outside an enumeration (S26, S47). Members whose name begins with "x-" are for the author and pass unread.
func (r *record) checkValue(v *strictjson.Value, problems *Problems) {
	if v.Kind != strictjson.Object {
		problems.addProblem(v, "type", "%s must be an object", r.Name)
		return
	}
	for _, m := range v.Members {
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		f := r.fieldNamed(m.Key)
		if f == nil {
			problems.addNear(v.Get(m.Key), "unknown_key", m.Key, r.memberNames(), "unknown member %q in %s", m.Key, r.Name)
			continue
		}
		f.checkMember(m.Value, problems)
	}
	for _, f := range r.Fields {
		if f.Required && v.Get(f.Name).IsMissing() {
			problems.addProblem(v, "missing_key", "%s needs the member %q (%s)", r.Name, f.Name, f.Doc)
		}
	}
}

// checkMember tests one member's value against its type.
func (f *field) checkMember(v *strictjson.Value, problems *Problems) {
	if v.Kind == strictjson.Null {
		problems.addProblem(v, "type", "%q is null; leave the member out instead", f.Name)
		return
	}
	switch f.Type {
	case "object":
		f.Of.checkValue(v, problems)
	case "array", "map":
		f.checkItems(v, problems)
	case "strings":
		f.checkStrings(v, problems)
	default:
		f.checkScalar(v, problems)
	}
}

func (f *field) checkItems(v *strictjson.Value, problems *Problems) {
	if want := map[string]strictjson.Kind{"array": strictjson.Array, "map": strictjson.Object}[f.Type]; v.Kind != want {
		problems.addProblem(v, "type", "%q must be %s", f.Name, map[string]string{"array": "an array",
			"map": "an object"}[f.Type])
		return
	}
	for _, item := range v.Items {
		if f.Prose && item.Kind == strictjson.String {
			continue
		}
		f.Of.checkValue(item, problems)
	}
	for _, m := range v.Members {
		if f.Of != nil {
			f.Of.checkValue(m.Value, problems)
		}
	}
}

func (f *field) checkStrings(v *strictjson.Value, problems *Problems) {
	if v.Kind != strictjson.Array {
		problems.addProblem(v, "type", "%q must be an array of strings", f.Name)
		return
	}
	for _, item := range v.Items {
		if item.Kind != strictjson.String {
			problems.addProblem(item, "type", "%q must hold strings only", f.Name)
		}
	}
}

// kindsOf are the JSON types that a field of a type takes.
var kindsOf = map[string][]strictjson.Kind{
	"string": {strictjson.String}, "number": {strictjson.Number}, "integer": {strictjson.Number},
	"boolean": {strictjson.Bool},
	"expr":    {strictjson.String, strictjson.Object, strictjson.Bool, strictjson.Number, strictjson.Array},
	"schema":  {strictjson.Object}, "list": {strictjson.Array}, "any": {strictjson.String, strictjson.Number,
		strictjson.Bool, strictjson.Array, strictjson.Object},
}

func (f *field) checkScalar(v *strictjson.Value, problems *Problems) {
	if !slices.Contains(kindsOf[f.Type], v.Kind) {
		problems.addProblem(v, "type", "%q must be %s", f.Name, withArticle(f.Type))
		return
	}
	if f.Type == "integer" && strings.ContainsAny(v.Text, ".eE") {
		problems.addProblem(v, "type", "%q must be a whole number, not %s", f.Name, v.Text)
	}
	if v.OutOfRange {
		problems.addProblem(v, "number_out_of_range", "%q is out of range: at most 34 digits and exponents within ±300",
			f.Name)
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, v.Text) {
		problems.addNear(v, "unknown_word", v.Text, f.Enum, "%q does not know %q", f.Name, v.Text)
	}
}

func withArticle(kind string) string {
	switch kind {
	case "expr":
		return "an expression: text or a JSON tree"
	case "integer":
		return "a whole number"
	case "schema":
		return "a JSON Schema object"
	case "any":
		return "a value"
	case "list":
		return "an array"
	}
	return "a " + kind
}

// Problem is one refusal or warning about a sheet, a manifest or a configuration, with its place.
type Problem struct {
	File    string
	Line    int
	Column  int
	Pointer string
	Rule    string // which rule of the format refuses
	Message string
	Hint    string
	Warning bool
}

// String renders a problem as file:line:column: message (hint).
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s [%s]", p.File, p.Line, p.Column, p.Message, p.Rule)
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return s
}

// Problems collects what is wrong with one document.
type Problems struct {
	File string
	List []Problem
}

func (ps *Problems) addProblem(v *strictjson.Value, rule, format string, args ...any) *Problem {
	p := Problem{File: ps.File, Line: 1, Column: 1, Rule: rule, Message: fmt.Sprintf(format, args...)}
	if v != nil {
		p.Line, p.Column, p.Pointer = v.Pos.Line, v.Pos.Col, v.Pointer()
	}
	ps.List = append(ps.List, p)
	return &ps.List[len(ps.List)-1]
}

func (ps *Problems) addNear(v *strictjson.Value, rule, word string, known []string, format string, args ...any) {
	p := ps.addProblem(v, rule, format, args...)
	if near := nearest.Word(word, known); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	} else {
		p.Hint = "known: " + strings.Join(known, ", ")
	}
}

// Refused reports whether any problem is more than a warning.
func (ps *Problems) Refused() bool {
	return slices.ContainsFunc(ps.List, func(p Problem) bool { return !p.Warning })
}

// Err is nil, or the refusals as one error.
func (ps *Problems) Err() error {
	var refused []Problem
	for _, p := range ps.List {
		if !p.Warning {
			refused = append(refused, p)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &RefusedError{Problems: refused}
}

// RefusedError is returned for a document that does not load; it lists every refusal, in document order.
type RefusedError struct{ Problems []Problem }

// Error lists the refusals, one a line.
func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
