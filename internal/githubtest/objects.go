package githubtest

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// objects are the objects of the repository that were written or read here. What is written is also a loose object of
// the repository on the disk, so that git and others read it; what others wrote is read from there.
type objects struct {
	dir  string // of the repository
	mu   sync.Mutex
	held map[string]gitobject.Object
	temp int

	deflated map[string][]byte // by id, what was sent
}

func newObjects(dir string) *objects {
	return &objects{dir: dir, held: map[string]gitobject.Object{}, deflated: map[string][]byte{}}
}

// get gives an object; false where this package cannot tell what it is: then git is asked.
func (o *objects) get(id string) (gitobject.Object, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object, known := o.held[id]; known || !isID(id) {
		return object, known
	}
	object, err := readLoose(o.file(id))
	if err != nil || object.ID != id {
		return gitobject.Object{}, false
	}
	o.held[id] = object
	return object, true
}

// has reports whether an object is there. sure is false where there are packs, which only git looks into.
func (o *objects) has(id string) (there, sure bool) {
	if _, there = o.get(id); there || !isID(id) {
		return there, true
	}
	packs, err := filepath.Glob(filepath.Join(o.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) > 0 {
		return false, false
	}
	_, err = os.Stat(o.file(id))
	return false, errors.Is(err, fs.ErrNotExist)
}

func (o *objects) file(id string) string { return filepath.Join(o.dir, "objects", id[:2], id[2:]) }

// put writes an object.
func (o *objects) put(kind gitobject.Kind, data []byte) (string, error) {
	object := gitobject.New(kind, data)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.held[object.ID]; known {
		return object.ID, nil
	}
	if _, err := os.Stat(o.file(object.ID)); err != nil {
		if err := o.writeLoose(object); err != nil {
			return "", err
		}
	}
	o.held[object.ID] = object
	return object.ID, nil
}

// writeLoose writes the file under another name first: git may be reading.
func (o *objects) writeLoose(object gitobject.Object) error {
	to := o.file(object.ID)
	o.temp++
	temp := fmt.Sprintf("%s.%d", to, o.temp)
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755),
		os.WriteFile(temp, deflated(fmt.Appendf(nil, "%s %d\x00", object.Kind, len(object.Data)), object.Data), 0o444),
		os.Rename(temp, to))
}

// compressors are kept: the making of one takes longer than most objects.
var compressors = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is one that it knows
	return z
}}

// deflated is the compressed form of what stands in parts one behind the other.
func deflated(parts ...[]byte) []byte {
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
	object, known := o.get(id)
	return object, known && object.Kind == kind
}

// tree gives the entries of a tree.
func (o *objects) tree(id string) ([]gitobject.Entry, bool) {
	object, known := o.ofKind(id, gitobject.Tree)
	if !known {
		return nil, false
	}
	entries, err := gitobject.ParseTree(object.Data)
	return entries, err == nil
}
