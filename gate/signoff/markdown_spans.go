package signoff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
)

// span is a part of a paragraph that CommonMark reads as one thing and that may cover several lines: code, an HTML
// comment, a tag.
type span struct {
	from, to int
	kind     spanKind
}

type spanKind int

const (
	codeSpan    spanKind = iota
	commentSpan          // also a processing instruction, a declaration, CDATA: a reader sees nothing of it
	tagSpan
)

// htmlTag is a tag of HTML (CommonMark 6.6), a little more generously: where the two differ, more is taken for a tag.
var htmlTag = pattern.New(`(?s)^</?[A-Za-z][A-Za-z0-9-]*(?:[\s/](?:"[^"]*"|'[^']*'|[^"'<>])*)?>`)

// maxTag is how long a tag is looked for. A longer one covers the rest of the text.
const maxTag = 2000

// tagLength is the length of the tag that a text begins with, 0 where it begins with none.
func tagLength(text string) int {
	if n := len(htmlTag.FindString(text[:min(len(text), maxTag)])); n > 0 || len(text) <= maxTag || len(text) < 2 {
		return n
	}
	letter := text[1] | 0x20
	if text[1] == '/' ||
		letter >= 'a' && letter <= 'z' && strings.Contains(text[maxTag:], ">") &&
			!strings.Contains(text[1:maxTag], ">") {
		return len(text)
	}
	return 0
}

// spansOf are the spans of a text, in order, none within another.
func spansOf(text string) []span {
	var out []span
	runs := backtickRuns(text)
	for i := 0; i < len(text); {
		n, kind := 1, codeSpan
		switch text[i] {
		case '\\':
			if i+1 < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i+1]) >= 0 {
				n = 2
			}
		case '`':
			n = codeLength(text, i, runs)
		case '<':
			n, kind = markupLength(text, i)
		}
		if n < 0 { // nothing but a run of backticks that nothing closes
			i -= n
			continue
		}
		if (text[i] == '`' || text[i] == '<') && n > 1 {
			out = append(out, span{i, i + n, kind})
		}
		i += n
	}
	return out
}

// backtickRuns are the places of the runs of backticks, by their length.
func backtickRuns(text string) map[int][]int {
	runs := map[int][]int{}
	for i := 0; i < len(text); {
		n := runLength(text, i, '`')
		if n > 0 {
			runs[n] = append(runs[n], i)
		}
		i += max(n, 1)
	}
	return runs
}

func runLength(text string, at int, c byte) int {
	n := 0
	for at+n < len(text) && text[at+n] == c {
		n++
	}
	return n
}

// codeLength is the length of the code span that begins at a run of backticks: up to the next run of that length. Where
// there is none, it is the length of the run, negative.
func codeLength(text string, at int, runs map[int][]int) int {
	n := runLength(text, at, '`')
	places := runs[n]
	i, _ := slices.BinarySearch(places, at+n)
	if i == len(places) {
		return -n
	}
	return places[i] + n - at
}

// markupLength is the length of what begins with < at a place, 1 where that is only a character.
func markupLength(text string, at int) (int, spanKind) {
	rest := text[at:]
	for _, m := range [][2]string{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}, {"<!", ">"}} {
		if !strings.HasPrefix(rest, m[0]) {
			continue
		}
		if end := strings.Index(rest[2:], m[1]); end >= 0 { // "<!-->" is a comment too
			return 2 + end + len(m[1]), commentSpan
		}
		return 1, commentSpan
	}
	if n := tagLength(rest); n > 0 {
		return n, tagSpan
	}
	return 1, tagSpan
}

// noteElement notes which element of HTML a tag opens or ends.
func (d *reviewText) noteElement(tag string, kind spanKind) {
	if kind != tagSpan {
		return
	}
	name := strings.ToLower(tagName.FindString(tag))
	if end, closes := strings.CutPrefix(name, "</"); closes {
		for i := len(d.open) - 1; i >= 0; i-- {
			if d.open[i] == end {
				d.open = d.open[:i]
				return
			}
		}
		return
	}
	if name = strings.TrimPrefix(name, "<"); !slices.Contains(emptyElements, name) && len(d.open) < 1000 {
		d.open = append(d.open, name)
	}
}

var (
	tagName       = pattern.New(`^</?[A-Za-z][A-Za-z0-9-]*`)
	emptyElements = []string{
		"area",
		"base",
		"br",
		"col",
		"embed",
		"hr",
		"img",
		"input",
		"link",
		"meta",
		"param",
		"source",
		"track",
		"wbr",
	}
)

// listLine lists a line. Within an element of HTML that is open no line is plain: it may be folded up, struck out, or
// shown as something else.
func (d *reviewText) listLine(l reviewLine) {
	if l.inside == "" && len(d.open) > 0 {
		l.inside = insideHTML
	}
	if l.inside != quotedLine {
		d.lines = append(d.lines, l)
	}
}

// quotedLine marks a line that somebody else wrote.
const quotedLine = "quoted"

// partOf is what a line of a block is part of.
func (b *textBlock) partOf(inside string, lazy bool) string {
	switch {
	case b.quoted && lazy:
		return insideQuote
	case b.quoted:
		return quotedLine
	case b.depth > 0:
		return insideList
	}
	return inside
}

// endParagraph lists the lines of the paragraph that is open. as is what it turns out to be, "" for a paragraph.
func (b *textBlock) endParagraph(as string) {
	lines := b.paragraph
	if b.paragraph = nil; len(lines) == 0 {
		return
	}
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	text := strings.Join(texts, "\n")
	spans, start, table := spansOf(text), 0, len(lines)
	for i := 1; i < len(lines) && table == len(lines); i++ {
		if delimiterRow.MatchString(texts[i]) && strings.ContainsAny(texts[i], "|:") {
			table = i - 1
		}
	}
	spread := findSpreading(text, spans)
	for i, l := range lines {
		for len(spans) > 0 && spans[0].to <= start {
			b.doc.noteElement(text[spans[0].from:spans[0].to], spans[0].kind)
			spans = spans[1:]
		}
		inside := as
		switch {
		case i >= table && inside == "":
			inside = insideTable
		case inside == "":
			inside = spread(start)
		}
		switch {
		case len(spans) > 0 && spans[0].from < start && spans[0].kind != tagSpan: // code, or nothing that is seen
		case len(spans) > 0 && spans[0].from < start:
			b.doc.listLine(reviewLine{l.number, l.text, b.partOf(insideHTML, l.lazy)})
		default:
			b.doc.listLine(reviewLine{l.number, l.text, b.partOf(inside, l.lazy)})
		}
		start += len(l.text) + 1
	}
	for _, s := range spans {
		b.doc.noteElement(text[s.from:s.to], s.kind)
	}
}

// findSpreading tells of a place in a paragraph whether it may lie within a link, its definition, a formula, or text
// that is struck out: where one of them has begun before it, and something that may end it follows.
func findSpreading(text string, spans []span) func(at int) string {
	plain := []byte(text)
	for _, s := range spans {
		for i := s.from; i < s.to; i++ {
			if plain[i] != '\n' {
				plain[i] = 'x'
			}
		}
	}
	lastBracket, lastParenthesis := bytes.LastIndexByte(plain, ']'), bytes.LastIndexByte(plain, ')')
	lastTilde, lastFormula := bytes.LastIndexByte(plain, '~'), bytes.LastIndex(plain, []byte("$$"))
	at, depth, tildes, formulas, defines, target := 0, 0, 0, 0, false, false
	return func(to int) string {
		for ; at < to; at++ {
			rest := plain[at:]
			switch {
			case rest[0] == '\\' && len(rest) > 1 && rest[1] != '\n':
				at++
			case rest[0] == '[':
				depth++
			case rest[0] == ']':
				depth = max(0, depth-1)
				defines = defines || bytes.HasPrefix(rest, []byte("]:"))
				target = target ||
					bytes.HasPrefix(rest, []byte("](")) &&
						!closedTarget.MatchString(string(rest[1:min(len(rest), maxTag)]))
			case rest[0] == '~':
				tildes, at = tildes+1, at+runLength(text, at, '~')-1
			case bytes.HasPrefix(rest, []byte("$$")):
				formulas, at = formulas+1, at+runLength(text, at, '$')-1
			}
		}
		switch {
		case defines, depth > 0 && lastBracket >= to, target && lastParenthesis >= to:
			return insideLink
		case tildes%2 == 1 && lastTilde >= to, formulas%2 == 1 && lastFormula >= to:
			return insideStruck
		}
		return ""
	}
}

// closedTarget is the target of a link that ends on its line, with a title or without.
var closedTarget = pattern.New(`^\((?:[^"'()<\n]*|[^"'()<\s]+ +(?:"[^"\\\n]*"|'[^'\\\n]*') *)\)`)
