package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// StatResult is a recounted statistic: a number, or a text (sha256, the least and greatest of dates). Missing says that
// there is nothing to compute it of: the mean, least or greatest of no values.
type StatResult struct {
	Num     *decimal.Num
	Text    string
	Missing bool
}

// Stats are the statistics that Stat knows.
//
//	sha256, bytes  of any file
//	rows           rows of data (a CSV header is none), or the lines of a text
//	nulls          blank cells: empty or white space only, in JSON also null and absent members; of a column, or of all
//	distinct       different values of a column, nulls aside; without a column, different rows
//	dups           values or rows that repeat an earlier one
//	sum, mean      of a column of numbers, nulls aside, added in row order in decimal
//	min, max       of a column of numbers, or of dates as YYYY-MM-DD
//	hist           how often the value arg occurs in a column
//	regex_hits     cells of a column, or of all, in which the RE2 expression arg matches; lines, of a text
//	type_errors    cells of a column that are not of the type arg, nulls aside: number, integer,
//	               boolean, date, datetime, string
var Stats = []string{"rows", "nulls", "distinct", "dups", "sum", "mean", "min", "max", "hist", "regex_hits",
	"type_errors", "sha256", "bytes"}

// Stat recounts a statistic of an item (operand data of rules.md): of a column, or where it makes sense of the whole if
// column is "". The error is a *Error that wraps ErrNoManifest, ErrUndeclared, an error of the file, ErrContent or
// ErrStat.
func (s *Set) Stat(id, stat, column, arg string) (StatResult, error) {
	e, err := s.entryOf(id)
	if err != nil {
		return StatResult{}, err
	}
	if !slices.Contains(Stats, stat) {
		hint := "known: " + strings.Join(Stats, ", ")
		if near := nearest.Word(stat, Stats); near != "" {
			hint = "did you mean " + near + "?"
		}
		return StatResult{}, e.file.itemError(ErrStat, "unknown statistic %s; %s", quoteForMessage(stat), hint)
	}
	switch {
	case stat == "sha256":
		return StatResult{Text: e.file.SHA256}, nil
	case stat == "bytes":
		return StatResult{Num: decimal.FromInt(e.file.Bytes)}, nil
	case e.file.Format == Text && (stat == "rows" || stat == "regex_hits"):
		return s.textStat(e, stat, arg)
	}
	t, err := s.dataTable(e)
	if err != nil {
		return StatResult{}, err
	}
	key := statKey{stat, column, arg}
	if known, ok := e.views.stats[key]; ok {
		return known.result, known.err
	}
	if err := s.takeWork(e, t.statCost(stat, column, e.file.Bytes)); err != nil {
		return StatResult{}, err
	}
	r, err := t.computeStat(stat, column, arg)
	if err != nil {
		r, err = StatResult{}, e.file.itemError(ErrStat, "%s: %v", stat, err)
	}
	if e.views.stats == nil {
		e.views.stats = map[statKey]knownStat{}
	}
	e.views.stats[key] = knownStat{r, err}
	return r, err
}

// statKey is what a statistic is asked for, knownStat what was found: a rule over rows asks the same for every row.
type (
	statKey   struct{ stat, column, arg string }
	knownStat struct {
		result StatResult
		err    error
	}
)

// statCost is the work of recounting a statistic: of the cells that it looks at, and of a pattern of the bytes that may
// be in them.
func (t *table) statCost(stat, column string, bytes int64) int {
	cells := len(t.rows)
	if column == "" {
		cells = len(t.cells)
	}
	switch stat {
	case "rows":
		return 1
	case "regex_hits":
		return 1 + cells + int(bytes/4)
	case "sum", "mean", "min", "max", "type_errors":
		return 1 + 6*cells
	}
	return 1 + cells + int(bytes/32)
}

// Rows are the header and the rows of a table, as text.
func (s *Set) Rows(id string) (header []string, rows [][]string, err error) {
	e, err := s.entryOf(id)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.dataTable(e)
	if err != nil {
		return nil, nil, err
	}
	for n := 1; n < len(t.rows); n++ {
		rows = append(rows, t.rowCells(n))
	}
	return t.rowCells(0), rows, nil
}

// Column is the cells of a column of a table, as text, the header aside.
func (s *Set) Column(id, column string) ([]string, error) {
	e, err := s.entryOf(id)
	if err != nil {
		return nil, err
	}
	t, err := s.dataTable(e)
	if err != nil {
		return nil, err
	}
	if err := s.takeWork(e, 2*len(t.rows)); err != nil {
		return nil, err
	}
	cells, err := t.columnCells(column)
	if err != nil {
		return nil, e.file.itemError(ErrStat, "%v", err)
	}
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = c.text
	}
	return texts, nil
}

// dataTable is a table fit for counting: with a header, and every row as long as it.
func (s *Set) dataTable(e *entry) (*table, error) {
	t, err := s.tableOf(e)
	if err != nil {
		return nil, err
	}
	if len(t.rows) == 0 {
		return nil, e.file.itemError(ErrContent, "the file is empty; a table has at least a header")
	}
	if !t.checked {
		t.checked, t.ragged = true, t.checkRectangular()
	}
	if t.ragged != nil {
		return nil, e.file.itemError(ErrContent, "%v", t.ragged)
	}
	return t, nil
}

func (s *Set) textStat(e *entry, stat, arg string) (StatResult, error) {
	text, err := s.textContent(e)
	if err != nil {
		return StatResult{}, err
	}
	starts, err := s.lineStarts(e, text)
	if err != nil {
		return StatResult{}, err
	}
	if stat == "rows" {
		return wholeResult(len(starts)), nil
	}
	re, err := compilePattern(arg)
	if err != nil {
		return StatResult{}, e.file.itemError(ErrStat, "regex_hits: %v", err)
	}
	if err := s.takeWork(e, len(starts)+len(text)/4); err != nil {
		return StatResult{}, err
	}
	hits := 0
	for i, from := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if matchesAsSeen(re, arg, strings.TrimRight(text[from:end], "\r\n")) {
			hits++
		}
	}
	return wholeResult(hits), nil
}

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, fmt.Errorf("a regular expression is needed")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s is not a regular expression (RE2)", quoteForMessage(pattern))
	}
	return re, nil
}

// matchesAsSeen holds a pattern to a text as people see it (S80), and to the text as written where the pattern names
// what folding changes.
func matchesAsSeen(re *regexp.Regexp, pattern, text string) bool {
	folded := legible.Fold(text)
	return re.MatchString(folded) || folded != text && legible.Names(pattern) && re.MatchString(text)
}

func wholeResult(n int) StatResult { return StatResult{Num: decimal.FromInt(int64(n))} }

// cell is one value of a column with the type it has in JSON, and where it stands.
type cell struct {
	text string
	kind strictjson.Kind // of a JSON table
	json bool
	line int
}

func (c cell) isNull() bool { return legible.Blank(c.text) }

func (t *table) cellAt(n, col int) cell {
	at := t.rows[n].first + col
	c := cell{text: t.cells[at], line: t.rows[n].line}
	if t.kinds != nil {
		c.kind, c.json = t.kinds[at], true
	}
	return c
}

// columnCells is the cells below a header; one heading must be the name.
func (t *table) columnCells(name string) ([]cell, error) {
	col, err := columnOfHeading(t.rowCells(0), name)
	if err != nil {
		return nil, err
	}
	cells := make([]cell, 0, len(t.rows)-1)
	for n := 1; n < len(t.rows); n++ {
		cells = append(cells, t.cellAt(n, col))
	}
	return cells, nil
}

// allCells is every cell below the header, row by row.
func (t *table) allCells() []cell {
	var cells []cell
	for n := 1; n < len(t.rows); n++ {
		for col := range t.rowCells(n) {
			cells = append(cells, t.cellAt(n, col))
		}
	}
	return cells
}

func (t *table) computeStat(stat, column, arg string) (StatResult, error) {
	switch {
	case stat == "rows":
		return wholeResult(len(t.rows) - 1), nil
	case column == "" && (stat == "distinct" || stat == "dups"):
		return t.wholeRows(stat), nil
	case column == "" && (stat == "nulls" || stat == "regex_hits"):
		return countMatching(t.allCells(), stat, arg)
	case column == "":
		return StatResult{}, fmt.Errorf("a column is needed; there are %s", listNames(t.rowCells(0)))
	}
	cells, err := t.columnCells(column)
	if err != nil {
		return StatResult{}, err
	}
	switch stat {
	case "nulls", "regex_hits", "type_errors":
		return countMatching(cells, stat, arg)
	}
	if stat == "hist" && strings.TrimSpace(arg) == "" {
		return StatResult{}, fmt.Errorf("the value to count is needed; blank cells are what nulls counts")
	}
	cells = slices.DeleteFunc(cells, cell.isNull)
	switch stat {
	case "sum", "mean":
		return sumCells(cells, stat)
	case "min", "max":
		return extremeCell(cells, stat)
	}
	return countEqualCells(cells, stat, arg)
}

// wholeRows compares rows cell by cell; lengths in the key keep "a,b" + "c" apart from "a" + "b,c".
func (t *table) wholeRows(stat string) StatResult {
	seen := map[string]bool{}
	for n := 1; n < len(t.rows); n++ {
		var key []byte
		for col, text := range t.rowCells(n) {
			text = legible.Fold(text)
			key = strconv.AppendInt(key, int64(len(text)), 10)
			key = append(key, ':', '0'+byte(t.cellAt(n, col).kind))
			key = append(key, text...)
		}
		seen[string(key)] = true
	}
	if stat == "distinct" {
		return wholeResult(len(seen))
	}
	return wholeResult(len(t.rows) - 1 - len(seen))
}

// countMatching counts the cells that answer to one question.
func countMatching(cells []cell, stat, arg string) (StatResult, error) {
	test := cell.isNull
	switch stat {
	case "regex_hits":
		re, err := compilePattern(arg)
		if err != nil {
			return StatResult{}, err
		}
		test = func(c cell) bool { return matchesAsSeen(re, arg, c.text) }
	case "type_errors":
		is, ok := types[arg]
		if !ok {
			return StatResult{}, fmt.Errorf("unknown type %s; known: %s", quoteForMessage(arg),
				strings.Join(slices.Sorted(maps.Keys(types)), ", "))
		}
		test = func(c cell) bool { return !c.isNull() && !is(c) }
	}
	n := 0
	for _, c := range cells {
		if test(c) {
			n++
		}
	}
	return wholeResult(n), nil
}

// types are the types of type_errors. In JSON a numeric string is no number (S25); in CSV everything is text, and a
// number is what NumberIn reads and sum can add.
var types = map[string]func(cell) bool{
	"string":   func(c cell) bool { return !c.json || c.kind == strictjson.String },
	"number":   func(c cell) bool { _, err := c.cellNumber(); return err == nil },
	"integer":  func(c cell) bool { n, err := c.cellNumber(); return err == nil && n.IsInt() },
	"boolean":  func(c cell) bool { return c.isBoolean() },
	"date":     func(c cell) bool { return c.isTime(time.DateOnly) },
	"datetime": func(c cell) bool { return c.isTime(time.RFC3339) },
}

func (c cell) isBoolean() bool {
	if c.json {
		return c.kind == strictjson.Bool
	}
	word := strings.ToLower(strings.TrimSpace(c.text))
	return word == "true" || word == "false"
}

func (c cell) isTime(layout string) bool {
	_, err := time.Parse(layout, strings.TrimSpace(c.text))
	return err == nil && (!c.json || c.kind == strictjson.String)
}

// cellNumber is the canonical value of a cell (S10).
func (c cell) cellNumber() (*decimal.Num, error) {
	if c.json && c.kind == strictjson.Number && withinBounds(c.text) {
		return decimal.Parse(c.text)
	}
	if n, ok := NumberIn(c.text); ok && !c.json {
		return n.Canonical()
	}
	return nil, fmt.Errorf("%s in line %d is not a number", quoteForMessage(c.text), c.line)
}

func sumCells(cells []cell, stat string) (StatResult, error) {
	sum := decimal.FromInt(0)
	for _, c := range cells {
		n, err := c.cellNumber()
		if err != nil {
			return StatResult{}, err
		}
		if sum, err = decimal.Add(sum, n); err != nil {
			return StatResult{}, err
		}
	}
	if stat == "sum" {
		return StatResult{Num: sum}, nil
	}
	if len(cells) == 0 {
		return StatResult{Missing: true}, nil
	}
	mean, err := decimal.Quo(sum, decimal.FromInt(int64(len(cells))))
	return StatResult{Num: mean}, err
}

// extremeCell is the least or greatest of numbers, or of dates; a column of both is neither.
func extremeCell(cells []cell, stat string) (StatResult, error) {
	if len(cells) == 0 {
		return StatResult{Missing: true}, nil
	}
	wanted := -1
	if stat == "max" {
		wanted = 1
	}
	if cells[0].isTime(time.DateOnly) {
		return extremeDate(cells, wanted)
	}
	var best *decimal.Num
	for _, c := range cells {
		n, err := c.cellNumber()
		if err != nil {
			return StatResult{}, err
		}
		if best == nil || decimal.Cmp(n, best) == wanted {
			best = n
		}
	}
	return StatResult{Num: best}, nil
}

func extremeDate(cells []cell, wanted int) (StatResult, error) {
	best := ""
	for _, c := range cells {
		if !c.isTime(time.DateOnly) {
			return StatResult{}, fmt.Errorf("%s in line %d is not a date, as the first is", quoteForMessage(c.text), c.line)
		}
		if text := strings.TrimSpace(c.text); best == "" || cmp.Compare(text, best) == wanted {
			best = text
		}
	}
	return StatResult{Text: best}, nil
}

// countEqualCells counts equal values. In JSON the number 1 and the string "1" are two values; hist, which is given a
// text, counts both.
func countEqualCells(cells []cell, stat, arg string) (StatResult, error) {
	type value struct {
		text string
		kind strictjson.Kind
	}
	counts := map[value]int{}
	for _, c := range cells {
		counts[value{legible.Fold(c.text), c.kind}]++
	}
	switch stat {
	case "distinct":
		return wholeResult(len(counts)), nil
	case "dups":
		return wholeResult(len(cells) - len(counts)), nil
	}
	n := 0
	for v, times := range counts {
		if v.text == legible.Fold(arg) {
			n += times
		}
	}
	return wholeResult(n), nil
}
