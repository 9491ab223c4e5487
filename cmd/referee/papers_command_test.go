package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommandOnPaper takes the command out of a rendered PDF as a reader does, and runs it in a clone that has only
// origin's copy of the ledger, in a work tree, and in a folder that holds the receipt's file alone.
func TestCommandOnPaper(t *testing.T) {
	for _, tool := range []string{"git", "pdftotext", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	// TestMain makes the test binary the command under this name
	if err := os.Symlink(self, filepath.Join(bin, "referee")); err != nil {
		t.Fatal(err)
	}
	in := func(where, line string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = filepath.Join(dir, where)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
			"GIT_CEILING_DIRECTORIES="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(where, line string) string {
		t.Helper()
		out, err := in(where, line)
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return out
	}
	must(".", "referee demo shop && git clone -q shop clone && git -C shop worktree add -q ../tree && mkdir alone")
	if out := must("clone", "git branch --list ledger"); out != "" {
		t.Fatalf("the clone has a branch of its own: %s", out)
	}
	must(".", "cp shop/papers/000000000-*.json alone/receipt.json")
	for paper, from := range map[string]string{"sound.pdf": "receipt pdf 0 -o ../sound.pdf",
		"file.pdf": "receipt pdf ../alone/receipt.json -o ../file.pdf"} {
		must("shop", "referee "+from)
		text := must(".", "pdftotext -layout "+paper+" -")
		commands := regexp.MustCompile(
			`(?m)^\s*((?:referee (?:receipt|ledger)|sha256sum|git (?:show|cat-file|clone)) .*\S)\s*$`,
		).FindAllStringSubmatch(text, -1)
		if len(commands) != 1 {
			t.Fatalf("%s: the commands %q are printed, one is expected:\n%s", paper, commands, text)
		}
		for where, want := range map[string]string{"clone": "in the ledger,", "tree": "in the ledger,",
			"shop": "in the ledger,", "alone": "NOT CHECKED AGAINST A LEDGER"} {
			out, err := in(where, commands[0][1])
			if err != nil || !strings.HasPrefix(out, "ok ") || !strings.Contains(strings.Join(strings.Fields(out), " "),
				want) {
				t.Errorf("%s: %s in %s: %v\n%s", paper, commands[0][1], where, err, out)
			}
		}
	}
	must(".", "referee receipt pdf alone/receipt.json -o band.pdf")
	if text := must(".", "pdftotext -layout band.pdf -"); !strings.Contains(text,
		"Not checked against a ledger: run referee receipt verify") {
		t.Errorf("the band is missing:\n%s", text)
	}
	if out, err := in("alone", "referee receipt verify "+strings.Repeat("ab", 32)); err == nil ||
		!strings.Contains(out, "no file of this folder has that hash") {
		t.Errorf("a hash that no file has: %v\n%s", err, out)
	}
}
