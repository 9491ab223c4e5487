package memory

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/config"
)

// TestPushers: the line is read from the block at the top only, a login stands once, and nobody is dropped: what is no
// login, and one more than are kept, is anybody.
func TestPushers(t *testing.T) {
	p := Pushers(nil).With("rosa").With("wim").With("rosa").With("helper[bot]").With("octo_acme")
	if !slices.Equal(p, Pushers{"rosa", "wim", "helper[bot]", "octo_acme"}) || p.More() {
		t.Errorf("%q", p)
	}
	for _, bad := range []string{"a b", "", "-x", "*", "a\n", strings.Repeat("a", 51)} {
		if got := p.With(bad).With(bad); !got.More() || len(got) != 5 {
			t.Errorf("%q: %q", bad, got)
		}
	}
	top := "<!-- referee:review/v1 x -->\n"
	if got := ParsePushers(top + p.Line() + "\n\ntext"); !slices.Equal(got, p) {
		t.Errorf("%q", got)
	}
	if got := ParsePushers(top + p.With("").Line() + "\r\ntext"); !got.More() || len(got) != 5 {
		t.Errorf("%q", got)
	}
	for _, body := range []string{"text\n" + p.Line(), top + "\n" + p.Line(), ""} {
		if got := ParsePushers(body); len(got) != 0 {
			t.Errorf("%q names %q", body, got)
		}
	}
	for _, body := range []string{top + "<!-- referee:pushers rosa", top + "<!-- referee:pushers --><b> -->"} {
		if got := ParsePushers(body); !got.More() {
			t.Errorf("%q names %q, and not anybody", body, got)
		}
	}
	many := Pushers(nil)
	for i := range MaxPushers {
		many = many.With(strings.Repeat("x", 1+i/26) + string(rune('a'+i%26)))
	}
	if len(many) != MaxPushers || many.More() || Pushers(nil).Line() != "" {
		t.Errorf("%d, %q", len(many), Pushers(nil).Line())
	}
	if more := many.With("one-more").With("and-another"); len(more) != MaxPushers+1 || !more.More() ||
		!ParsePushers(top+more.Line()).More() {
		t.Errorf("%d: somebody is dropped without a word", len(more))
	}
}

// FuzzParsePushers: nothing panics, only logins are named, and what is named is written back as it was read.
func FuzzParsePushers(f *testing.F) {
	f.Add("<!-- referee:review/v1 x -->\n<!-- referee:pushers rosa wim -->\n")
	f.Add("<!-- referee:pushers a[bot] --> -->")
	f.Fuzz(func(t *testing.T, body string) {
		p := ParsePushers(body)
		for _, login := range p {
			if !config.IsLogin(login) && login != anybody {
				t.Errorf("%q is no login", login)
			}
		}
		if len(p) > 0 && !slices.Equal(ParsePushers(p.Line()), p) {
			t.Errorf("%q is read as %q", p.Line(), ParsePushers(p.Line()))
		}
	})
}
