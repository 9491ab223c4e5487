// Package schema holds a submission against a sheet's JSON Schema (the schema stage, S45) and is the one importer of
// the schema library.
//
// What the library leaves open is closed here:
//   - Compile never reaches a disk or a network: a $ref stays within its document, $schema names one of the five
//     published drafts,
//     2020-12 where it is absent.
//   - A schema that would silently check less than its author wrote is refused: an unknown or misspelt keyword, a
//     keyword that the
//     draft ignores, an unknown format, a pattern that is not RE2. A name that begins with x- is the author's own and
//     checks nothing.
//   - Numbers that the reader found out of range (S11) reach neither the library's exact fractions nor its counters.
//   - Validate returns leaves: each says at which pointer what stands and what the schema wants; no wrapper, no
//     repetition, in
//     document order, the same on every run (the library walks maps). A panic becomes a leaf, never a silent pass.
package schema

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/defendableos/referee/internal/strictjson"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	seen     func() (*jsonschema.Schema, error) // compiled, with the texts folded that it lists (S80)
	compiled func() (*jsonschema.Schema, error) // the same result at each call; no error where Compile gave none
	source   *strictjson.Value                  // for the wording: what the library reports by pointer is read here
	plain    *acceptor                          // tells most valid documents without the library
}

// Leaf is one place where a document breaks the schema.
type Leaf struct {
	Pointer string // RFC 6901 into the document
	// "type", "required", …; "internal" if the library failed, "limit" if the document or the list is cut
	Keyword       string
	Message       string // what is there and what the schema wants, beginning with a verb
	SchemaPointer string // RFC 6901 into the schema: the keyword that was broken
	Property      string // the name meant by required, dependentRequired, additionalProperties, propertyNames
	Want, Got     string
}

// Error is a refused schema.
type Error struct {
	Name    string // as given to Compile
	Pos     strictjson.Pos
	Pointer string
	Message string
}

func (e *Error) Error() string {
	at := fmt.Sprintf("%s: line %d, column %d", e.Name, e.Pos.Line, e.Pos.Col)
	if e.Pointer != "" {
		at += " (" + clipAndEscape(e.Pointer) + ")"
	}
	return at + ": " + e.Message
}

// location is the base address of every schema. Nothing is loaded from it; the library wants an absolute one, since it
// would complete a relative name with the working directory.
const location = "referee:///schema.json"

// Compile reads doc as a JSON Schema. The error is a *Error; name stands in it.
func Compile(name string, doc *strictjson.Value) (*Schema, error) {
	if doc == nil {
		return nil, &Error{Name: name, Pos: strictjson.Pos{Line: 1, Col: 1},
			Message: "the schema is missing; write {} to accept everything"}
	}
	if err := checkSchema(name, doc); err != nil {
		return nil, err
	}
	if err := refuseUnbounded(name, doc); err != nil {
		return nil, err
	}
	asWritten := sync.OnceValues(func() (*jsonschema.Schema, error) { return compileSchema(name, doc) })
	s := &Schema{source: doc, plain: newAcceptor(doc), compiled: asWritten, seen: seenBy(name, doc, asWritten)}
	if isSimpleSchema(doc) {
		return s, nil // the library will refuse nothing
	}
	if _, err := s.compiled(); err != nil {
		return nil, err
	}
	return s, nil
}

// refuseUnbounded refuses a schema of which too much applies to one place of a document.
func refuseUnbounded(name string, doc *strictjson.Value) error {
	var refused *Error
	all := maxSteps
	doc.Walk(func(v *strictjson.Value) bool {
		c := newCoster(doc, maxPlace)
		c.countSchema(v, nil)
		if all -= maxPlace - c.left; (c.left < 0 || all < 0) && refused == nil {
			refused = &Error{Name: name, Pos: v.Pos, Pointer: v.Pointer(),
				Message: fmt.Sprintf("more than %d schemas apply to one place, through allOf, anyOf, oneOf and "+
					"$ref; write each once", maxPlace)}
			if c.endless {
				refused.Message = "infinite loop: the schema leads to itself, through allOf, anyOf, oneOf and $ref; " +
					"a schema that repeats does so below properties or items"
			}
		}
		return refused == nil
	})
	if refused != nil {
		return refused
	}
	return nil
}

// compileSchema has the library compile a checked schema.
func compileSchema(name string, doc *strictjson.Value) (*jsonschema.Schema, error) {
	return compiledText(name, doc, encodeForLibrary(doc))
}

// compiledText compiles the text of a checked schema.
func compiledText(name string, doc *strictjson.Value, source string) (s *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, &Error{Name: name, Pos: doc.Pos, Message: fmt.Sprintf("the schema library fails on it: %s",
				clipAndEscape(fmt.Sprint(r)))}
		}
	}()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is another document; a schema is complete in itself", clipAndEscape(url))
	}
	if err := c.AddResource(location, strings.NewReader(source)); err != nil {
		return nil, &Error{Name: name, Pos: doc.Pos, Message: clipAndEscape(err.Error())}
	}
	if s, err = c.Compile(location); err != nil {
		return nil, refusedSchema(name, doc, err)
	}
	return s, nil
}

// refusedSchema words what the library says of a schema: usually that it breaks the draft's own schema, at the leaves
// of that tree.
func refusedSchema(name string, doc *strictjson.Value, err error) *Error {
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		text := strings.TrimPrefix(err.Error(), "jsonschema "+location+" compilation failed: ")
		return &Error{Name: name, Pos: doc.Pos, Message: clipAndEscape(strings.ReplaceAll(text, location, ""))}
	}
	for len(broken.Causes) > 0 {
		broken = deepestCause(broken.Causes)
	}
	at := unescapePointer(broken.InstanceLocation)
	v := doc.At(at)
	if v == nil {
		v = doc
	}
	return &Error{Name: name, Pos: v.Pos, Pointer: at, Message: "is not valid there in a JSON Schema: " +
		clipAndEscape(broken.Message)}
}

// deepestCause is the cause that lies deepest in the schema, the first by address among equals: the order of the
// library's causes follows its maps.
func deepestCause(causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	best := causes[0]
	for _, c := range causes[1:] {
		a, b := len(c.InstanceLocation), len(best.InstanceLocation)
		if a > b || a == b &&
			c.InstanceLocation+c.KeywordLocation+c.Message < best.InstanceLocation+best.KeywordLocation+best.Message {
			best = c
		}
	}
	return best
}

// maxValues bounds the values of a document: the library makes about a kilobyte of error for each value that is wrong,
// and 5 MiB hold 2.6 million of them.
const maxValues = 250_000

// Validate lists where doc breaks the schema, in document order, at most 200 places and one leaf that counts the rest.
func (s *Schema) Validate(doc *strictjson.Value) []Leaf {
	return Prepare(doc).Validate(s)
}

// Document is a document to be held against several schemas. The form that the library reads is made once, when it is
// first asked.
type Document struct {
	value   *strictjson.Value
	any     func() any
	changes func() bool // some text is seen otherwise than it is written
	limit   []Leaf      // why it is not validated at all
}

// Prepare makes a Document. A document of too many values is not converted: Validate then says so, and never passes it.
func Prepare(doc *strictjson.Value) *Document {
	if doc == nil {
		return &Document{limit: []Leaf{{Keyword: "internal", Message: "there is no document to validate"}}}
	}
	if n := countValues(doc); n > maxValues {
		return &Document{limit: []Leaf{{Keyword: "limit",
			Message: fmt.Sprintf("holds %d values; at most %d are validated in one document", n, maxValues)}}}
	}
	return &Document{value: doc, any: sync.OnceValue(doc.Any),
		changes: sync.OnceValue(func() bool { return changesAsSeen(doc) })}
}

// ShowsAll says that every text of the document is plain ASCII, which spares looking.
func (d *Document) ShowsAll() { d.changes = func() bool { return false } }

// Validate holds the document against one schema; see Schema.Validate. Texts are read as they are written and as people
// see them (asSeen).
func (d *Document) Validate(s *Schema) (leaves []Leaf) {
	if d.limit != nil {
		return d.limit
	}
	defer func() {
		if r := recover(); r != nil {
			leaves = []Leaf{internalLeaf(fmt.Sprint(r))}
		}
	}()
	if s.plain.surelyAccepts(d.value) && !d.changes() {
		return nil
	}
	if leaf := s.tooMuch(d.value); leaf != nil {
		return leaf
	}
	library, err := s.compiled()
	if err != nil {
		return []Leaf{internalLeaf(err.Error())}
	}
	leaves, err = d.validateForm(s, library, d.any())
	if err != nil {
		return []Leaf{internalLeaf(err.Error())}
	}
	if d.changes() {
		return d.asSeen(s, leaves)
	}
	return leaves
}

// validateForm lists where a form of the document breaks the schema.
func (d *Document) validateForm(s *Schema, library *jsonschema.Schema, form any) ([]Leaf, error) {
	err := library.Validate(form)
	if err == nil {
		return nil, nil
	}
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return nil, err
	}
	f := flattener{schema: s.source, doc: d.value}
	return f.sortLeaves(f.leavesOf(broken)), nil
}

// tooMuch says that a document is not held against the schema, because that would take too long or find too much.
func (s *Schema) tooMuch(doc *strictjson.Value) []Leaf {
	c := newCoster(s.source, maxSteps)
	if c.countSchema(s.source, doc); c.left < 0 {
		return []Leaf{{Keyword: "limit", Message: fmt.Sprintf("takes more than %d steps to be held against the schema",
			maxSteps)}}
	}
	if n := s.plain.countDoubts(doc, maxDoubts); n > maxDoubts {
		return []Leaf{{Keyword: "limit", Message: fmt.Sprintf("may break the schema in more than %d places, too "+
			"many to be looked at", maxDoubts)}}
	}
	return nil
}

func internalLeaf(what string) Leaf {
	return Leaf{Keyword: "internal", Message: "could not be held against the schema, the schema library fails on it: " +
		clipAndEscape(what)}
}

func countValues(doc *strictjson.Value) int {
	n := 0
	doc.Walk(func(*strictjson.Value) bool { n++; return true })
	return n
}
