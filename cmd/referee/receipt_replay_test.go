package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/testdata"
)

// TestReplayPullRequest: the bytes of a pull request are read at its recorded head, although a squash left nothing of
// it on the branch.
func TestReplayPullRequest(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	dir, now := filepath.Join(t.TempDir(), "repo"), time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	if err := initWorktree(dir, testdata.Runs(), firstCommit{branch: "main", who: "a <a@a>", when: now,
		message: "head\n"}); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git,
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@a"}, args...)...)
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
	d := receipt.Local{Name: "ann", At: now,
		Answers: []ledger.Answer{{ID: "appraisal_within_12_months", Answer: "satisfied"},
			{ID: "borrower_name_matches", Answer: "satisfied"}}}.Decision()
	d.Approver.Permission = "write"
	place := receipt.Place{Repository: ledger.Repository{ID: 1, Name: "acme/underwriting"},
		PullRequest: &ledger.PullRequest{Number: number, HeadSHA: head, BaseSHA: head}}
	w := receipt.Judge(folder, sheet, "", nil)
	// base and head are one commit here
	w.Evidence = receipt.EvidenceOf(w.Report, func(string) (string, string) { return "base", "" })
	signed, err := receipt.Sign(w, d, place, receipt.Policy{FailOn: referee.FailOnHigh})
	if err != nil {
		t.Fatal(err)
	}
	store, err := gitstore.Open(dir, gitstore.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.Mint(t.Context(), store, []ledger.Receipt{signed}, []*referee.Sheet{sheet}, nil); err != nil {
		t.Fatal(err)
	}
}

// replayGround is a repository with a pull request: base pins the agent's profile and holds one piece of evidence, head
// brings the run. base2 pins another profile.
type replayGround struct {
	dir, base, base2, head string
	receipt                ledger.Receipt // right in all
}

func newReplayGround(t *testing.T) replayGround {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	g := replayGround{dir: filepath.Join(t.TempDir(), "repo")}
	runs := testdata.Runs()
	const t12 = "runs/oak-street/evidence/t12.csv"
	settings := "version: 1\ngovernance:\n  agents:\n    - {name: underwriter, model: pinned-70b, capability_tier: " +
		"frontier, params_b: 70, context_tokens: 128000, " +
		"runtime: cloud, tools: [calculator, document_reader]}\n"
	base := map[string][]byte{config.Path: []byte(settings), t12: runs[t12]}
	if err := initWorktree(g.dir, base, firstCommit{branch: "main", who: "a <a@a>", when: replayTime,
		message: "base\n"}); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git,
			append([]string{"-C", g.dir, "-c", "user.name=a", "-c", "user.email=a@a"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	g.base = do("rev-parse", "HEAD")
	if err := writeTree(g.dir, runs); err != nil {
		t.Fatal(err)
	}
	do("checkout", "-q", "-b", "work")
	do("add", ".")
	do("commit", "-qm", "the run")
	g.head = do("rev-parse", "HEAD")
	do("checkout", "-q", "main")
	if err := writeTree(g.dir,
		map[string][]byte{config.Path: []byte(strings.Replace(settings, "pinned-70b", "other-70b", 1))}); err != nil {
		t.Fatal(err)
	}
	do("commit", "-qam", "another profile")
	g.base2 = do("rev-parse", "HEAD")
	do("checkout", "-q", "work")
	g.receipt = g.signed(t, runs)
	return g
}

var replayTime = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// signed is the receipt that the gate makes of the pull request.
func (g replayGround) signed(t *testing.T, runs map[string][]byte) ledger.Receipt {
	t.Helper()
	tree := fstest.MapFS{}
	for name, b := range runs {
		tree[name] = &fstest.MapFile{Data: b, Mode: 0o644}
	}
	cfg, err := config.Parse([]byte(readFileOf(t, g.dir, g.base, config.Path)), config.Path)
	if err != nil {
		t.Fatal(err)
	}
	a := audit.Examine(tree, audit.PlannedRun{Dir: "runs/oak-street", Rule: cfg.Runs[0]},
		referee.NewLibrary(flightsheets.FS(), nil, ""), cfg, nil)
	if a.Work == nil {
		t.Fatal(a.Refused)
	}
	w := *a.Work
	w.Evidence = receipt.EvidenceOf(w.Report, func(id string) (string, string) {
		if id == "t12" {
			return "base", ""
		}
		return "pull_request", "agent-owner"
	})
	d := receipt.Local{Name: "ann", At: replayTime,
		Answers: []ledger.Answer{{ID: "appraisal_within_12_months", Answer: "satisfied"},
			{ID: "borrower_name_matches", Answer: "satisfied"}}}.Decision()
	d.Approver.Permission = "write"
	place := receipt.Place{Repository: ledger.Repository{ID: 1, Name: "acme/underwriting"},
		PullRequest: &ledger.PullRequest{Number: 7, HeadSHA: g.head, BaseSHA: g.base}}
	r, err := receipt.Sign(w, d, place, receipt.Policy{FailOn: referee.FailNever})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readFileOf(t *testing.T, dir, commit, name string) string {
	t.Helper()
	repo, err := gitstore.OpenRepo(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.TreeFS(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReplayExitCodes: whatever a receipt says of itself, the exit code is that of what the repository says: 0 for the
// same digest or the same findings and verdict under another engine, 1 for any difference, 3 for another semantics
// number or bytes that are not at hand. All receipts verify.
func TestReplayExitCodes(t *testing.T) {
	g := newReplayGround(t)
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(g.receipt.FlightSheet.Slug)
	if err != nil {
		t.Fatal(err)
	}
	other := func(version string, edit func(*ledger.Receipt)) func(*ledger.Receipt) {
		return func(r *ledger.Receipt) {
			r.Engine.Version, r.ReportDigest = version, strings.Repeat("0", 64)
			edit(r)
		}
	}
	message := func(r *ledger.Receipt) { r.Findings[0].Message = "all is well" }
	for name, c := range map[string]struct {
		edit func(*ledger.Receipt)
		code int
		says string // a part of what is printed
	}{
		"as it was made": {func(*ledger.Receipt) {}, exitClean, "derived again: the same\n"},
		"who added it": {func(*ledger.Receipt) {}, exitClean,
			"at the receipt's word: that agent-owner added"},
		"another engine":        {other("9.0.0", func(*ledger.Receipt) {}), exitClean, "another engine"},
		"another engine, which": {other("9.0.0", func(*ledger.Receipt) {}), exitClean, "9.0.0 (rules "},
		"another digest, same engine": {other(referee.EngineVersion, func(*ledger.Receipt) {}), exitRules,
			"report_digest differs"},
		"a newer engine, another finding":  {other("9.0.0", message), exitRules, "rule "},
		"an older engine, another finding": {other("0.0.1", message), exitRules, "now reports"},
		"an engine of no number":           {other("x", message), exitRules, "DIFFERS"},
		"another version, the digest kept": {func(r *ledger.Receipt) { r.Engine.Version = "9.0.0"; message(r) },
			exitRules, "now reports"},
		"another registry, the digest kept": {func(r *ledger.Receipt) {
			r.Engine.RegistrySHA256 = strings.Repeat("0",
				64)
		}, exitRules, "engine.registry_sha256"},
		"another semantics number": {func(r *ledger.Receipt) { r.Semantics, r.Engine.Version = 1, "0.9.0" },
			exitTool, "install release 0.9.0"},
		"another profile": {other("9.0.0", func(r *ledger.Receipt) { r.Agent.Model = "mine-400b" }),
			exitRules, "agent differs from what the work yields"},
		"a profile that nobody pinned": {func(r *ledger.Receipt) {
			r.Agent.Pinned, r.Agent.Model = false,
				"example-70b-instruct"
		}, exitRules, "agent differs from what"},
		"a base with another profile": {func(r *ledger.Receipt) { r.PullRequest.BaseSHA = g.base2 }, exitRules,
			"agent differs from what the work yields"},
		"a base that is not at hand": {func(r *ledger.Receipt) {
			r.PullRequest.BaseSHA = strings.Repeat("e",
				40)
		}, exitClean, "the profile and the limits (params): the commit"},
		"the base not at hand, a lie": {func(r *ledger.Receipt) {
			r.PullRequest.BaseSHA = strings.Repeat("e",
				40)
			message(r)
		}, exitRules, "now reports"},
		"the head not at hand": {func(r *ledger.Receipt) {
			r.PullRequest.HeadSHA = strings.Repeat("e",
				40)
		}, exitTool, "git fetch origin"},
		"evidence said to be base's": {func(r *ledger.Receipt) {
			r.Evidence[1].Provenance,
				r.Evidence[1].AddedBy = "base", ""
		}, exitRules, "evidence differs from what"},
		"base's evidence said to be brought": {func(r *ledger.Receipt) {
			r.Evidence[0].Provenance,
				r.Evidence[0].AddedBy = "pull_request", "bea"
		}, exitRules, "evidence differs"},
		"two persons added it": {func(r *ledger.Receipt) { r.Evidence[2].AddedBy = "bea" }, exitRules,
			"evidence differs from what the work yields"},
		"all evidence local": {func(r *ledger.Receipt) { allLocal(r) }, exitRules,
			"evidence differs from what the work yields"},
		"no pull request, a pinned profile": {func(r *ledger.Receipt) { r.PullRequest = nil; allLocal(r) }, exitRules,
			"agent differs from what the work yields"},
		"a limit that nobody set": {func(r *ledger.Receipt) {
			r.Params = []ledger.Param{{Name: "dscr_min",
				Value: "1"}}
		}, exitRules, "params differs from what the work yields"},
	} {
		r := clonedReceipt(t, g.receipt)
		c.edit(&r)
		kept := filepath.Join(t.TempDir(), "ledger")
		if err := initWorktree(kept, map[string][]byte{"a": nil}, firstCommit{branch: "main", who: "a <a@a>",
			when: replayTime, message: "a\n"}); err != nil {
			t.Fatal(err)
		}
		store, err := gitstore.Open(kept, gitstore.Options{Now: func() time.Time { return replayTime }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receipt.Mint(t.Context(), store, []ledger.Receipt{storetest.Key(r)}, []*referee.Sheet{sheet},
			nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var stdout, stderr bytes.Buffer
		args := []string{"receipt", "replay", "0", "--source", g.dir, "--ledger", kept}
		code := run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &stdout, &stderr)
		said := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
		if code != c.code || !strings.Contains(said+"\n", strings.TrimSuffix(c.says, "\n")) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", name, code, c.code, c.says, stdout.String(), stderr.String())
		}
	}
}

// allLocal makes the evidence that of a sign-off outside a forge.
func allLocal(r *ledger.Receipt) {
	for i := range r.Evidence {
		r.Evidence[i].Provenance, r.Evidence[i].AddedBy = "local", ""
	}
}

// clonedReceipt is a copy that shares nothing.
func clonedReceipt(t *testing.T, r ledger.Receipt) ledger.Receipt {
	t.Helper()
	b, err := ledger.Mint(ledger.NewHead(), r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return *out
}
