package gitobject

import (
	"bytes"
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

// sortKey orders a directory as if its name ended in a slash.
func (e Entry) sortKey() string {
	if e.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

// EncodeTree gives the bytes of a tree, its entries in git's order.
func EncodeTree(entries []Entry) []byte {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b Entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return EncodeRawTree(sorted)
}

// EncodeRawTree gives the bytes of a tree whose entries stand in the order given. An id that is none is written as zeros.
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

// ParseTree takes a tree apart. It refuses what could be read in two ways: bytes left over, an empty name, a name with a
// slash, a name twice, and entries out of order. On an error there are no entries.
func ParseTree(b []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(b)/48+1)
	for len(b) > 0 {
		e, rest, err := cutEntry(b)
		if err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 && entries[n-1].sortKey() >= e.sortKey() {
			return nil, fmt.Errorf("the name %.80q stands after %.80q, out of order or twice", e.Name, entries[n-1].Name)
		}
		entries, b = append(entries, e), rest
	}
	if err := twice(entries); err != nil {
		return nil, err
	}
	return entries, nil
}

// twice looks for a name that a file and a directory share: git's order keeps those two apart.
func twice(entries []Entry) error {
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsTree() {
			dirs[e.Name] = true
		}
	}
	if len(dirs) == len(entries) {
		return nil
	}
	for _, e := range entries {
		if !e.IsTree() && len(dirs) > 0 && dirs[e.Name] {
			return fmt.Errorf("the name %.80q stands there twice", e.Name)
		}
	}
	return nil
}

func cutEntry(b []byte) (e Entry, rest []byte, err error) {
	mode, after, ok := bytes.Cut(b, []byte{' '})
	if !ok || len(mode) == 0 || len(mode) > 7 || len(bytes.Trim(mode, "01234567")) > 0 {
		return e, nil, fmt.Errorf("no mode at %.20q", b[:min(len(b), 20)])
	}
	name, after, ok := bytes.Cut(after, []byte{0})
	switch {
	case !ok || len(after) < sha1.Size:
		return e, nil, fmt.Errorf("an entry is cut off")
	case len(name) == 0 || bytes.IndexByte(name, '/') >= 0:
		return e, nil, fmt.Errorf("the name %.80q is empty or has a slash", name)
	}
	return Entry{string(mode), string(name), hex.EncodeToString(after[:sha1.Size])}, after[sha1.Size:], nil
}
