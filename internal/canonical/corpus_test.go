package canonical_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/gowebpki/jcs"
)

const corpus = "../../testdata/canonical"

// vector is a line of index.json; Rule is empty for an accepted text.
type vector struct{ File, Rule, Reason, Shows string }

func vectors(t testing.TB) []vector {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t testing.TB, v vector) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, v.File))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCorpus holds Check to the verdicts and the rules that testdata/canonical/make.py states by hand.
func TestCorpus(t *testing.T) {
	accepted, refused := 0, 0
	for _, v := range vectors(t) {
		b := read(t, v)
		err := canonical.Check(b)
		if v.Rule == "" {
			accepted++
			if err != nil {
				t.Errorf("%s (%s): %v", v.File, v.Shows, err)
			}
			checkJCS(t, v.File, b)
			continue
		}
		refused++
		var e *canonical.Error
		if !errors.As(err, &e) {
			t.Errorf("%s (%s): accepted", v.File, v.Reason)
		} else if e.Rule != v.Rule {
			t.Errorf("%s (%s): rule %q, want %q: %v", v.File, v.Reason, e.Rule, v.Rule, err)
		} else if e.Offset < 0 || e.Offset > len(b) {
			t.Errorf("%s: offset %d of %d bytes", v.File, e.Offset, len(b))
		}
	}
	if accepted < 40 || refused < 60 {
		t.Errorf("%d accepted and %d refused vectors, want at least 40 and 60", accepted, refused)
	}
}

// checkJCS holds that an implementation of RFC 8785 leaves accepted bytes as they are.
func checkJCS(t *testing.T, name string, b []byte) {
	t.Helper()
	got, err := jcs.Transform(b)
	if err != nil {
		t.Errorf("%s: accepted, but RFC 8785 refuses it: %v", name, err)
	} else if !bytes.Equal(got, b) {
		t.Errorf("%s: accepted, but RFC 8785 writes\n%s\nfor\n%s", name, got, b)
	}
}

// runner runs a foreign checker over the corpus and compares its verdicts with the index.
func runner(t *testing.T, all []vector, tool string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s is not installed: its verdicts on the corpus are not compared", tool)
	}
	for _, v := range all {
		args = append(args, v.File)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = corpus
	cmd.Stderr = os.Stderr
	out, err := cmd.Output() // exit 1 says that something was refused, as it must
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%s: %v, want exit code 1", tool, err)
	}
	verdicts := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		verdict, rest, _ := strings.Cut(lines.Text(), " ")
		file, _, _ := strings.Cut(rest, ": ")
		verdicts[file] = verdict == "ok"
	}
	for _, v := range all {
		ok, seen := verdicts[v.File]
		if !seen {
			t.Errorf("%s: %s said nothing", v.File, tool)
		} else if ok != (v.Rule == "") {
			t.Errorf("%s: %s accepts it: %t, want %t", v.File, tool, ok, !ok)
		}
	}
}

func TestCorpusPython(t *testing.T) { runner(t, vectors(t), "python3", "check.py") }

func TestCorpusJQ(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed: its verdicts on the corpus are not compared")
	}
	all := vectors(t)
	if os.Getenv("REFEREE_CI") != "1" { // jq is started several times a file; .ci/run takes all files
		var some []vector
		for i := 0; i < len(all); i += 6 {
			some = append(some, all[i])
		}
		all = some
	}
	runner(t, all, "sh", "check.sh")
}

// TestCorpusIsGenerated holds the files to the script that writes them.
func TestCorpusIsGenerated(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the corpus is not compared with its script")
	}
	dir := t.TempDir()
	script, err := os.ReadFile(filepath.Join(corpus, "make.py"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "make.py"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python,
		filepath.Join(dir, "make.py")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, v := range append(vectors(t), vector{File: "index.json"}) {
		want, err := os.ReadFile(filepath.Join(dir, v.File))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, v), want) {
			t.Errorf("%s is not what make.py writes", v.File)
		}
	}
}

// FuzzCheck holds that whatever Check accepts stands in RFC 8785's form already, so that no two accepted texts mean
// the same value.
func FuzzCheck(f *testing.F) {
	for _, v := range vectors(f) {
		if b := read(f, v); len(b) < 4096 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if canonical.Check(b) == nil {
			checkJCS(t, "input", b)
		}
	})
}
