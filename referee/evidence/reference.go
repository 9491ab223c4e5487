package evidence

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// SelectorKind is how a selector points into evidence.
type SelectorKind string

// The selectors of S61. SelectPage (RFC 8118) and SelectArea (media fragments) only point into what a human reads.
const (
	SelectAll     SelectorKind = ""
	SelectPointer SelectorKind = "pointer"
	SelectLine    SelectorKind = "line"
	SelectRow     SelectorKind = "row"
	SelectCell    SelectorKind = "cell"
	SelectCol     SelectorKind = "col"
	SelectText    SelectorKind = "text"
	SelectPage    SelectorKind = "page"
	SelectArea    SelectorKind = "xywh"
)

// selectorNames are those that are written <name>=<value>.
var selectorNames = []string{"line", "row", "cell", "col", "text", "page", "xywh"}

// Last stands for "*" in a Selector: the last row or column, or for lines the end of the text.
const Last = -1

// Selector is a parsed fragment.
//
// Rows and columns count from 1, and a header is row 1, as in RFC 7111. Lines count by positions, as in RFC 5147:
// position n lies after the n-th line, 0 before the first, so that line=10,12 selects the lines 11 and 12, line=9,10
// the tenth alone, and line=10 no text but the place between lines 10 and 11. A missing first position is 0, a missing
// second the end.
type Selector struct {
	Kind     SelectorKind
	Pointer  string // SelectPointer: RFC 6901, percent-decoded
	Text     string // SelectText: percent-decoded; SelectPage and SelectArea: as written
	From, To int    // SelectLine, SelectRow, SelectCell (rows), SelectCol
	FromCol  int    // SelectCell
	ToCol    int    // SelectCell
}

// Reference is a parsed evidence_reference.
type Reference struct {
	ID       string
	Selector Selector
}

// ParseReference reads <id> or <id>#<selector>. It does not know which ids are declared: free text is an id of which
// Resolve says ErrUndeclared. The error is a *Error that wraps ErrSelector.
func ParseReference(ref string) (Reference, error) {
	id, fragment, has := splitReference(ref)
	if id == "" {
		return Reference{}, refuseSelector(id, "the reference %s names no evidence; write <id> or <id>#<selector>",
			quoteForMessage(ref))
	}
	if !has {
		return Reference{ID: id}, nil
	}
	sel, err := parseSelector(fragment)
	if err != nil {
		return Reference{}, refuseSelector(id, "%v", err)
	}
	return Reference{ID: id, Selector: sel}, nil
}

func splitReference(ref string) (id, fragment string, has bool) {
	id, fragment, has = strings.Cut(strings.TrimSpace(ref), "#")
	return id, fragment, has
}

func refuseSelector(id, format string, args ...any) *Error {
	return &Error{Code: codes[ErrSelector], ID: id, Message: fmt.Sprintf(format, args...), cause: ErrSelector}
}

func parseSelector(fragment string) (Selector, error) {
	if fragment == "" {
		return Selector{}, fmt.Errorf("the selector after # is empty; leave the # out to refer to the whole")
	}
	if fragment[0] == '/' {
		return pointerSelector(fragment)
	}
	name, value, ok := strings.Cut(fragment, "=")
	kind, known := selectorKind(name)
	if !known || !ok {
		return Selector{}, unknownSelector(fragment, name)
	}
	switch kind {
	case SelectText:
		return textSelector(value)
	case SelectPage, SelectArea:
		return Selector{Kind: kind, Text: value}, nil
	}
	if strings.Contains(value, ";") {
		return Selector{}, fmt.Errorf("the selector %s has several parts; one reference points to one place",
			quoteForMessage(fragment))
	}
	sel := Selector{Kind: kind}
	var err error
	switch kind {
	case SelectLine:
		sel.From, sel.To, err = parseLinePositions(value)
	case SelectCell:
		err = sel.readCells(value)
	default:
		sel.From, sel.To, err = parseSpan(value)
	}
	if err != nil {
		return Selector{}, fmt.Errorf("the selector %s: %w", quoteForMessage(fragment), err)
	}
	return sel, nil
}

func selectorKind(name string) (SelectorKind, bool) {
	for _, known := range selectorNames {
		if known == name {
			return SelectorKind(name), true
		}
	}
	return SelectAll, false
}

// unknownSelector names the nearest selector there is.
func unknownSelector(fragment, name string) error {
	near := nearest.Word(name, selectorNames)
	if strings.HasPrefix(name, "col") { // "column" is too far from "col" to be found by its letters
		near = "col"
	}
	hint := "known: /json/pointer, line=, row=, cell=, col=, text= (page= for PDF)"
	if near != "" {
		hint = "did you mean " + near + "=?"
	}
	return fmt.Errorf("unknown selector %s; %s", quoteForMessage(fragment), hint)
}

func pointerSelector(fragment string) (Selector, error) {
	pointer, err := percentDecode(fragment)
	if err != nil {
		return Selector{}, err
	}
	if !strictjson.WellEscaped(pointer) {
		return Selector{}, fmt.Errorf("the JSON Pointer %s has a ~ that is neither ~0 (for ~) nor ~1 (for /)",
			quoteForMessage(pointer))
	}
	return Selector{Kind: SelectPointer, Pointer: pointer}, nil
}

func textSelector(value string) (Selector, error) {
	text, err := percentDecode(value)
	if err != nil {
		return Selector{}, err
	}
	if strings.TrimSpace(text) == "" {
		return Selector{}, fmt.Errorf("the selector text= has no text to look for")
	}
	return Selector{Kind: SelectText, Text: text}, nil
}

// percentDecode undoes percent-encoding.
func percentDecode(s string) (string, error) {
	out, err := url.PathUnescape(s)
	if err != nil || !utf8.ValidString(out) {
		return "", fmt.Errorf("the selector %s is not well percent-encoded UTF-8; a percent sign is written %%25",
			quoteForMessage(s))
	}
	return out, nil
}

// parseCount reads a number of at most nine digits.
func parseCount(s string) (int, error) {
	if s == "" || len(s) > 9 || strings.IndexFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII ||
			!unicode.IsDigit(r)
	}) >= 0 {
		return 0, fmt.Errorf("%s is not a count", quoteForMessage(s))
	}
	return strconv.Atoi(s)
}

// parseLinePositions reads the line positions of RFC 5147: "a", "a,b", "a," or ",b".
func parseLinePositions(s string) (from, to int, err error) {
	first, second, isRange := strings.Cut(s, ",")
	if !isRange {
		from, err = parseCount(first)
		return from, from, err
	}
	if first == "" && second == "" {
		return 0, 0, fmt.Errorf("a line range needs a position, as in line=10,12")
	}
	to = Last
	if first != "" {
		if from, err = parseCount(first); err != nil {
			return 0, 0, err
		}
	}
	if second != "" {
		if to, err = parseCount(second); err != nil {
			return 0, 0, err
		}
		if to < from {
			return 0, 0, fmt.Errorf("position %d stands before %d; write the smaller first", to, from)
		}
	}
	return from, to, nil
}

// parseOrdinal reads a row or column: a count from 1, or "*".
func parseOrdinal(s string) (int, error) {
	if s == "*" {
		return Last, nil
	}
	n, err := parseCount(s)
	if err == nil && n == 0 {
		err = fmt.Errorf("rows and columns count from 1")
	}
	return n, err
}

// parseSpan reads "5", "5-7" or "5-*".
func parseSpan(s string) (from, to int, err error) {
	first, second, isRange := strings.Cut(s, "-")
	if from, err = parseOrdinal(first); err != nil || !isRange {
		return from, from, err
	}
	if to, err = parseOrdinal(second); err != nil {
		return 0, 0, err
	}
	return from, to, checkAscending(from, to)
}

func checkAscending(from, to int) error {
	if to != Last && (from == Last || to < from) {
		return fmt.Errorf("a range is written from the smaller to the larger")
	}
	return nil
}

// readCells reads "4,2" or "4,2-6,5": row and column of the first, and of the last cell.
func (sel *Selector) readCells(s string) (err error) {
	first, last, isRange := strings.Cut(s, "-")
	if sel.From, sel.FromCol, err = cellAt(first); err != nil {
		return err
	}
	sel.To, sel.ToCol = sel.From, sel.FromCol
	if !isRange {
		return nil
	}
	if sel.To, sel.ToCol, err = cellAt(last); err != nil {
		return err
	}
	if err := checkAscending(sel.From, sel.To); err != nil {
		return err
	}
	return checkAscending(sel.FromCol, sel.ToCol)
}

func cellAt(s string) (row, col int, err error) {
	r, c, ok := strings.Cut(s, ",")
	if !ok {
		return 0, 0, fmt.Errorf("a cell is written row,column, as in cell=4,2")
	}
	if row, err = parseOrdinal(r); err != nil {
		return 0, 0, err
	}
	col, err = parseOrdinal(c)
	return row, col, err
}

// String is the reference as it is written; ParseReference reads it back.
func (r Reference) String() string {
	if r.Selector.Kind == SelectAll {
		return r.ID
	}
	return r.ID + "#" + r.Selector.String()
}

// String is the fragment without its #.
func (sel Selector) String() string {
	switch sel.Kind {
	case SelectPointer:
		return (&url.URL{Fragment: sel.Pointer}).EscapedFragment()
	case SelectText:
		return "text=" + url.PathEscape(sel.Text)
	case SelectPage, SelectArea:
		return string(sel.Kind) + "=" + sel.Text
	case SelectLine:
		if sel.From == sel.To {
			return fmt.Sprintf("line=%d", sel.From)
		}
		return "line=" + strconv.Itoa(sel.From) + "," + strings.TrimSuffix(placeOrStar(sel.To), "*")
	case SelectCell:
		first, last := placeOrStar(sel.From)+","+placeOrStar(sel.FromCol), placeOrStar(sel.To)+","+placeOrStar(sel.ToCol)
		if first == last {
			return "cell=" + first
		}
		return "cell=" + first + "-" + last
	case SelectRow, SelectCol:
		if sel.From == sel.To {
			return string(sel.Kind) + "=" + placeOrStar(sel.From)
		}
		return string(sel.Kind) + "=" + placeOrStar(sel.From) + "-" + placeOrStar(sel.To)
	}
	return ""
}

func placeOrStar(n int) string {
	if n == Last {
		return "*"
	}
	return strconv.Itoa(n)
}
