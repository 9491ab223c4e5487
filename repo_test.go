// Package repo tests the repository itself: which room may import which, that each outside package has one importer,
// and the habits of CONTRIBUTING.md that a machine can see.
package repo

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/defendableos/referee"

// listed is what `go list -json` says of a package of this module.
type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		all = append(all, p)
	}
	return all
}

func own(imports []string) (rooms []string) {
	for _, i := range imports {
		if rest, ok := strings.CutPrefix(i, module+"/"); ok {
			rooms = append(rooms, rest)
		}
	}
	return rooms
}

// under reports whether a package is the room or stands in it.
func under(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// TestArrows: the way of the data is bytes → submission → report → receipt; nothing imports against it, and referee and
// ledger never meet.
func TestArrows(t *testing.T) {
	judging := []string{"gate/governance", "gate/rulebook", "gate/signoff", "gate/outcome", "gate/comment",
		"gate/doctor"}
	forbidden := map[string][]string{
		"internal":      {"referee", "ledger", "report", "serve", "gate", "forge", "cmd", "flight_sheets"},
		"referee":       {"ledger", "report", "serve", "gate", "forge", "cmd", "flight_sheets"},
		"ledger":        {"referee", "report", "serve", "gate", "forge", "cmd", "flight_sheets"},
		"report":        {"serve", "gate", "forge", "cmd", "flight_sheets"},
		"serve":         {"referee", "report", "gate", "forge", "cmd", "flight_sheets"},
		"forge":         {"ledger", "report", "serve", "gate", "cmd"},
		"flight_sheets": {"ledger", "report", "serve", "gate", "forge", "cmd"},
		"gate":          {"serve", "forge", "cmd"},
		// Within the gate: the rooms that judge know nothing of the job, of what is posted, or of each other where that
		// would close a circle.
		"gate/internal": {"gate/outcome", "gate/comment", "gate/doctor"},
		"gate/config":   append([]string{"gate/receipt", "gate/audit", "gate/memory"}, judging...),
		"gate/receipt":  append([]string{"gate/config", "gate/audit", "gate/memory"}, judging...),
		"gate/audit":    append([]string{"gate/memory"}, judging...),
		"gate/governance": {"gate/rulebook", "gate/memory", "gate/signoff", "gate/outcome", "gate/comment",
			"gate/doctor"},
		"gate/rulebook": {"gate/memory", "gate/signoff", "gate/outcome", "gate/comment", "gate/doctor"},
		"gate/memory":   append([]string{"gate/receipt", "gate/audit"}, judging...),
		"gate/signoff": {"gate/audit", "gate/governance", "gate/rulebook", "gate/outcome", "gate/comment",
			"gate/doctor"},
		"gate/outcome": {"gate/comment", "gate/doctor"},
		"gate/comment": {"gate/doctor"},
		// A ledger is verified without a sign-off being judged, or anything posted.
		"gate/verify": judging,
	}
	for _, room := range append([]string{"gate/config", "gate/receipt", "gate/audit", "gate/memory"}, judging...) {
		forbidden[room] = append(slices.Clone(forbidden[room]), "gate/verify")
	}
	exempt := map[string]bool{"internal/githubtest": true} // a server for tests, over a real ledger
	for _, p := range packages(t) {
		for room, rooms := range forbidden {
			if !under(p.ImportPath, room) || exempt[p.ImportPath] {
				continue
			}
			for _, imported := range own(p.Imports) {
				for _, bad := range rooms {
					if under(imported, bad) {
						t.Errorf("%s imports %s: %s must not know %s", p.ImportPath, imported, room, bad)
					}
				}
			}
		}
	}
}

// TestPureRooms: what decides who may sign off, and what a gate run comes to, reaches no network, file, clock or
// context; nor does a room of the gate import the job that connects it.
func TestPureRooms(t *testing.T) {
	pure := []string{"gate/signoff", "gate/outcome", "gate/memory", "gate/comment", "gate/governance"}
	reaches := []string{"context", "net", "net/http", "os", "os/exec", "io/fs", "math/rand", "math/rand/v2",
		module + "/ledger/gitstore"}
	seen := 0
	for _, p := range packages(t) {
		if slices.Contains(pure, p.ImportPath) {
			seen++
			for _, i := range p.Imports {
				if slices.Contains(reaches, i) {
					t.Errorf("%s imports %s: it must be pure", p.ImportPath, i)
				}
			}
		}
		if under(p.ImportPath, "gate") && slices.Contains(own(p.Imports), "gate") {
			t.Errorf("%s imports gate: the rooms do not know the job", p.ImportPath)
		}
	}
	if seen != len(pure) {
		t.Errorf("%d of the rooms %v are there", seen, pure)
	}
}

// TestOneImporter: every outside package has one importer among the product's packages, so that it can be replaced in
// one place.
func TestOneImporter(t *testing.T) {
	importers := map[string][]string{}
	for _, p := range packages(t) {
		if under(p.ImportPath, "bench") || p.ImportPath == "internal/githubtest" {
			continue // tools and servers for tests
		}
		for _, i := range p.Imports {
			first, _, _ := strings.Cut(i, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(i, module) {
				importers[i] = append(importers[i], p.ImportPath)
			}
		}
	}
	for i, by := range importers {
		if len(by) > 1 {
			t.Errorf("%s is imported by %s: one room is enough", i, strings.Join(by, ", "))
		}
	}
}

// TestRooms: a package has a comment that says what it is for, and there are few enough to know them all.
func TestRooms(t *testing.T) {
	all := packages(t)
	product := 0
	for _, p := range all {
		if p.Doc == "" && p.ImportPath != "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		if !under(p.ImportPath, "bench") && !strings.HasPrefix(p.ImportPath, "testdata") {
			product++
		}
		if strings.Count(p.ImportPath, "/") > 2 {
			t.Errorf("%s lies deeper than two levels", p.ImportPath)
		}
	}
	if product > 41 {
		t.Errorf("%d packages: which two are one room?", product)
	}
}

// TestSizes: no file over 600 lines, no function over 80, no line over 120 columns (a tab is one).
func TestSizes(t *testing.T) {
	for path := range goFiles(t) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(src, []byte("\n")); n > 600 {
			t.Errorf("%s has %d lines", path, n)
		}
		for i, line := range bytes.Split(src, []byte("\n")) {
			if n := utf8.RuneCount(line); n > 120 {
				t.Errorf("%s:%d has %d columns; break it", path, i+1, n)
			}
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(path, "_test.go") {
				continue
			}
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > 80 {
				t.Errorf("%s: %s has %d lines", path, f.Name.Name, n)
			}
		}
	}
}

// TestExportedNamesAreDocumented: every exported name says what it is.
func TestExportedNamesAreDocumented(t *testing.T) {
	for path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && f.Doc == nil && file.Name.Name != "main" &&
				!method(f) {
				t.Errorf("%s: %s has no comment", path, f.Name.Name)
			}
		}
	}
}

// method reports whether f is a method of an unexported type, or one that an interface of the standard library names.
func method(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	expr := f.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	name, ok := expr.(*ast.Ident)
	return ok && !name.IsExported() || slices.Contains([]string{"Error", "String", "Unwrap"}, f.Name.Name)
}

// goFiles yields the module's Go files, without those of the tools module.
func goFiles(t *testing.T) func(func(string) bool) {
	t.Helper()
	return func(yield func(string) bool) {
		err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == "tools" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !yield(path) {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoMachinePaths: nothing in the tree knows the machine it was written on.
func TestNoMachinePaths(t *testing.T) {
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	parent := filepath.Dir(top) + "/"
	if strings.Count(parent, "/") < 2 || parent == "/tmp/" || parent == filepath.Clean(os.TempDir())+"/" {
		t.Skip("the tree stands at the root of the file system, or where every machine keeps temporary files")
	}
	// At the beginning of a word: an address may hold the same letters.
	out, _ := exec.Command("git", "grep", "-nIE", `(^|[^[:alnum:]_./-])`+regexp.QuoteMeta(parent), "--", ".").Output()
	if len(out) > 0 {
		t.Errorf("paths of this machine in tracked files:\n%s", out)
	}
}

// TestThreatModelNamesRealTests: a defence that names a test which is not there is a claim without proof.
func TestThreatModelNamesRealTests(t *testing.T) {
	doc, err := os.ReadFile("docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for path := range goFiles(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				have[f.Name.Name] = true
			}
		}
	}
	for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(doc), -1) {
		if !have[name] {
			t.Errorf("docs/threat-model.md names %s, which is no test", name)
		}
	}
}
