package evidence

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/decimal"
)

// FuzzResolve puts hostile evidence under hostile references: nothing panics, an error is one of this package and comes
// with nothing, what is hit as text stands in the evidence at the line that is named, and asking again answers the
// same.
func FuzzResolve(f *testing.F) {
	extensions := []string{".csv", ".tsv", ".json", ".jsonl", ".txt", ""}
	for i, content := range []string{"a,b\n1,\"x, y\"\n(5.00),12%\n", "a\tb\n1\t2\n", `{"a":[1,{"b":"x"}],"c~/d":null}`,
		"{\"a\":1}\n\n{\"a\":\"x\",\"b\":2}\n", "one\r\ntwo “quoted”\rthree\n\n", "\ufeffbom\n"} {
		for _, selector := range []string{"", "#row=2", "#row=*", "#cell=2,2", "#cell=1,1-*,*", "#col=1", "#col=2-*",
			"#line=0,1", "#line=1,", "#line=,2", "#text=x", "#text=two%20%E2%80%9C", "#/a/1/b", "#/c~0~1d", "#page=1",
			"#/0"} {
			f.Add(content, i, selector, "x")
		}
	}
	f.Fuzz(func(t *testing.T, content string, kind int, selector, quote string) {
		if len(content) > 1<<16 || len(selector) > 1<<12 {
			return
		}
		name := "f" + extensions[uint(kind)%uint(len(extensions))]
		s := Open(fstest.MapFS{name: &fstest.MapFile{Data: []byte(content)}},
			[]Item{{ID: "e", Path: name, Kind: "file"}}, Limits{})
		s.Meter(&decimal.Meter{Most: 5_000_000})
		hit, err := s.Resolve("e" + selector)
		again, errAgain := s.Resolve("e" + selector)
		if !reflect.DeepEqual(hit, again) || (err == nil) != (errAgain == nil) || err != nil &&
			err.Error() != errAgain.Error() {
			t.Fatalf("%q of %q: %+v, %v and then %+v, %v", selector, content, hit, err, again, errAgain)
		}
		var known *Error
		if err != nil && (!errors.As(err, &known) || !reflect.DeepEqual(hit, Hit{})) {
			t.Fatalf("%q of %q: %T %v with %+v", selector, content, err, err, hit)
		}
		standsThere(t, hit, strings.TrimPrefix(content, "\ufeff"))
		if _, err := s.Whole("e"); err != nil && !errors.As(err, &known) {
			t.Fatalf("%T", err)
		}
		for _, stat := range Stats {
			if _, err := s.Stat("e", stat, quote, "x"); err != nil && !errors.As(err, &known) {
				t.Fatalf("%s: %T", stat, err)
			}
		}
		if found, _, err := s.Quoted("e", quote, 0); err != nil && (found || !errors.As(err, &known)) {
			t.Fatalf("%v, %T", found, err)
		}
	})
}

// standsThere holds what was hit as text to the evidence.
func standsThere(t *testing.T, hit Hit, content string) {
	t.Helper()
	lines := 1 + strings.Count(content, "\n") + strings.Count(content, "\r")
	if hit.Line < 0 || hit.Line > lines || hit.Column < 0 || hit.Line > 0 && hit.Column == 0 {
		t.Fatalf("%+v stands at line %d, column %d of %q", hit, hit.Line, hit.Column, content)
	}
	if (hit.Kind == HitText || hit.Kind == HitLines) && !strings.Contains(content, hit.Text) {
		t.Fatalf("%q is not in %q", hit.Text, content)
	}
	if hit.Open && (hit.Text != "" || hit.JSON != nil) {
		t.Fatalf("what nobody reads was read: %+v", hit)
	}
}
