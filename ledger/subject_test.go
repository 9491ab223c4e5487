package ledger_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// withSwappedEvidence is a receipt that was signed with other evidence than it holds.
func withSwappedEvidence(n int64) ledger.Receipt {
	r := storetest.Sample(n)
	r.Evidence[0].SHA256 = canonical.SHA256Hex([]byte("another rent roll"))
	return r
}

// isRefused reports whether err is the refusal of the code.
func isRefused(err error, code string) bool {
	var refusal *ledger.Refusal
	return errors.As(err, &refusal) && refusal.Code == code
}

// TestSubjectIsRefusedAtWriting holds that what was not signed is neither minted nor appended, and nothing is written.
func TestSubjectIsRefusedAtWriting(t *testing.T) {
	if b, err := ledger.Mint(ledger.NewHead(), withSwappedEvidence(3)); !isRefused(err, ledger.RefuseSubject) || b != nil {
		t.Errorf("minted: %s, %v", b, err)
	}
	s, before := ledgerOfEntries(t, 3)
	_, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(3), withSwappedEvidence(4)}}, nil
	})
	if after, failed := s.Head(t.Context()); !isRefused(err, ledger.RefuseSubject) || failed != nil ||
		after.ID != before.ID {
		t.Errorf("%v; %v, state %s, before it was %s", err, failed, after.ID, before.ID)
	}
}

// TestSubjectIsSeen holds that every reader sees an entry that was signed for other bytes, though hash, chain, tree and
// HEAD.json agree.
func TestSubjectIsSeen(t *testing.T) {
	for name, before := range map[string]string{
		"the approval's word": `"subject_digest":"`,
		"the evidence's hash": `"path":"evidence/t12.csv","provenance":"pull_request","sha256":"`,
	} {
		s, at := ledgerOfEntries(t, 3)
		r := storetest.Sample(3)
		b := must(ledger.Mint(at.Head, r))
		i := bytes.Index(b, []byte(before))
		if i < 0 {
			t.Fatalf("%s does not occur", before)
		}
		copy(b[i+len(before):], hashA)
		if r, err := ledger.Parse(b); !isRefused(err, ledger.RefuseSubject) || r != nil {
			t.Errorf("%s: Parse gives %v, %v", name, r, err)
		}
		after := forgeEntry(t, s, at, b, r.Pull())
		v, err := ledger.Verify(t.Context(), must(s.Tree(after)), ledger.Options{})
		if err != nil || !slices.Equal(problemCodes(v), codes(ledger.CodeInvalid)) {
			t.Errorf("%s: Verify lists %v, %v", name, v.Problems, err)
		}
		if v, err := ledger.VerifySince(t.Context(), s, after, at.Head); err != nil || v.OK() {
			t.Errorf("%s: VerifySince lists %v, %v", name, v.Problems, err)
		}
		if _, problems, err := ledger.VerifyTail(t.Context(), s, after, ledger.Head{}); err != nil ||
			len(problems) == 0 {
			t.Errorf("%s: VerifyTail lists %v, %v", name, problems, err)
		}
	}
}

// TestForged holds storetest.Forged to Head.Append, at each size up to 20.
func TestForged(t *testing.T) {
	head := ledger.NewHead()
	for n := range int64(20) {
		b := must(ledger.Mint(head, storetest.Sample(n)))
		forged := storetest.Forged(head, b)
		if head = must(head.Append(b)); !reflect.DeepEqual(forged, head) {
			t.Errorf("after %d entries: %+v, want %+v", n+1, forged, head)
		}
	}
}

// forgeEntry writes bytes as the next entry, without what Append would ask, and gives the state after it.
func forgeEntry(t *testing.T, s *ledger.MemStore, at ledger.Snapshot, b []byte, pull int64) ledger.Snapshot {
	t.Helper()
	head := storetest.Forged(at.Head, b)
	batch := ledger.Batch{Head: head, Files: []ledger.File{{Path: ledger.HeadPath, Data: must(head.Format())}}}
	for _, p := range ledger.Places(at.Head.Count, head.Tip, pull) {
		batch.Files = append(batch.Files, ledger.File{Path: p.String(), Data: b})
	}
	if err := s.Append(t.Context(), at, batch); err != nil {
		t.Fatal(err)
	}
	return must(s.Head(t.Context()))
}

// TestSubjectOfLifeCycle holds the entries about an earlier one to its subject: they carry it over or take it back, and
// stand for nothing else. The evidence of a carried entry is its own; one that takes back has none, and repeats the
// digest.
func TestSubjectOfLifeCycle(t *testing.T) {
	s, at := ledgerOfEntries(t, 1)
	signed := storetest.Sample(0)
	other := storetest.Carried(signed, at.Head.Tip)
	other.Evidence = withSwappedEvidence(0).Evidence
	another := storetest.TakenBack(signed, ledger.Revoked, at.Head.Tip)
	another.Approval.SubjectDigest = hashA
	for name, r := range map[string]ledger.Receipt{"carried with other evidence": storetest.Key(other),
		"revoked, another subject": storetest.Key(another)} {
		_, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
			error) {
			return ledger.Draft{Receipts: []ledger.Receipt{r}}, nil
		})
		if !isRefused(err, ledger.RefuseSubject) {
			t.Errorf("%s: %v", name, err)
		}
		forged := &ledger.MemStore{}
		first, _ := ledger.Append(t.Context(), forged, ledger.Retry{}, draftSample)
		before := must(forged.Head(t.Context()))
		if first.Added[0].Hash != at.Head.Tip {
			t.Fatal("another genesis")
		}
		after := forgeEntry(t, forged, before, must(ledger.Mint(before.Head, r)), r.Pull())
		if v, err := ledger.Verify(t.Context(), must(forged.Tree(after)), ledger.Options{}); err != nil ||
			!slices.Equal(problemCodes(v), codes(ledger.CodeReference)) {
			t.Errorf("%s: Verify lists %v, %v", name, v.Problems, err)
		}
	}
	if after := must(s.Head(t.Context())); after.ID != at.ID {
		t.Fatal("something was written")
	}
	for _, draft := range []func(hash string) ledger.Receipt{
		func(hash string) ledger.Receipt { return storetest.Carried(signed, hash) },
		func(hash string) ledger.Receipt { return storetest.TakenBack(signed, ledger.Amended, hash) },
	} {
		at := must(s.Head(t.Context()))
		if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
			return ledger.Draft{Receipts: []ledger.Receipt{draft(at.Head.Tip)}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := ledger.Verify(t.Context(), must(s.Tree(must(s.Head(t.Context())))), ledger.Options{}); err != nil ||
		!v.OK() || v.Head.Count != 3 {
		t.Errorf("%v, %v", v.Problems, err)
	}
}

// TestVerifySanitized holds that a receipt whose texts had to be replaced verifies as it was minted: the digest of a
// subject is over an id as the receipt holds it, and an assignment's hash is over the text before.
func TestVerifySanitized(t *testing.T) {
	s, at := ledgerOfEntries(t, 1)
	r := storetest.Sample(1)
	r.Evidence[0].ID = "t12\u202e"
	r.Assignment = &ledger.Assignment{Text: "a\u2028b", SHA256: canonical.SHA256Hex([]byte("a\u2028b"))}
	result, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Key(r)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Added[0].Receipt.Sanitized; !slices.Equal(got, []string{"/assignment/text", "/evidence/0/id"}) {
		t.Errorf("sanitized %q", got)
	}
	now := must(s.Head(t.Context()))
	if v, err := ledger.Verify(t.Context(), must(s.Tree(now)), ledger.Options{}); err != nil || !v.OK() {
		t.Errorf("%v, %v", v.Problems, err)
	}
	if v, err := ledger.VerifySince(t.Context(), s, now, at.Head); err != nil || !v.OK() {
		t.Errorf("since: %v, %v", v.Problems, err)
	}
}

// TestFindingsAreSeen holds that every reader sees findings that are not what the verdict counts, or not ranked, though
// hash, chain, tree and HEAD.json agree.
func TestFindingsAreSeen(t *testing.T) {
	for name, c := range map[string]struct{ tiers, code string }{
		"lighter than the verdict says":  {"low", ledger.RefuseCounts},
		"graver than the verdict says":   {"high", ledger.RefuseCounts},
		"a grave one behind a light one": {"low mid", ledger.RefuseFindings},
	} {
		s, at := ledgerOfEntries(t, 3)
		r := storetest.Sample(3)
		for range len(strings.Fields(c.tiers)) - 1 {
			r.Findings = append(r.Findings, r.Findings[0])
			r.FindingsTotal++
			r.Verdict.Risk.Mid++
			r.Verdict.RiskPoints += 2
		}
		b := must(ledger.Mint(at.Head, storetest.Key(r)))
		mid := []byte(`"tier":"mid"`)
		if bytes.Count(b, mid) != len(r.Findings) {
			t.Fatalf("%d mid findings, want %d", bytes.Count(b, mid), len(r.Findings))
		}
		for _, tier := range strings.Fields(c.tiers) {
			b = bytes.Replace(b, mid, []byte(`"tIer":"`+tier+`"`), 1)
		}
		b = bytes.ReplaceAll(b, []byte(`"tIer"`), []byte(`"tier"`))
		if r, err := ledger.Parse(b); !isRefused(err, c.code) || r != nil {
			t.Errorf("%s: Parse gives %v, %v", name, r, err)
		}
		after := forgeEntry(t, s, at, b, r.Pull())
		v, err := ledger.Verify(t.Context(), must(s.Tree(after)), ledger.Options{})
		if err != nil || len(v.Problems) == 0 || v.Problems[0].Code != ledger.CodeInvalid {
			t.Errorf("%s: Verify gives %v, %v", name, v, err)
		}
	}
}
