// Package evidence holds what an agent was given: the files and texts that a run declares (semantics S60 to S64).
//
// A Set reads them from an untrusted tree: nothing outside the run folder, no symbolic links, no Git LFS pointers,
// nothing that is not a regular file; it hashes each by streaming and reads into memory only what a selector asks for
// and what is small enough. What was read is what was hashed: a file that changes in between is refused.
//
// A reference is <id> or <id>#<selector>. The selectors are standard fragments (S61): JSON Pointer (RFC 6901) #/a/b,
// lines (RFC 5147) #line=10,12, rows, cells and columns of CSV (RFC 7111) #row=5 #cell=4,2 #col=3, and a quotation
// #text=…. PDF and image evidence is hashed and never read; a reference into it is open for a human (S64), and so is
// one into any other binary file, because a program that cannot read it can neither pass nor flag it.
//
// Numbers, quotes and statistics are recounted from the bytes and never taken from the submission.
package evidence

import (
	"io/fs"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// Item is one piece of evidence as run.json declares it. It is a file (Path; for a url its Snapshot) or an inline Text.
type Item struct {
	ID       string
	Path     string // inside the run folder, with forward slashes
	Kind     string // file, note, url, observation, tool_output, model_output or log
	Title    string
	Text     string // of a note or observation without a file
	URL      string
	Snapshot string         // path of what the url showed
	Pos      strictjson.Pos // where run.json declares it
}

// heldPath is where the bytes of the item are held, "" if it is an inline text.
func (i *Item) heldPath() string {
	if i.Path == "" {
		return i.Snapshot
	}
	return i.Path
}

// Limits bound what a Set reads. Zero means the default.
type Limits struct {
	MaxRead int64 // largest file that is read into memory for selectors and statistics
	MaxJSON int64 // largest JSON document that is parsed whole: values take many times the room of their text
	MaxHash int64 // largest file that is hashed
	MaxRoom int64 // what all readings of a Set may hold
}

// DefaultLimits are 50 MB (rules.md, operand data), 16 MiB, 1 GiB and 160 MiB.
var DefaultLimits = Limits{MaxRead: 50_000_000, MaxJSON: 16 << 20, MaxHash: 1 << 30, MaxRoom: maxRoom}

func (l Limits) orDefault() Limits {
	if l.MaxRead <= 0 {
		l.MaxRead = DefaultLimits.MaxRead
	}
	if l.MaxJSON <= 0 {
		l.MaxJSON = DefaultLimits.MaxJSON
	}
	if l.MaxHash <= 0 {
		l.MaxHash = DefaultLimits.MaxHash
	}
	if l.MaxRoom <= 0 {
		l.MaxRoom = DefaultLimits.MaxRoom
	}
	return l
}

// File is one held piece of evidence.
type File struct {
	Item
	SHA256 string // of the bytes as held, in hex
	Bytes  int64
	Format Format
	Notes  []string // what was tolerated: a byte order mark
	Err    error    // why it is not held; then SHA256, Bytes and Format are zero
}

// Set is the evidence of one run. It reads each item once, when it is first asked for, and keeps it. A Set must not be
// used by two goroutines at once. A nil Set stands for a bare submission without a manifest: it answers ErrNoManifest.
type Set struct {
	fsys    fs.FS
	lim     Limits
	entries []*entry
	byID    map[string]*entry
	byPath  map[string]*entry // loaded, by the path of their bytes
	room    int64             // held by readings
	meter   *decimal.Meter    // of the audit

	ids         []string // declared, once asked for
	undeclareds int      // references that lead nowhere so far
}

// entry is an item with what has been read of it so far.
type entry struct {
	file   File
	loaded bool
	views  *views
}

// Open makes the set of a run's items. Paths are relative to the root of fsys, the run folder. Nothing is read yet.
func Open(fsys fs.FS, items []Item, lim Limits) *Set {
	s := &Set{fsys: fsys, lim: lim.orDefault(), byID: make(map[string]*entry, len(items)), byPath: map[string]*entry{}}
	for _, item := range items {
		e := &entry{file: File{Item: item}, views: &views{}}
		s.entries = append(s.entries, e)
		if err := checkItem(&e.file.Item); err != nil {
			e.file.Err, e.loaded = err, true
		}
		for _, id := range []string{item.ID, legible.Fold(item.ID)} {
			if s.byID[id] == nil {
				s.byID[id] = e
			}
		}
	}
	s.refuseTwins()
	return s
}

// IDs are the declared ids, each once, in the order of the manifest.
func (s *Set) IDs() []string {
	if s == nil {
		return nil
	}
	if s.ids == nil {
		for _, e := range s.entries {
			if s.byID[e.file.ID] == e {
				s.ids = append(s.ids, e.file.ID)
			}
		}
	}
	return slices.Clip(s.ids)
}

// File is the evidence of that id, hashed. The error is a *Error.
func (s *Set) File(id string) (*File, error) {
	e, err := s.entryOf(id)
	if err != nil {
		return nil, err
	}
	return &e.file, nil
}

// All is every declared item in the order of the manifest, hashed; an item that is not held has Err.
func (s *Set) All() []*File {
	if s == nil {
		return nil
	}
	files := make([]*File, len(s.entries))
	for i, e := range s.entries {
		s.loadEntry(e)
		files[i] = &e.file
	}
	return files
}

// entryOf finds and loads the item of that id.
func (s *Set) entryOf(id string) (*entry, error) {
	if s == nil {
		return nil, &Error{Code: "no_manifest", Message: "the submission has no run manifest that declares evidence",
			cause: ErrNoManifest}
	}
	e := s.byID[id]
	if e == nil {
		e = s.byID[legible.Fold(id)] // as people see it (S80)
	}
	if e == nil {
		return nil, s.undeclaredError(id)
	}
	s.loadEntry(e)
	if e.file.Err != nil {
		return nil, e.file.Err
	}
	return e, nil
}

// loadEntry checks and hashes an item once.
func (s *Set) loadEntry(e *entry) {
	if e.loaded {
		return
	}
	e.loaded = true
	if same := s.byPath[e.file.heldPath()]; same != nil { // one file under several ids is read once
		e.file.SHA256, e.file.Bytes, e.file.Format, e.views = same.file.SHA256, same.file.Bytes, same.file.Format,
			same.views
		return
	}
	err := s.holdEntry(e)
	if err != nil {
		e.file = File{Item: e.file.Item, Err: err}
	} else if p := e.file.heldPath(); p != "" {
		s.byPath[p] = e
	}
}
