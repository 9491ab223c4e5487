package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
)

// Tree is one state of a ledger as a verifier sees it: the names first, the bytes later and only where wanted. It is
// read from objects by their id, never checked out.
type Tree interface {
	// Entries returns every file, always in the same order; a symlink and a submodule are files here. Sizes come from
	// object headers, so that nothing is inflated to learn that it is too large.
	Entries() iter.Seq2[TreeEntry, error]
	// Blobs returns the bytes of the objects, in the order of ids. The bytes belong to whoever receives them.
	Blobs(ids []string) iter.Seq2[[]byte, error]
}

// recycler is a Tree that wants the bytes of its blobs back when nobody needs them any more: a verification reads
// hundreds of megabytes in pieces of a few kilobytes, and the collector need not take each of them away.
type recycler interface{ Recycle(data []byte) }

// TreeEntry is one name in a Tree.
type TreeEntry struct {
	Path string
	Mode string // as git prints it: 100644
	ID   string // of the object
	Size int64  // in bytes; 0 for a submodule
}

// Options say what a verification looks at.
type Options struct {
	Pins     []Pin
	Progress func(done, total int) // called now and then; may be nil
}

// MaxProblems is how many problems are listed; then a verification ends and says so. A hostile branch must not decide
// how long the list is, and nobody reads further.
const MaxProblems = 200

// maxEntries bounds the names that are read: three million receipts, each under three names. A branch with more is
// refused (LDG-112) and not read without end.
const maxEntries = 9_000_000

// Verification is what a verification found.
type Verification struct {
	Level    Level // reached: the highest level that was looked at, if nothing is wrong; 0 otherwise
	Head     Head  // recomputed from the entries
	Info     *Info
	Leaves   *Leaves  // the tree over the entries, for proofs
	Hashes   []string // of the entries, by seq
	Minted   []string // minted_at of the entries, by seq; "" of one that could not be read
	Problems []Problem
	fresh    []*Entry // what VerifySince read, the oldest first
}

// OK reports whether nothing is wrong.
func (r *Verification) OK() bool { return len(r.Problems) == 0 }

// Verify looks at the whole of a tree (L1), and at the pins (L2, L3) if there are any. The problems come in the same
// order for the same tree. The error is for what kept it from looking at all; a problem is never an error. A level is
// reached only without any problem, whatever level that problem belongs to.
func Verify(ctx context.Context, t Tree, o Options) (*Verification, error) {
	v := &verifier{ctx: ctx, tree: t, o: o, result: &Verification{Leaves: &Leaves{}}}
	err := v.run()
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	v.result.Level = 0
	if v.result.OK() {
		v.result.Level = L1
		for _, p := range o.Pins {
			v.result.Level = max(v.result.Level, p.Level)
		}
	}
	return v.result, nil
}

// errEnough ends a verification that has listed MaxProblems.
var errEnough = errors.New("enough problems")

// verifier is one run of Verify. Hashes are kept as bytes where there may be millions of them, which halves their
// memory.
type verifier struct {
	ctx    context.Context
	tree   Tree
	o      Options
	result *Verification

	entries []named             // receipts/, by seq and then hash
	byHash  map[[32]byte]alias  // hash/
	byPull  map[[32]byte]alias  // pr/, by hash
	sheets  map[string]string   // sheets/: hash to object id
	single  map[Class]TreeEntry // the other files
	used    map[string]bool     // sheets that a receipt names
	chain   *chain
}

// named is a file under receipts/.
type named struct {
	seq  int64
	hash string
	id   string
}

// alias is a file under hash/ or pr/.
type alias struct {
	id   string
	seq  int64
	pull int64
}

// run takes the steps in order: names before bytes, so that nothing foreign or too large is read, and the chain before
// aliases, heads, sheets and pins, all of which are held to it.
func (v *verifier) run() error {
	for _, step := range []func() error{v.classifyFiles, v.checkAttributes, v.walkEntries, v.checkAliases, v.checkHeads,
		v.sheetFiles, v.checkPins} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// report lists a problem, and ends the verification when there are too many.
func (v *verifier) report(code Code, path string, seq int64, format string, args ...any) error {
	v.result.Problems = append(v.result.Problems, newProblem(code, path, seq, format, args...))
	if len(v.result.Problems) < MaxProblems {
		return nil
	}
	v.result.Problems = append(v.result.Problems,
		newProblem(CodeTooMany, "", -1, "%d problems are listed; there may be more", MaxProblems))
	return errEnough
}

// classifyFiles sorts the names: what belongs in a ledger, and the rest. A tree lists them as its directories do; the
// chain needs them by seq, and of two with one seq always the same first.
func (v *verifier) classifyFiles() error {
	v.byHash, v.byPull = map[[32]byte]alias{}, map[[32]byte]alias{}
	v.sheets, v.single, v.used = map[string]string{}, map[Class]TreeEntry{}, map[string]bool{}
	n := 0
	for e, err := range v.tree.Entries() {
		if err != nil {
			return err
		}
		if n++; n > maxEntries {
			_ = v.report(CodeTooMany, "", -1, "more than %d files", maxEntries)
			return errEnough
		}
		if err := v.classifyFile(e); err != nil {
			return err
		}
	}
	slices.SortFunc(v.entries, func(a, b named) int {
		if a.seq != b.seq {
			return int(a.seq - b.seq)
		}
		return strings.Compare(a.hash, b.hash)
	})
	return v.ctx.Err()
}

// classifyFile judges one name by path, mode and size, before any of its bytes are read.
func (v *verifier) classifyFile(e TreeEntry) error {
	p, err := ParsePath(e.Path)
	switch {
	case err != nil:
		return v.report(CodeUnknownFile, e.Path, -1, "%v", err)
	case e.Mode != RegularMode:
		return v.report(CodeMode, e.Path, -1, "the mode is %s, every file of a ledger has %s", clipForeign(e.Mode),
			RegularMode)
	case e.Size < 0 || e.Size > p.Class.MaxBytes():
		return v.report(CodeSize, e.Path, -1, "%d bytes; at most %d are allowed; the file was not read", e.Size,
			p.Class.MaxBytes())
	}
	switch p.Class {
	case EntryFile:
		v.entries = append(v.entries, named{p.Seq, strings.Clone(p.Hash), e.ID}) // the clone lets go of the path
	case HashAlias:
		v.byHash[hashBytes(p.Hash)] = alias{id: e.ID}
	case PullAlias:
		if _, twice := v.byPull[hashBytes(p.Hash)]; twice {
			return v.report(CodeAliasOrphan, e.Path, p.Seq, "the entry is listed under two pull requests")
		}
		v.byPull[hashBytes(p.Hash)] = alias{e.ID, p.Seq, p.Pull}
	case SheetFile:
		v.sheets[strings.Clone(p.Hash)] = e.ID
	default:
		v.single[p.Class] = e
	}
	return nil
}

// readBlob returns the bytes of one object. It is for the few files that are read one by one.
func (v *verifier) readBlob(id string) ([]byte, error) {
	for b, err := range v.tree.Blobs([]string{id}) {
		return b, err
	}
	return nil, errors.New("nothing was given for the object " + id)
}

// checkAttributes requires the file wherever anything is, because a ledger without it verifies in git and not in a
// checkout.
func (v *verifier) checkAttributes() error {
	e, ok := v.single[AttributesFile]
	if !ok {
		if len(v.entries) == 0 && len(v.single) == 0 {
			return nil
		}
		return v.report(CodeAttributes, AttributesPath, -1, "the file is missing; it must say %q", Attributes)
	}
	b, err := v.readBlob(e.ID)
	if err != nil {
		return v.report(CodeUnreadable, AttributesPath, -1, "%v", err)
	}
	if string(b) != Attributes {
		return v.report(CodeAttributes, AttributesPath, -1, "the file says %q, it must say %q", clipForeign(string(b)),
			Attributes)
	}
	return nil
}

// walkEntries reads the entries in order and follows the chain.
func (v *verifier) walkEntries() error {
	v.chain = newChain(v.result.Leaves)
	ids := make([]string, len(v.entries))
	for i, e := range v.entries {
		ids[i] = e.id
	}
	done := func([]byte) {}
	if r, ok := v.tree.(recycler); ok {
		done = r.Recycle
	}
	for i, c := range examineBlobs(v.ctx, v.tree.Blobs(ids), v.entries, done) {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if err := v.followEntry(v.entries[i], c); err != nil {
			return err
		}
		if v.o.Progress != nil && (i%1000 == 999 || i == len(ids)-1) {
			v.o.Progress(i+1, len(ids))
		}
	}
	v.result.Head = v.chain.edge.headOf(v.chain.tip)
	v.result.Hashes, v.result.Minted = v.chain.hashes, v.chain.minted
	return v.ctx.Err()
}

// followEntry lists what is wrong with one entry and puts it on the chain. Only the first problem of an entry's own
// bytes is listed, as the others follow from it; it takes its place in the chain nevertheless, so that one edit is one
// problem. An entry that could not be read at all takes none: its leaf is not known, and the entry after it is behind a
// gap.
func (v *verifier) followEntry(e named, c checked) error {
	path := func() string { return Place{Class: EntryFile, Seq: e.seq, Hash: e.hash}.String() }
	if c.err != nil {
		if err := v.report(c.code, path(), e.seq, "%v", c.err); err != nil {
			return err
		}
	}
	if c.code == CodeUnreadable {
		return nil
	}
	for _, p := range v.chain.linkEntry(e, c) {
		if err := v.report(p.Code, path(), e.seq, "%s", p.Message); err != nil {
			return err
		}
	}
	if c.receipt != nil {
		v.used[c.receipt.FlightSheet.SHA256] = true
	}
	return nil
}

// checkAliases holds the second and third path of each entry to the first. What is left over in the end is under a name
// without an entry: a receipt that a lookup would find and the chain does not contain.
func (v *verifier) checkAliases() error {
	for _, e := range v.entries {
		if err := v.checkAlias(v.byHash, e, Place{Class: HashAlias, Hash: e.hash}); err != nil {
			return err
		}
		pull, known := v.chain.pulls[e.hash]
		if !known {
			delete(v.byPull, hashBytes(e.hash)) // nothing is known of an entry that could not be read
		} else if pull > 0 {
			if err := v.checkAlias(v.byPull, e, Place{Class: PullAlias, Seq: e.seq, Pull: pull, Hash: e.hash}); err != nil {
				return err
			}
		}
	}
	for _, hash := range sortedHashes(v.byHash) {
		if err := v.report(CodeAliasOrphan, Place{Class: HashAlias, Hash: hash}.String(), -1,
			"no entry under receipts/ has this hash"); err != nil {
			return err
		}
	}
	for _, hash := range sortedHashes(v.byPull) {
		a := v.byPull[hashBytes(hash)]
		path := Place{Class: PullAlias, Seq: a.seq, Pull: a.pull, Hash: hash}.String()
		if err := v.report(CodeAliasOrphan, path, a.seq, "no entry under receipts/ belongs here"); err != nil {
			return err
		}
	}
	return nil
}

// sortedHashes returns the hashes of a list in order.
func sortedHashes(list map[[32]byte]alias) []string {
	all := make([]string, 0, len(list))
	for hash := range list {
		all = append(all, hex.EncodeToString(hash[:]))
	}
	slices.Sort(all)
	return all
}

// checkAlias looks an entry up under another path, and takes it from the list so that the orphans remain. Ids are
// compared: one id is one object, and its bytes have been hashed under receipts/.
func (v *verifier) checkAlias(list map[[32]byte]alias, e named, want Place) error {
	key := hashBytes(e.hash)
	a, ok := list[key]
	if !ok || a.seq != want.Seq || a.pull != want.Pull {
		return v.report(CodeAliasMissing, want.String(), e.seq, "the entry %09d-%.8s… has no such path", e.seq, e.hash)
	}
	delete(list, key)
	if a.id != e.id {
		return v.report(CodeAliasDiffers, want.String(), e.seq, "the object is %.12s…, under receipts/ it is %.12s…",
			a.id, e.id)
	}
	return nil
}

// checkHeads holds HEAD.json and LEDGER.json to what the entries say. A branch with nothing on it is no broken ledger;
// one with a single file is.
func (v *verifier) checkHeads() error {
	if len(v.entries) == 0 && len(v.single) == 0 {
		return nil // there is no ledger
	}
	if err := v.headFile(); err != nil {
		return err
	}
	e, ok := v.single[InfoFile]
	if !ok {
		if len(v.entries) == 0 {
			return nil // begun, and without an entry
		}
		return v.report(CodeInfoUnreadable, InfoPath, -1, "the file is missing")
	}
	b, err := v.readBlob(e.ID)
	if err != nil {
		return v.report(CodeUnreadable, InfoPath, -1, "%v", err)
	}
	info, err := ParseInfo(b)
	if err != nil {
		return v.report(CodeInfoUnreadable, InfoPath, -1, "%v", err)
	}
	v.result.Info = &info
	if len(v.result.Hashes) == 0 || v.result.Hashes[0] != info.Genesis {
		return v.report(CodeInfoLies, InfoPath, -1, "genesis is %.8s…, which is not the first entry", info.Genesis)
	}
	return v.listForeign(info)
}

// headFile compares what HEAD.json says with what the entries make. The edge is not compared: ParseHead has made the
// root from it.
func (v *verifier) headFile() error {
	e, ok := v.single[HeadFile]
	if !ok {
		return v.report(CodeHeadUnreadable, HeadPath, -1, "the file is missing")
	}
	b, err := v.readBlob(e.ID)
	if err != nil {
		return v.report(CodeUnreadable, HeadPath, -1, "%v", err)
	}
	h, err := ParseHead(b)
	if err != nil {
		return v.report(CodeHeadUnreadable, HeadPath, -1, "%v", err)
	}
	if want := v.result.Head; h.Count != want.Count || h.Tip != want.Tip || h.Root != want.Root {
		return v.report(CodeHeadLies, HeadPath, -1, "it says %d entries, tip %.8s…, root %.8s…; the entries make "+
			"%d, %.8s…, %.8s…",
			h.Count, h.Tip, h.Root, want.Count, want.Tip, want.Root)
	}
	return nil
}

// listForeign lists the entries of another repository than the ledger's.
func (v *verifier) listForeign(info Info) error {
	for _, f := range v.chain.repositories {
		if f.id != info.Repository.ID {
			if err := v.report(CodeRepository, "", f.seq, "the entry, and maybe others, belongs to the repository "+
				"%d, the ledger to %s (%d)",
				f.id, info.Repository.Name, info.Repository.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// sheetFiles holds the rulebooks to their names, and to the receipts that name them. The order is that of the hashes
// and not of the map.
func (v *verifier) sheetFiles() error {
	for _, hash := range slices.Sorted(maps.Keys(v.sheets)) {
		path := Place{Class: SheetFile, Hash: hash}.String()
		b, err := v.readBlob(v.sheets[hash])
		switch {
		case err != nil:
			err = v.report(CodeUnreadable, path, -1, "%v", err)
		case canonical.SHA256Hex(b) != hash:
			err = v.report(CodeSheet, path, -1, "the SHA-256 of the file is %s", canonical.SHA256Hex(b))
		case !v.used[hash]:
			err = v.report(CodeSheetOrphan, path, -1, "no receipt names this rulebook")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hashBytes returns a hash in hexadecimal digits as bytes, which take half the memory.
func hashBytes(s string) (h [32]byte) {
	_, _ = hex.Decode(h[:], []byte(s))
	return h
}
