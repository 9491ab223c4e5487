package ledger_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/ledger"
)

// commitPerEntry is the history of the good ledger, from the newest to the first: one commit an entry.
func commitPerEntry(f *forge) []ledger.Commit {
	var all []ledger.Commit
	parent := ledger.NoParent
	for seq := range int64(6) {
		_, b := f.entryAt(seq)
		r := must(ledger.Parse(b))
		e := ledger.Entry{Hash: ledger.SheetHash(b), Bytes: b, Receipt: r}
		c := ledger.Commit{ID: fmt.Sprintf("%040x", seq+1), Message: ledger.Message([]ledger.Entry{e}, parent),
			Time: time.Date(2026, 11, 4, 0, int(seq), 0, 0, time.UTC)}
		if seq > 0 {
			c.Parents = []string{all[0].ID}
		}
		all, parent = append([]ledger.Commit{c}, all...), e.Hash
	}
	return all
}

func historyCodes(t *testing.T, f *forge, all []ledger.Commit) []ledger.Code {
	t.Helper()
	problems, err := ledger.VerifyHistory(yieldThenFail(all, nil), verifyForged(t, f), func(seq int64) string {
		_, b := f.entryAt(seq)
		return must(ledger.Parse(b)).MintedAt
	})
	if err != nil {
		t.Fatal(err)
	}
	found := codes()
	for _, p := range problems {
		found = append(found, p.Code)
	}
	return found
}

func yieldThenFail[T any](all []T, last error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
		if last != nil {
			var zero T
			yield(zero, last)
		}
	}
}

func TestVerifyHistory(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(all []ledger.Commit) []ledger.Commit
		codes []ledger.Code
	}{
		"good": {func(all []ledger.Commit) []ledger.Commit { return all }, codes()},
		"begun empty": {func(all []ledger.Commit) []ledger.Commit {
			all[5].Parents = []string{"x"}
			return append(all, ledger.Commit{ID: "x", Message: ledger.Message(nil, ledger.NoParent)})
		}, codes()},
		"begun twice": {func(all []ledger.Commit) []ledger.Commit {
			all[2].Message = ledger.Message(nil,
				"")
			return all
		}, codes(ledger.CodeMessage, ledger.CodeCommitChain)},
		"merge": {func(all []ledger.Commit) []ledger.Commit {
			all[2].Parents = append(all[2].Parents,
				"y")
			return all
		}, codes(ledger.CodeMerge)},
		"second root": {func(all []ledger.Commit) []ledger.Commit { all[2].Parents = nil; return all },
			codes(ledger.CodeSecondRoot)},
		"no sign-off": {func(all []ledger.Commit) []ledger.Commit { all[2].Message = "fix"; return all },
			codes(ledger.CodeMessage)},
		"another receipt": {func(all []ledger.Commit) []ledger.Commit {
			all[2].Message = strings.Replace(all[2].Message, "sha256:", "sha256:"+hashA[:1], 1)[:len(all[2].Message)]
			return all
		}, codes(ledger.CodeMessage)},
		"a commit dropped": {func(all []ledger.Commit) []ledger.Commit { return slices.Delete(all, 2, 3) },
			codes(ledger.CodeSecondRoot, ledger.CodeCommitChain)},
		"the first dropped": {func(all []ledger.Commit) []ledger.Commit { return all[:5] },
			codes(ledger.CodeCommitChain)},
		"back in time": {func(all []ledger.Commit) []ledger.Commit {
			all[2].Time = all[2].Time.AddDate(0, 0,
				2)
			return all
		}, codes(ledger.CodeCommitTime)},
		"before minting": {func(all []ledger.Commit) []ledger.Commit {
			all[5].Time = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
			return all
		}, codes(ledger.CodeCommitTime)},
		"an edit": {func(all []ledger.Commit) []ledger.Commit { all[1].Edits = []string{"README.md"}; return all },
			codes(ledger.CodeRewritten)},
		"no end of it": {func(all []ledger.Commit) []ledger.Commit {
			return slices.Repeat([]ledger.Commit{{ID: "x", Parents: []string{"x"}, Message: "m"}}, 300)
		}, append(slices.Repeat(codes(ledger.CodeMessage), ledger.MaxProblems), ledger.CodeTooMany)},
	} {
		f := sixEntryLedger(t)
		if got := historyCodes(t, f, c.edit(commitPerEntry(f))); !slices.Equal(got, c.codes) {
			t.Errorf("%s: %v, want %v", name, got, c.codes)
		}
	}
	broken := errors.New("broken")
	if _, err := ledger.VerifyHistory(yieldThenFail[ledger.Commit](nil, broken),
		&ledger.Verification{Head: ledger.NewHead()},
		nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestParseMessage(t *testing.T) {
	good := "receipt 000012345 pr#123 sha256:" + hashA + "\n\nParent-Receipt: " + hashB + "\n"
	want := ledger.Stated{Seq: 12345, Pull: 123, Hash: hashA, Parent: hashB}
	for _, message := range []string{good, strings.TrimSuffix(good, "\n")} {
		if s, err := ledger.ParseMessage(message); err != nil || s != want {
			t.Errorf("%q: %+v, %v", message, s, err)
		}
	}
	want.Pull = 0
	if s, err := ledger.ParseMessage(strings.Replace(good, "pr#123 ", "", 1)); err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "ledger", " " + good, good + "\n", strings.Replace(good, "123 ", "0123 ", 1),
		strings.Replace(good, "receipt 0", "receipt ", 1),
		strings.ToUpper(good), strings.Replace(good, "\n\n", "\n", 1)} {
		if s, err := ledger.ParseMessage(bad); err == nil || s != (ledger.Stated{}) {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add("receipt 000012345 pr#123 sha256:" + hashA + "\n\nParent-Receipt: " + hashB + "\n")
	f.Add("receipt 000012345 sha256:" + hashA + "\n\nParent-Receipt: " + hashB)
	f.Fuzz(func(t *testing.T, message string) {
		s, err := ledger.ParseMessage(message)
		if err != nil {
			return
		}
		r := &ledger.Receipt{Seq: s.Seq}
		if s.Pull > 0 {
			r.PullRequest = &ledger.PullRequest{Number: s.Pull}
		}
		again := ledger.Message([]ledger.Entry{{Hash: s.Hash, Receipt: r}}, s.Parent)
		if strings.TrimSuffix(again, "\n") != strings.TrimSuffix(message, "\n") {
			t.Errorf("%q comes back as %q", message, again)
		}
	})
}
