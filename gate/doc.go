// Package gate is the story of a piece of work from its audit to its receipt. It alone knows that a receipt holds a verdict: packages
// referee (what the rules say) and ledger (what is kept) never meet.
//
//	run folder → referee.Report → a person's decision → ledger.Receipt → chain
//
// # Without a forge
//
// Judge audits a run folder, Local.SignOff signs it off; Approve refuses where the rules say no (Blocked), Draft makes the receipt's content, Prior
// lets later runs read receipts, Rerun derives a receipt's findings again from git objects.
//
// # On GitHub
//
// Job.Run does what one event asks for (gate.md has the table). A pull request goes this way, and each step is a file:
//
//	event.go       what happened; everything that decides is read again through the API
//	rules.go       configuration and sheets, from base and never from the pull request
//	plan.go        which runs differ between merge base and head, and what cannot be one
//	examine.go     each run audited by the sheet that the configuration lets judge its path
//	governance*.go the agents held to their limits; rulebook*.go what changed rules would mean
//	turnback.go    an older green sign-off is set to "in progress" before anything is read that may fail
//	reading.go     what the ledger holds of the pull request, verified before it is used
//	eligibility.go who may sign off, and why not: pure; hands.go whose own work it is; earlier.go which earlier answers still hold
//	memory.go      what the gate keeps in its own review: who pushed (pushers.go), which heads failed (revision.go), and whether it can be believed
//	decide.go      the receipts of a sign-off; lifecycle.go what became of earlier ones; selfsign.go an admin's sign-off by hand
//	siblings.go    other open pull requests with the same head, whose checks are the same
//	paper_*.go     what is posted, made of an Outcome alone; post*.go the posting, and the ladder where a write is refused
//
// queue.go, push.go, schedule.go and dispatch.go are the events that are about no single pull request; doctor*.go judges a repository's
// settings; online*.go holds the ledger to GitHub's own record.
//
// Four things hold throughout. Green comes only from reviews that this job has read, under the base's configuration of now, about the bytes of
// now: the ledger records and never decides, and what a sign-off finds in it is compared with what it would write (recognise). What cannot be
// judged fails: an error is posted as two failing checks and ends the job with its sentence (Broken). Nothing is read from a ledger that does not
// verify (verified), or written behind one whose end does not agree with the forge (trusted). The same event twice leaves one check, one review, one receipt: checks
// are found by name and app, the review by its marker and author, receipts by their idempotency key (TestSignOff, TestFaults).
package gate
