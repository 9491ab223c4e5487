package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/report"
)

// pageWidth is the width of everything that is printed to be read: it reads the same in a terminal, a pipe and a bug
// report.
const pageWidth = 80

// page is text to be read, wrapped. Sheets may come from a repository: every word is cleaned before it is shown.
type page struct{ b strings.Builder }

// line writes one line as it is.
func (p *page) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(report.Clean(fmt.Sprintf(format, args...)), " ") + "\n")
}

// beginSection begins a part of the page.
func (p *page) beginSection(title string) {
	p.b.WriteString("\n" + report.Clean(title) + "\n")
}

// text writes a paragraph behind lead: the first line begins with it, the others are indented as far. Line breaks in
// text are kept.
func (p *page) text(lead, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for _, line := range wrapText(report.Clean(paragraph), pageWidth-utf8.RuneCountInString(indent)) {
			p.b.WriteString(strings.TrimRight(report.Clean(lead)+line, " ") + "\n")
			lead = indent
		}
	}
}

// writeEntry writes a name in a column of its own and a text beside it, or below it where the name is too long.
func (p *page) writeEntry(name string, column int, text string) {
	lead := "  " + name
	if n := utf8.RuneCountInString(lead); n < column {
		p.text(lead+strings.Repeat(" ", column-n), text)
		return
	}
	p.line("%s", lead)
	p.text(strings.Repeat(" ", column), text)
}

// writeLabelled writes "Label: text" under an entry, if there is a text.
func (p *page) writeLabelled(column int, label, text string) {
	if text != "" {
		p.text(strings.Repeat(" ", column)+strings.TrimLeft(label+" ", " "), text)
	}
}

// wrapText breaks a text at spaces into lines of at most n characters; a longer word stands alone.
func wrapText(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// writeColumns writes rows in columns that are as wide as their widest cell.
func (p *page) writeColumns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(report.Clean(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cell = report.Clean(cell)
			b.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		p.line("%s", b.String())
	}
}

// orDash keeps a column from being empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
