package formula

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
)

// noValue words the refusal of r where a value should stand.
func (p *parser) noValue(r rune) error {
	at := p.pos
	switch {
	case strings.ContainsRune("$€£¥", r):
		return p.failAt(at, fmt.Sprintf("the currency sign %c", r), "write the number alone")
	case r == ')':
		return p.failAt(at, "a closing bracket where a value should stand", "")
	case r == '=':
		return p.failAt(at, "an = where a value should stand", "leave it out: the formula is what stands behind it")
	case strings.ContainsRune("*/%×÷,", r):
		return p.failAt(at, fmt.Sprintf("%q where a value should stand", string(r)),
			"an operator needs a value on each side")
	}
	return p.refuseForeign(r)
}

// refuseForeign words the refusal of a character that stands nowhere in a formula.
func (p *parser) refuseForeign(r rune) error {
	if hint, ok := foreign[r]; ok {
		return p.failAt(p.pos, fmt.Sprintf("the character %q", string(r)), hint)
	}
	if isShapeless(r) {
		return p.failAt(p.pos, fmt.Sprintf("the invisible character <U+%04X>", r), "leave it out")
	}
	return p.failAt(p.pos, fmt.Sprintf("the character %q", string(r)),
		"a formula is numbers, input names, + - * / // % ** and brackets")
}

// foreign says what to write instead of characters that people use.
var foreign = map[rune]string{
	'^': "use **", '[': "use round brackets", ']': "use round brackets", '{': "use round brackets",
	'}': "use round brackets",
	'"': "a formula has no strings", '\'': "a formula has no strings", '“': "a formula has no strings",
	'”': "a formula has no strings",
	'·': "use *", '•': "use *", '∙': "use *", '–': "use -", '—': "use -", '√': "use sqrt(…)", '²': "use **2",
	'³': "use **3",
	'∑': "use sum(…)", 'Σ': "use sum(…)", '≈': noComparison, '≤': noComparison, '≥': noComparison, '≠': noComparison,
	';': "one formula, one expression", ':': "the formula is what stands behind it",
}

const noComparison = "a formula computes a number: no comparison, no assignment inside"

// afterValue words the refusal of what stands behind a complete value. open is the column of the bracket that is open,
// or 0.
func (p *parser) afterValue(open int) error {
	r, at := p.runeAhead(0), p.pos
	switch {
	case at >= len(p.src):
		return p.failAt(at, fmt.Sprintf("the bracket opened at column %d is not closed", open), "write ) where it ends")
	case r == ')':
		return p.failAt(at, "a closing bracket without an opening one", "")
	case r == ',':
		return p.failAt(at, "a comma outside a function's arguments",
			"write decimals with a point; commas separate arguments")
	case strings.ContainsRune("=<>!", r):
		return p.failAt(at, fmt.Sprintf("%q in a formula", string(r)), noComparison)
	case r == '.':
		return p.failAt(at, "a point behind a value", "a formula has no attributes; decimals are digits, a point, digits")
	case r == '[':
		return p.failAt(at, "a subscript", "name the value as an input of its own")
	case strings.ContainsRune("$€£¥", r):
		return p.failAt(at, fmt.Sprintf("the currency sign %c", r), "write the number alone")
	case r == '(' || isWord(r):
		return p.sideBySide()
	}
	return p.refuseForeign(r)
}

// sideBySide words the refusal of two values without an operator between them: prose, a condition, or implied
// multiplication.
func (p *parser) sideBySide() error {
	before := p.pos
	for before > 0 && isSpaceAt(p.src, before-1) {
		before--
	}
	first, second := lastWord(p.src[:before]), nextWord(p.src[p.pos:])
	switch {
	case conditions[second]:
		return p.failAt(p.pos, fmt.Sprintf("%q: a formula has no conditions, loops or logic", second),
			"state the arithmetic alone; min and max can cap a value")
	case first != "" && second != "" && isWordStart([]rune(first)[0]) && isWordStart([]rune(second)[0]) &&
		!p.bothKnown(first, second):
		return p.failAt(p.pos, fmt.Sprintf("%q after %q: words, not a formula", legible.Clip(second, 24),
			legible.Clip(first, 24)), "write an operator between two values; "+p.names.listNames())
	case second == "":
		second = "("
	}
	return p.failAt(p.pos, fmt.Sprintf("two values side by side: %s %s", legible.Clip(orBracket(first), 24),
		legible.Clip(second, 24)), "write * where they are multiplied")
}

func (p *parser) bothKnown(a, b string) bool {
	return len(p.names.normal[NormalName(a)]) > 0 && len(p.names.normal[NormalName(b)]) > 0
}

func orBracket(s string) string {
	if s == "" {
		return ")"
	}
	return s
}

func isSpaceAt(src []rune, i int) bool { return strings.TrimSpace(string(src[i])) == "" }

// lastWord is the word or number at the end of src, or "".
func lastWord(src []rune) string {
	i := len(src)
	for i > 0 && (isWord(src[i-1]) || src[i-1] == '.') {
		i--
	}
	return string(src[i:])
}

// nextWord is the word or number at the beginning of src, or "".
func nextWord(src []rune) string {
	i := 0
	for i < len(src) && (isWord(src[i]) || src[i] == '.') {
		i++
	}
	return string(src[:i])
}
