package ledger

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
)

// Backwards returns the entries of a state from the newest to the first, each found by the parent_hash of the one after
// it. The listing of a directory decides nothing: a second file with the same seq is never read here. The first error
// ends it.
func Backwards(ctx context.Context, s Store, at Snapshot) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		hash := at.Head.Tip
		for seq := at.Head.Count - 1; seq >= 0; seq-- {
			e, err := readEntry(ctx, s, at, seq, hash)
			if !yield(e, err) || err != nil {
				return
			}
			hash = e.Receipt.ParentHash
		}
	}
}

// readEntry reads one entry and holds the bytes to the hash that the entry after it names, and not only to the path,
// which whoever pushed has chosen.
func readEntry(ctx context.Context, s Store, at Snapshot, seq int64, hash string) (*Entry, error) {
	path := Place{Class: EntryFile, Seq: seq, Hash: hash}.String()
	files, err := s.Read(ctx, at, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s is missing", path)
	}
	e, err := entryOf(files[0].Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Hash != hash || e.Receipt.Seq != seq {
		return nil, fmt.Errorf("%s holds the entry %d with the hash %s", path, e.Receipt.Seq, e.Hash)
	}
	return e, nil
}

// newBatch mints the drafts behind at and returns the files of the commit. A draft without receipts makes the commit
// that begins an empty ledger, and is refused where one has begun. It writes nothing: what it returns is what the store
// swaps in. Its order matters: sheets are held to the entries that name them, and HEAD.json is written when all entries
// have moved the head.
func newBatch(ctx context.Context, s Store, at Snapshot, d Draft) (Batch, []Entry, error) {
	b := Batch{Head: at.Head}
	if len(d.Receipts) == 0 && at.ID != "" {
		return b, nil, fmt.Errorf("nothing to append")
	}
	entries, err := b.mintDrafts(ctx, s, at, d.Receipts)
	if err != nil {
		return b, nil, err
	}
	if err := b.addSheets(ctx, s, at, d.Sheets, entries); err != nil {
		return b, nil, err
	}
	if err := b.addFirst(at, d.Papers, entries); err != nil {
		return b, nil, err
	}
	head, err := b.Head.Format()
	if err != nil {
		return b, nil, err
	}
	b.Files = append(b.Files, File{HeadPath, head})
	// The same drafts make the same batch, whatever made its files first.
	slices.SortFunc(b.Files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	b.Message = Message(entries, at.Head.Tip)
	return b, entries, nil
}

// mintDrafts assigns each draft its place and its files; a later one may refer to an earlier one of the same batch.
// What a verification would find later is refused here, before anything is written: another repository (LDG-206), a
// reference that does not resolve (LDG-207), bytes that do not parse (LDG-107).
func (b *Batch) mintDrafts(ctx context.Context, s Store, at Snapshot, drafts []Receipt) (entries []Entry, err error) {
	for _, r := range drafts {
		if at.Info != nil && at.Info.Repository.ID != r.Repository.ID {
			return nil, fmt.Errorf("the ledger belongs to the repository %s (%d), the draft to %s (%d)",
				at.Info.Repository.Name, at.Info.Repository.ID, r.Repository.Name, r.Repository.ID)
		}
		data, err := Mint(b.Head, r)
		if err != nil {
			return nil, err
		}
		e, err := entryOf(data)
		if err != nil {
			return nil, err
		}
		if err := resolveIn(ctx, s, at, e.Receipt, entries); err != nil {
			return nil, err
		}
		if b.Head, err = b.Head.Append(data); err != nil {
			return nil, err
		}
		entries = append(entries, *e)
		for _, p := range Places(e.Receipt.Seq, e.Hash, e.Receipt.Pull()) {
			b.Files = append(b.Files, File{p.String(), data})
		}
	}
	return entries, nil
}

// Pull is the number of the pull request, 0 outside a forge.
func (r *Receipt) Pull() int64 {
	if r.PullRequest == nil {
		return 0
	}
	return r.PullRequest.Number
}

// resolveIn resolves what r refers to among the entries of the batch and of the store. The batch comes first: its
// entries are not in the store yet.
func resolveIn(ctx context.Context, s Store, at Snapshot, r *Receipt, entries []Entry) error {
	var failed error
	err := r.Resolve(func(hash string) (Prior, bool) {
		for _, e := range entries {
			if e.Hash == hash {
				return PriorOf(e.Receipt, hash), true
			}
		}
		e, err := Lookup(ctx, s, at, hash)
		if err != nil || e == nil {
			failed = err
			return Prior{}, false
		}
		return PriorOf(e.Receipt, hash), true
	})
	if failed != nil {
		return failed // reading failed: that says nothing about the receipt
	}
	return err
}

// addSheets adds the sheets that the ledger does not hold yet, each once: several runs may be judged by one. One that
// none of the new entries names is left out, because a rulebook without a receipt is a foreign file (LDG-116).
func (b *Batch) addSheets(ctx context.Context, s Store, at Snapshot, sheets [][]byte, entries []Entry) error {
	for _, sheet := range sheets {
		hash := canonical.SHA256Hex(sheet)
		path := Place{Class: SheetFile, Hash: hash}.String()
		if int64(len(sheet)) > SheetFile.MaxBytes() {
			return fmt.Errorf("%s has %d bytes; at most %d are allowed", path, len(sheet), SheetFile.MaxBytes())
		}
		if !slices.ContainsFunc(entries, func(e Entry) bool { return e.Receipt.FlightSheet.SHA256 == hash }) {
			continue
		}
		have, err := s.Read(ctx, at, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		again := slices.ContainsFunc(b.Files, func(f File) bool { return f.Path == path })
		if len(have) == 0 && !again {
			b.Files = append(b.Files, File{path, sheet})
		}
	}
	return nil
}

// addFirst adds what only the first commit, or the first entry, writes. LEDGER.json names the genesis, so it comes with
// the first entry and not with the commit that begins an empty ledger. Papers are accepted only from a short list: any
// other path would make the ledger fail its own verification (LDG-101).
func (b *Batch) addFirst(at Snapshot, papers []File, entries []Entry) error {
	if at.ID == "" {
		b.Files = append(b.Files, File{AttributesPath, []byte(Attributes)})
		if !slices.ContainsFunc(papers, func(f File) bool { return f.Path == ReadmePath }) {
			b.Files = append(b.Files, File{ReadmePath, []byte(Readme)})
		}
		for _, f := range papers {
			if f.Path != ReadmePath && f.Path != PagePath {
				return fmt.Errorf("%q does not belong in a ledger; known are %s and %s", clipForeign(f.Path),
					ReadmePath,
					PagePath)
			}
			b.Files = append(b.Files, f)
		}
	}
	if at.Info == nil && len(entries) > 0 {
		info, err := Info{InfoFormat, entries[0].Hash, entries[0].Receipt.Repository}.Marshal()
		if err != nil {
			return err
		}
		b.Files = append(b.Files, File{InfoPath, info})
	}
	return nil
}

// initMessage is the message of the commit that begins an empty ledger.
const initMessage = "ledger\n"

// Message is a commit's message: "receipt 000012345 pr#123 sha256:<hash>" about the last of its entries (pr#… is left
// out outside a forge), and the trailer Parent-Receipt with the tip before the commit. The two hashes let VerifyHistory
// follow the chain through the commits alone, without reading an older tree.
func Message(entries []Entry, parent string) string {
	if len(entries) == 0 {
		return initMessage
	}
	last := entries[len(entries)-1]
	pull := ""
	if n := last.Receipt.Pull(); n > 0 {
		pull = fmt.Sprintf("pr#%d ", n)
	}
	return fmt.Sprintf("receipt %09d %ssha256:%s\n\nParent-Receipt: %s\n", last.Receipt.Seq, pull, last.Hash, parent)
}

// Readme is the README.md of a ledger's branch.
const Readme = `# The ledger

Every file under receipts/ is one receipt: what an agent delivered, by which rulebook it was audited, what was found,
and who signed it off. A file's name ends in the SHA-256 of its bytes, and each receipt holds the hash of the one before
it, so nothing can be edited, dropped or put in between without every later name changing.

Check one receipt, with nothing but coreutils: the two hashes are the same.

    sha256sum receipts/000/00/00/000000000-*.json

Check all names at once; no line is printed if they are right:

    find receipts -name '*.json' | while read -r f; do s=$(sha256sum < "$f")
      case "$f" in *"-${s%% *}.json") ;; *) echo "$f";; esac; done

Check the chain, the tree and the closed world (or open verify.html in a browser):

    referee ledger verify

What this cannot show: that entries were cut off at the end, or that the whole ledger was written anew. Keep the count
and the tip of HEAD.json somewhere else, and compare.
`
