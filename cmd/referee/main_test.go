package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptDir is where the scripts are, as a full path: a command in this process may be elsewhere.
var scriptDir = func() string {
	dir, err := filepath.Abs("../../testdata/script")
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"referee": main})
}

// TestScript runs the commands as a user does; testdata/script holds a file for each subject.
func TestScript(t *testing.T) {
	runs, err := filepath.Abs("../../testdata/runs")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: scriptDir,
		Setup: func(e *testscript.Env) error {
			people, killed := 10, 5 // of approve_many
			if asProcesses {
				people, killed = 50, 20
			}
			e.Setenv("PEOPLE", strconv.Itoa(people))
			e.Setenv("KILLED", strconv.Itoa(killed))
			e.Setenv("ALL", strconv.Itoa(people+killed))
			source, err := filepath.Abs("../../testdata/source")
			if err != nil {
				return err
			}
			e.Setenv("SOURCE", source)
			return os.CopyFS(filepath.Join(e.WorkDir, "runs"), os.DirFS(runs))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "narrow": narrow,
			"printable": printable, "sparse": sparse, "edit": edit, "long": long},
	})
}

// code holds the exit code of referee to a number: code 2 audit --bad.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: code N ARGS…")
	}
	execute := executeInProcess
	if asProcesses || readsStdin(ts) {
		execute = executeProcess
	}
	got, stderr := execute(ts, args[1:])
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, not %s\n%s", got, args[0], stderr)
	}
	if strings.Contains(stderr, "goroutine ") {
		ts.Fatalf("it panics: %s", stderr)
	}
}

// narrow: no line of the last output is wider than 80 columns.
func narrow(ts *testscript.TestScript, _ bool, _ []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			ts.Fatalf("%d columns: %s", n, line)
		}
	}
}

// printable: nothing in the last output moves the cursor, turns the writing direction, or has no width.
func printable(ts *testscript.TestScript, _ bool, _ []string) {
	for _, stream := range []string{"stdout", "stderr"} {
		for _, r := range ts.ReadFile(stream) {
			if r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
				ts.Fatalf("%s holds %U", stream, r)
			}
		}
	}
}

// sparse makes a file of so many bytes that takes no room: sparse FILE BYTES.
func sparse(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), nil, 0o644))
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// long writes three lines: one.json, a line of 6 MiB that is JSON but for its length, and one.json again: long FILE.
func long(ts *testscript.TestScript, _ bool, args []string) {
	one := ts.ReadFile("one.json")
	over := `{"agent_summary": "` + strings.Repeat("x", 6<<20) + "\"}\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(one+over+one), 0o644))
}

// edit replaces a text that stands in a file, with Go's escapes in both: edit FILE OLD NEW.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	src := ts.ReadFile(args[0])
	before, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	after, err := strconv.Unquote(`"` + strings.ReplaceAll(args[2], `"`, `\"`) + `"`)
	ts.Check(err)
	if !strings.Contains(src, before) {
		ts.Fatalf("%s does not hold %q", args[0], before)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(src, before, after, 1)), 0o644))
}
