package ledger_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"golang.org/x/mod/sumdb/tlog"
)

// TestEmptyRoot holds the constant to RFC 6962, 2.1 (the SHA-256 of nothing, FIPS 180-4).
func TestEmptyRoot(t *testing.T) {
	h := ledger.NewHead()
	b, err := h.Format()
	want := `{"count":0,"edge":[],"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tip":"` +
		strings.Repeat("0", 64) + `"}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
	root, err := tlog.TreeHash(0, &ledger.Leaves{})
	if err != nil || hex.EncodeToString(root[:]) != ledger.EmptyRoot {
		t.Errorf("tlog says %x, %v", root, err)
	}
}

// TestRootsAgainstTlog holds the right edge to tlog's own computation, for every size up to 70.
func TestRootsAgainstTlog(t *testing.T) {
	head, leaves := ledger.NewHead(), &ledger.Leaves{}
	for n := int64(0); n < 70; n++ {
		want, err := leaves.Root(n)
		if err != nil || head.Root != want || head.Count != n {
			t.Fatalf("%d entries: root %s, tlog says %s, %v", n, head.Root, want, err)
		}
		file, err := head.Format()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ledger.ParseHead(file); err != nil || fmt.Sprint(back) != fmt.Sprint(head) {
			t.Fatalf("%+v, %v; want %+v", back, err, head)
		}
		b, err := ledger.Mint(head, storetest.Sample(n))
		if err != nil {
			t.Fatal(err)
		}
		if head, err = head.Append(b); err != nil {
			t.Fatal(err)
		}
		if err := leaves.Add(ledger.LeafHash(b)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAppendRefuses gives Append entries that do not continue the chain.
func TestAppendRefuses(t *testing.T) {
	_, head := chainOf(t, 3, storetest.Sample)
	_, other := chainOf(t, 3, func(n int64) ledger.Receipt { return storetest.Sample(n + 10) })
	_, longer := chainOf(t, 4, storetest.Sample)
	for name, at := range map[string]ledger.Head{"another tip": other, "another seq": longer,
		"the first": ledger.NewHead()} {
		b, err := ledger.Mint(at, storetest.Sample(50))
		if err != nil {
			t.Fatal(err)
		}
		if next, err := head.Append(b); err == nil || next.Count != 0 {
			t.Errorf("%s: appended", name)
		}
	}
	mixed := head
	mixed.Root = other.Root
	b, err := ledger.Mint(mixed, storetest.Sample(50))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := head.Append(b); err == nil || !strings.Contains(err.Error(), "log.root") {
		t.Errorf("another root: %v", err)
	}
	if _, err := head.Append([]byte("{}")); err == nil {
		t.Error("no receipt: appended")
	}
}

func TestParseHeadRefuses(t *testing.T) {
	_, head := chainOf(t, 3, storetest.Sample)
	file, err := head.Format()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, want string }{
		{`"count":3`, `"count":2`, "edge has 2 hashes, a tree of 2 entries has 1"},
		{`"count":3`, `"count":-3`, "a negative number"},
		{`"count":3`, `"count":1000000001`, "count is 1000000001"},
		{`"root":"` + head.Root[:4], `"root":"0000`, "edge makes"},
		{`"tip":"` + head.Tip, `"tip":"` + ledger.NoParent, "tip is 00000000… at count 3"},
		{`"edge":["` + head.Edge[0], `"edge":["` + head.Edge[1], "edge makes"},
		{`"count"`, `"coumt"`, `did you mean "count"`},
		{`,"tip"`, ` ,"tip"`, "white space"},
		{`{"count"`, `{"a":1,"count"`, "unknown key"},
	} {
		bad := strings.Replace(string(file), c.old, c.with, 1)
		h, err := ledger.ParseHead([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) || h.Count != 0 || h.Edge != nil {
			t.Errorf("%s for %s: %+v, %v; want %q", c.with, c.old, h, err, c.want)
		}
	}
}

func TestInfo(t *testing.T) {
	i := ledger.Info{Format: ledger.InfoFormat, Genesis: hashA, Repository: ledger.Repository{ID: 7,
		Name: "acme/underwriting"}}
	b, err := i.Marshal()
	want := `{"format":"defendablecloud.ledger/v2","genesis":"` + hashA +
		`","repository":{"id":7,"name":"acme/underwriting"}}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v", b, err)
	}
	if back, err := ledger.ParseInfo(b); err != nil || back != i {
		t.Errorf("%+v, %v", back, err)
	}
	for _, bad := range []string{"", "{}", strings.Replace(want, "/v2", "/v3", 1), strings.Replace(want, "/v2", "/v1",
		1), strings.Replace(want, `"id":7`, `"id":-7`, 1), want + "\n"} {
		if back, err := ledger.ParseInfo([]byte(bad)); err == nil || back != (ledger.Info{}) {
			t.Errorf("%q: %+v", bad, back)
		}
	}
	const first = "LEDGER.json: the format is defendablecloud.ledger/v1, the layout before the first release " +
		"(pr/000/00123); this version reads defendablecloud.ledger/v2, and the ledger is begun anew"
	if _, err := ledger.ParseInfo([]byte(strings.Replace(want, "/v2", "/v1", 1))); err == nil || err.Error() != first {
		t.Errorf("a ledger of the first layout: %v", err)
	}
	i.Genesis = "x"
	if b, err := i.Marshal(); err == nil || b != nil {
		t.Error("a genesis that is no hash was written")
	}
}

// TestProofs makes and checks every inclusion and consistency proof of up to 33 entries, and breaks each in turn.
func TestProofs(t *testing.T) {
	leaves := &ledger.Leaves{}
	for n := range 33 {
		if err := leaves.Add(ledger.LeafHash(fmt.Appendf(nil, "entry %d", n))); err != nil {
			t.Fatal(err)
		}
	}
	check := func(p ledger.Proof, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ledger.ParseProof(b); err != nil || fmt.Sprint(back) != fmt.Sprint(p) {
			t.Errorf("%+v, %v", back, err)
		}
		p.Root = hashA
		if p.Check() == nil {
			t.Errorf("%s holds for another root", b)
		}
	}
	for size := int64(1); size <= 33; size++ {
		for n := int64(0); n < size; n++ {
			check(leaves.Inclusion(n, size))
			check(leaves.Consistency(n+1, size))
		}
	}
	for _, bad := range [][2]int64{{-1, 5}, {5, 5}, {0, 34}, {0, 0}} {
		if _, err := leaves.Inclusion(bad[0], bad[1]); err == nil {
			t.Errorf("inclusion %v", bad)
		}
	}
	for _, bad := range [][2]int64{{0, 5}, {6, 5}, {1, 34}, {-1, 3}} {
		if _, err := leaves.Consistency(bad[0], bad[1]); err == nil {
			t.Errorf("consistency %v", bad)
		}
	}
	if _, err := leaves.Root(34); err == nil {
		t.Error("the root over more than there is")
	}
}

func TestParseProofRefuses(t *testing.T) {
	leaves := &ledger.Leaves{}
	for n := range 5 {
		if err := leaves.Add(ledger.LeafHash(fmt.Appendf(nil, "entry %d", n))); err != nil {
			t.Fatal(err)
		}
	}
	p, err := leaves.Inclusion(2, 5)
	if err != nil {
		t.Fatal(err)
	}
	c, err := leaves.Consistency(2, 5)
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func() ledger.Proof{
		"no leaf":             func() ledger.Proof { p := p; p.Leaf = ""; return p },
		"another leaf":        func() ledger.Proof { p := p; p.Leaf = hashA; return p },
		"another seq":         func() ledger.Proof { p := p; p.Seq = 3; return p },
		"beyond the tree":     func() ledger.Proof { p := p; p.Seq = 5; return p },
		"negative":            func() ledger.Proof { p := p; p.Seq = -1; return p },
		"old in an inclusion": func() ledger.Proof { p := p; p.Old = 1; return p },
		"old root there":      func() ledger.Proof { p := p; p.OldRoot = hashA; return p },
		"a hash too few":      func() ledger.Proof { p := p; p.Path = p.Path[1:]; return p },
		"a path of nothing":   func() ledger.Proof { p := p; p.Path = []string{"x"}; return p },
		"seq there":           func() ledger.Proof { c := c; c.Seq = 1; return c },
		"leaf there":          func() ledger.Proof { c := c; c.Leaf = hashA; return c },
		"another old root":    func() ledger.Proof { c := c; c.OldRoot = hashA; return c },
		"another size":        func() ledger.Proof { c := c; c.Size = 9; return c },
		"an unknown format":   func() ledger.Proof { c := c; c.Format = "x"; return c },
	} {
		if b, err := edit().Marshal(); err == nil || b != nil {
			t.Errorf("%s: %s", name, b)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	_, head := chainOf(f, 5, storetest.Sample)
	for _, h := range []ledger.Head{ledger.NewHead(), head} {
		b, err := h.Format()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ledger.ParseHead(b)
		if err != nil {
			return
		}
		if again, err := h.Format(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s comes back as %s, %v", b, again, err)
		}
	})
}

func FuzzParseProof(f *testing.F) {
	leaves := &ledger.Leaves{}
	for n := range 9 {
		if err := leaves.Add(ledger.LeafHash(fmt.Appendf(nil, "entry %d", n))); err != nil {
			f.Fatal(err)
		}
	}
	inclusion, _ := leaves.Inclusion(3, 9)
	consistency, _ := leaves.Consistency(4, 9)
	for _, p := range []ledger.Proof{inclusion, consistency} {
		b, err := p.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ledger.ParseProof(b)
		if err != nil {
			return
		}
		if again, err := p.Marshal(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s comes back as %s, %v", b, again, err)
		}
	})
}
