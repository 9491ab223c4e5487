package policy

import (
	"strings"
)

// Precedence of the text, loosest first. A part is put in parentheses where it is looser than its place asks for.
const (
	atIf = iota
	atOr
	atAnd
	atNot
	atCompare
	atSum
	atProduct
	atNegate
	atPower
	atPostfix
)

func (n *node) precedence() int {
	switch n.kind {
	case kIf:
		if n.args[2] == nil {
			return atPostfix
		}
		return atIf
	case kOr:
		return atOr
	case kAnd:
		return atAnd
	case kNot:
		return atNot
	case kCompare, kIn, kNotIn:
		return atCompare
	case kNeg:
		return atNegate
	case kArith:
		switch n.op {
		case "+", "-":
			return atSum
		case "**":
			return atPower
		}
		return atProduct
	case kLit:
		if n.lit.Kind == Num && n.lit.Num.IsNeg() {
			return atNegate
		}
	}
	return atPostfix
}

// printer writes the text spelling. It stops growing past the limit of a text, whatever the tree, because each level of
// quoted row expressions can double the backslashes of the one inside.
type printer struct {
	b    strings.Builder
	over bool
}

func (w *printer) put(s string) {
	if w.over = w.over || w.b.Len()+len(s) > 4*maxText; !w.over {
		w.b.WriteString(s)
	}
}

// printText is the text of a node; ok is false if it is longer than a text may be.
func printText(n *node) (text string, ok bool) {
	w := &printer{}
	w.node(n, atIf)
	return w.b.String(), !w.over && len([]rune(w.b.String())) <= maxText
}

func (w *printer) node(n *node, least int) {
	if w.over {
		return
	}
	if n.precedence() < least {
		w.put("(")
		w.bare(n)
		w.put(")")
		return
	}
	w.bare(n)
}

func (w *printer) bare(n *node) {
	switch n.kind {
	case kLit:
		w.put(literalText(n.lit))
	case kList:
		w.put("[")
		w.list(n.args)
		w.put("]")
	case kCalc, kConst, kInput, kLexicon, kCalendar:
		w.name(n)
	case kClaimed:
		w.put("claimed(" + quoted(n.name) + ")")
	case kRow:
		w.put(rowText(n.up))
	case kField:
		w.field(n)
	case kPath:
		w.put("field(" + quoted(n.pathText()) + ")")
	case kSpace:
		w.put(n.name)
	case kMember, kIndex, kSlice:
		w.postfix(n)
	case kCall:
		w.call(n)
	default:
		w.operation(n)
	}
}

func rowText(up int) string {
	if up == 0 {
		return "row"
	}
	return "outer" + strings.Repeat(".outer", up-1)
}

func (w *printer) name(n *node) {
	switch {
	case !n.prefix:
		w.put(n.name)
	case isName(n.name):
		w.put(prefixOf[n.kind] + "." + n.name)
	default:
		w.put(prefixOf[n.kind] + "[" + quoted(n.name) + "]")
	}
}

func (w *printer) field(n *node) {
	switch {
	case !n.prefix:
		w.put(n.name)
	case isName(n.name) && !(n.up > 0 && n.name == "outer"):
		w.put(rowText(n.up) + "." + n.name)
	default:
		w.put(rowText(n.up) + "[" + quoted(n.name) + "]")
	}
}

func (w *printer) postfix(n *node) {
	w.node(n.args[0], atPostfix)
	switch {
	case n.kind == kMember && isName(n.name):
		w.put("." + n.name)
	case n.kind == kMember:
		w.put("[" + quoted(n.name) + "]")
	case n.kind == kIndex:
		w.put("[")
		w.node(n.args[1], atIf)
		w.put("]")
	default:
		w.put("[")
		w.optional(n.args[1])
		w.put(":")
		w.optional(n.args[2])
		w.put("]")
	}
}

func (w *printer) optional(n *node) {
	if n != nil {
		w.node(n, atIf)
	}
}

func (w *printer) list(items []*node) {
	for i, item := range items {
		if i > 0 {
			w.put(", ")
		}
		w.node(item, atIf)
	}
}

func (w *printer) call(n *node) {
	w.put(n.fn.name + "(")
	byName, first := false, true
	for i, a := range n.args {
		prm := n.fn.param(i)
		if a == nil {
			byName = true
			continue
		}
		if !first {
			w.put(", ")
		}
		first = false
		if byName || prm.keyword {
			byName = true
			w.put(prm.name + "=")
		}
		if prm.form == fRow {
			inner, ok := printText(a)
			w.over = w.over || !ok
			w.put(quoted(inner))
			continue
		}
		w.node(a, atIf)
	}
	w.put(")")
}

func (w *printer) operation(n *node) {
	switch n.kind {
	case kAnd, kOr:
		word, least := " and ", atAnd+1
		if n.kind == kOr {
			word, least = " or ", atOr+1
		}
		for i, a := range n.args {
			if i > 0 {
				w.put(word)
			}
			w.node(a, least)
		}
	case kNot:
		w.put("not ")
		w.node(n.args[0], atNot)
	case kNeg:
		w.put("-")
		w.node(n.args[0], atNegate)
	case kIf:
		w.conditional(n)
	case kCompare:
		w.node(n.args[0], atSum)
		for i, op := range n.ops {
			w.put(" " + op + " ")
			w.node(n.args[i+1], atSum)
		}
	case kIn, kNotIn:
		w.node(n.args[0], atSum)
		w.put(map[kind]string{kIn: " in ", kNotIn: " not in "}[n.kind])
		w.node(n.args[1], atSum)
	case kArith:
		w.arith(n)
	}
}

func (w *printer) conditional(n *node) {
	if n.args[2] == nil {
		w.put("if(")
		w.list(n.args[:2])
		w.put(")")
		return
	}
	w.node(n.args[1], atOr)
	w.put(" if ")
	w.node(n.args[0], atOr)
	w.put(" else ")
	w.node(n.args[2], atIf)
}

func (w *printer) arith(n *node) {
	p := n.precedence()
	left, right := p, p+1
	if n.op == "**" {
		left, right = atPostfix, atNegate
	}
	w.node(n.args[0], left)
	w.put(" " + n.op + " ")
	w.node(n.args[1], right)
}

func literalText(v Val) string {
	switch v.Kind {
	case Bool:
		if v.Bool {
			return "True"
		}
		return "False"
	case Num:
		return v.Num.String()
	}
	return quoted(v.Str)
}

// quoted writes a text so that it reads best: raw where it holds backslashes, in the quotes that it does not hold.
func quoted(s string) string {
	q := `"`
	if strings.Contains(s, q) && !strings.Contains(s, "'") {
		q = "'"
	}
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	if plain && strings.Contains(s, `\`) && !strings.Contains(s, q) && !strings.HasSuffix(s, `\`) {
		return "r" + q + s + q
	}
	var b strings.Builder
	b.WriteString(q)
	for _, r := range s {
		switch {
		case r == '\\' || string(r) == q:
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\x` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + q
}
