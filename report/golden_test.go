package report

//go:generate go test . -run ^(TestGolden|TestVerifyPageIsBuilt)$ -update

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/referee"
)

// write is the paper of some reports.
func write(t testing.TB, format string, o Options, reports ...*referee.Report) string {
	t.Helper()
	var b bytes.Buffer
	w, err := New(format, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGolden compares whole papers with files that were read by a person when they were written.
func TestGolden(t *testing.T) {
	four := []*referee.Report{oakStreet(), mapleCourt(), elmPlaza(), riverLofts()}
	tests := []struct {
		file, format string
		o            Options
		reports      []*referee.Report
	}{
		{"clean.table", "table", Options{}, four[:1]},
		{"four.table", "table", Options{}, four},
		{"four-color.table", "table", Options{Color: true}, four[2:]},
		{"four-wide.table", "table", Options{Width: 110, Verbose: true, Explain: "dscr_floor"}, four[1:3]},
		{"narrow.table", "table", Options{Width: 60}, four[2:3]},
		{"unreadable.table", "table", Options{}, []*referee.Report{unreadable()}},
		{"many.table", "table", Options{}, lines(60)},
		{"none.table", "table", Options{}, nil},
		{"four.json", "json", Options{}, four},
		{"elm-plaza.md", "markdown", Options{}, four[2:3]},
		{"four.md", "markdown", Options{Verbose: true}, four},
		{"many.md", "markdown", Options{}, lines(60)},
		{"four.sarif", "sarif", Options{Version: "0.1.0"}, append(four, unreadable())},
		{"none.sarif", "sarif", Options{}, nil},
		{"four.junit.xml", "junit", Options{}, append(four, unreadable())},
		{"four.github", "github", Options{}, append(four, unreadable())},
		{"many.github", "github", Options{}, lines(400)},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			got := write(t, test.format, test.o, test.reports...)
			path := filepath.Join("testdata", "golden", test.file)
			golden.Compare(t, path, []byte(got))
			if again := write(t, test.format, test.o, test.reports...); again != got {
				t.Error("two runs differ")
			}
		})
	}
}
