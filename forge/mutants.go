package forge

import (
	"slices"
	"sync"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// mutation is one way to get an expression wrong: the changed tree, and what was changed in words.
type mutation struct {
	tree *strictjson.Value
	what string
}

// mutations lists what a careless editor could make of an expression: another operator, a bound that moved, and for or,
// a condition left out or turned round, another aggregate, another number or word. say prints a part of the expression.
func mutations(tree *strictjson.Value, constant func(*strictjson.Value) *strictjson.Value,
	say func(*strictjson.Value) string) []mutation {
	m := &mutating{constant: constant, say: say}
	m.node(tree, true, func(v *strictjson.Value) *strictjson.Value { return v })
	return m.out
}

// mutating walks a tree; put builds the whole tree with the part in hand replaced.
type mutating struct {
	constant func(*strictjson.Value) *strictjson.Value
	say      func(*strictjson.Value) string
	out      []mutation
}

type put func(*strictjson.Value) *strictjson.Value

func (m *mutating) add(tree *strictjson.Value, what string) {
	m.out = append(m.out, mutation{tree, what})
}

// child replaces a member of a node.
func child(v *strictjson.Value, key string, p put) put {
	return func(x *strictjson.Value) *strictjson.Value {
		return p(v.With(key, x))
	}
}

// nth replaces an item of a list.
func nth(v *strictjson.Value, i int, p put) put {
	return func(x *strictjson.Value) *strictjson.Value {
		return p(v.WithItem(i, x))
	}
}

// leafKeys are the members whose value is a name or a word of the language, and no operand.
var leafKeys = []string{"input", "calc", "claimed", "const", "lexicon", "calendar", "field", "row", "outer", "up",
	"member", "op"}

// node mutates a part of the tree. truth says that it stands where a condition is asked for.
func (m *mutating) node(v *strictjson.Value, truth bool, p put) {
	switch v.Kind {
	case strictjson.Number:
		m.number(v, p)
	case strictjson.Array:
		m.list(v, p)
	case strictjson.Object:
		m.object(v, truth, p)
	}
}

func (m *mutating) object(v *strictjson.Value, truth bool, p put) {
	switch op := v.TextOf("op"); {
	case v.Get("const") != nil:
		if c := m.constant(v); c.Kind == strictjson.Number {
			m.moved(c, m.say(v), p)
		}
		return
	case v.Get("literal") != nil:
		m.word(v.Get("literal"), child(v, "literal", p))
		return
	case v.Get("agg") != nil:
		m.aggregate(v.Get("agg"), child(v, "agg", p))
		return
	case op == "and" || op == "or":
		m.logic(op, v, p)
	case op == "not":
		m.add(p(v.Get("term")), "not left out")
	case op == "if":
		m.conditional(v, p)
		return
	case op == "chain":
		m.chain(v, p)
	case opposites[op] != "" && v.Get("left") != nil:
		m.operator(op, v, child(v, "op", p))
	case arithmeticSwap[op] != "" && v.Get("left") != nil:
		m.add(child(v, "op", p)(jsonString(arithmeticSwap[op])), op+" became "+arithmeticSwap[op])
	case v.Get("args") != nil:
		m.call(op, v, truth, p)
		return
	}
	m.operands(v, p)
}

// operands goes on to the parts of a node.
func (m *mutating) operands(v *strictjson.Value, p put) {
	for _, member := range v.Members {
		if slices.Contains(leafKeys, member.Key) {
			continue
		}
		at := child(v, member.Key, p)
		switch member.Key {
		case "ops":
		case "terms":
			for i, t := range member.Value.Items {
				m.node(t, true, nth(member.Value, i, at))
			}
		default:
			if s, ok := member.Value.Str(); ok {
				m.word(jsonString(s), at)
				continue
			}
			m.node(member.Value, member.Key == "term" || member.Key == "cond" || member.Key == "then", at)
		}
	}
}

// flips are the comparisons that are easily taken for one another.
var flips = map[string][]string{">=": {">", "<"}, ">": {">=", "<="}, "<=": {"<", ">"}, "<": {"<=", ">="}, "==": {"!="},
	"!=": {"=="}}

var arithmeticSwap = map[string]string{"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "//"}

func (m *mutating) operator(op string, v *strictjson.Value, at put) {
	for _, other := range flips[op] {
		m.add(at(jsonString(other)), op+" became "+other+" in "+m.say(v))
	}
}

func (m *mutating) chain(v *strictjson.Value, p put) {
	ops := v.Get("ops")
	at := child(v, "ops", p)
	for i, op := range ops.Items {
		for _, other := range flips[op.Text] {
			m.add(nth(ops, i, at)(jsonString(other)), op.Text+" became "+other+" in "+m.say(v))
		}
	}
	for _, link := range links(v) {
		m.add(p(link), "only "+m.say(link)+" is left of "+m.say(v))
	}
}

func (m *mutating) logic(op string, v *strictjson.Value, p put) {
	other := map[string]string{"and": "or", "or": "and"}[op]
	m.add(child(v, "op", p)(jsonString(other)), op+" became "+other)
	terms := v.Get("terms")
	for i, t := range terms.Items {
		rest := slices.Delete(slices.Clone(terms.Items), i, i+1)
		if len(rest) == 1 {
			m.add(p(rest[0]), m.say(t)+" was left out")
			continue
		}
		m.add(child(v, "terms", p)(jsonArray(rest...)), m.say(t)+" was left out")
	}
}

func (m *mutating) conditional(v *strictjson.Value, p put) {
	cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
	m.add(child(v, "cond", p)(jsonObject("op", jsonString("not"), "term", cond)),
		"the condition "+m.say(cond)+" was turned round")
	m.add(p(then), "the condition "+m.say(cond)+" was left out")
	if other != nil {
		m.add(p(other), "only "+m.say(other)+" is left of "+m.say(v))
		m.node(other, false, child(v, "else", p))
	}
	m.node(cond, true, child(v, "cond", p))
	m.node(then, other == nil, child(v, "then", p))
}

// functionSwaps are the functions that are easily taken for one another.
var functionSwaps = map[string]string{"min": "max", "max": "min", "floor": "ceil", "ceil": "floor",
	"increasing": "nondecreasing", "nondecreasing": "increasing", "subset": "equal",
	"equal": "subset", "days": "business_days", "intersect": "union", "union": "intersect"}

func (m *mutating) call(name string, v *strictjson.Value, truth bool, p put) {
	args := v.Get("args")
	at := child(v, "args", p)
	if other := functionSwaps[name]; other != "" {
		m.add(child(v, "op", p)(jsonString(other)), name+" became "+other)
	}
	switch {
	case name == "abs":
		m.add(p(args.Items[0]), "abs was left out")
	case name == "implies":
		m.add(p(args.Items[1]), "the condition "+m.say(args.Items[0])+" was left out")
		m.add(nth(args, 0, at)(jsonObject("op", jsonString("not"), "term", args.Items[0])),
			"the condition "+m.say(args.Items[0])+" was turned round")
	case name == "subset" && len(args.Items) == 2:
		m.add(at(jsonArray(args.Items[1], args.Items[0])), "the sets of subset were exchanged")
	}
	if truth && predicates()[name] {
		m.add(p(jsonObject("op", jsonString("not"), "term", v)), m.say(v)+" was turned round")
	}
	for i, a := range args.Items {
		if _, word := a.Str(); word && wordArgs[name] {
			continue
		}
		if s, ok := a.Str(); ok {
			m.word(jsonString(s), nth(args, i, at))
			continue
		}
		m.node(a, name == "implies", nth(args, i, at))
	}
	for _, member := range v.Members {
		if member.Key != "op" && member.Key != "args" && member.Value.Kind == strictjson.Number {
			m.number(member.Value, child(v, member.Key, p))
		}
	}
}

// predicates are the functions that are true or false.
var predicates = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, op := range policy.Registry() {
		out[op.Name] = op.Result == "true/false"
	}
	return out
})

// wordArgs are the functions whose words are names or patterns, and not values.
var wordArgs = map[string]bool{"data": true, "evidence": true, "prior": true, "matches": true, "extract": true,
	"nonempty": true, "all_nonempty": true, "normalise": true}

// aggregateSwaps are the aggregates that are easily taken for one another.
var aggregateSwaps = map[string]string{"sum": "max", "mean": "max", "min": "max", "max": "min", "rms": "max",
	"stddev": "mean", "percentile": "max", "count": "distinct", "distinct": "count",
	"all": "any", "any": "all"}

func (m *mutating) aggregate(agg *strictjson.Value, p put) {
	op := agg.TextOf("op")
	if other := aggregateSwaps[op]; other != "" {
		m.add(p(agg.With("op", jsonString(other)).Without("p")), "the aggregate "+op+" became "+other)
	}
	if where := agg.Get("where"); where != nil {
		m.add(p(agg.Without("where")), "where "+m.say(where)+" was left out")
		m.node(where, true, child(agg, "where", p))
	}
	if value := agg.Get("value"); value != nil && op != "count" { // what is counted is rows, whatever their value
		m.node(value, op == "all" || op == "any", child(agg, "value", p))
	}
	if over := agg.Get("over"); over != nil && over.Kind == strictjson.Object {
		m.node(over, false, child(agg, "over", p))
	}
}

// list leaves out one item of a list that is written out.
func (m *mutating) list(v *strictjson.Value, p put) {
	for i, item := range v.Items {
		if len(v.Items) > 1 {
			rest := slices.Delete(slices.Clone(v.Items), i, i+1)
			m.add(p(jsonArray(rest...)), m.say(item)+" was left out of a list")
		}
		if item.Kind != strictjson.String {
			m.node(item, false, nth(v, i, p))
		}
	}
}

func (m *mutating) number(v *strictjson.Value, p put) { m.moved(v, v.Text, p) }

// moved sets a number a little higher and a little lower: a whole number by 1, any other by a hundredth of it.
func (m *mutating) moved(v *strictjson.Value, name string, p put) {
	n := v.Decimal()
	if n == nil {
		return
	}
	by := decimal.FromInt(1)
	if !n.IsInt() || decimal.Cmp(decimal.Abs(n), decimal.FromInt(1000)) > 0 {
		var err error
		if by, err = decimal.Quo(decimal.Abs(n), hundred); err != nil {
			return
		}
	}
	for _, step := range []*decimal.Num{by, decimal.Neg(by)} {
		if moved, err := decimal.Add(n, step); err == nil {
			m.add(p(jsonNumber(moved.String())), name+" became "+moved.String())
		}
	}
}

func (m *mutating) word(v *strictjson.Value, p put) {
	if s, ok := v.Str(); ok {
		m.add(p(jsonString(s+"-")), string(v.Encode())+" became "+string(jsonString(s+"-").Encode()))
	}
}
