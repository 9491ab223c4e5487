package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

// Object is what Sys of a TreeFS's FileInfo gives: the mode as git prints it, and the id.
type Object struct {
	Mode string
	ID   string
}

// ErrLink says that a name is a symlink or a submodule, which is never followed.
var ErrLink = errors.New("a symlink or a submodule, which is never followed")

// TreeFS returns a commit's files as a file system that reads from objects: no check-out, no filter, no hook; a pointer
// of a large-file storage is the few bytes that it is. Lstat shows symlinks (fs.ModeSymlink), submodules
// (fs.ModeIrregular) and executables; opening one of the first two gives ErrLink. Sizes come from object headers, and a
// file of more than 64 MiB is never read.
func (r *Repo) TreeFS(ctx context.Context, commit string) (*TreeFS, error) {
	rec, err := r.objects.readCommit(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &TreeFS{ctx: ctx, objects: r.objects, all: r.all, root: rec.Tree}, nil
}

// TreeFS is a fs.FS, fs.ReadLinkFS, fs.ReadDirFS, fs.ReadFileFS and fs.StatFS.
type TreeFS struct {
	ctx     context.Context
	objects *objects
	all     bulk
	root    string
}

func (t *TreeFS) findFile(op, name string) (*treeFile, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, err := t.objects.lookupPath(t.ctx, t.root, name)
	if err == nil && e.ID == "" {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	e.Name = path.Base(name)
	return &treeFile{fs: t, path: name, entry: e, size: -1}, nil
}

// Open implements fs.FS.
func (t *TreeFS) Open(name string) (fs.File, error) {
	f, err := t.findFile("open", name)
	if err != nil {
		return nil, err
	}
	if f.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrLink}
	}
	return f, nil
}

// Lstat implements fs.ReadLinkFS.
func (t *TreeFS) Lstat(name string) (fs.FileInfo, error) {
	f, err := t.findFile("lstat", name)
	if err != nil {
		return nil, err
	}
	return f, f.measureSize()
}

// Stat implements fs.StatFS. It follows nothing.
func (t *TreeFS) Stat(name string) (fs.FileInfo, error) { return t.Lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (t *TreeFS) ReadLink(name string) (string, error) {
	f, err := t.findFile("readlink", name)
	if err != nil {
		return "", err
	}
	if f.Mode()&fs.ModeSymlink == 0 {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	b, err := f.readBytes(4096)
	return string(b), err
}

// ReadFile implements fs.ReadFileFS.
func (t *TreeFS) ReadFile(name string) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// ReadDir implements fs.ReadDirFS. The sizes of all files in it are asked for at once.
func (t *TreeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := t.findFile("readdir", name)
	if err != nil {
		return nil, err
	}
	if !f.entry.IsTree() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	entries, err := t.objects.readTrees(t.ctx, f.entry.ID)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, len(entries[0]))
	for i, e := range entries[0] {
		out[i] = &treeFile{fs: t, path: path.Join(name, e.Name), entry: e, size: -1}
	}
	return out, nil
}

// treeFile is a name in a tree: fs.File, fs.FileInfo and fs.DirEntry in one.
type treeFile struct {
	fs    *TreeFS
	path  string
	entry gitobject.Entry
	size  int64 // −1 as long as nobody asked
	data  *bytes.Reader
}

// measureSize reads the size from the object's header.
func (f *treeFile) measureSize() error {
	if f.size >= 0 {
		return nil
	}
	if f.entry.IsTree() || f.entry.Mode == gitobject.ModeModule {
		f.size = 0
		return nil
	}
	for size, err := range f.fs.all.sizes(f.fs.ctx, []string{f.entry.ID}) {
		if err == nil && size < 0 {
			err = ErrMissing
		}
		if err != nil {
			return &fs.PathError{Op: "stat", Path: f.path, Err: err}
		}
		f.size = size
	}
	return nil
}

func (f *treeFile) readBytes(limit int64) ([]byte, error) {
	got, err := f.fs.objects.getObjects(f.fs.ctx, limit, f.entry.ID)
	if err == nil && got[0].Kind != gitobject.Blob {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.path, Err: err}
	}
	return got[0].Data, nil
}

// Read implements fs.File.
func (f *treeFile) Read(p []byte) (int, error) {
	if f.data == nil {
		b, err := f.readBytes(maxBlob)
		if err != nil {
			return 0, err
		}
		f.data = bytes.NewReader(b)
	}
	return f.data.Read(p)
}

// Close implements fs.File.
func (f *treeFile) Close() error { return nil }

// Stat implements fs.File.
func (f *treeFile) Stat() (fs.FileInfo, error) { return f, f.measureSize() }

// Info implements fs.DirEntry.
func (f *treeFile) Info() (fs.FileInfo, error) { return f, f.measureSize() }

// Name implements fs.FileInfo.
func (f *treeFile) Name() string { return f.entry.Name }

// Size implements fs.FileInfo.
func (f *treeFile) Size() int64 { return max(f.size, 0) }

// ModTime is fs.FileInfo's; git keeps none.
func (f *treeFile) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (f *treeFile) IsDir() bool { return f.entry.IsTree() }

// Type implements fs.DirEntry.
func (f *treeFile) Type() fs.FileMode { return f.Mode().Type() }

// Sys implements fs.FileInfo.
func (f *treeFile) Sys() any { return Object{modeInOctal(f.entry.Mode), f.entry.ID} }

// Mode implements fs.FileInfo. A mode that git does not write is irregular.
func (f *treeFile) Mode() fs.FileMode {
	switch f.entry.Mode {
	case gitobject.ModeTree:
		return fs.ModeDir | 0o755
	case gitobject.ModeFile:
		return 0o644
	case gitobject.ModeExec:
		return 0o755
	case gitobject.ModeSymlink:
		return fs.ModeSymlink | 0o777
	}
	return fs.ModeIrregular
}
