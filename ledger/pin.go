package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/canonical"
)

// Pin is what somebody knows of a ledger from before, and where from. A pin with Count 1 and no Root names the genesis.
type Pin struct {
	Level  Level  `json:"-"` // L2 for what was seen here, L3 for what base and reviews say
	Source string `json:"-"` // for messages: "the configuration", "review 123 of pull request 7"
	Count  int64  `json:"count"`
	Tip    string `json:"tip" is:"hash"`            // the entry at Count−1
	Root   string `json:"root,omitempty" is:"hash"` // over the first Count entries; "" if not known
}

// PinOf is the pin that a good verification leaves behind. Only a verification without problems may leave one, or the
// next would be held to a forgery.
func PinOf(h Head, source string) Pin {
	return Pin{Level: L2, Source: source, Count: h.Count, Tip: h.Tip, Root: h.Root}
}

// Marshal returns the canonical bytes of a pin. Level and source are left out: whoever reads it knows where it comes
// from, and a file must not claim a higher level for itself.
func (p Pin) Marshal() ([]byte, error) { return canonical.Marshal(p) }

var pinDecoder = decoderOf[Pin]()

// ParsePin reads a pin. On an error the pin is zero. A pin is a file that anybody with the machine could edit, so it is
// read as strictly as a receipt.
func ParsePin(b []byte) (Pin, error) {
	var p Pin
	if err := pinDecoder().Decode(b, canonical.Receipt, &p); err != nil {
		return Pin{}, fmt.Errorf("pin: %w", err)
	}
	if p.Count > MaxSeq+1 || (p.Count == 0) != (p.Tip == NoParent) {
		return Pin{}, fmt.Errorf("pin: count %d with the tip %.8s…", p.Count, p.Tip)
	}
	return p, nil
}

// checkPins compares what was known before with the entries. A problem has the level of its pin, so that the result
// says who noticed it.
func (v *verifier) checkPins() error {
	for _, p := range v.o.Pins {
		if problem := v.result.Against(p); problem != nil {
			if err := v.report(problem.Code, "", problem.Seq, "%s", problem.Message); err != nil {
				return err
			}
			v.result.Problems[len(v.result.Problems)-1].Level = p.Level
		}
	}
	return nil
}

// Against holds the entries of a verified ledger to one pin more; nil if it holds. An unusable pin is a problem and not
// a missing one: forgetting must not look like never having known.
func (r *Verification) Against(p Pin) *Problem {
	say := func(code Code, format string, args ...any) *Problem {
		out := newProblem(code, "", p.Count-1, format, args...)
		out.Level = p.Level
		return &out
	}
	have := int64(len(r.Hashes))
	switch {
	case p.Count == 0:
		return nil
	case p.Count < 0 || canonical.CheckHash(p.Tip) != nil || p.Root != "" && canonical.CheckHash(p.Root) != nil:
		return say(CodePinUnusable, "%s: count %d, tip %q", p.Source, p.Count, clipForeign(p.Tip))
	case p.Count > have && p.Level >= L3:
		return say(CodePinMissing, "%s names the entry %d, %.8s…; the ledger has %d entries", p.Source, p.Count-1,
			p.Tip, have)
	case p.Count > have:
		return say(CodeTruncated, "%s has %d entries, the ledger only %d", p.Source, p.Count, have)
	case r.Hashes[p.Count-1] != p.Tip && p.Count == 1:
		return say(CodePinGenesis, "%s names the first entry %.8s…, in the ledger it is %.8s…", p.Source, p.Tip,
			r.Hashes[0])
	case r.Hashes[p.Count-1] != p.Tip:
		return say(CodePinTip, "%s has the entry %.8s…, the ledger %.8s…", p.Source, p.Tip, r.Hashes[p.Count-1])
	}
	if root, err := r.Leaves.Root(p.Count); p.Root != "" && (err != nil || root != p.Root) {
		return say(CodePinRoot, "%s has the root %.8s…, the ledger %.8s…", p.Source, p.Root, root)
	}
	return nil
}

// Compare holds two copies of a ledger together (L5): they are the same, or one is the beginning of the other. Both
// verifications are of whole trees. Names are compared first, to say where they part; then the roots, because a name
// alone does not fix the bytes.
func Compare(mine, other *Verification) []Problem {
	short, long, name := mine, other, "the other copy"
	if len(other.Hashes) < len(mine.Hashes) {
		short, long, name = other, mine, "this copy"
	}
	for i, hash := range short.Hashes {
		if long.Hashes[i] != hash {
			return []Problem{newProblem(CodeFork, "", int64(i),
				"the copies part here: %.8s… in this copy, %.8s… in the other", mine.Hashes[i], other.Hashes[i])}
		}
	}
	n := int64(len(short.Hashes))
	a, errA := short.Leaves.Root(n)
	b, errB := long.Leaves.Root(n)
	if errA != nil || errB != nil || a != b {
		return []Problem{newProblem(CodeFork, "", n-1, "the first %d names agree, the bytes behind them do not: %s "+
			"goes on from another tree", n, name)}
	}
	return nil
}

// VerifySince looks at what came after a head that was verified before: the new entries, each from the one behind it,
// the chain and the tree from the old right edge, and HEAD.json. It costs the same at any size of the ledger; it looks
// at no older file, so a change there is for Verify to see.
func VerifySince(ctx context.Context, s Store, at Snapshot, seen Head) (*Verification, error) {
	v := &Verification{Head: seen, Info: at.Info}
	// Said first: behind a shorter chain there is nothing to read.
	if at.Head.Count < seen.Count {
		v.Problems = append(v.Problems, newProblem(CodeTruncated, "", at.Head.Count,
			"%d entries were seen before, the ledger has %d", seen.Count, at.Head.Count))
		return v, nil
	}
	if bad := v.collectNew(ctx, s, at, seen); bad != nil {
		v.Problems = append(v.Problems, *bad)
		return v, ctx.Err()
	}
	if v.Head.Tip != at.Head.Tip || v.Head.Root != at.Head.Root {
		v.Problems = append(v.Problems, newProblem(CodeHeadLies, HeadPath, -1,
			"it says tip %.8s… and root %.8s…; the entries make %.8s… and %.8s…",
			at.Head.Tip, at.Head.Root, v.Head.Tip, v.Head.Root))
		return v, nil
	}
	v.Level = L2
	return v, nil
}

// collectNew reads the new entries from the tip backwards and puts them on the old head forwards. An entry is found by
// the parent_hash of the next one, and a tree grows from the left.
func (v *Verification) collectNew(ctx context.Context, s Store, at Snapshot, seen Head) *Problem {
	var fresh []*Entry
	say := func(code Code, seq int64, format string, args ...any) *Problem {
		p := newProblem(code, "", seq, format, args...)
		return &p
	}
	if at.Head.Count > seen.Count {
		for e, err := range Backwards(ctx, s, at) {
			if err != nil {
				return say(CodeUnreadable, at.Head.Count-1-int64(len(fresh)), "%v", err)
			}
			fresh = append(fresh, e)
			if e.Receipt.Seq == seen.Count {
				break
			}
		}
	}
	// The tree can only be extended forwards, although the chain can only be followed backwards.
	slices.Reverse(fresh)
	if len(fresh) > 0 && v.Head.Tip == "" { // from dropLastSubtrees, which cannot know the tip
		v.Head.Tip = fresh[0].Receipt.ParentHash
	}
	for _, e := range fresh {
		if e.Receipt.ParentHash != v.Head.Tip {
			return say(CodePinTip, seen.Count-1, "%.8s… was seen here before, the ledger goes on from %.8s…",
				v.Head.Tip, e.Receipt.ParentHash)
		}
		next, err := v.Head.Append(e.Bytes)
		if err != nil {
			return say(CodeLog, e.Receipt.Seq, "%v", err)
		}
		v.Head, v.Hashes, v.fresh = next, append(v.Hashes, e.Hash), append(v.fresh, e)
	}
	return nil
}
