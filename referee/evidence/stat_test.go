package evidence

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const dataCSV = "id,name,amount,day,ok\n1,a,\"$1,000.50\",2026-01-05,true\n2,b,(0.25),2025-12-31,FALSE\n" +
	"2,b,(0.25),2025-12-31,FALSE\n3, ,10%,,yes\n4,a,,2026-02-30,\n"

func dataSet() *Set {
	return Open(fstest.MapFS{
		"d.csv": {Data: []byte(dataCSV)}, "d.tsv": {Data: []byte("x\ty\n1,5\t2\n")},
		"one.csv": {Data: []byte("v\r\n1\r\n\r\n3\r\n")}, "dup.csv": {Data: []byte("a,a,b\n1,2,3\n")},
		"ragged.csv": {Data: []byte("a,b\n1,2\n3\n")},
		"a.json": {Data: []byte(`[{"n": 1, "s": "1"}, {"s": "x,y", "n": 1.0, "more": {"k": [1]}}, {"n": "1", "s": ` +
			`null}, {"n": 1e999, "s": true}]`)},
		"obj.json": {Data: []byte(`{"a": []}`)}, "mixed.json": {Data: []byte(`[{"a":1}, 2]`)},
		"bad.jsonl": {Data: []byte("{\"a\":1}\n[2]\n")}, "t.txt": {Data: []byte("one\ntwo\nthree 3\n")},
		"p.pdf":    {Data: []byte("%PDF-")},
		"head.csv": {Data: []byte("a,b\n")}, "keys.csv": {Data: []byte("a,b\n\"x,y\",z\nx,\"y,z\"\n")},
	}, []Item{{ID: "d", Path: "d.csv"}, {ID: "tsv", Path: "d.tsv"}, {ID: "one", Path: "one.csv"},
		{ID: "dup", Path: "dup.csv"}, {ID: "ragged", Path: "ragged.csv"}, {ID: "json", Path: "a.json"},
		{ID: "obj", Path: "obj.json"},
		{ID: "mixed", Path: "mixed.json"}, {ID: "bad", Path: "bad.jsonl"}, {ID: "text", Path: "t.txt"},
		{ID: "pdf", Path: "p.pdf"}, {ID: "head", Path: "head.csv"}, {ID: "keys", Path: "keys.csv"}}, Limits{})
}

func (r StatResult) String() string {
	switch {
	case r.Missing:
		return "missing"
	case r.Num != nil:
		return r.Num.String()
	}
	return r.Text
}

// Counted and added by hand: 1000.50 − 0.25 − 0.25 + 0.10 = 1000.10, over four values 250.025; the hash is sha256sum's.
func TestStat(t *testing.T) {
	s := dataSet()
	for _, c := range []struct{ id, stat, column, arg, want string }{
		{"d", "rows", "", "", "5"}, {"d", "nulls", "", "", "4"}, {"d", "nulls", "name", "", "1"},
		{"d", "nulls", "id", "", "0"}, {"d", "distinct", "id", "", "4"}, {"d", "distinct", "name", "", "2"},
		{"d", "distinct", "", "", "4"},
		{"d", "dups", "id", "", "1"}, {"d", "dups", "name", "", "2"}, {"d", "dups", "", "", "1"},
		{"d", "sum", "amount", "", "1000.1"}, {"d", "mean", "amount", "", "250.025"},
		{"d", "min", "amount", "", "-0.25"}, {"d", "max", "amount", "", "1000.5"},
		{"d", "min", "id", "", "1"}, {"d", "max", "id", "", "4"}, {"d", "hist", "name", "a", "2"},
		{"d", "hist", "name", "z", "0"}, {"d", "hist", "name", "b", "2"}, {"d", "regex_hits", "day", `^2025-`, "2"},
		{"d", "regex_hits", "", `(?i)false`, "2"},
		{"d", "type_errors", "id", "integer", "0"}, {"d", "type_errors", "amount", "number", "0"},
		{"d", "type_errors", "amount", "integer", "4"}, {"d", "type_errors", "name", "number", "4"},
		{"d", "type_errors", "day", "date", "1"},
		{"d", "type_errors", "day", "datetime", "4"}, {"d", "type_errors", "ok", "boolean", "1"},
		{"d", "type_errors", "ok", "string", "0"}, {"d", "bytes", "", "", "140"},
		{"tsv", "sum", "y", "", "2"}, {"one", "rows", "", "", "3"}, {"one", "nulls", "v", "", "1"},
		{"one", "sum", "v", "", "4"},
		{"json", "rows", "", "", "4"}, {"json", "nulls", "s", "", "1"}, {"json", "nulls", "more", "", "3"},
		{"json", "type_errors", "n", "number", "2"}, {"json", "type_errors", "s", "string", "1"},
		{"json", "type_errors", "s", "boolean", "2"}, {"json", "distinct", "n", "", "4"},
		{"json", "hist", "n", "1", "2"}, {"json", "hist", "n", "1.0", "1"},
		{"text", "rows", "", "", "3"}, {"text", "regex_hits", "", `\d`, "1"}, {"head", "rows", "", "", "0"},
		{"head", "sum", "a", "", "0"}, {"head", "mean", "a", "", "missing"}, {"head", "min", "a", "", "missing"},
		{"head", "hist", "a", "x", "0"},
		{"keys", "distinct", "", "", "2"}, {"pdf", "bytes", "", "", "5"},
	} {
		r, err := s.Stat(c.id, c.stat, c.column, c.arg)
		if err != nil || r.String() != c.want {
			t.Errorf("%s of %s %s %q: %s, %v; want %s", c.stat, c.id, c.column, c.arg, r, err, c.want)
		}
	}
	run := openRun(t)
	for stat, want := range map[string]string{"sum": "3.6", "max": "2.2", "distinct": "3"} { // 1.10 + 2.20 + 0.3
		if r, err := run.Stat("log", stat, "cost", ""); err != nil || r.String() != want {
			t.Errorf("%s of cost: %s, %v", stat, r, err)
		}
	}
	for stat, want := range map[string]string{"min": "2025-12-31", "max": "2026-02-01"} {
		if r, err := run.Stat("log", stat, "day", ""); err != nil || r.String() != want {
			t.Errorf("%s of day: %s, %v", stat, r, err)
		}
	}
	if r, err := s.Stat("pdf", "sha256", "", ""); err != nil ||
		r.Text != "38523c087796e5d5dd1cf9bad1fb026781a838dd9dd2cf8af58b9f6502a46778" {
		t.Errorf("sha256 %s, %v", r, err)
	}
}

func TestStatRefusals(t *testing.T) {
	s := dataSet()
	for _, c := range []struct {
		id, stat, column, arg string
		cause                 error
		says                  string
	}{
		{"none", "rows", "", "", ErrUndeclared, "not declared"}, {"d", "row", "", "", ErrStat, "did you mean rows?"},
		{"d", "kurtosis", "id", "", ErrStat, "known: rows, nulls"},
		{"d", "sum", "", "", ErrStat, `a column is needed; there are "id", "name"`},
		{"d", "sum", "amout", "", ErrStat, `did you mean "amount"?`},
		{"d", "sum", "zzz", "", ErrStat, `there are "id"`},
		{"d", "sum", "name", "", ErrStat, `"a" in line 2 is not a number`},
		{"d", "max", "day", "", ErrStat, `"2026-02-30" in line 6 is not a date`},
		{"d", "regex_hits", "day", "", ErrStat, "a regular expression is needed"},
		{"d", "regex_hits", "day", "(", ErrStat, "RE2"}, {"text", "regex_hits", "", "(", ErrStat, "RE2"},
		{"d", "type_errors", "id", "int", ErrStat, "known: boolean, date"},
		{"d", "hist", "name", "", ErrStat, "the value to count is needed; blank cells are what nulls counts"},
		{"d", "hist", "name", " ", ErrStat, "the value to count is needed"}, {"head", "hist", "a", "", ErrStat,
			"the value to count is needed"},
		{"dup", "sum", "a", "", ErrStat, "several columns are named"}, {"ragged", "rows", "", "", ErrContent,
			"line 3 has 1 cells where the first row has 2"}, {"obj", "rows", "", "", ErrStat, "array of objects"},
		{"mixed", "rows", "", "", ErrStat, "element 1 of the array is no object"},
		{"bad", "rows", "", "", ErrContent, "line 2 is not a JSON object"},
		{"text", "sum", "a", "", ErrStat, "a text file has no rows"}, {"pdf", "rows", "", "", ErrStat,
			"a pdf file has no rows"}, {"json", "sum", "n", "", ErrStat, `"1" in line 1 is not a number`},
	} {
		r, err := s.Stat(c.id, c.stat, c.column, c.arg)
		if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) || r.String() != "" {
			t.Errorf("%s of %s %s: %v, want %v: %s", c.stat, c.id, c.column, err, c.cause, c.says)
		}
	}
}

func TestRowsAndColumn(t *testing.T) {
	s := openRun(t)
	header, rows, err := s.Rows("log")
	if err != nil || !slices.Equal(header, []string{"id", "cost", "day", "tag", "extra"}) || len(rows) != 4 {
		t.Fatalf("%v, %v, %v", header, rows, err)
	}
	for n, want := range []string{"1|1.10|2026-01-05|a|", "2|2.20|2025-12-31||", "3|0.3|2026-02-01|a|[1, 2]",
		"3|||b|"} {
		if got := strings.Join(rows[n], "|"); got != want {
			t.Errorf("row %d: %s", n, got)
		}
	}
	column, err := s.Column("t12", "Line item")
	if err != nil || !slices.Equal(column, []string{"Gross potential rent", "Vacancy", "Repairs, general",
		"Occupancy"}) {
		t.Errorf("%v, %v", column, err)
	}
	if folded, err := s.Column("t12", "line_item"); err != nil || !slices.Equal(folded, column) {
		t.Errorf("%v, %v", folded, err)
	}
	if _, err := s.Column("t12", "line items"); !errors.Is(err, ErrStat) ||
		!strings.Contains(err.Error(), `did you mean "Line item"?`) {
		t.Errorf("%v", err)
	}
	if _, err := s.Column("web", "x"); !errors.Is(err, ErrNotHeld) {
		t.Errorf("%v", err)
	}
}

// FuzzCSV: the table has the same cells as encoding/csv reads, blank lines aside, and the place of each cell is in the
// text.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{dataCSV, "a,b\r\n\r\n1,\"x\ny\"\r\n", "v\n\n1\n\n", "\"", "a\"b", "\n\n", "a\r",
		"é,\"\",\n,", "\r\n\"\n\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readCSV(text, ',')
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		want, wantErr := r.ReadAll()
		if (err == nil) != (wantErr == nil) || err != nil && got != nil {
			t.Fatalf("%q: %v, encoding/csv has %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for n := range got.rows {
			cells := got.rowCells(n)
			for col := range cells {
				line, column := got.cellPlace(text, ',', n, col)
				if line < got.rows[n].line || line > lines || column < 1 || column > len(text)+1 {
					t.Fatalf("%q: cell %d,%d at %d:%d", text, n, col, line, column)
				}
			}
			if blankLine(text[got.rows[n].offset:]) > 0 {
				continue
			}
			if len(want) == 0 || !slices.Equal(cells, want[0]) {
				t.Fatalf("%q: row %d is %q", text, n, cells)
			}
			want = want[1:]
		}
		if len(want) > 0 {
			t.Fatalf("%q: lost %q", text, want)
		}
	})
}
