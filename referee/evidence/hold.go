package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/strictjson"
)

// Format is what the bytes of an item are taken for.
type Format string

// The formats. The last three are never read (S64).
const (
	JSON   Format = "json"
	JSONL  Format = "jsonl"
	CSV    Format = "csv"
	Text   Format = "text"
	PDF    Format = "pdf"
	Image  Format = "image"
	Binary Format = "binary"
)

// ForHuman says that only a human can read it.
func (f Format) ForHuman() bool { return f == PDF || f == Image || f == Binary }

// keepBelow is the size up to which the bytes are kept while they are hashed: most files are read only once.
const keepBelow = 1 << 20

// headSize is how much of a file is looked at to tell its format.
const headSize = 8 << 10

const lfsPrefix = "version https://git-lfs.github.com/spec/v1\n"

// holdEntry checks the item's place, hashes its bytes and tells its format.
func (s *Set) holdEntry(e *entry) error {
	i := &e.file.Item
	if i.heldPath() == "" {
		v := e.views
		v.kept, v.have = []byte(i.Text), true
		sum := sha256.Sum256(v.kept)
		e.file.SHA256, e.file.Bytes, e.file.Format = hex.EncodeToString(sum[:]), int64(len(v.kept)),
			inlineFormat(v.kept)
		return nil
	}
	if s.fsys == nil {
		return i.itemError(ErrMissing, "the file %s is not there: the submission has no run folder",
			quoteForMessage(i.heldPath()))
	}
	if err := s.checkTree(i); err != nil {
		return err
	}
	return s.hashEntry(e)
}

// hashEntry streams the file through SHA-256. The size is counted, not believed.
func (s *Set) hashEntry(e *entry) error {
	i := &e.file.Item
	f, err := s.fsys.Open(i.heldPath())
	if err != nil {
		return i.unreadableError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return i.unreadableError(err)
	}
	if info.Size() > s.lim.MaxHash {
		return i.itemError(ErrTooLarge, "the file has %d bytes; at most %d are hashed", info.Size(), s.lim.MaxHash)
	}
	sum := sha256.New()
	var first bytes.Buffer
	body := io.LimitReader(f, s.lim.MaxHash+1)
	n, err := io.CopyN(io.MultiWriter(sum, &first), body, keepBelow+1)
	if err == nil {
		var more int64
		more, err = io.Copy(sum, body)
		n += more
	}
	if err != nil && err != io.EOF {
		return i.unreadableError(err)
	}
	if n > s.lim.MaxHash {
		return i.itemError(ErrTooLarge, "the file has more than %d bytes, the most that are hashed", s.lim.MaxHash)
	}
	if bytes.HasPrefix(first.Bytes(), []byte(lfsPrefix)) {
		return i.itemError(ErrRefused, "the file %s is a Git LFS pointer, not the evidence itself; commit the file "+
			"without LFS", quoteForMessage(i.heldPath()))
	}
	if n <= keepBelow {
		e.views.kept, e.views.have = first.Bytes(), true
	}
	head := first.Bytes()[:min(headSize, first.Len())]
	e.file.SHA256, e.file.Bytes, e.file.Format = hex.EncodeToString(sum.Sum(nil)), n, formatOf(i.heldPath(), head)
	return nil
}

var magic = []struct {
	prefix string
	format Format
}{
	{"%PDF-", PDF}, {"\x89PNG\r\n\x1a\n", Image}, {"\xff\xd8\xff", Image}, {"GIF87a", Image}, {"GIF89a", Image},
	{"II*\x00", Image}, {"MM\x00*", Image},
	{"PK\x03\x04", Binary}, {"\x1f\x8b", Binary}, {"PAR1", Binary}, {"SQLite format 3\x00", Binary},
}

var extensions = map[string]Format{
	".json": JSON, ".jsonl": JSONL, ".ndjson": JSONL, ".csv": CSV, ".tsv": CSV, ".txt": Text, ".md": Text, ".log": Text,
	".pdf": PDF,
	".png": Image, ".jpg": Image, ".jpeg": Image, ".gif": Image, ".webp": Image, ".tif": Image, ".tiff": Image,
	".bmp": Image, ".heic": Image, ".avif": Image, ".svg": Image,
}

// formatOf goes by the first bytes where they are unmistakable, then by the name, then by whether it is text.
func formatOf(name string, head []byte) Format {
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return m.format
		}
	}
	if f, ok := extensions[strings.ToLower(path.Ext(name))]; ok {
		return f
	}
	if bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(wholeRunes(head)) {
		return Binary
	}
	return Text
}

// wholeRunes cuts a character that the end of the head may have divided.
func wholeRunes(head []byte) []byte {
	if len(head) < headSize {
		return head
	}
	for back := 1; back < utf8.UTFMax; back++ {
		if utf8.RuneStart(head[len(head)-back]) {
			return head[:len(head)-back]
		}
	}
	return head
}

// inlineFormat takes an inline text for JSON if it is one JSON object or array, else for text.
func inlineFormat(src []byte) Format {
	trimmed := bytes.TrimSpace(src)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if _, err := strictjson.Parse(src, strictjson.Limits{}); err == nil {
			return JSON
		}
	}
	return Text
}

// readBytes are the item's bytes, read at most once more than for hashing, and the same that were hashed.
func (s *Set) readBytes(e *entry) ([]byte, error) {
	if e.views.have {
		return e.views.kept, nil
	}
	i := &e.file.Item
	if e.file.Bytes > s.lim.MaxRead {
		return nil, i.itemError(ErrTooLarge, "the file has %d bytes and is too large to read; at most %d are read for "+
			"selectors and statistics", e.file.Bytes, s.lim.MaxRead)
	}
	f, err := s.fsys.Open(i.heldPath())
	if err != nil {
		return nil, i.unreadableError(err)
	}
	defer f.Close()
	src := make([]byte, e.file.Bytes)
	if _, err := io.ReadFull(f, src); err != nil && err != io.EOF {
		return nil, i.itemError(ErrRefused, "the file %s changed while it was read", quoteForMessage(i.heldPath()))
	}
	if sum := sha256.Sum256(src); hex.EncodeToString(sum[:]) != e.file.SHA256 {
		return nil, i.itemError(ErrRefused, "the file %s changed while it was read", quoteForMessage(i.heldPath()))
	}
	e.views.kept, e.views.have = src, true
	return src, nil
}
