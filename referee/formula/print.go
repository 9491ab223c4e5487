package formula

import (
	"strings"
	"unicode"
)

// symbols are the operators as Canonical writes them, with the level of their operands.
var symbols = map[operator]struct {
	text        string
	level       int
	left, right int
}{
	opAdd:      {" + ", levelSum, levelSum, levelProduct},
	opSub:      {" - ", levelSum, levelSum, levelProduct},
	opMul:      {" * ", levelProduct, levelProduct, levelUnary},
	opDiv:      {" / ", levelProduct, levelProduct, levelUnary},
	opFloorDiv: {" // ", levelProduct, levelProduct, levelUnary},
	opMod:      {" % ", levelProduct, levelProduct, levelUnary},
	opPow:      {" ** ", levelPower, levelAtom, levelUnary},
}

// String is the canonical text of the tree below n.
func (n *node) String() string {
	var b strings.Builder
	n.printNode(&b, levelSum)
	return b.String()
}

// printNode writes n, in brackets where it binds less tightly than level.
func (n *node) printNode(b *strings.Builder, level int) {
	if n.bindingLevel() < level {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.op {
	case opNum:
		b.WriteString(n.literal)
	case opVar:
		b.WriteString(quoteName(n.name))
	case opNeg:
		b.WriteByte('-')
		n.args[0].printNode(b, levelUnary)
	case opCall:
		b.WriteString(n.fn.name + "(")
		for i, a := range n.args {
			if i > 0 {
				b.WriteString(", ")
			}
			a.printNode(b, levelSum)
		}
		b.WriteByte(')')
	default:
		s := symbols[n.op]
		n.args[0].printNode(b, s.left)
		b.WriteString(s.text)
		n.args[1].printNode(b, s.right)
	}
}

func (n *node) bindingLevel() int {
	switch n.op {
	case opNum, opVar, opCall:
		return levelAtom
	case opNeg:
		return levelUnary
	}
	return symbols[n.op].level
}

// quoteName writes a name of words with single spaces as it is, any other between backquotes, so that no name looks
// like an expression.
func quoteName(name string) string {
	plain := name != ""
	last := ' '
	for _, r := range name {
		switch {
		case r == ' ':
			plain = plain && last != ' '
		case last == ' ':
			plain = plain && isWordStart(r)
		default:
			plain = plain && isWord(r)
		}
		last = r
	}
	if plain && last != ' ' && !unicode.IsSpace(last) && !conditions[name] {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
