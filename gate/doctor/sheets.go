package doctor

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/referee"
)

// sheetsLoad loads the repository's own sheets, and finds those that the configuration names.
func (p *checkup) sheetsLoad() doctorFinding {
	own := p.ownSheets()
	var tree fs.FS
	if len(own) > 0 {
		tree = own
	}
	library := referee.NewLibrary(p.Embedded, tree, p.config.Sheets)
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if _, err := library.Find(strings.TrimSuffix(name, ".json")); err != nil {
			refused = append(refused, firstLine(err))
		}
	}
	for _, rule := range p.config.Runs {
		for _, sheet := range rule.Sheets {
			if _, err := library.Find(sheet); sheet != "*" && err != nil {
				refused = append(refused, fmt.Sprintf("runs names %q: %s", sheet, firstLine(err)))
			}
		}
	}
	if len(refused) > 0 {
		return problemf("%s", strings.Join(slices.Compact(refused), "; "))
	}
	return finef("the repository's own sheets load: %d", len(own))
}

// sheetsAny asks which sheets are meant, where the configuration lets every one judge.
func (p *checkup) sheetsAny() doctorFinding {
	var paths []string
	for _, rule := range p.config.Runs {
		if slices.Contains(rule.Sheets, "*") {
			paths = append(paths, rule.Path)
		}
	}
	if len(paths) > 0 {
		return warnf(
			"which sheets do you use? Any active one may judge %s, as the pull request chooses",
			quotedList(paths),
		)
	}
	return finef("the configuration names the sheets of every path")
}

// firstLine is the beginning of an error that has many.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// ownSheets are the files directly in the sheets' folder, by name.
func (p *checkup) ownSheets() memoryTree {
	own := memoryTree{}
	for name, src := range p.Files {
		if path.Dir(name) == p.config.Sheets && path.Ext(name) == ".json" {
			own[path.Base(name)] = src
		}
	}
	return own
}

// memoryTree is a folder of files in memory.
type memoryTree map[string][]byte

// Open is fs.FS's.
func (t memoryTree) Open(name string) (fs.File, error) {
	src, there := t[name]
	if !there {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{Reader: bytes.NewReader(src), name: name}, nil
}

// Glob is fs.GlobFS's, so that the folder itself need not be opened.
func (t memoryTree) Glob(pattern string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if ok, err := path.Match(pattern, name); err != nil {
			return nil, err
		} else if ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// memoryFile is one open file; it is its own description.
type memoryFile struct {
	*bytes.Reader
	name string
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Name() string               { return f.name }
func (f *memoryFile) Mode() fs.FileMode          { return 0o444 }
func (f *memoryFile) ModTime() time.Time         { return time.Time{} }
func (f *memoryFile) IsDir() bool                { return false }
func (f *memoryFile) Sys() any                   { return nil }
