package ledger_test

import (
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// forge is a tree that a test changes: files by path, and what is not a regular file beside them.
type forge struct {
	files   map[string][]byte
	strange []ledger.TreeEntry
	lost    string // the path whose blob cannot be read
}

// sixEntryLedger is a ledger of six entries: five receipts and a merged entry.
func sixEntryLedger(t *testing.T) *forge {
	t.Helper()
	m := &ledger.MemStore{}
	sheet := []byte("sheet") // its hash is the one that Sample names
	var first ledger.Entry
	for n := range int64(5) {
		result, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
			return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(n)}, Sheets: [][]byte{sheet}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = result.Added[0]
		}
	}
	if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Observed(storetest.Sample(0), ledger.Merged,
			first.Hash)}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	return fromStore(t, m)
}

func fromStore(t *testing.T, m *ledger.MemStore) *forge {
	t.Helper()
	at, err := m.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := m.Tree(at)
	if err != nil {
		t.Fatal(err)
	}
	f := &forge{files: map[string][]byte{}}
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range tree.Blobs([]string{e.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			f.files[e.Path] = b
		}
	}
	return f
}

// Entries and Blobs make forge a ledger.Tree; the id of an object is its path, so that aliases are made equal below.
func (f *forge) Entries() iter.Seq2[ledger.TreeEntry, error] {
	return func(yield func(ledger.TreeEntry, error) bool) {
		for path, b := range f.files {
			if !yield(ledger.TreeEntry{Path: path, Mode: "100644", ID: canonical.SHA256Hex(b), Size: int64(len(b))},
				nil) {
				return
			}
		}
		for _, e := range f.strange {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (f *forge) Blobs(ids []string) iter.Seq2[[]byte, error] {
	byID := map[string][]byte{}
	for path, b := range f.files {
		if path != f.lost {
			byID[canonical.SHA256Hex(b)] = b
		}
	}
	return func(yield func([]byte, error) bool) {
		for _, id := range ids {
			b, ok := byID[id]
			if !ok {
				yield(nil, errors.New("object "+id+" is missing"))
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// entryAt gives the path of the entry at seq, and its bytes.
func (f *forge) entryAt(seq int64) (string, []byte) {
	for path, b := range f.files {
		if p, err := ledger.ParsePath(path); err == nil && p.Class == ledger.EntryFile && p.Seq == seq {
			return path, b
		}
	}
	panic("no such entry")
}

// removeEntry takes the entry at seq out, with its aliases.
func (f *forge) removeEntry(seq int64) []byte {
	path, b := f.entryAt(seq)
	p, _ := ledger.ParsePath(path)
	for name := range f.files {
		if strings.Contains(name, p.Hash) {
			delete(f.files, name)
		}
	}
	return b
}

// putEntry files bytes at seq under their own hash, with all aliases, as a forger would who knows the layout.
func (f *forge) putEntry(seq int64, b []byte) {
	pull := int64(0)
	if r, err := ledger.Parse(b); err == nil {
		pull = r.Pull()
	}
	for _, p := range ledger.Places(seq, canonical.SHA256Hex(b), pull) {
		f.files[p.String()] = b
	}
}

// insertTwin adds another entry with the seq 3. Entries are read in the order of their names: the one with the lower
// hash takes the place.
func (f *forge) insertTwin(first bool) {
	head := ledger.NewHead()
	for seq := range int64(3) {
		_, b := f.entryAt(seq)
		head = must(head.Append(b))
	}
	_, taken := f.entryAt(3)
	f.putEntry(3, storetest.Twin(head, taken, first))
}

// editEntry replaces text in the entry at seq; rename says whether the files are named by the new hash.
func (f *forge) editEntry(seq int64, old, with string, rename bool) {
	path, b := f.entryAt(seq)
	changed := []byte(strings.Replace(string(b), old, with, 1))
	if string(changed) == string(b) {
		panic(old + " does not occur")
	}
	if rename {
		f.removeEntry(seq)
		f.putEntry(seq, changed)
		return
	}
	p, _ := ledger.ParsePath(path)
	for name := range f.files {
		if strings.Contains(name, p.Hash) {
			f.files[name] = changed
		}
	}
}

// rewriteFrom mints the entries from seq on anew, after edit has changed the first of them, and makes HEAD.json agree:
// the attack of whoever may push and knows the format.
func (f *forge) rewriteFrom(from int64, edit func(*ledger.Receipt)) {
	head := ledger.NewHead()
	var rest []ledger.Receipt
	var olds []string
	for seq := int64(0); seq < 6; seq++ {
		_, b := f.entryAt(seq)
		if seq < from {
			head = must(head.Append(b))
			continue
		}
		rest, olds = append(rest, *must(ledger.Parse(b))), append(olds, canonical.SHA256Hex(b))
		f.removeEntry(seq)
	}
	edit(&rest[0])
	hashes := map[string]string{}
	for i, r := range rest {
		if to, ok := hashes[r.RefersTo]; ok {
			r.RefersTo = to
		}
		b := must(ledger.Mint(head, r))
		hashes[olds[i]] = canonical.SHA256Hex(b)
		f.putEntry(head.Count, b)
		head = must(head.Append(b))
	}
	f.files[ledger.HeadPath] = must(head.Format())
	_, first := f.entryAt(0)
	info := ledger.Info{Format: ledger.InfoFormat, Genesis: canonical.SHA256Hex(first),
		Repository: ledger.Repository{ID: 4242, Name: "acme/underwriting"}}
	f.files[ledger.InfoPath] = must(info.Marshal())
}

// sheetPath is where a sheet of this text is kept.
func sheetPath(text string) string {
	return ledger.Place{Class: ledger.SheetFile, Hash: ledger.SheetHash([]byte(text))}.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func verifyForged(t *testing.T, f *forge, pins ...ledger.Pin) *ledger.Verification {
	t.Helper()
	v, err := ledger.Verify(t.Context(), f, ledger.Options{Pins: pins})
	if err != nil {
		t.Fatal(err)
	}
	if v.OK() == (v.Level == 0) {
		t.Errorf("level %s with %d problems", v.Level, len(v.Problems))
	}
	return v
}

func TestVerifyGood(t *testing.T) {
	v := verifyForged(t, sixEntryLedger(t))
	for _, p := range v.Problems {
		t.Error(p)
	}
	if v.Level != ledger.L1 || v.Head.Count != 6 || len(v.Hashes) != 6 || v.Info.Genesis != v.Hashes[0] ||
		v.Leaves.Count() != 6 {
		t.Errorf("%+v", v)
	}
	if v := verifyForged(t, &forge{}); !v.OK() || v.Head.Count != 0 {
		t.Errorf("an empty tree: %v", v.Problems)
	}
	calls := 0
	tree, _ := chainOf(t, 1001, storetest.Sample)
	_, err := ledger.Verify(t.Context(), tree, ledger.Options{Progress: func(done, total int) {
		if calls++; total != 1001 || done != 1000 && done != 1001 {
			t.Errorf("progress %d of %d", done, total)
		}
	}})
	if err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestVerifyAttacks makes each attack on the good ledger and names the codes that show it, all of them, in order.
func TestVerifyAttacks(t *testing.T) {
	other := storetest.Sample(7)
	other.Repository.ID = 9
	for name, c := range map[string]struct {
		attack func(f *forge)
		codes  []ledger.Code
	}{
		"edit": {func(f *forge) { f.editEntry(2, `"model":"example-70b"`, `"model":"example-99b"`, false) },
			codes(ledger.CodeName, ledger.CodeHeadLies)},
		"edit, rename": {func(f *forge) { f.editEntry(2, `"model":"example-70b"`, `"model":"example-99b"`, true) },
			codes(ledger.CodeParent, ledger.CodeHeadLies)},
		"edit the tip": {func(f *forge) { f.editEntry(5, `"actor":"rosa"`, `"actor":"mina"`, true) },
			codes(ledger.CodeHeadLies)},
		"drop middle": {func(f *forge) { f.removeEntry(2) }, codes(ledger.CodeGap, ledger.CodeHeadLies)},
		"drop first": {func(f *forge) { f.removeEntry(0) }, codes(ledger.CodeGap, ledger.CodeReference,
			ledger.CodeHeadLies, ledger.CodeInfoLies)},
		"truncate": {func(f *forge) { f.removeEntry(5) }, codes(ledger.CodeHeadLies)},
		"reorder": {func(f *forge) {
			a, b := f.removeEntry(2), f.removeEntry(3)
			f.putEntry(2, b)
			f.putEntry(3, a)
		}, codes(ledger.CodeMisplaced, ledger.CodeParent, ledger.CodeMisplaced, ledger.CodeParent, ledger.CodeParent,
			ledger.CodeHeadLies)},
		"insert": {func(f *forge) { f.insertTwin(true) },
			codes(ledger.CodeTwin, ledger.CodeParent, ledger.CodeHeadLies)},
		"insert behind": {func(f *forge) { f.insertTwin(false) }, codes(ledger.CodeTwin)},
		"forged, well-formed": {func(f *forge) {
			r := storetest.Sample(77)
			_, b := f.entryAt(5)
			h := ledger.Head{Count: 6, Tip: canonical.SHA256Hex(b), Root: hashA, Edge: []string{hashA, hashB}}
			f.putEntry(6, must(ledger.Mint(h, r)))
		}, codes(ledger.CodeLog, ledger.CodeHeadLies)},
		"another repository": {func(f *forge) { f.appendUnchecked(storetest.Key(other)) }, codes(ledger.CodeRepository)},
		"the same sign-off twice": {func(f *forge) {
			r := storetest.Sample(3)
			r.Approval.Approver.Permission = "admin"
			f.appendUnchecked(r)
		}, codes(ledger.CodeDuplicate)},
		"refers to nothing": {func(f *forge) {
			f.appendUnchecked(storetest.Observed(storetest.Sample(1), ledger.Merged,
				hashA))
		}, codes(ledger.CodeReference)},
		"cook of nothing":     {func(f *forge) { f.appendUnchecked(cookReceipt()) }, codes(ledger.CodeReference)},
		"incident of nothing": {func(f *forge) { f.appendUnchecked(incidentReceipt()) }, codes(ledger.CodeReference)},
		"non-canonical twin": {func(f *forge) { f.editEntry(5, `"seq":5`, `"seq": 5`, true) },
			codes(ledger.CodeNotCanonical, ledger.CodeHeadLies)},
		"unknown schema": {func(f *forge) { f.editEntry(5, `eval-receipt/v1`, `eval-receipt/v9`, true) },
			codes(ledger.CodeUnknownSchema, ledger.CodeHeadLies)},
		"without approval": {func(f *forge) {
			f.editEntry(5, `"kind":"merged"`, `"kind":"approved"`, true)
		}, codes(ledger.CodeInvalid, ledger.CodeHeadLies)},
		"extra file": {func(f *forge) { f.files["notes.txt"] = []byte("x") }, codes(ledger.CodeUnknownFile)},
		"case-fold": {func(f *forge) { f.files["head.json"] = f.files[ledger.HeadPath] },
			codes(ledger.CodeUnknownFile)},
		"dot dot": {func(f *forge) { f.files["receipts/../x"] = nil }, codes(ledger.CodeUnknownFile)},
		"dot git": {func(f *forge) { f.files[".git/config"] = nil }, codes(ledger.CodeUnknownFile)},
		"symlink": {func(f *forge) { f.strange = oneFileTree(ledger.PagePath, "120000", 10) },
			codes(ledger.CodeMode)},
		"submodule": {func(f *forge) { f.strange = oneFileTree(ledger.PagePath, "160000", 0) },
			codes(ledger.CodeMode)},
		"executable": {func(f *forge) { f.strange = oneFileTree(ledger.PagePath, "100755", 10) },
			codes(ledger.CodeMode)},
		"huge blob": {func(f *forge) { f.strange = oneFileTree(ledger.PagePath, "100644", 1<<30) },
			codes(ledger.CodeSize)},
		"HEAD.json lies": {func(f *forge) { f.files[ledger.HeadPath] = must(ledger.NewHead().Format()) },
			codes(ledger.CodeHeadLies)},
		"HEAD.json, no": {func(f *forge) { delete(f.files, ledger.HeadPath) }, codes(ledger.CodeHeadUnreadable)},
		"HEAD.json, bad": {func(f *forge) { f.files[ledger.HeadPath] = []byte("{}") },
			codes(ledger.CodeHeadUnreadable)},
		"LEDGER.json, no": {func(f *forge) { delete(f.files, ledger.InfoPath) }, codes(ledger.CodeInfoUnreadable)},
		"LEDGER.json, later version": {func(f *forge) {
			f.files[ledger.InfoPath] = []byte(strings.Replace(string(f.files[ledger.InfoPath]), "ledger/v2",
				"ledger/v3", 1))
		}, codes(ledger.CodeInfoUnreadable)},
		"LEDGER.json, first version": {func(f *forge) {
			f.files[ledger.InfoPath] = []byte(strings.Replace(string(f.files[ledger.InfoPath]), "ledger/v2",
				"ledger/v1", 1))
		}, codes(ledger.CodeInfoUnreadable)},
		"LEDGER.json lies": {func(f *forge) {
			f.files[ledger.InfoPath] = must(ledger.Info{Format: ledger.InfoFormat, Genesis: hashA,
				Repository: ledger.Repository{ID: 4242, Name: "x"}}.Marshal())
		}, codes(ledger.CodeInfoLies)},
		".gitattributes, no": {func(f *forge) { delete(f.files, ledger.AttributesPath) },
			codes(ledger.CodeAttributes)},
		".gitattributes, eol": {func(f *forge) { f.files[ledger.AttributesPath] = []byte("* text eol=crlf\n") },
			codes(ledger.CodeAttributes)},
		"alias dropped":      {func(f *forge) { f.dropAlias(ledger.HashAlias) }, codes(ledger.CodeAliasMissing)},
		"pull alias dropped": {func(f *forge) { f.dropAlias(ledger.PullAlias) }, codes(ledger.CodeAliasMissing)},
		"alias differs": {func(f *forge) {
			_, b := f.entryAt(1)
			f.files[f.dropAlias(ledger.HashAlias)] = b
		}, codes(ledger.CodeAliasDiffers)},
		"alias orphan": {func(f *forge) { f.files["hash/aa/aa/"+hashA+".json"] = []byte("{}") },
			codes(ledger.CodeAliasOrphan)},
		"pull orphan": {func(f *forge) { f.files["pr/0000/00/01/000000009-"+hashA+".json"] = []byte("{}") },
			codes(ledger.CodeAliasOrphan)},
		"two pull requests": {func(f *forge) {
			path, b := f.entryAt(1)
			p, _ := ledger.ParsePath(path)
			f.files["pr/0000/00/99/000000001-"+p.Hash+".json"] = b
		}, nil}, // which of the two is seen first depends on the tree: held below
		"sheet edited":   {func(f *forge) { f.files[sheetPath("sheet")] = []byte("shoot") }, codes(ledger.CodeSheet)},
		"sheet orphaned": {func(f *forge) { f.files[sheetPath("x")] = []byte("x") }, codes(ledger.CodeSheetOrphan)},
		"blob missing":   {func(f *forge) { f.lost = ledger.HeadPath }, codes(ledger.CodeUnreadable)},
		// What L1 cannot see, as every good verification says:
		"truncate, HEAD.json too": {func(f *forge) { f.truncateLedger() }, codes()},
		"rewrite from 2": {func(f *forge) {
			f.rewriteFrom(2,
				func(r *ledger.Receipt) { r.Agent.Model = "example-99b" })
		}, codes()},
		"new genesis": {func(f *forge) {
			f.rewriteFrom(0,
				func(r *ledger.Receipt) { r.Agent.Model = "example-99b" })
		}, codes()},
	} {
		f := sixEntryLedger(t)
		c.attack(f)
		v := verifyForged(t, f)
		if c.codes == nil && v.OK() {
			t.Errorf("%s: not seen", name)
		}
		if c.codes != nil && !slices.Equal(problemCodes(v), c.codes) {
			t.Errorf("%s: %v\nwant %v", name, v.Problems, c.codes)
		}
	}
}

// codes is a list that is never nil.
func codes(all ...ledger.Code) []ledger.Code { return append([]ledger.Code{}, all...) }

func problemCodes(v *ledger.Verification) []ledger.Code {
	all := codes()
	for _, p := range v.Problems {
		all = append(all, p.Code)
	}
	return all
}

func oneFileTree(path, mode string, size int64) []ledger.TreeEntry {
	return []ledger.TreeEntry{{Path: path, Mode: mode, ID: hashA, Size: size}}
}

// appendUnchecked adds an entry that the chain allows, without asking what Append would ask.
func (f *forge) appendUnchecked(r ledger.Receipt) {
	head := must(ledger.ParseHead(f.files[ledger.HeadPath]))
	b := must(ledger.Mint(head, r))
	f.putEntry(head.Count, b)
	f.files[ledger.HeadPath] = must(must(head.Append(b)).Format())
}

// dropAlias takes an alias of the entry 3 out and gives its path.
func (f *forge) dropAlias(class ledger.Class) string {
	path, _ := f.entryAt(3)
	at, _ := ledger.ParsePath(path)
	for name := range f.files {
		if p, err := ledger.ParsePath(name); err == nil && p.Class == class && p.Hash == at.Hash {
			delete(f.files, name)
			return name
		}
	}
	panic("no alias")
}

// truncateLedger cuts the last two entries off and makes HEAD.json agree.
func (f *forge) truncateLedger() {
	f.removeEntry(5)
	f.removeEntry(4)
	head := ledger.NewHead()
	for seq := range int64(4) {
		_, b := f.entryAt(seq)
		head = must(head.Append(b))
	}
	f.files[ledger.HeadPath] = must(head.Format())
}

func TestCompare(t *testing.T) {
	a, same := verifyForged(t, sixEntryLedger(t)), verifyForged(t, sixEntryLedger(t))
	grown, forked, cut := sixEntryLedger(t), sixEntryLedger(t), sixEntryLedger(t)
	grown.appendUnchecked(storetest.Sample(70))
	forked.rewriteFrom(3, func(r *ledger.Receipt) { r.Agent.Model = "example-99b" })
	cut.truncateLedger()
	for name, other := range map[string]*ledger.Verification{"same": same, "longer": verifyForged(t, grown),
		"shorter": verifyForged(t, cut), "empty": verifyForged(t, &forge{})} {
		if problems := ledger.Compare(a, other); len(problems) != 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	problems := ledger.Compare(a, verifyForged(t, forked))
	if len(problems) != 1 || problems[0].Code != ledger.CodeFork || problems[0].Seq != 3 {
		t.Errorf("%v, want a fork at 3", problems)
	}
	edited := sixEntryLedger(t)
	edited.editEntry(2, `"model":"example-70b"`, `"model":"example-99b"`, false)
	if problems := ledger.Compare(a, verifyForged(t, edited)); len(problems) != 1 || problems[0].Code != ledger.CodeFork {
		t.Errorf("%v, want that other bytes are seen under the same names", problems)
	}
}

// TestVerifySince holds that the new entries are verified from any older head, and that a cut or rewritten one is seen.
func TestVerifySince(t *testing.T) {
	m := &ledger.MemStore{}
	var heads []ledger.Snapshot
	for n := range int64(8) {
		if _, err := ledger.Append(t.Context(), m, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
			return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(n)}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		heads = append(heads, must(m.Head(t.Context())))
	}
	for _, old := range heads {
		v, err := ledger.VerifySince(t.Context(), m, heads[7], old.Head)
		if err != nil || !v.OK() || v.Level != ledger.L2 || v.Head.Root != heads[7].Head.Root ||
			int64(len(v.Hashes)) != 8-old.Head.Count {
			t.Errorf("since %d: %+v, %v", old.Head.Count, v, err)
		}
	}
	lying := heads[7]
	lying.Head.Root = hashA
	unknown := heads[7]
	unknown.Head.Tip = hashA
	rewritten := heads[3].Head
	rewritten.Tip = hashA
	for name, c := range map[string]struct {
		at   ledger.Snapshot
		seen ledger.Head
		code ledger.Code
	}{
		"truncated":      {heads[3], heads[7].Head, ledger.CodeTruncated},
		"rewritten":      {heads[7], rewritten, ledger.CodePinTip},
		"HEAD.json lies": {lying, heads[3].Head, ledger.CodeHeadLies},
		"tip missing":    {unknown, heads[3].Head, ledger.CodeUnreadable},
		"same size":      {unknown, heads[7].Head, ledger.CodeHeadLies},
	} {
		v, err := ledger.VerifySince(t.Context(), m, c.at, c.seen)
		if err != nil || len(v.Problems) != 1 || v.Problems[0].Code != c.code || v.Level != 0 {
			t.Errorf("%s: %v, %v; want %s", name, v.Problems, err, c.code)
		}
	}
}

// TestVerifyIsBounded holds that a million files cost a bounded list, and that a tree that cannot be read is an error.
func TestVerifyIsBounded(t *testing.T) {
	million := &endless{n: 1_000_000}
	v, err := ledger.Verify(t.Context(), million, ledger.Options{})
	if err != nil || len(v.Problems) != ledger.MaxProblems+1 ||
		v.Problems[ledger.MaxProblems].Code != ledger.CodeTooMany {
		t.Errorf("%d problems, %v", len(v.Problems), err)
	}
	if million.given > ledger.MaxProblems {
		t.Errorf("%d names were read after the list was full", million.given)
	}
	broken := errors.New("broken")
	if v, err := ledger.Verify(t.Context(), &endless{n: 1, err: broken}, ledger.Options{}); !errors.Is(err, broken) ||
		v != nil {
		t.Errorf("%v, %v", v, err)
	}
}

type endless struct {
	n, given int
	err      error
}

func (e *endless) Entries() iter.Seq2[ledger.TreeEntry, error] {
	return func(yield func(ledger.TreeEntry, error) bool) {
		for range e.n {
			e.given++
			if !yield(ledger.TreeEntry{Path: "x", Mode: "100644"}, e.err) {
				return
			}
		}
	}
}

func (e *endless) Blobs([]string) iter.Seq2[[]byte, error] { return func(func([]byte, error) bool) {} }

// TestVerifyIsStable holds that the problems come in one order, whatever the processors do, and that no worker is left.
func TestVerifyIsStable(t *testing.T) {
	before := runtime.NumGoroutine()
	var first []ledger.Problem
	for range 20 {
		f := sixEntryLedger(t)
		f.editEntry(1, `"model":"example-70b"`, `"model":"example-99b"`, false)
		f.editEntry(3, `"seq":3`, `"seq": 3`, true)
		f.files["a"], f.files["b"] = nil, nil
		v := verifyForged(t, f)
		// the map's order
		slices.SortFunc(v.Problems[:2], func(a, b ledger.Problem) int { return strings.Compare(a.Path, b.Path) })
		if first == nil {
			first = v.Problems
		}
		if !slices.Equal(v.Problems, first) {
			t.Fatalf("%v\nand before\n%v", v.Problems, first)
		}
	}
	// Workers end by themselves soon after; on a busy machine, not at once.
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
