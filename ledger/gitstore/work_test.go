package gitstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"
)

// runBareGit runs git in a bare repository.
func runBareGit(t *testing.T, dir string, input []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git",
		append([]string{"--git-dir=" + dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestWork fetches two commits of one history as objects, with filters and without, reads both trees, finds the tip,
// and leaves a file of more than 64 MiB out where the server can.
func TestWork(t *testing.T) {
	t.Parallel()
	for name, filters := range map[string]bool{"filters": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			url := serveBare(t, filters)
			dir := serverDir(t, url)
			runBareGit(t, dir, nil, "config", "uploadpack.allowAnySHA1InWant", "true")
			small := runBareGit(t, dir, []byte("one"), "hash-object", "-w", "--stdin")
			large := runBareGit(t, dir, make([]byte, maxBlob+2), "hash-object", "-w", "--stdin")
			first := runBareGit(t, dir, nil, "commit-tree", "-m", "a", runBareGit(t, dir, []byte("100644 blob "+small+"\ta\n"),
				"mktree"))
			second := runBareGit(t, dir, nil, "commit-tree", "-m", "b", "-p", first,
				runBareGit(t, dir, []byte(
					"100644 blob "+small+"\ta\n100644 blob "+large+"\tbig\n120000 blob "+small+"\tlink\n"), "mktree"))
			runBareGit(t, dir, nil, "update-ref", "refs/heads/main", second)

			w, err := OpenWork(url, Options{Cache: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			if tip, err := w.Tip(t.Context(), "refs/heads/main"); err != nil || tip != second {
				t.Errorf("tip %q, %v", tip, err)
			}
			if tip, err := w.Tip(t.Context(), "refs/heads/none"); err != nil || tip != "" {
				t.Errorf("tip %q, %v", tip, err)
			}
			repo, err := w.Fetch(t.Context(), first, second, first)
			if err != nil {
				t.Fatal(err)
			}
			for _, commit := range []string{first, second} {
				tree, err := repo.TreeFS(t.Context(), commit)
				if err != nil {
					t.Fatal(err)
				}
				if b, err := fs.ReadFile(tree, "a"); err != nil || string(b) != "one" {
					t.Errorf("%s: %q, %v", commit, b, err)
				}
			}
			tree, err := repo.TreeFS(t.Context(), second)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fs.ReadFile(tree, "big"); !errors.Is(err,
				map[bool]error{true: ErrMissing, false: ErrTooLarge}[filters]) {
				t.Errorf("big: %v", err)
			}
			if _, err := fs.ReadFile(tree, "link"); !errors.Is(err, ErrLink) {
				t.Errorf("link: %v", err)
			}
			if again, err := w.Fetch(t.Context(), second); err != nil || again != repo {
				t.Errorf("fetched again: %v", err)
			}
			if repo, err = w.History(t.Context(), second); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range repo.Commits(t.Context(), second) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != 2 {
				t.Errorf("%d commits", n)
			}
			if _, err := w.Fetch(t.Context(), strings.Repeat("1", 40)); err == nil {
				t.Error("a commit that does not exist was fetched")
			}
			if _, err := w.Fetch(t.Context(), "main"); err == nil {
				t.Error("a name was taken for an id")
			}
		})
	}
	if _, err := OpenWork(t.TempDir(), Options{}); err == nil {
		t.Error("a path was taken for a URL")
	}
}
