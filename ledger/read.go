package ledger

import (
	"context"
	"fmt"
)

// History is a Store that can also read the commits of its branch.
type History interface {
	// Commits returns the newest n commits of that state, the newest first; fewer where there are no more, or where the
	// store cannot deliver more.
	Commits(ctx context.Context, at Snapshot, n int) ([]Commit, error)
}

// recentCommits is how many of the newest commits VerifyForReading looks at. Every append looks first, so a foreign
// commit stops the next one and does not sink below this many.
const recentCommits = 32

// VerifyForReading holds a ledger to itself before anything in it is used: the end of the chain (VerifyTail), the
// genesis, where one is pinned, and the newest commits. It costs the same at any size of the ledger, so every job can
// afford it. What it cannot see is an old entry that was replaced together with all of its places; Verify looks at the
// whole.
func VerifyForReading(ctx context.Context, s Store, at Snapshot, genesis string) ([]Problem, error) {
	if at.ID == "" && genesis == "" {
		return nil, nil
	}
	// A pinned ledger that is empty was deleted or replaced: passing it would begin a second one beside the first.
	if at.Head.Count == 0 && genesis != "" {
		return []Problem{newProblem(CodePinGenesis, "", -1, "the ledger is empty or missing; the configuration pins "+
			"the genesis %.8s…", genesis)}, nil
	}
	var problems []Problem
	if genesis != "" && (at.Info == nil || at.Info.Genesis != genesis) {
		have := "none"
		if at.Info != nil {
			have = at.Info.Genesis
		}
		problems = append(problems, newProblem(CodePinGenesis, InfoPath, -1,
			"the genesis is %.8s…; the configuration pins %.8s…", have, genesis))
	}
	_, tail, err := VerifyTail(ctx, s, at, Head{})
	if err != nil {
		return nil, err
	}
	problems = append(problems, tail...)
	if h, ok := s.(History); ok {
		commits, err := h.Commits(ctx, at, recentCommits)
		if err != nil {
			return nil, err
		}
		problems = append(problems, verifyCommits(commits, at.Head)...)
	}
	return problems, nil
}

// verifyCommits holds the newest commits, the newest first, to what appends make: one parent, a message that names the
// entry it adds, and the entry before. The first message that does not fit ends the walk, because what lies behind it
// cannot be told.
func verifyCommits(commits []Commit, head Head) (problems []Problem) {
	want := head.Tip
	for _, c := range commits {
		id := fmt.Sprintf("commit %.12s", c.ID)
		if len(c.Parents) > 1 {
			problems = append(problems, newProblem(CodeMerge, "", -1, "%s has %d parents", id, len(c.Parents)))
		}
		if (c.Message+"\n" == initMessage || c.Message == initMessage) && len(c.Parents) == 0 {
			return problems
		}
		said, err := ParseMessage(c.Message)
		if err != nil {
			return append(problems, newProblem(CodeMessage, "", -1, "%s: %v", id, err))
		}
		if said.Hash != want {
			return append(problems, newProblem(CodeCommitChain, "", said.Seq,
				"%s names the receipt %.8s…, here it should be %.8s…", id, said.Hash, want))
		}
		want = said.Parent
	}
	return problems
}

// EntriesOf returns a pull request's entries in the order of the chain, each held to its place in the chain: a file
// below pr/ that is not also the entry at its seq is a problem, and is not returned. Whoever can push can put a file
// there, and the gate reads these entries. repository is the forge's id of the ledger's repository; 0 skips that
// comparison.
func EntriesOf(ctx context.Context, s Store, at Snapshot, pull, repository int64) (entries []Entry, problems []Problem,
	err error) {
	if at.Head.Count == 0 || pull <= 0 {
		return nil, nil, nil
	}
	files, err := s.Read(ctx, at, PullDir(pull))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the entries of pull request %d: %w", pull, err)
	}
	for _, f := range files {
		p := heldAlias(ctx, s, at, f, pull, repository)
		if p != nil {
			problems = append(problems, *p)
			continue
		}
		e, err := entryOf(f.Data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		entries = append(entries, *e)
	}
	return entries, problems, ctx.Err()
}

// heldAlias says what is wrong with a file of a pull request's directory: each must be the bytes of the entry that its
// name says, at its place in the chain. The last comparison is of bytes: a name that is right says nothing about them.
func heldAlias(ctx context.Context, s Store, at Snapshot, f File, pull, repository int64) *Problem {
	is := func(code Code, seq int64, format string, args ...any) *Problem {
		p := newProblem(code, f.Path, seq, format, args...)
		return &p
	}
	e, err := entryOf(f.Data)
	if err != nil {
		return is(CodeInvalid, -1, "%v", err)
	}
	r := e.Receipt
	want := Place{Class: PullAlias, Seq: r.Seq, Pull: r.Pull(), Hash: e.Hash}.String()
	switch {
	case f.Path != want || r.Pull() != pull:
		return is(CodeMisplaced, r.Seq, "the entry belongs at %s", want)
	case r.Seq >= at.Head.Count:
		return is(CodeAliasOrphan, r.Seq, "the chain has %d entries, but none at %d", at.Head.Count, r.Seq)
	case repository != 0 && r.Repository.ID != repository:
		return is(CodeRepository, r.Seq, "it is an entry of the repository %d, not %d", r.Repository.ID, repository)
	}
	place := Place{Class: EntryFile, Seq: r.Seq, Hash: e.Hash}.String()
	same, err := s.Read(ctx, at, place)
	switch {
	case err != nil:
		return is(CodeUnreadable, r.Seq, "%s: %v", place, err)
	case len(same) == 0:
		return is(CodeAliasOrphan, r.Seq, "%s is missing: the entry is not in the chain", place)
	case string(same[0].Data) != string(f.Data):
		return is(CodeAliasDiffers, r.Seq, "%s holds other bytes", place)
	}
	return nil
}
