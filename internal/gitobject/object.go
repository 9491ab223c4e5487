package gitobject

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Kind is the type of an object.
type Kind string

// The kinds.
const (
	Commit Kind = "commit"
	Tree   Kind = "tree"
	Blob   Kind = "blob"
	Tag    Kind = "tag"
)

// Object is one object. Base, where it is set, is an object that the receiver of a pack has and that Data resembles.
type Object struct {
	Kind Kind
	ID   string
	Data []byte
	Base *Object
}

// New makes an object of its bytes.
func New(kind Kind, data []byte) Object {
	return Object{Kind: kind, ID: ID(kind, data), Data: data}
}

// ID is the SHA-1 over "<kind> <size>\0" and the bytes.
func ID(kind Kind, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// IsID reports whether s has the form of an id.
func IsID(s string) bool {
	return len(s) == 2*sha1.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// The modes that git writes into trees.
const (
	ModeTree    = "40000"
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeSymlink = "120000"
	ModeModule  = "160000"
)

// Entry is one name in a tree. Mode is spelled as in the object.
type Entry struct {
	Mode string
	Name string
	ID   string
}

// IsTree reports whether the entry is a directory.
func (e Entry) IsTree() bool { return e.Mode == ModeTree }

// compareEntries is git's: that of the names' bytes, a directory's as if it ended in a slash.
func compareEntries(a, b Entry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(strings.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.orderByte(n), b.orderByte(n)))
}

// orderByte is the byte of the name that decides an order, 0 behind its end: no name holds that.
func (e Entry) orderByte(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.IsTree():
		return '/'
	}
	return 0
}

// EncodeTree gives the bytes of a tree, its entries in git's order.
func EncodeTree(entries []Entry) []byte {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, compareEntries)
	return EncodeRawTree(sorted)
}

// EncodeRawTree gives the bytes of a tree whose entries stand in the order given. An id that is none is written as
// zeros.
func EncodeRawTree(entries []Entry) []byte {
	b := make([]byte, 0, 64*len(entries))
	for _, e := range entries {
		var raw [sha1.Size]byte
		_, _ = hex.Decode(raw[:], []byte(e.ID))
		b = append(append(append(append(b, e.Mode...), ' '), e.Name...), 0)
		b = append(b, raw[:]...)
	}
	return b
}

// ParseTree takes a tree apart. It refuses what could be read in two ways: bytes left over, an empty name, a name with
// a slash, a name twice, and entries out of order. On an error there are no entries. The strings of all entries share
// two copies of the bytes: whoever keeps a few of many clones them.
func ParseTree(b []byte) ([]Entry, error) {
	text, digits := string(b), hex.EncodeToString(b)
	entries := make([]Entry, 0, len(b)/32+1)
	for at := 0; at < len(text); {
		e, n, err := cutEntry(text[at:])
		if err != nil {
			return nil, err
		}
		at += n
		e.ID = digits[2*(at-sha1.Size) : 2*at]
		if n := len(entries); n > 0 && compareEntries(entries[n-1], e) >= 0 {
			return nil, fmt.Errorf("the name %.80q follows %.80q: out of order, or a duplicate", e.Name,
				entries[n-1].Name)
		}
		entries = append(entries, e)
	}
	if err := checkSharedNames(entries); err != nil {
		return nil, err
	}
	return entries, nil
}

// checkSharedNames looks for a name that a file and a directory share: git's order keeps those two apart.
func checkSharedNames(entries []Entry) error {
	n := 0
	for _, e := range entries {
		if e.IsTree() {
			n++
		}
	}
	if n == 0 || n == len(entries) {
		return nil
	}
	dirs := make(map[string]bool, n)
	for _, e := range entries {
		if e.IsTree() {
			dirs[e.Name] = true
		}
	}
	for _, e := range entries {
		if !e.IsTree() && dirs[e.Name] {
			return fmt.Errorf("duplicate name %.80q", e.Name)
		}
	}
	return nil
}

// cutEntry reads the mode and the name of the first entry; n is its length, with the id that ends it.
func cutEntry(s string) (e Entry, n int, err error) {
	mode, after, ok := strings.Cut(s, " ")
	if !ok || len(mode) == 0 || len(mode) > 7 || strings.Trim(mode, "01234567") != "" {
		return e, 0, fmt.Errorf("no mode at %.20q", s[:min(len(s), 20)])
	}
	name, id, ok := strings.Cut(after, "\x00")
	switch {
	case !ok || len(id) < sha1.Size:
		return e, 0, fmt.Errorf("an entry is cut off")
	case len(name) == 0 || strings.IndexByte(name, '/') >= 0:
		return e, 0, fmt.Errorf("the name %.80q is empty or has a slash", name)
	}
	return Entry{Mode: mode, Name: name}, len(s) - len(id) + sha1.Size, nil
}
