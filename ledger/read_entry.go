package ledger

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/internal/canonical"
)

// ParseUnverified reads the form of a receipt and nothing else: canonical, of a known schema, every member of its type.
// The result may contradict itself in any way (Parse refuses that), and may be shown only by a paper that says so.
func ParseUnverified(b []byte) (*Receipt, error) {
	r := new(Receipt)
	if err := receiptDecoder().Decode(b, canonical.Receipt, r); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return r, nil
}

// VerifyEntry holds one entry to the ledger that it is said to belong to, before it is shown: its bytes are at its
// place and at its aliases, no other entry has its seq, it names the entry before it and is named by the one after it
// (or by HEAD.json), and what it refers to is there. The neighbour's parent_hash is what an attacker who replaces one
// old entry in all of its places cannot change without replacing that one too. With VerifyForReading, which looks at
// the end of the chain, it costs the same at any size of the ledger. Later are the entries of the same pull request
// that say something about it. What it cannot see is several neighbouring entries that were replaced together; Verify
// looks at the whole.
func VerifyEntry(ctx context.Context, s Store, at Snapshot, e *Entry) (later []Entry, problems []Problem, err error) {
	v := &entryCheck{ctx: ctx, s: s, at: at, e: e, r: e.Receipt}
	// The seq is the receipt's own word and may name a place that the ledger does not have.
	if v.r.Seq < 0 || v.r.Seq >= at.Head.Count {
		v.addProblem(CodeMisplaced, v.r.Seq, "the ledger has %d entries, but none with the seq %d", at.Head.Count, v.r.Seq)
		return nil, v.problems, nil
	}
	for _, check := range []func() error{v.checkPlace, v.checkParent, v.checkNext, v.checkBelonging} {
		if err := check(); err != nil {
			return nil, nil, err
		}
		if v.foreign {
			return nil, v.problems, nil // the rest would only say it again
		}
	}
	later, err = v.laterEntries()
	return later, v.problems, err
}

// entryCheck holds one entry to its ledger.
type entryCheck struct {
	ctx      context.Context
	s        Store
	at       Snapshot
	e        *Entry
	r        *Receipt
	problems []Problem
	foreign  bool // the ledger holds another entry in its place
}

func (v *entryCheck) addProblem(code Code, seq int64, format string, args ...any) {
	v.problems = append(v.problems, newProblem(code, "", seq, format, args...))
}

// entriesAt returns the files of a seq: one, in an intact ledger. It lists the directory, because a second file with
// the seq has another hash in its name and is never found by the path of the first.
func (v *entryCheck) entriesAt(seq int64) (found []File, err error) {
	files, err := v.s.Read(v.ctx, v.at, EntryDir(seq))
	if err != nil {
		return nil, fmt.Errorf("reading the entry %d: %w", seq, err)
	}
	for _, f := range files {
		if p, err := ParsePath(f.Path); err == nil && p.Class == EntryFile && p.Seq == seq {
			found = append(found, f)
		}
	}
	return found, nil
}

// checkPlace compares the bytes with those at the entry's place and at its aliases. Bytes are compared and not only
// looked up: all three paths must lead a reader to the same receipt.
func (v *entryCheck) checkPlace() error {
	found, err := v.entriesAt(v.r.Seq)
	if err != nil {
		return err
	}
	for _, f := range found {
		if p, _ := ParsePath(f.Path); p.Hash != v.e.Hash {
			v.foreign = true
			v.addProblem(CodeTwin, v.r.Seq, "the entry with this seq is %.12s…, not %.12s…", p.Hash, v.e.Hash)
		}
	}
	if v.foreign {
		return nil
	}
	for _, place := range Places(v.r.Seq, v.e.Hash, v.r.Pull()) {
		same, err := v.s.Read(v.ctx, v.at, place.String())
		switch {
		case err != nil:
			return fmt.Errorf("reading %s: %w", place, err)
		case len(same) == 0:
			v.addProblem(CodeAliasMissing, v.r.Seq, "%s is missing", place)
		case string(same[0].Data) != string(v.e.Bytes):
			v.addProblem(CodeAliasDiffers, v.r.Seq, "%s holds other bytes", place)
		}
	}
	return nil
}

// checkParent holds the entry to the one that it names as its parent. The first entry has none; there, LEDGER.json must
// name it, or it is the beginning of another ledger.
func (v *entryCheck) checkParent() error {
	if v.r.Seq == 0 {
		if v.at.Info == nil || v.at.Info.Genesis != v.e.Hash {
			v.addProblem(CodeInfoLies, 0, "%s names a different first entry", InfoPath)
		}
		return nil
	}
	place := Place{Class: EntryFile, Seq: v.r.Seq - 1, Hash: v.r.ParentHash}
	files, err := v.s.Read(v.ctx, v.at, place.String())
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", place, err)
	case len(files) == 0:
		v.addProblem(CodeParent, v.r.Seq, "parent_hash is %.8s…, which is not the entry before it", v.r.ParentHash)
	case canonical.SHA256Hex(files[0].Data) != v.r.ParentHash:
		v.addProblem(CodeName, v.r.Seq-1, "the bytes of %s do not match its name", place)
	}
	return nil
}

// checkNext holds the entry that follows, or HEAD.json, to this one. At the end of the chain nothing follows that could
// contradict it, so the head does.
func (v *entryCheck) checkNext() error {
	next := v.r.Seq + 1
	if next == v.at.Head.Count {
		if v.at.Head.Tip != v.e.Hash {
			v.addProblem(CodeHeadLies, v.r.Seq, "%s says that the chain ends at %.8s…, not at this entry", HeadPath,
				v.at.Head.Tip)
		}
		return nil
	}
	found, err := v.entriesAt(next)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		v.addProblem(CodeGap, next, "the entry after it is missing")
	}
	for _, f := range found {
		child, err := entryOf(f.Data)
		switch {
		case err != nil:
			v.addProblem(CodeInvalid, next, "%v", err)
		case child.Receipt.ParentHash != v.e.Hash:
			v.addProblem(CodeParent, next, "parent_hash is %.8s…, the entry before is %.8s…", child.Receipt.ParentHash,
				v.e.Hash)
		}
	}
	return nil
}

// checkBelonging holds the entry to its ledger's repository, and to the earlier entries that it names.
func (v *entryCheck) checkBelonging() error {
	if v.at.Info == nil {
		v.addProblem(CodeInfoUnreadable, -1, "%s is missing", InfoPath)
	} else if v.r.Repository.ID != v.at.Info.Repository.ID {
		v.addProblem(CodeRepository, v.r.Seq, "the entry belongs to the repository %d, the ledger to %d",
			v.r.Repository.ID, v.at.Info.Repository.ID)
	}
	err := v.r.Resolve(func(hash string) (Prior, bool) {
		e, err := Lookup(v.ctx, v.s, v.at, hash)
		if err != nil || e == nil {
			return Prior{}, false
		}
		return PriorOf(e.Receipt, e.Hash), true
	})
	if err != nil {
		v.addProblem(CodeReference, v.r.Seq, "%v", err)
	}
	return v.ctx.Err()
}

// laterEntries returns the entries of the same pull request that refer to this one. A paper must show them: a receipt
// that was taken back is still a valid entry (threat-model.md, "a receipt that a later entry takes back, shown alone").
func (v *entryCheck) laterEntries() (later []Entry, err error) {
	entries, problems, err := EntriesOf(v.ctx, v.s, v.at, v.r.Pull(), 0)
	if err != nil {
		return nil, err
	}
	v.problems = append(v.problems, problems...)
	for _, e := range entries {
		if e.Receipt.RefersTo == v.e.Hash && e.Receipt.Seq > v.r.Seq {
			later = append(later, e)
		}
	}
	return later, nil
}
