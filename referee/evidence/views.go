package evidence

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// views are the readings of an item, each made when it is first asked for.
type views struct {
	kept []byte // the bytes, where they were small enough to keep while hashing, or were asked for
	have bool   // kept is filled

	text     string
	haveText bool
	textErr  error

	root    *strictjson.Value
	rootErr error

	table    *table
	tableErr error

	stats map[statKey]knownStat

	lines  []int          // offsets of line beginnings
	seen   legible.Folded // the text as people see it (S80)
	folded string         // the same with its white space folded
	quotes *haystack
}

// textContent is the text of an item without its byte order mark, which is tolerated in evidence and noted.
func (s *Set) textContent(e *entry) (string, error) {
	v := e.views
	if v.haveText || v.textErr != nil {
		return v.text, v.textErr
	}
	src, err := s.readBytes(e)
	switch {
	case err != nil:
		v.textErr = err
	case s.reserveRoom(e, len(src), 1, "bytes of text") != nil:
		v.textErr = e.file.itemError(ErrTooLarge,
			"the file has %d bytes, too much to be read with the run's other evidence", len(src))
	case strings.HasPrefix(string(src[:min(2, len(src))]), "\xff\xfe"),
		strings.HasPrefix(string(src[:min(2, len(src))]), "\xfe\xff"):
		v.textErr = e.file.itemError(ErrContent, "the file is UTF-16; save it as UTF-8")
	case !utf8.Valid(src):
		v.textErr = e.file.itemError(ErrContent, "byte %d is not UTF-8; save the file as UTF-8", invalidAt(src)+1)
	default:
		text, hadMark := strings.CutPrefix(string(src), "\uFEFF")
		if hadMark {
			e.file.Notes = append(e.file.Notes, "byte order mark ignored")
		}
		v.text, v.haveText = text, true
		v.kept = nil // the text has it all; the bytes would only double the room
	}
	return v.text, v.textErr
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(src)
}

// jsonDocument is the item as one JSON document.
func (s *Set) jsonDocument(e *entry) (*strictjson.Value, error) {
	v := e.views
	if v.root != nil || v.rootErr != nil {
		return v.root, v.rootErr
	}
	v.root, v.rootErr = s.parseDocument(e)
	return v.root, v.rootErr
}

func (s *Set) parseDocument(e *entry) (*strictjson.Value, error) {
	if e.file.Bytes > s.lim.MaxJSON {
		return nil, e.file.itemError(ErrTooLarge, "the file has %d bytes and is too large to read as one JSON document "+
			"(at most %d); JSONL may be larger", e.file.Bytes, s.lim.MaxJSON)
	}
	text, err := s.textContent(e)
	if err != nil {
		return nil, err
	}
	if err := s.takeWork(e, len(text)/16); err != nil {
		return nil, err
	}
	if err := s.reserveRoom(e, strictjson.ValueBound(text), roomValue, "values"); err != nil {
		return nil, err
	}
	root, err := strictjson.Parse([]byte(text), strictjson.Limits{MaxBytes: int(s.lim.MaxJSON),
		MaxValues: int(s.lim.MaxRoom / roomValue)})
	if err != nil {
		return nil, e.file.itemError(ErrContent, "the file is not JSON: %v", err)
	}
	return root, nil
}

// lineStarts are the offsets at which lines begin. A line ends with LF, CR LF or CR (RFC 5147); an end of line at the
// end of the text begins no further line.
func (s *Set) lineStarts(e *entry, text string) ([]int, error) {
	if e.views.lines != nil || text == "" {
		return e.views.lines, nil
	}
	most := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
	if err := errors.Join(s.reserveRoom(e, most, 8, "lines"), s.takeWork(e, len(text)/64)); err != nil {
		return nil, e.file.itemError(ErrTooLarge, "the text has up to %d lines, too many to be held with the run's "+
			"other evidence", most)
	}
	lines := make([]int, 1, most)
	for i := 0; i < len(text); i++ {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			continue
		}
		if (text[i] == '\n' || text[i] == '\r') && i+1 < len(text) {
			lines = append(lines, i+1)
		}
	}
	e.views.lines = lines
	return lines, nil
}

// placeOf is the line and column, in code points from 1, of an offset; lineStarts has been asked for before.
func (e *entry) placeOf(text string, offset int) (line, col int) {
	starts := e.views.lines
	if len(starts) == 0 {
		return 1, 1
	}
	line = sort.SearchInts(starts, offset+1)
	return line, utf8.RuneCountInString(text[starts[line-1]:offset]) + 1
}
