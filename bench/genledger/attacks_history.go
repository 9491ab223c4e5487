package main

import (
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// historyAttacks is attacks on the commits.
func historyAttacks() []*branch {
	merge := goodLedger()
	merge.commits[3].second = true
	orphan := goodLedger()
	orphan.commits[3].root = true
	notes := goodLedger()
	notes.commits = append(notes.commits, *notes.tipCommit())
	notes.tipCommit().message = "tidy up\n"
	twin := goodLedger()
	twin.commits[4].message = twin.commits[3].message
	back := goodLedger()
	back.commits[3].at += 3600
	before := goodLedger()
	before.commits[0].at -= 86_400
	return []*branch{
		merge.describe("tampered-second-child", "a commit with two parents", ledger.L1, ledger.CodeMerge),
		orphan.describe("tampered-second-root", "a history that begins in the middle of the chain", ledger.L1,
			ledger.CodeCommitChain),
		notes.describe("tampered-other-commit", "a commit that is no sign-off", ledger.L1, ledger.CodeMessage),
		twin.describe("tampered-message", "a commit that names another's receipt", ledger.L1, ledger.CodeCommitChain),
		back.describe("tampered-time-decreasing", "a commit dated before its parent", ledger.L1, ledger.CodeCommitTime),
		before.describe("tampered-time-before-minted", "a commit dated before its receipt was signed", ledger.L1,
			ledger.CodeCommitTime),
	}
}

func raiseModel(r *ledger.Receipt) { r.Agent.Model = "example-99b" }

// pinnedAttacks is attacks that leave a ledger in good order, so that only somebody who knew it before can tell.
func pinnedAttacks() []*branch {
	known := goodLedger().parseHead()
	_, first := goodLedger().entryAt(0)
	was := pin{ledger.L2, "what was seen here", known.Count, known.Tip, known.Root}
	genesis := pin{Level: ledger.L3, Source: "the configuration", Count: 1, Tip: canonical.SHA256Hex(first)}
	review := pin{Level: ledger.L3, Source: "review 1004 of pull request 5", Count: 6, Tip: known.Tip}
	truncated := func() *branch {
		b := goodLedger()
		b.commits = b.commits[:4]
		return b
	}
	pins := func(b *branch, pins ...pin) *branch {
		b.fx.Pins = pins
		return b
	}
	poisoned := rewrittenFrom(0, raiseModel)
	seenFirst := pin{ledger.L2, "what was seen here", poisoned.parseHead().Count, poisoned.parseHead().Tip,
		poisoned.parseHead().Root}
	lying, broken := was, was
	lying.Root, broken.Tip = canonical.SHA256Hex(nil), "x"
	fork := rewrittenFrom(4, raiseModel).describe("tampered-split-view", "another history, shown to somebody else",
		ledger.L5,
		ledger.CodeFork)
	fork.fx.Against = "good"
	return []*branch{
		pins(goodLedger().describe("good-pinned", "the good ledger, with pins", ledger.L3), was, genesis, review),
		pins(truncated().describe("tampered-truncated", "cut off at the end, HEAD.json and commits too", ledger.L2,
			ledger.CodeTruncated), was),
		pins(truncated().describe("tampered-announced", "an announced receipt that is not there", ledger.L3,
			ledger.CodePinMissing), review),
		pins(rewrittenFrom(2, raiseModel).describe("tampered-rewritten", "written anew from the third entry on", ledger.L2,
			ledger.CodePinTip), was),
		pins(rewrittenFrom(0, raiseModel).describe("tampered-new-genesis", "written anew from the first entry on", ledger.L3,
			ledger.CodePinGenesis), genesis),
		pins(poisoned.describe("tampered-first-pin", "seen first when it was false already", ledger.L3,
			ledger.CodePinGenesis), seenFirst, genesis),
		pins(goodLedger().describe("tampered-pin-root", "a pin of another tree", ledger.L2, ledger.CodePinRoot), lying),
		pins(goodLedger().describe("tampered-pin-unusable", "a pin that cannot be read", ledger.L2, ledger.CodePinUnusable),
			broken),
		fork,
	}
}

// honestRecord is what the forge recorded of the good ledger.
func honestRecord() *record {
	r := &record{Reviews: map[int64][]ledger.ReviewRecord{}}
	for n := range int64(5) {
		s := storetest.Sample(n)
		a := s.Approval
		r.Reviews[n+1] = []ledger.ReviewRecord{{ID: a.Review.ID, State: "APPROVED", Login: a.Approver.Login,
			UserID: a.Approver.ID, UserType: "User",
			SubmittedAt: a.Review.SubmittedAt, CommitSHA: a.Review.CommitSHA, BodySHA256: a.Review.BodySHA256}}
	}
	s := storetest.Sample(0)
	r.Merges = []ledger.MergeRecord{{PullRequest: 1, SHA: canonical.SHA256Hex([]byte("merge"))[:40],
		Runs: []ledger.MergedRun{{ID: s.Run.ID, SubmissionSHA256: s.Submission.SHA256,
			SheetSHA256: s.FlightSheet.SHA256}}}}
	return r
}

// recordAttacks is attacks that only the forge's own record shows.
func recordAttacks() []*branch {
	forge := func(b *branch, change func(*record)) *branch {
		b.fx.Forge = honestRecord()
		change(b.fx.Forge)
		return b
	}
	replay := storetest.Sample(2)
	replay.PullRequest.Number = 5
	return []*branch{
		forge(goodLedger().describe("good-online", "the good ledger, with the forge's record", ledger.L4), func(*record) {}),
		forge(goodWith(func(b *branch) { b.appendEntry(storetest.Sample(40)) }).describe("tampered-forged-by-token",
			"an entry in good order, appended with the repository's own token; no such review exists", ledger.L4,
			ledger.CodeNoReview),
			func(*record) {}),
		forge(goodWith(func(b *branch) { b.appendEntry(storetest.Key(replay)) }).describe("tampered-replay-pull-request",
			"a sign-off used again for another pull request", ledger.L4, ledger.CodeNoReview),
			func(*record) {}),
		forge(goodLedger().describe("tampered-review-edited", "an approval whose text was edited later", ledger.L4,
			ledger.CodeReviewChanged),
			func(r *record) { r.Reviews[3][0].BodySHA256 = canonical.SHA256Hex([]byte("no")) }),
		forge(goodLedger().describe("tampered-review-dismissed", "an approval that was dismissed later", ledger.L4,
			ledger.CodeReviewChanged),
			func(r *record) { r.Reviews[3][0].State = "DISMISSED" }),
		forge(goodLedger().describe("tampered-review-other", "an approval that somebody else gave", ledger.L4,
			ledger.CodeReviewDiffers),
			func(r *record) { r.Reviews[3][0].UserID = 8 }),
		forge(goodLedger().describe("tampered-unreceipted", "a merge without a receipt", ledger.L4, ledger.CodeUnreceipted),
			func(r *record) {
				r.Merges = append(r.Merges, ledger.MergeRecord{PullRequest: 44,
					SHA: canonical.SHA256Hex([]byte("44"))[:40],
					Runs: []ledger.MergedRun{{ID: "unseen", SubmissionSHA256: canonical.SHA256Hex([]byte("unseen")),
						SheetSHA256: canonical.SHA256Hex(sheet)}}})
			}),
		forge(goodLedger().describe("tampered-merge-other", "a merged entry that no merge bears out", ledger.L4,
			ledger.CodeMergeDiffers),
			func(r *record) { r.Merges = nil }),
	}
}
