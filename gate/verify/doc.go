// Package verify holds a ledger to all that can be known of it, at the five levels of package ledger:
//
//	L1  bytes, chain and tree agree with themselves             always
//	L2  the chain extends what somebody knew of it before       Options.Pins, Root, Memory
//	L3  it agrees with the genesis that base pins, and with
//	    the receipts that the gate's reviews announce           Options.Forge
//	L4  it agrees with the forge's record of reviews and merges Options.Forge
//	    and each run merged on a branch has its receipt         Options.Base
//	L5  it agrees with another copy                             Options.Against
//
// Ledger verifies one where it is kept, a folder or a URL (Example):
//
//	result, err := verify.Ledger(ctx, "https://example.org/receipts.git", verify.Options{})
//
// Open and Copy.Verify are the same in two steps, for who looks at more than one copy; OpenForge reaches the forge, and
// Forge.Ledger is the ledger that it keeps itself.
//
// # What comes back
//
// An error says that nothing was decided: an InputError that the caller named something that is not there or cannot be
// meant, any other error that something could not be read. It is never a Result with a level (TestErrorsDecideNothing).
//
// A Result says what was found. Its Problems each have a stable Code, a level, a place and words; OK is that there are
// none. What the forge did not let be read is a problem too (ledger.CodeOnlineUnread), so that it is never a pass;
// where it is the only kind, Unread tells it from a ledger that is wrong. Level is the highest level that was looked
// at, and 0 unless all is well. Looked lists the levels that were looked at, for one may be reached without the one
// below it: L5 says nothing of the forge. Unseen words what no level looked at could see.
//
// A program that needs a level says so: with Options.Require a verification that did not look at that level is an
// error, and no Result (TestRequire). Without it, ask for Level: OK alone means no more than that nothing was found by
// whatever was looked at.
//
// # What is known before
//
// A pin without a level is of L2. One that says nothing (Count 0, and not the tip of an empty ledger, ledger.NoParent)
// is refused, since every ledger would satisfy it (TestEmptyPins). Memory is a directory of such pins, one for each
// location and branch: with one, a ledger is always held to what is remembered of it, and Remember remembers it anew
// when nothing is wrong. A ledger that is remembered and is not there any more was cut off (ledger.CodeTruncated); one
// of which nothing is known and that is not there is an InputError. Since looks only at what came after the newest pin,
// at any size of the ledger, and so excludes whatever looks at the whole.
//
// # Against the forge
//
// Online is GitHub's record, each review asked for once, one request after the other; it is what the gate's own jobs
// compare with, too. A ledger that does not agree with itself is not compared with the forge. Then, in this order: the
// ledger is of this repository; the receipts that the gate announced in its reviews, on the pull requests that the
// ledger names and on the newest ones, are in it (L3); its approvals and merges are the forge's (L4). Reviews by
// anybody but the gate's app announce nothing (TestOnlineAnnounced). The base branch's configuration is read from the
// forge, never from a copy: it pins the genesis, and says which runs the gate judges and where the ledger is.
//
// Tail is what a writer asks before it appends: the end of the ledger, at a bounded number of requests
// (TestVerifyTail).
//
// Nothing here reads the environment or a clock. Temporary copies are made of what lies behind a URL, and removed.
package verify
