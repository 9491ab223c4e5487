package evidence

import (
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// HitKind is what a reference hit.
type HitKind string

// What a reference may hit. HitOpen is for a human to look at.
const (
	HitFile   HitKind = "file" // no selector
	HitNumber HitKind = "number"
	HitString HitKind = "string"
	HitBool   HitKind = "bool"
	HitNull   HitKind = "null"
	HitArray  HitKind = "array"
	HitObject HitKind = "object"
	HitRow    HitKind = "row"
	HitCells  HitKind = "cells" // several rows, a block of cells or columns
	HitLines  HitKind = "lines"
	HitText   HitKind = "text"
	HitOpen   HitKind = "open"
)

// Hit is what stands where a reference points.
type Hit struct {
	File *File
	Kind HitKind
	// Text is the JSON string's text, other JSON as written, the cell, the cells of a row joined by commas and of rows
	// by line ends, the lines, or the quoted text as it stands in the evidence. It is empty for HitFile and HitOpen.
	Text         string
	JSON         *strictjson.Value // of a JSON Pointer
	Row          []string          // of HitRow
	Cells        [][]string        // of HitCells
	Line, Column int               // from 1, in code points; 0 where there is no place
	Open         bool              // S64: only a human can say whether it is there
	Note         string            // what a reader of the finding should know
}

// Resolve finds what a reference points at. The error is a *Error that wraps ErrNoManifest, ErrUndeclared, an error of
// the file (ErrMissing, ErrNotHeld, ErrRefused, ErrTooLarge), ErrSelector, ErrContent or ErrNoHit. Whether the id is
// declared is decided first: "Invoice #4411" is free text and no bad selector.
func (s *Set) Resolve(ref string) (Hit, error) {
	id, _, _ := splitReference(ref)
	e, err := s.entryOf(id)
	if err != nil {
		return Hit{}, err
	}
	r, err := ParseReference(ref)
	if err != nil {
		return Hit{}, err
	}
	if err := s.takeWork(e, 4+len(ref)/16); err != nil {
		return Hit{}, err
	}
	return s.resolveHit(e, r.Selector)
}

// Whole is a whole item as one value: the root of a JSON document, else its text. What only a human can read gives a
// Hit with Open. The error is one of Resolve's.
func (s *Set) Whole(id string) (Hit, error) {
	e, err := s.entryOf(id)
	if err != nil {
		return Hit{}, err
	}
	hit := Hit{File: &e.file, Kind: HitFile}
	if e.file.Format.ForHuman() {
		hit.Kind, hit.Open = HitOpen, true
		return hit, nil
	}
	if e.file.Format == JSON {
		hit.JSON, err = s.jsonDocument(e)
		return hit, err
	}
	hit.Text, err = s.textContent(e)
	return hit, err
}

func (s *Set) resolveHit(e *entry, sel Selector) (Hit, error) {
	if sel.Kind == SelectAll {
		return Hit{File: &e.file, Kind: HitFile}, nil // Whole reads it
	}
	format := e.file.Format
	if format.ForHuman() {
		return Hit{File: &e.file, Kind: HitOpen, Open: true, Note: "a " + string(format) +
			" file is hashed and not read; look it up"}, nil
	}
	switch sel.Kind {
	case SelectPointer:
		return s.hitPointer(e, sel)
	case SelectRow, SelectCell, SelectCol:
		return s.hitTable(e, sel)
	case SelectLine:
		return s.hitLines(e, sel)
	case SelectText:
		return s.hitText(e, sel)
	}
	return Hit{}, e.file.itemError(ErrSelector, "%s= points into a PDF or an image, and this is a %s file; use %s",
		sel.Kind, format, usableSelectors(format))
}

// usableSelectors names the selectors for a format.
func usableSelectors(f Format) string {
	switch f {
	case JSON:
		return "a JSON Pointer as in #/a/b, text= or line="
	case CSV:
		return "cell=, row=, col=, text= or line="
	}
	return "line= or text="
}

var jsonHits = map[strictjson.Kind]HitKind{
	strictjson.Null: HitNull, strictjson.Bool: HitBool, strictjson.Number: HitNumber, strictjson.String: HitString,
	strictjson.Array: HitArray, strictjson.Object: HitObject,
}

func (s *Set) hitPointer(e *entry, sel Selector) (Hit, error) {
	if e.file.Format != JSON {
		return Hit{}, e.file.itemError(ErrSelector, "a JSON Pointer points into JSON, and this is a %s file; use %s",
			e.file.Format, usableSelectors(e.file.Format))
	}
	root, err := s.jsonDocument(e)
	if err != nil {
		return Hit{}, err
	}
	v := root.At(sel.Pointer)
	if v == nil {
		return Hit{}, e.file.itemError(ErrNoHit, "nothing at %s; %s", quoteForMessage(sel.Pointer), deepestText(root,
			sel.Pointer))
	}
	text, err := s.textContent(e)
	if err != nil {
		return Hit{}, err
	}
	hit := Hit{File: &e.file, Kind: jsonHits[v.Kind], JSON: v, Text: v.Text, Line: v.Pos.Line, Column: v.Pos.Col}
	if v.Kind == strictjson.Array || v.Kind == strictjson.Object || v.Kind == strictjson.Null {
		hit.Text = text[v.Pos.Offset:v.End]
	}
	return hit, nil
}

// deepestText says how far the pointer leads and what is there instead.
func deepestText(root *strictjson.Value, pointer string) string {
	v, at := root.Deepest(pointer)
	if at == "" {
		return describeValue(v)
	}
	return quoteForMessage(at) + " is " + describeValue(v)
}

func describeValue(v *strictjson.Value) string {
	switch v.Kind {
	case strictjson.Object:
		if len(v.Members) == 0 {
			return "an object without members"
		}
		names := make([]string, min(len(v.Members), maxShown))
		for i := range names {
			names[i] = v.Members[i].Key
		}
		return "an object with the members " + listOf(names, len(v.Members))
	case strictjson.Array:
		return "an array of " + legible.Count(len(v.Items), "element")
	}
	return "a " + string(jsonHits[v.Kind])
}

// hitLines counts as Selector says.
func (s *Set) hitLines(e *entry, sel Selector) (Hit, error) {
	text, err := s.textContent(e)
	if err != nil {
		return Hit{}, err
	}
	starts, err := s.lineStarts(e, text)
	if err != nil {
		return Hit{}, err
	}
	to := sel.To
	if to == Last {
		to = len(starts)
	}
	if sel.From > len(starts) || to > len(starts) || sel.From > to || sel.From == to && sel.To == Last {
		return Hit{}, e.file.itemError(ErrNoHit, "#%s: the text has %s", sel, legible.Count(len(starts), "line"))
	}
	if sel.From == to {
		note := "a single position selects no text; line " + placeOrStar(sel.From) + " is written #line=" +
			placeOrStar(max(0, sel.From-1)) + "," + placeOrStar(max(1, sel.From))
		return Hit{File: &e.file, Kind: HitLines, Line: min(sel.From+1, max(1, len(starts))), Column: 1, Note: note},
			nil
	}
	end := len(text)
	if to < len(starts) {
		end = starts[to]
	}
	lines := strings.TrimRight(text[starts[sel.From]:end], "\r\n")
	return Hit{File: &e.file, Kind: HitLines, Text: lines, Line: sel.From + 1, Column: 1}, nil
}

// hitText finds the first place where the words stand one after the other, whatever white space lies between them, and
// cut no number in two.
func (s *Set) hitText(e *entry, sel Selector) (Hit, error) {
	text, err := s.textContent(e)
	if err != nil {
		return Hit{}, err
	}
	places, err := s.findOccurrences(e, text, sel.Text)
	if err != nil {
		return Hit{}, err
	}
	if len(places) == 0 {
		return Hit{}, e.file.itemError(ErrNoHit, "the text %s does not stand there", quoteForMessage(sel.Text))
	}
	from, to := places[0][0], places[0][1]
	line, col := e.placeOf(text, from)
	return Hit{File: &e.file, Kind: HitText, Text: text[from:to], Line: line, Column: col}, nil
}

// foldSpace makes each run of white space one space and drops it at the ends.
func foldSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// unfoldOffset is the offset in text of byte n of foldSpace(text), which must not be a space.
func unfoldOffset(text string, n int) int {
	at, space, begun := 0, false, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = begun
			continue
		}
		if space {
			at++
		}
		begun, space = true, false
		size := len(string(r))
		if n < at+size {
			return i + n - at
		}
		at += size
	}
	return len(text)
}
