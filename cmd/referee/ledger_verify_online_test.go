package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/githubstore"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/referee"
)

// online is a repository at a forge whose gate has signed off oak-street, twice: pull requests first and second, of
// which the first is merged.
type online struct {
	*githubtest.Server
	t             *testing.T
	api           *githubapi.Client
	first, second int64
	entries       []ledger.Entry
}

func newOnline(t *testing.T) *online {
	t.Helper()
	w := &online{Server: githubtest.New(t), t: t}
	var err error
	if w.api, err = githubapi.New(githubapi.Options{APIURL: w.APIURL(), Token: w.Token, Repository: w.Name,
		MaxWait: -1}); err != nil {
		t.Fatal(err)
	}
	var receipts []ledger.Receipt
	for i, pull := range []*int64{&w.first, &w.second} {
		var r ledger.Receipt
		*pull, r = w.signOff([]string{"one", "two"}[i], "oak-street")
		receipts = append(receipts, r)
		w.entries = append(w.entries, w.mint("ledger", r)...)
	}
	for i, pull := range []int64{w.first, w.second} {
		w.announce(pull, w.entries[i:i+1])
	}
	merged := receipts[0]
	sha := w.Merge(w.first, "owner", "squash")
	observed := storetest.Observed(merged, ledger.Merged, w.entries[0].Hash)
	observed.ObservedBy.SHA = sha
	w.entries = append(w.entries, w.mint("ledger", storetest.Key(observed))...)
	return w
}

// signOff proposes a sample run on a branch, has rosa approve it, and gives the receipt of that.
func (w *online) signOff(branch, name string) (pull int64, r ledger.Receipt) {
	w.t.Helper()
	head := w.Commit(branch, githubtest.Change{Files: sampleFiles(w.t, name), Author: "agent"})
	base := w.Ref("refs/heads/main")
	pull = w.Open(githubtest.Pull{Head: branch, Author: "agent"})
	w.Review(pull, "rosa", "APPROVED", "/satisfied appraisal_within_12_months\r\n/satisfied borrower_name_matches\r\n")
	reviews, err := w.api.Reviews(w.t.Context(), pull)
	if err != nil {
		w.t.Fatal(err)
	}
	v := reviews[0]
	at := v.SubmittedAt.Format("2006-01-02T15:04:05Z")
	r, err = receipt.Sign(sampleWork(w.t, name), receipt.Decision{Kind: ledger.Approved,
		Approver: ledger.Approver{Login: "rosa", ID: 7, Type: "User", Permission: "maintain"},
		Review: ledger.Review{ID: v.ID, SubmittedAt: at, CommitSHA: head,
			BodySHA256: canonical.SHA256Hex([]byte(v.Body))},
		Answers: []ledger.Answer{{ID: "appraisal_within_12_months", Answer: "satisfied"},
			{ID: "borrower_name_matches", Answer: "satisfied"}}},
		receipt.Place{Repository: ledger.Repository{ID: 4242, Name: w.Name},
			PullRequest: &ledger.PullRequest{Number: pull, HeadSHA: head, BaseSHA: base},
			Workflow: &ledger.Workflow{Ref: "refs/heads/main", SHA: base, RunID: 1, RunAttempt: 1,
				Event: "workflow_run"}},
		receipt.Policy{FailOn: referee.FailOnHigh, Accept: "deal-finding"})
	if err != nil {
		w.t.Fatal(err)
	}
	return pull, r
}

// sampleFiles are the files of a sample run where a repository keeps them.
func sampleFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	sample := os.DirFS("../../testdata/runs/" + name)
	err := fs.WalkDir(sample, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sample, path)
		files["runs/"+name+"/"+path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sampleWork(t *testing.T, name string) receipt.Work {
	t.Helper()
	folder, err := referee.OpenRun(os.DirFS("../../testdata/runs/" + name))
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(folder.Run.Sheet)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.Judge(folder, sheet, "runs/"+name, nil)
}

// mint appends with the repository's own token, as any of its workflows can.
func (w *online) mint(branch string, receipts ...ledger.Receipt) []ledger.Entry {
	w.t.Helper()
	store, err := githubstore.Open(w.api, githubstore.Options{URL: w.CloneURL(), Token: w.Token, Branch: branch})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	result, err := ledger.Append(w.t.Context(), store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
		error) {
		return ledger.Draft{Receipts: receipts}, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return result.Added
}

// announce posts the gate's review.
func (w *online) announce(pull int64, entries []ledger.Entry) int64 {
	w.t.Helper()
	marker := memory.Marker{Pull: pull, Head: w.Head(pull), Digest: strings.Repeat("d", 64), RunID: 1, Attempt: 1}
	id, err := w.api.CreateReview(w.t.Context(), pull, w.Head(pull),
		marker.String()+"\n"+memory.AnnouncedLine(entries)+"\n\nwords\n")
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// pinned commits a configuration that pins a genesis.
func (w *online) pinned(hash string) {
	w.Commit("main", githubtest.Change{Files: map[string]string{".github/referee.yml": "version: 1\nledger: {genesis: " +
		hash + "}\n"}})
}

// referee runs a command with the job's environment and gives its exit code and output.
func (w *online) referee(args ...string) (code int, stdout, stderr string) {
	var out, bad bytes.Buffer
	env := map[string]string{"GITHUB_TOKEN": w.Token, "GITHUB_API_URL": w.APIURL(), "GITHUB_REPOSITORY": w.Name,
		"XDG_STATE_HOME": w.t.TempDir()}
	code = run(w.t.Context(), args, func(name string) string { return env[name] }, nil, &out, &bad)
	return code, out.String(), bad.String()
}

// verdict is what --format json says.
type verdict struct {
	OK       bool
	Level    string
	LookedAt []string `json:"looked_at"`
	Problems []struct{ Code, Level, Message string }
	Forge    *verify.Compared
}

func (w *online) verify(args ...string) (int, verdict) {
	w.t.Helper()
	code, stdout, stderr := w.referee(append([]string{"ledger", "verify", "--format", "json"}, args...)...)
	var v verdict
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		w.t.Fatalf("exit %d: %v\n%s%s", code, err, stdout, stderr)
	}
	return code, v
}

// TestVerifyOnline: what each level sees of what has happened, and what L1 sees of it, which is nothing.
func TestVerifyOnline(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(w *online)
		exit   int
		codes  []string
		looked []string
	}{
		"good":                 {func(*online) {}, 0, nil, []string{"L1", "L3", "L4"}},
		"good, genesis pinned": {func(w *online) { w.pinned(w.entries[0].Hash) }, 0, nil, []string{"L1", "L3", "L4"}},
		"private":              {func(w *online) { w.SetPrivate() }, 0, nil, []string{"L1", "L3", "L4"}},
		"approval edited later": {func(w *online) {
			w.EditReview(w.second, w.ReviewsBy(w.second, "rosa")[0],
				"/satisfied all")
		},
			1, []string{"LDG-603 L4"}, []string{"L1", "L3", "L4"}},
		"approval dismissed later": {func(w *online) {
			w.DismissReview(w.second, w.ReviewsBy(w.second, "rosa")[0],
				"owner")
		},
			1, []string{"LDG-603 L4"}, []string{"L1", "L3", "L4"}},
		"merged without a receipt": {func(w *online) {
			w.Commit("main",
				githubtest.Change{Files: sampleFiles(w.t, "elm-plaza")})
		},
			1, []string{"LDG-604 L4"}, []string{"L1", "L3", "L4"}},
		"forged with the repository's token": {func(w *online) {
			_, r := w.signOff("three", "oak-street")
			r.Approval.Review.ID += 500
			w.mint("ledger", storetest.Key(r))
		}, 1, []string{"LDG-601 L4"}, []string{"L1", "L3", "L4"}},
		"written anew": {func(w *online) {
			w.mint("other", *w.entries[1].Receipt)
			w.mint("other", *w.entries[0].Receipt)
			w.SetRef("refs/heads/ledger", w.Ref("refs/heads/other"))
		}, 1, []string{"LDG-504 L3", "LDG-502 L3"}, []string{"L1", "L3", "L4"}},
		"cut off at the end": {func(w *online) {
			w.mint("other", *w.entries[0].Receipt)
			w.SetRef("refs/heads/ledger", w.Ref("refs/heads/other"))
		}, 1, []string{"LDG-505 L3"}, []string{"L1", "L3", "L4"}},
		"poisoned genesis pin": {func(w *online) { w.pinned(strings.Repeat("a", 64)) }, 1, []string{"LDG-504 L3"},
			[]string{"L1", "L3"}},
		"announcement changed": {func(w *online) {
			id := w.ReviewsBy(w.second, "github-actions[bot]")[0]
			body, _ := w.ReviewBody(w.second, id)
			w.EditReview(w.second, id, strings.Replace(body, "receipts 1:", "receipts 1:x", 1))
		}, 1, []string{"LDG-506 L3"}, []string{"L1", "L3", "L4"}},
		"no right to the reviews": {func(w *online) {
			w.Inject(githubtest.NoAccess.On("GET",
				"pulls/*/reviews").Always())
		}, 3, []string{"LDG-606 L3"}, []string{"L1"}},
		"no right to the list": {func(w *online) { w.Inject(githubtest.NoAccess.On("GET", "pulls").Always()) }, 3,
			[]string{"LDG-606 L3"}, []string{"L1"}},
		"requests spent": {func(w *online) {
			w.Inject(w.Spent(403, 3000).On("GET",
				"pulls/*/reviews").Always())
		}, 3, []string{"LDG-606 L3"}, []string{"L1"}},
		"cut off in the middle of it": {func(w *online) {
			f := githubtest.NoAccess.On("GET", "pulls/*/reviews").Always()
			f.Skip = 1
			w.Inject(f)
		}, 3, []string{"LDG-606 L3"}, []string{"L1", "L3"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOnline(t)
			c.do(w)
			code, v := w.verify("--online", "--max-wait", "0s")
			var got []string
			for _, p := range v.Problems {
				got = append(got, p.Code+" "+p.Level)
			}
			if code != c.exit || !slices.Equal(got, c.codes) || !slices.Equal(v.LookedAt, c.looked) ||
				v.OK != (code == 0) || (v.Level == "L4") != v.OK {
				t.Errorf("exit %d, level %q, looked at %v, %v", code, v.Level, v.LookedAt, v.Problems)
			}
			w.ClearFaults()
			if code, v := w.verify(w.Dir()); code != 0 || v.Level != "L1" || v.Forge != nil {
				t.Errorf("offline: exit %d, %v", code, v)
			}
		})
	}
}

// TestVerifyOnlineWords: what is printed for people, of the forge's own ledger and of a copy; and how often the forge
// is asked.
func TestVerifyOnlineWords(t *testing.T) {
	w := newOnline(t)
	for _, args := range [][]string{{}, {w.Dir()}, {"--no-git"}, {"--remember"}, {"--against", w.Dir(), "--token-env",
		"GITHUB_TOKEN"}} {
		before := w.Count()
		code, stdout, stderr := w.referee(append([]string{"ledger", "verify", "--online"}, args...)...)
		for _, want := range []string{"it agrees with", w.URL + "/acme/underwriting", "main " + w.Ref("refs/heads/main"),
			"not pinned: ledger.genesis", "2 receipts in the reviews of 2 pull", "requests     6"} {
			if !strings.Contains(strings.Join(strings.Fields(stdout), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%v: %q is not in\n%s", args, want, stdout)
			}
		}
		if code != 0 || stderr != "" || w.Count() != before+6 || strings.Contains(stdout, "workflow token") ||
			strings.Contains(stdout, "written anew") || !strings.Contains(stdout, "a forge that lies") {
			t.Errorf("%v: exit %d, %d requests\n%s%s", args, code, w.Count()-before, stdout, stderr)
		}
	}
	code, stdout, _ := w.referee("ledger", "verify", "--online", "--app", "another")
	if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "L3 was not looked at: the "+
		"configuration on main pins no genesis, and no review of another[bot] announces a receipt.") ||
		!strings.Contains(stdout, "a poisoned first pin") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}

// TestVerifyOnlineRefusals: what was not asked or cannot be asked is never a pass.
func TestVerifyOnlineRefusals(t *testing.T) {
	w := newOnline(t)
	for name, c := range map[string]struct {
		args []string
		exit int
		says string
	}{
		"no such repository": {[]string{"--online", "--repo", "acme/none"}, 3, "not_found"},
		"no name":            {[]string{"--online", "--repo", "work"}, 2, "is not owner/name"},
		"no URL":             {[]string{"--online", "--api", "ftp://x"}, 2, "is not like https://api.github.com"},
		"an URL of no API": {[]string{"--online", "--api", "https://example.org/x"}, 2,
			"is not like https://api.github.com"},
		"nobody there": {[]string{"--online", "--api", "http://127.0.0.1:1/api/v3", "--max-wait", "0s"}, 3,
			"cannot reach the forge"},
		"no token":       {[]string{"--online", "--token-env", "NONE"}, 2, "the variable is not set"},
		"no branch":      {[]string{"--online", "--base", "none"}, 2, "has no branch none"},
		"no such ledger": {[]string{"--online", "--branch", "none"}, 2, "no ledger found"},
		"since":          {[]string{"--online", "--since"}, 2, "exclude each other"},
		"not online":     {[]string{"--repo", "a/b"}, 2, "--repo needs --online"},
	} {
		code, stdout, stderr := w.referee(append([]string{"ledger", "verify"}, c.args...)...)
		if code != c.exit || stdout != "" || !strings.Contains(stderr, c.says) || strings.Contains(stderr, w.Token) {
			t.Errorf("%s: exit %d, want %d\n%s%s", name, code, c.exit, stdout, stderr)
		}
	}
	w.Inject(githubtest.BadToken.On("GET", "").Always())
	if code, _, stderr := w.referee("ledger", "verify", "--online"); code != 3 ||
		!strings.Contains(stderr, "unauthorized") {
		t.Errorf("a bad token: exit %d, %s", code, stderr)
	}
	w.ClearFaults()
	w.Commit("main", githubtest.Change{Files: map[string]string{".github/referee.yml": "ledger: {genesis: 12}\n"}})
	if code, _, stderr := w.referee("ledger", "verify", "--online"); code != 2 ||
		!strings.Contains(stderr, "on main: .github/referee.yml:1:19: genesis must be the hash") {
		t.Errorf("a broken configuration: exit %d, %s", code, stderr)
	}
}

// A ledger of another repository is not held to this one's reviews.
func TestVerifyOnlineOther(t *testing.T) {
	w := newOnline(t)
	other := storetest.Sample(1)
	other.Repository = ledger.Repository{ID: 99, Name: "acme/other"}
	w.mint("foreign", storetest.Key(other))
	if code, v := w.verify("--online", "--branch", "foreign"); code != 1 || len(v.Problems) != 1 ||
		v.Problems[0].Code != "LDG-206" {
		t.Errorf("exit %d, %v", code, v)
	}
}
