// Package storetest holds every ledger.Store to what Append relies on: TestStore. Sample and its variants are valid
// receipts for tests and generators. Server is a git server that answers in the test's own process, because starting
// git is most of what such a test would otherwise do.
package storetest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// Sample is a valid approved eval receipt without its place in the chain, different for each n ≥ 0: pull request n+1.
// It depends on nothing but n, so that ledgers made of it are the same bytes everywhere and forever. It has a finding,
// an item of evidence and an answer, so that most optional members occur.
func Sample(n int64) ledger.Receipt {
	// A minute apart, so that no commit is dated before its parent (LDG-405).
	at := canonical.Time(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute))
	sha := func(what string) string { return canonical.SHA256Hex(fmt.Appendf(nil, "%s %d", what, n)) }
	r := ledger.Receipt{
		Schema:      ledger.EvalSchema,
		Kind:        ledger.Approved,
		Org:         &ledger.Org{ID: 42, Name: "acme"},
		Repository:  ledger.Repository{ID: 4242, Name: "acme/underwriting"},
		Run:         ledger.Run{ID: fmt.Sprintf("2026-11-%05d", n), Lane: "agent", Project: "oak-street"},
		PullRequest: &ledger.PullRequest{Number: n + 1, HeadSHA: sha("head")[:40], BaseSHA: sha("base")[:40]},
		FlightSheet: ledger.FlightSheet{Slug: "cre-acquisition-underwriting", Version: "1.2.0",
			SHA256: canonical.SHA256Hex([]byte("sheet"))},
		Submission: ledger.Submission{Path: "submission.json", SHA256: sha("submission"), GitBlob: sha("blob")[:40]},
		Semantics:  1,
		Engine:     &ledger.Engine{Version: "1.0.0", RegistrySHA256: canonical.SHA256Hex([]byte("registry"))},
		Agent: &ledger.Agent{Name: "underwriter", Model: "example-70b", CapabilityTier: "frontier", ParamsB: "70",
			CostUSD: "1.84"},
		Assignment: &ledger.Assignment{Text: "Underwrite it.", SHA256: canonical.SHA256Hex([]byte("Underwrite it."))},
		Evidence: []ledger.Evidence{{ID: "t12", Kind: "file", Path: "evidence/t12.csv", SHA256: sha("t12"), Bytes: 1234,
			Status:     "held",
			Provenance: "pull_request", AddedBy: "agent-owner"}},
		Checklist: []ledger.Answer{{ID: "site_visited", Answer: "satisfied", By: "rosa", At: at}},
		Findings: []ledger.Finding{{Code: "math.mismatch", RuleIDs: []string{"dscr"}, Tier: "mid",
			Severity: "noncritical",
			Bucket:   "work-defect", Stage: "math", Pointer: "/calculations/0/result", File: "submission.json",
			Line:    12,
			Column:  17,
			Message: "the claim is 2.4 % above what its own formula gives",
			Spot: &ledger.Spot{Claimed: "1.334", Recomputed: "1.303", Delta: "0.031", Percent: "2.3791",
				Band: "mid"},
			Fix: &ledger.Fix{Text: "state 1.303"}, Atoms: []string{"EVID_001"}}},
		FindingsTotal: 1,
		Verdict: &ledger.Verdict{Score: "96.4", ScoreFraction: "27/28", Counts: ledger.Counts{Declared: 28,
			Satisfied: 27, Flagged: 1},
			Risk: ledger.Risk{Mid: 1}, RiskPoints: 2, Severity: "jelly", SeverityIfApproved: "jelly",
			RecommendedAction: "resubmit"},
		ReportDigest: sha("report"),
		Approval: &ledger.Approval{Decision: ledger.Approved,
			Approver: ledger.Approver{Login: "rosa", ID: 7, Type: "User", Permission: "maintain"},
			Review: ledger.Review{ID: 1000 + n, SubmittedAt: at, CommitSHA: sha("head")[:40],
				BodySHA256: canonical.SHA256Hex(nil)}},
		Workflow: &ledger.Workflow{Ref: "refs/heads/main", SHA: sha("workflow")[:40], RunID: 500 + n, RunAttempt: 1,
			Event: "workflow_run"},
	}
	return Key(r)
}

// Twin is an entry for the place of taken, after head. It is named before taken, or after it: the names are hashes, so
// the first sample whose hash is lower, or higher, is the one.
func Twin(head ledger.Head, taken []byte, before bool) []byte {
	for n := int64(77); ; n++ {
		b, err := ledger.Mint(head, Sample(n))
		if err != nil {
			panic(err) // samples are valid
		}
		if (canonical.SHA256Hex(b) < canonical.SHA256Hex(taken)) == before {
			return b
		}
	}
}

// Clean is r without a finding: honey.
func Clean(r ledger.Receipt) ledger.Receipt {
	// A copy: the verdict is shared with the sample it came from.
	v := *r.Verdict
	n := v.Counts.Declared
	v.Counts, v.Risk, v.RiskPoints = ledger.Counts{Declared: n, Satisfied: n}, ledger.Risk{}, 0
	v.Score, v.ScoreFraction = "100", fmt.Sprintf("%d/%d", n, n)
	v.Severity, v.SeverityIfApproved, v.ClientReady, v.RecommendedAction = "honey", "honey", true, "approve"
	r.Verdict, r.Findings, r.FindingsTotal = &v, nil, 0
	return r
}

// Judged is r with the verdict that its findings make, all of them work-defects that are high or mid, beside so many
// satisfied and skipped rules. The scores are computed here and not by package ledger, which would only agree with
// itself. Without it, each test that changes findings would have to state numbers that follow from them.
func Judged(r ledger.Receipt, satisfied, skipped int) ledger.Receipt {
	rules, risk, severity := map[string]bool{}, ledger.Risk{}, "jelly"
	for _, f := range r.Findings {
		for _, id := range f.RuleIDs {
			rules[id] = true
		}
		*map[string]*int{"high": &risk.High, "mid": &risk.Mid, "low": &risk.Low}[f.Tier]++
	}
	// propolis, as S8 has it for a high finding.
	if risk.High > 0 {
		severity = "propolis"
	}
	declared := satisfied + len(rules) + skipped
	// Floored, as S13 has it.
	tenths := satisfied * 1000 / declared
	score := fmt.Sprintf("%d.%d", tenths/10, tenths%10)
	r.Verdict = &ledger.Verdict{Score: strings.TrimSuffix(score, ".0"), ScoreFraction: fmt.Sprintf("%d/%d", satisfied,
		declared),
		Counts:     ledger.Counts{Declared: declared, Satisfied: satisfied, Flagged: len(rules), Skipped: skipped},
		Risk:       risk,
		RiskPoints: 5*risk.High + 2*risk.Mid + risk.Low, Severity: severity, SeverityIfApproved: severity,
		RecommendedAction: "resubmit"}
	r.FindingsTotal = len(r.Findings)
	return r
}

// Key fills in the subject's digest and the idempotency key from the rest of r. Whoever changes a sample's sheet,
// submission, evidence, kind or review calls it again. An entry without an audit keeps the subject that it repeats.
// Fields are copied before they are changed, because samples share what their pointers lead to.
func Key(r ledger.Receipt) ledger.Receipt {
	subject := ledger.SubjectOf(&r).Digest()
	// It cannot be computed from the entry, which has no evidence (checkSubject).
	if r.Approval != nil && !r.Audited() {
		subject = r.Approval.SubjectDigest
	}
	// Made as a real key is, so that a second delivery of a sample is found.
	key := ledger.Key{Repository: r.Repository.ID, PullRequest: r.Pull(), Run: r.Run.ID, Kind: r.Kind, Subject: subject}
	if r.Approval != nil {
		approval := *r.Approval
		approval.SubjectDigest = subject
		r.Approval = &approval
		key.Review = approval.Review.ID
	}
	r.IdempotencyKey = key.Digest()
	return r
}

// Local turns r into a sign-off outside a forge. The subject stays the same, and the key does not: it contains the pull
// request.
func Local(r ledger.Receipt) ledger.Receipt {
	r.PullRequest, r.Workflow, r.Org = nil, nil, nil
	return Key(r)
}

// Observed is an entry of a kind that nobody signs, about the earlier one. It brings no audit, as most of its kinds do.
func Observed(earlier ledger.Receipt, kind ledger.Kind, hash string) ledger.Receipt {
	r := ledger.Receipt{
		Schema: earlier.Schema, Kind: kind, Org: earlier.Org, Repository: earlier.Repository, Run: earlier.Run,
		PullRequest: earlier.PullRequest, FlightSheet: earlier.FlightSheet, Submission: earlier.Submission,
		RefersTo:   hash,
		ObservedBy: &ledger.ObservedBy{Event: "pull_request_target", Actor: "rosa", At: "2026-11-03T08:00:00Z"},
	}
	if kind == ledger.Merged {
		r.ObservedBy.SHA = canonical.SHA256Hex([]byte("merge"))[:40]
	}
	return Key(r)
}

// Carried is the entry that carries the earlier one, which is signed off, to another head with the same bytes. It
// contains the whole audit again, as every live entry does.
func Carried(earlier ledger.Receipt, hash string) ledger.Receipt {
	r := earlier
	// Nobody signs it: the approval stays in the entry that it carries.
	r.Kind, r.Approval, r.MintedAt, r.RefersTo = ledger.Carried, nil, "", hash
	r.ObservedBy = &ledger.ObservedBy{Event: "synchronize", Actor: "rosa", At: "2026-11-03T07:00:00Z"}
	return Key(r)
}

// TakenBack is the entry, amended or revoked, by which its signer takes the earlier one back. It contains no audit, so
// it repeats the subject that was signed.
func TakenBack(earlier ledger.Receipt, kind ledger.Kind, hash string) ledger.Receipt {
	r := Observed(earlier, kind, hash)
	approval := *earlier.Approval
	// The same review decides otherwise now, and a person's entry has no observed event.
	approval.Decision, r.Approval, r.ObservedBy = kind, &approval, nil
	return Key(r)
}

// Forged is the head after bytes that no writer would append (Head.Append refuses them): the tree and the tip are
// right, so that whoever verifies sees the entry itself and nothing else. The tree is computed here by hand for the
// same reason: a forger does not use our code.
func Forged(h ledger.Head, b []byte) ledger.Head {
	// The hash of the leaf is tlog's own, so no mistake of ours is repeated.
	leaf := ledger.LeafHash(b)
	edge := append(slices.Clone(h.Edge), hex.EncodeToString(leaf[:]))
	for n := h.Count; n&1 == 1; n >>= 1 { // two complete subtrees of one size are one
		last := len(edge) - 1
		edge = append(edge[:last-1], hashSubtrees(edge[last-1], edge[last]))
	}
	root := edge[len(edge)-1]
	for _, left := range slices.Backward(edge[:len(edge)-1]) {
		root = hashSubtrees(left, root)
	}
	return ledger.Head{Count: h.Count + 1, Tip: canonical.SHA256Hex(b), Root: root, Edge: edge}
}

// hashSubtrees is the RFC 6962 hash of two subtrees, all in hexadecimal digits. 01 before the two keeps a node from
// passing for an entry (RFC 6962, 2.1).
func hashSubtrees(left, right string) string {
	b, err := hex.DecodeString("01" + left + right)
	if err != nil {
		panic(err) // a head holds hashes only
	}
	return canonical.SHA256Hex(b)
}
