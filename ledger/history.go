package ledger

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Commit is one commit of the branch, as far as a verifier looks at it. Author and tree are not among it: anybody can
// write an author, and the tree of the newest commit is verified as a whole.
type Commit struct {
	ID      string
	Parents []string
	Time    time.Time // the committer's
	Message string
	Edits   []string // paths other than HEAD.json that it changes or deletes; nil if nobody looked
}

// messagePattern takes apart what Message writes, and nothing else: nine and at most eight digits are those of MaxSeq
// and MaxPullRequest, and \A and \z keep a message from carrying a second text behind the one that was read.
var messagePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\Areceipt ([0-9]{9}) (?:pr#([1-9][0-9]{0,7}) )?sha256:([0-9a-f]{64})\n\nParent-Receipt: ([0-9a-f]{64})\n?\z`)
})

// Stated is what a commit's message states.
type Stated struct {
	Seq    int64
	Pull   int64 // 0 outside a forge
	Hash   string
	Parent string
}

// ParseMessage takes a commit's message apart. A server may have cut the last line feed.
func ParseMessage(message string) (Stated, error) {
	m := messagePattern().FindStringSubmatch(message)
	if m == nil {
		return Stated{}, fmt.Errorf("the message %q is not that of a sign-off", clipForeign(message))
	}
	seq, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return Stated{}, err
	}
	s := Stated{Seq: seq, Hash: m[3], Parent: m[4]}
	if m[2] != "" {
		s.Pull, err = strconv.ParseInt(m[2], 10, 64)
	}
	return s, err
}

// VerifyHistory looks at the commits of the branch from the newest to the first: a linear orphan, one commit a
// sign-off, whose messages name the receipts that the tree holds, and whose dates do not run backwards. The tree alone
// cannot show that a commit in between took an entry away and a later one put another in its place; the commits can.
// minted returns minted_at of the entry at seq, "" if it is not known.
func VerifyHistory(commits iter.Seq2[Commit, error], v *Verification, minted func(seq int64) string) ([]Problem,
	error) {
	h := history{v: v, minted: minted, want: v.Head.Tip}
	var last *Commit
	for c, err := range commits {
		if err != nil {
			return nil, err
		}
		// A foreign branch can have millions of commits, each of them wrong.
		if len(h.problems) >= MaxProblems {
			h.addProblem(CodeTooMany, -1, "%d problems are listed; there may be more", MaxProblems)
			return h.problems, nil
		}
		h.checkCommit(c, last)
		last = &c
	}
	if last != nil && h.want != NoParent && !h.lost {
		h.addProblem(CodeCommitChain, -1, "the first commit goes on from the receipt %.8s…", h.want)
	}
	return h.problems, nil
}

// history is the walk: want is the receipt that the next older commit must have added. After a mismatch the walk goes
// on from what the message says, so that one wrong commit is one problem.
type history struct {
	v        *Verification
	minted   func(int64) string
	want     string
	lost     bool // a message could not be read, so that the chain of messages is broken already
	problems []Problem
}

func (h *history) addProblem(code Code, seq int64, format string, args ...any) {
	h.problems = append(h.problems, newProblem(code, "", seq, format, args...))
}

// checkCommit holds one commit to the one after it, which was looked at before: newer is nil for the newest.
func (h *history) checkCommit(c Commit, newer *Commit) {
	id := fmt.Sprintf("commit %.12s", c.ID)
	if len(c.Parents) > 1 {
		h.addProblem(CodeMerge, -1, "%s has %d parents", id, len(c.Parents))
	}
	if newer != nil && (len(newer.Parents) == 0 || newer.Parents[0] != c.ID) {
		h.addProblem(CodeSecondRoot, -1, "%s is not a parent of the next commit, %.12s", id, newer.ID)
	}
	if newer != nil && newer.Time.Before(c.Time) {
		h.addProblem(CodeCommitTime, -1, "commit %.12s is dated %s, its parent %.12s %s", newer.ID,
			newer.Time.UTC().Format(time.RFC3339), c.ID, c.Time.UTC().Format(time.RFC3339))
	}
	for _, path := range c.Edits {
		h.addProblem(CodeRewritten, -1, "%s changes or deletes %s", id, clipForeign(path))
	}
	h.checkMessage(c, id)
}

// checkMessage holds what the message states to the tree and to the chain of messages. Only the first commit of a
// branch may begin an empty ledger; anywhere else that message would be a commit that adds no receipt (LDG-403).
func (h *history) checkMessage(c Commit, id string) {
	if c.Message+"\n" == initMessage || c.Message == initMessage {
		if len(c.Parents) > 0 {
			h.addProblem(CodeMessage, -1, "%s starts a ledger that already exists", id)
		}
		return
	}
	s, err := ParseMessage(c.Message)
	if err != nil {
		h.addProblem(CodeMessage, -1, "%s: %v", id, err)
		h.lost = true
		return
	}
	// A message can name any number, so the tree is asked only where it has an entry.
	held := s.Seq < int64(len(h.v.Hashes)) && h.v.Hashes[s.Seq] == s.Hash
	switch {
	case !held:
		h.addProblem(CodeCommitChain, s.Seq, "%s names the receipt %.8s…, which the tree does not hold at seq %d", id, s.Hash,
			s.Seq)
	case !h.lost && s.Hash != h.want:
		h.addProblem(CodeCommitChain, s.Seq, "%s names the receipt %.8s…, here it should be %.8s…", id, s.Hash, h.want)
	}
	h.want, h.lost = s.Parent, false
	// Both texts have one layout of fixed width in UTC, so they compare as the times do.
	if at := h.minted(s.Seq); held && at != "" && c.Time.UTC().Format("2006-01-02T15:04:05Z") < at {
		h.addProblem(CodeCommitTime, s.Seq, "%s is dated %s, but its receipt was minted at %s", id,
			c.Time.UTC().Format(time.RFC3339), at)
	}
}
