package gitobject

import (
	"bytes"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// The ids of the empty blob and the empty tree are constants of git's own source (object-file.c).
func TestID(t *testing.T) {
	if id := ID(Blob, nil); id != "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" {
		t.Error(id)
	}
	if id := ID(Tree, nil); id != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Error(id)
	}
	if IsID("4B825dc642cb6eb9a060e54bf8d69288fbee4904") || IsID("4b825dc") || !IsID(strings.Repeat("0", 40)) {
		t.Error("the form of an id")
	}
}

var zero = strings.Repeat("00", 20)

func TestTree(t *testing.T) {
	entries := []Entry{{ModeTree, "a", zero}, {ModeFile, "a.b", zero}, {ModeExec, "a0", zero}, {ModeModule, "m", zero},
		{ModeSymlink, "s", zero}}
	b := EncodeTree(entries)
	back, err := ParseTree(b)
	if err != nil {
		t.Fatal(err)
	}
	// git's order: "a.b" < "a/" < "a0"
	want := []Entry{entries[1], entries[0], entries[2], entries[3], entries[4]}
	if !reflect.DeepEqual(back, want) {
		t.Errorf("%v, want %v", back, want)
	}
	for name, bad := range map[string][]byte{
		"no mode":         []byte("\x00"),
		"mode of letters": []byte("x00644 a\x00" + strings.Repeat("\x00", 20)),
		"cut off":         b[:len(b)-1],
		"no end of name":  []byte("100644 a"),
		"no name":         EncodeRawTree([]Entry{{ModeFile, "", zero}}),
		"slash":           EncodeRawTree([]Entry{{ModeFile, "a/b", zero}}),
		"twice":           EncodeRawTree([]Entry{{ModeFile, "a", zero}, {ModeFile, "a", zero}}),
		"out of order":    EncodeRawTree([]Entry{{ModeFile, "b", zero}, {ModeFile, "a", zero}}),
		"file and tree": EncodeRawTree([]Entry{{ModeFile, "a", zero}, {ModeFile, "a.b", zero},
			{ModeTree, "a", zero}}),
		"mode of 8 digits": EncodeRawTree([]Entry{{"00100644", "a", zero}}),
	} {
		if entries, err := ParseTree(bad); err == nil || entries != nil {
			t.Errorf("%s: %v", name, entries)
		}
	}
}

func TestCommit(t *testing.T) {
	r := Record{Tree: zero, Parents: []string{zero, zero}, Author: "A U <a@b>", Authored: 5, By: "C <c@d>", Time: 7,
		Message: "m\n\nn\n"}
	back, err := ParseCommit(r.Encode())
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v, %v", back, err)
	}
	signed := strings.Replace(string(r.Encode()), "\n\n", "\ngpgsig -----BEGIN\n x\n\n", 1)
	if back, err := ParseCommit([]byte(signed)); err != nil || back.Message != r.Message {
		t.Errorf("with a signature: %+v, %v", back, err)
	}
	text := string(r.Encode())
	for name, bad := range map[string]string{
		"no end":            strings.Replace(text, "\n\n", "\n", 2),
		"no tree":           text[5:],
		"bad tree":          strings.Replace(text, "tree 0", "tree x", 1),
		"bad parent":        strings.Replace(text, "parent 0", "parent x", 1),
		"no author":         strings.Replace(text, "author ", "auther ", 1),
		"no committer":      strings.Replace(text, "committer ", "comitter ", 1),
		"a time of letters": strings.Replace(text, "> 7 ", "> x ", 1),
	} {
		if back, err := ParseCommit([]byte(bad)); err == nil || !reflect.DeepEqual(back, Record{}) {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

func TestDelta(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 20_000) // longer than what one copy and one size byte hold
	for name, pair := range map[string][2][]byte{
		"insert":    {long, append(append(bytes.Clone(long[:100_000]), "new"...), long[100_000:]...)},
		"append":    {long, append(bytes.Clone(long), "new"...)},
		"cut":       {long, long[:70_000]},
		"other":     {[]byte("abc"), bytes.Repeat([]byte("xyz"), 100)},
		"empty":     {nil, []byte("x")},
		"to empty":  {[]byte("x"), nil},
		"same":      {long, long},
		"repeating": {[]byte("aaaa"), []byte("aaaaaaa")},
	} {
		d := deltaBetween(pair[0], pair[1])
		back, err := applyDelta(pair[0], d, 1<<20)
		if err != nil || !bytes.Equal(back, pair[1]) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "insert" && len(d) > 60 {
			t.Errorf("%d bytes for three new ones", len(d))
		}
		if _, err := applyDelta(append(pair[0], 'x'), d, 1<<20); err == nil {
			t.Errorf("%s: made from another base", name)
		}
	}
	d := deltaBetween(long, long)
	if _, err := applyDelta(long, d, 10); err == nil {
		t.Error("more than the limit was made")
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "no target size": {3}, "reserved": {3, 1, 0}, "short insert": {3, 5, 5, 'a'},
		"copy beyond":  {3, 2, 0x91, 2, 2},
		"copy cut off": {3, 1, 0x91, 0}, "too long": {3, 1, 2, 'a', 'b'}, "too short": {3, 2, 1, 'a'},
		"endless size": bytes.Repeat([]byte{0xff}, 12),
	} {
		if out, err := applyDelta([]byte("abc"), bad, 100); err == nil {
			t.Errorf("%s: made %q", name, out)
		}
	}
}

var wide = Limits{Objects: 100, Size: 1 << 20, Total: 1 << 24}

func none(string) (Object, bool) { return Object{}, false }

func TestPack(t *testing.T) {
	base := New(Blob, bytes.Repeat([]byte("line\n"), 1000))
	next := New(Blob, append(bytes.Clone(base.Data), "more\n"...))
	next.Base = &base
	tree := New(Tree, EncodeTree([]Entry{{ModeFile, "f", next.ID}}))
	commit := New(Commit, Record{Tree: tree.ID, Author: "a <a>", By: "a <a>", Message: "m\n"}.Encode())
	var pack bytes.Buffer
	if err := WritePack(&pack, []Object{next, tree, commit}); err != nil {
		t.Fatal(err)
	}
	known := func(id string) (Object, bool) { return base, id == base.ID }
	got, err := ReadPack(bytes.NewReader(pack.Bytes()), wide, known)
	if err != nil || len(got) != 3 || got[0].ID != next.ID || got[0].Kind != Blob || got[2].ID != commit.ID {
		t.Fatalf("%v, %v", got, err)
	}
	for name, f := range map[string]func() ([]Object, error){
		"base unknown": func() ([]Object, error) { return ReadPack(bytes.NewReader(pack.Bytes()), wide, none) },
		"too many":     func() ([]Object, error) { return ReadPack(&pack, Limits{2, 1 << 20, 1 << 24}, known) },
	} {
		if got, err := f(); err == nil {
			t.Errorf("%s: %d objects", name, len(got))
		}
	}
}

// TestPackIsBounded holds that an object is not inflated beyond what is allowed, or beyond what its header says.
func TestPackIsBounded(t *testing.T) {
	var pack bytes.Buffer
	if err := WritePack(&pack, []Object{New(Blob, make([]byte, 5<<20))}); err != nil {
		t.Fatal(err)
	}
	if pack.Len() > 20_000 {
		t.Fatalf("a bomb of %d bytes is none", pack.Len())
	}
	for name, lim := range map[string]Limits{"one": {1, 1 << 20, 1 << 30}, "all": {1, 1 << 30, 1 << 20}} {
		if _, err := ReadPack(bytes.NewReader(pack.Bytes()), lim, none); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	b := bytes.Clone(pack.Bytes())
	b[12] ^= 0x0f // another size in the header
	if _, err := ReadPack(bytes.NewReader(b), Limits{1, 1 << 30, 1 << 30}, none); err == nil {
		t.Error("another size: read")
	}
	b = bytes.Clone(pack.Bytes())
	b[len(b)-1] ^= 1
	if _, err := ReadPack(bytes.NewReader(b), Limits{1, 1 << 30, 1 << 30}, none); err == nil {
		t.Error("another checksum: read")
	}
}

// TestPackIsGits has git read what WritePack wrote, a thin pack among it.
func TestPackIsGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git binary")
	}
	dir := t.TempDir()
	run := func(stdin []byte, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	run(nil, "init", "-q", "--bare", ".")
	base := New(Blob, bytes.Repeat([]byte("line\n"), 100_000))
	next := New(Blob, append(bytes.Clone(base.Data), "more\n"...))
	next.Base = &base
	for _, objects := range [][]Object{{base}, {next}} {
		var pack bytes.Buffer
		if err := WritePack(&pack, objects); err != nil {
			t.Fatal(err)
		}
		run(pack.Bytes(), "index-pack", "--stdin", "--fix-thin")
	}
	if got := run(nil, "cat-file", "-s", next.ID); got != "500005\n" {
		t.Errorf("git says %q", got)
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add(EncodeTree([]Entry{{ModeFile, "a", zero}, {ModeTree, "b", zero}}))
	f.Add([]byte("40000 a\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := ParseTree(b)
		if err != nil {
			if entries != nil {
				t.Fatal("entries with an error")
			}
			return
		}
		if back := EncodeTree(entries); !bytes.Equal(back, b) {
			t.Fatalf("%q became %q", b, back)
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	f.Add(Record{Tree: zero, Parents: []string{zero}, Author: "A <a>", By: "C <c>", Message: "m"}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseCommit(b)
		if err != nil {
			if !reflect.DeepEqual(r, Record{}) {
				t.Fatal("a record with an error")
			}
			return
		}
		again, err := ParseCommit(r.Encode())
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzReadPack(f *testing.F) {
	var pack bytes.Buffer
	if err := WritePack(&pack, []Object{New(Blob, []byte("x"))}); err != nil {
		f.Fatal(err)
	}
	f.Add(pack.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadPack(bytes.NewReader(b), Limits{10, 1000, 5000}, none)
		if err != nil && got != nil {
			t.Fatal("objects with an error")
		}
		for _, o := range got {
			if o.ID != ID(o.Kind, o.Data) || len(o.Data) > 1000 {
				t.Fatalf("%s of %d bytes", o.ID, len(o.Data))
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("abc"), []byte("abd"), []byte{3, 1, 1, 'a'})
	f.Fuzz(func(t *testing.T, base, data, delta []byte) {
		back, err := applyDelta(base, deltaBetween(base, data), 1<<24)
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q → %q: %q, %v", base, data, back, err)
		}
		if out, err := applyDelta(base, delta, 1000); err == nil && len(out) > 1000 {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
