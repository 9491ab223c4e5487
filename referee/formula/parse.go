package formula

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/nearest"
)

// Levels of binding, as Python's.
const (
	levelSum = iota + 1
	levelProduct
	levelUnary
	levelPower
	levelAtom
)

// parser reads one formula from left to right; it knows at every place whether a value or an operator may stand there.
type parser struct {
	text   string
	src    []rune
	pos    int
	names  *nameTable
	quoted bool // names between backquotes are read
	nodes  int
	depth  int
	inCall bool // the innermost bracket is a call's
	notes  []string
}

func (p *parser) failAt(at int, msg, hint string) *SyntaxError {
	return &SyntaxError{Src: p.text, Col: at + 1, Msg: msg, Hint: hint}
}

// addNote records a normalisation once.
func (p *parser) addNote(s string) {
	if !slices.Contains(p.notes, s) {
		p.notes = append(p.notes, s)
	}
}

func (p *parser) skipSpace() {
	for p.pos < len(p.src) && unicode.IsSpace(p.src[p.pos]) {
		p.pos++
	}
}

// runeAhead is the rune i places ahead, 0 beyond the end.
func (p *parser) runeAhead(i int) rune {
	if p.pos+i < len(p.src) {
		return p.src[p.pos+i]
	}
	return 0
}

// newNode makes a node and counts it.
func (p *parser) newNode(op operator, start int, args ...*node) (*node, error) {
	if p.nodes++; p.nodes > MaxNodes {
		return nil, &LimitError{p.failAt(start, "the formula has more than 512 parts",
			"name intermediate results as calculations of their own")}
	}
	return &node{op: op, col: start + 1, args: args}, nil
}

// parseNested runs read one level deeper.
func (p *parser) parseNested(read func() (*node, error)) (*node, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, &LimitError{p.failAt(p.pos, "the formula is nested deeper than 64",
			"name intermediate results as calculations of their own")}
	}
	n, err := read()
	p.depth--
	return n, err
}

func (p *parser) parseFormula() (*node, error) {
	p.skipSpace()
	if p.pos == len(p.src) {
		return nil, p.failAt(0, "the formula is empty", "state how the number is computed from the inputs")
	}
	if err := p.skipLabel(); err != nil {
		return nil, err
	}
	n, err := p.parseSum()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.src) {
		return nil, p.afterValue(0)
	}
	return n, nil
}

// skipLabel skips a leading "Name =". A name is words, hyphens between letters, and brackets or % behind them ("Cap
// Rate (%) ="), so that an equation between two expressions is not taken for one.
func (p *parser) skipLabel() error {
	end := slices.Index(p.src, '=')
	if end < 0 || end+1 < len(p.src) && p.src[end+1] == '=' {
		return nil
	}
	name := strings.TrimSpace(string(p.src[p.pos:end]))
	if !isLabel(name) || p.names.readsAsExpression(name) {
		return nil // sum will refuse the = where it stands
	}
	p.addNote(fmt.Sprintf("leading %q left out", visibleText(name)+" ="))
	p.pos = end + 1
	return nil
}

func isLabel(name string) bool {
	r := []rune(name)
	if len(r) == 0 || !isWordStart(r[0]) {
		return false
	}
	base := strings.TrimRight(name, " %()")
	if open := strings.IndexByte(name, '('); open >= 0 {
		// What stands in brackets is a unit or an abbreviation: one word.
		inner, found := strings.CutSuffix(strings.TrimRight(name[open+1:], " "), ")")
		if !found || strings.ContainsFunc(inner, func(r rune) bool {
			return !isWord(r) &&
				!strings.ContainsRune("%$€£", r)
		}) {
			return false
		}
		base = name[:open]
	}
	b := []rune(strings.TrimRight(base, " "))
	for i, c := range b {
		hyphen := c == '-' && i+1 < len(b) && unicode.IsLetter(b[i-1]) && unicode.IsLetter(b[i+1])
		if !isWord(c) && c != ' ' && !hyphen {
			return false
		}
	}
	return true
}

// parseSum reads a whole expression.
func (p *parser) parseSum() (*node, error) { return p.parseInfix(levelSum) }

// parseInfix reads left-associative operators that bind at least as tightly as level.
func (p *parser) parseInfix(level int) (*node, error) {
	p.skipSpace()
	start := p.pos
	left, err := p.parseUnary()
	for err == nil {
		b, ok, bad := p.peekOperator()
		if bad != nil {
			return nil, bad
		}
		if !ok || b.level < level || b.op == opPow {
			return left, nil
		}
		p.takeOperator(b)
		var right *node
		if right, err = p.parseInfix(b.level + 1); err != nil {
			break
		}
		left, err = p.newNode(b.op, start, left, right)
	}
	return nil, err
}

// takeOperator steps over an operator and notes the typographic ones.
func (p *parser) takeOperator(b binary) {
	p.pos += len([]rune(b.text))
	if plain := typographic[b.text]; plain != "" {
		p.addNote(b.text + " read as " + plain)
	}
}

var typographic = map[string]string{"×": "*", "÷": "/", "−": "-"}

func (p *parser) parseUnary() (*node, error) {
	p.skipSpace()
	start, sign := p.pos, p.runeAhead(0)
	if sign != '+' && sign != '-' && sign != '−' {
		return p.parsePower()
	}
	p.takeOperator(binary{text: string(sign)})
	n, err := p.parseNested(p.parseUnary)
	if err != nil || sign == '+' {
		return n, err
	}
	return p.newNode(opNeg, start, n)
}

func (p *parser) parsePower() (*node, error) {
	start := p.pos
	base, err := p.parseAtom()
	if err != nil {
		return nil, err
	}
	b, ok, err := p.peekOperator()
	if err != nil {
		return nil, err
	}
	if !ok || b.op != opPow {
		return base, nil
	}
	p.takeOperator(b)
	exponent, err := p.parseNested(p.parseUnary)
	if err != nil {
		return nil, err
	}
	return p.newNode(opPow, start, base, exponent)
}

func (p *parser) parseAtom() (*node, error) {
	if p.pos >= len(p.src) {
		return nil, p.failAt(len(p.src), "the formula ends where a value should stand", "")
	}
	if n, err := p.parseName(); n != nil || err != nil {
		return n, err
	}
	r := p.runeAhead(0)
	switch {
	case isDigit(r) || r == '.' && isDigit(p.runeAhead(1)):
		return p.parseNumber()
	case r == '(':
		return p.parseBrackets()
	case isWordStart(r):
		return p.parseWord()
	}
	return nil, p.noValue(r)
}

// parseName reads an input's name; nil where none stands. A function's name before a bracket is the function.
func (p *parser) parseName() (*node, error) {
	start := p.pos
	if p.quoted && p.runeAhead(0) == '`' {
		return p.quotedName()
	}
	m, ok := p.names.findLongest(p.src, start)
	if !ok || functions[m.name] != nil && p.opensAt(m.end) {
		return nil, nil
	}
	written := string(p.src[start:m.end])
	switch {
	case len(m.other) > 0:
		return nil, p.failAt(start, fmt.Sprintf("%q may be the input %q or %q", written, m.name, m.other[0]),
			"write it exactly as the input is named")
	case p.names.readsAsExpression(m.name):
		return nil, p.failAt(start, fmt.Sprintf("%q is an input and also reads as a calculation with other inputs",
			m.name), "rename the input")
	case !m.exact && written != m.name:
		p.addNote(fmt.Sprintf("%q read as the input %q", written, m.name))
	}
	p.pos = m.end
	return p.newVariable(m.name, start)
}

func (p *parser) newVariable(name string, start int) (*node, error) {
	n, err := p.newNode(opVar, start)
	if err == nil {
		n.name = name
	}
	return n, err
}

// quotedName reads a name as Canonical writes it.
func (p *parser) quotedName() (*node, error) {
	start := p.pos
	var name []rune
	for i := p.pos + 1; i < len(p.src); i++ {
		if p.src[i] == '`' {
			if i+1 == len(p.src) || p.src[i+1] != '`' {
				p.pos = i + 1
				return p.newVariable(string(name), start)
			}
			i++
		}
		name = append(name, p.src[i])
	}
	return nil, p.failAt(start, "a backquote is not closed", "")
}

// opensAt says that the next thing after i is an opening bracket.
func (p *parser) opensAt(i int) bool {
	for i < len(p.src) && unicode.IsSpace(p.src[i]) {
		i++
	}
	return i < len(p.src) && p.src[i] == '('
}

// parseWord reads a function call or a variable that no input is named after.
func (p *parser) parseWord() (*node, error) {
	start := p.pos
	end := wordEnds(p.src, start, 1)[0]
	w := string(p.src[start:end])
	if conditions[w] {
		return nil, p.failAt(start, fmt.Sprintf("%q: a formula has no conditions, loops or logic", w),
			"state the arithmetic alone; min and max can cap a value")
	}
	if !p.opensAt(end) {
		p.pos = end
		return p.newVariable(w, start)
	}
	fn := functions[w]
	if fn == nil {
		return nil, p.unknownFunction(w)
	}
	p.pos = end
	return p.parseCall(fn, start)
}

// conditions are the words of Python that begin or join what the language leaves out.
var conditions = map[string]bool{
	"and": true, "or": true, "not": true, "if": true, "else": true, "for": true, "in": true, "is": true, "lambda": true,
	"None": true, "True": true, "False": true,
}

func (p *parser) unknownFunction(w string) error {
	hint := "the functions are " + strings.Join(functionNames, " ")
	if near := nearest.Word(w, functionNames); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return p.failAt(p.pos, fmt.Sprintf("there is no function %q", w), hint)
}

func (p *parser) parseBrackets() (*node, error) {
	open := p.pos
	p.pos++
	outer := p.inCall
	p.inCall = false
	n, err := p.parseNested(p.parseSum)
	if err != nil {
		return nil, err
	}
	p.inCall = outer
	return n, p.closeBracket(open)
}

// closeBracket steps over the bracket that ends what open began.
func (p *parser) closeBracket(open int) error {
	p.skipSpace()
	if p.runeAhead(0) != ')' {
		return p.afterValue(open + 1)
	}
	p.pos++
	return nil
}

func (p *parser) parseCall(fn *function, start int) (*node, error) {
	p.skipSpace()
	open := p.pos
	p.pos++
	args, err := p.parseArguments(open)
	if err != nil {
		return nil, err
	}
	if len(args) < fn.min || len(args) > fn.max {
		return nil, p.failAt(start, fmt.Sprintf("%s takes %s, not %d", fn.name, fn.arityText(), len(args)), "write "+fn.usage)
	}
	if fn == functions["len"] && args[0].op != opVar {
		return nil, p.failAt(args[0].col-1, "len takes the name of a list", "write "+fn.usage)
	}
	return p.lowerCall(fn, start, args)
}

// lowerCall gives the two spellings of one function one node.
func (p *parser) lowerCall(fn *function, start int, args []*node) (*node, error) {
	if fn.name == "pow" {
		return p.newNode(opPow, start, args...)
	}
	if fn.name == "log" && len(args) == 1 {
		fn = functions["ln"]
	}
	n, err := p.newNode(opCall, start, args...)
	if err == nil {
		n.fn = fn
	}
	return n, err
}

// parseArguments reads what stands between a call's brackets, with the closing one.
func (p *parser) parseArguments(open int) ([]*node, error) {
	outer := p.inCall
	var args []*node
	p.skipSpace()
	for more := p.runeAhead(0) != ')'; more; {
		p.inCall = true
		n, err := p.parseNested(p.parseSum)
		if err != nil {
			return nil, err
		}
		args = append(args, n)
		p.skipSpace()
		if more = p.runeAhead(0) == ','; more {
			p.pos++
		}
	}
	p.inCall = outer
	if p.runeAhead(0) == '=' && len(args) > 0 && args[len(args)-1].op == opVar {
		return nil, p.failAt(p.pos, "keyword arguments are not part of the language", "give the arguments in order")
	}
	return args, p.closeBracket(open)
}
