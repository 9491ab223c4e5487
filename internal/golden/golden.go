// Package golden keeps what a test makes beside what it made last, in a file that a person reviews. One flag, -update,
// writes all of them anew:
//
//	go test ./report -run TestGolden -update     # one package
//	make update                                  # every package that has such files
//
// A file that is written anew is read by a person before it is committed: it is the expectation from then on.
package golden

import (
	"bytes"
	"flag"
	"os"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew; read them before you commit them")

// Updating reports whether this run of the tests writes golden files.
func Updating() bool { return *update }

// Compare fails the test where the file does not hold got, and names the command that writes it. With -update it writes
// the file.
func Compare(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run this package's tests with -run %s -update, and read the difference.\n%s", file,
			t.Name(), firstDifference(want, got))
	}
}

// firstDifference is the first line that differs, with its number; a whole file would hide it.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		a, b := lineAt(w, i), lineAt(g, i)
		if !bytes.Equal(a, b) {
			return "line " + strconv.Itoa(i+1) + ":\n  kept: " + string(a) + "\n  made: " + string(b)
		}
	}
	return ""
}

func lineAt(lines [][]byte, i int) []byte {
	if i >= len(lines) {
		return []byte("(no such line)")
	}
	return lines[i]
}
