package referee

import (
	"encoding/binary"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/referee/formula"
)

// The bounds of a memo: a hostile batch of ever new texts must not fill the memory.
const (
	memoEntries = 2048
	memoKey     = 512 // bytes of a key; longer texts are worked out each time
)

// memo keeps what a pure function gave for a text. Batches repeat their names and formulas on every line, so a sheet
// keeps them; what is kept can change no outcome, only when it is there.
type memo[V any] struct {
	mu   sync.RWMutex
	kept map[string]V
}

// The key is bytes, so that a caller may build it in room of its own: looking up costs no allocation.
func (m *memo[V]) get(key []byte, make func() V) V {
	if len(key) > memoKey {
		return make()
	}
	m.mu.RLock()
	v, ok := m.kept[string(key)]
	m.mu.RUnlock()
	if ok {
		return v
	}
	v = make()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]V{}
	}
	if len(m.kept) < memoEntries {
		m.kept[string(key)] = v
	}
	return v
}

// parsedFormula is what Parse gave for one text over one set of names.
type parsedFormula struct {
	formula *formula.Formula
	err     error
	renamed func() *formula.Formula // over the sheet's names (S16); worked out once, it took 7 % of an audit's time
}

// appendText appends a text with its length before it: whatever a formula and its names hold, U+0000 too, no two lists
// of texts have the same key, or one submission of a batch could choose how another one's formula is read.
func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}

// parseFormula is formula.Parse, kept by the sheet.
func (s *Sheet) parseFormula(src string, names []string) *parsedFormula {
	var room [memoKey]byte
	key := appendText(room[:0], src)
	for _, n := range names {
		key = appendText(key, n)
	}
	return s.formulas.get(key, func() *parsedFormula {
		f, err := formula.Parse(src, names)
		return &parsedFormula{f, err, sync.OnceValue(func() *formula.Formula { return f.NormaliseWith(s.nameOf) })}
	})
}

// normalOf is normalName, kept by the sheet.
func (s *Sheet) normalOf(name string) string {
	var room [64]byte
	return s.normals.get(append(room[:0], name...), func() string { return normalName(name) })
}

// nameOf is the sheet's name for an agent's name: through the aliases, by the normal form, else the name itself (S18).
func (s *Sheet) nameOf(name string) string {
	if id, ok := s.alias[s.normalOf(name)]; ok {
		return id
	}
	if id, ok := s.alias[s.normalOf(splitAbbreviation(name, s))]; ok {
		return id
	}
	return name
}

// splitAbbreviation takes a name apart that stands beside its abbreviation in brackets, either first: of "Debt Service
// Coverage Ratio (DSCR)" the part that the sheet knows. Both parts must be one name: the letters of one are the
// initials of the other, or the sheet knows both as the same. "DSCR (stressed)" stays what it is, another calculation.
func splitAbbreviation(name string, s *Sheet) string {
	long, rest, ok := strings.Cut(name, "(")
	short, after, closed := strings.Cut(rest, ")")
	if !ok || !closed || strings.TrimSpace(after) != "" {
		return ""
	}
	a, b := s.alias[s.normalOf(long)], s.alias[s.normalOf(short)]
	switch one := initialsOf(long) == abbreviationLetters(short) || initialsOf(short) == abbreviationLetters(long); {
	case a != "" && a == b, a != "" && b == "" && one:
		return long
	case a == "" && b != "" && one:
		return short
	}
	return ""
}

// initialsOf are the first letters of the words of a name, in lower case.
func initialsOf(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		r, _ := utf8.DecodeRuneInString(word)
		b.WriteRune(r)
	}
	return b.String()
}

// abbreviationLetters are the letters and digits of an abbreviation, in lower case, a "." or "/" between them aside.
func abbreviationLetters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
