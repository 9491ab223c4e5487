package policy

import (
	"strconv"
	"strings"
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
	defer catch(&err)
	b := &builder{names: n, scope: n.root()}
	root := b.parse(newLexer(src, place{col: 1}))
	return finish(root, b), nil
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
		refuse(p.place(), "write if(condition, requirement) for a requirement that only sometimes applies", "expected else, found %s", p.peek())
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
		refuse(p.place(), "join them with and", "in cannot stand in a chain of comparisons")
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
			refuse(place{col: t.col}, "% is the remainder of a division; write 0.10 for 10%", "a number is missing after %%")
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

func (p *parser) primary() *node {
	at, t := p.place(), p.next()
	switch t.kind {
	case tokNumber:
		return p.numeral(t, at)
	case tokString:
		return p.literal(Text(t.text), at)
	case tokSpace:
		return p.space(t.text, at)
	case tokName:
		return p.word(t, at)
	}
	switch t.text {
	case "(":
		return p.parenthesis(at)
	case "[":
		return p.bracket(at)
	}
	hint := ""
	if t.text == "=" {
		hint = "write == to compare"
	}
	refuse(at, hint, "expected a value, found %s", t)
	return nil
}

func (p *parser) numeral(t token, at place) *node {
	text := strings.ReplaceAll(t.text, "_", "")
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	if len(text) > 1 && text[0] == '0' && isDigit(rune(text[1])) {
		refuse(at, "numbers are written without commas: 1000, not 1,000", "%s begins with a needless 0", quote(t.text))
	}
	return p.number(text, at)
}

func (p *parser) word(t token, at place) *node {
	switch t.text {
	case "True", "true":
		return p.literal(Truth(true), at)
	case "False", "false":
		return p.literal(Truth(false), at)
	case "None", "null":
		refuse(at, "a missing value makes a rule skip; nonempty(x) asks for content", "%s is not a value", t.text)
	case "if":
		return p.statement(at)
	case "and", "or", "not", "in", "else":
		refuse(at, "", "expected a value, found %s", t)
	}
	if p.is("(") {
		return p.invoke(t, at)
	}
	if k, ok := prefixes[t.text]; ok {
		if p.is(".") && p.toks[p.at+1].kind == tokName {
			p.next()
			return p.named(k, p.next().text, at)
		}
		if p.is("[") && p.toks[p.at+1].kind == tokString {
			p.next()
			name := p.next().text
			p.expect("]", "after the name")
			return p.named(k, name, at)
		}
	}
	return p.bare(t.text, at)
}

// statement is if(c, then) or if(c, then, else).
func (p *parser) statement(at place) *node {
	p.expect("(", "after if")
	args := p.operands(")")
	switch len(args) {
	case 2:
		return p.conditional(args[0], args[1], nil, at)
	case 3:
		return p.conditional(args[0], args[1], args[2], at)
	}
	refuse(at, "write if(condition, requirement)", "if takes 2 or 3 arguments, not %d", len(args))
	return nil
}

// operands reads a, b, c up to and including the closing bracket.
func (p *parser) operands(end string) []*node {
	var out []*node
	for !p.accept(end) {
		out = append(out, p.expression())
		if !p.is(end) {
			p.expect(",", "or "+end)
		}
	}
	return out
}

func (p *parser) parenthesis(at place) *node {
	if p.accept(")") {
		return p.list(nil, at)
	}
	first := p.expression()
	if p.accept(")") {
		return first
	}
	p.expect(",", "or )")
	return p.list(append([]*node{first}, p.operands(")")...), at)
}

func (p *parser) bracket(at place) *node {
	if p.accept("]") {
		return p.list(nil, at)
	}
	first := p.expression()
	if p.peek().text == "for" {
		refuse(p.place(), p.trailing(p.peek()), "lists are not computed in brackets")
	}
	items := []*node{first}
	if p.accept(",") {
		items = append(items, p.operands("]")...)
	} else {
		p.expect("]", "or , in a list")
	}
	return p.list(items, at)
}

// invoke reads the arguments of a function, by place and by name.
func (p *parser) invoke(t token, at place) *node {
	p.expect("(", "")
	c := p.newCall(t.text, at)
	for !p.accept(")") {
		i, where := len(c.given), p.place()
		if name := p.peek(); name.kind == tokName && p.toks[p.at+1].text == "=" && p.toks[p.at+1].kind == tokOp {
			i = c.keyword(name.text, where)
			p.next()
			p.next()
		} else {
			i = c.position(where)
		}
		c.set(i, p.argument(c, i), where)
		if !p.is(")") {
			p.expect(",", "or )")
		}
	}
	return c.done()
}

// argument reads one argument in the form that its parameter asks for.
func (p *parser) argument(c *call, i int) *node {
	t, at := p.peek(), p.place()
	switch prm := c.fn.param(i); prm.form {
	case fRow:
		if t.kind != tokString {
			refuse(at, "write the row expression as a text in quotes", "%s of %s is a row expression", prm.name, c.fn.name)
		}
		p.next()
		return c.inRow(func() *node {
			defer p.enter(at)()
			return p.parse(&lexer{src: []rune(t.text), cols: t.cols})
		}, at)
	default:
		return p.expression()
	}
}

// space reads $stack and the like; members follow as of any operand.
func (p *parser) space(name string, at place) *node { return p.newSpace(name, at) }

func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:59]) + "…"
	}
	return strconv.Quote(s)
}
