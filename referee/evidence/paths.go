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
		return i.itemError(ErrRefused, "an evidence item has no id")
	case strings.ContainsRune(i.ID, '#') || strings.TrimSpace(i.ID) != i.ID || firstUnprintable(i.ID) != "":
		return i.itemError(ErrRefused, "an id has no #, no surrounding space and no control or invisible characters")
	case i.Kind == "url" && i.heldPath() == "":
		return i.itemError(ErrNotHeld, "the url %s has no snapshot; what counts is what the repository holds: add the "+
			"page as a file and its path as \"snapshot\"", quoteForMessage(i.URL))
	case i.heldPath() == "" && i.Text == "":
		return i.itemError(ErrRefused, "neither a path nor a text is given")
	case i.heldPath() == "" && !utf8.ValidString(i.Text):
		return i.itemError(ErrRefused, "the text is not UTF-8")
	case i.heldPath() != "" && i.Text != "":
		return i.itemError(ErrRefused, "both a path and a text are given; keep one, so that it is clear what is hashed")
	case i.heldPath() == "":
		return nil
	}
	return checkPath(i)
}

// checkPath refuses every path that is not plainly inside the run folder.
func checkPath(i *Item) error {
	p := i.heldPath()
	if bad := firstUnprintable(p); bad != "" {
		return i.itemError(ErrRefused, "the path %s has %s; rename the file", quoteForMessage(p), bad)
	}
	switch {
	case strings.Contains(p, `\`):
		return i.itemError(ErrRefused, "the path %s has a backslash; paths are written with forward slashes",
			quoteForMessage(p))
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
		return i.itemError(ErrRefused, "the path %s is absolute; it must be relative to the run folder", quoteForMessage(p))
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return i.itemError(ErrRefused, "the path %s leads upwards with \"..\"; evidence lies inside the run folder",
				quoteForMessage(p))
		}
	}
	if clean := path.Clean(p); clean != p || clean == "." {
		return i.itemError(ErrRefused, "the path %s is not in its shortest form; write %s", quoteForMessage(p),
			quoteForMessage(clean))
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
		if p := e.file.heldPath(); p != "" {
			paths[foldCase(p)] = append(paths[foldCase(p)], e)
		}
	}
	for _, e := range s.entries {
		if e.file.Err != nil {
			continue
		}
		if same := ids[id(e)]; len(same) > 1 {
			e.file.Err, e.loaded = e.file.itemError(ErrRefused, "%d items have this id (case aside); an id must be unique",
				len(same)), true
			continue
		}
		for _, other := range paths[foldCase(e.file.heldPath())] {
			if e.file.heldPath() != other.file.heldPath() {
				e.file.Err, e.loaded = e.file.itemError(ErrRefused, "the paths %s and %s differ only in case",
					quoteForMessage(e.file.heldPath()), quoteForMessage(other.file.heldPath())), true
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
	p := i.heldPath()
	for end := 0; end < len(p); end++ {
		next := strings.IndexByte(p[end:], '/')
		if next < 0 {
			break
		}
		end += next
		info, err := fs.Lstat(s.fsys, p[:end])
		switch {
		case err != nil:
			return i.unreadableError(err)
		case info.Mode()&fs.ModeSymlink != 0:
			return i.itemError(ErrRefused, "%s is a symbolic link; evidence must be the files themselves",
				quoteForMessage(p[:end]))
		}
	}
	info, err := fs.Lstat(s.fsys, p)
	switch {
	case err != nil:
		return i.unreadableError(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return i.itemError(ErrRefused, "%s is a symbolic link; evidence must be the file itself", quoteForMessage(p))
	case info.IsDir():
		return i.itemError(ErrRefused, "%s is a folder; name each file of it", quoteForMessage(p))
	case !info.Mode().IsRegular():
		return i.itemError(ErrRefused, "%s is not a regular file", quoteForMessage(p))
	}
	return nil
}

// unreadableError tells a missing file from one that cannot be read.
func (i *Item) unreadableError(err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return i.itemError(ErrMissing, "the file %s is not in the run folder", quoteForMessage(i.heldPath()))
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return i.itemError(ErrRefused, "the file %s cannot be read: %v", quoteForMessage(i.heldPath()), err)
}
