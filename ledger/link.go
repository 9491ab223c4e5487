package ledger

import (
	"encoding/hex"
)

// chain follows the entries in order. It keeps of each what later entries may refer to, and no more: a ledger has up to
// three million of them (maxEntries).
type chain struct {
	leaves       *Leaves
	edge         edge
	next         int64
	tip          string
	hashes       []string
	minted       []string
	keys         map[[32]byte]int64 // idempotency key to seq
	priors       map[string]*Prior
	pulls        map[string]int64 // hash to pull request, of the entries that could be read
	repositories []foreign        // the first entry of each repository
	words        map[string]string
	broken       bool // something is wrong already, so that the tree is another one from there on
}

// foreign is a repository and the first entry that names it.
type foreign struct{ id, seq int64 }

func newChain(leaves *Leaves) *chain {
	return &chain{
		leaves: leaves, tip: NoParent, keys: map[[32]byte]int64{}, priors: map[string]*Prior{},
		pulls: map[string]int64{},
		words: map[string]string{},
	}
}

// linkEntry puts an entry at the end of the chain and lists what does not fit there. The names under receipts/ are
// followed, and not the parent_hash of each: so every file is looked at once, and one broken link is one problem. For
// the same reason the tree is compared only while nothing is wrong: after the first difference every later log differs
// too.
func (c *chain) linkEntry(e named, x checked) (problems []Problem) {
	add := func(code Code, format string, args ...any) {
		problems = append(problems, newProblem(code, "", e.seq, format, args...))
	}
	// Whatever is wrong with an entry, the log of the next ones is not compared any more.
	defer func() { c.broken = c.broken || x.err != nil || len(problems) > 0 }()
	// The entries are sorted by seq, so a smaller one repeats the last. It stays out of the chain: the first of the two
	// has taken the place. What it says is kept, for its aliases are judged as well.
	if e.seq < c.next {
		add(CodeTwin, "another entry has the seq %d already", e.seq)
		c.rememberEntry(e, x.receipt)
		return problems
	}
	if e.seq > c.next {
		c.broken = true
		add(CodeGap, "%d entries are missing before it, from seq %d", e.seq-c.next, c.next)
	}
	// Behind a gap, the entry before is not known, so only the gap is said.
	if r := x.receipt; r != nil {
		root := c.rootHash()
		if r.ParentHash != c.tip && e.seq == c.next {
			add(CodeParent, "parent_hash is %.8s…, the entry before is %.8s…", r.ParentHash, c.tip)
		} else if !c.broken && r.Log != (Log{c.edge.count, root}) {
			add(CodeLog, "log says %d and %.8s…, the tree before it is %d and %.8s…", r.Log.Count, r.Log.Root,
				c.edge.count, root)
		}
		problems = append(problems, c.checkReferences(e, r)...)
	}
	c.rememberEntry(e, x.receipt)
	// The chain goes on from the name even if the bytes do not match it (LDG-105): the entry after it names that hash.
	c.next, c.tip = e.seq+1, e.hash
	c.hashes = append(c.hashes, e.hash)
	at := ""
	if x.receipt != nil {
		at = x.receipt.MintedAt
	}
	c.minted = append(c.minted, at)
	c.edge.appendLeaf(x.leaf)
	if err := c.leaves.Add(x.leaf); err != nil {
		add(CodeLog, "%v", err)
	}
	return problems
}

func (c *chain) rootHash() string {
	root := c.edge.rootHash()
	return hex.EncodeToString(root[:])
}

// checkReferences checks what an entry shares with earlier ones: its key, and what it refers to. Only entries that were
// linked before are found, so a reference points backwards by itself.
func (c *chain) checkReferences(e named, r *Receipt) (problems []Problem) {
	key := hashBytes(r.IdempotencyKey)
	if first, twice := c.keys[key]; twice {
		problems = append(problems, newProblem(CodeDuplicate, "", e.seq,
			"the sign-off %.8s… has its receipt at seq %d already", r.IdempotencyKey, first))
	} else {
		c.keys[key] = e.seq
	}
	err := r.Resolve(func(hash string) (Prior, bool) {
		p, ok := c.priors[hash]
		if !ok {
			return Prior{}, false
		}
		return *p, true
	})
	if err != nil {
		problems = append(problems, newProblem(CodeReference, "", e.seq, "%v", err))
	}
	return problems
}

// rememberEntry keeps of an entry what later ones and its aliases need. The repositories are counted up to a hundred: a
// hostile ledger could name another one in each entry, and all of them are one kind of problem.
func (c *chain) rememberEntry(e named, r *Receipt) {
	if r == nil {
		return
	}
	c.pulls[e.hash] = r.Pull()
	p := PriorOf(r, e.hash)
	for _, s := range []*string{&p.Run.Lane, &p.Run.Project, &p.Sheet.Slug, &p.Sheet.Version, &p.Sheet.SHA256,
		&p.Score} {
		*s = c.internWord(*s)
	}
	c.priors[e.hash] = &p
	for _, f := range c.repositories {
		if f.id == r.Repository.ID {
			return
		}
	}
	if len(c.repositories) < 100 {
		c.repositories = append(c.repositories, foreign{r.Repository.ID, e.seq})
	}
}

// internWord returns one copy of each text, as sheets, lanes and scores repeat. Without it, each entry would hold its
// own copy of them for as long as the verification runs.
func (c *chain) internWord(s string) string {
	if w, ok := c.words[s]; ok {
		return w
	}
	c.words[s] = s
	return s
}
