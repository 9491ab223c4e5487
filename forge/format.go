package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// Format writes a sheet in the one layout: what fits into a line of 120 bytes on one, else one member a line and two
// spaces a level; members in the order of the format's own description, expressions, schemas and submissions in their
// author's order. The canonical bytes (S54) stay what they are: only order and white space change.
func Format(src []byte) ([]byte, error) {
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		return nil, fmt.Errorf("formatting: %w", err)
	}
	return append(layOutSpread(nil, arrangeMembers(doc, referee.SheetOrder()), 0), '\n'), nil
}

// arrangeMembers puts members into the order of a description; what it does not name keeps its own order, at the end.
func arrangeMembers(v *strictjson.Value, order *referee.Order) *strictjson.Value {
	if order == nil {
		return v
	}
	out := &strictjson.Value{Kind: v.Kind, Text: v.Text}
	for _, item := range v.Items {
		out.Items = append(out.Items, arrangeMembers(item, order))
	}
	for _, m := range v.Members {
		below := order.Of(m.Key)
		out.Members = append(out.Members, strictjson.Member{Key: m.Key, Value: arrangeMembers(m.Value, below)})
	}
	slices.SortStableFunc(out.Members,
		func(a, b strictjson.Member) int { return order.Place(a.Key) - order.Place(b.Key) })
	return out
}

// lineWidth is how many bytes a line may have that holds more than one value.
const lineWidth = 120

// layOut writes a value that begins so many bytes into its line: on the line if it fits there, else spread over lines.
func layOut(b []byte, v *strictjson.Value, level, column int) []byte {
	if line, fits := onLine(b, v, len(b)+lineWidth-column); fits {
		return line
	}
	return layOutSpread(b, v, level)
}

// layOutSpread writes a value with its elements on lines of their own, two spaces a level; what has no elements stays
// on its line.
func layOutSpread(b []byte, v *strictjson.Value, level int) []byte {
	indent := 2 * (level + 1)
	line := func(indent int) { b = append(append(b, '\n'), strings.Repeat(" ", indent)...) }
	switch {
	case v.Kind == strictjson.Array && len(v.Items) > 0:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			line(indent)
			b = layOut(b, item, level+1, indent)
		}
		line(indent - 2)
		return append(b, ']')
	case v.Kind == strictjson.Object && len(v.Members) > 0:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			line(indent)
			from := len(b)
			b = append(strictjson.AppendText(b, m.Key), ": "...)
			b = layOut(b, m.Value, level+1, indent+len(b)-from)
		}
		line(indent - 2)
		return append(b, '}')
	}
	return v.AppendTo(b)
}

// onLine writes a value on one line. It gives up, and b stands as it was, where the line would have more than so many
// bytes.
func onLine(b []byte, v *strictjson.Value, most int) (line []byte, fits bool) {
	line, fits = b, true
	each := func(i int, key string, v *strictjson.Value) {
		if i > 0 {
			line = append(line, ", "...)
		}
		line, fits = onLine(append(line, key...), v, most)
	}
	switch {
	case v.Kind == strictjson.Array && len(v.Items) > 0:
		line = append(line, '[')
		for i := 0; i < len(v.Items) && fits; i++ {
			each(i, "", v.Items[i])
		}
		line = append(line, ']')
	case v.Kind == strictjson.Object && len(v.Members) > 0:
		line = append(line, '{')
		for i := 0; i < len(v.Members) && fits; i++ {
			each(i, string(append(strictjson.AppendText(nil, v.Members[i].Key), ": "...)), v.Members[i].Value)
		}
		line = append(line, '}')
	case len(v.Text) > most-len(b):
		return b, false
	default:
		line = v.AppendTo(line)
	}
	if !fits || len(line) > most {
		return b, false
	}
	return line, true
}
