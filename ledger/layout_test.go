package ledger_test

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
)

// TestPlaces' paths stand in the specification of the branch.
func TestPlaces(t *testing.T) {
	want := []string{
		"receipts/000/012/000012345-" + hashA + ".json",
		"hash/aa/aa/" + hashA + ".json",
		"pr/000/00123/000012345-" + hashA + ".json",
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
		"verify.html": ledger.PageFile, ".gitattributes": ledger.AttributesFile, "sheets/" + hashB + ".json": ledger.SheetFile,
		"receipts/999/999/999999999-" + hashA + ".json": ledger.EntryFile, "pr/999/99999/000000000-" + hashA + ".json": ledger.PullAlias,
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
	"", "/", ".", "..", "LEDGER.JSON", "ledger.json", "Head.json", "README", "readme.md", "HEAD.json/x", ".git", ".git/config", "./HEAD.json",
	"../HEAD.json", "receipts/../HEAD.json", "receipts", "receipts/000/012", "receipts/000/012/", "receipts//000/012/000012345-" + hashA + ".json",
	"receipts/000/012/12345-" + hashA + ".json", "receipts/000/011/000012345-" + hashA + ".json", "receipts/000/012/000012345_" + hashA + ".json",
	"receipts/000/012/000012345-" + hashA + ".JSON", "receipts/000/012/000012345-" + strings.ToUpper(hashA) + ".json", "Receipts/000/012/000012345-" + hashA + ".json",
	"receipts/000/012/000012345-" + hashA, "receipts/000/012/000012345-" + hashA[:63] + ".json", "receipts/000/012/+00012345-" + hashA + ".json",
	"receipts/000/012/x/000012345-" + hashA + ".json", "receipts/1000/012/1000012345-" + hashA + ".json", "receipts\\000\\012\\000012345-" + hashA + ".json",
	"pr/000/00000/000012345-" + hashA + ".json", "pr/000/123/000012345-" + hashA + ".json", "pr/00/000123/000012345-" + hashA + ".json", "pr/000012345-" + hashA + ".json",
	"hash/aa/bb/" + hashA + ".json", "hash/" + hashA + ".json", "hash/aa/aa/" + hashA + ".json ", "hash/aa/aa/" + hashA + ".json\x00",
	"sheets/x.json", "sheets/" + hashA, "sheets/a/" + hashA + ".json", "sheet/" + hashA + ".json", "receipts/000/012/000012345-" + hashA + ".json/x",
	"receipts/٠٠٠/012/000012345-" + hashA + ".json", "README.md\u200b",
}

func TestParsePathRefuses(t *testing.T) {
	for _, path := range strangers {
		if p, err := ledger.ParsePath(path); err == nil || p != (ledger.Place{}) {
			t.Errorf("%q: %+v", path, p)
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
		{"HEAD.json", "100755", 100, false}, {"HEAD.json", "100664", 100, false}, {"HEAD.json", "100644", 256<<10 + 1, false},
		{"HEAD.json", "100644", -1, false}, {"verify.html", "100644", 2 << 20, true}, {"verify.html", "100644", 2<<20 + 1, false},
		{"sheets/" + hashA + ".json", "100644", 5 << 20, true}, {"sheets/" + hashA + ".json", "100644", 5<<20 + 1, false},
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
