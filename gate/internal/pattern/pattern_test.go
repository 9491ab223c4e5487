package pattern

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
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
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
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
			src, err := literalText(call.Args[0])
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

// literalText is the text of a literal, or of literals that are put together: a long pattern stands on several lines.
func literalText(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := literalText(e.X)
		if err != nil || e.Op != token.ADD {
			return "", errors.Join(err, errNotLiteral)
		}
		right, err := literalText(e.Y)
		return left + right, err
	}
	return "", errNotLiteral
}

var errNotLiteral = errors.New("a pattern is a literal, so that this test can compile it")
