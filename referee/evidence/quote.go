package evidence

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// DefaultMinLen is the shortest quote, in characters after NormaliseText, that may stand anywhere in a text (rules.md
// 1.2).
const DefaultMinLen = 12

// straightQuotes are the typographic quotation marks that a quotation may write straight.
var straightQuotes = []string{
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'", "`", "'",
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "″", `"`, "«", `"`, "»", `"`,
}

// folds are those, and the invisible characters that found_in passes over.
var (
	folds = strings.NewReplacer(append(slices.Clone(straightQuotes), "\u00ad", "", "\u200b", "", "\u2060", "",
		"\ufeff", "")...)
	quoteFolds = strings.NewReplacer(straightQuotes...)
)

// foldQuote is the form in which a quotation is compared with what it quotes (S63): white space and typographic
// quotation marks only; case, letters and signs are as they stand.
func foldQuote(s string) string { return foldSpace(quoteFolds.Replace(s)) }

// broken is a word divided at the end of a line.
var broken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\p{L})[-‐\x{00AD}][ \t]*\r?\n[ \t]*(\p{Ll})`)
})

// NormaliseText is the form in which found_in compares (rules.md 1.2): words divided at a line end are joined, NFKC,
// lower case, straight quotes, soft hyphens and zero-width characters dropped, white space collapsed.
func NormaliseText(s string) string { return normaliseQuote(s, "$1$2") }

// normaliseQuote joins a divided word as said: a hyphen at a line end may belong to the word ("trailing-⏎twelve").
func normaliseQuote(s, join string) string {
	if dividesWords(s) {
		s = broken().ReplaceAllString(s, join)
	}
	s = strings.ToLower(folds.Replace(legible.Fold(s)))
	// Unicode lists some lookalikes in lower case only, so a letter may be one after ToLower that was none before.
	for range 3 {
		again := strings.ToLower(folds.Replace(legible.Fold(s)))
		if again == s {
			break
		}
		s = again
	}
	return foldSpace(s)
}

// dividesWords reports whether a line ends with a hyphen: most texts have none, and the expression takes ten times as
// long as the rest.
func dividesWords(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		line = strings.TrimRight(line, " \t")
		if strings.HasSuffix(line, "-") || strings.HasSuffix(line, "‐") || strings.HasSuffix(line, "\u00AD") {
			return true
		}
	}
	return false
}

// FoundIn says whether a quote stands in a text, both after NormaliseText. A quote shorter than minLen characters (0
// means DefaultMinLen) would be found by chance almost anywhere, so it counts only where it is the whole text or a
// whole line of it; of a table, Quoted compares it with whole cells. The ends of a quote never cut a number in two:
// "NOI is $920" does not stand in "NOI is $920,000". An empty quote stands nowhere.
func FoundIn(quote, text string, minLen int) bool {
	return newHaystack(text, strings.Split(text, "\n")).hasQuote(quote, minLen)
}

// haystack is a text prepared for many quotes: by found_in's rules, or for quotations word for word.
type haystack struct {
	tries            int          // places where a quote was compared and did not stand
	room             func() error // asked before the table of parts is made; nil: there is room
	err              error        // what it said
	joined, hyphened string
	parts            []string // lines, cells, or JSON strings
	whole            map[string]bool
	fold             func(string) string
}

func newHaystack(text string, parts []string) *haystack {
	return &haystack{joined: NormaliseText(text), hyphened: normaliseQuote(text, "$1-$2"), parts: parts,
		fold: NormaliseText}
}

// prepareQuotable is a text prepared for quotations (S63).
func prepareQuotable(text string, parts []string) *haystack {
	return &haystack{joined: foldQuote(text), parts: parts, fold: foldQuote}
}

func (h *haystack) hasQuote(quote string, minLen int) bool {
	if minLen <= 0 {
		minLen = DefaultMinLen
	}
	q := h.fold(quote)
	if q == "" {
		return false
	}
	if utf8.RuneCountInString(q) < minLen {
		return q == h.joined || h.isPart(q)
	}
	return h.standsIn(q, h.joined) || h.hyphened != "" && h.standsIn(normaliseQuote(quote, "$1-$2"), h.hyphened) ||
		h.isPart(q)
}

// isPart compares with whole lines or cells; the table of them is made when the first short quote comes.
func (h *haystack) isPart(q string) bool {
	if h.whole == nil {
		if h.room != nil {
			if h.err = h.room(); h.err != nil {
				return false
			}
		}
		h.whole = make(map[string]bool, len(h.parts))
		for _, p := range h.parts {
			h.whole[h.fold(p)] = true
		}
	}
	return h.whole[q]
}

// standsIn finds q in text where neither end cuts a number.
func (h *haystack) standsIn(q, text string) bool {
	for from := 0; ; h.tries++ {
		at := strings.Index(text[from:], q)
		if at < 0 {
			return false
		}
		at += from
		if !cutsBefore(text[:at], q) && !cutsAfter(text[at+len(q):], q) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
}

// cutsBefore says that q, which begins with a digit, follows on digits that belong to the same number.
func cutsBefore(before, q string) bool {
	if !digitAt(q, 0) {
		return false
	}
	if digitAt(before, len(before)-1) {
		return true
	}
	return (strings.HasSuffix(before, ",") || strings.HasSuffix(before, ".")) && digitAt(before, len(before)-2)
}

// cutsAfter is the same for the end of q.
func cutsAfter(after, q string) bool {
	if !digitAt(q, len(q)-1) {
		return false
	}
	return digitAt(after, 0) || (strings.HasPrefix(after, ",") || strings.HasPrefix(after, ".")) && digitAt(after, 1)
}

func digitAt(s string, i int) bool { return 0 <= i && i < len(s) && '0' <= s[i] && s[i] <= '9' }

// Quoted says whether a quote stands in what a reference points at (S63): the lines, row or value selected, or the
// whole item. In JSON the texts are compared decoded. What only a human can read gives a Hit with Open, and found is
// false.
func (s *Set) Quoted(ref, quote string, minLen int) (found bool, hit Hit, err error) {
	hit, err = s.Resolve(ref)
	if err != nil {
		return false, hit, err
	}
	if hit.File.Format.ForHuman() {
		hit.Kind, hit.Open = HitOpen, true
		return false, hit, nil
	}
	e := s.byID[hit.File.ID]
	if hit.Kind != HitFile {
		if err := s.takeWork(e, len(hit.Text)+len(quote)/2); err != nil {
			return false, hit, err
		}
		return hit.haystackOf().hasQuote(quote, minLen), hit, nil
	}
	h := e.views.quotes
	if h == nil {
		if h, err = s.haystackOf(e); err != nil {
			return false, hit, err
		}
		h.room = func() error {
			return errors.Join(s.takeWork(e, len(h.parts)+len(h.joined)/4), s.reserveRoom(e, len(h.parts), roomWhole,
				"lines or cells to compare a quote with"))
		}
		e.views.quotes = h
	}
	if err := s.takeWork(e, 4+len(quote)/2+(len(h.joined)+len(h.hyphened))/128); err != nil {
		return false, hit, err
	}
	before := h.tries
	found = h.hasQuote(quote, minLen)
	s.meter.Take((h.tries - before) / 8)
	return found, hit, h.err
}

// haystackOf is the text of a hit with its cells or JSON strings as parts.
func (h Hit) haystackOf() *haystack {
	switch {
	case h.JSON != nil:
		texts := jsonTexts(h.JSON)
		return prepareQuotable(strings.Join(texts, "\n"), texts)
	case h.Row != nil:
		return prepareQuotable(h.Text, h.Row)
	case h.Cells != nil:
		var parts []string
		for _, r := range h.Cells {
			parts = append(parts, r...)
		}
		return prepareQuotable(h.Text, parts)
	}
	return prepareQuotable(h.Text, strings.Split(h.Text, "\n"))
}

// haystackOf prepares a whole item. A CSV or JSON file that cannot be read as such still has its text.
func (s *Set) haystackOf(e *entry) (*haystack, error) {
	text, err := s.textContent(e)
	if err != nil {
		return nil, err
	}
	if err := s.takeWork(e, 1+len(text)/2); err != nil {
		return nil, err
	}
	most := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
	if err := errors.Join(s.reserveRoom(e, 3*len(text), 1, "bytes of text"),
		s.reserveRoom(e, most, roomPart, "lines")); err != nil {
		return nil, err
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	switch e.file.Format {
	case JSON:
		if root, err := s.jsonDocument(e); err == nil {
			parts = jsonTexts(root)
			text = strings.Join(parts, "\n") + "\n" + text
		}
	case JSONL:
		var decoded []string
		for _, line := range parts {
			if root, err := strictjson.Parse([]byte(line), strictjson.Limits{}); err == nil {
				decoded = append(decoded, jsonTexts(root)...)
			}
		}
		parts = append(parts, decoded...)
		text = strings.Join(decoded, "\n") + "\n" + text
	case CSV:
		if t, err := s.tableOf(e); err == nil {
			parts = append(parts, t.cells...)
			text = text + "\n" + strings.Join(t.cells, "\n")
		}
	}
	return prepareQuotable(text, parts), nil
}

// jsonTexts are the strings and numbers of a JSON value, decoded, in document order.
func jsonTexts(v *strictjson.Value) []string {
	var texts []string
	v.Walk(func(w *strictjson.Value) bool {
		if w.Kind == strictjson.String || w.Kind == strictjson.Number {
			texts = append(texts, w.Text)
		}
		return true
	})
	return texts
}
