package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var runItems = []Item{
	{ID: "t12", Path: "evidence/t12.csv", Kind: "file"}, {ID: "quote", Path: "evidence/quote.json", Kind: "file"},
	{ID: "memo", Path: "evidence/memo.txt", Kind: "file"},
	{ID: "log", Path: "evidence/log.jsonl", Kind: "log"}, {ID: "pdf", Path: "evidence/appraisal.pdf", Kind: "file"},
	{ID: "call", Kind: "note", Text: "Broker confirmed 94.5 % occupancy on the phone."},
	{ID: "web", Kind: "url", URL: "https://example.com/rates"},
}

func openRun(t *testing.T) *Set {
	t.Helper()
	root, err := os.OpenRoot("testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return Open(root.FS(), runItems, Limits{})
}

// The hashes and sizes are those that sha256sum and wc -c give for the same files; the hash of the note is of its text.
func TestHeldFiles(t *testing.T) {
	s := openRun(t)
	want := map[string]struct {
		sum    string
		bytes  int64
		format Format
	}{
		"t12":   {"9f9f75b7d35d71dbdc5e29de04facd9b8473f7cd06504b7022a98ce4e437960f", 178, CSV},
		"quote": {"854a327d465c5cd275e9dc9b2906bb1313756134d6c30e63e3ad25447bd99fcb", 189, JSON},
		"memo":  {"7f784715f35c277dc5bbbc7e3670f6ac241cd4071c30bd750979aa12aea7bf65", 129, Text},
		"log":   {"b4263392425ec03401bd07d47b05d1233d47598bc3524a45af2ee460fed0faa6", 236, JSONL},
		"pdf":   {"c644f26a0d71bd3bbb2ef5e90ba41b6f10a19ca99934fb9e784edfafd3b2620c", 15, PDF},
		"call":  {"4afc93c18cff0de5a874d4075baeb9a638e17a18fb01778029d1adca69f40e95", 47, Text},
	}
	if ids := s.IDs(); !slices.Equal(ids, []string{"t12", "quote", "memo", "log", "pdf", "call", "web"}) {
		t.Errorf("ids %v", ids)
	}
	for id, w := range want {
		f, err := s.File(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if f.SHA256 != w.sum || f.Bytes != w.bytes || f.Format != w.format || f.ID != id {
			t.Errorf("%s: %s, %d bytes, %s", id, f.SHA256, f.Bytes, f.Format)
		}
	}
	all := s.All()
	if len(all) != len(runItems) || !errors.Is(all[6].Err, ErrNotHeld) || all[0].Err != nil {
		t.Errorf("all: %d items, %v", len(all), all[6].Err)
	}
}

func TestRefusedItems(t *testing.T) {
	tree := fstest.MapFS{
		"evidence/a.csv": {Data: []byte("x\n1\n")}, "evidence/A.csv": {Data: []byte("x\n2\n")},
		"evidence/dir/b.txt": {Data: []byte("b")},
		"evidence/link.csv":  {Data: []byte("a.csv"), Mode: fs.ModeSymlink | 0o777},
		"evidence/fifo":      {Mode: fs.ModeNamedPipe}, "linked": {Data: []byte("evidence/dir"),
			Mode: fs.ModeSymlink | 0o777},
		"evidence/lfs.csv": {Data: []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")},
	}
	cases := []struct {
		item  Item
		cause error
		says  string
	}{
		{Item{Path: "/etc/passwd"}, ErrRefused, "absolute"},
		{Item{Path: `C:/x.csv`}, ErrRefused, "absolute"},
		{Item{Path: "../other/x.csv"}, ErrRefused, "leads upwards"},
		{Item{Path: "evidence/../../x.csv"}, ErrRefused, "leads upwards"},
		{Item{Path: `evidence\a.csv`}, ErrRefused, "backslash"},
		{Item{Path: "./evidence/a.csv"}, ErrRefused, `write "evidence/a.csv"`},
		{Item{Path: "evidence//a.csv"}, ErrRefused, `write "evidence/a.csv"`},
		{Item{Path: "."}, ErrRefused, "shortest form"},
		{Item{Path: "evidence/\u202egnp.csv"}, ErrRefused, "control or invisible character"},
		{Item{Path: "evidence/a\x00.csv"}, ErrRefused, "control or invisible character"},
		{Item{Path: "evidence/a\n.csv"}, ErrRefused, "control or invisible character"},
		{Item{Path: "evidence/\xff.csv"}, ErrRefused, "not UTF-8"},
		{Item{}, ErrRefused, "neither a path nor a text"},
		{Item{Path: "evidence/a.csv", Text: "x"}, ErrRefused, "both a path and a text"},
		{Item{Text: "\xff"}, ErrRefused, "not UTF-8"},
		{Item{Path: "evidence/none.csv"}, ErrMissing, `the file "evidence/none.csv" is not in the run folder`},
		{Item{Path: "nowhere/none.csv"}, ErrMissing, "not in the run folder"},
		{Item{Path: "evidence/dir"}, ErrRefused, "is a folder"},
		{Item{Path: "evidence/fifo"}, ErrRefused, "not a regular file"},
		{Item{Path: "evidence/link.csv"}, ErrRefused, "symbolic link"},
		{Item{Path: "linked/b.txt"}, ErrRefused, `"linked" is a symbolic link`},
		{Item{Path: "evidence/lfs.csv"}, ErrRefused, "Git LFS pointer"},
		{Item{Kind: "url", URL: "https://example.com"}, ErrNotHeld, "has no snapshot"},
		{Item{ID: "a#b", Text: "x"}, ErrRefused, "an id has no #"},
		{Item{ID: " ", Text: "x"}, ErrRefused, "has no id"},
		{Item{ID: "a\u200b", Text: "x"}, ErrRefused, "invisible characters"},
	}
	for _, c := range cases {
		if c.item.ID == "" {
			c.item.ID = "x"
		}
		s := Open(tree, []Item{c.item}, Limits{})
		f, err := s.File(c.item.ID)
		if f != nil || !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %v: %s", c.item, err, c.cause, c.says)
		}
		if strings.ContainsAny(err.Error(), "\u202e\u200b\n\x00") {
			t.Errorf("the message %q does not print", err)
		}
		if all := s.All(); all[0].Err == nil || all[0].SHA256 != "" {
			t.Errorf("%+v: listed as held", c.item)
		}
	}
}

func TestTwins(t *testing.T) {
	tree := fstest.MapFS{"a.csv": {Data: []byte("x\n")}, "A.csv": {Data: []byte("y\n")}, "b.csv": {Data: []byte("z\n")}}
	// U+212A is the Kelvin sign
	s := Open(tree, []Item{{ID: "one", Path: "a.csv"}, {ID: "two", Path: "A.csv"}, {ID: "k", Path: "b.csv"},
		{ID: "\u212a", Path: "b.csv"}, {ID: "ok", Path: "b.csv"}}, Limits{})
	for i, says := range []string{`"a.csv" and "A.csv" differ only in case`, "differ only in case",
		"2 items have this id", "2 items have this id", ""} {
		err := s.All()[i].Err
		if says == "" && err != nil || says != "" &&
			(!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), says)) {
			t.Errorf("item %d: %v", i, err)
		}
	}
	s = Open(tree, []Item{{ID: "x", Path: "a.csv"}, {ID: "x", Path: "b.csv"}}, Limits{})
	if _, err := s.File("x"); !errors.Is(err, ErrRefused) || len(s.IDs()) != 1 || s.All()[1].Err == nil {
		t.Errorf("a duplicate id: %v", err)
	}
}

// TestRealLinks does the same in a real tree: a link out of the run folder, one to a sibling, and a linked folder.
func TestRealLinks(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	write := func(name string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("secret,1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "secret.csv"))
	write(filepath.Join(run, "evidence/a.csv"))
	for name, target := range map[string]string{"out.csv": "../../secret.csv",
		"abs.csv": filepath.Join(dir, "secret.csv"), "side.csv": "a.csv", "up": "..", "gone.csv": "nothing"} {
		if err := os.Symlink(target, filepath.Join(run, "evidence", name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	root, err := os.OpenRoot(run)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, fsys := range []fs.FS{root.FS(), os.DirFS(run)} {
		for _, p := range []string{"out.csv", "abs.csv", "side.csv", "gone.csv", "up/evidence/a.csv"} {
			s := Open(fsys, []Item{{ID: "x", Path: "evidence/" + p}}, Limits{})
			if _, err := s.File("x"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s: %v", p, err)
			}
		}
		if _, err := Open(fsys, []Item{{ID: "x", Path: "evidence/a.csv"}}, Limits{}).File("x"); err != nil {
			t.Error(err)
		}
	}
}

func TestLimits(t *testing.T) {
	big := strings.Repeat("a,b\n1,2\n", keepBelow/4) // 2 MiB: hashed in two pieces
	sum := sha256.Sum256([]byte(big))
	tree := fstest.MapFS{"big.csv": {Data: []byte(big)},
		"big.json": {Data: []byte("[" + strings.Repeat("1,", 600) + "1]")}}
	items := []Item{{ID: "big", Path: "big.csv"}, {ID: "json", Path: "big.json"}}

	s := Open(tree, items, Limits{MaxRead: 1 << 20, MaxJSON: 1000})
	f, err := s.File("big")
	if err != nil || f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != int64(len(big)) {
		t.Errorf("a big file is not hashed: %v", err)
	}
	for _, ref := range []string{"big#row=2", "big#line=0,1", "big#text=1", "json#/0"} {
		if _, err := s.Resolve(ref); !errors.Is(err, ErrTooLarge) ||
			!strings.Contains(err.Error(), "too large to read") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if _, err := s.Stat("big", "rows", "", ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("rows: %v", err)
	}
	if r, err := s.Stat("big", "bytes", "", ""); err != nil || r.Num.String() != "2097152" {
		t.Errorf("bytes: %v", err)
	}
	if _, err := Open(tree, items, Limits{MaxHash: 1 << 20}).File("big"); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "2097152 bytes; at most 1048576 are hashed") {
		t.Errorf("beyond MaxHash: %v", err)
	}
	if hit, err := Open(tree, items, Limits{}).Resolve("big#cell=524288,2"); err != nil || hit.Text != "2" ||
		hit.Line != 524288 {
		t.Errorf("within the default limits: %+v, %v", hit, err)
	}
}

// changing is a tree whose file differs each time it is opened.
type changing struct {
	fstest.MapFS
	opened int
}

func (c *changing) Open(name string) (fs.File, error) {
	if name == "a.txt" {
		c.opened++
		c.MapFS[name].Data[0] = byte('0' + c.opened)
	}
	return c.MapFS.Open(name)
}

func TestChangedBetweenReads(t *testing.T) {
	tree := &changing{MapFS: fstest.MapFS{"a.txt": {Data: []byte(strings.Repeat("x", keepBelow+1))}}}
	s := Open(tree, []Item{{ID: "x", Path: "a.txt"}}, Limits{})
	if _, err := s.Resolve("x#line=0,1"); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("%v after opening it %d times", err, tree.opened)
	}
}

// lying says it is small and never ends.
type lying struct{ fstest.MapFS }

func (l lying) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	return endless{f}, err
}

type endless struct{ fs.File }

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestSizeIsCounted(t *testing.T) {
	s := Open(lying{fstest.MapFS{"a": {Data: []byte("x")}}}, []Item{{ID: "x", Path: "a"}}, Limits{MaxHash: 3 << 20})
	if _, err := s.File("x"); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "more than 3145728 bytes") {
		t.Errorf("%v", err)
	}
}

// failing breaks off in the middle.
type failing struct{ fstest.MapFS }

func (l failing) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	return breaking{f}, err
}

type breaking struct{ fs.File }

func (breaking) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReadError(t *testing.T) {
	s := Open(failing{fstest.MapFS{"a": {Data: []byte("x")}}}, []Item{{ID: "x", Path: "a"}}, Limits{})
	if _, err := s.File("x"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v", err)
	}
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		head   string
		format Format
	}{
		"a.csv": {"x,y\n", CSV}, "a.TSV": {"x\ty\n", CSV}, "a.json": {"{}", JSON}, "a.ndjson": {"{}", JSONL},
		"a.md": {"# x", Text}, "a": {"plain", Text}, "a.xyz": {"pl\x00in", Binary},
		"b": {"\xff\xfe", Binary}, "b.csv": {"%PDF-1.4", PDF}, "c.txt": {"\x89PNG\r\n\x1a\n", Image},
		"a.pdf": {"no pdf", PDF}, "a.xlsx": {"PK\x03\x04", Binary}, "d.jpeg": {"", Image},
		"cut": {strings.Repeat("a", headSize-1) + "\xc3", Text},
	} {
		if got := formatOf(name, []byte(c.head)); got != c.format {
			t.Errorf("%s %.10q is %s, want %s", name, c.head, got, c.format)
		}
	}
	if inlineFormat([]byte(` {"a":1}`)) != JSON || inlineFormat([]byte(`{a}`)) != Text ||
		inlineFormat([]byte(`12`)) != Text {
		t.Error("inline text")
	}
}

func TestNoManifest(t *testing.T) {
	var s *Set
	_, err := s.Resolve("t12#row=1")
	if !errors.Is(err, ErrNoManifest) || s.IDs() != nil || s.All() != nil {
		t.Errorf("%v", err)
	}
	if _, err := Open(nil, []Item{{ID: "a", Path: "a.csv"}}, Limits{}).File("a"); !errors.Is(err, ErrMissing) {
		t.Errorf("no folder: %v", err)
	}
}
