// Package ledger is the format of receipts and of the chain that they form, as pure functions over bytes. It reads no
// file and no network, and no clock decides what is written or found; only a Store knows where a ledger is kept.
//
// # A receipt
//
// A receipt is one JSON object in the canonical profile (package internal/canonical; TestFormatIsCanonical). Its
// SHA-256 is over the bytes of its file and is written only in the file's name. Three schemas of one shape, by the lane
// of the run: EvalSchema, CookSchema, IncidentSchema (docs/receipt-*.schema.json, generated; TestSchemas). Every entry
// has a Kind. Parse is strict: an unknown schema, kind or member is refused by name (TestParseRefuses), a text that
// parses is the one that Format writes (FuzzParse), and on an error nothing is returned.
//
// What is refused, always (TestRefusals has a case for each Refuse constant):
//   - no approval by a human, no receipt; an open question, no receipt; a high rule that nobody decided, no receipt;
//   - honey outside an approved record, or with a finding; counts that do not add up;
//   - a cook without a lift between two receipts of this ledger on one sheet and version, whose scores are the ones
//     that it claims; an incident whose receipts are not in this ledger; a life-cycle entry about other bytes;
//   - a subject_digest that is not what sheet, submission and evidence of the entry hash to or, in an entry without an
//     audit, another one than the earlier entry's (TestSubjectIsSeen, TestSubjectOfLifeCycle);
//   - a receipt_id that is not DCR-<seq>-<first 8 digits of the submission's SHA-256>; a minted_at that is not the
//     review's submitted_at or the observed event's time, so that a receipt is a pure function of records.
//
// The version is part of the schema's name. A member is added only with a new version, because a reader of this one
// refuses whatever it does not know.
//
// # The chain
//
// Entries are numbered from 0 (seq). parent_hash is the SHA-256 of the entry before, 64 zeros at seq 0. log is the size
// and the RFC 6962 root of the tree over the entries before, whose leaves are tlog.RecordHash over the files' bytes;
// the root over none is the SHA-256 of nothing (TestEmptyRoot, TestRootsAgainstTlog). HEAD.json (Head) holds count,
// tip, root and the right edge of the tree, so that an append hashes nothing older. Proof shows inclusion and
// consistency (TestProofs).
//
// # The branch
//
//	LEDGER.json   format, genesis, repository: written with the first entry    HEAD.json   derived, recomputed by Verify
//	receipts/000/01/23/000012345-<hash>.json   the entries, a hundred a directory
//	pr/0000/01/23/000012345-<hash>.json        the same blob, found by pull request; left out outside a forge
//	hash/ab/cd/<hash>.json                     the same blob, found by hash
//	sheets/ab/<hash>.json                      rulebooks that the repository does not hold
//	README.md   verify.html   .gitattributes ("* -text")
//
// At a million entries and a million pull requests no directory holds more than 256 names (TestNamesPerDirectory): git
// reads, writes and hashes a directory whole. Only a pull request with more entries of its own has a larger one, and
// sheets/ at more than 65,536 versions of sheets. LEDGER.json names the layout (InfoFormat); a path of the one before
// is refused by name (TestFirstLayout).
//
// Nothing else, and regular files only: ParsePath knows exactly the paths that Place.String writes (FuzzParsePath). The
// branch is an orphan, linear, one commit a sign-off (Message, VerifyHistory).
//
// # Appending
//
// Append reads the head, drafts, mints and swaps the head if it is still the one read; it starts again when it is not,
// or when the reply was lost, after looking for the idempotency key (Key). storetest.TestStore holds every Store to
// that.
//
// Who loses a race waits in a queue that nobody keeps (queue.go): each writer guesses from what the branch shows how
// busy the ledger is, and tries only where that is worth its requests. The queue decides nothing, the swap does. A
// ledger that does not move is tried for five minutes (Retry; TestRetry, TestQueue), and fifty writers at once all get
// their entry (TestFiftyAtOnce of githubstore).
//
// # Verifying
//
// Verify looks at a whole tree (L1) and at pins (L2, L3); VerifySince at what came after a head (L2); VerifyHistory at
// the commits; VerifyOnline at a forge's record (L4); Compare at another copy (L5). Before something of a ledger is
// shown or used, VerifyForReading looks at its end, and VerifyEntry holds one entry to its place and its neighbours
// (TestVerifyForReading, TestVerifyEntry), at the same cost for any size. Each Problem has a stable Code (Codes;
// TestCodes), and each Level says what it cannot see (Level.Blind).
//
// # Hash inputs
//
// Subject.Digest and Key.Digest are SHA-256 over "<length>:<bytes>" of a domain with its version and of each part
// (TestDigests).
package ledger
