package githubtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// objects are the objects of the repository that were written or read here. What is written comes to the disk when
// somebody else is about to look, as one pack (flush), or at once where others may look at any time, each object as a
// file (share). What others wrote is read from there.
type objects struct {
	dir      string // of the repository
	mu       sync.Mutex
	held     map[string]gitobject.Object
	pending  []string          // ids of what is not on the disk yet
	shared   bool              // others may look at any time
	packs    map[string]bool   // those written here
	temp     int               // files so far
	deflated map[string][]byte // by id, what was sent
}

func newObjects(dir string) *objects {
	return &objects{dir: dir, held: map[string]gitobject.Object{}, packs: map[string]bool{},
		deflated: map[string][]byte{}}
}

// flushPending brings to the disk what is not there yet.
func (o *objects) flushPending() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return nil
	}
	pack, index := o.packObjects(o.pending)
	base := filepath.Join(o.dir, "objects", "pack", fmt.Sprintf("pack-%x", pack[len(pack)-sha1.Size:]))
	o.packs[base+".pack"] = true
	o.pending = nil
	return errors.Join(os.WriteFile(base+".pack", pack, 0o444), os.WriteFile(base+".tmp", index, 0o444),
		os.Rename(base+".tmp", base+".idx"))
}

// flushAndShare is flush, and from now on no object waits for it.
func (o *objects) flushAndShare() error {
	o.mu.Lock()
	o.shared = true
	o.mu.Unlock()
	return o.flushPending()
}

// getObject gives an object; false where this package cannot tell what it is: then git is asked.
func (o *objects) getObject(id string) (gitobject.Object, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object, known := o.held[id]; known || !isID(id) {
		return object, known
	}
	object, err := readLoose(o.loosePath(id))
	if err != nil || object.ID != id {
		return gitobject.Object{}, false
	}
	o.held[id] = object
	return object, true
}

// hasObject reports whether an object is there. sure is false where there are packs, which only git looks into.
func (o *objects) hasObject(id string) (there, sure bool) {
	if _, there = o.getObject(id); there || !isID(id) {
		return there, true
	}
	packs, err := filepath.Glob(filepath.Join(o.dir, "objects", "pack", "*.pack"))
	if err != nil || slices.ContainsFunc(packs, func(name string) bool { return !o.isOwnPack(name) }) {
		return false, false
	}
	_, err = os.Stat(o.loosePath(id))
	return false, errors.Is(err, fs.ErrNotExist)
}

// isOwnPack reports whether a pack is one of this package's.
func (o *objects) isOwnPack(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.packs[name]
}

func (o *objects) loosePath(id string) string { return filepath.Join(o.dir, "objects", id[:2], id[2:]) }

// putObject writes an object.
func (o *objects) putObject(kind gitobject.Kind, data []byte) (string, error) {
	object := gitobject.New(kind, data)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.held[object.ID]; known {
		return object.ID, nil
	}
	o.held[object.ID] = object
	if o.shared {
		return object.ID, o.writeLoose(object)
	}
	o.pending = append(o.pending, object.ID)
	return object.ID, nil
}

// writeLoose writes the file under another name first: others may be reading.
func (o *objects) writeLoose(object gitobject.Object) error {
	to := o.loosePath(object.ID)
	o.temp++
	temp := fmt.Sprintf("%s.%d", to, o.temp)
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755),
		os.WriteFile(temp, deflate(fmt.Appendf(nil, "%s %d\x00", object.Kind, len(object.Data)), object.Data), 0o444),
		os.Rename(temp, to))
}

// compressors are kept: the making of one takes longer than most objects.
var compressors = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is one that it knows
	return z
}}

// deflate is the compressed form of what stands in parts one behind the other.
func deflate(parts ...[]byte) []byte {
	z := compressors.Get().(*zlib.Writer)
	defer compressors.Put(z)
	var packed bytes.Buffer
	z.Reset(&packed)
	for _, p := range parts {
		_, _ = z.Write(p) // a buffer takes everything
	}
	_ = z.Close()
	return packed.Bytes()
}

// readLoose reads a file of an object.
func readLoose(name string) (gitobject.Object, error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return gitobject.Object{}, err
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return gitobject.Object{}, err
	}
	plain, err := io.ReadAll(z)
	head, data, found := bytes.Cut(plain, []byte{0})
	kind, size, _ := strings.Cut(string(head), " ")
	if err != nil || !found || size != strconv.Itoa(len(data)) {
		return gitobject.Object{}, fmt.Errorf("%s: no object", name)
	}
	return gitobject.New(gitobject.Kind(kind), data), nil
}

// ofKind gives an object of a kind.
func (o *objects) ofKind(id string, kind gitobject.Kind) (gitobject.Object, bool) {
	object, known := o.getObject(id)
	return object, known && object.Kind == kind
}

// readTree gives the entries of a tree.
func (o *objects) readTree(id string) ([]gitobject.Entry, bool) {
	object, known := o.ofKind(id, gitobject.Tree)
	if !known {
		return nil, false
	}
	entries, err := gitobject.ParseTree(object.Data)
	return entries, err == nil
}
