package referee

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// namedTwice flags two members of one object whose names mean the same and whose values differ: which of them counts
// would be the engine's choice, and a reader may see the other. Among the submission's inputs and sources, names mean
// the same by the sheet (aliases, S18) or where only the signs between their words differ; within a calculation by the
// sheet; and everywhere where people see one name (S80). Case alone tells two names apart, as it does in a formula (T
// and t), unless the sheet or the engine reads one of them and not the other.
func (a *audit) namedTwice(r *Rule) {
	for _, key := range []string{"inputs", "sources", "params"} {
		a.meansTwice(r, a.doc.Get(key), a.meaningOf)
	}
	for _, c := range a.calcs {
		for _, key := range []string{"inputs", "sources"} {
			a.meansTwice(r, c.v.Get(key), func(name string) string { return a.Sheet.alias[a.Sheet.normalOf(name)] })
		}
	}
	var read map[string]bool
	a.doc.Walk(func(v *strictjson.Value) bool {
		if len(v.Members) < 2 || plainNames(v.Members) {
			return true
		}
		a.meansTwice(r, v, seenName)
		if read == nil {
			read = a.Sheet.readNames()
		}
		a.meansTwice(r, v, meaningByCase(v.Members, read))
		return true
	})
}

// seenName is a name as people see it: folded, with single spaces.
func seenName(name string) string { return strings.Join(strings.Fields(legible.Fold(name)), " ") }

// meaningByCase folds the case of those names of one object of which the sheet or the engine reads one spelling; "" for
// every other. Where two spellings are read they are two names.
func meaningByCase(list []strictjson.Member, read map[string]bool) func(string) string {
	spellings := map[string]int{}
	for _, m := range list {
		if read[m.Key] {
			spellings[strings.ToLower(m.Key)]++
		}
	}
	return func(name string) string {
		if form := strings.ToLower(seenName(name)); spellings[form] == 1 {
			return form
		}
		return ""
	}
}

// meaningOf is what a name of an input means: the sheet's name, or else the name with one sign between its words. A
// name of signs alone means itself.
func (a *audit) meaningOf(name string) string {
	if id := a.sheetName(name); id != name {
		return id
	}
	if id, ok := a.Sheet.alias[a.Sheet.normalOf(name)]; ok {
		return id
	}
	words := strings.FieldsFunc(legible.Fold(name), func(c rune) bool {
		return unicode.IsSpace(c) || c == '-' ||
			c == '_'
	})
	if len(words) == 0 {
		return name
	}
	return strings.Join(words, "_")
}

// forPeople are the members of a sheet whose text people read and no rule.
var forPeople = []string{"title", "label", "why", "fix", "message", "source", "question", "description", "doc",
	"reason", "text", "summary"}

// readNames are the names that the sheet's rules, formulas and schemas may read in a submission, and those of every
// submission: each text outside of prose, its parts and its words. A word too many costs a flag on two spellings of it,
// a word too few the silent choice between them.
func (s *Sheet) readNames() map[string]bool {
	s.readOnce.Do(func() { s.read = s.listReadNames() })
	return s.read
}

func (s *Sheet) listReadNames() map[string]bool {
	read := map[string]bool{}
	for _, word := range splitIdentifiers(canonicalSchema()) {
		read[word] = true
	}
	s.Doc.Walk(func(v *strictjson.Value) bool {
		for _, m := range v.Members {
			read[m.Key] = true
		}
		if v.Kind == strictjson.String && !slices.Contains(forPeople, v.Name()) {
			read[v.Text] = true
			for _, part := range slices.Concat(strings.Split(v.Text, "/"), splitIdentifiers(v.Text)) {
				read[part] = true
			}
		}
		return v != s.Doc.Get("examples")
	})
	return read
}

func splitIdentifiers(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) &&
			!unicode.IsDigit(c)
	})
}

// plainNames reports whether all names are in lower-case ASCII without spaces: no two different ones of them have one
// form.
func plainNames(list []strictjson.Member) bool {
	for _, m := range list {
		for i := range len(m.Key) {
			if c := m.Key[i]; c <= ' ' || c >= 0x7F || c >= 'A' && c <= 'Z' {
				return false
			}
		}
	}
	return true
}

// meansTwice flags the later ones of members that mean the same and say something else than the first. A name that
// means "" is left alone.
func (a *audit) meansTwice(r *Rule, object *strictjson.Value, meaning func(string) string) {
	list := object.Fields()
	var room [12]string // few names are compared one by one, sooner than a map is made
	if len(list) < 2 || len(list) <= len(room) && meansAllDiffer(list, meaning, room[:0]) {
		return
	}
	first := make(map[string]strictjson.Member, len(list))
	for _, m := range list {
		id := meaning(m.Key)
		was, known := first[id]
		switch {
		case id == "":
		case !known:
			first[id] = m
		case !sameValue(was.Value, m.Value):
			a.addFinding(r, Finding{Code: "structure.name_twice", Tier: High, Stage: StageStructure, Bucket: WorkDefect,
				Pointer: m.Value.Pointer(),
				Message: fmt.Sprintf("%q and %q are one name with two values; nobody can say which of them counts",
					clipText(was.Key), clipText(m.Key)),
				Fix: &Fix{Text: "keep one of them"}})
		}
	}
}

// meansAllDiffer reports whether no two of the names mean the same; seen is room for what they mean.
func meansAllDiffer(list []strictjson.Member, meaning func(string) string, seen []string) bool {
	for _, m := range list {
		id := meaning(m.Key)
		if id != "" && slices.Contains(seen, id) {
			return false
		}
		seen = append(seen, id)
	}
	return true
}
