package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
)

// call collects the arguments of a function in either spelling and refuses what the function does not take.
type call struct {
	*builder
	fn    *function
	place place
	given []*node // by parameter; variadic ones follow
	named bool
}

func (b *builder) newCall(name string, p place) *call {
	fn := byName[name]
	if fn == nil {
		refuseNear(p, nearest.Word(name, functionNames), "see referee rules for the functions", "unknown function %s",
			quoteShort(name))
	}
	c := &call{builder: b, fn: fn, place: p}
	return c
}

// argPosition is the parameter that the next argument by place stands for.
func (c *call) argPosition(p place) int {
	i := len(c.given)
	prm := c.fn.paramAt(i)
	if prm == nil || prm.keyword {
		refuse(p, "write "+c.fn.signatureText(), "%s takes at most %d arguments", c.fn.name, c.fn.countPositional())
	}
	if c.named {
		refuse(p, "write arguments by name last", "an argument by place after one by name")
	}
	return i
}

// countPositional is how many parameters may be given by place.
func (f *function) countPositional() int {
	n := 0
	for _, p := range f.params {
		if !p.keyword {
			n++
		}
	}
	return n
}

// keywordPosition is the parameter with a name.
func (c *call) keywordPosition(name string, p place) int {
	i := c.fn.paramIndex(name)
	if i < 0 || c.fn.params[i].variadic {
		var known []string
		for _, prm := range c.fn.params {
			known = append(known, prm.name)
		}
		refuseNear(p, nearest.Word(name, known), "write "+c.fn.signatureText(), "%s has no argument %s", c.fn.name,
			quoteShort(name))
	}
	if i < len(c.given) && c.given[i] != nil {
		refuse(p, "write "+c.fn.signatureText(), "the argument %s is given twice", quoteShort(name))
	}
	c.named = true
	return i
}

// setArg stores an argument after checking it against its parameter.
func (c *call) setArg(i int, n *node, p place) {
	for len(c.given) <= i {
		c.given = append(c.given, nil)
	}
	prm := c.fn.paramAt(i)
	c.given[i] = n
	switch prm.form {
	case fText, fPattern:
		c.checkWritten(n, Str, prm, "a text written out")
	case fNumber:
		c.checkWritten(n, Num, prm, "a number written out")
	case fTruth:
		c.checkWritten(n, Bool, prm, "True or False")
	default:
		if prm.typ != 0 {
			c.wantType(n, prm.typ, prm.name+" of "+c.fn.name)
		}
		if c.fn.params[i%len(c.fn.params)].typ&tList == 0 && prm.form == fValue {
			c.noWild(n, c.fn.name)
		}
	}
}

func (c *call) checkWritten(n *node, k Kind, prm *param, what string) {
	if n.kind != kLit || n.lit.Kind != k {
		refuse(n.place, "write "+c.fn.signatureText(), "%s of %s must be %s, so that it can be checked at load", prm.name,
			c.fn.name, what)
	}
}

// inRow reads a row expression with the rows of the argument named over in scope.
func (c *call) inRow(read func() *node, p place) *node {
	over := c.fn.paramIndex("over")
	if len(c.given) <= over || c.given[over] == nil {
		refuse(p, "write "+c.fn.signatureText(), "the rows come before what is asked of them")
	}
	before := c.scope
	c.scope = c.names.scopeOf(rowsPath(c.given[over]), before)
	defer func() { c.scope = before }()
	return read()
}

// rowsPath is the dotted path of the rows that an operand holds, "" if it is computed.
func rowsPath(n *node) string {
	switch n.kind {
	case kInput:
		return "inputs." + n.name
	case kMember:
		if base := rowsPath(n.args[0]); base != "" {
			return base + "." + n.name
		}
	case kPath:
		if n.name == "" {
			return dottedPath(n.path)
		}
	}
	return ""
}

// finishCall checks the number of arguments and makes the node.
func (c *call) finishCall() *node {
	for i, prm := range c.fn.params {
		if !prm.opt && (i >= len(c.given) || c.given[i] == nil) {
			refuse(c.place, "write "+c.fn.signatureText(), "%s needs the argument %s", c.fn.name, quoteShort(prm.name))
		}
	}
	for len(c.given) > 0 && c.given[len(c.given)-1] == nil {
		c.given = c.given[:len(c.given)-1]
	}
	if c.fn.build != nil {
		return c.fn.build(c)
	}
	n := node{kind: kCall, fn: c.fn, args: c.given, typ: c.fn.result, re: c.compileCallPattern()}
	if c.fn.resultOf != nil {
		n.typ = c.fn.resultOf(&n)
	}
	made := c.addNode(n, c.place)
	if c.fn.check != nil {
		c.fn.check(c.builder, made)
	}
	return made
}

func (c *call) compileCallPattern() func() *regexp.Regexp {
	for i, n := range c.given {
		if n != nil && c.fn.paramAt(i).form == fPattern {
			return compilePattern(n.lit.Str, n.place)
		}
	}
	return nil
}

// arg is an argument of a call, nil where it was left out.
func (n *node) arg(i int) *node {
	if i < len(n.args) {
		return n.args[i]
	}
	return nil
}

// argumentText is the text of an argument that is written out.
func (c *call) argumentText(i int) string { return (&node{args: c.given}).argText(i) }

// argText is the text of an argument that is written out, "" where it was left out.
func (n *node) argText(i int) string {
	if a := n.arg(i); a != nil {
		return a.lit.Str
	}
	return ""
}

// spaces are the name spaces of the engine (rules.md 1.1, field).
var spaces = []string{"$stack", "$evidence", "$flags", "$atoms", "$file"}

func (b *builder) newSpace(name string, p place) *node {
	if !slices.Contains(spaces, name) {
		refuseNear(p, nearest.Word(name, spaces), "the name spaces are "+strings.Join(spaces, " "),
			"unknown name space %s", quoteShort(name))
	}
	return b.addNode(node{kind: kSpace, name: name, typ: tAny}, p)
}
