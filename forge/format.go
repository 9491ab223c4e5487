package forge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// Format writes a sheet in the one layout: two spaces, one member a line, members in the order of the format's own description, expressions,
// schemas and submissions in their author's order. The canonical bytes (S54) stay what they are: only order and white space change.
func Format(src []byte) ([]byte, error) {
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		return nil, fmt.Errorf("formatting: %w", err)
	}
	return append(indented(nil, arranged(doc, referee.SheetOrder()), 0), '\n'), nil
}

// arranged puts members into the order of a description; what it does not name keeps its own order, at the end.
func arranged(v *strictjson.Value, order *referee.Order) *strictjson.Value {
	if order == nil {
		return v
	}
	out := &strictjson.Value{Kind: v.Kind, Text: v.Text}
	for _, item := range v.Items {
		out.Items = append(out.Items, arranged(item, order))
	}
	for _, m := range v.Members {
		below := order.Of(m.Key)
		out.Members = append(out.Members, strictjson.Member{Key: m.Key, Value: arranged(m.Value, below)})
	}
	slices.SortStableFunc(out.Members, func(a, b strictjson.Member) int { return order.Place(a.Key) - order.Place(b.Key) })
	return out
}

// indented writes a value with two spaces a level; what is empty stays on its line.
func indented(b []byte, v *strictjson.Value, level int) []byte {
	line := func(level int) { b = append(append(b, '\n'), strings.Repeat("  ", level)...) }
	switch {
	case v.Kind == strictjson.Array && len(v.Items) > 0:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			line(level + 1)
			b = indented(b, item, level+1)
		}
		line(level)
		return append(b, ']')
	case v.Kind == strictjson.Object && len(v.Members) > 0:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			line(level + 1)
			b = indented(append(appendText(b, m.Key), ": "...), m.Value, level+1)
		}
		line(level)
		return append(b, '}')
	}
	return appendJSON(b, v)
}

// Formatted reports whether the bytes are what Format writes.
func Formatted(src []byte) (bool, error) {
	out, err := Format(src)
	return bytes.Equal(src, out), err
}
