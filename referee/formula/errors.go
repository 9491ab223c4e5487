package formula

import (
	"fmt"
	"strings"
	"unicode"
)

// SyntaxError is a refusal of a formula's text.
type SyntaxError struct {
	// Src is the formula, Col the place in it, in code points from 1.
	Src string
	Col int
	// Msg says what is wrong, Hint what would be right; Hint may be empty.
	Msg, Hint string
}

// Error is one line: column, message, hint.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("column %d: %s", e.Col, visibleText(e.Msg))
	if e.Hint != "" {
		s += " (" + visibleText(e.Hint) + ")"
	}
	return s
}

// LimitError is a formula beyond a limit of S13b. It is not a *SyntaxError for errors.As: what it refuses may be well
// written.
type LimitError struct{ *SyntaxError }

// MissingError is a variable without a value of the kind that the formula needs.
type MissingError struct {
	// Name is the input as the formula names it.
	Name string
	// List says that a list was needed, not a number.
	List bool
}

func (e *MissingError) Error() string {
	if e.List {
		return fmt.Sprintf("no list of numbers for %q", visibleText(e.Name))
	}
	return fmt.Sprintf("no number for %q", visibleText(e.Name))
}

// EvalError is a part of a formula that has no value.
type EvalError struct {
	// Col is where the part begins, in code points from 1; Expr is its canonical text.
	Col  int
	Expr string
	// Err is one of package decimal's errors or a *MissingError.
	Err error
}

func (e *EvalError) Error() string {
	return fmt.Sprintf("%v at column %d: (%s)", e.Err, e.Col, visibleText(e.Expr))
}

// Unwrap gives Err to errors.Is and errors.As.
func (e *EvalError) Unwrap() error { return e.Err }

// maxCaretColumns is the width of what Caret prints.
const maxCaretColumns = 72

// Caret is the source in one line with ^ below the column. What has no shape of its own (control characters, bidi
// controls, combining marks) is shown as <U+202E>; line breaks and tabs as a space. A long source is cut to a window of
// 72 columns around the caret.
func (e *SyntaxError) Caret() string {
	var line []rune
	at := 0
	i := 0
	for _, r := range e.Src {
		if i++; i == e.Col {
			at = len(line)
		}
		line = append(line, showRune(r)...)
		if i > e.Col+maxCaretColumns {
			break
		}
	}
	if e.Col > i {
		at = len(line)
	}
	line, at = cutToWindow(line, at)
	return strings.TrimRight(string(line), " ") + "\n" + strings.Repeat(" ", at) + "^"
}

// cutToWindow cuts line to 72 columns, the last of which stays free for a caret behind the end.
func cutToWindow(line []rune, at int) ([]rune, int) {
	const width = maxCaretColumns - 1
	if len(line) <= width {
		return line, at
	}
	from := min(max(at-width/2, 0), len(line)-width)
	cut := append([]rune(nil), line[from:from+width]...)
	if from > 0 {
		cut[0] = '…'
	}
	if from+width < len(line) {
		cut[width-1] = '…'
	}
	return cut, at - from
}

// showRune is how a code point is shown.
func showRune(r rune) []rune {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return []rune{' '}
	case isShapeless(r):
		return []rune(fmt.Sprintf("<U+%04X>", r))
	}
	return []rune{r}
}

func isShapeless(r rune) bool { return !unicode.IsPrint(r) || unicode.Is(unicode.M, r) }

// visibleText shows what a terminal or a browser would obey or hide; combining marks are part of words and stay.
func visibleText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}
