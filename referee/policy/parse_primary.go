package policy

import (
	"strings"
)

// primary reads what stands between operators: a number, a text, a name, a call, a list, a parenthesis.
func (p *parser) primary() *node {
	at, t := p.place(), p.next()
	switch t.kind {
	case tokNumber:
		return p.numeral(t, at)
	case tokString:
		return p.literal(Text(t.text), at)
	case tokSpace:
		return p.newSpace(t.text, at)
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
		var i int
		where := p.place()
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
			refuse(at, "write the row expression as a text in quotes", "%s of %s is a row expression", prm.name,
				c.fn.name)
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
