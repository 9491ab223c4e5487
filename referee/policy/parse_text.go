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
	b := &builder{names: n, scope: n.rootScope()}
	root := b.parseWhole(newLexer(src, place{col: 1}))
	return finishExpr(root, b), nil
}

// parseWhole reads one whole text, the outermost or that of a row expression.
func (b *builder) parseWhole(l *lexer) *node {
	p := &parser{builder: b, toks: l.allTokens()}
	if p.peekToken().kind == tokEnd {
		refuse(p.placeHere(), "write a condition, like dscr >= 1.20", "the expression is empty")
	}
	n := p.parseExpression()
	if t := p.peekToken(); t.kind != tokEnd {
		refuse(p.placeHere(), p.trailingHint(t), "%s does not belong here", t)
	}
	return n
}

func (p *parser) trailingHint(t token) string {
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

func (p *parser) peekToken() token { return p.toks[p.at] }
func (p *parser) placeHere() place { return place{col: p.peekToken().col} }

func (p *parser) nextToken() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// nextIs says whether the next token is an operator or a word of the language.
func (p *parser) nextIs(text string) bool {
	t := p.peekToken()
	return t.text == text && (t.kind == tokOp || t.kind == tokName && reserved[text])
}

func (p *parser) acceptText(text string) bool {
	if !p.nextIs(text) {
		return false
	}
	p.nextToken()
	return true
}

func (p *parser) expectText(text, after string) {
	if p.acceptText(text) {
		return
	}
	t, hint := p.peekToken(), ""
	if t.text == "=" {
		hint = "write == to compare"
	}
	refuse(p.placeHere(), hint, "expected %s %s, found %s", text, after, t)
}

// parseExpression is the conditional level: a if c else b.
func (p *parser) parseExpression() *node {
	defer p.enterLevel(p.placeHere())()
	at := p.placeHere()
	then := p.parseOr()
	if !p.acceptText("if") {
		return then
	}
	cond := p.parseOr()
	if !p.nextIs("else") {
		refuse(p.placeHere(), "write if(condition, requirement) for a requirement that only sometimes applies",
			"expected else, found %s", p.peekToken())
	}
	p.nextToken()
	return p.conditionalNode(cond, then, p.parseExpression(), at)
}

func (p *parser) parseOr() *node  { return p.parseTerms("or", kOr, p.parseAnd) }
func (p *parser) parseAnd() *node { return p.parseTerms("and", kAnd, p.parseNot) }

func (p *parser) parseTerms(word string, k kind, term func() *node) *node {
	at := p.placeHere()
	terms := []*node{term()}
	for p.acceptText(word) {
		terms = append(terms, term())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return p.logicNode(k, terms, at)
}

func (p *parser) parseNot() *node {
	at := p.placeHere()
	if !p.acceptText("not") {
		return p.parseComparison()
	}
	defer p.enterLevel(at)()
	return p.logicNode(kNot, []*node{p.parseNot()}, at)
}

var comparisons = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true}

func (p *parser) parseComparison() *node {
	at := p.placeHere()
	left := p.parseSum()
	if not := p.nextIs("not"); not || p.nextIs("in") {
		p.nextToken()
		if not {
			p.expectText("in", "after not")
		}
		return p.membershipNode(not, left, p.parseSum(), at)
	}
	operands, ops := []*node{left}, []string(nil)
	for t := p.peekToken(); t.kind == tokOp && comparisons[t.text]; t = p.peekToken() {
		ops = append(ops, p.nextToken().text)
		operands = append(operands, p.parseSum())
	}
	if len(ops) == 0 {
		return left
	}
	if p.nextIs("in") || p.nextIs("not") {
		refuse(p.placeHere(), "join them with and", "in cannot be part of a chain of comparisons")
	}
	return p.compareNode(operands, ops, at)
}

func (p *parser) parseSum() *node {
	return p.parseBinary(p.parseProduct, "+", "-")
}

func (p *parser) parseProduct() *node {
	return p.parseBinary(p.parseUnary, "*", "/", "//", "%")
}

func (p *parser) parseBinary(operand func() *node, ops ...string) *node {
	at := p.placeHere()
	left := operand()
	for {
		op := ""
		for _, o := range ops {
			if p.nextIs(o) {
				op = o
			}
		}
		if op == "" {
			return left
		}
		p.nextToken()
		if t := p.peekToken(); op == "%" && (t.kind == tokEnd || t.text == ")" || t.text == ",") {
			refuse(place{col: t.col}, "% is the remainder of a division; write 0.10 for 10%",
				"a number is missing after %%")
		}
		left = p.arithNode(op, left, operand(), at)
	}
}

func (p *parser) parseUnary() *node {
	at := p.placeHere()
	if p.acceptText("-") {
		defer p.enterLevel(at)()
		return p.negateNode(p.parseUnary(), at)
	}
	return p.parsePower()
}

// parsePower binds tighter than a minus on its left and looser than one on its right.
func (p *parser) parsePower() *node {
	at := p.placeHere()
	base := p.parsePostfix()
	if !p.acceptText("**") {
		return base
	}
	defer p.enterLevel(at)()
	return p.arithNode("**", base, p.parseUnary(), at)
}

func (p *parser) parsePostfix() *node {
	n := p.parsePrimary()
	for {
		at := p.placeHere()
		switch {
		case p.acceptText("."):
			n = p.parseDotted(n, at)
		case p.acceptText("["):
			n = p.parseSubscript(n, at)
		default:
			return n
		}
	}
}

func (p *parser) parseDotted(n *node, at place) *node {
	t := p.nextToken()
	if t.kind != tokName {
		refuse(at, `write ["a name"] for a name that is not a word`, "expected a name after . and found %s", t)
	}
	if p.nextIs("(") {
		refuse(place{col: t.col}, "write "+t.text+"(…) as a function of the value", "a value has no methods")
	}
	if n.kind == kRow && n.up > 0 && t.text == "outer" {
		return p.rowNode(n.up+1, at)
	}
	return p.memberNode(n, t.text, at)
}

func (p *parser) parseSubscript(n *node, at place) *node {
	var from, to *node
	if !p.nextIs(":") {
		from = p.parseExpression()
		if p.acceptText("]") {
			return p.indexNode(n, from, at)
		}
	}
	p.expectText(":", "or ] in a subscript")
	if !p.nextIs("]") {
		to = p.parseExpression()
	}
	p.expectText("]", "after a slice")
	return p.sliceNode(n, from, to, at)
}

// quoteShort prints what was written, shortened, for a message.
func quoteShort(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:59]) + "…"
	}
	return strconv.Quote(s)
}
