package policy

import (
	"regexp"
)

// The limits of an expression; eval.go bounds the work of evaluating it.
const (
	maxDepth = 64   // nested operations
	maxNodes = 2000 // operands and operations, row expressions included
)

type kind uint8

const (
	kLit      kind = iota // lit
	kList                 // [args…]
	kCalc                 // name: the recomputed value
	kClaimed              // name: the agent's value
	kConst                // name, lit
	kInput                // name
	kLexicon              // name, lit
	kCalendar             // name
	kRow                  // the row up levels outward
	kField                // name of the row up levels outward
	kPath                 // path below the submission, a row or a name space
	kSpace                // name: $stack
	kMember               // args[0].name
	kIndex                // args[0][args[1]]
	kSlice                // args[0][args[1]:args[2]], either may be nil
	kCall                 // fn(args…), nil for an absent optional one
	kAnd                  // args…
	kOr                   // args…
	kNot                  // args[0]
	kIf                   // args: condition, then, else (nil without one)
	kCompare              // args[0] ops[0] args[1] ops[1] …
	kIn                   // args[0] in args[1]
	kNotIn                // args[0] not in args[1]
	kNeg                  // -args[0]
	kArith                // args[0] op args[1]
)

// typ is what is known of a node's type at load; a set, because an input may be anything.
type typ uint8

const (
	tBool typ = 1 << iota
	tNum
	tStr
	tList
	tObj
	tCalendar

	tAny = tBool | tNum | tStr | tList | tObj
)

// typeOfKind is the type of a run-time kind.
func typeOfKind(k Kind) typ {
	return [...]typ{Missing: 0, Bool: tBool, Num: tNum, Str: tStr, List: tList, Obj: tObj}[k]
}

var typeNames = []struct {
	t    typ
	name string
}{{tBool, "true/false"}, {tNum, "a number"}, {tStr, "a text"}, {tList, "a list"}, {tObj, "an object"},
	{tCalendar, "a calendar"}}

// String names a type as a message does: "a number or a text".
func (t typ) String() string {
	out := ""
	for _, n := range typeNames {
		if t&n.t == 0 {
			continue
		}
		if out != "" {
			out += " or "
		}
		out += n.name
	}
	return out
}

// node is one operand or operation. It is never changed after the builder made it, so that any number of evaluations
// share it.
type node struct {
	kind   kind
	op     string   // of kArith
	name   string   // of a name, a member, a path's root
	up     int      // rows outward, of kRow, kField and a path in a row
	args   []*node  // operands
	ops    []string // of kCompare
	lit    Val      // of a literal, const or lexicon
	path   []seg    // of kPath
	fn     *function
	re     func() *regexp.Regexp // of a call with a pattern
	cal    *calendar
	typ    typ
	place  place
	depth  int
	prefix bool   // the bare name would mean something else: print calc.x, row.x, …
	text   string // as text, set where the node is an operand that proofs list
}

// seg is one step of a path: a member's name, or every item (wild).
type seg struct {
	key   string
	wild  bool
	index bool // may be the place in a list
}

// eachNode calls f for every node, parents first.
func (n *node) eachNode(f func(*node)) {
	if n == nil {
		return
	}
	f(n)
	for _, a := range n.args {
		a.eachNode(f)
	}
}
