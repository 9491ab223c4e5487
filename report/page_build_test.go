package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/ledger"
)

// shape is what the page knows of a Go type: how its JSON looks.
type shape struct {
	Type     string           `json:"type,omitempty"`
	Is       string           `json:"is,omitempty"`
	Optional bool             `json:"optional,omitempty"`
	Array    *shape           `json:"array,omitempty"`
	Object   map[string]shape `json:"object,omitempty"`
}

func shapeOf(t reflect.Type, is string) shape {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), is)
	case reflect.Slice:
		e := shapeOf(t.Elem(), is)
		return shape{Array: &e}
	case reflect.String:
		return shape{Type: "string", Is: is}
	case reflect.Bool:
		return shape{Type: "boolean"}
	case reflect.Struct:
		s := shape{Object: map[string]shape{}}
		for i := range t.NumField() {
			f := t.Field(i)
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			member := shapeOf(f.Type, f.Tag.Get("is"))
			member.Optional = options == "omitempty"
			s.Object[key] = member
		}
		return s
	}
	return shape{Type: "number"}
}

// facts are what the page takes from the program: shapes, the words for codes, and what a verification at L1 cannot
// see.
func facts(t testing.TB) string {
	codes := map[ledger.Code]string{}
	for _, c := range ledger.Codes() {
		codes[c.Code] = c.Title
	}
	b, err := json.Marshal(map[string]any{
		"shapes": map[string]shape{
			"receipt": shapeOf(reflect.TypeFor[ledger.Receipt](), ""), "head": shapeOf(reflect.TypeFor[ledger.Head](),
				""),
			"info": shapeOf(reflect.TypeFor[ledger.Info](), ""), "proof": shapeOf(reflect.TypeFor[ledger.Proof](), ""),
		},
		"codes":  codes,
		"papers": paperForms,
		"blind":  ledger.L1.Blind(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func pagePart(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("page", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sourceHash is how a policy names an inline script or style.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// buildPage puts verify.html together.
func buildPage(t testing.TB) []byte {
	t.Helper()
	style := "\n" + pagePart(t, "page.css")
	script := "\n'use strict';\n\nconst FACTS = " + facts(t) + ";\n\n"
	for _, name := range []string{"canonical.js", "receipt.js", "chain.js", "view.js", "page.js"} {
		script += strings.TrimPrefix(pagePart(t, name), "'use strict';\n\n") + "\n"
	}
	for _, word := range []string{"</", "<!--", "{{"} {
		if strings.Contains(script, word) || strings.Contains(style, word) {
			t.Fatalf("%q in a script or style would end it, or be replaced", word)
		}
	}
	policy := "default-src 'none'; script-src " + sourceHash(script) + "; style-src " + sourceHash(style) +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'"
	return []byte(strings.NewReplacer("{{policy}}", policy, "{{style}}", style, "{{script}}",
		script).Replace(pagePart(t, "page.tmpl.html")))
}

// TestVerifyPageIsBuilt holds the page to its parts and to the types of the ledger; -update writes it.
func TestVerifyPageIsBuilt(t *testing.T) {
	page := buildPage(t)
	golden.Compare(t, "page/verify.html", page)
	if !golden.Updating() && !bytes.Equal(VerifyPage(), page) {
		t.Error("the embedded page is another than page/verify.html")
	}
}

// TestVerifyPageIsClosed looks for whatever makes text into markup or code, or loads anything.
func TestVerifyPageIsClosed(t *testing.T) {
	page := string(VerifyPage())
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(",
		"srcdoc", "setTimeout(", "javascript:",
		"http://", "https://", "import(", "XMLHttpRequest", "WebSocket", "localStorage", "document.cookie", " src=",
		" style=", "onclick=", "onload=", "unsafe-"} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), word) {
			t.Errorf("the page holds %q", word)
		}
	}
	if len(page) > 1<<20 || int64(len(page)) > ledger.PageFile.MaxBytes() {
		t.Errorf("the page has %d bytes", len(page))
	}
	if strings.Count(page, "<script") != 1 || strings.Count(page, "<style") != 1 {
		t.Error("the page has another script or style than the ones that its policy names")
	}
}
