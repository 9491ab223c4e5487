package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// changesAsSeen reports whether some text of the document is seen otherwise than it is written (S80).
func changesAsSeen(doc *strictjson.Value) bool {
	found := false
	doc.Walk(func(v *strictjson.Value) bool {
		found = found || v.Kind == strictjson.String && legible.Fold(v.Text) != v.Text
		return !found
	})
	return found
}

// asSeen is what a document breaks where its texts are read as people see them (S80): the texts and the values that the
// schema lists are folded, and what the text as written broke stands where it hides something. So a character that
// nobody sees makes no text long enough, no blank one filled and no digits none; and a hyphen or a space of another
// form breaks nothing.
func (d *Document) asSeen(s *Schema, written []Leaf) []Leaf {
	if n := len(written); n > 0 && written[n-1].Keyword == "limit" {
		return written // too much is wrong already to list it all
	}
	library, err := s.seen()
	if err != nil {
		return []Leaf{internalLeaf(err.Error())}
	}
	seen, err := d.validateForm(s, library, foldTexts(d.any()))
	if err != nil {
		return []Leaf{internalLeaf(err.Error())}
	}
	among := func(list []Leaf, l Leaf) bool {
		return slices.ContainsFunc(list, func(o Leaf) bool {
			return o.Pointer == l.Pointer && o.SchemaPointer == l.SchemaPointer && o.Property == l.Property
		})
	}
	out := slices.DeleteFunc(slices.Clone(written), func(l Leaf) bool {
		return l.SchemaPointer != "" && !among(seen, l) && !d.hidesBelow(l.Pointer)
	})
	for _, l := range seen {
		if !among(written, l) && !s.aboutForm(l) {
			out = append(out, l)
		}
	}
	f := flattener{schema: s.source, doc: d.value}
	return f.sortLeaves(out)
}

// aboutForm reports whether a keyword that the text as written keeps may speak of its form: a greatest length, which
// folding may exceed (… is one character and is seen as three), and a pattern that names a character which folding
// changes.
func (s *Schema) aboutForm(l Leaf) bool {
	return l.Keyword == "maxLength" || l.Keyword == "pattern" && legible.Names(s.source.At(l.SchemaPointer).TextOrEmpty())
}

// hidesBelow reports whether a text at or below a place hides something.
func (d *Document) hidesBelow(pointer string) bool {
	found := false
	d.value.At(pointer).Walk(func(v *strictjson.Value) bool {
		found = found || v.Kind == strictjson.String && len(legible.Find(v.Text)) > 0
		return !found
	})
	return found
}

// foldTexts is a copy of a value whose texts are folded. Names of members stay.
func foldTexts(v any) any {
	switch v := v.(type) {
	case string:
		return legible.Fold(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = foldTexts(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = foldTexts(item)
		}
		return out
	}
	return v
}

// seenBy compiles the schema with the texts folded that it lists: those of enum and const.
func seenBy(name string, doc *strictjson.Value, asWritten func() (*jsonschema.Schema,
	error)) func() (*jsonschema.Schema, error) {
	return sync.OnceValues(func() (*jsonschema.Schema, error) {
		source := encodeForLibrary(doc)
		if legible.Plain(source) && !strings.Contains(source, `\u`) {
			return asWritten()
		}
		decoder := json.NewDecoder(strings.NewReader(source))
		decoder.UseNumber()
		var schema any
		if err := decoder.Decode(&schema); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(listsFolded(schema)); err != nil {
			return nil, err
		}
		return compiledText(name, doc, out.String())
	})
}

// listsFolded folds the texts of every enum and const. A schema below a member of such a name is an object, and none of
// them.
func listsFolded(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = listsFolded(v[i])
		}
	case map[string]any:
		for k, item := range v {
			_, object := item.(map[string]any)
			if (k == "enum" || k == "const") && !object {
				v[k] = dropEqualTexts(foldTexts(item))
			} else {
				v[k] = listsFolded(item)
			}
		}
	}
	return v
}

// dropEqualTexts drops the texts of a list that folding has made equal: an enum names each value once.
func dropEqualTexts(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	known := map[string]bool{}
	return slices.DeleteFunc(list, func(item any) bool {
		s, isText := item.(string)
		twice := isText && known[s]
		known[s] = known[s] || isText
		return twice
	})
}
