package evidence

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/decimal"
)

// roomSet is a set of files by name, each its own id.
func roomSet(lim Limits, files ...string) *Set {
	tree, items := fstest.MapFS{}, []Item{}
	for i := 0; i+1 < len(files); i += 2 {
		tree[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		items = append(items, Item{ID: files[i], Path: files[i], Kind: "file"})
	}
	return Open(tree, items, lim)
}

// TestRoom: what the readings of a run would hold is counted before it is made, over all of its evidence, and what has
// no room is refused by name.
func TestRoom(t *testing.T) {
	const room = 4000
	for _, c := range []struct {
		name, small, large string
		read               func(s *Set) error
	}{
		{"f.csv", "a,b\n1,2\n", strings.Repeat(",", 100),
			func(s *Set) error { _, err := s.Stat("f.csv", "rows", "", ""); return err }},
		{"f.csv", "a\n1\n", "a" + strings.Repeat("\n", 100) + "b",
			func(s *Set) error { _, err := s.Resolve("f.csv#row=1"); return err }},
		{"f.json", "[1,2]", "[" + strings.Repeat("1,", 40) + "1]",
			func(s *Set) error { _, err := s.Resolve("f.json#/0"); return err }},
		{"f.jsonl", `{"a":1}`, strings.Repeat("{\"a\":1,\"b\":2,\"c\":3}\n", 60),
			func(s *Set) error { _, err := s.Stat("f.jsonl", "rows", "", ""); return err }},
		{"f.txt", "one\ntwo", strings.Repeat("x\n", 500),
			func(s *Set) error { _, err := s.Resolve("f.txt#line=0,1"); return err }},
		{"f.txt", "one two", strings.Repeat("x ", 1500),
			func(s *Set) error { _, err := s.Resolve("f.txt#text=" + "x"); return notTheHit(err) }},
		{"f.txt", "one two three", strings.Repeat("x\n", 300),
			func(s *Set) error { _, _, err := s.Quoted("f.txt", "z", 0); return err }},
	} {
		if err := c.read(roomSet(Limits{MaxRoom: room}, c.name, c.small)); err != nil {
			t.Errorf("%s: %v", c.small, err)
		}
		err := c.read(roomSet(Limits{MaxRoom: room}, c.name, c.large))
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s of %d bytes: %v", c.name, len(c.large), err)
		}
		if err := c.read(roomSet(Limits{}, c.name, c.large)); err != nil {
			t.Errorf("%s of %d bytes with room: %v", c.name, len(c.large), err)
		}
	}
	s := roomSet(Limits{MaxRoom: room}, "a.csv", strings.Repeat(",", 60), "b.csv", strings.Repeat(",", 60))
	_, first := s.Resolve("a.csv#row=1")
	if _, second := s.Resolve("b.csv#row=1"); first != nil || !errors.Is(second, ErrTooLarge) {
		t.Errorf("two files that fit alone: %v, %v", first, second)
	}
}

// notTheHit drops the error that a text does not stand there.
func notTheHit(err error) error {
	if errors.Is(err, ErrNoHit) {
		return nil
	}
	return err
}

// opened counts how often files are opened.
type opened struct {
	fs.FS
	n int
}

func (o *opened) Open(name string) (fs.File, error) {
	o.n++
	return o.FS.Open(name)
}

// TestOneFileUnderManyIDs: a file is hashed and read once, however many items name it.
func TestOneFileUnderManyIDs(t *testing.T) {
	tree := &opened{FS: fstest.MapFS{"f.csv": &fstest.MapFile{Data: []byte("a\n1\n")}}}
	var items []Item
	for _, id := range []string{"x", "y", "z"} {
		items = append(items, Item{ID: id, Path: "f.csv", Kind: "file"})
	}
	s := Open(tree, items, Limits{})
	for _, f := range s.All() {
		if f.Err != nil || f.Bytes != 4 || f.SHA256 != s.All()[0].SHA256 || f.Format != CSV {
			t.Errorf("%+v", f)
		}
		if r, err := s.Stat(f.ID, "sum", "a", ""); err != nil || r.Num.String() != "1" {
			t.Errorf("%s: %v, %v", f.ID, r, err)
		}
	}
	reads := tree.n
	if s.All(); tree.n != reads {
		t.Error("the file is opened again")
	}
	if alone := (&opened{FS: tree.FS}); true {
		Open(alone, items[:1], Limits{}).All()
		if reads != alone.n {
			t.Errorf("three items open the file %d times, one %d times", reads, alone.n)
		}
	}
}

// TestMeterOfEvidence: reading takes from the audit's meter, a statistic that was recounted before takes nothing, and
// without work left nothing is read.
func TestMeterOfEvidence(t *testing.T) {
	s := roomSet(Limits{}, "f.csv", "a\n"+strings.Repeat("1\n", 1000), "f.txt", strings.Repeat("lorem ipsum ", 1000))
	m := &decimal.Meter{Most: 1_000_000}
	s.Meter(m)
	if _, err := s.Stat("f.csv", "sum", "a", ""); err != nil || m.Spent < 6000 {
		t.Errorf("%v, %d steps for 1,000 numbers", err, m.Spent)
	}
	spent := m.Spent
	if _, err := s.Stat("f.csv", "sum", "a", ""); err != nil || m.Spent != spent {
		t.Errorf("%v, %d steps the second time", err, m.Spent-spent)
	}
	s.Meter(&decimal.Meter{Most: 10, Spent: 11})
	for name, err := range map[string]error{"sum": errorOf(s.Stat("f.csv", "mean", "a", "")),
		"text": errorOf(s.Resolve("f.txt#text=dolor")), "row": errorOf(s.Resolve("f.csv#row=2"))} {
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "more than 10 steps") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := s.Quoted("f.txt", "lorem ipsum lorem", 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("quote: %v", err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
