package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readme is README.md, which everybody reads first: what it says must be so.
func readme(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// inProcess runs the command line as main does, in a directory that is the repository's root.
func inProcess(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errors bytes.Buffer
	code = run(context.Background(), args, func(string) string { return "" }, strings.NewReader(""), &out, &errors)
	return out.String(), errors.String(), code
}

var (
	fencedBlock  = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	relativeLink = regexp.MustCompile(`\]\(([^)#][^)]*)\)`)
	longFlag     = regexp.MustCompile(`--([a-z][a-z-]*)`)
	commandRow   = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| ([^|]*) \\|$")
	scoreFigure  = regexp.MustCompile(`score [0-9.]+`)
)

// TestReadmeLinks: each file and picture that README.md links to exists, and a picture is small enough to load at once.
func TestReadmeLinks(t *testing.T) {
	links := relativeLink.FindAllStringSubmatch(readme(t), -1)
	if len(links) < 10 {
		t.Fatalf("only %d links were found", len(links))
	}
	for _, m := range links {
		if strings.HasPrefix(m[1], "http") {
			continue
		}
		info, err := os.Stat(filepath.Join("../..", m[1]))
		switch {
		case err != nil:
			t.Errorf("README.md links to %s: %v", m[1], err)
		case strings.HasSuffix(m[1], ".png") && info.Size() > 150_000:
			t.Errorf("%s has %d bytes", m[1], info.Size())
		}
	}
	if n := strings.Count(readme(t), "\n"); n > 300 {
		t.Errorf("README.md has %d lines", n)
	}
}

// TestReadmeCommands: each command in README.md's examples exists and has the flags that are written there.
func TestReadmeCommands(t *testing.T) {
	found := 0
	for _, block := range fencedBlock.FindAllStringSubmatch(readme(t), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(strings.Replace(line, "go run ./cmd/referee", "referee", 1))
			if len(words) > 1 && words[0] == "referee" {
				checkCommand(t, words[1:])
				found++
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d commands were found in the examples", found)
	}
}

// TestReadmeCommandTable: each command in the table exists, with the flags that its line names, and each command that
// help lists is in the table.
func TestReadmeCommandTable(t *testing.T) {
	_, rest, _ := strings.Cut(readme(t), "\n## Commands\n")
	table, _, _ := strings.Cut(rest, "\n## ")
	var named []string
	for _, row := range commandRow.FindAllStringSubmatch(table, -1) {
		for _, name := range tableCommands(row[1]) {
			checkCommand(t, append(strings.Fields(name), flagsIn(row[2])...))
			named = append(named, name)
		}
	}
	if len(named) < 25 {
		t.Fatalf("only %d commands were found: %v", len(named), named)
	}
}

// tableCommands splits a cell of the table, `sheet list, show` or `init`, `doctor`, into commands.
func tableCommands(cell string) []string {
	var out []string
	for _, quoted := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
		parts := strings.Split(quoted[1], ", ")
		group, first, grouped := strings.Cut(parts[0], " ")
		if !grouped || strings.ToLower(first) != first || strings.ContainsAny(first, "[…") {
			out = append(out, group) // the rest are arguments
			continue
		}
		for _, name := range append([]string{first}, parts[1:]...) {
			out = append(out, group+" "+name)
		}
	}
	return out
}

func flagsIn(text string) []string {
	var out []string
	for _, m := range longFlag.FindAllStringSubmatch(text, -1) {
		out = append(out, "--"+m[1])
	}
	return out
}

// checkCommand holds a command line to the help of its command: two words, or one, and its flags.
func checkCommand(t *testing.T, words []string) {
	t.Helper()
	name := words[:1]
	help, _, code := inProcess(t, append([]string{"help"}, words[:min(2, len(words))]...)...)
	if code == 0 && len(words) > 1 && !strings.HasPrefix(words[1], "-") {
		name = words[:2]
	} else if help, _, code = inProcess(t, "help", words[0]); code != 0 {
		t.Errorf("README.md has the command %q, which help does not know", strings.Join(name, " "))
		return
	}
	for _, flag := range flagsIn(strings.Join(words, " ")) {
		if !regexp.MustCompile(regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
			t.Errorf("README.md: %q has no flag %s", strings.Join(name, " "), flag)
		}
	}
}

// TestReadmeShowsARealAudit: the table in README.md is what the audit prints, line for line; the score may follow the
// sheet.
func TestReadmeShowsARealAudit(t *testing.T) {
	_, rest, found := strings.Cut(readme(t), "```\nFAIL  elm-plaza")
	if !found {
		t.Fatal("README.md shows no audit")
	}
	shown, _, _ := strings.Cut("FAIL  elm-plaza"+rest, "```")
	t.Chdir("../..")
	printed, _, code := inProcess(t, "audit", "testdata/runs")
	if code != 1 {
		t.Fatalf("exit code %d", code)
	}
	printed = scoreFigure.ReplaceAllString(printed, "score N")
	for line := range strings.Lines(shown) {
		if line = scoreFigure.ReplaceAllString(strings.TrimRight(line, "\n"), "score N"); !strings.Contains(printed,
			line) {
			t.Errorf("README.md shows this line, which the audit does not print:\n%s", line)
		}
	}
}

// TestReadmeChecksByHand: the line of README.md that needs nothing but sha256sum passes on a real ledger, and fails
// where one byte is another.
func TestReadmeChecksByHand(t *testing.T) {
	line := regexp.MustCompile(`(?m)^for f in .*$`).FindString(readme(t))
	for _, tool := range []string{"sh", "git", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	demo, clone := filepath.Join(t.TempDir(), "demo"), filepath.Join(t.TempDir(), "ledger")
	if _, stderr, code := inProcess(t, "demo", demo); code != 0 {
		t.Fatalf("demo: exit code %d\n%s", code, stderr)
	}
	if out, err := exec.Command("git", "clone", "--quiet", "--branch", "ledger", "--single-branch", demo,
		clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	byHand := func() ([]byte, error) {
		shell := exec.Command("sh", "-c", line)
		shell.Dir = clone
		return shell.CombinedOutput()
	}
	if out, err := byHand(); err != nil || len(out) > 0 {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	var receipts []string
	err := filepath.WalkDir(filepath.Join(clone, "receipts"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			receipts = append(receipts, path)
		}
		return err
	})
	if err != nil || len(receipts) < 2 {
		t.Fatalf("%d receipts, %v", len(receipts), err)
	}
	src, err := os.ReadFile(receipts[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(receipts[0], bytes.Replace(src, []byte("honey"), []byte("Honey"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := byHand(); err == nil {
		t.Errorf("a receipt with another byte passes\n%s", out)
	}
}
