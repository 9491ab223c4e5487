package policy

import (
	"slices"
)

// Expr is an expression that was read, resolved and checked. It is immutable and may be evaluated from many goroutines.
type Expr struct {
	root *node
	text string
	refs Refs
}

// Refs are the names that an expression speaks of, each once, in order of first use.
type Refs struct {
	Calcs, Inputs, Fields, Consts, Lexicons, Evidence, Spaces []string
}

// finishExpr prints a tree once, which proves that it can be printed (rules.md 1), and notes what it refers to.
func finishExpr(root *node, b *builder) *Expr {
	text, ok := printText(root)
	if !ok {
		refuse(root.place, "split the rule", "the rule is longer than %d characters as text", maxText)
	}
	e := &Expr{root: root, text: text}
	root.eachNode(func(n *node) {
		e.refs.noteNode(n)
		switch {
		case !n.isListed():
		case !n.prefix && (n.kind == kCalc || n.kind == kConst || n.kind == kInput):
			n.text = n.name
		default:
			n.text, _ = printText(n)
		}
	})
	return e
}

// isListed says whether a proof lists the node with its value: what comes from outside of the expression, and
// aggregates of it.
func (n *node) isListed() bool {
	switch n.kind {
	case kCalc, kClaimed, kConst, kInput, kField, kRow, kPath, kSpace, kMember, kIndex, kSlice:
		return true
	case kCall:
		return n.fn.group == groupOutside || n.fn.name == "agg" || n.fn.name == "lookup"
	}
	return false
}

func (r *Refs) noteNode(n *node) {
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	switch n.kind {
	case kCalc, kClaimed:
		add(&r.Calcs, n.name)
	case kInput:
		add(&r.Inputs, n.name)
	case kField:
		add(&r.Fields, n.name)
	case kPath:
		add(&r.Fields, n.pathText())
	case kConst:
		add(&r.Consts, n.name)
	case kLexicon:
		add(&r.Lexicons, n.name)
	case kSpace:
		add(&r.Spaces, n.name)
	case kCall:
		if n.fn.group == groupOutside && n.fn.name != "prior" {
			add(&r.Evidence, n.argText(0))
		}
	}
}

// Text is the expression as text. ParseText reads the same expression from it.
func (e *Expr) Text() string { return e.text }

// Tree is the expression as canonical JSON, the bytes that are hashed. ParseTree reads the same expression from them.
func (e *Expr) Tree() []byte {
	w := &treeWriter{}
	asOperand(e.root)(w)
	return []byte(w.b.String())
}

// Boolean says whether the expression is a predicate: true or false, whatever the submission holds, or an operand whose
// type only the submission decides (a declared input alone), and which is then unknown unless it holds true or false
// (S25, S26).
func (e *Expr) Boolean() bool { return e.root.typ&tBool != 0 }

// Approx says whether the whole expression is one approx comparison, which is judged by the penalty bands (S33).
func (e *Expr) Approx() bool { return e.root.kind == kCall && e.root.fn.name == "approx" }

// Number says whether the expression may be a number: only the submission decides the type of some.
func (e *Expr) Number() bool { return e.root.typ&tNum != 0 }

// Calcs are the calculations that the expression speaks of. The list is shared: gates ask for it at each submission.
func (e *Expr) Calcs() []string { return slices.Clip(e.refs.Calcs) }

// Refs are the names that the expression speaks of.
func (e *Expr) Refs() Refs {
	r := e.refs
	for _, s := range []*[]string{&r.Calcs, &r.Inputs, &r.Fields, &r.Consts, &r.Lexicons, &r.Evidence} {
		*s = slices.Clone(*s)
	}
	return r
}
