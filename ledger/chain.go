package ledger

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"sort"

	"github.com/defendableos/referee/internal/canonical"
	"golang.org/x/mod/sumdb/tlog"
)

// NoParent is the parent_hash at seq 0, and the tip of an empty ledger.
const NoParent = "0000000000000000000000000000000000000000000000000000000000000000"

// EmptyRoot is the root over no entry: the SHA-256 of nothing (RFC 6962, 2.1).
const EmptyRoot = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Head is HEAD.json: where the chain ends, and the right edge of its tree, which is all that an append needs to know,
// at any size. Edge holds the roots of the complete subtrees from left to right, one for every bit that is set in
// Count. Everything in it follows from the entries, so a verification recomputes it and believes nothing of it
// (LDG-302).
type Head struct {
	Count int64    `json:"count"`
	Tip   string   `json:"tip" is:"hash"`  // SHA-256 of the last entry's bytes
	Root  string   `json:"root" is:"hash"` // RFC 6962 root over all entries' bytes
	Edge  []string `json:"edge" is:"hash"`
}

// NewHead is the head of an empty ledger.
func NewHead() Head { return Head{Tip: NoParent, Root: EmptyRoot, Edge: []string{}} }

// Log is the state of the tree as the next entry's log member gives it.
func (h Head) Log() Log { return Log{Count: h.Count, Root: h.Root} }

// Append returns the head after one more entry. It refuses bytes that are no receipt or do not continue the chain here.
// Writer and verifier share it, so they cannot differ in what continues a chain.
func (h Head) Append(b []byte) (Head, error) {
	r, err := Parse(b)
	if err != nil {
		return Head{}, err
	}
	switch {
	case r.Seq != h.Count:
		return Head{}, refuse(RefuseSeq, "seq is %d, the chain continues at %d", r.Seq, h.Count)
	case r.ParentHash != h.Tip:
		return Head{}, refuse(RefuseSeq, "parent_hash is %.8s…, the chain ends in %.8s…", r.ParentHash, h.Tip)
	case r.Log != h.Log():
		return Head{}, refuse(RefuseSeq, "log.root is %.8s…, the root over the %d entries before is %.8s…", r.Log.Root,
			h.Count, h.Root)
	}
	e, err := h.decodeEdge()
	if err != nil {
		return Head{}, err
	}
	e.appendLeaf(tlog.RecordHash(b))
	return e.headOf(canonical.SHA256Hex(b)), nil
}

// Format returns the bytes of HEAD.json, or why a reader would refuse them.
func (h Head) Format() ([]byte, error) {
	b, err := canonical.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("HEAD.json: %w", err)
	}
	if _, err := ParseHead(b); err != nil {
		return nil, err
	}
	return b, nil
}

var headDecoder = decoderOf[Head]()

// ParseHead reads HEAD.json and holds its members together: as many hashes in edge as bits in count, and root the root
// that they make. On an error the head is zero. A head that contradicts itself is refused here and not at the next
// append, which would build on it.
func ParseHead(b []byte) (Head, error) {
	var h Head
	if err := headDecoder().Decode(b, canonical.Receipt, &h); err != nil {
		return Head{}, fmt.Errorf("HEAD.json: %w", err)
	}
	if h.Count > MaxSeq+1 {
		return Head{}, fmt.Errorf("HEAD.json: count is %d, at most %d entries have a place", h.Count, int64(MaxSeq+1))
	}
	// An entry whose hash is all zeros does not exist, so this tip means an empty ledger and nothing else.
	if (h.Count == 0) != (h.Tip == NoParent) {
		return Head{}, fmt.Errorf("HEAD.json: tip is %.8s… at count %d", h.Tip, h.Count)
	}
	e, err := h.decodeEdge()
	if err != nil {
		return Head{}, fmt.Errorf("HEAD.json: %w", err)
	}
	if root := e.rootHash(); hex.EncodeToString(root[:]) != h.Root {
		return Head{}, fmt.Errorf("HEAD.json: root is %.8s…, edge makes %.8s…", h.Root, hex.EncodeToString(root[:]))
	}
	return h, nil
}

// edge is the right edge of a tree, decoded.
type edge struct {
	count  int64
	hashes []tlog.Hash
}

// decodeEdge requires one hash for each bit of Count: a tree of 13 entries is made of subtrees of 8, 4 and 1 (RFC 6962,
// 2.1, splits at the largest power of two).
func (h Head) decodeEdge() (edge, error) {
	if n := bits.OnesCount64(uint64(h.Count)); len(h.Edge) != n {
		return edge{}, fmt.Errorf("edge has %d hashes, a tree of %d entries has %d", len(h.Edge), h.Count, n)
	}
	e := edge{h.Count, make([]tlog.Hash, len(h.Edge), len(h.Edge)+1)}
	for i, s := range h.Edge {
		var err error
		if e.hashes[i], err = parseHash(s); err != nil {
			return edge{}, err
		}
	}
	return e, nil
}

// parseHash accepts lower-case digits only, unlike hex.Decode: a hash has one spelling in a ledger.
func parseHash(s string) (h tlog.Hash, err error) {
	if err := canonical.CheckHash(s); err != nil {
		return h, err
	}
	_, err = hex.Decode(h[:], []byte(s))
	return h, err
}

// appendLeaf appends a leaf: as many complete subtrees merge as there are ones at the low end of count. It is the carry
// of a binary counter: 13 entries and one more are 8, 4 and 2.
func (e *edge) appendLeaf(leaf tlog.Hash) {
	e.hashes = append(e.hashes, leaf)
	for n := e.count; n&1 == 1; n >>= 1 {
		last := len(e.hashes) - 1
		e.hashes[last-1] = tlog.NodeHash(e.hashes[last-1], e.hashes[last])
		e.hashes = e.hashes[:last]
	}
	e.count++
}

// rootHash folds the edge from the right (RFC 6962, 2.1). The right end is the incomplete one, and every subtree joins
// from its left.
func (e *edge) rootHash() tlog.Hash {
	if len(e.hashes) == 0 {
		h, _ := parseHash(EmptyRoot)
		return h
	}
	root := e.hashes[len(e.hashes)-1]
	for i := len(e.hashes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(e.hashes[i], root)
	}
	return root
}

func (e *edge) headOf(tip string) Head {
	root := e.rootHash()
	h := Head{Count: e.count, Tip: tip, Root: hex.EncodeToString(root[:]), Edge: make([]string, len(e.hashes))}
	for i, hash := range e.hashes {
		h.Edge[i] = hex.EncodeToString(hash[:])
	}
	return h
}

// Info is LEDGER.json, written with the first entry and never again. The repository in it keeps a ledger from being
// moved to another one, where nobody signed anything (LDG-206).
type Info struct {
	Format     string     `json:"format" is:"ledger_format"`
	Genesis    string     `json:"genesis" is:"hash"` // SHA-256 of the entry at seq 0
	Repository Repository `json:"repository"`
}

// InfoFormat names the layout of the branch; a reader that does not know a format refuses it by name. FirstInfoFormat
// is the one before the first release, with receipts/000/012/, pr/000/00123/ and sheets/<hash>.json: whoever followed
// it would not find a pull request's entries where they are.
const (
	InfoFormat      = "defendablecloud.ledger/v2"
	FirstInfoFormat = "defendablecloud.ledger/v1"
)

// Marshal returns the bytes of LEDGER.json, or why a reader would refuse them.
func (i Info) Marshal() ([]byte, error) {
	b, err := canonical.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("LEDGER.json: %w", err)
	}
	if _, err := ParseInfo(b); err != nil {
		return nil, err
	}
	return b, nil
}

var infoDecoder = decoderOf[Info]()

// ParseInfo reads LEDGER.json. On an error the info is zero. The layout before the first release is named in words,
// because "unknown format" would not say that no version reads it any more.
func ParseInfo(b []byte) (Info, error) {
	var i Info
	if bytes.HasPrefix(b, []byte(`{"format":"`+FirstInfoFormat+`"`)) {
		return Info{}, fmt.Errorf("LEDGER.json: the format is %s, the layout before the first release "+
			"(pr/000/00123); this version reads %s, and the ledger is begun anew",
			FirstInfoFormat, InfoFormat)
	}
	if err := infoDecoder().Decode(b, canonical.Receipt, &i); err != nil {
		return Info{}, fmt.Errorf("LEDGER.json: %w", err)
	}
	return i, nil
}

// Mint completes r for the place after h and returns its bytes: seq, parent_hash, log, receipt_id, minted_at where it
// is empty, and findings cut to what a receipt holds. It is the one way in which the writers of this project make an
// entry. No clock is asked: the time is that of the review or the event, so that the same records at the same place are
// the same bytes. Findings are ranked (S43), so the cut takes the lightest, and findings_total still counts them.
func Mint(h Head, r Receipt) ([]byte, error) {
	r.Seq, r.ParentHash, r.Log = h.Count, h.Tip, h.Log()
	r.ID = ReceiptID(r.Seq, r.Submission.SHA256)
	if r.Schema == "" {
		r.Schema = SchemaOf(r.Run.Lane)
	}
	if r.MintedAt == "" && r.Approval != nil {
		r.MintedAt = r.Approval.Review.SubmittedAt
	}
	if r.MintedAt == "" && r.ObservedBy != nil {
		r.MintedAt = r.ObservedBy.At
	}
	// A draft may have been cut already and know the true total; it is never made smaller.
	r.FindingsTotal = max(r.FindingsTotal, len(r.Findings))
	r.Findings = r.Findings[:min(len(r.Findings), MaxFindings)]
	return fitFindings(r)
}

// fitFindings formats r with as many of its findings as 256 KiB hold. A receipt grows with each finding, so a binary
// search takes eight tries at most instead of two hundred. Where r is too long even without findings, the error is
// returned: the rest of a receipt is never cut.
func fitFindings(r Receipt) ([]byte, error) {
	b, err := Format(r)
	if !tooLong(err) {
		return b, err
	}
	all := r.Findings
	n := sort.Search(len(all), func(n int) bool {
		r.Findings = all[:n+1]
		_, err := Format(r)
		return tooLong(err)
	})
	r.Findings = all[:n]
	return Format(r)
}

// tooLong reports whether err is the bound on a receipt's bytes. Any other error must come out as it is, and must not
// be answered by leaving findings away.
func tooLong(err error) bool {
	e, ok := errors.AsType[*canonical.Error](err)
	return ok && e.Rule == canonical.RuleSize
}
