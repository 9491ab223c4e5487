package formula

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
)

// NormalName is the normal form of S18: as people see it (S80), lower case, trimmed, runs of space - _ . become _,
// other punctuation is dropped.
func NormalName(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(legible.Fold(s)) {
		switch {
		case unicode.IsSpace(r) || strings.ContainsRune("-_.", r):
			gap = true
		case unicode.IsPunct(r) || unicode.IsSymbol(r):
		default:
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// operators may stand inside a name ("Loan-to-Value") but not at its beginning, and only % at its end.
const operators = "+-*/%×÷−^=<>(),."

// nameTable finds the input that a text names.
type nameTable struct {
	all    []string
	crowd  int                 // names, where they are too many to be read
	exact  map[rune][][]rune   // by first rune, longest first
	normal map[string][]string // by NormalName
	words  int                 // of the longest normal form
}

func newNameTable(names []string) *nameTable {
	t := &nameTable{exact: map[rune][][]rune{}, normal: map[string][]string{}}
	if len(names) > MaxNames {
		t.crowd = len(names)
		return t
	}
	for _, name := range names {
		key := NormalName(name)
		// A key such as "2" or "1e5" must not turn a literal into a variable; JSON has no key that is not UTF-8.
		if !utf8.ValidString(name) || !strings.ContainsFunc(name, unicode.IsLetter) || isNumber(key) ||
			slices.Contains(t.normal[key], name) {
			continue
		}
		t.all = append(t.all, name)
		t.normal[key] = append(t.normal[key], name)
		t.words = max(t.words, strings.Count(key, "_")+1)
		if findableAsWritten(name) {
			r := []rune(name)
			t.exact[r[0]] = append(t.exact[r[0]], r)
		}
	}
	for _, list := range t.exact {
		slices.SortStableFunc(list, func(a, b []rune) int { return cmp.Compare(len(b), len(a)) })
	}
	return t
}

// findableAsWritten says that a name can be found as it is written: its ends do not look like something else.
func findableAsWritten(name string) bool {
	r := []rune(name)
	first, last := r[0], r[len(r)-1]
	return !strings.ContainsRune(operators, first) && !unicode.IsSpace(first) && !unicode.IsSpace(last) &&
		(last == '%' || last == ')' || last == '.' || !strings.ContainsRune(operators, last)) && !isNumber(name)
}

// isNumber says that s reads as a literal.
func isNumber(s string) bool {
	end := scanNumber([]rune(s), 0)
	return end > 0 && end == len([]rune(s))
}

// match is an input named at a place of the source.
type match struct {
	name  string
	end   int      // rune index after it
	exact bool     // written as the key is
	other []string // further keys of the same normal form
}

// findLongest is the longest match at src[at:]; of two equally long ones the exact.
func (t *nameTable) findLongest(src []rune, at int) (match, bool) {
	best := match{}
	for _, name := range t.exact[src[at]] {
		if hasPrefix(src[at:], name) && isWordBoundary(src, at+len(name)) {
			best = match{name: string(name), end: at + len(name), exact: true}
			break
		}
	}
	ends := wordEnds(src, at, t.words)
	whole, cuts := normalPrefixes(src, at, ends)
	for i, end := range slices.Backward(ends) {
		if end <= best.end {
			break
		}
		if keys := t.normal[whole[:cuts[i]]]; len(keys) > 0 {
			return match{name: keys[0], end: end, other: keys[1:]}, true
		}
	}
	return best, best.end > 0
}

// normalPrefixes is the normal form of src from at to the last of ends, and how long it is at each of them: normalising
// every beginning by itself would take the square of a name's length. Between the ends stands white space alone.
func normalPrefixes(src []rune, at int, ends []int) (whole string, cuts []int) {
	var b strings.Builder
	cuts = make([]int, len(ends))
	for i, end := range ends {
		if word := NormalName(string(src[at:end])); word != "" {
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			b.WriteString(word)
		}
		cuts[i], at = b.Len(), end
	}
	return b.String(), cuts
}

func hasPrefix(src, name []rune) bool {
	return len(src) >= len(name) && slices.Equal(src[:len(name)], name)
}

// isWordBoundary says that no word runs on over src[i].
func isWordBoundary(src []rune, i int) bool {
	return i >= len(src) || !isWord(src[i]) || !isWord(src[i-1])
}

// wordEnds are the places where the next words end, at most limit, as long as only white space stands between them.
func wordEnds(src []rune, at, limit int) []int {
	var ends []int
	for i := at; i < len(src) && isWord(src[i]) && len(ends) < limit; {
		for i < len(src) && isWord(src[i]) {
			i++
		}
		ends = append(ends, i)
		for i < len(src) && unicode.IsSpace(src[i]) {
			i++
		}
	}
	return ends
}

// readsAsExpression says that a key with an operator in it is also an expression over other keys.
func (t *nameTable) readsAsExpression(name string) bool {
	if !strings.ContainsAny(name, "+-*/%×÷−") {
		return false
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !isWord(r) && !unicode.IsSpace(r) && r != '.' })
	known := 0
	for _, w := range words {
		if w = strings.TrimSpace(w); w == "" {
			continue
		}
		if !isNumber(w) && len(t.normal[NormalName(w)]) == 0 {
			return false
		}
		known++
	}
	return known >= 2 || known == 1 && strings.HasSuffix(name, "%")
}

// listNames names the inputs for a message.
func (t *nameTable) listNames() string {
	const most = 8
	if len(t.all) == 0 {
		return "the calculation has no inputs"
	}
	quoted := make([]string, 0, most)
	for _, n := range t.all[:min(most, len(t.all))] {
		quoted = append(quoted, strconv.Quote(n))
	}
	s := "the inputs are " + strings.Join(quoted, ", ")
	if len(t.all) > most {
		s += " and " + strconv.Itoa(len(t.all)-most) + " more"
	}
	return s
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

func isWordStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }
