package evidence

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/strictjson"
)

// views are the readings of an item, each made when it is first asked for.
type views struct {
	text     string
	haveText bool
	textErr  error

	root    *strictjson.Value
	rootErr error

	table    *table
	tableErr error

	lines  []int // offsets of line beginnings
	folded string
	quotes *haystack
}

// content is the text of an item without its byte order mark, which is tolerated in evidence and noted.
func (s *Set) content(e *entry) (string, error) {
	v := &e.views
	if v.haveText || v.textErr != nil {
		return v.text, v.textErr
	}
	src, err := s.bytes(e)
	switch {
	case err != nil:
		v.textErr = err
	case strings.HasPrefix(string(src[:min(2, len(src))]), "\xff\xfe"), strings.HasPrefix(string(src[:min(2, len(src))]), "\xfe\xff"):
		v.textErr = e.file.wrong(ErrContent, "the file is UTF-16; save it as UTF-8")
	case !utf8.Valid(src):
		v.textErr = e.file.wrong(ErrContent, "byte %d is not UTF-8; save the file as UTF-8", invalidAt(src)+1)
	default:
		text, hadMark := strings.CutPrefix(string(src), "\uFEFF")
		if hadMark {
			e.file.Notes = append(e.file.Notes, "byte order mark ignored")
		}
		v.text, v.haveText = text, true
		e.kept = nil // the text has it all; the bytes would only double the room
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

// document is the item as one JSON document.
func (s *Set) document(e *entry) (*strictjson.Value, error) {
	v := &e.views
	if v.root != nil || v.rootErr != nil {
		return v.root, v.rootErr
	}
	v.root, v.rootErr = s.parseDocument(e)
	return v.root, v.rootErr
}

func (s *Set) parseDocument(e *entry) (*strictjson.Value, error) {
	if e.file.Bytes > s.lim.MaxJSON {
		return nil, e.file.wrong(ErrTooLarge, "the file has %d bytes and is too large to read as one JSON document (at most %d); JSONL may be larger", e.file.Bytes, s.lim.MaxJSON)
	}
	text, err := s.content(e)
	if err != nil {
		return nil, err
	}
	root, err := strictjson.Parse([]byte(text), strictjson.Limits{MaxBytes: int(s.lim.MaxJSON)})
	if err != nil {
		return nil, e.file.wrong(ErrContent, "the file is not JSON: %v", err)
	}
	return root, nil
}

// lineStarts are the offsets at which lines begin. A line ends with LF, CR LF or CR (RFC 5147); an end of line at the end of
// the text begins no further line.
func (e *entry) lineStarts(text string) []int {
	if e.views.lines != nil || text == "" {
		return e.views.lines
	}
	lines := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			continue
		}
		if (text[i] == '\n' || text[i] == '\r') && i+1 < len(text) {
			lines = append(lines, i+1)
		}
	}
	e.views.lines = lines
	return lines
}

// place is the line and column, in code points from 1, of an offset.
func (e *entry) place(text string, offset int) (line, col int) {
	starts := e.lineStarts(text)
	if len(starts) == 0 {
		return 1, 1
	}
	line = sort.SearchInts(starts, offset+1)
	return line, utf8.RuneCountInString(text[starts[line-1]:offset]) + 1
}
