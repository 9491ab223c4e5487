package evidence

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
)

// checkItem refuses a declaration that cannot be held, before the tree is touched.
func checkItem(i *Item) error {
	switch {
	case strings.TrimSpace(i.ID) == "":
		return i.wrong(ErrRefused, "an evidence item has no id")
	case strings.ContainsRune(i.ID, '#') || strings.TrimSpace(i.ID) != i.ID || firstUnprintable(i.ID) != "":
		return i.wrong(ErrRefused, "an id has no #, no surrounding space and no control or invisible characters")
	case i.Kind == "url" && i.path() == "":
		return i.wrong(ErrNotHeld, "the url %s has no snapshot; what counts is what the repository holds: add the "+
			"page as a file and its path as \"snapshot\"", show(i.URL))
	case i.path() == "" && i.Text == "":
		return i.wrong(ErrRefused, "neither a path nor a text is given")
	case i.path() == "" && !utf8.ValidString(i.Text):
		return i.wrong(ErrRefused, "the text is not UTF-8")
	case i.path() != "" && i.Text != "":
		return i.wrong(ErrRefused, "both a path and a text are given; keep one, so that it is clear what is hashed")
	case i.path() == "":
		return nil
	}
	return checkPath(i)
}

// checkPath refuses every path that is not plainly inside the run folder.
func checkPath(i *Item) error {
	p := i.path()
	if bad := firstUnprintable(p); bad != "" {
		return i.wrong(ErrRefused, "the path %s has %s; rename the file", show(p), bad)
	}
	switch {
	case strings.Contains(p, `\`):
		return i.wrong(ErrRefused, "the path %s has a backslash; paths are written with forward slashes", show(p))
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
		return i.wrong(ErrRefused, "the path %s is absolute; it must be relative to the run folder", show(p))
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return i.wrong(ErrRefused, "the path %s leads upwards with \"..\"; evidence lies inside the run folder",
				show(p))
		}
	}
	if clean := path.Clean(p); clean != p || clean == "." {
		return i.wrong(ErrRefused, "the path %s is not in its shortest form; write %s", show(p), show(clean))
	}
	return nil
}

// firstUnprintable names the first character that could deceive a reader of the path: controls, format characters
// (which turn the writing direction or are invisible), line separators, and bytes that are no characters.
func firstUnprintable(s string) string {
	if !utf8.ValidString(s) {
		return "bytes that are not UTF-8"
	}
	for _, r := range s {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return "a control or invisible character"
		}
	}
	return ""
}

// refuseTwins refuses all items of one id, and all whose paths differ only in case: on some systems these are one file,
// so that the same run would be judged on different evidence.
func (s *Set) refuseTwins() {
	ids, paths := map[string][]*entry{}, map[string][]*entry{}
	id := func(e *entry) string { return foldCase(legible.Fold(e.file.ID)) }
	for _, e := range s.entries {
		ids[id(e)] = append(ids[id(e)], e)
		if p := e.file.path(); p != "" {
			paths[foldCase(p)] = append(paths[foldCase(p)], e)
		}
	}
	for _, e := range s.entries {
		if e.file.Err != nil {
			continue
		}
		if same := ids[id(e)]; len(same) > 1 {
			e.file.Err, e.loaded = e.file.wrong(ErrRefused, "%d items have this id (case aside); an id must be unique",
				len(same)), true
			continue
		}
		for _, other := range paths[foldCase(e.file.path())] {
			if e.file.path() != other.file.path() {
				e.file.Err, e.loaded = e.file.wrong(ErrRefused, "the paths %s and %s differ only in case",
					show(e.file.path()), show(other.file.path())), true
				break
			}
		}
	}
}

// foldCase maps every letter to the smallest of its case variants.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// checkTree follows the path component by component without following a link, and refuses what is no regular file.
func (s *Set) checkTree(i *Item) error {
	p := i.path()
	for end := 0; end < len(p); end++ {
		next := strings.IndexByte(p[end:], '/')
		if next < 0 {
			break
		}
		end += next
		info, err := fs.Lstat(s.fsys, p[:end])
		switch {
		case err != nil:
			return i.unreadable(err)
		case info.Mode()&fs.ModeSymlink != 0:
			return i.wrong(ErrRefused, "%s is a symbolic link; evidence must be the files themselves", show(p[:end]))
		}
	}
	info, err := fs.Lstat(s.fsys, p)
	switch {
	case err != nil:
		return i.unreadable(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return i.wrong(ErrRefused, "%s is a symbolic link; evidence must be the file itself", show(p))
	case info.IsDir():
		return i.wrong(ErrRefused, "%s is a folder; name each file of it", show(p))
	case !info.Mode().IsRegular():
		return i.wrong(ErrRefused, "%s is not a regular file", show(p))
	}
	return nil
}

// unreadable tells a missing file from one that cannot be read.
func (i *Item) unreadable(err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return i.wrong(ErrMissing, "the file %s is not in the run folder", show(i.path()))
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return i.wrong(ErrRefused, "the file %s cannot be read: %v", show(i.path()), err)
}
