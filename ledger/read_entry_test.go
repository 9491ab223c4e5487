package ledger_test

import (
	"bytes"
	"context"
	"path"
	"slices"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// altered is a ledger some of whose files somebody changed, added, or took away (nil).
type altered struct {
	*ledger.MemStore
	files map[string][]byte
}

func (a altered) Read(ctx context.Context, at ledger.Snapshot, name string) (out []ledger.File, err error) {
	files, err := a.MemStore.Read(ctx, at, name)
	for _, f := range files {
		if _, changed := a.files[f.Path]; !changed {
			out = append(out, f)
		}
	}
	for p, b := range a.files {
		if b != nil && (p == name || path.Dir(p) == name) {
			out = append(out, ledger.File{Path: p, Data: b})
		}
	}
	return out, err
}

// TestVerifyEntry: an entry is held to its place, its aliases, both of its neighbours, its repository and what it
// refers to.
func TestVerifyEntry(t *testing.T) {
	s, at := ledgerOfEntries(t, 5)
	all := map[int64]ledger.Entry{}
	for e, err := range ledger.Backwards(t.Context(), s, at) {
		if err != nil {
			t.Fatal(err)
		}
		all[e.Receipt.Seq] = *e
	}
	place := func(class ledger.Class, seq int64) string {
		e := all[seq]
		return ledger.Place{Class: class, Seq: seq, Pull: e.Receipt.Pull(), Hash: e.Hash}.String()
	}
	rewritten := func(seq int64, old, with string) ledger.Entry { // with its own hash
		b := bytes.ReplaceAll(all[seq].Bytes, []byte(old), []byte(with))
		r, err := ledger.ParseUnverified(b)
		if err != nil || bytes.Equal(b, all[seq].Bytes) {
			t.Fatal(old, err)
		}
		return ledger.Entry{Hash: canonical.SHA256Hex(b), Bytes: b, Receipt: r}
	}
	mallory := rewritten(2, `"rosa"`, `"mallory"`)
	replaced := map[string][]byte{} // the entry 2 in all of its places, by another one
	for _, class := range []ledger.Class{ledger.EntryFile, ledger.HashAlias, ledger.PullAlias} {
		replaced[place(class, 2)] = nil
		replaced[ledger.Place{Class: class, Seq: 2, Pull: mallory.Receipt.Pull(),
			Hash: mallory.Hash}.String()] = mallory.Bytes
	}
	for name, c := range map[string]struct {
		entry ledger.Entry
		files map[string][]byte
		state func(*ledger.Snapshot)
		codes []ledger.Code
	}{
		"the first":                       {all[0], nil, nil, nil},
		"in the middle":                   {all[2], nil, nil, nil},
		"the last":                        {all[4], nil, nil, nil},
		"rewritten, beside the ledger":    {mallory, nil, nil, codes(ledger.CodeTwin)},
		"rewritten, in all of its places": {mallory, replaced, nil, codes(ledger.CodeParent)},
		"a second one at its seq": {all[2], map[string][]byte{ledger.Place{Class: ledger.EntryFile, Seq: 2,
			Hash: mallory.Hash}.String(): mallory.Bytes}, nil, codes(ledger.CodeTwin)},
		"beyond the end": {rewritten(4, `"seq":4`, `"seq":5`), nil, nil, codes(ledger.CodeMisplaced)},
		"moved":          {rewritten(3, `"seq":3`, `"seq":1`), nil, nil, codes(ledger.CodeTwin)},
		"other bytes at its place": {all[2], map[string][]byte{place(ledger.EntryFile, 2): all[1].Bytes}, nil,
			codes(ledger.CodeAliasDiffers)},
		"no alias by hash": {all[2], map[string][]byte{place(ledger.HashAlias, 2): nil}, nil,
			codes(ledger.CodeAliasMissing)},
		"no alias by pull request": {all[2], map[string][]byte{place(ledger.PullAlias, 2): nil}, nil,
			codes(ledger.CodeAliasMissing)},
		"no entry before": {all[2], map[string][]byte{place(ledger.EntryFile, 1): nil}, nil,
			codes(ledger.CodeParent)},
		"other bytes before": {all[2], map[string][]byte{place(ledger.EntryFile, 1): all[3].Bytes}, nil,
			codes(ledger.CodeName)},
		"no entry after": {all[2], map[string][]byte{place(ledger.EntryFile, 3): nil}, nil,
			codes(ledger.CodeGap)},
		"what is no receipt after": {all[2], map[string][]byte{place(ledger.EntryFile, 3): []byte("{}")}, nil,
			codes(ledger.CodeInvalid)},
		"another tip": {all[4], nil, func(at *ledger.Snapshot) { at.Head.Tip = hashA },
			codes(ledger.CodeHeadLies)},
		"another genesis": {all[0], nil,
			func(at *ledger.Snapshot) { at.Info = &ledger.Info{Genesis: hashA, Repository: at.Info.Repository} },
			codes(ledger.CodeInfoLies)},
		"another repository": {all[2], nil,
			func(at *ledger.Snapshot) { at.Info = &ledger.Info{Genesis: at.Info.Genesis} },
			codes(ledger.CodeRepository)},
		"no LEDGER.json": {all[2], nil, func(at *ledger.Snapshot) { at.Info = nil },
			codes(ledger.CodeInfoUnreadable)},
	} {
		state := at
		if c.state != nil {
			c.state(&state)
		}
		later, problems, err := ledger.VerifyEntry(t.Context(), altered{s, c.files}, state, &c.entry)
		var found []ledger.Code
		for _, p := range problems {
			found = append(found, p.Code)
		}
		for _, want := range c.codes {
			if !slices.Contains(found, want) {
				t.Errorf("%s: %v, want %s", name, problems, want)
			}
		}
		if err != nil || len(later) > 0 || (len(problems) > 0) != (len(c.codes) > 0) {
			t.Errorf("%s: %v, %v, %v", name, later, problems, err)
		}
	}
}

// TestVerifyEntryLater: a revocation of the same pull request comes with the entry that it takes back; a reference to
// nothing is a problem.
func TestVerifyEntryLater(t *testing.T) {
	s, at := ledgerOfEntries(t, 3)
	entries, _, fail := ledger.EntriesOf(t.Context(), s, at, storetest.Sample(1).PullRequest.Number, 0)
	if fail != nil || len(entries) != 1 {
		t.Fatal(entries, fail)
	}
	r := storetest.Sample(1)
	r.Kind, r.Approval.Decision, r.RefersTo = ledger.Revoked, ledger.Revoked, entries[0].Hash
	b := must(ledger.Mint(at.Head, storetest.Key(r)))
	at = forgeEntry(t, s, at, b, r.Pull())
	later, problems, fail := ledger.VerifyEntry(t.Context(), s, at, &entries[0])
	if fail != nil || len(problems) > 0 || len(later) != 1 || later[0].Receipt.Kind != ledger.Revoked {
		t.Errorf("%v, %v, %v", later, problems, fail)
	}
}

// TestParseUnverified reads the form alone.
func TestParseUnverified(t *testing.T) {
	b := must(ledger.Mint(ledger.NewHead(), storetest.Sample(0)))
	lie := bytes.Replace(b, []byte(`"score":"96.4"`), []byte(`"score":"100"`), 1)
	if _, err := ledger.Parse(lie); err == nil {
		t.Error("the lie is a receipt")
	}
	if r, err := ledger.ParseUnverified(lie); err != nil || r.Verdict.Score != "100" {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range [][]byte{nil, []byte("{}"), append([]byte(" "), b...), bytes.Replace(b, []byte(`"seq":0`),
		[]byte(`"seq":"0"`), 1)} {
		if r, err := ledger.ParseUnverified(bad); err == nil || r != nil {
			t.Errorf("%.60q: %v, %v", bad, r, err)
		}
	}
}
