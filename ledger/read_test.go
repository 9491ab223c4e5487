package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// recorded is a ledger with the commits of its branch.
type recorded struct {
	*ledger.MemStore
	commits []ledger.Commit
	err     error
}

func (r recorded) Commits(context.Context, ledger.Snapshot, int) ([]ledger.Commit, error) {
	return r.commits, r.err
}

// commitsOf are the commits that appends would have made, the newest first.
func commitsOf(t *testing.T, s ledger.Store, at ledger.Snapshot) []ledger.Commit {
	t.Helper()
	var out []ledger.Commit
	for e, err := range ledger.Backwards(t.Context(), s, at) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ledger.Commit{ID: e.Hash[:40], Parents: []string{e.Receipt.ParentHash[:40]},
			Message: ledger.Message([]ledger.Entry{*e}, e.Receipt.ParentHash)})
	}
	out[len(out)-1].Parents = nil
	return out
}

// TestVerifyForReading: what is wrong at the end of a ledger, with its genesis or with its newest commits is seen
// before anything is read.
func TestVerifyForReading(t *testing.T) {
	s, at := ledgerOfEntries(t, 5)
	genesis := at.Info.Genesis
	for name, c := range map[string]struct {
		genesis string
		edit    func(*ledger.Snapshot, []ledger.Commit) []ledger.Commit
		codes   []ledger.Code
	}{
		"right":           {genesis, nil, codes()},
		"not pinned":      {"", nil, codes()},
		"another genesis": {hashA, nil, codes(ledger.CodePinGenesis)},
		"no LEDGER.json": {genesis, func(at *ledger.Snapshot,
			c []ledger.Commit) []ledger.Commit {
			at.Info = nil
			return c
		}, codes(ledger.CodePinGenesis)},
		"no ledger": {genesis, func(at *ledger.Snapshot,
			c []ledger.Commit) []ledger.Commit {
			*at = ledger.Snapshot{}
			return c
		}, codes(ledger.CodePinGenesis)},
		"a foreign commit": {"", func(_ *ledger.Snapshot,
			c []ledger.Commit) []ledger.Commit {
			c[1].Message = "hello"
			return c
		}, codes(ledger.CodeMessage)},
		"a merge": {"", func(_ *ledger.Snapshot, c []ledger.Commit) []ledger.Commit {
			c[1].Parents = append(c[1].Parents, "x")
			return c
		}, codes(ledger.CodeMerge)},
		"a commit left out": {"", func(_ *ledger.Snapshot, c []ledger.Commit) []ledger.Commit {
			return append(c[:1],
				c[2:]...)
		}, codes(ledger.CodeCommitChain)},
		"the newest is not": {"", func(_ *ledger.Snapshot, c []ledger.Commit) []ledger.Commit { return c[1:] },
			codes(ledger.CodeCommitChain)},
		"HEAD.json lies": {"", func(at *ledger.Snapshot, c []ledger.Commit) []ledger.Commit {
			at.Head.Root = hashA
			return c
		}, codes(ledger.CodeHeadLies)},
	} {
		state, commits := at, commitsOf(t, s, at)
		if c.edit != nil {
			commits = c.edit(&state, commits)
		}
		problems, err := ledger.VerifyForReading(t.Context(), recorded{s, commits, nil}, state, c.genesis)
		var found []string
		for _, p := range problems {
			found = append(found, string(p.Code))
		}
		var want []string
		for _, code := range c.codes {
			want = append(want, string(code))
		}
		if err != nil || strings.Join(found, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, %v; want %v", name, problems, err, want)
		}
	}
	down := errors.New("502")
	if _, err := ledger.VerifyForReading(t.Context(), recorded{s, nil, down}, at, ""); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}

// aliased is a ledger with files below pr/ that somebody pushed there.
type aliased struct {
	*ledger.MemStore
	dir   string
	files []ledger.File
}

func (a aliased) Read(ctx context.Context, at ledger.Snapshot, path string) ([]ledger.File, error) {
	if path == a.dir {
		return a.files, nil
	}
	return a.MemStore.Read(ctx, at, path)
}

// TestEntriesOf: a file of a pull request's directory that is not the entry at its place in the chain is a problem, and
// is not given.
func TestEntriesOf(t *testing.T) {
	s, at := ledgerOfEntries(t, 3)
	pull := storetest.Sample(1).PullRequest.Number
	entries, problems, err := ledger.EntriesOf(t.Context(), s, at, pull, 0)
	if err != nil || len(problems) > 0 || len(entries) != 1 || entries[0].Receipt.Seq != 1 {
		t.Fatalf("%v, %v, %v", entries, problems, err)
	}
	right := entries[0]
	path := ledger.Place{Class: ledger.PullAlias, Seq: 1, Pull: pull, Hash: right.Hash}.String()
	forged := *right.Receipt
	forged.MintedAt = "2026-11-03T00:00:00Z"
	forged.Approval = &ledger.Approval{Decision: forged.Approval.Decision, Approver: forged.Approval.Approver,
		Review: forged.Approval.Review, SubjectDigest: forged.Approval.SubjectDigest}
	forged.Approval.Review.SubmittedAt = forged.MintedAt
	loose, err := ledger.Format(forged)
	if err != nil {
		t.Fatal(err)
	}
	named := func(seq int64, b []byte) string {
		return ledger.Place{Class: ledger.PullAlias, Seq: seq, Pull: pull, Hash: canonical.SHA256Hex(b)}.String()
	}
	for name, c := range map[string]struct {
		file ledger.File
		code ledger.Code
	}{
		"another name": {ledger.File{Path: named(2, right.Bytes), Data: right.Bytes},
			ledger.CodeMisplaced},
		"no receipt": {ledger.File{Path: path, Data: []byte("{}")}, ledger.CodeInvalid},
		"loose":      {ledger.File{Path: named(1, loose), Data: loose}, ledger.CodeAliasOrphan},
		"of another pull request": {ledger.File{Path: ledger.Place{Class: ledger.PullAlias, Seq: 1, Pull: pull + 7,
			Hash: right.Hash}.String(), Data: right.Bytes}, ledger.CodeMisplaced},
		"later than the state's head": {ledger.File{Path: path, Data: right.Bytes}, ledger.CodeAliasOrphan},
	} {
		state := at
		if name == "later than the state's head" {
			state.Head.Count = 1
		}
		entries, problems, err := ledger.EntriesOf(t.Context(), aliased{s, ledger.PullDir(pull), []ledger.File{c.file}},
			state, pull, 0)
		if err != nil || len(entries) > 0 || len(problems) != 1 || problems[0].Code != c.code {
			t.Errorf("%s: %v, %v, %v; want %s", name, entries, problems, err, c.code)
		}
	}
	if _, problems, _ := ledger.EntriesOf(t.Context(), s, at, pull,
		right.Receipt.Repository.ID+1); len(problems) != 1 || problems[0].Code != ledger.CodeRepository {
		t.Errorf("another repository: %v", problems)
	}
}
