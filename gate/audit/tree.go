package audit

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
)

// ContentIdentity is a string that is equal for equal content; "" where nothing stands.
func ContentIdentity(tree fs.FS, name string) string {
	info, err := Lstat(tree, name)
	if err != nil {
		return ""
	}
	if object, ok := info.Sys().(gitstore.Object); ok {
		return object.Mode + " " + object.ID
	}
	if !info.IsDir() {
		b, err := referee.ReadFile(tree, name, 64<<20)
		if err != nil {
			return info.Mode().String() + " unreadable"
		}
		return info.Mode().String() + " " + string(b)
	}
	var all strings.Builder
	entries, err := fs.ReadDir(tree, name)
	if err != nil {
		return "unreadable"
	}
	for _, e := range entries {
		fmt.Fprintf(&all, "%s %s\n", e.Name(), ContentIdentity(tree, path.Join(name, e.Name())))
	}
	return all.String()
}

// Lstat is what stands at a name, a link itself and not what it points to where the tree knows links.
func Lstat(tree fs.FS, name string) (fs.FileInfo, error) {
	if links, ok := tree.(fs.ReadLinkFS); ok {
		return links.Lstat(name)
	}
	return fs.Stat(tree, name)
}

// subTree is a folder of a tree that still shows what is a link.
type subTree struct {
	fs.FS
	wholeTree fs.ReadLinkFS
	dir       string
}

// WithLinks keeps Lstat and ReadLink of the whole tree for a folder of it, so that a link inside a run is seen as one.
func WithLinks(whole, sub fs.FS, dir string) fs.FS {
	if links, ok := whole.(fs.ReadLinkFS); ok {
		return subTree{sub, links, dir}
	}
	return sub
}

// Lstat is fs.ReadLinkFS's.
func (t subTree) Lstat(name string) (fs.FileInfo, error) {
	return t.wholeTree.Lstat(path.Join(t.dir, name))
}

// ReadLink is fs.ReadLinkFS's.
func (t subTree) ReadLink(name string) (string, error) {
	return t.wholeTree.ReadLink(path.Join(t.dir, name))
}
