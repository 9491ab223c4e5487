package ledger

import (
	"encoding/hex"
	"fmt"

	"github.com/defendableos/referee/internal/canonical"
	"golang.org/x/mod/sumdb/tlog"
)

// Leaves is the tree over a whole ledger, from which any proof can be made. The zero value is the empty tree. It keeps
// every inner hash, 64 bytes an entry, so that a proof is read and not computed.
type Leaves struct {
	count  int64
	stored []tlog.Hash // in the order of tlog.StoredHashIndex
}

// Add appends the leaf of an entry's bytes (LeafHash). It only appends: no hash of a complete subtree ever changes (RFC
// 6962, 2.1).
func (l *Leaves) Add(leaf tlog.Hash) error {
	hashes, err := tlog.StoredHashesForRecordHash(l.count, leaf, l)
	if err != nil {
		return err
	}
	l.stored = append(l.stored, hashes...)
	l.count++
	return nil
}

// LeafHash is the leaf of an entry: tlog.RecordHash over the exact bytes of its file. tlog puts 0x00 before a leaf and
// 0x01 before two children, so that an inner node cannot pass for an entry (RFC 6962, 2.1).
func LeafHash(b []byte) tlog.Hash { return tlog.RecordHash(b) }

// Count is the number of leaves.
func (l *Leaves) Count() int64 { return l.count }

// ReadHashes makes Leaves a tlog.HashReader. An index outside is an error and not a zero hash, which would be a proof
// of something else.
func (l *Leaves) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x < 0 || x >= int64(len(l.stored)) {
			return nil, fmt.Errorf("hash %d of a tree that stores %d", x, len(l.stored))
		}
		out[i] = l.stored[x]
	}
	return out, nil
}

// Root is the root over the first n entries.
func (l *Leaves) Root(n int64) (string, error) {
	if n < 0 || n > l.count {
		return "", fmt.Errorf("the root over %d entries of a tree of %d", n, l.count)
	}
	// RFC 6962, 2.1, defines this root by itself, not by the rule for leaves.
	if n == 0 {
		return EmptyRoot, nil
	}
	h, err := tlog.TreeHash(n, l)
	return hex.EncodeToString(h[:]), err
}

// The formats of proofs.
const (
	InclusionFormat   = "defendablecloud.ledger-inclusion/v1"
	ConsistencyFormat = "defendablecloud.ledger-consistency/v1"
)

// Proof shows, with at most 60 hashes, that a tree contains an entry (InclusionFormat) or that a tree extends an
// earlier one (ConsistencyFormat). It proves nothing about the root itself: compare that with one you trust.
type Proof struct {
	Format  string   `json:"format" is:"proof_format"`
	Seq     int64    `json:"seq"`                      // of the entry; 0 in a consistency proof
	Leaf    string   `json:"leaf,omitempty" is:"hash"` // LeafHash of the entry
	Old     int64    `json:"old,omitempty"`            // size of the earlier tree
	OldRoot string   `json:"old_root,omitempty" is:"hash"`
	Size    int64    `json:"size"`
	Root    string   `json:"root" is:"hash"`
	Path    []string `json:"path" is:"hash"`
}

// Inclusion proves that the tree of the first size entries contains the entry at seq (RFC 6962, 2.1.1).
func (l *Leaves) Inclusion(seq, size int64) (Proof, error) {
	if seq < 0 || seq >= size || size > l.count {
		return Proof{}, fmt.Errorf("entry %d of the first %d of %d", seq, size, l.count)
	}
	path, err := tlog.ProveRecord(size, seq, l)
	if err != nil {
		return Proof{}, err
	}
	root, err := l.Root(size)
	leaf := l.stored[tlog.StoredHashIndex(0, seq)]
	return Proof{Format: InclusionFormat, Seq: seq, Leaf: hex.EncodeToString(leaf[:]), Size: size, Root: root,
		Path: encodeHashes(path)}, err
}

// Consistency proves that the tree of the first size entries extends the one of the first old (RFC 6962, 2.1.2). old is
// at least 1: every tree extends the empty one, so a proof of that would say nothing.
func (l *Leaves) Consistency(old, size int64) (Proof, error) {
	if old < 1 || old > size || size > l.count {
		return Proof{}, fmt.Errorf("the first %d within the first %d of %d entries", old, size, l.count)
	}
	path, err := tlog.ProveTree(size, old, l)
	if err != nil {
		return Proof{}, err
	}
	oldRoot, err := l.Root(old)
	if err != nil {
		return Proof{}, err
	}
	root, err := l.Root(size)
	return Proof{Format: ConsistencyFormat, Old: old, OldRoot: oldRoot, Size: size, Root: root,
		Path: encodeHashes(path)}, err
}

func encodeHashes(hashes []tlog.Hash) []string {
	out := make([]string, len(hashes))
	for i, h := range hashes {
		out[i] = hex.EncodeToString(h[:])
	}
	return out
}

// Check recomputes the root (both roots, in a consistency proof) from the path. It needs no ledger. That is why leaf
// and roots are part of the proof: whoever checks it compares them with their own.
func (p Proof) Check() error {
	path := make([]tlog.Hash, len(p.Path))
	for i, s := range p.Path {
		var err error
		if path[i], err = parseHash(s); err != nil {
			return err
		}
	}
	root, err := parseHash(p.Root)
	if err != nil {
		return err
	}
	if p.Format == InclusionFormat {
		leaf, err := parseHash(p.Leaf)
		if err != nil {
			return err
		}
		return wrapProofError(tlog.CheckRecord(path, p.Size, root, p.Seq, leaf))
	}
	old, err := parseHash(p.OldRoot)
	if err != nil {
		return err
	}
	return wrapProofError(tlog.CheckTree(path, p.Size, root, p.Old, old))
}

// wrapProofError puts this ledger's words before an error of tlog.
func wrapProofError(err error) error {
	if err != nil {
		return fmt.Errorf("the proof does not hold: %w", err)
	}
	return nil
}

// Marshal returns the proof's canonical bytes. Reading them back checks the proof: a wrong one is never handed out.
func (p Proof) Marshal() ([]byte, error) {
	b, err := canonical.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	if _, err := ParseProof(b); err != nil {
		return nil, err
	}
	return b, nil
}

var proofDecoder = decoderOf[Proof]()

// ParseProof reads a proof and checks it, so that a Proof in hand is one that holds. A text with the members of both
// formats is refused: its reader could take the part that was not checked for the one that was. On an error the proof
// is zero.
func ParseProof(b []byte) (Proof, error) {
	var p Proof
	if err := proofDecoder().Decode(b, canonical.Receipt, &p); err != nil {
		return Proof{}, fmt.Errorf("proof: %w", err)
	}
	inclusion := p.Format == InclusionFormat
	if inclusion != (p.Leaf != "") || inclusion == (p.OldRoot != "") || inclusion && p.Old != 0 || !inclusion &&
		p.Seq != 0 {
		return Proof{}, fmt.Errorf("proof: members of two formats; an inclusion has seq and leaf, a consistency old " +
			"and old_root")
	}
	if err := p.Check(); err != nil {
		return Proof{}, err
	}
	return p, nil
}
