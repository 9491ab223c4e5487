package evidence

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/strictjson"
)

// table is evidence as rows of cells. Of CSV, row 0 is the header; of JSON it is made of the names of the members.
type table struct {
	rows  []row
	cells []string          // of all rows, one after the other: half the room of a slice a row
	kinds []strictjson.Kind // of JSON cells; nil for CSV

	checked bool  // whether every row is as long as the first
	ragged  error // the first that is not
}

// row is where a row stands in the cells and in the source.
type row struct{ first, line, offset int }

// rowCells is the cells of row n, counted from 0.
func (t *table) rowCells(n int) []string {
	return t.cells[t.rows[n].first:t.rowEnd(n):t.rowEnd(n)]
}

func (t *table) rowEnd(n int) int {
	if n+1 < len(t.rows) {
		return t.rows[n+1].first
	}
	return len(t.cells)
}

// rowLength is how many bytes of the source row n takes, of a text of so many.
func (t *table) rowLength(n, text int) int {
	if n+1 < len(t.rows) {
		return t.rows[n+1].offset - t.rows[n].offset
	}
	return text - t.rows[n].offset
}

// checkRectangular refuses a table with a row that is longer or shorter than the first.
func (t *table) checkRectangular() error {
	for n := range t.rows {
		if got, want := len(t.rowCells(n)), len(t.rowCells(0)); got != want {
			return fmt.Errorf("line %d has %d cells where the first row has %d; every row of a table needs the same "+
				"number", t.rows[n].line, got, want)
		}
	}
	return nil
}

func (t *table) addRow(line, offset int, cells ...string) {
	t.rows = append(t.rows, row{first: len(t.cells), line: line, offset: offset})
	t.cells = append(t.cells, cells...)
}

// tableOf is the item as a table: CSV, JSONL, or one JSON array of objects.
func (s *Set) tableOf(e *entry) (*table, error) {
	v := e.views
	if v.table == nil && v.tableErr == nil {
		v.table, v.tableErr = s.readTable(e)
	}
	return v.table, v.tableErr
}

func (s *Set) readTable(e *entry) (*table, error) {
	switch e.file.Format {
	case CSV:
		text, err := s.textContent(e)
		if err != nil {
			return nil, err
		}
		comma := separatorOf(e.file.heldPath())
		rows := strings.Count(text, "\n") + 1
		cells := rows + strings.Count(text, string(comma)) // and more where they are quoted
		if err := errors.Join(s.reserveRoom(e, rows, roomRow, "rows"), s.reserveRoom(e, cells, roomCell, "cells"),
			s.takeWork(e, cells+len(text)/64)); err != nil {
			return nil, e.file.itemError(ErrTooLarge, "the file has up to %d rows and %d cells, too many to be held "+
				"with the run's other evidence (at most %d MiB in all)", rows, cells, s.lim.MaxRoom>>20)
		}
		t, err := readCSV(text, comma)
		if err != nil {
			return nil, e.file.itemError(ErrContent, "%v", err)
		}
		return t, nil
	case JSONL:
		return s.readJSONL(e)
	case JSON:
		return s.readArray(e)
	}
	return nil, e.file.itemError(ErrStat, "a %s file has no rows and columns; CSV, JSONL and JSON arrays have",
		e.file.Format)
}

func separatorOf(name string) rune {
	if strings.EqualFold(path.Ext(name), ".tsv") {
		return '\t'
	}
	return ','
}

// readCSV reads RFC 4180. Rows may differ in length here, because a selector into a report with a title line is sound;
// statistics refuse them. A blank line is a row of one empty cell, as a spreadsheet shows it, except at the end.
func readCSV(text string, comma rune) (*table, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	t := &table{}
	for line, offset := 1, 0; ; { // of the first byte after the last row
		rec, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return nil, fmt.Errorf("line %d, column %d is not CSV (RFC 4180): %w", parse.Line, parse.Column, parse.Err)
		}
		if err != nil {
			return nil, err
		}
		next := int(r.InputOffset())
		for blank := blankLine(text[offset:next]); blank > 0; blank = blankLine(text[offset:next]) {
			t.addRow(line, offset, "")
			offset += blank
			line++
		}
		t.addRow(line, offset, rec...)
		line += strings.Count(text[offset:next], "\n")
		offset = next
	}
}

// blankLine is the length of the blank line that s begins with, 0 if it begins with none.
func blankLine(s string) int {
	switch {
	case strings.HasPrefix(s, "\n"):
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// cellPlace is the line and column of a CSV cell, found by reading its row again.
func (t *table) cellPlace(text string, comma rune, n, col int) (line, column int) {
	at := t.rows[n]
	if blankLine(text[at.offset:]) > 0 {
		return at.line, 1 // the reader would pass over the blank line
	}
	r := csv.NewReader(strings.NewReader(text[at.offset:]))
	r.Comma, r.FieldsPerRecord = comma, -1
	rec, err := r.Read()
	if err != nil || col >= len(rec) {
		return at.line, 1
	}
	inLine, inBytes := r.FieldPos(col)
	start := at.offset
	for range inLine - 1 {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	return at.line + inLine - 1, utf8.RuneCountInString(text[start:start+inBytes-1]) + 1
}

// records collects JSON objects into a table: a column for every name, in order of first appearance. A row is as long
// as the names known when it was added; table fills it up.
type records struct {
	set     *Set
	of      *entry
	names   []string
	columns map[string]int
	body    table
}

// maxSparse bounds the cells of a table of JSON objects, where each object may bring names of its own.
const maxSparse = 20_000_000

func (rs *records) addRecord(v *strictjson.Value, source string, line int) error {
	if rs.columns == nil {
		rs.columns = map[string]int{}
	}
	for _, m := range v.Members {
		if _, known := rs.columns[m.Key]; !known {
			rs.columns[m.Key] = len(rs.names)
			rs.names = append(rs.names, m.Key)
		}
	}
	if len(rs.names)*(len(rs.body.rows)+1) > maxSparse {
		return fmt.Errorf("line %d: %d objects with %d different names are too large a table (at most %d cells)", line,
			len(rs.body.rows)+1, len(rs.names), maxSparse)
	}
	if err := rs.set.reserveRoom(rs.of, len(rs.names), roomCell, "cells of a row"); err != nil {
		return fmt.Errorf("line %d: %d rows with %d different names are too large a table (at most %d MiB with the "+
			"run's other evidence)", line, len(rs.body.rows)+1, len(rs.names), rs.set.lim.MaxRoom>>20)
	}
	b := &rs.body
	first := len(b.cells)
	b.addRow(line, 0, make([]string, len(rs.names))...)
	b.kinds = append(b.kinds, make([]strictjson.Kind, len(rs.names))...)
	for _, m := range v.Members {
		at := first + rs.columns[m.Key]
		b.cells[at], b.kinds[at] = cellText(m.Value, source), m.Value.Kind
	}
	return nil
}

// toTable is the header and the rows, all of one length.
func (rs *records) toTable() *table {
	width := len(rs.names)
	t := &table{kinds: make([]strictjson.Kind, width, width*(len(rs.body.rows)+1)),
		cells: make([]string, 0, width*(len(rs.body.rows)+1))}
	t.addRow(0, 0, rs.names...)
	for n, r := range rs.body.rows {
		cells := rs.body.rowCells(n)
		t.addRow(r.line, 0, cells...)
		t.cells = append(t.cells, make([]string, width-len(cells))...)
		t.kinds = append(t.kinds, rs.body.kinds[r.first:r.first+len(cells)]...)
		t.kinds = append(t.kinds, make([]strictjson.Kind, width-len(cells))...)
	}
	return t
}

// cellText is a JSON value as the text of a cell: null is blank, arrays and objects are as written.
func cellText(v *strictjson.Value, source string) string {
	switch v.Kind {
	case strictjson.Null:
		return ""
	case strictjson.Array, strictjson.Object:
		return source[v.Pos.Offset:v.End]
	}
	return v.Text
}

// readJSONL reads each line by itself (S46); blank lines are passed over.
func (s *Set) readJSONL(e *entry) (*table, error) {
	text, err := s.textContent(e)
	if err != nil {
		return nil, err
	}
	rs := records{set: s, of: e}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := s.takeWork(e, 4+len(line)/16); err != nil {
			return nil, err
		}
		v, err := strictjson.Parse([]byte(line), strictjson.SubmissionLimits)
		if err != nil {
			return nil, e.file.itemError(ErrContent, "line %d is not a JSON object: %v", number, err)
		}
		if err := rs.addRecord(v, line, number); err != nil {
			return nil, e.file.itemError(ErrTooLarge, "%v", err)
		}
	}
	return rs.toTable(), nil
}

// readArray reads a JSON document that is one array of objects.
func (s *Set) readArray(e *entry) (*table, error) {
	root, err := s.jsonDocument(e)
	if err != nil {
		return nil, err
	}
	if root.Kind != strictjson.Array {
		return nil, e.file.itemError(ErrStat, "the document is no array; a table in JSON is an array of objects")
	}
	text, err := s.textContent(e)
	if err != nil {
		return nil, err
	}
	rs := records{set: s, of: e}
	for i, item := range root.Items {
		if item.Kind != strictjson.Object {
			return nil, e.file.itemError(ErrStat, "element %d of the array is no object; a table in JSON is an array of "+
				"objects", i)
		}
		if err := rs.addRecord(item, text, item.Pos.Line); err != nil {
			return nil, e.file.itemError(ErrTooLarge, "%v", err)
		}
	}
	return rs.toTable(), nil
}
