package storetest

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// repository is a bare repository on the disk. Objects that are not loose are git's to read: a test's repository is
// young, and nothing packs it while the test runs, so packs need no second reader here.
type repository struct {
	dir    string
	hidden string // beginning of the references that are not shown
}

// isRepository looks for HEAD, so that a wrong path gets git's own error.
func (r *repository) isRepository() bool {
	_, err := os.Stat(filepath.Join(r.dir, "HEAD"))
	return err == nil
}

// objectFile is where git keeps a loose object (gitrepository-layout).
func (r *repository) objectFile(id string) string {
	return filepath.Join(r.dir, "objects", id[:2], id[2:])
}

// errNotLoose says that an object is not there, or in a pack. Both mean the same here: git must be asked.
var errNotLoose = errors.New("no loose object")

// openLoose reads the header of a loose object; the reader goes on with its bytes. The header alone tells a blob's
// size, which a filter asks for.
func (r *repository) openLoose(id string) (kind gitobject.Kind, size int64, data io.Reader, end func(), err error) {
	if !gitobject.IsID(id) {
		return "", 0, nil, nil, errNotLoose
	}
	f, err := os.Open(r.objectFile(id))
	if err != nil {
		return "", 0, nil, nil, errNotLoose
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	// The header is inside the compressed part, as "<kind> <size>" and a NUL.
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return "", 0, nil, nil, err
	}
	in := bufio.NewReader(z)
	head, err := in.ReadString(0)
	if err != nil {
		return "", 0, nil, nil, err
	}
	if _, err = fmt.Sscanf(head, "%s %d\x00", &kind, &size); err != nil {
		return "", 0, nil, nil, err
	}
	return kind, size, in, func() { _ = f.Close() }, nil
}

// readLoose reads a loose object. Its id is computed: a test that damages an object must see git's answer.
func (r *repository) readLoose(id string) (gitobject.Object, error) {
	kind, _, in, end, err := r.openLoose(id)
	if err != nil {
		return gitobject.Object{}, err
	}
	defer end()
	data, err := io.ReadAll(in)
	if err != nil {
		return gitobject.Object{}, err
	}
	o := gitobject.New(kind, data)
	if o.ID != id {
		return gitobject.Object{}, fmt.Errorf("%s: other bytes", id)
	}
	return o, nil
}

// compressors are kept: making one takes longer than most objects.
var compressors = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed) // a level that there is
	return z
}}

// writeLoose stores a loose object, whole or not at all. It is written beside its place and renamed, because other
// requests read at the same time.
func (r *repository) writeLoose(o gitobject.Object) error {
	// Its name is its content, so what is there is right.
	if _, err := os.Stat(r.objectFile(o.ID)); err == nil {
		return nil
	}
	var packed bytes.Buffer
	z := compressors.Get().(*zlib.Writer)
	defer compressors.Put(z)
	z.Reset(&packed)
	fmt.Fprintf(z, "%s %d\x00", o.Kind, len(o.Data))
	_, err := z.Write(o.Data)
	// Random, because two requests may bring the same object at once.
	temp := fmt.Sprintf("%s.%016x", r.objectFile(o.ID), rand.Uint64())
	if err = errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(temp), 0o755)); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(temp, packed.Bytes(), 0o444), os.Rename(temp, r.objectFile(o.ID)))
}

// plainRef is a branch whose name git takes without a second look. Anything else (tags, slashes, dots) has rules that
// git knows.
var plainRef = regexp.MustCompile(`^refs/heads/[A-Za-z0-9_-]+$`)

// errPackedRefs says that only git knows what the references are. The whole request then goes to git.
var errPackedRefs = errors.New("references are packed")

// readRef is what a reference holds, "" if it is not there. Where packed-refs exists, a reference may be in either
// place, so git is asked.
func (r *repository) readRef(name string) (string, error) {
	if _, err := os.Stat(filepath.Join(r.dir, "packed-refs")); err == nil {
		return "", errPackedRefs
	}
	b, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// A symbolic reference has no id in it and is left to git.
	id := strings.TrimSuffix(string(b), "\n")
	if err != nil || !gitobject.IsID(id) {
		return "", fmt.Errorf("%s holds no id: %w", name, errPackedRefs)
	}
	return id, nil
}

// reference is a name and what it holds.
type reference struct{ name, id string }

// sortedRefs are the references in the order of their names. git lists them in that order, and a client may compare.
func (r *repository) sortedRefs() (all []reference, err error) {
	if !r.isRepository() {
		return nil, fs.ErrNotExist
	}
	err = filepath.WalkDir(filepath.Join(r.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		// A lock is no reference, although it lies among them.
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return ignoreGone(err)
		}
		name, err := filepath.Rel(r.dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		id, err := r.readRef(name)
		if err == nil && id != "" && (r.hidden == "" || !strings.HasPrefix(name, r.hidden+"/")) {
			all = append(all, reference{name, id})
		}
		return err
	})
	return all, err
}

// ignoreGone forgives what another request has taken away while a directory was listed. A lock is renamed away between
// the listing and the look.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
