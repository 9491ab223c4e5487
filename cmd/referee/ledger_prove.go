package main

import (
	"encoding/hex"
	"os"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

const proveLong = `Prints a proof, with at most 30 hashes, that the entry stands in the tree of the
first N entries (RFC 6962). Who has the root (` + "`referee ledger head`" + `) needs
nothing else of the ledger: --check FILE recomputes the root from the proof, and
with a receipt's FILE holds the proof to these bytes. Compare the root that it
prints with one that you trust; a proof says nothing about the root itself.`

func ledgerProveCommand() *command {
	c := newCommand("ledger prove", "SEQ|ID|HASH", "prove that an entry stands in the ledger", 1)
	c.long = proveLong
	c.examples = []string{"referee ledger prove 12 > proof.json", "referee ledger prove 3fa9 --size 100", "referee ledger prove --check proof.json 000000012-3fa9….json"}
	size := c.flags.Int64("size", 0, "in the tree of the first `N` entries (default: all)")
	check := c.flags.String("check", "", "check the proof in `FILE` instead")
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if *check != "" {
			return a.checkProof(*check, args)
		}
		if len(args) == 0 {
			return usagef("ledger prove needs a number, an id or a hash").hint("`referee ledger log` lists the entries")
		}
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		return a.prove(k, where, args[0], *size)
	}
	return c
}

// prove verifies the ledger first: a proof from a tree that is wrong would prove nothing.
func (a *app) prove(k *kept, where *ledgerFlags, word string, size int64) error {
	e, err := a.find(k, word)
	if err != nil {
		return err
	}
	v, err := a.verified(k, where)
	if err != nil {
		return err
	}
	if size == 0 {
		size = v.Leaves.Count()
	}
	if size <= e.Receipt.Seq || size > v.Leaves.Count() {
		return usagef("--size must lie between %d, which holds the entry, and %d, which is all", e.Receipt.Seq+1, v.Leaves.Count())
	}
	proof, err := v.Leaves.Inclusion(e.Receipt.Seq, size)
	if err != nil {
		return toolf("%w", err)
	}
	b, err := proof.Marshal()
	if err != nil {
		return toolf("%w", err)
	}
	return a.print(string(b) + "\n")
}

// checkProof recomputes a proof's root, and holds the proof to a receipt's bytes.
func (a *app) checkProof(file string, args []string) error {
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
	case proof.Format == ledger.ConsistencyFormat && len(args) > 0:
		return usagef("%s proves that a tree extends another one; no receipt belongs to it", file)
	case proof.Format == ledger.ConsistencyFormat:
		p.line("the proof holds: the tree of %d entries extends the one of %d", proof.Size, proof.Old)
		p.entry("old root", receiptColumn, proof.OldRoot)
	default:
		p.line("the proof holds: an entry stands at %d in the tree of %d", proof.Seq, proof.Size)
		p.entry("leaf", receiptColumn, proof.Leaf)
	}
	p.entry("root", receiptColumn, proof.Root)
	if len(args) == 1 {
		hash, err := a.leafOf(args[0], proof)
		if err != nil {
			return err
		}
		p.entry("receipt", receiptColumn, hash)
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
		return "", rulesf("the proof is about other bytes than %s", file)
	}
	return canonical.SHA256Hex(b), nil
}
