package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/testdata"
)

// TestRejectWords: a rejection's reason stays with whoever said it. It is printed as it was hashed, the receipt binds
// it by that hash, and the answers beside it stand in the receipt. The words are those that docs/receipts.md says how
// to hash.
func TestRejectWords(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "repo"), time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	if err := initWorktree(dir, testdata.Runs(), firstCommit{branch: "main", who: "a <a@a>", when: now,
		message: "head\n"}); err != nil {
		t.Fatal(err)
	}
	long := strings.TrimSpace(strings.Repeat("no lender takes this rent roll ", 10))
	for branch, c := range map[string]struct {
		args        []string
		words, note string
	}{
		"one": {[]string{"--reject", " the ratio \n is  wrong "}, "/reject the ratio is wrong", ""},
		"two": {[]string{"--reject", long, "--flag", "borrower_name_matches=another  name", "--satisfied",
			"appraisal_within_12_months"},
			"/flag borrower_name_matches another name\n/reject " + long + "\n/satisfied appraisal_within_12_months",
			"another name"},
	} {
		said := told(t, append([]string{"approve", filepath.Join(dir, "runs/elm-plaza"), "--as", "ann", "--at",
			"2026-07-01T10:04:00Z", "--ledger", dir, "--branch", branch}, c.args...)...)
		_, kept, found := strings.Cut(said, "the SHA-256 of these words:\n")
		if got := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(kept, ""); !found || got != c.words+"\n" {
			t.Errorf("printed %q, want %q", kept, c.words)
		}
		b := []byte(told(t, "receipt", "show", "0", "--format", "json", "--ledger", dir, "--branch", branch))
		r, err := ledger.Parse(bytes.TrimSuffix(b, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != ledger.Rejected || r.Approval.Review.BodySHA256 != canonical.SHA256Hex([]byte(c.words)) {
			t.Errorf("%s, words with the hash %s, want that of %q", r.Kind, r.Approval.Review.BodySHA256, c.words)
		}
		if got := noteOf(r, "borrower_name_matches"); got != c.note {
			t.Errorf("the note is %q, want %q", got, c.note)
		}
	}
}

func noteOf(r *ledger.Receipt, id string) string {
	for _, a := range r.Checklist {
		if a.ID == id {
			return a.Note
		}
	}
	return ""
}

// told runs referee, which must succeed, and gives what it prints.
func told(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &stdout,
		&stderr); code != exitClean {
		t.Fatalf("%v: exit %d\n%s", args, code, stderr.String())
	}
	return stdout.String()
}

// TestReceiptByHand runs the jq program of docs/receipts.md: it gives the subject's digest of a receipt.
func TestReceiptByHand(t *testing.T) {
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("no jq here")
	}
	doc, err := os.ReadFile("../../docs/receipts.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile(`(?ms)^    jq -j '(def agent:[^']*)' FILE \| sha256sum$`).FindSubmatch(doc)
	if program == nil {
		t.Fatal("docs/receipts.md has no jq program for a subject")
	}
	dir := t.TempDir()
	told(t, "demo", filepath.Join(dir, "demo"))
	for _, seq := range []string{"0", "1"} {
		b := []byte(told(t, "receipt", "show", seq, "--format", "json", "--ledger", filepath.Join(dir, "demo")))
		r, err := ledger.Parse(bytes.TrimSuffix(b, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		byHand := func(receipt []byte) string {
			cmd := exec.CommandContext(t.Context(), jq, "-j", string(program[1]))
			cmd.Stdin = bytes.NewReader(receipt)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return canonical.SHA256Hex(out)
		}
		warm := *r
		agent := *r.Agent
		agent.Temperature, warm.Agent = "0.7", &agent
		text, err := json.Marshal(warm)
		if err != nil {
			t.Fatal(err)
		}
		if got := byHand(text); got != ledger.SubjectOf(&warm).Digest() || got == r.Approval.SubjectDigest {
			t.Errorf("receipt %s at a temperature of 0.7: %s by hand", seq, got)
		}
		if got := byHand(b); r.Approval == nil || got != r.Approval.SubjectDigest ||
			len(r.Evidence) == 0 {
			t.Errorf("receipt %s: %s by hand, the receipt says %+v", seq, got, r.Approval)
		}
	}
}
