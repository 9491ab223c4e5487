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

func (w *printer) putText(s string) {
	if w.over = w.over || w.b.Len()+len(s) > 4*maxText; !w.over {
		w.b.WriteString(s)
	}
}

// printText is the text of a node; ok is false if it is longer than a text may be.
func printText(n *node) (text string, ok bool) {
	w := &printer{}
	w.printNode(n, atIf)
	return w.b.String(), !w.over && len([]rune(w.b.String())) <= maxText
}

func (w *printer) printNode(n *node, least int) {
	if w.over {
		return
	}
	if n.precedence() < least {
		w.putText("(")
		w.printBare(n)
		w.putText(")")
		return
	}
	w.printBare(n)
}

func (w *printer) printBare(n *node) {
	switch n.kind {
	case kLit:
		w.putText(literalText(n.lit))
	case kList:
		w.putText("[")
		w.printList(n.args)
		w.putText("]")
	case kCalc, kConst, kInput, kLexicon, kCalendar:
		w.printName(n)
	case kClaimed:
		w.putText("claimed(" + quoteBest(n.name) + ")")
	case kRow:
		w.putText(rowText(n.up))
	case kField:
		w.printField(n)
	case kPath:
		w.putText("field(" + quoteBest(n.pathText()) + ")")
	case kSpace:
		w.putText(n.name)
	case kMember, kIndex, kSlice:
		w.printPostfix(n)
	case kCall:
		w.printCall(n)
	default:
		w.printOperation(n)
	}
}

func rowText(up int) string {
	if up == 0 {
		return "row"
	}
	return "outer" + strings.Repeat(".outer", up-1)
}

func (w *printer) printName(n *node) {
	switch {
	case !n.prefix:
		w.putText(n.name)
	case isName(n.name):
		w.putText(prefixOf[n.kind] + "." + n.name)
	default:
		w.putText(prefixOf[n.kind] + "[" + quoteBest(n.name) + "]")
	}
}

func (w *printer) printField(n *node) {
	switch {
	case !n.prefix:
		w.putText(n.name)
	case isName(n.name) && !(n.up > 0 && n.name == "outer"):
		w.putText(rowText(n.up) + "." + n.name)
	default:
		w.putText(rowText(n.up) + "[" + quoteBest(n.name) + "]")
	}
}

func (w *printer) printPostfix(n *node) {
	w.printNode(n.args[0], atPostfix)
	switch {
	case n.kind == kMember && isName(n.name):
		w.putText("." + n.name)
	case n.kind == kMember:
		w.putText("[" + quoteBest(n.name) + "]")
	case n.kind == kIndex:
		w.putText("[")
		w.printNode(n.args[1], atIf)
		w.putText("]")
	default:
		w.putText("[")
		w.printOptional(n.args[1])
		w.putText(":")
		w.printOptional(n.args[2])
		w.putText("]")
	}
}

func (w *printer) printOptional(n *node) {
	if n != nil {
		w.printNode(n, atIf)
	}
}

func (w *printer) printList(items []*node) {
	for i, item := range items {
		if i > 0 {
			w.putText(", ")
		}
		w.printNode(item, atIf)
	}
}

func (w *printer) printCall(n *node) {
	w.putText(n.fn.name + "(")
	byName, first := false, true
	for i, a := range n.args {
		prm := n.fn.paramAt(i)
		if a == nil {
			byName = true
			continue
		}
		if !first {
			w.putText(", ")
		}
		first = false
		if byName || prm.keyword {
			byName = true
			w.putText(prm.name + "=")
		}
		if prm.form == fRow {
			inner, ok := printText(a)
			w.over = w.over || !ok
			w.putText(quoteBest(inner))
			continue
		}
		w.printNode(a, atIf)
	}
	w.putText(")")
}

func (w *printer) printOperation(n *node) {
	switch n.kind {
	case kAnd, kOr:
		word, least := " and ", atAnd+1
		if n.kind == kOr {
			word, least = " or ", atOr+1
		}
		for i, a := range n.args {
			if i > 0 {
				w.putText(word)
			}
			w.printNode(a, least)
		}
	case kNot:
		w.putText("not ")
		w.printNode(n.args[0], atNot)
	case kNeg:
		w.putText("-")
		w.printNode(n.args[0], atNegate)
	case kIf:
		w.printConditional(n)
	case kCompare:
		w.printNode(n.args[0], atSum)
		for i, op := range n.ops {
			w.putText(" " + op + " ")
			w.printNode(n.args[i+1], atSum)
		}
	case kIn, kNotIn:
		w.printNode(n.args[0], atSum)
		w.putText(map[kind]string{kIn: " in ", kNotIn: " not in "}[n.kind])
		w.printNode(n.args[1], atSum)
	case kArith:
		w.printArith(n)
	}
}

func (w *printer) printConditional(n *node) {
	if n.args[2] == nil {
		w.putText("if(")
		w.printList(n.args[:2])
		w.putText(")")
		return
	}
	w.printNode(n.args[1], atOr)
	w.putText(" if ")
	w.printNode(n.args[0], atOr)
	w.putText(" else ")
	w.printNode(n.args[2], atIf)
}

func (w *printer) printArith(n *node) {
	p := n.precedence()
	left, right := p, p+1
	if n.op == "**" {
		left, right = atPostfix, atNegate
	}
	w.printNode(n.args[0], left)
	w.putText(" " + n.op + " ")
	w.printNode(n.args[1], right)
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
	return quoteBest(v.Str)
}

// quoteBest writes a text so that it reads best: raw where it holds backslashes, in the quotes that it does not hold.
func quoteBest(s string) string {
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
