package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/defendableos/referee/summary"
)

// pageStyle is the whole look of the page: no font, script or picture from elsewhere.
//
//go:embed page/summary.css
var pageStyle string

// partsHTML is one page that needs nothing else.
func partsHTML(w io.Writer, head string, parts []section) error {
	p := printer{w: w}
	p.printf(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" `+
		`content="width=device-width,initial-scale=1">`+
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src `+
		`'unsafe-inline'"><title>%s</title><style>%s</style></head><body><main><h1>%s</h1>`+"\n", htmlText(head),
		pageStyle, htmlText(head))
	for _, x := range parts {
		p.printf("<section><h2>%s</h2><dl>", htmlText(x.heading))
		for _, f := range x.facts {
			p.printf("<dt>%s</dt><dd>%s</dd>", htmlText(f[0]), htmlText(f[1]))
		}
		p.print("</dl>\n")
		for _, g := range x.plots {
			p.print(g.svgPlot())
		}
		p.print(`<div class="tables">`)
		for _, g := range x.tables {
			p.print(g.htmlTable())
		}
		p.print("</div></section>\n")
	}
	p.print("</main></body></html>\n")
	return p.err
}

// htmlText is a hostile text as HTML.
func htmlText(s string) string { return html.EscapeString(CleanName(s)) }

func (g grid) htmlTable() string {
	if len(g.rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<table><thead><tr>")
	for _, c := range g.columns {
		b.WriteString(`<th scope="col">` + htmlText(c) + "</th>")
	}
	b.WriteString("</tr></thead><tbody>")
	for _, row := range g.rows {
		b.WriteString("<tr>")
		for _, c := range row {
			b.WriteString("<td>" + htmlText(c) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

// barPlot makes a bar plot of named percentages; empty where there are none.
func barPlot[T any](title string, list []T, of func(T) (label, value string)) plot {
	p := plot{title: title}
	for _, x := range list {
		label, value := of(x)
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			p.labels, p.values = append(p.labels, label), append(p.values, v)
		}
	}
	return p
}

// histogramPlot shows how a distribution spreads in ten steps.
func histogramPlot(title string, d *summary.Distribution) plot {
	p := plot{title: fmt.Sprintf("%s, from %s to %s", title, d.Min, d.Max)}
	for i, n := range d.Histogram(10) {
		p.labels, p.values = append(p.labels, strconv.Itoa(i+1)), append(p.values, float64(n))
	}
	return p
}

func trendLine(points []summary.Point) plot {
	p := plot{title: "Mean score over time", line: true}
	for _, x := range points {
		if v, err := strconv.ParseFloat(x.Score, 64); err == nil {
			p.labels, p.values = append(p.labels, fmt.Sprintf("%d–%d", x.From, x.To)), append(p.values, v)
		}
	}
	if len(p.values) < 2 {
		p.values = nil
	}
	return p
}

// svgPlot draws the plot; the table beside it gives the same numbers to those who cannot see it.
func (p plot) svgPlot() string {
	if len(p.values) == 0 {
		return ""
	}
	var b strings.Builder
	draw := p.drawBars
	if p.line {
		draw = p.drawLine
	}
	wide, high := draw(&b)
	return fmt.Sprintf(`<figure><svg role="img" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`aria-label="%s">%s</svg><figcaption>%s</figcaption></figure>`+"\n",
		wide, high, wide, high, htmlText(p.title), b.String(), htmlText(p.title))
}

// The measures of the drawings, in pixels.
const (
	barRow    = 20
	barLabel  = 190
	barLength = 200
	lineWide  = 420
	lineHigh  = 140
)

func (p plot) drawBars(b *strings.Builder) (wide, high int) {
	most := 0.0
	for _, v := range p.values {
		most = max(most, v)
	}
	for i, v := range p.values {
		length := 0
		if most > 0 {
			length = int(v / most * barLength)
		}
		y := i * barRow
		fmt.Fprintf(b, `<text x="0" y="%d">%s</text><rect class="bar" x="%d" y="%d" width="%d" height="%d"/><text `+
			`x="%d" y="%d">%s</text>`,
			y+14, html.EscapeString(CleanStart(p.labels[i], 30)), barLabel, y+4, max(length, 1), barRow-8,
			barLabel+length+6, y+14, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return barLabel + barLength + 60, len(p.values)*barRow + 4
}

// drawLine draws scores, which lie between 0 and 100.
func (p plot) drawLine(b *strings.Builder) (wide, high int) {
	points := make([]string, len(p.values))
	for i, v := range p.values {
		x := 30 + i*(lineWide-40)/(len(p.values)-1)
		points[i] = fmt.Sprintf("%d,%d", x, lineHigh-20-int(min(max(v, 0), 100)/100*(lineHigh-30)))
	}
	fmt.Fprintf(b, `<line class="axis" x1="30" y1="%d" x2="%d" y2="%d"/><text x="0" y="14">100</text><text x="14" `+
		`y="%d">0</text><polyline class="line" points="%s"/>`,
		lineHigh-20, lineWide-10, lineHigh-20, lineHigh-16, strings.Join(points, " "))
	return lineWide, lineHigh
}
