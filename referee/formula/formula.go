// Package formula is the language in which an agent states how it computed a number (semantics S13b): Python's
// arithmetic on decimals (S13a), and nothing else.
//
//	formula  = [ label "=" ] sum
//	sum      = product { ("+" | "-") product }
//	product  = unary { ("*" | "/" | "//" | "%") unary }
//	unary    = ("+" | "-") unary | power
//	power    = atom [ "**" unary ]
//	atom     = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//
// Functions are abs min max sum avg round sqrt exp ln log log10 floor ceil pow pmt npv irr len; sum avg min max len npv
// irr read lists. Everything else is refused with a column, a caret and what would be right: attribute, subscript,
// string, keyword argument, comparison, condition, any other call, prose.
//
// Names are the keys of a calculation's inputs and may be several words. At a place where a value can stand the longest
// key wins, first exactly as written, then by the normal form of S18 (case folded; words joined by spaces or
// underscores: never across a hyphen, which is a minus). Two keys of one normal form must be written exactly, and a key
// such as "noi-reserves" beside the keys "noi" and "reserves" is refused: a reader could not tell it from a difference.
// A word that is no key is a variable without a value: Eval says which.
//
// Accepted and noted: × ÷ −, a leading "Name =", 1_000. A comma between digits (1,000) is refused outside a call;
// directly in a call it separates arguments, as in Python, with a note, unless a group begins with 0 (max(1,000)),
// which nobody writes as an argument. A % with a value behind it is Python's modulo (10 % 3, 10%3); one that ends a
// value (10%, 10% * x, 10%-1), or is followed by "of", is a percent sign and refused.
//
// Limits: 2,000 characters, 512 nodes, depth 64 (brackets, calls, signs and right-nested powers), and a bound on the
// work of one evaluation. FuzzParse holds that printing and parsing are inverse, FuzzEval that no input panics.
package formula

import (
	"fmt"
	"slices"
	"sync"

	"github.com/defendableos/referee/internal/decimal"
)

// The limits of S13b.
const (
	MaxCharacters = 2000
	MaxNodes      = 512
	MaxDepth      = 64
	MaxNames      = 1000 // keys of a calculation's inputs: a formula has room for half as many
)

// Formula is a parsed formula. It is never changed after Parse, so it may be evaluated by many goroutines at once.
type Formula struct {
	source  string
	root    *node
	notes   []string
	vars    []string
	program []*node // in postfix order, so that evaluation does not recurse
	depth   int     // the most values that evaluation holds at once

	canonical func() string // printed when it is first asked for
}

// Parse reads src. names are the keys of the calculation's inputs. The error is a *SyntaxError, or a *LimitError where
// the formula breaks a limit of S13b; the Formula is then nil.
func Parse(src string, names []string) (*Formula, error) { return NewNames(names).Parse(src) }

// Names are the keys of inputs, made ready for reading any number of formulas over them, by many goroutines too.
type Names struct{ table *nameTable }

// NewNames prepares the keys.
func NewNames(keys []string) Names { return Names{newNameTable(keys)} }

// Parse is the function Parse over these names.
func (n Names) Parse(src string) (*Formula, error) { return parseFormula(src, n.table, false) }

// parseFormula reads names between backquotes too where quoted says so, as Canonical writes those that are not plain
// words.
func parseFormula(src string, names *nameTable, quoted bool) (*Formula, error) {
	if n := countRunes(src, MaxCharacters); n > MaxCharacters {
		return nil, &LimitError{&SyntaxError{Src: src, Col: MaxCharacters + 1,
			Msg:  "the formula is longer than 2,000 characters",
			Hint: "name intermediate results as calculations of their own"}}
	}
	if names.crowd > 0 {
		return nil, &LimitError{&SyntaxError{Src: src, Col: 1,
			Msg:  fmt.Sprintf("the calculation has %d inputs; at most %d are read", names.crowd, MaxNames),
			Hint: "state the inputs that the formula reads"}}
	}
	p := &parser{text: src, src: []rune(src), names: names, quoted: quoted}
	root, err := p.parseFormula()
	if err != nil {
		return nil, err
	}
	return compilePostfix(&Formula{source: src, root: root, notes: p.notes}), nil
}

// countRunes counts code points, and stops once there are more than limit.
func countRunes(s string, limit int) int {
	n := 0
	for range s {
		if n++; n > limit {
			break
		}
	}
	return n
}

// Source is the text that was parsed.
func (f *Formula) Source() string { return f.source }

// Vars are the names of the variables, in order of first use.
func (f *Formula) Vars() []string { return slices.Clone(f.vars) }

// Notes are the normalisations that reading the formula took, in order, for the report.
func (f *Formula) Notes() []string { return slices.Clone(f.notes) }

// Canonical is the text of the syntax tree: one spacing, no redundant brackets, literals without superfluous digits,
// pow(a, b) as a ** b, log(x) as ln(x). Operands are not reordered. Two formulas of equal canonical text are the same
// function (S16).
func (f *Formula) Canonical() string { return f.canonical() }

// NormaliseWith is the formula with its variables renamed, for instance to a sheet's names (S18). Two variables never
// become one: where rename gives both the same name, the variable that already has it keeps it and the others keep
// theirs.
func (f *Formula) NormaliseWith(rename func(string) string) *Formula {
	to := make(map[string]string, len(f.vars))
	claims := make(map[string]int, len(f.vars))
	for _, v := range f.vars {
		to[v] = rename(v)
		claims[to[v]]++
	}
	for _, v := range f.vars {
		if claims[to[v]] > 1 || to[v] != v && slices.Contains(f.vars, to[v]) {
			to[v] = v
		}
	}
	return compilePostfix(&Formula{source: f.source, root: f.root.renameVariables(to), notes: f.notes})
}

// compilePostfix lists the variables and lays the tree out in postfix order.
func compilePostfix(f *Formula) *Formula {
	var walk func(n *node)
	walk = func(n *node) {
		for _, a := range n.args {
			walk(a)
		}
		if n.op == opVar && !slices.Contains(f.vars, n.name) {
			f.vars = append(f.vars, n.name)
		}
		f.program = append(f.program, n)
	}
	walk(f.root)
	f.canonical = sync.OnceValue(f.root.String)
	held := 0
	for _, n := range f.program {
		if n.op == opVar {
			n.slot = slices.Index(f.vars, n.name)
		}
		held += 1 - len(n.args)
		f.depth = max(f.depth, held)
	}
	return f
}

// operator says what a node does.
type operator uint8

const (
	opNum operator = iota
	opVar
	opNeg
	opAdd
	opSub
	opMul
	opDiv
	opFloorDiv
	opMod
	opPow
	opCall
)

// node is one node of the syntax tree.
type node struct {
	op      operator
	col     int // of its first character, 1-based
	args    []*node
	num     *decimal.Num // opNum
	literal string       // opNum: canonical
	name    string       // opVar
	slot    int          // opVar: its place in Formula.vars
	fn      *function    // opCall
}

// renameVariables is a copy of the tree with the variables' names mapped.
func (n *node) renameVariables(to map[string]string) *node {
	c := *n
	if n.op == opVar {
		c.name = to[n.name]
	}
	c.args = make([]*node, len(n.args))
	for i, a := range n.args {
		c.args[i] = a.renameVariables(to)
	}
	return &c
}
