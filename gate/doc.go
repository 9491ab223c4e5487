// Package gate is the story of a pull request: from an event to its audit, from the reviews of it to receipts, and from
// there to what is posted. It connects the rooms below it to GitHub and to the ledger; what judges is in them:
//
//	gate/config      .github/referee.yml, read from base and never from the pull request
//	gate/audit       which runs a pull request changes, and each of them audited
//	gate/governance  the agents held to their limits
//	gate/rulebook    what changed sheets and a changed configuration would mean
//	gate/signoff     whose review counts, and why another does not: pure
//	gate/memory      what the gate keeps in its own review: who pushed, which heads failed, which receipts it vouches for
//	gate/receipt     from an audited run and a decision to a receipt, and back; needs no forge
//	gate/outcome     what all of it comes to, and whether the checks pass: pure
//	gate/comment     the checks, the review, the summary and the annotations, made of an Outcome alone
//	gate/doctor      a repository's settings
//
// Job.Run does what one event asks for (event.go says what happened; everything that decides is read again through the
// API). An open pull request goes through five steps (throughTheSteps in pull.go). Each is a value that is made of the
// one before it, so that nothing can be asked of a step that has not been taken:
//
//	facts.go      pullFacts: the pull request, the rules of its base (rules.go), the merge base, the reviews
//	audits.go     auditedPull: its runs, agents and changed rulebooks; what the ledger holds of it (ledger_read.go)
//	judge.go      judgedPull: which reviews count, by everything that was read from the forge
//	receipts.go   signedPull: what became of earlier receipts (lifecycle.go) and the new ones (ledger_write.go)
//	post.go       postedPull: the checks, the review (post_review.go), comments on lines (post_inline.go)
//
// checks.go holds the checks on the head, the one thing that changes as a job goes on: an older green sign-off is set
// to "in progress" before anything is read that may fail. siblings.go looks at other open pull requests with the same
// head, whose checks are the same; selfsign.go is an admin's sign-off by hand; closed.go follows pull requests that are
// closed.
//
// queue.go, push.go, schedule.go and dispatch.go are the events that are about no single pull request; online*.go holds
// the ledger to GitHub's own record.
//
// Four things hold throughout. Green comes only from reviews that this job has read, under the base's configuration of
// now, about the bytes of now: the ledger records and never decides, and what a sign-off finds in it is compared with
// what it would write (recogniseEntry). What cannot be judged fails: an error is posted as two failing checks and ends
// the job with its sentence (Broken). Nothing is read from a ledger that does not verify (verifiedLedger), or written
// behind one whose end does not agree with the forge (verifyTail). The same event twice leaves one check, one review,
// one receipt: checks are found by name and app, the review by its marker and author, receipts by their idempotency key
// (TestSignOff, TestFaults).
package gate
