package signoff

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
)

// The beginnings of blocks, of lines whose indentation is taken off (CommonMark 4.1, 4.2, 4.3, 4.5, 5.2; tables:
// GitHub's 4.10).
var (
	headingLine  = pattern.New(`^#{1,6}(?: |$)`)
	setextLine   = pattern.New(`^(?:=+|-+)$`)
	ruleLine     = pattern.New(`^(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$`)
	fenceLine    = pattern.New("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	listMarker   = pattern.New(`^(?:[-+*]|([0-9]{1,9})[.)])( +|$)`)
	delimiterRow = pattern.New(`^\|? *:?-+:? *(?:\| *:?-+:? *)*\|?$`)
)

// spacesForTabs writes the tabs that a line begins with, and those behind its first markers, as the spaces up to the
// next stop of four.
func spacesForTabs(line string) string {
	end := 0
	for end < len(line) && strings.IndexByte(" \t>-+*.)0123456789", line[end]) >= 0 {
		end++
	}
	if !strings.Contains(line[:end], "\t") {
		return line
	}
	var b strings.Builder
	for _, c := range []byte(line[:end]) {
		if c != '\t' {
			b.WriteByte(c)
			continue
		}
		b.WriteString("    "[b.Len()%4:])
	}
	return b.String() + line[end:]
}

// fenceOf is the fence that a line opens a code block with, "" where it opens none.
func fenceOf(text string) string {
	if m := fenceLine.FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// closesFence reports whether a line ends a code block: the same character, at least as often, and nothing else.
func closesFence(rest, fence string) bool {
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}

// markerWidth is how far the content of a list item lies behind the beginning of its line, 0 where the line begins
// none. Within a paragraph only an item that is not empty begins a list, and of the numbered ones only the first.
func markerWidth(text string, interrupts bool) int {
	m := listMarker.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	marker, spaces := len(m[0])-len(m[2]), len(m[2])
	empty := len(trimSpaces(text)) == marker
	if interrupts && (empty || m[1] != "" && strings.TrimLeft(m[1], "0") != "1") {
		return 0
	}
	if empty || spaces > 4 { // more is indented code within the item
		spaces = 1
	}
	return marker + spaces
}

// endsLaziness reports whether a line begins a block of its own where it could continue the paragraph of a quote or
// list item.
func endsLaziness(text string) bool {
	rest := trimSpaces(text)
	return fenceOf(text) != "" || htmlOf(text, true) != nil || headingLine.MatchString(text) ||
		ruleLine.MatchString(rest) ||
		strings.HasPrefix(text, ">") ||
		markerWidth(text, false) > 0
}

// htmlBlock is a block of HTML (CommonMark 4.6), and what ends it: a text in a line, or a blank line where that is "".
type htmlBlock struct {
	until  string
	hidden bool // a comment: a reader sees nothing of it
}

var (
	rawElement   = pattern.New(`(?i)^<(?:script|pre|style|textarea)(?:[ \t>]|$)`)
	rawEnd       = pattern.New(`(?i)</(?:script|pre|style|textarea)>`)
	declaration  = pattern.New(`^<![A-Za-z]`)
	elementStart = pattern.New(`^</?([A-Za-z][A-Za-z0-9]*)(?:[ \t>]|/>|$)`)
)

// blockElements are those whose tags begin a block wherever they stand.
var blockElements = strings.Fields(
	`address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt
	fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main
	menu
	menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track
	ul`,
)

// rawUntil stands for what ends an element whose text is shown as it is.
const rawUntil = "</script>, </pre>, </style> or </textarea>"

// htmlOf is the block of HTML that a line begins, nil where it begins none. A lone tag of another element begins one
// outside of paragraphs only.
func htmlOf(text string, open bool) *htmlBlock {
	switch {
	case !strings.HasPrefix(text, "<"):
		return nil
	case rawElement.MatchString(text):
		return &htmlBlock{until: rawUntil}
	case strings.HasPrefix(text, "<!--"):
		return &htmlBlock{until: "-->", hidden: true}
	case strings.HasPrefix(text, "<?"):
		return &htmlBlock{until: "?>"}
	case strings.HasPrefix(text, "<![CDATA["):
		return &htmlBlock{until: "]]>"}
	case declaration.MatchString(text):
		return &htmlBlock{until: ">"}
	}
	if m := elementStart.FindStringSubmatch(text); m != nil && slices.Contains(blockElements, strings.ToLower(m[1])) {
		return &htmlBlock{}
	}
	if n := tagLength(text); n > 0 && !open && trimSpaces(text[n:]) == "" {
		return &htmlBlock{}
	}
	return nil
}

// readHTML takes a line of a block of HTML. Its tags count: what they open may hide or change all that follows.
func (b *textBlock) readHTML(line string) {
	h, rest := b.html, trimSpaces(line)
	if rest == "" && h.until == "" {
		b.html = nil
		return
	}
	if !h.hidden {
		b.doc.listLine(reviewLine{b.doc.number, rest, b.partOf(insideHTML, false)})
		for _, s := range spansOf(line) {
			b.doc.noteElement(line[s.from:s.to], s.kind)
		}
	}
	if h.until != "" && (strings.Contains(line, h.until) || h.until == rawUntil && rawEnd.MatchString(line)) {
		b.html = nil
	}
}
