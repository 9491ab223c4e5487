package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/testdata"
)

// TestReplayPullRequest: the bytes of a pull request are read at its recorded head, although a squash left nothing of it on the branch.
func TestReplayPullRequest(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	dir, now := filepath.Join(t.TempDir(), "repo"), time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	if err := initWorktree(dir, testdata.Runs(), firstCommit{branch: "main", who: "a <a@a>", when: now, message: "head\n"}); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@a"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	head := do("rev-parse", "HEAD")
	do("update-ref", "refs/pull/7/head", head)
	do("rm", "-rq", "runs")
	do("commit", "-q", "--amend", "--allow-empty", "-m", "squashed, and then removed")
	mintPull(t, dir, 7, head, now)
	mintPull(t, dir, 8, strings.Repeat("e", 40), now)
	for _, c := range []struct {
		word       string
		code       int
		says, errs string
	}{
		{"0", exitClean, "runs/oak-street at " + head[:12], ""},
		{"1", exitTool, "", "git fetch origin refs/pull/8/head"},
	} {
		var stdout, stderr bytes.Buffer
		args := []string{"receipt", "replay", c.word, "--source", dir, "--ledger", dir}
		code := run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String(), c.says) || !strings.Contains(stderr.String(), c.errs) {
			t.Errorf("receipt %s: exit %d\n%s%s", c.word, code, stdout.String(), stderr.String())
		}
	}
}

// mintPull puts the receipt of a pull request into the ledger, as the gate would.
func mintPull(t *testing.T, dir string, number int64, head string, now time.Time) {
	t.Helper()
	work := t.TempDir()
	if err := writeTree(work, testdata.Runs()); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(work, "runs", "oak-street"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder, err := referee.OpenRun(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(folder.Run.Sheet)
	if err != nil {
		t.Fatal(err)
	}
	d := gate.Local{Name: "ann", At: now, Answers: []ledger.Answer{{ID: "appraisal_within_12_months", Answer: "satisfied"}, {ID: "borrower_name_matches", Answer: "satisfied"}}}.Decision()
	d.Approver.Permission = "write"
	place := gate.Place{Repository: ledger.Repository{ID: 1, Name: "example/work"}, PullRequest: &ledger.PullRequest{Number: number, HeadSHA: head, BaseSHA: head}}
	receipt, err := gate.Sign(gate.Judge(folder, sheet, "", nil), d, place, gate.Policy{FailOn: referee.FailOnHigh})
	if err != nil {
		t.Fatal(err)
	}
	store, err := gitstore.Open(dir, gitstore.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Mint(t.Context(), store, []ledger.Receipt{receipt}, []*referee.Sheet{sheet}, nil); err != nil {
		t.Fatal(err)
	}
}
