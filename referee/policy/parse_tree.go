package policy

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// ParseTree reads an expression of a sheet: a JSON tree, or a text where the value is a string. The error is an *Error.
func ParseTree(v *strictjson.Value, n *Names) (*Expr, error) {
	e, err := parseTree(v, n)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parseTree(v *strictjson.Value, n *Names) (e *Expr, err *Error) {
	defer catchRefusal(&err)
	if v == nil {
		refuse(place{}, "write a condition, like \"dscr >= 1.20\"", "the expression is absent")
	}
	b := &builder{names: n, scope: n.rootScope()}
	root := b.buildEmbedded(v)
	return finishExpr(root, b), nil
}

// buildEmbedded reads a place where a string is an expression written as text: the whole, and the row expressions of
// agg.
func (b *builder) buildEmbedded(v *strictjson.Value) *node {
	if text, ok := v.Str(); ok {
		return b.textIn(v, text)
	}
	return b.buildTree(v)
}

// textIn parses a text that stands in a tree; a refusal keeps the column and gains the place of the string.
func (b *builder) textIn(v *strictjson.Value, text string) *node {
	defer func() {
		r := recover()
		if ref, ok := r.(refusal); ok && ref.err.Pointer == "" && ref.err.Src == "" {
			ref.err.Src, ref.err.Pointer, ref.err.Pos = text, v.Pointer(), v.Pos
		}
		if r != nil {
			panic(r)
		}
	}()
	return b.parseWhole(newLexer(text, place{json: v}))
}

// buildTree reads one operand or operation.
func (b *builder) buildTree(v *strictjson.Value) *node {
	p := place{json: v}
	defer b.enterLevel(p)()
	switch v.Kind {
	case strictjson.Object:
		return b.buildObject(v, p)
	case strictjson.Array:
		return b.addList(b.buildTrees(v), p)
	case strictjson.Null:
		refuse(p, "a missing value makes a rule skip; nonempty asks for content", "null is not a value")
	case strictjson.Number:
		return b.jsonNumber(v, p)
	}
	return b.addLiteral(FromJSON(v), p)
}

func (b *builder) jsonNumber(v *strictjson.Value, p place) *node {
	if v.OutOfRange {
		refuse(p, "exponents lie within ±300", "the number is out of range")
	}
	return b.addNumber(v.Text, p)
}

func (b *builder) buildTrees(v *strictjson.Value) []*node {
	if v.Kind != strictjson.Array {
		refuse(place{json: v}, "write [a, b]", "expected a list of operands")
	}
	out := make([]*node, len(v.Items))
	for i, item := range v.Items {
		out[i] = b.buildTree(item)
	}
	return out
}

func (b *builder) buildObject(v *strictjson.Value, p place) *node {
	if op := v.Get("op"); op != nil {
		return b.buildOperation(v, op, p)
	}
	if len(v.Members) == 0 {
		refuse(p, `write {"op": …}, {"calc": …}, {"field": …}`, "an operand without a key")
	}
	for _, m := range v.Members {
		if read, ok := operands[m.Key]; ok {
			return read(b, v, m.Value)
		}
	}
	first := v.Members[0]
	if byName[first.Key] == nil {
		known := append(slices.Clone(operandNames), functionNames...)
		refuseNear(p, nearest.Word(first.Key, known), `write {"op": …}, {"calc": …}, {"field": …}`, "unknown key %s",
			quoteShort(first.Key))
	}
	b.checkKeys(v, first.Key)
	return b.buildFunction(first.Key, first.Value, p)
}

// checkKeys refuses every member but those named.
func (b *builder) checkKeys(v *strictjson.Value, known ...string) {
	for _, m := range v.Members {
		if !slices.Contains(known, m.Key) {
			refuseNear(place{json: m.Value}, nearest.Word(m.Key, known), "known here: "+strings.Join(known, ", "),
				"unknown key %s", quoteShort(m.Key))
		}
	}
}

func (b *builder) needMember(v *strictjson.Value, key string) *strictjson.Value {
	m := v.Get(key)
	if m == nil {
		refuse(place{json: v}, "add it", "the key %s is missing", quoteShort(key))
	}
	return m
}

func (b *builder) needText(v *strictjson.Value, what string) string {
	s, ok := v.Str()
	if !ok {
		refuse(place{json: v}, "write it in quotes", "%s must be a text", what)
	}
	return s
}

// operandNames lists the keys of operands in a fixed order.
var operandNames = []string{"calc", "claimed", "field", "literal", "const", "param", "input", "lexicon", "calendar",
	"row", "outer", "list",
	"member", "index", "slice", "len", "expr", "text", "set"}

// operands read the operands that are more than a function with its arguments (rules.md 1.1).
var operands map[string]func(b *builder, v, arg *strictjson.Value) *node

func init() { // a map literal would be an initialisation cycle: operands contain operands
	operands = map[string]func(b *builder, v, arg *strictjson.Value) *node{
		"calc": (*builder).calcTree, "claimed": nameTree(kClaimed, "claimed"), "const": nameTree(kConst, "const"),
		"param": nameTree(kConst, "param"),
		"input": nameTree(kInput, "input"), "lexicon": nameTree(kLexicon, "lexicon"),
		"calendar": nameTree(kCalendar, "calendar"),
		"field":    (*builder).fieldTree, "literal": (*builder).literalTree, "list": (*builder).listTree,
		"row": rowTree("row", 0), "outer": rowTree("outer", 1),
		"member": (*builder).memberTree, "index": (*builder).indexTree, "slice": (*builder).sliceTree,
		"len": (*builder).lenTree, "expr": (*builder).exprTree, "text": (*builder).metricTree,
		"set": (*builder).setTree,
	}
}

func nameTree(k kind, key string) func(b *builder, v, arg *strictjson.Value) *node {
	return func(b *builder, v, arg *strictjson.Value) *node {
		b.checkKeys(v, key)
		return b.namedNode(k, b.needText(arg, key), place{json: arg})
	}
}

// calcTree reads {"calc": id, "view"?: "claimed" | "recomputed", "round"?: n} (S14, S15).
func (b *builder) calcTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "calc", "view", "round")
	k := kCalc
	if view := v.Get("view"); view != nil {
		switch b.needText(view, "view") {
		case "claimed":
			k = kClaimed
		case "recomputed":
		default:
			refuse(place{json: view}, "the views are recomputed and claimed", "unknown view %s", quoteShort(view.Text))
		}
	}
	n := b.namedNode(k, b.needText(arg, "calc"), place{json: arg})
	if places := v.Get("round"); places != nil {
		c := b.newCall("round", place{json: v})
		c.setArg(0, n, place{json: arg})
		c.setArg(1, b.buildTree(places), place{json: places})
		return c.finishCall()
	}
	return n
}

func (b *builder) fieldTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "field")
	return b.newPath(b.needText(arg, "field"), place{json: arg})
}

func (b *builder) literalTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "literal")
	if arg.Kind == strictjson.Object {
		refuse(place{json: arg}, "declare a table as a const",
			"a literal is a number, a text, true, false or a list of them")
	}
	if arg.Kind == strictjson.Array {
		for _, item := range arg.Items {
			if item.Kind == strictjson.Object {
				refuse(place{json: item}, "declare a table as a const",
					"a literal list holds numbers, texts, true and false")
			}
		}
	}
	return b.buildTree(arg)
}

func (b *builder) listTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "list")
	return b.addList(b.buildTrees(arg), place{json: v})
}

// rowTree reads {"row": "field"} and {"row": true} for the row itself; {"outer": …, "up"?: n} likewise for the rows
// around it.
func rowTree(key string, up int) func(b *builder, v, arg *strictjson.Value) *node {
	return func(b *builder, v, arg *strictjson.Value) *node {
		b.checkKeys(v, key, "up")
		p, levels := place{json: v}, up
		if n := v.Get("up"); n != nil {
			i, ok := n.Int()
			if !ok || i < 1 || i > maxDepth || up == 0 {
				refuse(place{json: n}, "1 is the row around this one", "up must be a number from 1 of an outer row")
			}
			levels = int(i)
		}
		row := b.rowNode(levels, p)
		if arg.Kind == strictjson.Bool && arg.Text == "true" {
			return row
		}
		return b.fieldNode(b.needText(arg, key), levels, p)
	}
}

func (b *builder) memberTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "member", "of")
	return b.memberNode(b.buildTree(b.needMember(v, "of")), b.needText(arg, "member"), place{json: v})
}

func (b *builder) indexTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "index", "of")
	return b.indexNode(b.buildTree(b.needMember(v, "of")), b.buildTree(arg), place{json: v})
}

func (b *builder) sliceTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "slice", "from", "to")
	bound := func(key string) *node {
		if m := v.Get(key); m != nil {
			return b.buildTree(m)
		}
		return nil
	}
	return b.sliceNode(b.buildTree(arg), bound("from"), bound("to"), place{json: v})
}

// lenTree reads {"len": path or operand}: a string is a path here (S29).
func (b *builder) lenTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "len")
	return b.buildFunction("len", arg, place{json: v})
}

func (b *builder) exprTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "expr")
	return b.textIn(arg, b.needText(arg, "expr"))
}
