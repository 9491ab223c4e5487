package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/defendableos/referee/internal/strictjson"
)

// maxLeaves is how many places Validate lists.
const maxLeaves = 200

// flattener turns the library's tree of errors into leaves.
type flattener struct {
	schema, doc *strictjson.Value
}

// leavesOf is the leaves of one error. Wrappers (the root, $ref, allOf, then, else and those without a message) only
// lead to their causes; contains and the choices are findings themselves.
func (f *flattener) leavesOf(e *jsonschema.ValidationError) []Leaf {
	at := f.placeOf(e)
	switch {
	case len(e.Causes) == 0:
		return f.wordLeaf(at)
	case at.onSchema: // several errors of one schema
	case at.keyword == "anyOf" || at.keyword == "oneOf":
		return f.wordChoice(e, at)
	case at.keyword == "contains":
		return f.wordLeaf(at)
	}
	var leaves []Leaf
	for _, c := range e.Causes {
		leaves = append(leaves, f.leavesOf(c)...)
	}
	return leaves
}

// place is an error's addresses, read.
type place struct {
	pointer       string            // into the document
	schemaPointer string            // into the schema, of the keyword
	keyword       string            // that is broken; where a whole schema is (false), the one that holds it
	onSchema      bool              // the address is a schema's, not a keyword's
	wants         *strictjson.Value // what stands at schemaPointer
	schema        *strictjson.Value // the schema that holds the keyword
	got           *strictjson.Value // what stands in the document
	naming        bool              // the value is the member's name (propertyNames)
	message       string            // the library's own words, for the counts in it
}

// placeOf reads the addresses. The library writes names URL-escaped on top of RFC 6901.
func (f *flattener) placeOf(e *jsonschema.ValidationError) place {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	p := place{pointer: unescapePointer(e.InstanceLocation), schemaPointer: unescapePointer(fragment), keyword: "false",
		onSchema: true, message: e.Message}
	p.naming = slices.ContainsFunc(keywordsOf(unescapePointer(e.KeywordLocation)),
		func(s step) bool { return s.keyword == "propertyNames" })
	if path := keywordsOf(p.schemaPointer); len(path) > 0 {
		last := path[len(path)-1]
		p.keyword, p.onSchema = last.keyword, last.isSchema
		if p.keyword == "dependentRequired" || p.keyword == "dependencies" && !p.onSchema {
			p.schemaPointer = last.pointer // without the name and index that the library adds
		}
	}
	holder, _, _ := strictjson.CutPointer(p.schemaPointer)
	p.schema = f.schema.At(holder)
	if p.keyword == "minContains" { // absent, it is 1, and contains is what is broken
		p.keyword = "contains"
	}
	p.wants, p.got = f.schema.At(p.schemaPointer), f.doc.At(p.pointer)
	return p
}

// step is one keyword on the way through a schema, with the names or indices that belong to it.
type step struct {
	keyword  string
	pointer  string // up to and including the keyword
	isSchema bool   // the path stands on a schema below the keyword, not on the keyword
}

// keywordsOf reads a pointer into a schema as keywords, so that a member called "type" is not taken for the keyword.
func keywordsOf(pointer string) []step {
	names, err := strictjson.ParsePointer(pointer)
	if err != nil {
		return nil
	}
	isIndex := func(i int) bool {
		_, ok := strictjson.ArrayIndex(names[i])
		return ok
	}
	var path []step
	for i, sofar := 0, ""; i < len(names); {
		k := keywords[names[i]]
		sofar = strictjson.JoinPointer(sofar, names[i])
		s := step{keyword: names[i], pointer: sofar, isSchema: k.shape == one || k.shape == oneList}
		i++
		takes := k.shape == named || k.shape == namedAny || k.shape == list
		if i < len(names) && (takes || k.shape == oneList && isIndex(i)) {
			sofar = strictjson.JoinPointer(sofar, names[i])
			s.isSchema = true
			i++
		}
		if s.keyword == "dependentRequired" || s.keyword == "dependencies" && i < len(names) && isIndex(i) {
			s.isSchema = false
			i = len(names)
		}
		path = append(path, s)
	}
	return path
}

// wordChoice words a failed anyOf or oneOf: one summary, and the leaves of the branch that fits best unless every
// branch fails at its type, where the summary says all.
func (f *flattener) wordChoice(e *jsonschema.ValidationError, at place) []Leaf {
	branches := make([]branch, len(e.Causes))
	for i, c := range e.Causes {
		branches[i] = newBranch(i+1, at.pointer, f.leavesOf(c))
	}
	best := slices.MinFunc(branches, func(a, b branch) int {
		return cmp.Or(cmp.Compare(a.offType, b.offType), cmp.Compare(len(a.leaves), len(b.leaves)),
			cmp.Compare(a.number, b.number))
	})
	summary := Leaf{Pointer: at.pointer, Keyword: at.keyword, SchemaPointer: at.schemaPointer, Got: showValue(at.got)}
	if best.offType == 1 {
		summary.Want = joinWants(branches)
		summary.Message = fmt.Sprintf("is %s; the schema wants %s", summary.Got, summary.Want)
		return []Leaf{summary}
	}
	summary.Want = fmt.Sprintf("one of %d forms", len(branches))
	summary.Message = fmt.Sprintf("fits none of the %d forms that the schema allows; form %d comes nearest and "+
		"fails in %s",
		len(branches), best.number, countPlaces(len(best.leaves)))
	return append([]Leaf{summary}, best.leaves...)
}

// branch is one form of a choice and why it does not fit.
type branch struct {
	number, offType int    // offType is 1 where the value as a whole is of another type or another constant
	want            string // what would be right then
	leaves          []Leaf
}

func newBranch(number int, pointer string, leaves []Leaf) branch {
	b := branch{number: number, leaves: leaves}
	for _, l := range leaves {
		if l.Pointer == pointer && (l.Keyword == "type" || l.Keyword == "const" || l.Keyword == "enum") {
			b.offType, b.want = 1, l.Want
		}
	}
	return b
}

// joinWants joins what the branches want, each once.
func joinWants(branches []branch) string {
	var wants []string
	for _, b := range branches {
		if !slices.Contains(wants, b.want) {
			wants = append(wants, b.want)
		}
	}
	return strings.Join(wants, " or ")
}

func countPlaces(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

// sortLeaves puts leaves into document order, then by keyword, drops repetitions (two paths to one schema) and cuts the
// list.
func (f *flattener) sortLeaves(leaves []Leaf) []Leaf {
	// a pointer for every value of the document would take more than the document
	order := make(map[string]int, len(leaves))
	for _, l := range leaves {
		if v := f.doc.At(l.Pointer); v != nil {
			order[l.Pointer] = v.Pos.Offset
		}
	}
	slices.SortFunc(leaves, func(a, b Leaf) int {
		return cmp.Or(cmp.Compare(order[a.Pointer], order[b.Pointer]), cmp.Compare(a.Keyword, b.Keyword),
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.SchemaPointer, b.SchemaPointer),
			cmp.Compare(a.Message, b.Message))
	})
	leaves = slices.CompactFunc(leaves, func(a, b Leaf) bool {
		return a.Pointer == b.Pointer && a.Keyword == b.Keyword && a.Property == b.Property && a.Message == b.Message
	})
	if len(leaves) > maxLeaves {
		rest := len(leaves) - maxLeaves
		leaves = append(leaves[:maxLeaves:maxLeaves],
			Leaf{Keyword: "limit", Message: fmt.Sprintf("breaks the schema in %d more places, not listed", rest)})
	}
	return leaves
}

// unescapePointer takes the library's URL-escaping off a pointer; the RFC 6901 escapes stay.
func unescapePointer(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, t := range tokens {
		if plain, err := url.PathUnescape(t); err == nil {
			tokens[i] = plain
		}
	}
	return strings.Join(tokens, "/")
}
