package pdf

import (
	"github.com/defendableos/referee/report"
)

import "strings"

// color is red, green, blue.
type color [3]int

// The colours. Each also tells itself from its neighbours by its lightness, so that a paper printed in grey says the
// same.
var (
	black  = color{17, 24, 32}
	grey   = color{92, 99, 108}
	light  = color{203, 208, 214}
	pale   = color{244, 245, 247}
	white  = color{255, 255, 255}
	gold   = color{214, 154, 18}
	plum   = color{112, 66, 138}
	rust   = color{126, 36, 20}
	silver = color{118, 125, 134}
)

// style is how a text is set.
type style struct {
	face  face
	size  float64
	color color
}

// lineHeight is the height of a line.
func (s style) lineHeight() float64 { return s.size * millimetre * 1.38 }

// baseline is how far below the top of a line its letters stand.
func (s style) baseline() float64 { return s.size * millimetre * 1.03 }

// The styles of running text.
var (
	body   = style{size: 8.8, color: black}
	strong = style{face: bold, size: 8.8, color: black}
	label  = style{size: 8.2, color: grey}
	note   = style{size: 7.8, color: grey}
	digest = style{face: mono, size: 7.8, color: black}
)

func (p *paper) setFill(c color) { p.f.SetFillColor(c[0], c[1], c[2]) }

func (p *paper) setStroke(c color, width float64) {
	p.f.SetDrawColor(c[0], c[1], c[2])
	p.f.SetLineWidth(width)
}

// ruleLine rules the page off.
func (p *paper) ruleLine(y float64, c color) {
	p.setStroke(c, 0.2)
	p.f.Line(marginSide, y, pageWidth-marginSide, y)
}

// setText sets one line; the text is fit for the paper already (shown). x is where it begins, y where its letters
// stand.
func (p *paper) setText(x, y float64, s style, text string) {
	for _, r := range p.splitRuns(s.face, text) {
		at := style{r.face, s.size, s.color}
		if p.font != at {
			p.setFont(at)
		}
		p.f.Text(x, y, r.text)
		x += p.textWidthIn(r.face, s.size, r.text)
	}
}

// setTextRight sets one line that ends at x.
func (p *paper) setTextRight(x, y float64, s style, text string) {
	p.setText(x-p.textWidthIn(s.face, s.size, text), y, s, text)
}

// span is a text of one style, which wraps. Mark, if there is one, is the tier that stands as a sign in its place.
type span struct {
	style style
	text  string
	mark  string
}

// row is one line of a cell, after wrapping.
type row span

// wrapSpans wraps spans to a width; a line break in a text is one on the paper.
func (p *paper) wrapSpans(spans []span, width float64) []row {
	var all []row
	for _, s := range spans {
		if s.mark != "" {
			all = append(all, row(s))
			continue
		}
		for _, line := range p.splitLines(s.text) {
			for _, part := range p.wrapLine(s.style.face, s.style.size, line, width) {
				all = append(all, row{style: s.style, text: part})
			}
		}
	}
	return all
}

// maxLines is how many line breaks of a text are followed.
const maxLines = 60

// splitLines splits a text at its line breaks and makes each part fit for the paper.
func (p *paper) splitLines(text string) []string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	parts := strings.SplitN(text, "\n", maxLines)
	for i, part := range parts {
		parts[i] = p.fitForPaper(report.CleanMessage(part))
	}
	return parts
}

// drawRows draws lines from the top y on.
func (p *paper) drawRows(x, y float64, lines []row) {
	for _, l := range lines {
		if l.mark != "" {
			p.drawTierSign(x, y, l.mark)
		} else {
			p.setText(x, y+l.style.baseline(), l.style, l.text)
		}
		y += l.style.lineHeight()
	}
}

// setParagraph sets a text over the width of the page.
func (p *paper) setParagraph(s style, text string) {
	for _, l := range p.wrapSpans([]span{{style: s, text: text}}, textWidth) {
		p.needHeight(s.lineHeight())
		p.drawRows(marginSide, p.y, []row{l})
		p.y += s.lineHeight()
	}
}

// beginSection begins a part of the paper. A heading does not stand alone at the end of a page: room is what must fit
// below it.
func (p *paper) beginSection(title string, room float64) {
	p.y += 4.4
	p.needHeight(7 + room)
	p.setText(marginSide, p.y+3.2, style{face: bold, size: 10.5, color: black}, title)
	p.ruleLine(p.y+5, light)
	p.y += 7
}

// pair is a label and what stands beside it.
type pair struct {
	label string
	value []span
}

// labelWidth is the room of a label.
const labelWidth = 36.0

// setPairs lists labels and values, leaving out what has no value.
func (p *paper) setPairs(list ...pair) {
	cols := []field{{width: labelWidth}, {width: textWidth - labelWidth}}
	for _, l := range list {
		if len(l.value) > 0 {
			p.setRecord(cols, [][]span{{{style: label, text: l.label}}, l.value}, 0.5)
		}
	}
}

// field is one of a table.
type field struct {
	title string
	width float64
}

// setTable sets rows of cells under a head that every page repeats.
func (p *paper) setTable(cols []field, cells [][][]span) {
	p.needHeight(16)
	p.setTableHead(cols)
	for _, c := range cells {
		p.setRecord(cols, c, 1)
		p.ruleLine(p.y, light)
	}
}

// setTableHead sets the titles of the columns.
func (p *paper) setTableHead(cols []field) {
	p.setFill(pale)
	p.f.Rect(marginSide, p.y, textWidth, 5.4, "F")
	x := marginSide
	for _, c := range cols {
		p.setText(x+1, p.y+3.7, style{face: bold, size: 7.4, color: grey}, c.title)
		x += c.width
	}
	p.y += 5.4
}

// setRecord sets cells beside each other. It moves to the next page as a whole if it fits there and not here, and is
// split between lines if it is longer than half a page.
func (p *paper) setRecord(cols []field, cells [][]span, pad float64) {
	lines := make([][]row, len(cols))
	whole := 0.0
	for i, c := range cells {
		lines[i] = p.wrapSpans(c, cols[i].width-2)
		whole = max(whole, linesHeight(lines[i]))
	}
	if whole+2*pad < (marginEnd-marginTop)/2 && p.y+whole+2*pad > marginEnd {
		p.turnPage(cols)
	}
	inset := 0.0
	if cols[0].title != "" {
		inset = 1
	}
	for {
		p.y += pad
		used := 0.0
		x, left := marginSide, false
		for i := range lines {
			n, height := linesThatFit(lines[i], marginEnd-p.y)
			p.drawRows(x+inset, p.y, lines[i][:n])
			lines[i] = lines[i][n:]
			left = left || len(lines[i]) > 0
			used = max(used, height)
			x += cols[i].width
		}
		p.y += used + pad
		if !left {
			return
		}
		p.turnPage(cols)
	}
}

// turnPage begins a page inside of a table, with its head if it has one.
func (p *paper) turnPage(cols []field) {
	p.beginPage()
	if cols[0].title != "" {
		p.setTableHead(cols)
	}
}

func linesHeight(lines []row) float64 {
	_, height := linesThatFit(lines, pageHeight*1000)
	return height
}

// linesThatFit is how many lines fit into a height, and how tall they are together.
func linesThatFit(lines []row, height float64) (n int, used float64) {
	for n < len(lines) && used+lines[n].style.lineHeight() <= height {
		used += lines[n].style.lineHeight()
		n++
	}
	return n, used
}
