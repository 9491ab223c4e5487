package signoff

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/ledger"
)

func TestParseCommands(t *testing.T) {
	body := "Looks right.\r\n/satisfied appraisal_date\r\n/flag borrower_name  the term sheet names another LLC " +
		"\n/accept dscr_gate the client takes it\n/digest 0a1b2c3d\n" +
		"> /satisfied quoted\n\n  /satisfied indented\n```\n/accept everything in code\n```\n/ not a command\nsee " +
		"/satisfied here"
	got := ParseCommands(body)
	want := Commands{
		Answers: []ledger.Answer{
			{ID: "appraisal_date", Answer: "satisfied"},
			{ID: "borrower_name", Answer: "flag", Note: "the term sheet names another LLC"},
			{
				ID:     "indented",
				Answer: "satisfied",
			},
		},
		Accepts: []ledger.Waiver{{RuleID: "dscr_gate", Reason: "the client takes it"}},
		Digest:  "0a1b2c3d",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n want %+v", got, want)
	}
}

func TestParseCommandProblems(t *testing.T) {
	for body, says := range map[string]string{
		"/satisfied":                           "needs the key",
		"/flag key":                            "needs a reason",
		"/accept rule":                         "/accept <rule> <why>",
		"/digest 0A1B2C3D":                     "lower-case hex",
		"/digest 0a1":                          "lower-case hex",
		"/approve":                             "unknown command /approve",
		"/satisfied a\n/flag a no":             "two commands about the same thing",
		"/satisfied r:a\n/flag r:a no":         "two commands about the same thing",
		"/flag a " + strings.Repeat("x", 2001): "longer than 2000 bytes",
		"/Flag a no":                           "lower case",
		"/flag: a no":                          "with a space",
		"\u200b/flag a no":                     "nothing before the slash",
		"\u00a0/flag a no":                     "nothing before the slash",
	} {
		if got := ParseCommands(body); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], says) {
			t.Errorf("%.30q: %q, want %q", body, got.Problems, says)
		}
	}
}

// What a reader of the rendered review sees of the line "/satisfied x".
const (
	counts    = "a plain line: it counts"
	isTalk    = "code, a quote, or nothing: talk"
	isProblem = "part of something else: a problem"
)

// TestCommandsAsRendered: a command counts where the reader of the rendered review sees it as a plain line, and nowhere
// else. The numbers are the examples of the CommonMark specification 0.31.2 that a case is made of, with the command
// put into it; what is expected was taken from the specification's own renderer, commonmark.js (GitHub's dialect, which
// it does not render, has no number).
func TestCommandsAsRendered(t *testing.T) {
	const c = "/satisfied x"
	for _, e := range []struct{ example, body, want string }{
		{"119", "```\n" + c + "\n```", isTalk},
		{"120", "~~~\n" + c + "\n~~~", isTalk},
		{"121", "``\n" + c + "\n``", isTalk}, // no fence, and a code span over three lines
		{"122", "```\n" + c + "\n~~~", isTalk},
		{"123", "~~~\n```\n" + c + "\n~~~", isTalk},
		{"124", "````\n```\n" + c + "\n``````", isTalk},
		{"124 closed", "````\naaa\n```\n``````\n" + c, counts},
		{"125", "~~~~\naaa\n~~~\n" + c + "\n~~~~", isTalk},
		{"126", "```\n" + c, isTalk},
		{"127", "`````\n\n```\n" + c, isTalk},
		{"128", "> ```\n> " + c + "\n\nbbb", isTalk},
		{"128 after", "> ```\n> aaa\n\n" + c, counts},
		{"131", " ```\n " + c + "\n```", isTalk},
		{"133", "   ```\n   " + c + "\n  ```", isTalk},
		{"134", "    ```\n    aaa\n    ```\n" + c, counts}, // four spaces: code, and no fence
		{"135", "```\naaa\n  ```\n" + c, counts},
		{"136", "   ```\naaa\n  ```\n" + c, counts},
		{"137", "```\naaa\n    ```\n" + c, isTalk}, // four spaces close nothing
		{"138", "``` ```\n" + c, counts},           // a code span on one line
		{"139", "~~~~~~\naaa\n~~~ ~~\n" + c, isTalk},
		{"140", "foo\n```\nbar\n```\n" + c, counts},
		{"141", "foo\n---\n~~~\n" + c + "\n~~~", isTalk},
		{"142", "```ruby\n" + c + "\n```", isTalk},
		{"143", "~~~~    ruby startline=3 $%@#$\n" + c + "\n~~~~~~~", isTalk},
		{"145", "``` aa ```\n" + c, counts}, // an info string holds no backtick
		{"146", "~~~ aa ``` ~~~\n" + c + "\n~~~", isTalk},
		{"147", "```\n``` aaa\n" + c + "\n```", isTalk}, // a closing fence has no info string
		{"107", "    " + c, isTalk},
		{"107 tab", "\t" + c, isTalk},
		{"108", "  - foo\n\n    " + c, isProblem},
		{"113", "Foo\n    " + c, counts}, // code cannot interrupt a paragraph
		{"three spaces", "   " + c, counts},
		{"trailing", c + "   ", counts},
		{"228", "> # Foo\n> " + c + "\n> baz", isTalk},
		{"233", "> bar\n" + c, isProblem}, // lazy: it is shown in the quote
		{"234", "> foo\n---\n" + c, counts},
		{"237", "> ```\n" + c + "\n```", counts}, // only paragraphs are lazy
		{"249", "> bar\n\n" + c, counts},
		{"250", "> > > foo\n" + c, isProblem},
		{"list", "- " + c, isProblem},
		{"253", "1.  A paragraph\n    with two lines.\n\n        " + c, isTalk},
		{"290", "1. foo\n" + c, isProblem},
		{"numbered", "14) foo\n\n" + c, counts},
		{"304", "The number is\n14. days\n" + c, counts}, // only 1. interrupts a paragraph
		{"177", "<!-- Foo\n\n" + c + "\n-->", isTalk},
		{"177 after", "<!-- Foo\n\nbar\n-->\n" + c, counts},
		{"178", "<?php\n" + c + "\n?>", isProblem},
		{"179", "<!DOCTYPE html\n" + c + ">", isProblem},
		{"180", "<![CDATA[\n" + c + "\n]]>", isProblem},
		{"148", "<table><tr><td>\n<pre>\n" + c + "\n</pre>\n</td></tr></table>", isProblem},
		{"149", "<div>\n" + c + "\n</div>", isProblem},
		{"169", "<pre>\n" + c + "\n</pre>", isProblem},
		{"folded up", "<details>\n\n" + c + "\n\n</details>", isProblem},
		{"folded up, over", "<details>\n\nfoo\n\n</details>\n\n" + c, counts},
		{"613", "<a foo=\"bar\n" + c + "\n\" />", isProblem},
		{"625", "foo <!-- this is a\n" + c + " -->", isTalk},
		{"349", "foo `bar\n" + c + "\n` baz", isTalk},
		{"349 open", "foo `bar\n" + c, counts}, // nothing closes it
		{"escaped", "foo \\`bar\n" + c + "\n\\` baz", counts},
		{"80", "Foo\n" + c + "\n===", isProblem},
		{"102", "Foo\n***\n" + c, counts},
		{"196", "[foo]: /url '\n" + c + "\nline2\n'", isProblem},
		{"571", "![foo\n" + c + "\n](/url)", isProblem},
		{"506", "[link](/uri \"title\n" + c + "\n\")", isProblem},
		{"a link on its line", "see [the file](https://x.y/z \"title\") [x]\n" + c, counts},
		{"table", "| foo |\n| --- |\n" + c, isProblem},
		{"struck out", "~~foo\n" + c + "\nbar~~", isProblem},
		{"formula", "$$\n" + c + "\n$$", isProblem},
		{"old line ends", "foo\r" + c + "\rbar", counts},
	} {
		got := ParseCommands(e.body)
		is := isTalk
		switch {
		case len(got.Answers) == 1 && got.Answers[0].ID == "x" && len(got.Problems) == 0:
			is = counts
		case len(got.Answers) == 0 && len(got.Problems) == 1:
			is = isProblem
		case len(got.Answers)+len(got.Problems) > 0:
			t.Errorf("%s: %+v", e.example, got)
		}
		if is != e.want {
			t.Errorf("%s, %q: %s; want %s", e.example, e.body, is, e.want)
		}
	}
}

// FuzzParseCommands: no crash; what counts is a line of the body; nothing counts within a quote, a longer fence, or
// indented code.
func FuzzParseCommands(f *testing.F) {
	f.Add("/satisfied a\n/flag b why\n/accept c why\n/digest 00000000")
	f.Add("> x\n/flag a\n- ```\n  /satisfied b\n<!-- \n-->\n<details>\n/accept x y\n[a]: b '\n~~~ `\n")
	f.Fuzz(func(t *testing.T, body string) {
		c := ParseCommands(body)
		lines := strings.FieldsFunc(body, func(r rune) bool { return r == '\n' || r == '\r' })
		for _, a := range c.Answers {
			stands := slices.ContainsFunc(
				lines,
				func(l string) bool { return strings.HasPrefix(strings.TrimLeft(l, " \t"), "/"+a.Answer) },
			)
			if a.ID == "" || a.Answer == "flag" && a.Note == "" || !stands {
				t.Errorf("%+v", a)
			}
		}
		flat := strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
		fence := strings.Repeat("`", len(body)+3)
		for what, wrapped := range map[string]string{"quote": "> " + strings.ReplaceAll(flat, "\n", "\n> "),
			"fence":  fence + "\n" + flat + "\n" + fence,
			"indent": "    " + strings.ReplaceAll(flat, "\n", "\n    ")} {
			if got := ParseCommands(wrapped); !reflect.DeepEqual(got, Commands{}) {
				t.Errorf("in a %s: %+v", what, got)
			}
		}
	})
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		later, earlier string
		want           bool
	}{{"a", "a", true}, {"a", "oak:a", true}, {"oak:a", "a", false}, {"oak:a", "elm:a", false}, {"a", "ba", false},
		{"oak:a", "oak:a", true}} {
		if got := coversEarlier(c.later, c.earlier); got != c.want {
			t.Errorf("%q after %q: %v", c.later, c.earlier, got)
		}
	}
}

// TestCommandsTakeNoTime: anybody may write a review, as long as GitHub takes it.
func TestCommandsTakeNoTime(t *testing.T) {
	for _, piece := range []string{">", "> ", "- ", "<a \"", "<!--", "<details>", "`", "` `` ", "[", "](", "~", "$$",
		"\n", "\n\n> - a", "\\", "<a b=\"\n", "\t", "1) ", "/satisfied x\n", "_ "} {
		begun := time.Now()
		ParseCommands(strings.Repeat(piece, 65_536/len(piece)))
		ParseCommands(strings.Repeat(strings.Repeat(piece, 100)+"\n", 65_536/len(piece)/100))
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%q takes %v", piece, took)
		}
	}
}
