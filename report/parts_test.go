package report

import (
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"a comparison", Plain("dscr < 1.25", 99), "dscr < 1.25"},
		{"a comment", Plain("<!-- x --><b>@a", 99), "< !-- x - ->< b>(at)a"},
		{"a command at the beginning", Plain("  ::error::x", 99), "  : :error::x"},
		{"a long text", Plain("abcdef", 3), "abc… (3 more)"},
		{"a fence", Fenced([]string{"a ```` b", "c\nd"}), "`````\na ```` b\nc<U+000A>d\n`````\n"},
		{"a patch", FencedSource("@@ -0,0 +1,2 @@\n+{\"a\": \"@b <c> \u202e\",\n+\"d\": \"```\"}\n"),
			"````\n@@ -0,0 +1,2 @@\n+{\"a\": \"\\u0040b \\u003cc> \\u202e\",\n+\"d\": \"```\"}\n````\n"},
		{"a patch with words before it and text in it", FencedSource("Say <what> @x.\n+a@b,<c>"),
			"```\nSay < what> (at)x.\n+a@b,<c>\n```\n"},
		{"a command in it", FencedSource(" ::set-output name=a::b"), "```\n : :set-output name=a::b\n```\n"},
		{"no patch", FencedSource("\x1b[2J @x"), "```\n<U+001B>[2J (at)x\n```\n"},
		{"a command", Command("error", "a,b.json", "x: y", "50%\nz"),
			"::error file=a%2Cb.json,title=x%3A y::50%25<U+000A>z"},
		{"a command about nothing", Command("notice", "", "x", "y"), "::notice title=x::y"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	r := elmPlaza()
	if got := FindingCommand(r, &r.Findings[0]); !strings.HasPrefix(got,
		"::error file=testdata/runs/elm-plaza/submission.json,line=22,col=17,endColumn=20,title=high%3A math.mismatch::") ||
		strings.Contains(got, "\n") {
		t.Errorf("%q", got)
	}
	r.Findings[0].Tier = "odd"
	if got := FindingCommand(r, &r.Findings[0]); !strings.HasPrefix(got, "::error ") {
		t.Errorf("an unknown tier: %q", got)
	}
}
