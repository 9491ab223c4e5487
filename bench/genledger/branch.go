package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// file is a name in a commit: bytes, or an object that is named and not written.
type file struct {
	mode string
	data []byte
	id   string
}

// commit is one commit with all files of its tree.
type commit struct {
	files   map[string]file
	message string
	at      int64
	second  bool // it has another parent besides the one before
	root    bool // it has none
	rawTree func(entries []gitobject.Entry) []byte
}

// branch is a ledger's branch as an attacker makes it.
type branch struct {
	commits []commit
	fx      fixture
	omit    map[string]bool // objects that are left out of the bundle
	from    int             // commits before this one are left out
}

// recorder is a store that notes the batches.
type recorder struct {
	ledger.MemStore
	batches []ledger.Batch
}

// Append is ledger.Store's.
func (r *recorder) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	err := r.MemStore.Append(ctx, at, b)
	if err == nil {
		r.batches = append(r.batches, b)
	}
	return err
}

// sheet is a rulebook of the ledger; Sample names its hash.
var sheet = []byte("sheet")

// goodLedger is a ledger of six entries, each in a commit: five receipts, and a merged entry about the first.
func goodLedger() *branch {
	return ledgerOf(func(n int64) ledger.Receipt { return storetest.Sample(n) })
}

func ledgerOf(sample func(int64) ledger.Receipt) *branch {
	r := &recorder{}
	add := func(receipts ...ledger.Receipt) ledger.Entry {
		return must(ledger.Append(context.Background(), r, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
			return ledger.Draft{Receipts: receipts, Sheets: [][]byte{sheet}}, nil
		})).Added[0]
	}
	first := add(sample(0))
	for n := range int64(4) {
		add(sample(n + 1))
	}
	add(storetest.Observed(sample(0), ledger.Merged, first.Hash))
	b := &branch{omit: map[string]bool{}}
	for _, batch := range r.batches {
		b.commitBatch(batch)
	}
	return b
}

// commitBatch adds a sign-off as an honest writer makes it.
func (b *branch) commitBatch(batch ledger.Batch) {
	c := commit{files: map[string]file{}, message: batch.Message}
	if len(b.commits) > 0 {
		c.files, c.at = maps.Clone(b.tipCommit().files), b.tipCommit().at
	}
	for _, f := range batch.Files {
		c.files[f.Path] = file{mode: gitobject.ModeFile, data: f.Data}
		if p, err := ledger.ParsePath(f.Path); err == nil && p.Class == ledger.EntryFile {
			c.at = max(c.at, must(time.Parse(time.RFC3339, must(ledger.Parse(f.Data)).MintedAt)).Unix()+5)
		}
	}
	b.commits = append(b.commits, c)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (b *branch) tipCommit() *commit { return &b.commits[len(b.commits)-1] }

// entryAt gives the path of the entry at seq in the newest commit, and its bytes.
func (b *branch) entryAt(seq int64) (string, []byte) {
	for path, f := range b.tipCommit().files {
		if p, err := ledger.ParsePath(path); err == nil && p.Class == ledger.EntryFile && p.Seq == seq {
			return path, f.data
		}
	}
	panic("no such entry")
}

func (b *branch) parseHead() ledger.Head {
	return must(ledger.ParseHead(b.tipCommit().files[ledger.HeadPath].data))
}

func (b *branch) setFile(path, text string) {
	b.tipCommit().files[path] = file{mode: gitobject.ModeFile, data: []byte(text)}
}

// removeEntry takes the entry at seq out of the newest commit, with its aliases.
func (b *branch) removeEntry(seq int64) []byte {
	path, data := b.entryAt(seq)
	p := must(ledger.ParsePath(path))
	maps.DeleteFunc(b.tipCommit().files, func(name string, _ file) bool { return strings.Contains(name, p.Hash) })
	return data
}

// putEntry files bytes at seq under their own hash, with all aliases.
func (b *branch) putEntry(seq int64, data []byte) string {
	pull := int64(0)
	if r, err := ledger.Parse(data); err == nil {
		pull = r.Pull()
	}
	hash := canonical.SHA256Hex(data)
	for _, p := range ledger.Places(seq, hash, pull) {
		b.setFile(p.String(), string(data))
	}
	return hash
}

// editEntry replaces text in the entry at seq; rename says whether the files are named by the new hash, all three of
// them.
func (b *branch) editEntry(seq int64, old, with string, rename bool) {
	path, data := b.entryAt(seq)
	changed := bytes.Replace(data, []byte(old), []byte(with), 1)
	if bytes.Equal(changed, data) {
		panic(old + " does not occur")
	}
	p := must(ledger.ParsePath(path))
	for name := range maps.Clone(b.tipCommit().files) {
		if !strings.Contains(name, p.Hash) {
			continue
		}
		to := name
		if rename {
			delete(b.tipCommit().files, name)
			to = strings.ReplaceAll(name, p.Hash, canonical.SHA256Hex(changed))
			if strings.HasPrefix(name, "hash/") {
				to = ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(changed)}.String()
			}
		}
		b.setFile(to, string(changed))
	}
}

// appendEntry adds an entry that the chain allows, without asking what an honest writer would ask.
func (b *branch) appendEntry(r ledger.Receipt) ledger.Entry {
	head := b.parseHead()
	before := head.Tip
	e := must(mintNext(&head, r))
	batch := ledger.Batch{Message: ledger.Message([]ledger.Entry{e}, before),
		Files: []ledger.File{{Path: ledger.HeadPath, Data: must(head.Format())}}}
	for _, p := range ledger.Places(e.Receipt.Seq, e.Hash, e.Receipt.Pull()) {
		batch.Files = append(batch.Files, ledger.File{Path: p.String(), Data: e.Bytes})
	}
	b.commitBatch(batch)
	return e
}

// forgeReceipt adds r with one text in its bytes replaced by another of what no writer would mint, and everything
// around it right: names, tree, HEAD.json and message.
func (b *branch) forgeReceipt(r ledger.Receipt, old, with string) {
	before := b.parseHead()
	e := b.appendEntry(r)
	b.editEntry(e.Receipt.Seq, old, with, true)
	_, data := b.entryAt(e.Receipt.Seq)
	head := storetest.Forged(before, data)
	b.setFile(ledger.HeadPath, string(must(head.Format())))
	b.tipCommit().message = ledger.Message([]ledger.Entry{{Hash: head.Tip, Receipt: e.Receipt}}, before.Tip)
}

// rewrittenFrom is the good ledger minted anew from the entry at from on, after edit has changed that one: the attack
// of whoever may push and knows the format.
func rewrittenFrom(from int64, edit func(*ledger.Receipt)) *branch {
	return ledgerOf(func(n int64) ledger.Receipt {
		r := storetest.Sample(n)
		if n == from {
			edit(&r)
		}
		return r
	})
}

// objectsAndTip gives all objects of the branch, and the commit it points to.
func (b *branch) objectsAndTip() (all []gitobject.Object, tip string) {
	seen := map[string]bool{}
	add := func(o gitobject.Object) string {
		if !seen[o.ID] && !b.omit[o.ID] {
			seen[o.ID] = true
			all = append(all, o)
		}
		return o.ID
	}
	parent := ""
	for i, c := range b.commits {
		keep := add
		if i < b.from {
			keep = func(o gitobject.Object) string { return o.ID }
		}
		r := gitobject.Record{Tree: makeTree(keep, c.files, c.rawTree), Author: "referee <referee@localhost>",
			Authored: c.at, By: "referee <referee@localhost>",
			Time: c.at, Message: c.message}
		if parent != "" && !c.root {
			r.Parents = []string{parent}
		}
		if c.second {
			r.Parents = append(r.Parents,
				keep(gitobject.New(gitobject.Commit, gitobject.Record{Tree: r.Tree, Author: r.Author, Authored: c.at,
					By: r.By, Time: c.at,
					Message: "another child\n"}.Encode())))
		}
		parent = keep(gitobject.New(gitobject.Commit, r.Encode()))
	}
	return all, parent
}

// makeTree makes the trees of files; raw, where it is set, writes the root.
func makeTree(add func(gitobject.Object) string, files map[string]file, raw func([]gitobject.Entry) []byte) string {
	var entries []gitobject.Entry
	below := map[string]map[string]file{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		dir, rest, deeper := strings.Cut(path, "/")
		if deeper {
			if below[dir] == nil {
				below[dir] = map[string]file{}
			}
			below[dir][rest] = f
			continue
		}
		id := f.id
		if id == "" {
			id = add(gitobject.New(gitobject.Blob, f.data))
		}
		entries = append(entries, gitobject.Entry{Mode: f.mode, Name: path, ID: id})
	}
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		entries = append(entries, gitobject.Entry{Mode: gitobject.ModeTree, Name: dir, ID: makeTree(add, below[dir], nil)})
	}
	if raw != nil {
		return add(gitobject.New(gitobject.Tree, raw(entries)))
	}
	return add(gitobject.New(gitobject.Tree, gitobject.EncodeTree(entries)))
}

// gitBundle gives the branch as a git bundle.
func (b *branch) gitBundle() []byte {
	all, tip := b.objectsAndTip()
	var out bytes.Buffer
	fmt.Fprintf(&out, "# v2 git bundle\n%s refs/heads/ledger\n\n", tip)
	if err := gitobject.WritePack(&out, all); err != nil {
		panic(err)
	}
	return out.Bytes()
}
