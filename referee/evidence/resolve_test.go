package evidence

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// What each selector hits was counted by hand in testdata/run/evidence.
func TestResolve(t *testing.T) {
	s := openRun(t)
	cases := []struct {
		ref       string
		kind      HitKind
		text      string
		line, col int
	}{
		{"t12", HitFile, "", 0, 0},
		{" t12#cell=2,3 ", HitNumber, "$1,248,000.00", 2, 36},
		{"t12#cell=4,1", HitString, "Repairs, general", 4, 1},
		{"t12#cell=4,2", HitNumber, "12,150.25", 4, 20},
		{"t12#cell=*,*", HitNumber, "95.0%", 5, 17},
		{"t12#row=1", HitRow, "Line item,Jan,Annual", 1, 1},
		{"t12#row=*", HitRow, "Occupancy,94.5%,95.0%", 5, 1},
		{"t12#row=3-*", HitCells, "Vacancy,(5,200.00),(62,400.00)\nRepairs, " +
			"general,12,150.25,145,803.00\nOccupancy,94.5%,95.0%", 3, 1},
		{"t12#cell=1,2-2,3", HitCells, "Jan,Annual\n$104,000.00,$1,248,000.00", 1, 1},
		{"t12#col=1", HitCells, "Line item\nGross potential rent\nVacancy\nRepairs, general\nOccupancy", 1, 1},
		{"quote#/terms/1/rate", HitNumber, "6.10e-2", 3, 53},
		{"quote#/a~1b/m~0n", HitNull, "null", 4, 18},
		{"quote#/a~1b", HitObject, `{"m~n": null}`, 4, 10},
		{"quote#/lender", HitString, "First “Harbor” Bank", 2, 13},
		{"quote#/%6Cender", HitString, "First “Harbor” Bank", 2, 13},
		{"quote#line=1,2", HitLines, `  "lender": "First “Harbor” Bank",`, 2, 1},
		{"memo#line=0,1", HitLines, "Appraisal memo", 1, 1},
		{"memo#line=,1", HitLines, "Appraisal memo", 1, 1},
		{"memo#line=3,5", HitLines, "ating income is $920,000,\n  before reserves.", 4, 1},
		{"memo#line=5,", HitLines, "Café total: 14 units", 6, 1},
		{"memo#line=4", HitLines, "", 5, 1},
		{"memo#text=$920,000,%20before%20reserves", HitText, "$920,000,\n  before reserves", 4, 17},
		{"memo#text=total:%2014", HitText, "total: 14", 6, 6},
		{"call#text=94.5%20%25", HitText, "94.5 %", 1, 18},
		{"log#line=1,2", HitLines, `{"id": 2, "cost": 2.20, "day": "2025-12-31", "tag": null}`, 2, 1},
		{"pdf#page=3", HitOpen, "", 0, 0},
		{"pdf#text=net", HitOpen, "", 0, 0},
		{"pdf#/a", HitOpen, "", 0, 0},
	}
	for _, c := range cases {
		hit, err := s.Resolve(c.ref)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if hit.Kind != c.kind || hit.Text != c.text || hit.Line != c.line || hit.Column != c.col ||
			hit.Open != (c.kind == HitOpen) {
			t.Errorf("%s hit %s %q at %d:%d", c.ref, hit.Kind, hit.Text, hit.Line, hit.Column)
		}
	}
	if hit, _ := s.Resolve("t12#row=2"); !slices.Equal(hit.Row, []string{"Gross potential rent", "$104,000.00",
		"$1,248,000.00"}) {
		t.Errorf("row: %q", hit.Row)
	}
	if hit, _ := s.Resolve("memo#line=4"); !strings.Contains(hit.Note, "#line=3,4") {
		t.Errorf("note %q", hit.Note)
	}
}

func TestNoHit(t *testing.T) {
	s := openRun(t)
	for _, c := range []struct {
		ref   string
		cause error
		says  string
	}{
		{"t1#row=1", ErrUndeclared, `did you mean "t12"?`},
		{"T12", ErrUndeclared, `did you mean "t12"?`},
		{"the rent roll, see Invoice #4411", ErrUndeclared, `declared: "t12", "quote"`},
		{"", ErrUndeclared, "not declared"},
		{"web", ErrNotHeld, "snapshot"},
		{"t12#row=6", ErrNoHit, "the table has 5 rows, the header included"},
		{"t12#row=2-6", ErrNoHit, "5 rows"},
		{"t12#cell=6,1", ErrNoHit, "5 rows"},
		{"t12#cell=2,4", ErrNoHit, "row 2 has 3 columns"},
		{"t12#cell=1,1-2,4", ErrNoHit, "row 1 has 3 columns"},
		{"t12#col=4", ErrNoHit, "row 1 has 3 columns"},
		{"t12#/a", ErrSelector, "use cell=, row=, col="},
		{"t12#page=1", ErrSelector, "PDF"},
		{"quote#row=1", ErrSelector, "use a JSON Pointer"},
		{"log#/0", ErrSelector, "use line= or text="},
		{"quote#/terms/2", ErrNoHit, `"/terms" is an array of 2 elements`},
		{"quote#/terms/0/rat", ErrNoHit, `"/terms/0" is an object with the members "rate", "years"`},
		{"quote#/lender/x", ErrNoHit, `"/lender" is a string`},
		{"quote#/nothing", ErrNoHit, `an object with the members "lender"`},
		{"memo#line=6,7", ErrNoHit, "the text has 6 lines"},
		{"memo#line=7", ErrNoHit, "6 lines"},
		{"memo#line=6,", ErrNoHit, "6 lines"},
		{"memo#text=nothing%20like%20it", ErrNoHit, "does not stand there"},
		{"memo#lines=1", ErrSelector, "did you mean line=?"},
		{"t12#column=1", ErrSelector, "did you mean col=?"},
		{"t12#Row=1", ErrSelector, "did you mean row=?"},
		{"t12#Q4", ErrSelector, "known: /json/pointer, line="},
		{"t12#", ErrSelector, "is empty"},
	} {
		hit, err := s.Resolve(c.ref)
		if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) || hit.File != nil {
			t.Errorf("%s: %v, want %v: %s", c.ref, err, c.cause, c.says)
		}
	}
}

func TestBadContent(t *testing.T) {
	tree := fstest.MapFS{
		"dup.json": {Data: []byte(`{"a":1,"a":2}`)}, "latin.csv": {Data: []byte("caf\xe9,1\n")},
		"utf16.txt": {Data: []byte("\xff\xfea\x00")}, "quote.csv": {Data: []byte("a,b\n1,x\"y\n")},
		"open.csv": {Data: []byte("a,b\n1,\"x\n")}, "bom.csv": {Data: []byte("\xef\xbb\xbfname,n\r\nx,1\r\n")},
		"title.csv": {Data: []byte("Oak Street T12\r\n\r\nitem,amount\r\nNOI,\"1,\n2\"\r\n\r\nlast,7\r\n\r\n")},
		"none.csv":  {},
	}
	var items []Item
	for name := range tree {
		items = append(items, Item{ID: name, Path: name})
	}
	s := Open(tree, items, Limits{})
	for ref, says := range map[string]string{
		"dup.json#/a": `duplicate key "a"`, "latin.csv#row=1": "byte 4 is not UTF-8", "utf16.txt#line=0,1": "UTF-16",
		"quote.csv#row=1": "line 2, column 4 is not CSV", "open.csv#row=1": "not CSV",
	} {
		if _, err := s.Resolve(ref); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if hit, err := s.Resolve("bom.csv#cell=1,1"); err != nil || hit.Text != "name" ||
		!slices.Equal(hit.File.Notes, []string{"byte order mark ignored"}) {
		t.Errorf("byte order mark: %+v, %v", hit, err)
	}
	// A report with a title and blank lines: rows count as a spreadsheet shows them. "NOI" is row 4, lines 4 and 5.
	for ref, want := range map[string]string{"title.csv#cell=1,1": "Oak Street T12", "title.csv#cell=2,1": "",
		"title.csv#cell=3,2": "amount", "title.csv#cell=4,2": "1,\n2", "title.csv#cell=6,2": "7",
		"title.csv#cell=*,1": "last"} {
		if hit, err := s.Resolve(ref); err != nil || hit.Text != want {
			t.Errorf("%s: %q, %v", ref, hit.Text, err)
		}
	}
	if hit, _ := s.Resolve("title.csv#cell=6,2"); hit.Line != 7 || hit.Column != 6 {
		t.Errorf("after a cell of two lines: %d:%d", hit.Line, hit.Column)
	}
	if hit, _ := s.Resolve("title.csv#cell=2,1"); hit.Line != 2 || hit.Column != 1 {
		t.Errorf("blank line at %d:%d", hit.Line, hit.Column)
	}
	if _, _, err := s.Rows("title.csv"); !errors.Is(err, ErrContent) ||
		!strings.Contains(err.Error(), "line 3 has 2 cells where the first row has 1") {
		t.Errorf("ragged: %v", err)
	}
	if _, _, err := s.Rows("none.csv"); !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty: %v", err)
	}
	if _, err := s.Resolve("none.csv#row=1"); !errors.Is(err, ErrNoHit) {
		t.Errorf("empty: %v", err)
	}
}

func TestLineEnds(t *testing.T) {
	s := Open(fstest.MapFS{"a.txt": {Data: []byte("one\rtwo\r\nthree\nfour")}}, []Item{{ID: "a", Path: "a.txt"}},
		Limits{})
	for ref, want := range map[string]string{"a#line=0,1": "one", "a#line=1,2": "two", "a#line=2,3": "three",
		"a#line=3,4": "four", "a#line=1,3": "two\r\nthree"} {
		if hit, err := s.Resolve(ref); err != nil || hit.Text != want {
			t.Errorf("%s: %q, %v", ref, hit.Text, err)
		}
	}
	if hit, err := s.Resolve("a#text=three%20four"); err != nil || hit.Line != 3 || hit.Column != 1 {
		t.Errorf("%+v, %v", hit, err)
	}
}

func TestBadSelectors(t *testing.T) {
	for ref, says := range map[string]string{
		"#row=1": "names no evidence", "  ": "names no evidence", "a#row=0": "count from 1", "a#row=x": "not a count",
		"a#row=": "not a count", "a#row=5-3": "smaller to the larger", "a#row=*-3": "smaller to the larger",
		"a#row=1;3": "several parts", "a#row=9999999999": "not a count", "a#row=-1": "not a count",
		"a#row=+1": "not a count", "a#row=٣": "not a count", "a#cell=4": "row,column", "a#cell=0,1": "count from 1",
		"a#cell=2,2-1,3": "smaller to the larger", "a#cell=2,2-3,1": "smaller to the larger",
		"a#line=,": "needs a position", "a#line=3,1": "smaller first", "a#line=*": "not a count",
		"a#line=1,x": "not a count",
		"a#/a~2":     "neither ~0", "a#/%zz": "percent-encoded", "a#/%ff": "percent-encoded",
		"a#text=": "no text to look for", "a#text=%20": "no text to look for", "a#text=5%": "%25",
		"a#row": "did you mean row=?", "a#col=1-x": "not a count", "a#cell=1,1-x": "row,column",
	} {
		r, err := ParseReference(ref)
		if !errors.Is(err, ErrSelector) || !strings.Contains(err.Error(), says) || r != (Reference{}) {
			t.Errorf("%q: %v, want %s", ref, err, says)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	for _, ref := range []string{"t12", "t12#/a~1b/0", "t12#line=10,12", "t12#line=,3", "t12#row=5-*",
		"t12#cell=4,2-*,5", "t12#col=3", "t12#text=a%20b%23", "p#page=3", "#", "a#b=c", "a#/%"} {
		f.Add(ref)
	}
	tree := fstest.MapFS{"a.csv": {Data: []byte("a,b\n\n1,\"2\n3\"\n")},
		"a.json": {Data: []byte(`{"a":[1,{"b":null}]}`)}, "a.txt": {Data: []byte("one\r\ntwo three\n")}}
	f.Fuzz(func(t *testing.T, ref string) {
		r, err := ParseReference(ref)
		if err != nil {
			if r != (Reference{}) || err.Error() == "" {
				t.Fatalf("%q: refused with a result", ref)
			}
			return
		}
		again, err := ParseReference(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is printed as %q, which reads as %+v, %v", ref, r, again, err)
		}
		s := Open(tree, []Item{{ID: "c", Path: "a.csv"}, {ID: "j", Path: "a.json"}, {ID: "t", Path: "a.txt"}}, Limits{})
		for _, id := range s.IDs() {
			r.ID = id
			if hit, err := s.Resolve(r.String()); (err == nil) != (hit.File != nil) {
				t.Fatalf("%s: %+v, %v", r, hit, err)
			}
		}
	})
}
