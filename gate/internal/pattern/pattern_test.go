package pattern

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatterns: a pattern is compiled when it is first asked, so that one that does not compile would be found by a
// user. Here all that stand in the source are.
func TestPatterns(t *testing.T) {
	var files []string
	for _, rooms := range []string{"../../*.go", "../../*/*.go"} {
		found, err := filepath.Glob(rooms)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "New" {
				return true
			}
			if room, ok := f.X.(*ast.Ident); !ok || room.Name != "pattern" {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: a pattern is a literal, so that this test can compile it", name)
				return true
			}
			src, err := strconv.Unquote(literal.Value)
			if err == nil {
				_, err = regexp.Compile(src)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			found++
			return true
		})
	}
	if found < 30 {
		t.Errorf("%d patterns found", found)
	}
}
