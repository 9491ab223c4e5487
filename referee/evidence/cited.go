package evidence

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// Cited is the one number that a reference cites (S62): a whole token with its sign, brackets, percent sign and scale,
// one cell, one match.
type Cited struct {
	Hit
	Number Number
	// ColumnScale is the power of ten that the column or the table says its numbers are in ("in thousands"); 0 where it
	// says none. It is not part of Number, because an input may be stated in the same unit.
	ColumnScale int
}

// Cited reads the number that a reference cites. What only a human can read gives a Hit with Open. The error is one of
// Resolve's, or wraps ErrNoNumber where no number stands there, or ErrAmbiguous where several do; that one names them.
func (s *Set) Cited(ref string) (Cited, error) {
	hit, err := s.Resolve(ref)
	if err != nil || hit.Open {
		return Cited{Hit: hit}, err
	}
	c := Cited{Hit: hit}
	e := s.byID[hit.File.ID]
	r, err := ParseReference(ref)
	if err != nil {
		return Cited{}, err
	}
	switch {
	case hit.JSON != nil:
		err = c.ofJSON()
	case r.Selector.Kind == SelectText:
		err = s.citedText(e, r.Selector, &c)
	case hit.Kind == HitLines:
		err = s.citedLines(e, &c)
	case hit.Kind == HitFile:
		err = e.file.itemError(ErrNoNumber, "the whole item is cited; cite the place of the number, with %s",
			usableSelectors(e.file.Format))
	case hit.Kind == HitRow, hit.Kind == HitCells:
		err = s.citedCells(e, r.Selector, &c)
	default:
		err = s.citedCell(e, r.Selector, &c)
	}
	if err != nil {
		return Cited{}, err
	}
	return c, nil
}

// ofJSON reads a JSON number, or a string that is one number.
func (c *Cited) ofJSON() error {
	switch c.JSON.Kind {
	case strictjson.Number:
		if c.JSON.OutOfRange {
			return c.File.itemError(ErrNoNumber, "the number there is out of range")
		}
		c.Number = Number{Text: c.JSON.Text}
		return nil
	case strictjson.String:
		return c.readOne(c.JSON.Text)
	}
	return c.File.itemError(ErrNoNumber, "%s stands there, not a number", describeValue(c.JSON))
}

// readOne reads a text that holds one number.
func (c *Cited) readOne(text string) error {
	if n, ok := NumberIn(text); ok {
		c.Number = n
		return nil
	}
	figures := Figures(text)
	switch {
	case len(figures) == 0, strings.Count(text, "(") != strings.Count(text, ")"): // half of a bracket is half of a sign
		return c.File.itemError(ErrNoNumber, "%s stands there, which is not a number", quoteForMessage(text))
	case len(figures) == 1:
		c.Number = figures[0].Number
		return nil
	}
	return c.File.itemError(ErrAmbiguous, "%s holds %d numbers (%s); quote the one that is meant with text=",
		quoteForMessage(text),
		len(figures), listCandidates(text, figures))
}

// listCandidates lists the numbers that a reader could mean.
func listCandidates(text string, figures []Figure) string {
	var words []string
	for _, f := range figures {
		words = append(words, text[f.Start:f.End])
	}
	return listNames(words)
}

func (s *Set) citedCell(e *entry, sel Selector, c *Cited) error {
	t, err := s.tableOf(e)
	if err != nil {
		return err
	}
	row, _, _ := boundRange(sel.From, sel.From, len(t.rows))
	col, _, _ := boundRange(sel.FromCol, sel.FromCol, len(t.rowCells(row-1)))
	c.ColumnScale = t.scaleOf(row-1, col-1)
	return c.readOne(c.Text)
}

// citedCells refuses several cells for one number, and names those that hold one.
func (s *Set) citedCells(e *entry, sel Selector, c *Cited) error {
	rows := c.Cells
	if c.Row != nil {
		rows = [][]string{c.Row}
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		return c.readOne(rows[0][0])
	}
	t, err := s.tableOf(e)
	if err != nil {
		return err
	}
	first, _, _ := boundRange(sel.From, sel.From, len(t.rows))
	left := max(1, sel.FromCol)
	if sel.Kind == SelectCol {
		first, left = 1, sel.From
	}
	var words []string
	n := 0
	for i, row := range rows {
		for j, cell := range row {
			n++
			if _, ok := NumberIn(cell); ok {
				words = append(words, fmt.Sprintf("cell=%d,%d %s", first+i, left+j, cell))
			}
		}
	}
	return e.file.itemError(ErrAmbiguous, "#%s selects %s; cite one of them: %s", sel, legible.Count(n, "cell"),
		listNames(words))
}

// citedLines reads the one number of the lines selected.
func (s *Set) citedLines(e *entry, c *Cited) error {
	text := c.Text
	if len(text) > maxCitedLines {
		return e.file.itemError(ErrAmbiguous, "the lines have %d bytes; cite the one that holds the number, or quote "+
			"the number with text=", len(text))
	}
	if err := s.takeWork(e, len(text)/2); err != nil {
		return err
	}
	figures := Figures(text)
	if e.file.Format == JSON || e.file.Format == JSONL {
		figures = withoutNames(text, figures)
	}
	switch len(figures) {
	case 0:
		return e.file.itemError(ErrNoNumber, "%s stands there, which is not a number", quoteForMessage(text))
	case 1:
		c.Number = figures[0].Number
		return nil
	}
	return e.file.itemError(ErrAmbiguous, "the lines hold %d numbers (%s); quote the one that is meant with text=",
		len(figures), listCandidates(text, figures))
}

// withoutNames leaves out figures in the names of JSON members: "2025": 920000 holds one number.
func withoutNames(text string, figures []Figure) []Figure {
	var out []Figure
	for _, f := range figures {
		rest := text[f.End:]
		quote := strings.IndexAny(rest, "\"\n")
		if quote >= 0 && rest[quote] == '"' && strings.HasPrefix(strings.TrimLeft(rest[quote+1:], " \t\r\n"), ":") {
			continue
		}
		out = append(out, f)
	}
	return out
}

// citedText reads the number that a quotation holds, as a whole token of the text: its sign and brackets count although
// the quotation leaves them out. The quotation must stand in one place only.
func (s *Set) citedText(e *entry, sel Selector, c *Cited) error {
	text, err := s.textContent(e)
	if err != nil {
		return err
	}
	places, err := s.findOccurrences(e, text, sel.Text)
	if err != nil {
		return err
	}
	if len(places) > 1 {
		var words []string
		for _, p := range places {
			line, col := e.placeOf(text, p[0])
			words = append(words, fmt.Sprintf("line %d, column %d", line, col))
		}
		return e.file.itemError(ErrAmbiguous, "the text %s stands in %d places (%s); quote more of it",
			quoteForMessage(sel.Text),
			len(places), listNames(words))
	}
	if len(places) == 0 {
		return e.file.itemError(ErrNoHit, "the text %s does not stand there", quoteForMessage(sel.Text))
	}
	from, to := places[0][0], places[0][1]
	first, last := lineAround(text, from, to)
	first, last = max(first, from-maxAround), min(last, to+maxAround)
	for first < from && !utf8.RuneStart(text[first]) {
		first++
	}
	if err := s.takeWork(e, (last-first)/2); err != nil {
		return err
	}
	figures := Figures(text[first:last])
	if e.file.Format == JSON || e.file.Format == JSONL {
		figures = withoutNames(text[first:last], figures)
	}
	var within []Figure
	for _, f := range figures {
		if first+f.from >= from && first+f.to <= to {
			within = append(within, f)
		}
	}
	switch len(within) {
	case 0:
		return e.file.itemError(ErrNoNumber, "the text %s holds no whole number", quoteForMessage(sel.Text))
	case 1:
		c.Number = within[0].Number
		return nil
	}
	return e.file.itemError(ErrAmbiguous, "the text %s holds %d numbers (%s); quote one of them",
		quoteForMessage(sel.Text),
		len(within), listCandidates(text[first:last], within))
}

// lineAround widens a range to whole lines, in which the tokens at its ends are whole.
func lineAround(text string, from, to int) (first, last int) {
	first = strings.LastIndexByte(text[:from], '\n') + 1
	if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
		return first, to + end
	}
	return first, len(text)
}

// Lines that a number is cited from have no more bytes than maxCitedLines; of the line around a quotation, so many on
// either side are read.
const (
	maxCitedLines = 1 << 16
	maxAround     = 1 << 12
)

// maxPlaces bounds how many places of a quotation are listed.
const maxPlaces = 20

// findOccurrences are the places of a quotation in the text, white space folded, where neither end cuts a number in
// two.
func (s *Set) findOccurrences(e *entry, text, quotation string) ([][2]int, error) {
	if e.views.folded == "" {
		if err := errors.Join(s.reserveRoom(e, 2*len(text), 1, "bytes of text"), s.takeWork(e, len(text)/4)); err != nil {
			return nil, err
		}
		e.views.seen = legible.Map(text)
		e.views.folded = foldSpace(e.views.seen.Text)
	}
	seen, folded, want := e.views.seen, e.views.folded, foldSpace(legible.Fold(quotation))
	if want == "" {
		return nil, nil // of what nobody sees
	}
	if _, err := s.lineStarts(e, text); err != nil {
		return nil, err
	}
	var out [][2]int
	for from := 0; len(out) < maxPlaces; {
		at, tries := nextWhole(folded, want, from)
		if err := s.takeWork(e, 1+tries/8+(len(folded)-from)/128+max(at, 0)/8); err != nil {
			return nil, err
		}
		if at < 0 {
			break
		}
		first, last := seen.Original(unfoldOffset(seen.Text, at), unfoldOffset(seen.Text, at+len(want)-1)+1)
		out = append(out, [2]int{first, last})
		from = at + len(want)
	}
	return out, nil
}

// nextWhole is the next place of want in text, from on, that cuts no number; -1 where there is none. tries counts the
// places that were looked at.
func nextWhole(text, want string, from int) (place, tries int) {
	for ; from <= len(text); tries++ {
		at := strings.Index(text[from:], want)
		if at < 0 {
			return -1, tries
		}
		at += from
		if !cutsBefore(text[:at], want) && !cutsAfter(text[at+len(want):], want) {
			return at, tries
		}
		from = at + 1
	}
	return -1, tries
}

var columnScale = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)\b(?:in|of)\s+(?:usd\s+|us\s+|\$\s*)?(thousand|million|billion)s?\b|` +
			`\((?:\$|usd\s*)?(?:'|’)?000s?\)|\$\s?(?:'|’)?000s?\b|\(\$?\s?(mm|mn|bn)\)`)
})

// scaleOf is the power of ten that a cell's column, its row or the whole table declares.
func (t *table) scaleOf(row, col int) int {
	if row == 0 {
		return 0
	}
	header, label := t.rowCells(0), t.rowCells(row)[0]
	places := []string{label, header[0]}
	if col < len(header) {
		places = append([]string{header[col]}, places...)
	}
	for _, place := range places {
		m := columnScale().FindStringSubmatch(place)
		switch {
		case m == nil:
			continue
		case m[1] != "":
			return scales[strings.ToLower(m[1])]
		case m[2] != "":
			return map[string]int{"mm": 6, "mn": 6, "bn": 9}[strings.ToLower(m[2])]
		}
		return 3
	}
	return 0
}

// CitedList reads the numbers of a JSON array, a row, a column or a block, in their order. A heading before the first
// number is none; behind it every cell must be a number, so that a gap is not passed over.
func (s *Set) CitedList(ref string) ([]Number, Hit, error) {
	hit, err := s.Resolve(ref)
	if err != nil || hit.Open {
		return nil, hit, err
	}
	var out []Number
	if hit.JSON != nil {
		if hit.JSON.Kind != strictjson.Array {
			return nil, hit, hit.File.itemError(ErrNoNumber, "%s stands there, not an array", describeValue(hit.JSON))
		}
		for i, item := range hit.JSON.Items {
			c := Cited{Hit: Hit{File: hit.File, JSON: item}}
			if err := c.ofJSON(); err != nil {
				return nil, hit, hit.File.itemError(ErrNoNumber, "element %d of the array is not a number", i)
			}
			out = append(out, c.Number)
		}
		return out, hit, nil
	}
	var cells []string
	for _, row := range append(hit.Cells, hit.Row) {
		cells = append(cells, row...)
	}
	for i, cell := range cells {
		n, ok := NumberIn(cell)
		switch {
		case ok:
			out = append(out, n)
		case len(out) > 0:
			return nil, hit, hit.File.itemError(ErrNoNumber, "cell %d of %s is %s, not a number", i+1,
				legible.Count(len(cells), "cell"), quoteForMessage(cell))
		}
	}
	if cells == nil {
		return nil, hit, hit.File.itemError(ErrNoNumber, "no list stands there; cite a row, a column or a JSON array")
	}
	return out, hit, nil
}
