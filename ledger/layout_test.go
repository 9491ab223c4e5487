package ledger_test

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPlaces' paths stand in the specification of the branch.
func TestPlaces(t *testing.T) {
	want := []string{
		"receipts/000/01/23/000012345-" + hashA + ".json",
		"hash/aa/aa/" + hashA + ".json",
		"pr/0000/01/23/000012345-" + hashA + ".json",
	}
	places := ledger.Places(12345, hashA, 123)
	for i, p := range places {
		if p.String() != want[i] {
			t.Errorf("%s, want %s", p, want[i])
		}
		if back, err := ledger.ParsePath(want[i]); err != nil || back != p {
			t.Errorf("%s: %+v, %v", want[i], back, err)
		}
	}
	if len(ledger.Places(0, hashA, 0)) != 2 {
		t.Error("an entry outside a forge has two paths")
	}
	for path, class := range map[string]ledger.Class{
		"LEDGER.json": ledger.InfoFile, "HEAD.json": ledger.HeadFile, "README.md": ledger.ReadmeFile,
		"verify.html": ledger.PageFile, ".gitattributes": ledger.AttributesFile, "sheets/bb/" + hashB +
			".json": ledger.SheetFile,
		"receipts/999/99/99/999999999-" + hashA + ".json": ledger.EntryFile, "pr/9999/99/99/000000000-" + hashA +
			".json": ledger.PullAlias,
	} {
		if p, err := ledger.ParsePath(path); err != nil || p.Class != class || p.String() != path {
			t.Errorf("%s: %+v, %v", path, p, err)
		}
	}
	if p := (ledger.Place{}).String(); p != "" {
		t.Errorf("an unknown place has the path %q", p)
	}
}

// strangers are paths that look like a ledger's, to some file system or some reader.
var strangers = []string{
	"", "/", ".", "..", "LEDGER.JSON", "ledger.json", "Head.json", "README", "readme.md", "HEAD.json/x", ".git",
	".git/config", "./HEAD.json",
	"../HEAD.json", "receipts/../HEAD.json", "receipts", "receipts/000/01/23", "receipts/000/01/23/",
	"receipts//000/01/23/000012345-" + hashA + ".json",
	"receipts/000/01/23/12345-" + hashA + ".json", "receipts/000/01/24/000012345-" + hashA + ".json",
	"receipts/000/01/23/000012345_" + hashA + ".json",
	"receipts/000/01/23/000012345-" + hashA + ".JSON", "receipts/000/01/23/000012345-" + strings.ToUpper(hashA) +
		".json", "Receipts/000/012/000012345-" + hashA + ".json",
	"receipts/000/01/23/000012345-" + hashA, "receipts/000/01/23/000012345-" + hashA[:63] + ".json",
	"receipts/000/01/23/+00012345-" + hashA + ".json",
	"receipts/000/01/23/x/000012345-" + hashA + ".json", "receipts/1000/01/23/1000012345-" + hashA + ".json",
	"receipts\\000\\01\\23\\000012345-" + hashA + ".json",
	"pr/0000/00/00/000012345-" + hashA + ".json", "pr/00/01/23/000012345-" + hashA + ".json",
	"pr/0000/0123/000012345-" + hashA + ".json", "pr/000012345-" + hashA + ".json",
	"pr/000/00123/000012345-" + hashA + ".json", "pr/000", "pr/000/00/123/000012345-" + hashA + ".json",
	"receipts/000/012/000012345-" + hashA + ".json", "pr/0000/01/23/x/000012345-" + hashA + ".json",
	"hash/aa/bb/" + hashA + ".json", "hash/" + hashA + ".json", "hash/aa/aa/" + hashA + ".json ",
	"hash/aa/aa/" + hashA + ".json\x00",
	"sheets/x.json", "sheets/" + hashA, "sheets/a/" + hashA + ".json", "sheets/" + hashA + ".json",
	"sheets/ab/" + hashA + ".json", "sheets/aa/aa/" + hashA + ".json", "sheet/" + hashA + ".json",
	"receipts/000/01/23/000012345-" + hashA + ".json/x",
	"receipts/٠٠٠/01/23/000012345-" + hashA + ".json", "README.md\u200b",
}

func TestParsePathRefuses(t *testing.T) {
	for _, path := range strangers {
		if p, err := ledger.ParsePath(path); err == nil || p != (ledger.Place{}) {
			t.Errorf("%q: %+v", path, p)
		}
	}
}

// TestFirstLayout: a path of the layout before the first release is refused by name, with what stands in its place.
func TestFirstLayout(t *testing.T) {
	const before = " is the layout of defendablecloud.ledger/v1, before the first release; "
	for path, want := range map[string]string{
		"pr/000/00123/000012345-" + hashA + ".json": "pr/000/00123" + before + "now it is pr/0000/01/23",
		"pr/001/23456/000012345-" + hashA + ".json": "pr/001/23456" + before + "now it is pr/0012/34/56",
		"pr/999/99999": "pr/999/99999" + before + "now it is pr/9999/99/99",
		// as a store shows a directory that no ledger has
		"pr/000":                    "pr/000" + before + "now a directory in pr/ has four digits",
		"sheets/" + hashB + ".json": "a sheet without a directory" + before + "now it is sheets/bb/" + hashB + ".json",
	} {
		if _, err := ledger.ParsePath(path); err == nil ||
			!strings.HasSuffix(err.Error(), "not a path of a ledger: "+want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"pr/00x", "pr/00", "pr", "receipts/000", "receipts/00/0000", "receipts/000/01",
		"receipts/000/01/23", "sheets/x.json", "sheets", "hash/000/00123", "sheets/aa/x.json", "pr/0000/0123"} {
		if _, err := ledger.ParsePath(path); err == nil || strings.Contains(err.Error(), "layout") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// names counts the names of each directory.
type names struct {
	of   map[string]*int
	last [256]recent // by the first byte of the path
}

// recent is the directory of the path before, in which the next one often is.
type recent struct {
	dir   string
	count *int
}

// countFile counts a file, and the directories above it that are new.
func (n *names) countFile(path string) {
	last := &n.last[path[0]]
	if i := strings.LastIndexByte(path, '/'); last.count != nil && i == len(last.dir) && path[:i] == last.dir {
		*last.count++
		return
	}
	for first := true; ; first = false {
		i := strings.LastIndexByte(path, '/')
		dir := path[:max(i, 0)]
		count := n.of[dir]
		if count == nil {
			count = new(int)
			n.of[dir] = count
		}
		if first {
			*last = recent{dir, count}
		}
		*count++
		if *count > 1 || i < 0 {
			return
		}
		path = dir
	}
}

// TestNamesPerDirectory holds what the layout is for: at a million entries and a million pull requests no directory has
// more than 256 names (a thousand were asked), so that an append reads and writes little at any size. Digits are dealt
// out evenly by their numbers, hashes by a seeded generator. The plain run deals out a quarter of them.
func TestNamesPerDirectory(t *testing.T) {
	entries, pulls := 1_000_000, 101
	if !storetest.Full() {
		entries, pulls = 250_000, 100
	}
	r := rand.New(rand.NewPCG(10, 10))
	hash := func() string {
		var b [32]byte
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
		return hex.EncodeToString(b[:])
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // three million paths come and go
	all := &names{of: make(map[string]*int, 90_000)}
	for n := range int64(entries) {
		for _, p := range ledger.Places(n+1, hash(), n+1) {
			all.countFile(p.String())
		}
	}
	for range 100_000 { // versions of sheets; each may have been the rulebook of ten entries
		all.countFile(ledger.Place{Class: ledger.SheetFile, Hash: hash()}.String())
	}
	most := map[string]int{}
	for dir, count := range all.of {
		n := *count
		top, _, _ := strings.Cut(dir, "/")
		most[top] = max(most[top], n)
		if n > 1000 {
			t.Errorf("%q has %d names", dir, n)
		}
	}
	// By hand: a million numbers fill a hundred directories of a hundred of a hundred, in pr/ with one name each, and
	// the million-and-first begins a new one at the top; 65,536 directories of hashes hold 15 on average, below 256 of
	// 256; 256 directories of sheets hold 391. A quarter of a million fills all but the top in the same way.
	for top, least := range map[string]int{"receipts": 100, "pr": pulls, "hash": 256, "sheets": 391, "": 4} {
		if most[top] < least {
			t.Errorf("the largest directory of %q has %d names, and by hand at least %d", top, most[top], least)
		}
	}
	for top, bound := range map[string]int{"receipts": 100, "pr": 101, "hash": 256} {
		if most[top] > bound {
			t.Errorf("the largest directory of %q has %d names, and by hand at most %d", top, most[top], bound)
		}
	}
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		path, mode string
		size       int64
		ok         bool
	}{
		{"HEAD.json", "100644", 100, true}, {"HEAD.json", "120000", 100, false}, {"HEAD.json", "160000", 0, false},
		{"HEAD.json", "100755", 100, false}, {"HEAD.json", "100664", 100, false}, {"HEAD.json", "100644", 256<<10 + 1,
			false},
		{"HEAD.json", "100644", -1, false}, {"verify.html", "100644", 2 << 20, true},
		{"verify.html", "100644", 2<<20 + 1, false},
		{"sheets/aa/" + hashA + ".json", "100644", 5 << 20, true}, {"sheets/aa/" + hashA + ".json", "100644", 5<<20 + 1,
			false},
		{"x", "100644", 1, false},
	} {
		if _, err := ledger.Allowed(c.path, c.mode, c.size); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, path := range strangers {
		f.Add(path)
	}
	for _, p := range ledger.Places(12345, hashA, 123) {
		f.Add(p.String())
	}
	f.Fuzz(func(t *testing.T, path string) {
		if p, err := ledger.ParsePath(path); err == nil && p.String() != path {
			t.Errorf("%q comes back as %q", path, p)
		}
	})
}
