package memory

import (
	"fmt"
	"strings"
	"testing"
)

// digitSHA makes a commit's name of a digit.
func digitSHA(digit string) string { return strings.Repeat(digit, 40) }

// TestFailedRevisions: what counts is what the gate audited, per run folder, each head once and the present one not.
func TestFailedRevisions(t *testing.T) {
	var none Heads
	h := none.Add(digitSHA("1"), []string{"runs/a", "runs/b"}).Add(digitSHA("2"), []string{"runs/a"}).Add(digitSHA("3"),
		nil)
	for _, c := range []struct {
		h            Heads
		dir, but     string
		want         int
		what         string
		inLine, lost string
	}{
		{h, "runs/a", "", 2, "two heads failed", digitSHA("1") + "=", digitSHA("3")},
		{h, "runs/a", digitSHA("2"), 1, "the head that is audited now", digitSHA("2") + "=", ""},
		{h, "runs/b", "", 1, "another run", "", ""},
		{h, "runs/a/b", "", 0, "a folder below", "", ""},
		{h.Add(digitSHA("2"), []string{"runs/a"}), "runs/a", "", 2, "the same event twice", "", ""},
		{h.Add(digitSHA("2"), nil), "runs/a", "", 1, "a head that passes when it is audited again", "", digitSHA("2")},
		{h.Add("main", []string{"runs/a"}), "runs/a", "", 2, "no commit", "", "main"},
		{none, "runs/a", "", 0, "nothing yet", "", "referee:heads"},
	} {
		if got := c.h.Failed(c.dir, c.but); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
		if line := c.h.Line(); !strings.Contains(line, c.inLine) || c.lost != "" && strings.Contains(line, c.lost) {
			t.Errorf("%s: the line is %q", c.what, line)
		}
	}
	if h.Failed("runs/b", "") != 1 || none.Line() != "" {
		t.Error("Add changed what it was asked of")
	}
}

// TestHeadsLine: the format is fixed; SHA-256 of "referee.run-folder/v1\nruns/a" by sha256sum.
func TestHeadsLine(t *testing.T) {
	want := "<!-- referee:heads v1 " + digitSHA("1") + "=9d44c95be3b4ad74 -->"
	h := Heads{}.Add(digitSHA("1"), []string{"runs/a", "runs/a"})
	if h.Line() != want {
		t.Fatalf("%s\nwant %s", h.Line(), want)
	}
	if got := ParseHeads("Marker\r\n" + want + "\r\nmore"); got.Failed("runs/a", "") != 1 {
		t.Errorf("read back: %+v", got)
	}
	hostile := Heads{}.Add(digitSHA("1"), []string{"runs/--> ](x) @all\n<!-- referee:heads v1"})
	if line := hostile.Line(); strings.Count(line, "-->") != 1 || strings.Count(line, "<!--") != 1 ||
		strings.ContainsAny(line, "@\n(") {
		t.Errorf("a hostile folder's name stands in %q", line)
	}
}

// TestHeadsBounds: the line stays short, and a pull request of many failed runs does not count fewer.
func TestHeadsBounds(t *testing.T) {
	var h Heads
	for i := range 200 {
		h = h.Add(fmt.Sprintf("%040x", i), []string{"runs/a"})
	}
	if h.Failed("runs/a", "") != 50 || h.Failed("runs/a", fmt.Sprintf("%040x", 199)) != 49 {
		t.Errorf("%d heads are kept", h.Failed("runs/a", ""))
	}
	var many []string
	for i := range 64 {
		many = append(many, fmt.Sprintf("runs/%d", i))
	}
	for i := range 50 {
		h = h.Add(fmt.Sprintf("%040x", 1000+i), many)
	}
	// 8,192 bytes hold 7 heads of 64 folders (1,129 bytes each), and the two oldest that count for every run (43 each).
	if n := h.Failed("runs/7", ""); len(h.Line()) > 8192 || n != 9 || h.Failed("runs/other", "") != 2 {
		t.Errorf("%d heads in %d bytes", n, len(h.Line()))
	}
	if h = h.Add(digitSHA("f"), append(many, "runs/64")); h.Failed("runs/any", "") != 3 ||
		!strings.HasSuffix(h.Line(), digitSHA("f")+"=* -->") {
		t.Errorf("65 failed runs: %d", h.Failed("runs/any", ""))
	}
	if got := ParseHeads(h.Line()); got.Line() != h.Line() {
		t.Error("the line is not read back")
	}
}

// TestHeadsOfTwo: what two memories of one pull request say is taken together, and never counts fewer.
func TestHeadsOfTwo(t *testing.T) {
	a := Heads{}.Add(digitSHA("1"), []string{"runs/a"}).Add(digitSHA("2"), []string{"runs/a"})
	b := Heads{}.Add(digitSHA("2"), []string{"runs/b"}).Add(digitSHA("3"), []string{"runs/b"})
	both := a.mergedWith(b)
	if both.Failed("runs/a", "") != 2 || both.Failed("runs/b", "") != 2 || both.Failed("runs/c", "") != 1 ||
		ParseHeads(both.Line()).Line() != both.Line() {
		t.Errorf("%s", both.Line())
	}
	if a.mergedWith(a).Line() != a.Line() || a.mergedWith(Heads{}).Line() != a.Line() ||
		(Heads{}).mergedWith(a).Line() != a.Line() {
		t.Error("one memory is not itself")
	}
}

// TestHeadsStrict: a line that is not what the gate writes tells nothing.
func TestHeadsStrict(t *testing.T) {
	good := "<!-- referee:heads v1 " + digitSHA("1") + "=0123456789abcdef,1123456789abcdef -->"
	if ParseHeads(good).Line() != good {
		t.Fatal("the good line is refused")
	}
	repeat := func(n int) string {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("%040x=*", i))
		}
		return headsOpen + strings.Join(words, " ") + headsClose
	}
	for what, line := range map[string]string{
		"another version":  strings.Replace(good, "v1", "v2", 1),
		"not at the start": " " + good,
		"quoted":           "> " + good,
		"more after it":    good + " x",
		"no end":           strings.TrimSuffix(good, " -->"),
		"a short commit":   strings.Replace(good, "1111=", "=", 1),
		"upper case":       strings.Replace(good, "abcdef -->", "ABCDEF -->", 1),
		"a short hash":     strings.Replace(good, "abcdef -->", "abcde -->", 1),
		"not sorted":       strings.Replace(good, "=0", "=2", 1),
		"two hashes":       strings.Replace(good, "=0123", "=1123", 1),
		"two spaces":       strings.Replace(good, " -->", "  -->", 1),
		"no hashes":        "<!-- referee:heads v1 " + digitSHA("1") + "= -->",
		"no heads":         "<!-- referee:heads v1  -->",
		"one head twice":   "<!-- referee:heads v1 " + digitSHA("1") + "=* " + digitSHA("1") + "=* -->",
		"51 heads":         repeat(51),
		"9 KiB": headsOpen + digitSHA("1") + "=" + strings.Repeat("0123456789abcdef,", 540) +
			"0123456789abcdef -->",
	} {
		if got := ParseHeads(line).Line(); got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
	if ParseHeads(repeat(50)).Failed("runs/a", "") != 50 {
		t.Error("50 heads are refused")
	}
	if got := ParseHeads(good+"\n"+repeat(3)).Failed("x", ""); got != 0 {
		t.Errorf("a second line counts: %d", got)
	}
}

func FuzzParseHeads(f *testing.F) {
	f.Add("<!-- referee:heads v1 " + digitSHA("1") + "=0123456789abcdef,1123456789abcdef " + digitSHA("a") + "=* -->")
	f.Add("text\n<!-- referee:heads v1  -->\n")
	f.Fuzz(func(t *testing.T, body string) {
		h := ParseHeads(body)
		if line := h.Line(); line != "" && !strings.Contains(body, line) || ParseHeads(line).Line() != line {
			t.Errorf("%q is read as %q", body, line)
		}
		if more := h.Add(digitSHA("b"), []string{"runs/a"}); len(more.Line()) > maxHeadsLine ||
			more.Failed("runs/a", "") < 1 {
			t.Errorf("after %q a failed head is lost", body)
		}
	})
}
