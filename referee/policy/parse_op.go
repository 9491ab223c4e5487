package policy

import (
	"slices"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// opNames lists the operators of a tree; functions are operators too.
var opNames = []string{"==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "not", "if", "chain", "neg",
	"+", "-", "*", "/", "//", "%", "**"}

// buildOperation reads {"op": …}.
func (b *builder) buildOperation(v, opv *strictjson.Value, p place) *node {
	op := b.needText(opv, "op")
	switch op {
	case "and", "or":
		b.checkKeys(v, "op", "terms")
		return b.termsTree(v, op, p)
	case "not":
		b.checkKeys(v, "op", "term")
		return b.logicNode(kNot, []*node{b.buildTree(b.needMember(v, "term"))}, p)
	case "neg":
		b.checkKeys(v, "op", "term")
		return b.negateNode(b.buildTree(b.needMember(v, "term")), p)
	case "if":
		return b.ifTree(v, p)
	case "chain":
		return b.chainTree(v, p)
	}
	if slices.Contains(opNames, op) {
		return b.binaryTree(v, op, p)
	}
	if byName[op] == nil {
		known := append(slices.Clone(opNames), functionNames...)
		refuseNear(place{json: opv}, nearest.Word(op, known), "", "unknown operator %s", quoteShort(op))
	}
	return b.buildCalled(op, v, p)
}

func (b *builder) termsTree(v *strictjson.Value, op string, p place) *node {
	terms := b.buildTrees(b.needMember(v, "terms"))
	if len(terms) == 0 {
		refuse(p, "name at least one term", "%s of nothing", op)
	}
	if len(terms) == 1 { // one term is itself, which is how its text reads
		b.wantType(terms[0], tBool, "an operand of "+op)
		return terms[0]
	}
	return b.logicNode(map[string]kind{"and": kAnd, "or": kOr}[op], terms, p)
}

func (b *builder) ifTree(v *strictjson.Value, p place) *node {
	b.checkKeys(v, "op", "cond", "then", "else")
	var other *node
	cond, then := b.buildTree(b.needMember(v, "cond")), b.buildTree(b.needMember(v, "then"))
	if m := v.Get("else"); m != nil {
		other = b.buildTree(m)
	}
	return b.conditionalNode(cond, then, other, p)
}

// chainTree reads {"op": "chain", "ops": ["<=", "<="], "terms": [a, b, c]}.
func (b *builder) chainTree(v *strictjson.Value, p place) *node {
	b.checkKeys(v, "op", "ops", "terms")
	opsv := b.needMember(v, "ops")
	terms := b.buildTrees(b.needMember(v, "terms"))
	if opsv.Kind != strictjson.Array || len(opsv.Items) < 1 || len(terms) != len(opsv.Items)+1 {
		refuse(p, "write one operator between each two terms",
			"a chain has %d terms and another number of operators than %d", len(terms), len(terms)-1)
	}
	ops := make([]string, len(opsv.Items))
	for i, item := range opsv.Items {
		if ops[i] = b.needText(item, "an operator"); !comparisons[ops[i]] {
			refuse(place{json: item}, "a chain takes == != < <= > >=", "unknown operator %s", quoteShort(ops[i]))
		}
	}
	return b.compareNode(terms, ops, p)
}

func (b *builder) binaryTree(v *strictjson.Value, op string, p place) *node {
	b.checkKeys(v, "op", "left", "right")
	left, right := b.buildTree(b.needMember(v, "left")), b.buildTree(b.needMember(v, "right"))
	switch {
	case comparisons[op]:
		return b.compareNode([]*node{left, right}, []string{op}, p)
	case op == "in" || op == "not in":
		return b.membershipNode(op == "not in", left, right, p)
	}
	return b.arithNode(op, left, right, p)
}

// buildFunction reads {"name": …}: a list is the arguments by place, an object of parameters the arguments by name,
// anything else the one argument.
func (b *builder) buildFunction(name string, arg *strictjson.Value, p place) *node {
	c := b.newCall(name, p)
	switch {
	case arg.Kind == strictjson.Array:
		c.readPositionals(arg)
	case arg.Kind == strictjson.Object && c.namesArguments(arg):
		c.readMembers(arg)
	default:
		i := c.argPosition(p)
		c.setArg(i, c.treeArgument(i, arg), p)
	}
	return c.finishCall()
}

// namesArguments tells {"of": …, "cuts": …} from an operand, {"calc": …}.
func (c *call) namesArguments(v *strictjson.Value) bool {
	if c.fn.name == "agg" {
		return true
	}
	return !slices.ContainsFunc(v.Members,
		func(m strictjson.Member) bool { return c.fn.paramIndex(paramAlias(c.fn, m.Key)) < 0 })
}

// buildCalled reads {"op": "name", "args": […], "where": …}.
func (b *builder) buildCalled(name string, v *strictjson.Value, p place) *node {
	c := b.newCall(name, p)
	if args := v.Get("args"); args != nil {
		c.readPositionals(args)
	}
	c.readMembers(v, "op", "args")
	return c.finishCall()
}

func (c *call) readPositionals(args *strictjson.Value) {
	if args.Kind != strictjson.Array {
		refuse(place{json: args}, "write [a, b]", "args must be a list")
	}
	for _, item := range args.Items {
		i := c.argPosition(place{json: item})
		c.setArg(i, c.treeArgument(i, item), place{json: item})
	}
}

// readMembers reads arguments by name, in the order of the parameters, so that agg knows its rows before its row
// expressions.
func (c *call) readMembers(v *strictjson.Value, except ...string) {
	byParam := map[int]*strictjson.Value{}
	for _, m := range v.Members {
		if slices.Contains(except, m.Key) {
			continue
		}
		i := c.keywordPosition(paramAlias(c.fn, m.Key), place{json: m.Value})
		if byParam[i] != nil {
			refuse(place{json: m.Value}, "write it once", "the argument %s is given twice", quoteShort(m.Key))
		}
		byParam[i] = m.Value
	}
	for i := range c.fn.params {
		if m := byParam[i]; m != nil {
			c.setArg(i, c.treeArgument(i, m), place{json: m})
		}
	}
}

func (c *call) treeArgument(i int, v *strictjson.Value) *node {
	switch c.fn.paramAt(i).form {
	case fRow:
		return c.inRow(func() *node { return c.buildEmbedded(v) }, place{json: v})
	case fPath:
		if path, ok := v.Str(); ok {
			return c.newPath(path, place{json: v})
		}
	}
	return c.buildTree(v)
}

// paramAlias are the words of rules.md 1.1 and of the source documents for a parameter.
func paramAlias(fn *function, key string) string {
	for _, a := range paramAliases {
		if a.fn == fn.name && a.alias == key {
			return a.name
		}
	}
	return key
}

var paramAliases = []struct{ fn, alias, name string }{
	{"band", "of", "x"}, {"piecewise", "of", "x"}, {"all_nonempty", "array", "over"}, {"approx", "left", "a"},
	{"approx", "right", "b"},
	{"len", "path", "x"}, {"data", "evidence_id", "id"}, {"prior", "receipt_sha", "sha"},
	{"matches", "regex", "pattern"},
	{"implies", "left", "if"}, {"implies", "right", "then"},
}

// metricTree reads the text operand, {"text": {"metric": "fk_grade", "path": "final_output"}}: the function named by
// the metric.
func (b *builder) metricTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "text")
	b.checkKeys(arg, "metric", "path", "of")
	metric := b.needMember(arg, "metric")
	name := b.needText(metric, "metric")
	if !slices.Contains(textMetrics, name) {
		refuseNear(place{json: metric}, nearest.Word(name, textMetrics), "", "unknown metric %s", quoteShort(name))
	}
	from := arg.Get("path")
	if from == nil {
		from = b.needMember(arg, "of")
	}
	return b.buildFunction(name, from, place{json: v})
}

// setTree reads the set operand: {"list": …}, {"path": "claims[*].ref"} or {"text", "pattern", "group"?}, with
// "normalise"?.
func (b *builder) setTree(v, arg *strictjson.Value) *node {
	b.checkKeys(v, "set")
	b.checkKeys(arg, "list", "path", "text", "pattern", "group", "normalise")
	p := place{json: v}
	var n *node
	switch {
	case arg.Get("list") != nil:
		b.checkKeys(arg, "list", "normalise")
		n = b.buildTree(arg.Get("list"))
	case arg.Get("path") != nil:
		b.checkKeys(arg, "path", "normalise")
		n = b.newPath(b.needText(arg.Get("path"), "path"), p)
	default:
		n = b.extractTree(arg, p)
	}
	if how := arg.Get("normalise"); how != nil {
		c := b.newCall("normalise", p)
		c.setArg(0, n, p)
		for _, step := range normaliseSteps {
			if on := how.Get(step); on != nil && on.Text == "true" {
				c.setArg(len(c.given), b.addLiteral(Text(step), p), p)
			}
		}
		b.checkKeys(how, normaliseSteps...)
		n = c.finishCall()
	}
	return n
}

func (b *builder) extractTree(arg *strictjson.Value, p place) *node {
	c := b.newCall("extract", p)
	for i, key := range []string{"text", "pattern", "group"} {
		if m := arg.Get(key); m != nil {
			c.setArg(i, c.treeArgument(i, m), place{json: m})
		}
	}
	return c.finishCall()
}
