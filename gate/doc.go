// Package gate is the story of a pull request: from an event to its audit, from the reviews of it to receipts, and from there to what is posted. It
// connects the rooms below it to GitHub and to the ledger; what judges is in them:
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
// Job.Run does what one event asks for (event.go says what happened; everything that decides is read again through the API). A pull request goes
// this way, and each step is a file:
//
//	turnback.go    an older green sign-off is set to "in progress" before anything is read that may fail
//	pull.go        the facts: base, head, merge base, reviews, and the rules that judge (rules.go)
//	reading.go     what the ledger holds of the pull request, verified before it is used
//	decide.go      the judgement of the reviews, and the receipts of a sign-off; selfsign.go an admin's sign-off by hand
//	lifecycle.go   what became of earlier receipts
//	siblings.go    other open pull requests with the same head, whose checks are the same
//	post*.go       the posting, and the ladder where a write is refused
//
// queue.go, push.go, schedule.go and dispatch.go are the events that are about no single pull request; online*.go holds the ledger to GitHub's own
// record.
//
// Four things hold throughout. Green comes only from reviews that this job has read, under the base's configuration of now, about the bytes of
// now: the ledger records and never decides, and what a sign-off finds in it is compared with what it would write (recognise). What cannot be
// judged fails: an error is posted as two failing checks and ends the job with its sentence (Broken). Nothing is read from a ledger that does not
// verify (verified), or written behind one whose end does not agree with the forge (trusted). The same event twice leaves one check, one review,
// one receipt: checks are found by name and app, the review by its marker and author, receipts by their idempotency key (TestSignOff, TestFaults).
package gate
