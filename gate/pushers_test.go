package gate

import (
	"slices"
	"strings"
	"testing"
)

// TestPushers: the line is read from the block at the top only, what is no login names nobody, and a login stands once.
func TestPushers(t *testing.T) {
	p := Pushers(nil).With("rosa").With("wim").With("rosa").With("helper[bot]").With("a b").With("").With("-x").With(strings.Repeat("a", 40))
	if !slices.Equal(p, Pushers{"rosa", "wim", "helper[bot]"}) {
		t.Errorf("%q", p)
	}
	top := "<!-- referee:review/v1 x -->\n"
	if got := ParsePushers(top + p.Line() + "\n\ntext"); !slices.Equal(got, p) {
		t.Errorf("%q", got)
	}
	for _, body := range []string{"text\n" + p.Line(), top + "\n" + p.Line(), top + "<!-- referee:pushers rosa", top + "<!-- referee:pushers --><b> -->", ""} {
		if got := ParsePushers(body); len(got) != 0 {
			t.Errorf("%q names %q", body, got)
		}
	}
	many := Pushers(nil)
	for i := range 300 {
		many = many.With(strings.Repeat("x", 1+i/26) + string(rune('a'+i%26)))
	}
	if len(many) != maxPushers || Pushers(nil).Line() != "" {
		t.Errorf("%d, %q", len(many), Pushers(nil).Line())
	}
}

// FuzzParsePushers: nothing panics, only logins are named, and what is named is written back as it was read.
func FuzzParsePushers(f *testing.F) {
	f.Add("<!-- referee:review/v1 x -->\n<!-- referee:pushers rosa wim -->\n")
	f.Add("<!-- referee:pushers a[bot] --> -->")
	f.Fuzz(func(t *testing.T, body string) {
		p := ParsePushers(body)
		for _, login := range p {
			if !loginForm.MatchString(login) {
				t.Errorf("%q is no login", login)
			}
		}
		if len(p) > 0 && !slices.Equal(ParsePushers(p.Line()), p) {
			t.Errorf("%q is read as %q", p.Line(), ParsePushers(p.Line()))
		}
	})
}
