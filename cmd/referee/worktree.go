package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

// A new git work tree with one commit, made without a git binary: the files, the objects, the index and the branch, as
// git itself would leave them after init, add and commit (TestGitAgrees asks git). A folder that holds anything is
// never touched.

// firstCommit says who committed what, and when.
type firstCommit struct {
	branch  string
	who     string // "name <email>"
	when    time.Time
	message string
}

const gitConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = " +
	"true\n"

// initWorktree makes dir, which is absent or empty, a work tree that holds the files, by their slash-separated paths.
// When something fails, what it wrote is left for the caller to look at.
func initWorktree(dir string, files map[string][]byte, c firstCommit) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty", dir)
	}
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", filepath.FromSlash(sub)), 0o755); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	w := treeWriter{root: root, ids: map[string]string{}}
	return w.commitFiles(files, c)
}

// treeWriter writes below one folder, and cannot write elsewhere.
type treeWriter struct {
	root *os.Root
	ids  map[string]string // of the files, by path
}

func (w *treeWriter) commitFiles(files map[string][]byte, c firstCommit) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.writeFile(name, files[name]); err != nil {
			return err
		}
	}
	tree, err := w.writeTree("")
	if err != nil {
		return err
	}
	at := c.when.Unix()
	commit := gitobject.Record{Tree: tree, Author: c.who, Authored: at, By: c.who, Time: at, Message: c.message}
	id, err := w.writeObject(gitobject.Commit, commit.Encode())
	if err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{
		{".git/HEAD", "ref: refs/heads/" + c.branch + "\n"}, {".git/config", gitConfig}, {".git/index", w.gitIndex()},
		{".git/refs/heads/" + c.branch, id + "\n"},
	} {
		if err := w.root.WriteFile(filepath.FromSlash(f.name), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes one file and its object.
func (w *treeWriter) writeFile(name string, data []byte) error {
	if !fs.ValidPath(name) || name == ".git" || strings.HasPrefix(name, ".git/") {
		return fmt.Errorf("%q is not a path in a work tree", name)
	}
	if err := w.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	if err := w.root.WriteFile(filepath.FromSlash(name), data, 0o644); err != nil {
		return err
	}
	id, err := w.writeObject(gitobject.Blob, data)
	w.ids[name] = id
	return err
}

// writeTree writes the tree of a folder and of those below it.
func (w *treeWriter) writeTree(dir string) (string, error) {
	var entries []gitobject.Entry
	below := map[string]bool{}
	for name, id := range w.ids {
		rest, inside := strings.CutPrefix(name, dir)
		if !inside {
			continue
		}
		if sub, _, deeper := strings.Cut(rest, "/"); deeper {
			below[sub] = true
		} else {
			entries = append(entries, gitobject.Entry{Mode: gitobject.ModeFile, Name: rest, ID: id})
		}
	}
	for _, sub := range slices.Sorted(maps.Keys(below)) {
		id, err := w.writeTree(dir + sub + "/")
		if err != nil {
			return "", err
		}
		entries = append(entries, gitobject.Entry{Mode: gitobject.ModeTree, Name: sub, ID: id})
	}
	return w.writeObject(gitobject.Tree, gitobject.EncodeTree(entries))
}

// writeObject writes a loose object.
func (w *treeWriter) writeObject(kind gitobject.Kind, data []byte) (string, error) {
	id := gitobject.ID(kind, data)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	z.Write(data)
	if err := z.Close(); err != nil {
		return "", err
	}
	dir := filepath.Join(".git", "objects", id[:2])
	if err := w.root.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return id, w.root.WriteFile(filepath.Join(dir, id[2:]), b.Bytes(), 0o444)
}

// gitIndex is git's index, version 2 (gitformat-index), with what the disk says of the files left at zero: git then
// looks for itself.
func (w *treeWriter) gitIndex() string {
	var b bytes.Buffer
	b.WriteString("DIRC")
	word := func(n uint32) { b.Write(binary.BigEndian.AppendUint32(nil, n)) }
	word(2)
	word(uint32(len(w.ids)))
	for _, name := range slices.Sorted(maps.Keys(w.ids)) {
		for range 6 { // ctime, mtime, dev, ino
			word(0)
		}
		word(0o100644)
		for range 3 { // uid, gid, size
			word(0)
		}
		id, _ := hex.DecodeString(w.ids[name]) // of gitobject.ID: always hexadecimal
		b.Write(id)
		b.Write(binary.BigEndian.AppendUint16(nil, uint16(min(len(name), 0xfff))))
		b.WriteString(name)
		b.Write(make([]byte, 8-(62+len(name))%8)) // one to eight zeros, to a multiple of eight
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.String()
}
