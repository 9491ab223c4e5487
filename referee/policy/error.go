package policy

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// Error is a refusal at load (S26). A text has Src and Col, a JSON tree has Pointer and Pos.
type Error struct {
	Src     string         // the text that was parsed; "" for a tree
	Col     int            // column in Src, in code points from 1
	Pointer string         // JSON Pointer of the part of the tree that is refused
	Pos     strictjson.Pos // its place in the document
	Msg     string         // what is wrong
	Hint    string         // what would be right
	Nearest string         // the known name nearest to an unknown one
}

// Error says where and what is wrong, and what would be right.
func (e *Error) Error() string {
	where := fmt.Sprintf("column %d", e.Col)
	if e.Src == "" && e.Pos.Line > 0 {
		where = fmt.Sprintf("line %d, column %d", e.Pos.Line, e.Pos.Col)
	}
	msg := where + ": " + e.Msg
	if e.Nearest != "" {
		msg += fmt.Sprintf(" (did you mean %q?)", e.Nearest)
	}
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	return msg
}

// Caret shows the line of the text that is refused with a ^ under the place; "" for a tree.
func (e *Error) Caret() string {
	if e.Src == "" {
		return ""
	}
	before := []rune(e.Src)
	before = before[:min(max(e.Col-1, 0), len(before))]
	start := strings.LastIndexByte(string(before), '\n') + 1
	line, _, _ := strings.Cut(e.Src[start:], "\n")
	pad := len([]rune(string(before)[start:]))
	return strings.ReplaceAll(line, "\t", " ") + "\n" + strings.Repeat(" ", pad) + "^"
}

// place is where a part of an expression stands: a column of a text, or a value of a tree.
type place struct {
	col  int
	json *strictjson.Value
}

// refuse is raised by the builder and the parsers and caught by the entry points, which makes the grammar readable as
// itself.
type refusal struct{ err *Error }

func refuse(p place, hint, format string, args ...any) {
	panic(refusal{newError(p, hint, fmt.Sprintf(format, args...))})
}

func refuseNear(p place, nearest, hint, format string, args ...any) {
	err := newError(p, hint, fmt.Sprintf(format, args...))
	err.Nearest = nearest
	panic(refusal{err})
}

func newError(p place, hint, msg string) *Error {
	err := &Error{Col: p.col, Msg: msg, Hint: hint}
	if p.json != nil {
		err.Pointer, err.Pos = p.json.Pointer(), p.json.Pos
	}
	return err
}

// catchRefusal turns a refusal into the error of an entry point; any other panic passes through, because it is a
// defect.
func catchRefusal(err **Error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.err
	default:
		panic(r)
	}
}
