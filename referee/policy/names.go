package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// Names is what an expression may speak of; everything else is refused at load with the nearest match.
type Names struct {
	Calcs  []string
	Consts map[string]*strictjson.Value // numbers, texts, true/false, lists, tables
	// the consts that are parameters of the sheet: param.x and {"param": "x"} name them too
	Params []string
	Inputs []string
	// optional: JSON Schema's type of a declared input, to refuse at load what could never compare
	InputTypes map[string]string
	Lexicons   map[string][]string
	Calendars  map[string]Calendar
	// optional: the fields that rows at a dotted path ("inputs.rows", "claims") are known to have
	RowFields func(path string) []string
	Evidence  []string // ids of declared evidence; nil: any id

	Row  bool   // the whole expression is a row expression (where and check of for_each)
	Over string // dotted path of the rows it is about, for RowFields
}

// Calendar is a named working calendar.
type Calendar struct {
	Weekend  []string // "saturday", "sunday": names in English
	Holidays []string // ISO dates
}

// scope is the rows that a row expression is about.
type scope struct {
	fields []string
	up     *scope
}

func (n *Names) scopeOf(path string, up *scope) *scope {
	s := &scope{up: up}
	if n.RowFields != nil && path != "" {
		s.fields = n.RowFields(path)
	}
	return s
}

// rootScope is the scope that an expression starts in: nil outside of row expressions.
func (n *Names) rootScope() *scope {
	if !n.Row {
		return nil
	}
	return n.scopeOf(n.Over, nil)
}

// prefixes are the written-out name spaces of the text.
var prefixes = map[string]kind{"calc": kCalc, "const": kConst, "param": kConst, "inputs": kInput, "lexicon": kLexicon,
	"calendar": kCalendar}

var prefixOf = map[kind]string{kCalc: "calc", kConst: "const", kInput: "inputs", kLexicon: "lexicon",
	kCalendar: "calendar"}

// order is the order in which a bare name is looked up.
var order = []kind{kCalc, kConst, kInput, kLexicon, kCalendar}

// isDeclared says whether a name of a kind is declared.
func (n *Names) isDeclared(k kind, name string) bool {
	ok := false
	switch k {
	case kCalc, kClaimed:
		ok = slices.Contains(n.Calcs, name)
	case kConst:
		_, ok = n.Consts[name]
	case kInput:
		ok = slices.Contains(n.Inputs, name)
	case kLexicon:
		_, ok = n.Lexicons[name]
	case kCalendar:
		_, ok = n.Calendars[name]
	}
	return ok
}

// knownNames lists the names of a kind in a fixed order.
func (n *Names) knownNames(k kind) []string {
	switch k {
	case kCalc, kClaimed:
		return n.Calcs
	case kConst:
		return slices.Sorted(maps.Keys(n.Consts))
	case kInput:
		return n.Inputs
	case kLexicon:
		return slices.Sorted(maps.Keys(n.Lexicons))
	}
	return slices.Sorted(maps.Keys(n.Calendars))
}

// bareKind is what a bare name means; ok is false if it is not declared at all.
func (n *Names) bareKind(name string) (kind, bool) {
	for _, k := range order {
		if n.isDeclared(k, name) {
			return k, true
		}
	}
	return 0, false
}

// normalName is S18's normal form: lower case, runs of space - _ . as one _, other punctuation dropped.
func normalName(s string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(strings.TrimSpace(legible.Fold(s))) {
		switch {
		case strings.ContainsRune(" \t\r\n-_.", c):
			gap = true
		case c < 0x80 && !isWord(c):
		default:
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(c)
		}
	}
	return b.String()
}

// calcID finds the calculation that a written-out name means: exactly, else by S18's normal form.
func (n *Names) calcID(name string) string {
	if slices.Contains(n.Calcs, name) {
		return name
	}
	for _, id := range n.Calcs {
		if normalName(id) == normalName(name) {
			return id
		}
	}
	return name
}

// typeOf is what is known of a name's type.
func (n *Names) typeOf(k kind, name string) typ {
	switch k {
	case kCalc, kClaimed:
		return tAny // a calculation is a number almost always; a derived label is a text
	case kConst:
		return typeOfJSON(n.Consts[name])
	case kLexicon:
		return tList
	case kCalendar:
		return tCalendar
	}
	declared := map[string]typ{"number": tNum, "integer": tNum, "string": tStr, "boolean": tBool, "array": tList,
		"object": tObj}
	if t := declared[n.InputTypes[name]]; t != 0 {
		return t
	}
	return tAny
}

func typeOfJSON(v *strictjson.Value) typ {
	if t := typeOfKind(FromJSON(v).Kind); t != 0 {
		return t
	}
	return tAny
}
