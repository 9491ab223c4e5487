package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// Code is the stable number of a kind of problem, LDG-nnn. The hundreds: 1 files, 2 chain, 3 HEAD.json and LEDGER.json,
// 4 the commits, 5 pins, 6 the forge's record, 7 another copy.
type Code string

// The codes. A number is never used for anything else, and never given up: scripts and people's notes refer to it. Each
// has an attack of its own in testdata/ledgers (TestEveryCodeHasAFixture), so that none is only written down.
const (
	CodeUnknownFile   Code = "LDG-101"
	CodeMode          Code = "LDG-102"
	CodeSize          Code = "LDG-103"
	CodeNotCanonical  Code = "LDG-104"
	CodeName          Code = "LDG-105"
	CodeUnknownSchema Code = "LDG-106"
	CodeInvalid       Code = "LDG-107"
	CodeMisplaced     Code = "LDG-108"
	CodeAliasMissing  Code = "LDG-109"
	CodeAliasDiffers  Code = "LDG-110"
	CodeAliasOrphan   Code = "LDG-111"
	CodeTooMany       Code = "LDG-112"
	CodeUnreadable    Code = "LDG-113"
	CodeAttributes    Code = "LDG-114"
	CodeSheet         Code = "LDG-115"
	CodeSheetOrphan   Code = "LDG-116"

	CodeGap        Code = "LDG-201"
	CodeTwin       Code = "LDG-202"
	CodeParent     Code = "LDG-203"
	CodeLog        Code = "LDG-204"
	CodeDuplicate  Code = "LDG-205"
	CodeRepository Code = "LDG-206"
	CodeReference  Code = "LDG-207"

	CodeHeadUnreadable Code = "LDG-301"
	CodeHeadLies       Code = "LDG-302"
	CodeInfoUnreadable Code = "LDG-303"
	CodeInfoLies       Code = "LDG-304"

	CodeMerge       Code = "LDG-401"
	CodeSecondRoot  Code = "LDG-402"
	CodeMessage     Code = "LDG-403"
	CodeCommitChain Code = "LDG-404"
	CodeCommitTime  Code = "LDG-405"
	CodeShallow     Code = "LDG-406"
	CodeReplaced    Code = "LDG-407"
	CodeRewritten   Code = "LDG-408"

	CodeTruncated   Code = "LDG-501"
	CodePinTip      Code = "LDG-502"
	CodePinRoot     Code = "LDG-503"
	CodePinGenesis  Code = "LDG-504"
	CodePinMissing  Code = "LDG-505"
	CodePinUnusable Code = "LDG-506"

	CodeNoReview      Code = "LDG-601"
	CodeReviewDiffers Code = "LDG-602"
	CodeReviewChanged Code = "LDG-603"
	CodeUnreceipted   Code = "LDG-604"
	CodeMergeDiffers  Code = "LDG-605"
	CodeOnlineUnread  Code = "LDG-606"

	CodeFork Code = "LDG-701"
)

// Level is how far a verification reaches.
type Level int

// The levels. Each includes those below it. They are separate because each needs somebody else to trust: nobody, one's
// own memory, the base branch, the forge, another person.
const (
	L1 Level = iota + 1 // bytes, chain and tree agree with themselves
	L2                  // the chain extends what I saw before
	L3                  // it agrees with the pins in the base branch and in reviews
	L4                  // it agrees with the forge's record of reviews and merges
	L5                  // it agrees with another copy
)

// String returns L1 … L5.
func (l Level) String() string { return fmt.Sprintf("L%d", int(l)) }

// Says is what a verification that reached the level has shown. A level outside the table says what its nearest one
// does, and below L1 that is nothing.
func (l Level) Says() string {
	return [...]string{"nothing was verified", "the bytes, the chain and the tree agree with themselves",
		"the chain extends what was seen here before", "it agrees with the pins in the base branch and in reviews",
		"it agrees with the forge's record of reviews and merges", "it agrees with the other copy"}[max(L1-1,
		min(l, L5))]
}

// unseen is what some levels cannot see. By lists the levels that can, and is empty where no level can. A verification
// that kept quiet about this would be read as saying more than it does.
var unseen = []struct {
	by   []Level
	what string
}{
	{[]Level{L2}, "entries cut off at the end: compare count and tip with what you know (L2)"},
	{[]Level{L2, L3}, "a rewrite of the whole ledger (L2, L3)"},
	{[]Level{L3}, "a poisoned first pin: what was seen first may have been false already (L3)"},
	{[]Level{L4}, "a forged entry that the repository's own workflow token appended (L4)"},
	{[]Level{L4}, "an approval edited or dismissed later, and a merge without a receipt (L4)"},
	{[]Level{L5}, "another history shown to somebody else (L5)"},
	{nil, "a forge that lies about its own record"},
	{nil, "a forged entry that lends a real approval to other bytes: `referee receipt replay` reads what was approved"},
	{nil, "a person who approved without looking"},
	{nil, "changes to README.md and verify.html: they are not checked, so use your own copy of the page"},
}

// Blind is what a verification that reached the level, and with it those below, cannot have seen. It is printed with
// every good result, so that no result is a bare tick (receipts.md, "Levels").
func (l Level) Blind() []string {
	var looked []Level
	for below := L1; below <= l; below++ {
		looked = append(looked, below)
	}
	return Unseen(looked)
}

// Unseen is what a verification that looked at these levels, and at no others, cannot have seen. Levels can be skipped
// (a clone without a forge has L2 and not L4), so the highest one alone does not tell.
func Unseen(looked []Level) (what []string) {
	for _, u := range unseen {
		if !slices.ContainsFunc(u.by, func(l Level) bool { return slices.Contains(looked, l) }) {
			what = append(what, u.what)
		}
	}
	return what
}

// About is what the documentation says of a code.
type About struct {
	Code               Code
	Level              Level // the lowest level at which it is seen
	Title, Why, Remedy string
}

const (
	restore = "restore the branch from a clone that verifies, and find out who pushed"
	outside = "remove the file by restoring the branch from a clone that verifies"
)

// Codes lists every code with its meaning, in the order of the numbers.
func Codes() []About { return slices.Clone(codes) }

// codes is the one place where a code is described; the table in receipts.md is generated from it
// (TestReceiptsDocument).
var codes = []About{
	{CodeUnknownFile, L1, "a file that no ledger has", "a ledger contains nothing else: a foreign file could be " +
		"mistaken for a part of it", outside},
	{CodeMode, L1, "a symlink, a submodule or an executable", "a link can show other bytes than were hashed", outside},
	{CodeSize, L1, "a file that is too large", "a huge file would exhaust the verifier; it was not read", outside},
	{CodeNotCanonical, L1, "bytes that are not canonical",
		"two different texts with one meaning must not both be receipts", restore},
	{CodeName, L1, "a name that is not the hash of the bytes", "the bytes were edited after the receipt was minted",
		restore},
	{CodeUnknownSchema, L1, "a schema of another version", "what cannot be read cannot be verified, and an older " +
		"reader must not pass what a newer one would refuse",
		"verify with a version of referee that knows the schema; if there is none, restore the branch"},
	{CodeInvalid, L1, "a receipt that could not have been minted",
		"it lacks what every receipt has, such as an approval, or contradicts itself", restore},
	{CodeMisplaced, L1, "a receipt in the wrong place for its seq or pull request",
		"the three paths of an entry are made from its contents", restore},
	{CodeAliasMissing, L1, "an entry without its second or third path",
		"a lookup by hash or by pull request would miss it", restore},
	{CodeAliasDiffers, L1, "a path by hash or pull request that holds other bytes",
		"a lookup that way would show another receipt than the chain contains", restore},
	{CodeAliasOrphan, L1, "a path by hash or pull request without an entry",
		"a receipt outside the chain proves nothing", outside},
	{CodeTooMany, L1, "more entries or more problems than are looked at",
		"the time and memory of a verification are bounded", restore},
	{CodeUnreadable, L1, "a file that could not be read", "what was not read was not verified",
		"fetch the branch again, with all its objects"},
	{CodeAttributes, L1, ".gitattributes that are not \"* -text\"",
		"a checkout could change line endings, and with them every hash", restore},
	{CodeSheet, L1, "a rulebook whose name is not its hash", "a receipt binds its rulebook by that hash", restore},
	{CodeSheetOrphan, L1, "a rulebook that no receipt uses", "it does not belong to this ledger", outside},

	{CodeGap, L1, "a seq that is missing", "an entry was dropped", restore},
	{CodeTwin, L1, "two entries with one seq", "a chain has one entry at each place", restore},
	{CodeParent, L1, "a parent_hash that is not the entry before", "entries were reordered, inserted or rewritten",
		restore},
	{CodeLog, L1, "a log that is not the tree before the entry", "the entry was minted on a different tree",
		restore},
	{CodeDuplicate, L1, "one sign-off twice", "the idempotency key names a sign-off, and each yields one receipt",
		restore},
	{CodeRepository, L1, "a receipt of another repository", "it was signed off there, not here", restore},
	{CodeReference, L1, "a reference to no earlier entry, or to one that does not carry it",
		"life-cycle entries, cooks and incidents refer to earlier entries of the same ledger", restore},

	{CodeHeadUnreadable, L1, "HEAD.json is missing or cannot be read", "appends build on it",
		"recompute it with a clone that verifies"},
	{CodeHeadLies, L1, "HEAD.json states another head", "it is derived from the entries; an append on it would " +
		"break the chain", restore},
	{CodeInfoUnreadable, L1, "LEDGER.json is missing or cannot be read",
		"it says which repository the ledger belongs to", restore},
	{CodeInfoLies, L1, "LEDGER.json states another genesis or repository",
		"it is written with the first entry and never again", restore},

	{CodeMerge, L1, "a commit with two parents", "the branch is linear", restore},
	{CodeSecondRoot, L1, "a history that does not begin with one commit of its own", "the branch is an orphan",
		restore},
	{CodeMessage, L1, "a commit that is not a sign-off", "each commit adds the entries of one sign-off and says so " +
		"in its message", restore},
	{CodeCommitChain, L1, "commits that do not follow one another",
		"a message names the receipt that it adds and, as Parent-Receipt, the one before", restore},
	{CodeCommitTime, L1, "a commit before its parent, or before its receipt was minted",
		"clocks do not run backwards; a date was made up",
		"look at the commits named; a server's clock may have been wrong"},
	{CodeShallow, L1, "a shallow clone", "what was not fetched cannot be complete", "git fetch --unshallow"},
	{CodeReplaced, L1, "refs/replace or grafts", "git would show objects other than the ones named",
		"delete refs/replace and info/grafts, and fetch again"},
	{CodeRewritten, L1, "a commit that edits or deletes", "files of a ledger never change but HEAD.json", restore},

	{CodeTruncated, L2, "fewer entries than were seen before", "entries were cut off at the end", restore},
	{CodePinTip, L2, "an entry that differs from the pin", "the chain was rewritten from there or earlier", restore},
	{CodePinRoot, L2, "a tree that differs from the pin", "the entries before the pin have changed", restore},
	{CodePinGenesis, L3, "a genesis other than the one that the base branch pins", "it is another ledger", restore},
	{CodePinMissing, L3, "a receipt that was announced and is not in the ledger",
		"the gate's review on a pull request names its hash", restore},
	{CodePinUnusable, L2, "a pin that cannot be read", "a pin that says nothing protects nothing",
		"remove the pin only if you know why it is broken"},

	{CodeNoReview, L4, "an approval that the forge does not know", "the entry was forged, or the review deleted",
		"treat the receipt as void; find out which job wrote it"},
	{CodeReviewDiffers, L4, "an approval that the forge records differently",
		"approver, time, commit or text is not what the receipt says",
		"treat the receipt as void; find out which job wrote it"},
	{CodeReviewChanged, L4, "an approval that was edited or dismissed later",
		"nobody may rely on the receipt, and the ledger does not say so yet",
		"run the gate's schedule: it appends amended or revoked"},
	{CodeUnreceipted, L4, "a merged run without a live receipt", "it bypassed the gate",
		"run the gate's reconciliation: it appends unreceipted"},
	{CodeMergeDiffers, L4, "a merge that the forge does not know",
		"the entry merged names a merge commit of no such pull request",
		"treat the entry as void; find out which job wrote it"},
	{CodeOnlineUnread, L4, "a record that could not be read", "what was not read was not compared",
		"run again with a token that may read pull requests"},

	{CodeFork, L5, "two copies that are neither the same nor one the beginning of the other",
		"somebody is shown another history", "keep both copies; find where they part, and who pushed"},
}

// Of returns what the documentation says of a code.
func (c Code) Of() (About, bool) {
	i := slices.IndexFunc(codes, func(a About) bool { return a.Code == c })
	if i < 0 {
		return About{}, false
	}
	return codes[i], true
}

// Problem is one thing that is wrong with a ledger. It is a value and not an error: a verification collects them, while
// an error means that it could not look (exit code 3).
type Problem struct {
	Code    Code
	Level   Level
	Path    string // "" if it is about no single file
	Seq     int64  // -1 if it is about no single entry
	Message string
}

// String returns code, place and message in one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(string(p.Code))
	if p.Path != "" {
		fmt.Fprintf(&b, " %s", p.Path)
	} else if p.Seq >= 0 {
		fmt.Fprintf(&b, " entry %d", p.Seq)
	}
	return b.String() + ": " + p.Message
}

// newProblem makes a Problem at the level of its code. The path is foreign text and is clipped here; whoever passes
// foreign text as an argument clips it there.
func newProblem(code Code, path string, seq int64, format string, args ...any) Problem {
	about, _ := code.Of()
	return Problem{code, about.Level, clipForeign(path), seq, fmt.Sprintf(format, args...)}
}
