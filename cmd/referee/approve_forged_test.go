package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/testdata"
)

// TestApproveRefusesForgedLedger: nothing is signed over a receipt that contradicts itself, and nothing is written.
func TestApproveRefusesForgedLedger(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	work := t.TempDir()
	if err := writeTree(work, testdata.Runs()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"score", "honey", "severity", "action", "ready", "flagged", "cut", "tiers",
		"accepted"} {
		bundle, err := filepath.Abs(filepath.Join("../../testdata/ledgers", "tampered-"+name+".bundle"))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "ledger.git")
		head := func() string {
			out, err := exec.CommandContext(t.Context(), git, "-C", dir, "rev-parse", "refs/heads/ledger").Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		if out, err := exec.CommandContext(t.Context(), git, "clone", "-q", "--mirror", bundle,
			dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		before := head()
		var stdout, stderr bytes.Buffer
		args := []string{"approve", filepath.Join(work, "runs", "oak-street"), "--ledger", dir, "--as", "ann"}
		code := run(t.Context(), args, func(string) string { return os.DevNull }, strings.NewReader(""), &stdout,
			&stderr)
		if code != exitRules || !strings.Contains(stderr.String(), "receipt refused") || head() != before {
			t.Errorf("%s: exit %d\n%s%s", name, code, stdout.String(), stderr.String())
		}
	}
}
