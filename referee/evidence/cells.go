package evidence

import (
	"strings"

	"github.com/defendableos/referee/internal/legible"
)

// hitTable resolves row=, cell= and col= in CSV.
func (s *Set) hitTable(e *entry, sel Selector) (Hit, error) {
	if e.file.Format != CSV {
		return Hit{}, e.file.itemError(ErrSelector, "%s= points into CSV, and this is a %s file; use %s", sel.Kind,
			e.file.Format, usableSelectors(e.file.Format))
	}
	t, err := s.tableOf(e)
	if err != nil {
		return Hit{}, err
	}
	switch sel.Kind {
	case SelectRow:
		return s.hitRows(e, t, sel)
	case SelectCol:
		return s.hitBlock(e, t, Selector{Kind: SelectCol, From: 1, To: Last, FromCol: sel.From, ToCol: sel.To}, sel)
	}
	if sel.From == sel.To && sel.FromCol == sel.ToCol {
		return s.hitCell(e, t, sel)
	}
	return s.hitBlock(e, t, sel, sel)
}

// boundRange replaces Last by the number there are, and says whether the range lies inside.
func boundRange(from, to, most int) (int, int, bool) {
	if from == Last {
		from = most
	}
	if to == Last {
		to = most
	}
	return from, to, 1 <= from && from <= to && to <= most
}

func (e *entry) noRow(t *table, sel Selector) error {
	return e.file.itemError(ErrNoHit, "#%s: the table has %s, the header included", sel, legible.Count(len(t.rows), "row"))
}

func (s *Set) hitRows(e *entry, t *table, sel Selector) (Hit, error) {
	from, to, ok := boundRange(sel.From, sel.To, len(t.rows))
	if !ok {
		return Hit{}, e.noRow(t, sel)
	}
	if err := s.takeWork(e, 2*(to-from+1)+int(e.file.Bytes/256)); err != nil {
		return Hit{}, err
	}
	hit := Hit{File: &e.file, Line: t.rows[from-1].line, Column: 1}
	if from == to {
		hit.Kind, hit.Row, hit.Text = HitRow, t.rowCells(from-1), strings.Join(t.rowCells(from-1), ",")
		return hit, nil
	}
	for n := from; n <= to; n++ {
		hit.Cells = append(hit.Cells, t.rowCells(n-1))
	}
	hit.Kind, hit.Text = HitCells, joinCells(hit.Cells)
	return hit, nil
}

// hitCell is one cell: a number if people would read one, else text.
func (s *Set) hitCell(e *entry, t *table, sel Selector) (Hit, error) {
	n, _, ok := boundRange(sel.From, sel.From, len(t.rows))
	if !ok {
		return Hit{}, e.noRow(t, sel)
	}
	cells := t.rowCells(n - 1)
	col, _, ok := boundRange(sel.FromCol, sel.FromCol, len(cells))
	if !ok {
		return Hit{}, e.noColumn(n, cells, sel)
	}
	text, err := s.textContent(e)
	if err != nil {
		return Hit{}, err
	}
	if err := s.takeWork(e, t.rowLength(n-1, len(text))/8); err != nil {
		return Hit{}, err
	}
	hit := Hit{File: &e.file, Kind: HitString, Text: cells[col-1]}
	if _, isNumber := NumberIn(hit.Text); isNumber {
		hit.Kind = HitNumber
	}
	hit.Line, hit.Column = t.cellPlace(text, separatorOf(e.file.heldPath()), n-1, col-1)
	return hit, nil
}

func (e *entry) noColumn(n int, cells []string, sel Selector) error {
	return e.file.itemError(ErrNoHit, "#%s: row %d has %s", sel, n, legible.Count(len(cells), "column"))
}

// hitBlock is a rectangle of cells; every row must reach it. asked is the selector for the message.
func (s *Set) hitBlock(e *entry, t *table, sel, asked Selector) (Hit, error) {
	from, to, ok := boundRange(sel.From, sel.To, len(t.rows))
	if !ok {
		return Hit{}, e.noRow(t, asked)
	}
	if err := s.takeWork(e, 2*(to-from+1)+int(e.file.Bytes/256)); err != nil {
		return Hit{}, err
	}
	hit := Hit{File: &e.file, Kind: HitCells, Line: t.rows[from-1].line, Column: 1}
	for n := from; n <= to; n++ {
		cells := t.rowCells(n - 1)
		left, right, ok := boundRange(sel.FromCol, sel.ToCol, len(cells))
		if !ok {
			return Hit{}, e.noColumn(n, cells, asked)
		}
		hit.Cells = append(hit.Cells, cells[left-1:right])
	}
	hit.Text = joinCells(hit.Cells)
	return hit, nil
}

func joinCells(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = strings.Join(r, ",")
	}
	return strings.Join(lines, "\n")
}
