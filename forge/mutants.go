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

// mutationsOf lists what a careless editor could make of an expression: another operator, a bound that moved, and for
// or, a condition left out or turned round, another aggregate, another number or word. say prints a part of the
// expression.
func mutationsOf(tree *strictjson.Value, constant func(*strictjson.Value) *strictjson.Value,
	say func(*strictjson.Value) string) []mutation {
	m := &mutating{constant: constant, say: say}
	m.mutateNode(tree, true, func(v *strictjson.Value) *strictjson.Value { return v })
	return m.out
}

// mutating walks a tree; put builds the whole tree with the part in hand replaced.
type mutating struct {
	constant func(*strictjson.Value) *strictjson.Value
	say      func(*strictjson.Value) string
	out      []mutation
}

type put func(*strictjson.Value) *strictjson.Value

func (m *mutating) addMutation(tree *strictjson.Value, what string) {
	m.out = append(m.out, mutation{tree, what})
}

// putMember replaces a member of a node.
func putMember(v *strictjson.Value, key string, p put) put {
	return func(x *strictjson.Value) *strictjson.Value {
		return p(v.With(key, x))
	}
}

// putItem replaces an item of a list.
func putItem(v *strictjson.Value, i int, p put) put {
	return func(x *strictjson.Value) *strictjson.Value {
		return p(v.WithItem(i, x))
	}
}

// leafKeys are the members whose value is a name or a word of the language, and no operand.
var leafKeys = []string{"input", "calc", "claimed", "const", "lexicon", "calendar", "field", "row", "outer", "up",
	"member", "op"}

// mutateNode mutates a part of the tree. truth says that it stands where a condition is asked for.
func (m *mutating) mutateNode(v *strictjson.Value, truth bool, p put) {
	switch v.Kind {
	case strictjson.Number:
		m.mutateNumber(v, p)
	case strictjson.Array:
		m.mutateList(v, p)
	case strictjson.Object:
		m.mutateObject(v, truth, p)
	}
}

func (m *mutating) mutateObject(v *strictjson.Value, truth bool, p put) {
	switch op := v.TextOf("op"); {
	case v.Get("const") != nil:
		if c := m.constant(v); c.Kind == strictjson.Number {
			m.addMovedNumbers(c, m.say(v), p)
		}
		return
	case v.Get("literal") != nil:
		m.mutateWord(v.Get("literal"), putMember(v, "literal", p))
		return
	case v.Get("agg") != nil:
		m.mutateAggregate(v.Get("agg"), putMember(v, "agg", p))
		return
	case op == "and" || op == "or":
		m.mutateLogic(op, v, p)
	case op == "not":
		m.addMutation(p(v.Get("term")), "not left out")
	case op == "if":
		m.mutateConditional(v, p)
		return
	case op == "chain":
		m.mutateChain(v, p)
	case opposites[op] != "" && v.Get("left") != nil:
		m.mutateOperator(op, v, putMember(v, "op", p))
	case arithmeticSwap[op] != "" && v.Get("left") != nil:
		m.addMutation(putMember(v, "op", p)(jsonString(arithmeticSwap[op])), op+" became "+arithmeticSwap[op])
	case v.Get("args") != nil:
		m.mutateCall(op, v, truth, p)
		return
	}
	m.mutateOperands(v, p)
}

// mutateOperands goes on to the parts of a node.
func (m *mutating) mutateOperands(v *strictjson.Value, p put) {
	for _, member := range v.Members {
		if slices.Contains(leafKeys, member.Key) {
			continue
		}
		at := putMember(v, member.Key, p)
		switch member.Key {
		case "ops":
		case "terms":
			for i, t := range member.Value.Items {
				m.mutateNode(t, true, putItem(member.Value, i, at))
			}
		default:
			if s, ok := member.Value.Str(); ok {
				m.mutateWord(jsonString(s), at)
				continue
			}
			m.mutateNode(member.Value, member.Key == "term" || member.Key == "cond" || member.Key == "then", at)
		}
	}
}

// flips are the comparisons that are easily taken for one another.
var flips = map[string][]string{">=": {">", "<"}, ">": {">=", "<="}, "<=": {"<", ">"}, "<": {"<=", ">="}, "==": {"!="},
	"!=": {"=="}}

var arithmeticSwap = map[string]string{"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "//"}

func (m *mutating) mutateOperator(op string, v *strictjson.Value, at put) {
	for _, other := range flips[op] {
		m.addMutation(at(jsonString(other)), op+" became "+other+" in "+m.say(v))
	}
}

func (m *mutating) mutateChain(v *strictjson.Value, p put) {
	ops := v.Get("ops")
	at := putMember(v, "ops", p)
	for i, op := range ops.Items {
		for _, other := range flips[op.Text] {
			m.addMutation(putItem(ops, i, at)(jsonString(other)), op.Text+" became "+other+" in "+m.say(v))
		}
	}
	for _, link := range chainLinks(v) {
		m.addMutation(p(link), "only "+m.say(link)+" is left of "+m.say(v))
	}
}

func (m *mutating) mutateLogic(op string, v *strictjson.Value, p put) {
	other := map[string]string{"and": "or", "or": "and"}[op]
	m.addMutation(putMember(v, "op", p)(jsonString(other)), op+" became "+other)
	terms := v.Get("terms")
	for i, t := range terms.Items {
		rest := slices.Delete(slices.Clone(terms.Items), i, i+1)
		if len(rest) == 1 {
			m.addMutation(p(rest[0]), m.say(t)+" was left out")
			continue
		}
		m.addMutation(putMember(v, "terms", p)(jsonArray(rest...)), m.say(t)+" was left out")
	}
}

func (m *mutating) mutateConditional(v *strictjson.Value, p put) {
	cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
	m.addMutation(putMember(v, "cond", p)(jsonObject("op", jsonString("not"), "term", cond)),
		"the condition "+m.say(cond)+" was turned round")
	m.addMutation(p(then), "the condition "+m.say(cond)+" was left out")
	if other != nil {
		m.addMutation(p(other), "only "+m.say(other)+" is left of "+m.say(v))
		m.mutateNode(other, false, putMember(v, "else", p))
	}
	m.mutateNode(cond, true, putMember(v, "cond", p))
	m.mutateNode(then, other == nil, putMember(v, "then", p))
}

// functionSwaps are the functions that are easily taken for one another.
var functionSwaps = map[string]string{"min": "max", "max": "min", "floor": "ceil", "ceil": "floor",
	"increasing": "nondecreasing", "nondecreasing": "increasing", "subset": "equal",
	"equal": "subset", "days": "business_days", "intersect": "union", "union": "intersect"}

func (m *mutating) mutateCall(name string, v *strictjson.Value, truth bool, p put) {
	args := v.Get("args")
	at := putMember(v, "args", p)
	if other := functionSwaps[name]; other != "" {
		m.addMutation(putMember(v, "op", p)(jsonString(other)), name+" became "+other)
	}
	switch {
	case name == "abs":
		m.addMutation(p(args.Items[0]), "abs was left out")
	case name == "implies":
		m.addMutation(p(args.Items[1]), "the condition "+m.say(args.Items[0])+" was left out")
		m.addMutation(putItem(args, 0, at)(jsonObject("op", jsonString("not"), "term", args.Items[0])),
			"the condition "+m.say(args.Items[0])+" was turned round")
	case name == "subset" && len(args.Items) == 2:
		m.addMutation(at(jsonArray(args.Items[1], args.Items[0])), "the sets of subset were exchanged")
	}
	if truth && predicates()[name] {
		m.addMutation(p(jsonObject("op", jsonString("not"), "term", v)), m.say(v)+" was turned round")
	}
	for i, a := range args.Items {
		if _, word := a.Str(); word && wordArgs[name] {
			continue
		}
		if s, ok := a.Str(); ok {
			m.mutateWord(jsonString(s), putItem(args, i, at))
			continue
		}
		m.mutateNode(a, name == "implies", putItem(args, i, at))
	}
	for _, member := range v.Members {
		if member.Key != "op" && member.Key != "args" && member.Value.Kind == strictjson.Number {
			m.mutateNumber(member.Value, putMember(v, member.Key, p))
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

func (m *mutating) mutateAggregate(agg *strictjson.Value, p put) {
	op := agg.TextOf("op")
	if other := aggregateSwaps[op]; other != "" {
		m.addMutation(p(agg.With("op", jsonString(other)).Without("p")), "the aggregate "+op+" became "+other)
	}
	if where := agg.Get("where"); where != nil {
		m.addMutation(p(agg.Without("where")), "where "+m.say(where)+" was left out")
		m.mutateNode(where, true, putMember(agg, "where", p))
	}
	if value := agg.Get("value"); value != nil && op != "count" { // what is counted is rows, whatever their value
		m.mutateNode(value, op == "all" || op == "any", putMember(agg, "value", p))
	}
	if over := agg.Get("over"); over != nil && over.Kind == strictjson.Object {
		m.mutateNode(over, false, putMember(agg, "over", p))
	}
}

// mutateList leaves out one item of a list that is written out.
func (m *mutating) mutateList(v *strictjson.Value, p put) {
	for i, item := range v.Items {
		if len(v.Items) > 1 {
			rest := slices.Delete(slices.Clone(v.Items), i, i+1)
			m.addMutation(p(jsonArray(rest...)), m.say(item)+" was left out of a list")
		}
		if item.Kind != strictjson.String {
			m.mutateNode(item, false, putItem(v, i, p))
		}
	}
}

func (m *mutating) mutateNumber(v *strictjson.Value, p put) { m.addMovedNumbers(v, v.Text, p) }

// addMovedNumbers sets a number a little higher and a little lower: a whole number by 1, any other by a hundredth of
// it.
func (m *mutating) addMovedNumbers(v *strictjson.Value, name string, p put) {
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
			m.addMutation(p(jsonNumber(moved.String())), name+" became "+moved.String())
		}
	}
}

func (m *mutating) mutateWord(v *strictjson.Value, p put) {
	if s, ok := v.Str(); ok {
		m.addMutation(p(jsonString(s+"-")), string(v.Encode())+" became "+string(jsonString(s+"-").Encode()))
	}
}
