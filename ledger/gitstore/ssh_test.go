package gitstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// overSSH makes a bare repository and gives a URL of it that is reached through git's own ssh, which is a program of
// ours here: it runs what it is asked to run on this machine.
func overSSH(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git binary")
	}
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH_COMMAND", ssh)
	return "ssh://git@example.test" + filepath.ToSlash(initBare(t))
}

// TestOverSSH: what is not HTTP is reached through the git binary, for reading and for writing, and a lost race is one.
func TestOverSSH(t *testing.T) {
	url := overSSH(t)
	open := func() *Store {
		s, err := Open(url, Options{Now: fixedClock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for n := range int64(3) {
		if _, err := ledger.Append(t.Context(), open(), ledger.Retry{}, draftSample(n)); err != nil {
			t.Fatal(err)
		}
	}
	late := open()
	at, err := late.Head(t.Context())
	if err != nil || at.Head.Count != 3 {
		t.Fatalf("%d entries, %v", at.Head.Count, err)
	}
	if _, err := ledger.Append(t.Context(), open(), ledger.Retry{}, draftSample(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Append(t.Context(), late, ledger.Retry{}, draftSample(4)); err != nil {
		t.Errorf("a writer that was overtaken: %v", err)
	}
	repo, err := Clone(t.Context(), url, filepath.Join(t.TempDir(), "clone"), Options{Git: "git"})
	if err != nil {
		t.Fatal(err)
	}
	wantVerified(t, repo.Dir(), 5)
	if _, err := OpenWork(url, Options{Cache: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(url, Options{Now: fixedClock}); err == nil || !strings.Contains(err.Error(), "git not found") {
		t.Errorf("without git: %v", err)
	}
}

// TestSSHStore holds the store over ssh to every store's conformance.
func TestSSHStore(t *testing.T) {
	storetest.TestTransport(t, func(t *testing.T) func() ledger.Store {
		url := overSSH(t)
		return func() ledger.Store {
			s, err := Open(url, Options{Now: fixedClock})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return noTree{s}
		}
	})
}
