package repo

//go:generate go test . -run ^TestSourcePage$ -update

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
)

// sourceRow is one row of testdata/source/promises.tsv: a promise of the source documents that the released code did
// not keep in full when all 261 were tried.
type sourceRow struct {
	id      string // document and number, "003 #131"
	promise string
	state   string // "holds", "differs" (on purpose) or "open"
	words   string // what holds today, or why the product is better without it
}

// sourceCitation is the line by which a test says whose promise it proves: "Source: 003 #131, 003 #132." in the doc
// comment of a Go test, or in a comment of a script.
var sourceCitation = regexp.MustCompile(`(?m)^(?://|#)\s*Source: ((?:\w+ #\d+(?:, )?)+)\.$`)

// TestSourcePage: docs/source.md lists every promise of the source documents that was once missing, with the tests that
// cite it. A promise that holds must have a test; one that does not must have its reason.
func TestSourcePage(t *testing.T) {
	rows := readSourceRows(t)
	tests := sourceTests(t)
	known := map[string]bool{}
	var page strings.Builder
	page.WriteString(sourceHead)
	counts := map[string]int{}
	for _, row := range rows {
		if known[row.id] {
			t.Errorf("promises.tsv: %s is listed twice", row.id)
		}
		known[row.id] = true
		counts[row.state]++
		switch {
		case row.state == "holds" && len(tests[row.id]) == 0:
			t.Errorf("promises.tsv: %s holds, but no test says \"Source: %s.\"", row.id, row.id)
		case row.state != "holds" && row.words == "":
			t.Errorf("promises.tsv: %s is %q without a reason", row.id, row.state)
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s |\n", row.id, row.promise, row.state, row.words,
			strings.Join(tests[row.id], "<br>"))
	}
	for id := range tests {
		if !known[id] {
			t.Errorf("a test cites %q, which promises.tsv does not list", id)
		}
	}
	fmt.Fprintf(&page, "\n%d promises: %d hold, %d differ on purpose, %d are open.\n",
		len(rows), counts["holds"], counts["differs"], counts["open"])
	golden.Compare(t, "docs/source.md", []byte(page.String()))
}

const sourceHead = `# What the source documents promise, and which test holds it

Generated: ` + "`go test . -run TestSourcePage -update`" + `,
from testdata/source/promises.tsv and the tests' own words.

The sources are 000 Eval Lane, 001 Defendable Run, 002 Rulebook Engine, 003 FLY-EVAL++ and 004 Lavern's evaluator;
*scale* is what lies beyond one repository. Their 261 promises were tried one by one on the first release: 169 worked
and 18 differed on purpose. The other 74 are listed here. *Holds*: a test proves it. *Differs*: the product is
better without it, for the reason given. *Open*: not built yet.

| source | promise | today | in words | tests |
| --- | --- | --- | --- | --- |
`

func readSourceRows(t *testing.T) (rows []sourceRow) {
	t.Helper()
	raw, err := os.ReadFile("testdata/source/promises.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != 4 || !slices.Contains([]string{"holds", "differs", "open"}, cells[2]) {
			t.Fatalf("promises.tsv:%d: want id, promise, holds|differs|open and words, separated by tabs", i+1)
		}
		rows = append(rows, sourceRow{cells[0], cells[1], cells[2], cells[3]})
	}
	return rows
}

// sourceTests maps a promise to the tests that cite it: Go tests by name, scripts by their file.
func sourceTests(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	note := func(comment, test string) {
		for _, m := range sourceCitation.FindAllStringSubmatch(comment, -1) {
			for id := range strings.SplitSeq(m[1], ", ") {
				found[id] = append(found[id], test)
			}
		}
	}
	for path := range goFiles(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && strings.HasPrefix(f.Name.Name, "Test") {
				for _, c := range f.Doc.List {
					note(c.Text, "`"+f.Name.Name+"`")
				}
			}
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".txtar") {
			return err
		}
		raw, err := os.ReadFile(path)
		note(string(raw), "`"+filepath.ToSlash(path)+"`")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range found {
		slices.Sort(found[id])
	}
	return found
}
