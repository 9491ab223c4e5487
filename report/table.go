package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/defendableos/referee/referee"
)

// The widths of a table: narrower it would break words, wider the eye loses the line.
const (
	defaultWidth = 80
	minWidth     = 60
	maxWidth     = 120
)

// table is the paper for a terminal.
type table struct {
	p      printer
	o      Options
	ink    ink
	width  int
	totals *totals
	batch  batch
	shown  int  // reports or lines written
	models bool // the lines of a large table name the model
}

func newTable(w io.Writer, o Options) Writer {
	t := &table{p: printer{w: w}, o: o, ink: ink(o.Color), width: o.Width, totals: newTotals()}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	t.width = min(max(t.width, minWidth), maxWidth)
	t.batch = batch{full: t.writeBlock, line: t.line}
	return t
}

// Add shows a report, or keeps it until it is known whether there are more than 20.
func (t *table) Add(r *referee.Report) error {
	t.totals.add(r, t.o.FailOn)
	t.batch.add(r)
	return t.p.err
}

// Close writes the blocks of few reports, and the sums of more than one.
func (t *table) Close() error {
	t.batch.close()
	t.summary()
	return t.p.err
}

// ink colours text, or leaves it.
type ink bool

func (i ink) paint(code, text string) string {
	if !i || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (i ink) bold(text string) string { return i.paint("1", text) }
func (i ink) dim(text string) string  { return i.paint("2", text) }

func (i ink) paintTier(t referee.Tier, text string) string {
	switch t {
	case referee.High:
		return i.paint("1;31", text)
	case referee.Mid:
		return i.paint("33", text)
	case referee.Low:
		return i.paint("36", text)
	}
	return text
}

func (i ink) paintSeverity(s referee.Severity, text string) string {
	switch s {
	case referee.Propolis:
		return i.paint("1;31", text)
	case referee.Jelly:
		return i.paint("33", text)
	}
	return i.paint("32", text)
}

// emitLine writes one line of the table. A line must not begin with a workflow command: a runner reads those after
// white space too.
func (t *table) emitLine(line string) {
	line = strings.TrimRight(line, " ")
	if strings.HasPrefix(strings.TrimLeft(line, " "), "::") {
		line = strings.Replace(line, "::", "·:", 1)
	}
	t.p.print(line + "\n")
}

// column is a column of a grid with its inner width.
type column struct {
	title string
	width int
	right bool
}

// emitGrid writes rows under a ruled header. Cells are wrapped by the caller, so that colours never count as width.
func (t *table) emitGrid(columns []column, rows [][]string) {
	var out strings.Builder
	alignments := make([]tw.Align, len(columns))
	widths := tw.NewMapper[int, int]()
	titles := make([]string, len(columns))
	for i, c := range columns {
		alignments[i], titles[i] = tw.AlignLeft, c.title
		if c.right {
			alignments[i] = tw.AlignRight
		}
		widths.Set(i, c.width+gap)
	}
	w := tablewriter.NewTable(&out,
		tablewriter.WithEastAsian(tw.Off), // else it would follow the environment
		tablewriter.WithRendition(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbolCustom("rule").WithRow("─").WithColumn("").WithCenter("").WithMidLeft(
				"").WithMidRight(""),
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
				Lines: tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off, ShowHeaderLine: tw.On}},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off), tablewriter.WithColumnWidths(widths),
		tablewriter.WithPadding(tw.Padding{Left: " ", Right: strings.Repeat(" ", gap-1), Overwrite: true}),
		tablewriter.WithAlignment(alignments),
	)
	w.Header(titles)
	if err := w.Bulk(rows); err != nil && t.p.err == nil {
		t.p.err = err
	}
	if err := w.Render(); err != nil && t.p.err == nil {
		t.p.err = err
	}
	for line := range strings.Lines(out.String()) {
		t.emitLine(strings.TrimSuffix(line, "\n"))
	}
}

// gap is the white space between two columns.
const gap = 2

// textColumns is the number of terminal columns that a text takes, the same in every locale.
func textColumns(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// wrapText breaks a clean text into lines of at most n columns: at spaces, and within a word that is longer than a
// line.
func wrapText(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && textColumns(line)+1+textColumns(word) <= n {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for w := textColumns(word); w > n; { // characters have the same width alone as in a word
			head := cutToWidth(word, n)
			lines = append(lines, head)
			word, w = word[len(head):], w-textColumns(head)
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// cutToWidth is the longest beginning of a word that takes at most n columns, and at least one character; a break after
// a separator of paths and lists is preferred.
func cutToWidth(word string, n int) string {
	used, end, soft := 0, 0, 0
	for i, r := range word {
		w := textColumns(string(r))
		if used+w > n && i > 0 {
			break
		}
		used += w
		end = i + len(string(r))
		if strings.ContainsRune("/,;=_-", r) {
			soft = end
		}
	}
	if soft > end/2 {
		return word[:soft]
	}
	return word[:end]
}

// shortenTo cuts a clean text to n columns.
func shortenTo(text string, n int) string {
	if textColumns(text) <= n {
		return text
	}
	return cutHard(text, n-1) + "…"
}

func cutHard(text string, n int) string {
	used := 0
	for i, r := range text {
		if used += textColumns(string(r)); used > n {
			return text[:i]
		}
	}
	return text
}

// padTo fills a text up to n columns.
func padTo(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-textColumns(text)))
}

// emitSides puts one text on the left and one on the right of a line.
func (t *table) emitSides(left, right string, paintLeft, paintRight func(string) string) {
	room := t.width - textColumns(right) - gap
	if room < 20 {
		t.emitLine(paintLeft(shortenTo(left, t.width)))
		t.emitLine("  " + paintRight(shortenTo(right, t.width-2)))
		return
	}
	t.emitLine(padTo(paintLeft(shortenTo(left, room)), room) + "  " + paintRight(right))
}

// emitEntries writes names with a text each, the names in one column.
func (t *table) emitEntries(heading string, list [][2]string) {
	if len(list) == 0 {
		return
	}
	t.emitLine("")
	t.emitLine(t.ink.bold(shortenTo(heading, t.width)))
	left := 0
	for _, e := range list {
		left = max(left, min(textColumns(e[0]), t.width/3))
	}
	for _, e := range list {
		for i, line := range wrapText(e[1], t.width-left-2-gap) {
			label := ""
			if i == 0 {
				label = shortenTo(e[0], left)
			}
			t.emitLine(fmt.Sprintf("  %s  %s", padTo(label, left), line))
		}
	}
}
