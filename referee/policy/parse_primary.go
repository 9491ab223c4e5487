package policy

import (
	"strings"
)

// parsePrimary reads what stands between operators: a number, a text, a name, a call, a list, a parenthesis.
func (p *parser) parsePrimary() *node {
	at, t := p.placeHere(), p.nextToken()
	switch t.kind {
	case tokNumber:
		return p.parseNumeral(t, at)
	case tokString:
		return p.addLiteral(Text(t.text), at)
	case tokSpace:
		return p.newSpace(t.text, at)
	case tokName:
		return p.parseWord(t, at)
	}
	switch t.text {
	case "(":
		return p.parseParenthesis(at)
	case "[":
		return p.parseBracket(at)
	}
	hint := ""
	if t.text == "=" {
		hint = "write == to compare"
	}
	refuse(at, hint, "expected a value, found %s", t)
	return nil
}

func (p *parser) parseNumeral(t token, at place) *node {
	text := strings.ReplaceAll(t.text, "_", "")
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	if len(text) > 1 && text[0] == '0' && isDigit(rune(text[1])) {
		refuse(at, "numbers are written without commas: 1000, not 1,000", "%s begins with a needless 0", quoteShort(t.text))
	}
	return p.addNumber(text, at)
}

func (p *parser) parseWord(t token, at place) *node {
	switch t.text {
	case "True", "true":
		return p.addLiteral(Truth(true), at)
	case "False", "false":
		return p.addLiteral(Truth(false), at)
	case "None", "null":
		refuse(at, "a missing value makes a rule skip; nonempty(x) asks for content", "%s is not a value", t.text)
	case "if":
		return p.parseStatement(at)
	case "and", "or", "not", "in", "else":
		refuse(at, "", "expected a value, found %s", t)
	}
	if p.nextIs("(") {
		return p.parseInvocation(t, at)
	}
	if k, ok := prefixes[t.text]; ok {
		if p.nextIs(".") && p.toks[p.at+1].kind == tokName {
			p.nextToken()
			return p.namedNode(k, p.nextToken().text, at)
		}
		if p.nextIs("[") && p.toks[p.at+1].kind == tokString {
			p.nextToken()
			name := p.nextToken().text
			p.expectText("]", "after the name")
			return p.namedNode(k, name, at)
		}
	}
	return p.bareName(t.text, at)
}

// parseStatement is if(c, then) or if(c, then, else).
func (p *parser) parseStatement(at place) *node {
	p.expectText("(", "after if")
	args := p.parseOperands(")")
	switch len(args) {
	case 2:
		return p.conditionalNode(args[0], args[1], nil, at)
	case 3:
		return p.conditionalNode(args[0], args[1], args[2], at)
	}
	refuse(at, "write if(condition, requirement)", "if takes 2 or 3 arguments, not %d", len(args))
	return nil
}

// parseOperands reads a, b, c up to and including the closing bracket.
func (p *parser) parseOperands(end string) []*node {
	var out []*node
	for !p.acceptText(end) {
		out = append(out, p.parseExpression())
		if !p.nextIs(end) {
			p.expectText(",", "or "+end)
		}
	}
	return out
}

func (p *parser) parseParenthesis(at place) *node {
	if p.acceptText(")") {
		return p.addList(nil, at)
	}
	first := p.parseExpression()
	if p.acceptText(")") {
		return first
	}
	p.expectText(",", "or )")
	return p.addList(append([]*node{first}, p.parseOperands(")")...), at)
}

func (p *parser) parseBracket(at place) *node {
	if p.acceptText("]") {
		return p.addList(nil, at)
	}
	first := p.parseExpression()
	if p.peekToken().text == "for" {
		refuse(p.placeHere(), p.trailingHint(p.peekToken()), "lists are not computed in brackets")
	}
	items := []*node{first}
	if p.acceptText(",") {
		items = append(items, p.parseOperands("]")...)
	} else {
		p.expectText("]", "or , in a list")
	}
	return p.addList(items, at)
}

// parseInvocation reads the arguments of a function, by place and by name.
func (p *parser) parseInvocation(t token, at place) *node {
	p.expectText("(", "")
	c := p.newCall(t.text, at)
	for !p.acceptText(")") {
		var i int
		where := p.placeHere()
		if name := p.peekToken(); name.kind == tokName && p.toks[p.at+1].text == "=" && p.toks[p.at+1].kind == tokOp {
			i = c.keywordPosition(name.text, where)
			p.nextToken()
			p.nextToken()
		} else {
			i = c.argPosition(where)
		}
		c.setArg(i, p.parseArgument(c, i), where)
		if !p.nextIs(")") {
			p.expectText(",", "or )")
		}
	}
	return c.finishCall()
}

// parseArgument reads one argument in the form that its parameter asks for.
func (p *parser) parseArgument(c *call, i int) *node {
	t, at := p.peekToken(), p.placeHere()
	switch prm := c.fn.paramAt(i); prm.form {
	case fRow:
		if t.kind != tokString {
			refuse(at, "write the row expression as a text in quotes", "%s of %s is a row expression", prm.name,
				c.fn.name)
		}
		p.nextToken()
		return c.inRow(func() *node {
			defer p.enterLevel(at)()
			return p.parseWhole(&lexer{src: []rune(t.text), cols: t.cols})
		}, at)
	default:
		return p.parseExpression()
	}
}
