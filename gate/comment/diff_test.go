package comment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gitLines is what git itself shows of the new side.
func gitLines(t *testing.T, before, after string) map[int]bool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": before, "b": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(
		"git",
		"diff",
		"--no-index",
		"--no-color",
		"-U3",
		"--no-indent-heuristic",
		"--minimal",
		"a",
		"b",
	)
	cmd.Dir = dir
	out, _ := cmd.Output() // it exits 1 where there is a difference
	shown := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@`).FindAllStringSubmatch(string(out), -1) {
		first, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		for i := range n {
			shown[first+i] = true
		}
	}
	return shown
}

// TestDiffLinesAgainstGit takes git's own diff for the answer.
func TestDiffLinesAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	rows := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "row %d é\n", i)
		}
		return b.String()
	}
	cases := [][2]string{
		{
			"",
			rows(0, 5),
		}, {rows(0, 5), ""}, {rows(0, 9), rows(0, 9)}, {rows(0, 30), rows(0, 15) + "new\n" + rows(15, 30)},
		{
			rows(0, 30),
			rows(0, 10) + rows(12, 30),
		}, {rows(0, 30), rows(0, 28) + "x\ny"}, {rows(0, 3) + "end", rows(0, 3) + "end\n"},
		{rows(0, 40), "top\n" + rows(0, 20) + "mid\n" + rows(21, 40)}, {rows(0, 8), rows(100, 120)},
	}
	random := rand.New(rand.NewPCG(4, 2))
	for range 40 { // single edits of different lines: there is one way to show them
		lines := strings.SplitAfter(rows(0, 60), "\n")
		var b strings.Builder
		for _, line := range lines {
			switch random.IntN(12) {
			case 0:
			case 1:
				fmt.Fprintf(&b, "added %d\n%s", random.Int64(), line)
			default:
				b.WriteString(line)
			}
		}
		cases = append(cases, [2]string{rows(0, 60), b.String()})
	}
	for i, c := range cases {
		got, want := DiffLines([]byte(c[0]), []byte(c[1])), gitLines(t, c[0], c[1])
		if !maps.Equal(got, want) {
			t.Errorf("case %d: %v, git shows %v", i, got, want)
		}
	}
}

// TestDiffLinesBounds: a diff that costs too much is none, and what is made is made soon.
func TestDiffLinesBounds(t *testing.T) {
	unlike := func(n int, word string) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintln(&b, word, i)
		}
		return []byte(b.String())
	}
	for _, c := range []struct {
		what          string
		before, after []byte
		want          int
	}{
		{"a large file", nil, make([]byte, maxDiffBytes+1), 0},
		{"many lines", nil, unlike(maxDiffLines+1, "x"), 0},
		{"many lines that differ", unlike(maxDiffering, "x"), unlike(maxDiffering, "y"), 0},
		{"a new file", nil, unlike(maxDiffLines, "x"), maxDiffLines},
		{"a large change", unlike(maxDiffering/2, "x"), unlike(maxDiffering/2, "y"), maxDiffering / 2},
		{"two endings", []byte("a\n"), []byte("a\r\n"), 1},
	} {
		begun := time.Now()
		if got := len(DiffLines(c.before, c.after)); got != c.want {
			t.Errorf("%s: %d lines, want %d", c.what, got, c.want)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%s took %v", c.what, took)
		}
	}
}
