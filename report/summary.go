package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/summary"
)

// SummaryFormats lists the formats of Summary and Profile.
func SummaryFormats() []string { return []string{"table", "json", "markdown", "html"} }

// Summary writes a batch or ledger per flight sheet; Profile the same per agent. The html page is one file without
// scripts or addresses.
func Summary(format string, w io.Writer, s summary.Summary, o Options) error {
	return addUp(format, w, s, o, "Flight sheets", sheetParts(s))
}

// Profile writes a batch or ledger per agent.
func Profile(format string, w io.Writer, s summary.Summary, o Options) error {
	return addUp(format, w, s, o, "Agents", agentParts(s))
}

func addUp(format string, w io.Writer, s summary.Summary, o Options, title string, parts []section) error {
	head := fmt.Sprintf("%s over %s", title, legible.Count(s.Samples, "audited submission"))
	switch format {
	case "json":
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("writing the summary: %w", err)
		}
		_, err = w.Write(append(escapeJSON(b), '\n'))
		return err
	case "markdown":
		return partsMarkdown(w, head, parts)
	case "html":
		return partsHTML(w, head, parts)
	case "table":
		return partsTable(w, o, head, parts)
	}
	return fmt.Errorf("unknown format %q; known are %s", format, strings.Join(SummaryFormats(), ", "))
}

// section is one sheet or agent, in words that every format can show: facts, tables, plots.
type section struct {
	heading string
	facts   [][2]string
	tables  []grid
	plots   []plot
}

// grid is a table; the first column is text, the others stand on the right.
type grid struct {
	columns []string
	rows    [][]string
}

// plot is a picture of numbers that a table beside it also gives.
type plot struct {
	title  string
	labels []string
	values []float64 // for drawing only: what is printed is the decimal text in the tables
	line   bool
}

func sheetParts(s summary.Summary) []section {
	var out []section
	for i, x := range s.Sheets {
		p, board := section{heading: x.Sheet + " · " + x.Lane}, summary.Board{}
		if i < len(s.Boards) {
			board = s.Boards[i]
		}
		p.taskFacts(x.Task)
		p.addCounts("verdict", "submissions", x.Severities)
		p.addCounts("recommended", "submissions", x.Actions)
		p.tables = append(p.tables, boardGrid(board))
		p.taskTables(x.Task)
		p.tables = append(p.tables, complianceGrid(x.Compliance),
			distributionGrid(append([]summary.Distribution{x.Score, x.Errors}, ownValues(x)...)), failureGrid(x.Failures))
		p.plots = append(p.plots, barPlot("Compliance by kind of rule, percent", x.Compliance,
			func(c summary.Compliance) (string, string) { return c.Kind, c.Rate }))
		p.plots = append(p.plots, barPlot("Ways to fail, percent of submissions", x.Failures[:min(len(x.Failures), 8)],
			func(f summary.Failure) (string, string) { return f.Code, f.Rate }))
		p.plots = append(p.plots, histogramPlot("Scores", &x.Score),
			histogramPlot("Relative errors of flagged calculations, percent", &x.Errors))
		out = append(out, p)
	}
	return out
}

func agentParts(s summary.Summary) []section {
	var out []section
	for _, x := range s.Agents {
		p := section{heading: modelName(x.Agent, x.Model)}
		p.addFact("submissions", fmt.Sprint(x.Samples))
		p.addFact("client ready", fmt.Sprintf("%d (%s %%)", x.Ready.N, x.Ready.Share))
		if x.Confidence != "" {
			p.addFact("confidence", x.Confidence+", declared by the model; it reaches no verdict")
		}
		p.priorFact(x.Prior)
		p.addCounts("verdict", "submissions", x.Severities)
		p.addCounts("with findings of tier", "submissions", x.Tiers)
		p.addCounts("with findings of bucket", "submissions", x.Buckets)
		p.addCounts("sheet", "submissions", x.Sheets)
		p.tables = append(p.tables, distributionGrid([]summary.Distribution{x.Score}), trendGrid(x.Trend))
		p.plots = append(p.plots, trendLine(x.Trend), histogramPlot("Scores", &x.Score))
		out = append(out, p)
		for _, t := range x.Tasks {
			if t.Families == nil {
				continue // figures of predictions; other sheets have none of them
			}
			one := section{heading: modelName(x.Agent, x.Model) + " › " + t.Sheet}
			one.taskFacts(t)
			one.taskTables(t)
			out = append(out, one)
		}
	}
	return out
}

func (p *section) addFact(name, text string) { p.facts = append(p.facts, [2]string{name, text}) }

func (p *section) addCounts(title, unit string, list []summary.Count) {
	g := grid{columns: []string{title, unit, "percent"}}
	for _, c := range list {
		g.rows = append(g.rows, []string{c.Name, fmt.Sprint(c.N), c.Share})
	}
	p.tables = append(p.tables, g)
}

func complianceGrid(list []summary.Compliance) grid {
	g := grid{columns: []string{"kind of rule", "kept", "flagged", "skipped", "open", "percent"}}
	for _, c := range list {
		g.rows = append(g.rows, []string{c.Kind, fmt.Sprint(c.Satisfied), fmt.Sprint(c.Flagged), fmt.Sprint(c.Skipped),
			fmt.Sprint(c.Open), c.Rate})
	}
	return g
}

func distributionGrid(list []summary.Distribution) grid {
	g := grid{columns: []string{"number", "n", "mean", "p50", "p95", "p99", "greatest"}}
	for _, d := range list {
		if d.N > 0 {
			g.rows = append(g.rows, []string{d.Name, fmt.Sprint(d.N), shortNumber(d.Mean), shortNumber(d.P50),
				shortNumber(d.P95), shortNumber(d.P99), shortNumber(d.Max)})
		}
	}
	return g
}

func failureGrid(list []summary.Failure) grid {
	g := grid{columns: []string{"way to fail", "tier", "submissions", "findings", "percent"}}
	for _, f := range list[:min(len(list), 20)] {
		g.rows = append(g.rows, []string{f.Code, f.Tier, fmt.Sprint(f.Samples), fmt.Sprint(f.Findings), f.Rate})
	}
	return g
}

func trendGrid(list []summary.Point) grid {
	g := grid{columns: []string{"samples", "mean score"}}
	for _, p := range list {
		g.rows = append(g.rows, []string{fmt.Sprintf("%d–%d", p.From, p.To), p.Score})
	}
	return g
}

// partsTable is for a terminal.
func partsTable(w io.Writer, o Options, head string, parts []section) error {
	t := newTable(w, o).(*table)
	t.emitLine(t.ink.bold(head))
	for _, p := range parts {
		facts := make([][2]string, len(p.facts))
		for i, f := range p.facts { // a profile states its confidence in its own words
			facts[i] = [2]string{f[0], CleanName(f[1])}
		}
		t.emitEntries(CleanName(p.heading), facts)
		for _, g := range p.tables {
			if len(g.rows) == 0 {
				continue
			}
			t.emitLine("")
			t.emitGrid(t.fitColumns(g), t.fitCells(g))
		}
	}
	return t.p.err
}

// fitColumns gives the first column what the others leave.
func (t *table) fitColumns(g grid) []column {
	columns := make([]column, len(g.columns))
	rest := t.width
	for i := len(g.columns) - 1; i > 0; i-- {
		wide := textColumns(g.columns[i])
		for _, row := range g.rows {
			wide = max(wide, min(textColumns(row[i]), 12))
		}
		columns[i] = column{g.columns[i], wide, true}
		rest -= wide + gap
	}
	columns[0] = column{g.columns[0], max(10, min(36, rest-gap)), false}
	return columns
}

func (t *table) fitCells(g grid) [][]string {
	columns := t.fitColumns(g)
	out := make([][]string, len(g.rows))
	for i, row := range g.rows {
		for k, cell := range row {
			if k == 0 { // both ends of a name tell it from others
				cell = elideMiddle(CleanName(cell), columns[k].width)
			}
			out[i] = append(out[i], shortenTo(CleanName(cell), columns[k].width))
		}
	}
	return out
}

// partsMarkdown is for a comment or a job summary.
func partsMarkdown(w io.Writer, head string, parts []section) error {
	p := printer{w: w}
	p.printf("# %s\n", head)
	for _, x := range parts {
		p.printf("\n## %s\n\n", idSpan(x.heading))
		for _, f := range x.facts {
			p.printf("- %s: %s\n", f[0], sentenceSpan(f[1]))
		}
		for _, g := range x.tables {
			if len(g.rows) == 0 {
				continue
			}
			p.printf("\n| %s |\n|%s\n", strings.Join(g.columns, " | "), " --- |"+strings.Repeat(" ---: |",
				len(g.columns)-1))
			for _, row := range g.rows {
				cells := make([]string, len(row))
				for i, c := range row {
					cells[i] = tableCell(c, maxName)
				}
				p.printf("| %s |\n", strings.Join(cells, " | "))
			}
		}
	}
	return p.err
}
