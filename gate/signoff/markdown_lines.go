package signoff

import (
	"cmp"
	"slices"
	"strings"
)

// reviewLine is one line of a review that may be a command, and how a reader of the rendered review sees it.
type reviewLine struct {
	number int
	text   string // without the white space around it
	// "" for a line of a plain paragraph; else what it is part of: a command there does not count, and its author
	// learns why
	inside string
}

// What a command may be part of without being a plain line of the review.
const (
	insideQuote   = "a quote, which goes on until a blank line"
	insideList    = "a list"
	insideHeading = "a heading"
	insideTable   = "a table"
	insideHTML    = "HTML"
	insideLink    = "a link or its definition"
	insideStruck  = "a formula, or text that is struck out"
)

// reviewLines are the lines of a review's paragraphs, in order. It reads the text as CommonMark 0.31.2 has it (sections
// 4 and 5), with GitHub's tables, formulas and strike-through, as far as that decides what a reader sees. Lines that
// show code, somebody else's words (a quote) or nothing at all (an HTML comment) are left out. Where telling would need
// a whole renderer, a line is taken for not plain, and never for plain.
func reviewLines(body string) []reviewLine {
	doc := &reviewText{}
	top := &textBlock{doc: doc}
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(body, "\n") {
		doc.number++
		top.readLine(line)
	}
	top.closeAll()
	slices.SortStableFunc(doc.lines, func(a, b reviewLine) int { return cmp.Compare(a.number, b.number) })
	return doc.lines
}

// reviewText is what all blocks of a review share.
type reviewText struct {
	number int // of the line that is read
	lines  []reviewLine
	open   []string // elements of HTML that have begun and not ended
}

// textBlock is the review itself, or a quote or list item in it, while it is read line by line.
type textBlock struct {
	doc    *reviewText
	quoted bool // a quote, or in one
	// of a list item, the width of its marker: lines that are indented as far belong to it; 0 for a quote
	item      int
	depth     int        // 0 for the review itself
	child     *textBlock // the quote or list item that is open
	fence     string     // that has begun a code block, "" outside of one
	html      *htmlBlock
	paragraph []paragraphLine
}

// paragraphLine is a line of a paragraph. A lazy one continues the paragraph of a quote or list item without the item's
// marker.
type paragraphLine struct {
	number int
	text   string
	lazy   bool
}

// maxDepth is how deep quotes and lists are followed. What lies deeper is read as a paragraph of the quote or item
// around it.
const maxDepth = 50

// readLine takes the next line, without the markers of the blocks around this one.
func (b *textBlock) readLine(line string) {
	line = spacesForTabs(line)
	if b.child != nil && b.offerChild(b.child, line) {
		return
	}
	b.endChild()
	indent := len(line) - len(strings.TrimLeft(line, " "))
	rest := trimSpaces(line)
	switch {
	case b.fence != "":
		if indent <= 3 && closesFence(rest, b.fence) {
			b.fence = ""
		}
	case b.html != nil:
		b.readHTML(line)
	case rest == "":
		b.endParagraph("")
	case indent > 3 && len(b.paragraph) == 0: // indented code
	case indent > 3:
		b.addToParagraph(line, false)
	default:
		b.beginBlock(line, rest, indent)
	}
}

// offerChild hands a line to the open quote or list item if it belongs to it, and reports whether it does.
func (b *textBlock) offerChild(c *textBlock, line string) bool {
	text := strings.TrimLeft(line, " ")
	indent, blank := len(line)-len(text), trimSpaces(text) == ""
	switch {
	case c.item == 0 && indent <= 3 && strings.HasPrefix(text, ">"):
		c.readLine(afterQuote(text))
		return true
	case c.item > 0 && (blank || indent >= c.item):
		c.readLine(line[min(c.item, indent):])
		return true
	}
	inner := c
	for inner.child != nil {
		inner = inner.child
	}
	lazy := len(inner.paragraph) > 0 && inner.fence == "" && inner.html == nil
	if !lazy || blank || indent <= 3 && endsLaziness(text) {
		return false
	}
	inner.addToParagraph(line, !b.quoted) // what is lazy within a quote was quoted
	return true
}

// afterQuote is what follows a quote's marker and the one space behind it.
func afterQuote(text string) string {
	return strings.TrimPrefix(spacesForTabs(" " + text[1:])[1:], " ")
}

// beginBlock reads a line that is indented by less than a code block, where no code and no HTML is open.
func (b *textBlock) beginBlock(line, rest string, indent int) {
	text := line[indent:]
	open := len(b.paragraph) > 0
	switch {
	case fenceOf(text) != "":
		b.endParagraph("")
		b.fence = fenceOf(text)
	case htmlOf(text, open) != nil:
		b.endParagraph("")
		b.html = htmlOf(text, open)
		b.readHTML(line)
	case headingLine.MatchString(text):
		b.endParagraph("")
		b.addToParagraph(strings.TrimLeft(text, "#"), false)
		b.endParagraph(insideHeading)
	case open && setextLine.MatchString(rest):
		b.endParagraph(insideHeading)
	case ruleLine.MatchString(rest):
		b.endParagraph("")
	case b.depth < maxDepth && strings.HasPrefix(text, ">"):
		b.openChild(true, 0, afterQuote(text))
	case b.depth < maxDepth && markerWidth(text, open) > 0:
		width := markerWidth(text, open)
		b.openChild(b.quoted, indent+width, text[min(width, len(text)):])
	default:
		b.addToParagraph(line, false)
	}
}

// openChild opens a quote or list item, whose first line is the rest of this one.
func (b *textBlock) openChild(quoted bool, item int, first string) {
	b.endParagraph("")
	b.child = &textBlock{doc: b.doc, quoted: quoted, item: item, depth: b.depth + 1}
	b.child.readLine(first)
}

func (b *textBlock) addToParagraph(line string, lazy bool) {
	b.paragraph = append(b.paragraph, paragraphLine{b.doc.number, trimSpaces(line), lazy})
}

// closeAll closes everything that is open.
func (b *textBlock) closeAll() {
	b.endChild()
	b.endParagraph("")
}

func (b *textBlock) endChild() {
	if b.child != nil {
		b.child.closeAll()
		b.child = nil
	}
}

// trimSpaces is a text without what CommonMark takes for white space around it: other spaces are text.
func trimSpaces(s string) string { return strings.Trim(s, " \t") }
