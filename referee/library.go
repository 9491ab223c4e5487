package referee

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/defendableos/referee/internal/nearest"
)

// ErrNoSheet is returned for a sheet that neither the repository nor the library has in the asked version.
var ErrNoSheet = errors.New("no such flight sheet")

// Library finds flight sheets: a repository's own come before the embedded ones, by slug. Sheets are loaded when they
// are asked for, once. It is safe for concurrent use.
type Library struct {
	embedded, repository fs.FS
	dir                  string // of the repository's sheets, for messages

	mu     sync.Mutex
	loaded map[string]*loadedSheet
}

type loadedSheet struct {
	once  sync.Once
	sheet *Sheet
	err   error
}

// Load loads every sheet, as many at a time as the machine has processors, and gives them and their errors in the order
// of Slugs: one of the two is nil at each place.
func (l *Library) Load() ([]*Sheet, []error) {
	slugs := l.Slugs()
	sheets, errs := make([]*Sheet, len(slugs)), make([]error, len(slugs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(slugs)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(slugs); i = int(next.Add(1)) - 1 {
				sheets[i], errs[i] = l.Find(slugs[i])
			}
		})
	}
	wg.Wait()
	return sheets, errs
}

// NewLibrary makes a library. repository may be nil; dir is how messages name it.
func NewLibrary(embedded, repository fs.FS, dir string) *Library {
	return &Library{embedded: embedded, repository: repository, dir: dir, loaded: map[string]*loadedSheet{}}
}

// Slugs lists every slug, sorted; a file's name without .json is its slug.
func (l *Library) Slugs() []string {
	var out []string
	for _, tree := range []fs.FS{l.repository, l.embedded} {
		if tree == nil {
			continue
		}
		names, _ := fs.Glob(tree, "*.json")
		for _, n := range names {
			if slug := strings.TrimSuffix(n, ".json"); !slices.Contains(out, slug) {
				out = append(out, slug)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Find returns the active sheet that "slug", "slug@1.2.0" or a range "slug@^1.2" names. The error wraps ErrNoSheet and
// names the nearest slug, or says which version is active.
func (l *Library) Find(ref string) (*Sheet, error) {
	slug, version := SplitSheet(ref)
	sheet, err := l.loadSheet(slug)
	if err != nil {
		return nil, err
	}
	if !VersionIn(sheet.Version, version) {
		return nil, fmt.Errorf("%w: %s; the active version of %s is %s", ErrNoSheet, ref, slug, sheet.Version)
	}
	return sheet, nil
}

// loadSheet reads a sheet once; several may be read at a time, and who asks for one that is being read waits for it.
func (l *Library) loadSheet(slug string) (*Sheet, error) {
	l.mu.Lock()
	got, ok := l.loaded[slug]
	if !ok {
		got = &loadedSheet{}
		l.loaded[slug] = got
	}
	l.mu.Unlock()
	got.once.Do(func() { got.sheet, got.err = l.readSheet(slug) })
	if errors.Is(got.err, ErrNoSheet) {
		l.mu.Lock()
		delete(l.loaded, slug) // hostile names would fill the map
		l.mu.Unlock()
	}
	return got.sheet, got.err
}

// readSheet loads a sheet from the repository, else from the library.
func (l *Library) readSheet(slug string) (*Sheet, error) {
	if !isSlug(slug) {
		return nil, l.unknownSheet(slug)
	}
	name := slug + ".json"
	if l.repository != nil {
		if src, err := ReadFile(l.repository, name, maxSubmission); err == nil {
			own, inner := fs.ReadFile(l.embedded, name)
			if inner == nil && bytes.Equal(src, own) {
				// a copy of the library's sheet stands before nothing
				return l.loadNamed(src, slug, l.dir+"/"+name, "library")
			}
			sheet, err := l.loadNamed(src, slug, l.dir+"/"+name, "repository")
			if err == nil {
				sheet.Shadows = inner == nil
			}
			return sheet, err
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	src, err := fs.ReadFile(l.embedded, name)
	if err != nil {
		return nil, l.unknownSheet(slug)
	}
	return l.loadNamed(src, slug, name, "library")
}

// loadNamed loads a sheet and holds its slug to its file's name, so that no two files can be one sheet.
func (l *Library) loadNamed(src []byte, slug, file, origin string) (*Sheet, error) {
	sheet, err := LoadSheet(src, file, origin)
	if err != nil {
		return nil, err
	}
	if sheet.Slug != slug {
		return nil, &RefusedError{Problems: []Problem{{File: file, Line: 1, Column: 1, Pointer: "/slug", Rule: "slug",
			Message: fmt.Sprintf("the slug %q is not the file's name", sheet.Slug),
			Hint:    fmt.Sprintf("name the file %s.json", sheet.Slug)}}}
	}
	return sheet, nil
}

func (l *Library) unknownSheet(slug string) error {
	if near := nearest.Word(slug, l.Slugs()); near != "" {
		return fmt.Errorf("%w: %q; did you mean %q?", ErrNoSheet, clipText(slug), near)
	}
	return fmt.Errorf("%w: %q; `referee sheet list` lists them", ErrNoSheet, clipText(slug))
}

// VersionIn reports whether a semantic version satisfies a range: "" or "*" any, "1.2.0" exactly, "1.2" or "1" the
// newest of that line, "^1.2.0" compatible, "~1.2.0" same minor.
func VersionIn(version, want string) bool {
	if want == "" || want == "*" || want == version {
		return true
	}
	if strings.Contains(version, "-") || strings.Contains(want, "-") {
		return false // a pre-release is meant only by its whole name
	}
	v, ok := versionParts(version)
	if !ok || len(v) != 3 {
		return false
	}
	w, ok := versionParts(strings.TrimLeft(want, "^~"))
	if !ok {
		return false
	}
	switch {
	case strings.HasPrefix(want, "^"):
		return v[0] == w[0] && slices.Compare(v, w) >= 0 && (v[0] > 0 || len(w) < 2 || v[1] == w[1])
	case strings.HasPrefix(want, "~"):
		return slices.Equal(v[:min(2, len(w))], w[:min(2, len(w))]) && slices.Compare(v, w) >= 0
	}
	return len(w) < 3 && slices.Equal(v[:len(w)], w)
}

func versionParts(s string) ([]int, bool) {
	var out []int
	for part := range strings.SplitSeq(s, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || len(out) == 3 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}
