package referee

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// namedTwice flags two members of one object whose names mean the same and whose values differ: which of them counts would be the engine's choice, and
// a reader may see the other. Among the submission's inputs and sources, names mean the same by the sheet (aliases, S18) or by their normal form;
// within a calculation by the sheet; and everywhere where only case, spaces and forms of characters (S80) tell them apart.
func (a *audit) namedTwice(r *Rule) {
	for _, key := range []string{"inputs", "sources", "params"} {
		a.meansTwice(r, a.doc.Get(key), a.meaning)
	}
	for _, c := range a.calcs {
		for _, key := range []string{"inputs", "sources"} {
			a.meansTwice(r, c.v.Get(key), func(name string) string { return a.Sheet.alias[a.Sheet.normal(name)] })
		}
	}
	a.doc.Walk(func(v *strictjson.Value) bool {
		if len(v.Members) > 1 && !plainNames(v.Members) {
			a.meansTwice(r, v, func(name string) string {
				return strings.ToLower(strings.Join(strings.Fields(legible.Fold(name)), " "))
			})
		}
		return true
	})
}

// meaning is what a name of an input means: the sheet's name, or else its normal form. A name of signs alone means itself.
func (a *audit) meaning(name string) string {
	if id := a.sheetName(name); id != name {
		return id
	}
	if form := a.Sheet.normal(name); form != "" {
		if id, ok := a.Sheet.alias[form]; ok {
			return id
		}
		return form
	}
	return name
}

// plainNames reports whether all names are in lower-case ASCII without spaces: no two different ones of them have one form.
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

// meansTwice flags the later ones of members that mean the same and say something else than the first. A name that means "" is left alone.
func (a *audit) meansTwice(r *Rule, object *strictjson.Value, meaning func(string) string) {
	list := members(object)
	if len(list) < 2 {
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
			a.flag(r, Finding{Code: "structure.name_twice", Tier: High, Stage: StageStructure, Bucket: WorkDefect, Pointer: m.Value.Pointer(),
				Message: fmt.Sprintf("%q and %q are one name with two values; nobody can say which of them counts", clip(was.Key), clip(m.Key)),
				Fix:     &Fix{Text: "keep one of them"}})
		}
	}
}
