package policy

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
)

// builder makes nodes for both spellings and refuses whatever could never be evaluated: it is where S26 and S31 live.
type builder struct {
	names *Names
	scope *scope
	count int
	level int // of the parser's own recursion
}

// maxRecursion bounds what a parser descends before any node exists (parentheses, nested trees).
const maxRecursion = 4 * maxDepth

func (b *builder) enterLevel(p place) func() {
	if b.level++; b.level > maxRecursion {
		refuse(p, "split the rule", "nested too deeply")
	}
	return func() { b.level-- }
}

func (b *builder) addNode(n node, p place) *node {
	n.place = p
	for _, a := range n.args {
		if a != nil {
			n.depth = max(n.depth, a.depth)
		}
	}
	if n.depth++; n.depth > maxDepth {
		refuse(p, "split the rule, or declare a calculation for a part of it", "nested more than %d deep", maxDepth)
	}
	if b.count++; b.count > maxNodes {
		refuse(p, "split the rule", "more than %d operands and operations", maxNodes)
	}
	return &n
}

func (b *builder) addLiteral(v Val, p place) *node {
	return b.addNode(node{kind: kLit, lit: v, typ: typeOfKind(v.Kind)}, p)
}

// addNumber makes a number literal. Numbers are compared at 28 digits (S13a), so a longer literal would promise too
// much.
func (b *builder) addNumber(text string, p place) *node {
	n, err := decimal.Parse(text)
	if err != nil {
		refuse(p, "write it like 1200, 0.05 or 1e6", "%s is not a number of the language", quoteShort(text))
	}
	if countDigits(text) > 28 {
		refuse(p, "28 significant digits are compared", "the number has too many digits")
	}
	back, err := decimal.Parse(n.String())
	if err != nil || outOfRange(n.String()) {
		refuse(p, "exponents lie within ±300", "the number %s is out of range", quoteShort(text))
	}
	return b.addLiteral(Number(back), p)
}

func countDigits(text string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	only := strings.Map(func(r rune) rune {
		if isDigit(r) {
			return r
		}
		return -1
	}, mantissa)
	return len(strings.Trim(only, "0"))
}

// outOfRange is S11's bound on the exponent, applied to a canonical number.
func outOfRange(canonical string) bool {
	_, exponent, found := strings.Cut(canonical, "e")
	n, err := strconv.Atoi(exponent)
	return found && (err != nil || n > 300 || n < -300)
}

// addList makes a list of operands.
func (b *builder) addList(items []*node, p place) *node {
	return b.addNode(node{kind: kList, args: items, typ: tList}, p)
}

// bareName resolves a name as rules.md 1 orders: inside a row expression a field of the row comes last, and a name that
// is known to be both is refused.
func (b *builder) bareName(name string, p place) *node {
	k, declared := b.names.bareKind(name)
	if b.scope != nil {
		switch {
		case name == "row":
			return b.rowNode(0, p)
		case name == "outer" && b.scope.up != nil:
			return b.rowNode(1, p)
		case declared && slices.Contains(b.scope.fields, name):
			refuse(p, "write row."+name+" for the field, "+prefixOf[k]+"."+name+" for the other",
				"%s is a field of the row and %s", quoteShort(name), nounOf[k])
		case !declared:
			return b.fieldNode(name, 0, p)
		}
	}
	if !declared {
		b.unknownName(name, p)
	}
	return b.namedNode(k, name, p)
}

var nounOf = map[kind]string{kCalc: "a calculation", kClaimed: "a calculation", kConst: "a const",
	kInput:   "a declared input",
	kLexicon: "a lexicon", kCalendar: "a calendar"}

func (b *builder) unknownName(name string, p place) {
	var known []string
	for _, k := range order {
		known = append(known, b.names.knownNames(k)...)
	}
	hint := "a name is a calculation, a const or a declared input of the sheet"
	if name == "row" || name == "outer" {
		hint, known = "rows exist only inside agg and for_each", nil
	}
	refuseNear(p, nearest.Word(name, known), hint, "unknown name %s", quoteShort(name))
}

// namedNode makes a node for a written-out name: calc.x, const.X, inputs.x, lexicon.X, calendar.X, claimed("x").
func (b *builder) namedNode(k kind, name string, p place) *node {
	if k == kCalc || k == kClaimed {
		name = b.names.calcID(name)
	}
	if !b.names.isDeclared(k, name) {
		refuseNear(p, nearest.Word(name, b.names.knownNames(k)), "declare it in the sheet", "%s is not %s of the sheet",
			quoteShort(name), nounOf[k])
	}
	n := node{kind: k, name: name, typ: b.names.typeOf(k, name), prefix: b.needsPrefix(k, name)}
	switch k {
	case kConst:
		n.lit = FromJSON(b.names.Consts[name])
	case kLexicon:
		for _, phrase := range b.names.Lexicons[name] {
			n.lit.List = append(n.lit.List, Text(phrase))
		}
		n.lit.Kind = List
	case kCalendar:
		n.cal = newCalendar(b.names.Calendars[name], name, p)
	}
	return b.addNode(n, p)
}

// needsPrefix says whether the bare name would be read as something else here.
func (b *builder) needsPrefix(k kind, name string) bool {
	first, _ := b.names.bareKind(name)
	if b.scope != nil && (name == "row" || name == "outer" || slices.Contains(b.scope.fields, name)) {
		return true
	}
	return !isName(name) || first != k || prefixes[name] != 0
}

func (b *builder) rowNode(up int, p place) *node {
	s := b.scope
	for range up {
		if s != nil {
			s = s.up
		}
	}
	if s == nil {
		refuse(p, "use it inside agg or for_each", "no row in this place")
	}
	return b.addNode(node{kind: kRow, up: up, typ: tAny}, p)
}

func (b *builder) fieldNode(name string, up int, p place) *node {
	_, declared := b.names.bareKind(name)
	prefix := up > 0 || declared || !isName(name) || name == "row" || name == "outer" || prefixes[name] != 0
	return b.addNode(node{kind: kField, name: name, up: up, typ: tAny, prefix: prefix}, p)
}

// memberNode is .name of an operand: of a row its field, of a number or text nothing.
func (b *builder) memberNode(of *node, name string, p place) *node {
	if of.kind == kRow {
		return b.fieldNode(name, of.up, p)
	}
	b.wantType(of, tObj, "the operand before ."+name)
	return b.addNode(node{kind: kMember, name: name, args: []*node{of}, typ: tAny}, p)
}

func (b *builder) indexNode(of, at *node, p place) *node {
	if at.kind == kLit && at.lit.Kind == Str {
		return b.memberNode(of, at.lit.Str, p)
	}
	b.wantType(of, tList|tObj, "the operand before [")
	b.wantType(at, tNum|tStr, "a subscript")
	return b.addNode(node{kind: kIndex, args: []*node{of, at}, typ: tAny}, p)
}

func (b *builder) sliceNode(of, from, to *node, p place) *node {
	b.wantType(of, tList, "the operand before [")
	for _, n := range []*node{from, to} {
		if n != nil {
			b.wantType(n, tNum, "the bound of a slice")
		}
	}
	return b.addNode(node{kind: kSlice, args: []*node{of, from, to}, typ: tList}, p)
}

// wantType refuses an operand that can never have the type that is needed.
func (b *builder) wantType(n *node, t typ, what string) {
	if n.typ&t == 0 {
		refuse(n.place, "", "%s must be %s, and this is %s", what, t, n.typ)
	}
}

func (b *builder) logicNode(k kind, terms []*node, p place) *node {
	for _, t := range terms {
		b.wantType(t, tBool, "an operand of "+map[kind]string{kAnd: "and", kOr: "or", kNot: "not"}[k])
	}
	return b.addNode(node{kind: k, args: terms, typ: tBool}, p)
}

// conditionalNode is a if c else b; other is nil for if(c, a), which is a statement and so must be true or false (S27).
func (b *builder) conditionalNode(cond, then, other *node, p place) *node {
	b.wantType(cond, tBool, "a condition")
	t := then.typ
	if other == nil {
		b.wantType(then, tBool, "what a condition without else asks for")
		t = tBool
	} else {
		t |= other.typ
	}
	return b.addNode(node{kind: kIf, args: []*node{cond, then, other}, typ: t}, p)
}

// compareNode is a chain a < b < c. Types that can never be equal are refused here, not found unknown for ever (S25,
// S26).
func (b *builder) compareNode(operands []*node, ops []string, p place) *node {
	for i, op := range ops {
		l, r := operands[i], operands[i+1]
		ok := tAny
		if op != "==" && op != "!=" {
			ok = tNum | tStr
		}
		b.wantType(l, ok, "the left of "+op)
		b.wantType(r, ok, "the right of "+op)
		if l.typ&r.typ == 0 {
			refuse(r.place, "compare like with like", "%s cannot be compared with %s", l.typ, r.typ)
		}
		b.noWild(l, op)
		b.noWild(r, op)
	}
	return b.addNode(node{kind: kCompare, args: operands, ops: ops, typ: tBool}, p)
}

func (b *builder) noWild(n *node, where string) {
	if n.kind == kPath && slices.ContainsFunc(n.path, func(s seg) bool { return s.wild }) {
		refuse(n.place, "use [*] inside len, all_nonempty, agg or a function of lists", "[*] cannot be used beside %s",
			where)
	}
}

// membershipNode is membership; a list written out must have items of one type, and at least one (S31).
func (b *builder) membershipNode(not bool, x, set *node, p place) *node {
	if set.typ&tList == 0 && set.typ&tStr != 0 {
		refuse(set.place, "write contains(text, phrase)", "in looks into a list, and this is a text")
	}
	b.wantType(set, tList, "the right of in")
	if set.kind == kList {
		b.oneType(set)
		if x.typ&set.args[0].typ == 0 {
			refuse(set.place, "compare like with like", "%s is never in a list of %s", x.typ, set.args[0].typ)
		}
	}
	k := kIn
	if not {
		k = kNotIn
	}
	return b.addNode(node{kind: k, args: []*node{x, set}, typ: tBool}, p)
}

func (b *builder) oneType(set *node) {
	if len(set.args) == 0 {
		refuse(set.place, "name at least one value", "an empty list holds nothing")
	}
	for _, item := range set.args[1:] {
		if item.typ&set.args[0].typ == 0 {
			refuse(item.place, "write items of one type", "the list mixes %s with %s", set.args[0].typ, item.typ)
		}
	}
}

// negateNode is unary minus; of a number written out it is that number.
func (b *builder) negateNode(x *node, p place) *node {
	b.wantType(x, tNum, "the operand of -")
	if x.kind == kLit {
		return b.addLiteral(Number(decimal.Neg(x.lit.Num)), p)
	}
	return b.addNode(node{kind: kNeg, args: []*node{x}, typ: tNum}, p)
}

func (b *builder) arithNode(op string, l, r *node, p place) *node {
	b.wantType(l, tNum, "the left of "+op)
	b.wantType(r, tNum, "the right of "+op)
	return b.addNode(node{kind: kArith, op: op, args: []*node{l, r}, typ: tNum}, p)
}

// compilePattern reads a regular expression at load, so that no rule first fails on a submission. Only reading it can
// fail; it is compiled when it is first asked, as most of a library's are not.
func compilePattern(text string, p place) func() *regexp.Regexp {
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		refuse(p, "the syntax is RE2's", "the pattern does not compile: %v", err)
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
