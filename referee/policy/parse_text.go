package policy

import (
	"strconv"
)

// parser reads the text spelling by recursive descent, one method a level of Python's precedence.
type parser struct {
	*builder
	toks []token
	at   int
}

// ParseText reads an expression written as text. The error is an *Error.
func ParseText(src string, n *Names) (*Expr, error) {
	e, err := parseText(src, n)
	if err != nil {
		err.Src = src
		return nil, err
	}
	return e, nil
}

func parseText(src string, n *Names) (e *Expr, err *Error) {
	defer catchRefusal(&err)
	b := &builder{names: n, scope: n.root()}
	root := b.parse(newLexer(src, place{col: 1}))
	return finishExpr(root, b), nil
}

// parse reads one whole text, the outermost or that of a row expression.
func (b *builder) parse(l *lexer) *node {
	p := &parser{builder: b, toks: l.tokens()}
	if p.peek().kind == tokEnd {
		refuse(p.place(), "write a condition, like dscr >= 1.20", "the expression is empty")
	}
	n := p.expression()
	if t := p.peek(); t.kind != tokEnd {
		refuse(p.place(), p.trailing(t), "%s does not belong here", t)
	}
	return n
}

func (p *parser) trailing(t token) string {
	switch {
	case t.text == "=":
		return "write == to compare"
	case t.kind == tokName && (t.text == "AND" || t.text == "OR" || t.text == "is"):
		return "write and, or, =="
	case t.kind == tokName && t.text == "for":
		return `write agg("list", rows, "expression", where="condition")`
	case t.text == ",":
		return "numbers are written without commas, lists with [ ]"
	}
	return ""
}

func (p *parser) peek() token  { return p.toks[p.at] }
func (p *parser) place() place { return place{col: p.peek().col} }

func (p *parser) next() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// is says whether the next token is an operator or a word of the language.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && (t.kind == tokOp || t.kind == tokName && reserved[text])
}

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text, after string) {
	if p.accept(text) {
		return
	}
	t, hint := p.peek(), ""
	if t.text == "=" {
		hint = "write == to compare"
	}
	refuse(p.place(), hint, "expected %s %s, found %s", text, after, t)
}

// expression is the conditional level: a if c else b.
func (p *parser) expression() *node {
	defer p.enter(p.place())()
	at := p.place()
	then := p.or()
	if !p.accept("if") {
		return then
	}
	cond := p.or()
	if !p.is("else") {
		refuse(p.place(), "write if(condition, requirement) for a requirement that only sometimes applies",
			"expected else, found %s", p.peek())
	}
	p.next()
	return p.conditional(cond, then, p.expression(), at)
}

func (p *parser) or() *node  { return p.terms("or", kOr, p.and) }
func (p *parser) and() *node { return p.terms("and", kAnd, p.not) }

func (p *parser) terms(word string, k kind, term func() *node) *node {
	at := p.place()
	terms := []*node{term()}
	for p.accept(word) {
		terms = append(terms, term())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return p.logic(k, terms, at)
}

func (p *parser) not() *node {
	at := p.place()
	if !p.accept("not") {
		return p.comparison()
	}
	defer p.enter(at)()
	return p.logic(kNot, []*node{p.not()}, at)
}

var comparisons = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true}

func (p *parser) comparison() *node {
	at := p.place()
	left := p.sum()
	if not := p.is("not"); not || p.is("in") {
		p.next()
		if not {
			p.expect("in", "after not")
		}
		return p.in(not, left, p.sum(), at)
	}
	operands, ops := []*node{left}, []string(nil)
	for t := p.peek(); t.kind == tokOp && comparisons[t.text]; t = p.peek() {
		ops = append(ops, p.next().text)
		operands = append(operands, p.sum())
	}
	if len(ops) == 0 {
		return left
	}
	if p.is("in") || p.is("not") {
		refuse(p.place(), "join them with and", "in cannot be part of a chain of comparisons")
	}
	return p.compare(operands, ops, at)
}

func (p *parser) sum() *node {
	return p.binary(p.product, "+", "-")
}

func (p *parser) product() *node {
	return p.binary(p.unary, "*", "/", "//", "%")
}

func (p *parser) binary(operand func() *node, ops ...string) *node {
	at := p.place()
	left := operand()
	for {
		op := ""
		for _, o := range ops {
			if p.is(o) {
				op = o
			}
		}
		if op == "" {
			return left
		}
		p.next()
		if t := p.peek(); op == "%" && (t.kind == tokEnd || t.text == ")" || t.text == ",") {
			refuse(place{col: t.col}, "% is the remainder of a division; write 0.10 for 10%",
				"a number is missing after %%")
		}
		left = p.arith(op, left, operand(), at)
	}
}

func (p *parser) unary() *node {
	at := p.place()
	if p.accept("-") {
		defer p.enter(at)()
		return p.negate(p.unary(), at)
	}
	return p.power()
}

// power binds tighter than a minus on its left and looser than one on its right.
func (p *parser) power() *node {
	at := p.place()
	base := p.postfix()
	if !p.accept("**") {
		return base
	}
	defer p.enter(at)()
	return p.arith("**", base, p.unary(), at)
}

func (p *parser) postfix() *node {
	n := p.primary()
	for {
		at := p.place()
		switch {
		case p.accept("."):
			n = p.dotted(n, at)
		case p.accept("["):
			n = p.subscript(n, at)
		default:
			return n
		}
	}
}

func (p *parser) dotted(n *node, at place) *node {
	t := p.next()
	if t.kind != tokName {
		refuse(at, `write ["a name"] for a name that is not a word`, "expected a name after . and found %s", t)
	}
	if p.is("(") {
		refuse(place{col: t.col}, "write "+t.text+"(…) as a function of the value", "a value has no methods")
	}
	if n.kind == kRow && n.up > 0 && t.text == "outer" {
		return p.row(n.up+1, at)
	}
	return p.member(n, t.text, at)
}

func (p *parser) subscript(n *node, at place) *node {
	var from, to *node
	if !p.is(":") {
		from = p.expression()
		if p.accept("]") {
			return p.index(n, from, at)
		}
	}
	p.expect(":", "or ] in a subscript")
	if !p.is("]") {
		to = p.expression()
	}
	p.expect("]", "after a slice")
	return p.slice(n, from, to, at)
}

// quote prints what was written, shortened, for a message.
func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:59]) + "…"
	}
	return strconv.Quote(s)
}
