package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sampleCommit() firstCommit {
	return firstCommit{branch: "main", who: "Ann <ann@example.org>", when: time.Date(2026, 11, 20, 9, 0, 0, 0,
		time.UTC), message: "Sample\n"}
}

// TestGitAgrees holds a work tree to what git says of it: objects whole, nothing changed, the files and the commit as
// given.
func TestGitAgrees(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	dir := filepath.Join(t.TempDir(), "new")
	files := map[string][]byte{"a.txt": []byte("a\n"), "runs/x/run.json": []byte("{}"),
		"runs/x/evidence/é.csv": []byte("1,2\n"), "runs/x.txt": {}, strings.Repeat("n", 60) + "/f": []byte("f")}
	if err := initWorktree(dir, files, sampleCommit()); err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), git, append([]string{"-C", dir, "-c", "core.quotePath=false"},
			args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ask("fsck", "--strict", "--full")
	if got := ask("status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
	// date -u -d 2026-11-20T09:00:00Z +%s
	if got := ask("log", "--format=%an <%ae> %ct %D %s"); got != "Ann <ann@example.org> 1795165200 HEAD -> main "+
		"Sample\n" {
		t.Errorf("git log: %s", got)
	}
	for name, data := range files {
		if got := ask("show", "main:"+name); got != string(data) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := strings.Count(ask("ls-tree", "-r", "main"), "\n"); got != len(files) {
		t.Errorf("%d files in the commit", got)
	}
}

// TestWorktreeRefusals: a folder that holds anything is left as it was, and no file leads out of it.
func TestWorktreeRefusals(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := initWorktree(dir, map[string][]byte{"a": nil}, sampleCommit()); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("it was written into: %v", entries)
	}
	for _, name := range []string{"../out", "/abs", ".git/config", ".git", "a//b", ""} {
		err := initWorktree(filepath.Join(t.TempDir(), "new"), map[string][]byte{name: []byte("x")}, sampleCommit())
		if err == nil || !strings.Contains(err.Error(), "is not a path in a work tree") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
