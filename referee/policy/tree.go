package policy

import (
	"fmt"
	"strings"
)

// treeWriter writes the canonical JSON of a tree: members in the order of their keys' bytes, no white space, canonical
// numbers, strings escaped as RFC 8785 does. These are the bytes that are hashed.
type treeWriter struct{ b strings.Builder }

// member is one member of an object, written in the order given: callers give keys in sorted order, and
// TestTreeIsCanonical checks.
type member struct {
	key   string
	write func(w *treeWriter)
}

func (w *treeWriter) writeObject(members ...member) {
	w.b.WriteByte('{')
	first := true
	for _, m := range members {
		if m.write == nil {
			continue
		}
		if !first {
			w.b.WriteByte(',')
		}
		first = false
		writeJSONString(&w.b, m.key)
		w.b.WriteByte(':')
		m.write(w)
	}
	w.b.WriteByte('}')
}

func str(s string) func(*treeWriter) {
	return func(w *treeWriter) { writeJSONString(&w.b, s) }
}

// sub writes an operand; nil, and so no member at all, for an absent one.
func sub(n *node) func(*treeWriter) {
	if n == nil {
		return nil
	}
	return func(w *treeWriter) { w.writeNode(n) }
}

func arr(nodes []*node) func(*treeWriter) {
	return func(w *treeWriter) {
		w.b.WriteByte('[')
		for i, n := range nodes {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.writeNode(n)
		}
		w.b.WriteByte(']')
	}
}

var leafKeys = map[kind]string{kCalc: "calc", kClaimed: "claimed", kConst: "const", kInput: "input",
	kLexicon: "lexicon", kCalendar: "calendar"}

func (w *treeWriter) writeNode(n *node) {
	switch n.kind {
	case kLit:
		w.b.WriteString(literalJSON(n.lit))
	case kList:
		arr(n.args)(w)
	case kRow, kField:
		w.writeRow(n)
	case kPath:
		w.writeObject(member{"field", str(n.pathText())})
	case kSpace:
		w.writeObject(member{"field", str(n.name)})
	case kMember:
		w.writeObject(member{"member", str(n.name)}, member{"of", sub(n.args[0])})
	case kIndex:
		w.writeObject(member{"index", sub(n.args[1])}, member{"of", sub(n.args[0])})
	case kSlice:
		w.writeObject(member{"from", sub(n.args[1])}, member{"slice", sub(n.args[0])}, member{"to", sub(n.args[2])})
	case kCall:
		w.writeCall(n)
	case kCalc, kClaimed, kConst, kInput, kLexicon, kCalendar:
		w.writeObject(member{leafKeys[n.kind], str(n.name)})
	default:
		w.writeOperation(n)
	}
}

// literalJSON is a literal as the reader of JSON takes it back: 10**34 has 35 digits when it is written out, and at
// most 34 are read (S11).
func literalJSON(v Val) string {
	s := v.writtenText()
	if v.Kind != Num || len(strings.TrimPrefix(s, "-")) <= 34 || strings.ContainsAny(s, ".e") {
		return s
	}
	sign, digits := "", s
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	mantissa := strings.TrimRight(digits, "0")
	if len(mantissa) > 1 {
		mantissa = mantissa[:1] + "." + mantissa[1:]
	}
	return fmt.Sprintf("%s%se+%d", sign, mantissa, len(digits)-1)
}

func (w *treeWriter) writeRow(n *node) {
	what := func(w *treeWriter) { w.b.WriteString("true") }
	if n.kind == kField {
		what = str(n.name)
	}
	if n.up == 0 {
		w.writeObject(member{"row", what})
		return
	}
	var up func(w *treeWriter)
	if n.up > 1 {
		up = func(w *treeWriter) { w.b.WriteString(integerValue(n.up).keyText()) }
	}
	w.writeObject(member{"outer", what}, member{"up", up})
}

func (w *treeWriter) writeOperation(n *node) {
	switch n.kind {
	case kAnd:
		w.writeObject(member{"op", str("and")}, member{"terms", arr(n.args)})
	case kOr:
		w.writeObject(member{"op", str("or")}, member{"terms", arr(n.args)})
	case kNot:
		w.writeObject(member{"op", str("not")}, member{"term", sub(n.args[0])})
	case kNeg:
		w.writeObject(member{"op", str("neg")}, member{"term", sub(n.args[0])})
	case kIf:
		w.writeObject(member{"cond", sub(n.args[0])}, member{"else", sub(n.args[2])}, member{"op", str("if")},
			member{"then", sub(n.args[1])})
	case kCompare:
		w.writeCompare(n)
	default:
		op := map[kind]string{kIn: "in", kNotIn: "not in", kArith: n.op}[n.kind]
		w.writeObject(member{"left", sub(n.args[0])}, member{"op", str(op)}, member{"right", sub(n.args[1])})
	}
}

func (w *treeWriter) writeCompare(n *node) {
	if len(n.ops) == 1 {
		w.writeObject(member{"left", sub(n.args[0])}, member{"op", str(n.ops[0])}, member{"right", sub(n.args[1])})
		return
	}
	ops := func(w *treeWriter) {
		for i, op := range n.ops {
			w.b.WriteByte("[,"[min(i, 1)])
			writeJSONString(&w.b, op)
		}
		w.b.WriteByte(']')
	}
	w.writeObject(member{"op", str("chain")}, member{"ops", ops}, member{"terms", arr(n.args)})
}

// writeCall writes {"args": […], "op": name} with the arguments that have a name as members, and agg as {"agg": {…}}.
func (w *treeWriter) writeCall(n *node) {
	if n.fn.name == "agg" {
		w.writeObject(member{"agg", func(w *treeWriter) {
			w.writeObject(member{"op", sub(n.arg(0))}, member{"over", asOperand(n.arg(1))}, member{"p", sub(n.arg(4))},
				member{"value", asOperand(n.arg(2))},
				member{"where", asOperand(n.arg(3))})
		}})
		return
	}
	places, named := n.args, []member{{"op", str(n.fn.name)}}
	args := func(w *treeWriter) {
		for i, a := range places {
			w.b.WriteByte("[,"[min(i, 1)])
			if n.fn.paramAt(i).form == fPath {
				asOperand(a)(w)
			} else {
				w.writeNode(a)
			}
		}
		w.b.WriteByte(']')
	}
	for i, a := range n.args {
		if a == nil || n.fn.paramAt(i).keyword {
			places = n.args[:i]
			break
		}
	}
	for i := len(places); i < len(n.args); i++ {
		named = append(named, member{n.fn.paramAt(i).name, sub(n.args[i])})
	}
	sortMembers(named)
	w.writeObject(append([]member{{"args", args}}, named...)...)
}

// asOperand writes an operand where a plain string would be read as an expression or a path: a text is written as a
// literal.
func asOperand(n *node) func(*treeWriter) {
	if n != nil && n.kind == kLit && n.lit.Kind == Str {
		return func(w *treeWriter) { w.writeObject(member{"literal", str(n.lit.Str)}) }
	}
	return sub(n)
}

func sortMembers(m []member) {
	for i := range m {
		for j := i; j > 0 && m[j].key < m[j-1].key; j-- {
			m[j], m[j-1] = m[j-1], m[j]
		}
	}
}

// writeJSONString escapes what RFC 8785 escapes and nothing else.
func writeJSONString(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ':
			b.WriteRune(r)
		default:
			if i := strings.IndexRune("\b\t\n\f\r", r); i >= 0 {
				b.WriteByte('\\')
				b.WriteByte("btnfr"[i])
				continue
			}
			b.WriteString(`\u00` + string(hex[r>>4]) + string(hex[r&15]))
		}
	}
	b.WriteByte('"')
}
