package main

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

const proveLong = `Prints a proof, with at most 30 hashes, that the entry is in the tree of the
first N entries (RFC 6962). Whoever has the root (` + "`referee ledger head`" + `) needs
nothing else of the ledger: --check FILE recomputes the root from the proof, and
with a receipt's FILE holds the proof to these bytes. Compare the root that it
prints with one that you trust; a proof says nothing about the root itself.
--from COUNT proves instead that the tree of the first N entries extends the one
of the first COUNT: nothing that stood there was changed or left out. With
COUNT:ROOT, as ` + "`referee ledger head`" + ` gave them then, the proof is also held to
the root that you kept; --check FILE --from COUNT:ROOT needs no ledger.`

func ledgerProveCommand() *command {
	c := newCommand("ledger prove", "SEQ|ID|HASH", "prove that an entry is in the ledger", 1)
	c.long = proveLong
	c.examples = []string{"referee ledger prove 12 > proof.json", "referee ledger prove 3fa9 --size 100",
		"referee ledger prove --check proof.json 000000012-3fa9….json",
		"referee ledger prove --from 12 --size 100 > extends.json",
		"referee ledger prove --check extends.json --from 12:8c1e…"}
	size := c.flags.Int64("size", 0, "in the tree of the first `N` entries (default: all)")
	check := c.flags.String("check", "", "check the proof in `FILE` instead")
	earlier := c.flags.String("from", "", "prove that the tree extends the one of `COUNT` entries, or COUNT:ROOT")
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, args []string) error {
		from, err := parseFrom(*earlier)
		switch {
		case err != nil:
			return err
		case *check != "":
			return a.checkProof(*check, from, args)
		case from != nil && len(args) > 0:
			return usagef("--from takes no entry: it proves that a tree extends an earlier one")
		case from == nil && len(args) == 0:
			return usagef("ledger prove needs a number, an id or a hash, or --from COUNT").withHint(
				"`referee ledger log` lists the entries")
		}
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		if from != nil {
			return a.proveFrom(k, where, *from, *size)
		}
		return a.proveEntry(k, where, args[0], *size)
	}
	return c
}

// rootPin is a root that was given as COUNT:ROOT, or COUNT alone.
type rootPin struct {
	count int64
	root  string
}

// parseFrom reads --from: COUNT, or COUNT:ROOT. It is nil where the flag says nothing.
func parseFrom(word string) (*rootPin, error) {
	if word == "" {
		return nil, nil
	}
	digits, _, rooted := strings.Cut(word, ":")
	count, err := strconv.ParseInt(digits, 10, 64)
	m := rootPattern().FindStringSubmatch(word)
	if err != nil || count < 1 || strconv.FormatInt(count, 10) != digits || rooted && m == nil {
		return nil, usagef("--from %s is neither COUNT nor COUNT:ROOT", word).withHint("`referee ledger head` prints both")
	}
	from := &rootPin{count: count}
	if m != nil {
		from.root = m[2]
	}
	return from, nil
}

// proveFrom proves that the tree extends an earlier one.
func (a *app) proveFrom(k *kept, where *ledgerFlags, from rootPin, size int64) error {
	v, err := a.verifiedLedger(k, where)
	if err != nil {
		return err
	}
	if size == 0 {
		size = v.Leaves.Count()
	}
	if size > v.Leaves.Count() || from.count > size {
		return usagef("--from %d --size %d: the ledger has %s, and the earlier tree cannot be larger than the "+
			"later one", from.count, size, countEntries(v.Leaves.Count()))
	}
	proof, err := v.Leaves.Consistency(from.count, size)
	if err != nil {
		return toolf("%w", err)
	}
	if err := from.checkProof(proof); err != nil {
		return err
	}
	return a.printProof(proof)
}

// checkProof compares a proof with the earlier state that the reader knows.
func (p *rootPin) checkProof(proof ledger.Proof) error {
	switch {
	case proof.Old != p.count:
		return rulesf("the proof is about the first %d entries, --from about the first %d", proof.Old, p.count)
	case p.root != "" && proof.OldRoot != p.root:
		return rulesf("--from knows the root %.8s… over the first %d entries, the proof has %.8s…: it is another tree",
			p.root, p.count, proof.OldRoot)
	}
	return nil
}

// printProof prints a proof as one line of canonical JSON.
func (a *app) printProof(proof ledger.Proof) error {
	b, err := proof.Marshal()
	if err != nil {
		return toolf("%w", err)
	}
	return a.print(string(b) + "\n")
}

// proveEntry verifies the ledger first: a proof from a tree that is wrong would prove nothing.
func (a *app) proveEntry(k *kept, where *ledgerFlags, word string, size int64) error {
	e, err := a.findEntry(k, word)
	if err != nil {
		return err
	}
	v, err := a.verifiedLedger(k, where)
	if err != nil {
		return err
	}
	if size == 0 {
		size = v.Leaves.Count()
	}
	if size <= e.Receipt.Seq || size > v.Leaves.Count() {
		return usagef("--size must be between %d, which includes the entry, and %d, the whole ledger", e.Receipt.Seq+1,
			v.Leaves.Count())
	}
	proof, err := v.Leaves.Inclusion(e.Receipt.Seq, size)
	if err != nil {
		return toolf("%w", err)
	}
	return a.printProof(proof)
}

// checkProof recomputes a proof's root, and holds the proof to a receipt's bytes or to an earlier root.
func (a *app) checkProof(file string, from *rootPin, args []string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return usagef("--check: %w", err)
	}
	proof, err := ledger.ParseProof([]byte(strings.TrimSuffix(string(b), "\n")))
	if err != nil {
		return rulesf("%s: %w", file, err)
	}
	p := &page{}
	switch {
	case from != nil && proof.Format != ledger.ConsistencyFormat:
		return usagef("%s proves that an entry is in a tree; --from needs a proof that one tree extends another", file)
	case from != nil:
		if err := from.checkProof(proof); err != nil {
			return err
		}
	}
	switch {
	case proof.Format == ledger.ConsistencyFormat && len(args) > 0:
		return usagef("%s proves that a tree extends another one; no receipt belongs to it", file)
	case proof.Format == ledger.ConsistencyFormat:
		p.line("the proof holds: the tree of %d entries extends the one of %d", proof.Size, proof.Old)
		p.writeEntry("old root", receiptColumn, proof.OldRoot)
	default:
		p.line("the proof holds: entry %d is in the tree of %d", proof.Seq, proof.Size)
		p.writeEntry("leaf", receiptColumn, proof.Leaf)
	}
	p.writeEntry("root", receiptColumn, proof.Root)
	if len(args) == 1 {
		hash, err := a.leafOf(args[0], proof)
		if err != nil {
			return err
		}
		p.writeEntry("receipt", receiptColumn, hash)
	}
	p.line("Compare the root with one that you trust.")
	return a.print(p.b.String())
}

// leafOf gives the hash of a receipt's file, if the proof is about these bytes.
func (a *app) leafOf(file string, proof ledger.Proof) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", usagef("%w", err)
	}
	leaf := ledger.LeafHash(b)
	if hex.EncodeToString(leaf[:]) != proof.Leaf {
		return "", rulesf("the proof does not match the bytes of %s", file)
	}
	return canonical.SHA256Hex(b), nil
}
