package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// The bounds of a markdown paper: GitHub takes a comment of 65,536 characters and a job summary of 1 MiB (gate.md). A
// report's block stays below the first with room for what the gate adds.
const (
	maxBlock = 60_000
	maxRows  = 1000
)

// markdown is the paper for comments and job summaries.
type markdown struct {
	p      printer
	o      Options
	totals *totals
	batch  batch
	rows   int
	shown  int
}

func newMarkdown(w io.Writer, o Options) Writer {
	m := &markdown{p: printer{w: w}, o: o, totals: newTotals()}
	m.batch = batch{full: m.writeBlock, line: m.writeRow}
	return m
}

// Add shows a report, or keeps it until it is known whether there are more than 20.
func (m *markdown) Add(r *referee.Report) error {
	m.totals.add(r, m.o.FailOn)
	m.batch.add(r)
	return m.p.err
}

// Close writes the blocks of few reports, and the sums of more than one.
func (m *markdown) Close() error {
	m.batch.close()
	m.writeSummary()
	return m.p.err
}

func (m *markdown) writeBlock(r *referee.Report) {
	if m.shown++; m.shown > 1 {
		m.p.print("\n---\n\n")
	}
	m.p.print(Markdown(r, m.o, maxBlock))
}

// codeSpan is a hostile text as a code span: clean, cut, on one line, within a fence that is longer than any run of
// backticks in it. Mentions and HTML comments are broken although a span shows them as text, since mail clients and
// markers read the raw page.
func codeSpan(s string, limit int) string {
	s = CleanStart(s, limit)
	s = strings.ReplaceAll(s, "<!--", "<!- -")
	s = strings.ReplaceAll(s, "-->", "- ->")
	s = strings.ReplaceAll(s, "@", "(at)")
	if strings.Trim(s, " ") == "" {
		return "`(empty)`"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") &&
		strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// tableCell is code for a table, where a bar ends the cell even within a span.
func tableCell(s string, limit int) string { return strings.ReplaceAll(codeSpan(s, limit), "|", `\|`) }

// idSpan, sentence: the two lengths of code spans.
func idSpan(s string) string       { return codeSpan(s, maxName) }
func sentenceSpan(s string) string { return codeSpan(s, maxMessage) }

// Markdown is one report as a block of at most limit bytes. What does not fit is left out from the end, whole findings
// at a time, and the block says so.
func Markdown(r *referee.Report, o Options, limit int) string {
	sections := []string{markdownHead(r, o)}
	for i := range r.Findings {
		sections = append(sections, markdownFinding(i+1, r, &r.Findings[i]))
	}
	sections = append(sections, markdownTail(r, o)...)
	const reserve = 120 // for the sentence about what is left out
	var b strings.Builder
	for i, s := range sections {
		last := i == len(sections)-1
		if b.Len()+len(s) > limit-reserve && !(last && b.Len()+len(s) <= limit) {
			fmt.Fprintf(&b, "\n_%s left out: this page is full. The report has all of it._\n",
				legible.Count(len(sections)-i, "part"))
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

func markdownHead(r *referee.Report, o Options) string {
	v := r.Verdict
	mark := "pass"
	if r.Fails(o.FailOn) {
		mark = "fail"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Referee: %s, %s, score %s\n\n", mark, idSpan(string(v.Severity)), idSpan(v.Score))
	fmt.Fprintf(&b, "%s: %s by %s@%s\n\n", idSpan(bareTitle(r)), idSpan(submissionPath(r)), idSpan(r.Sheet.Slug),
		idSpan(r.Sheet.Version))
	fmt.Fprintf(&b, "%s Recommended: %s.\n", ruleCounts(r), idSpan(v.RecommendedAction))
	if v.Severity == referee.Unsigned {
		fmt.Fprintf(&b, "Unsigned; %s once signed off.\n", idSpan(string(v.SeverityIfApproved)))
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n#### Findings\n\n")
	}
	return b.String()
}

// bareTitle is title before cleaning: code cleans once.
func bareTitle(r *referee.Report) string {
	if r.Run.ID != "" {
		return r.Run.ID
	}
	return submissionPath(r)
}

func markdownFinding(n int, r *referee.Report, f *referee.Finding) string {
	var b strings.Builder
	var rules []string
	for i, rule := range f.RuleIDs {
		if i == 5 {
			rules = append(rules, fmt.Sprintf("%d more", len(f.RuleIDs)-i))
			break
		}
		rules = append(rules, idSpan(rule))
	}
	fmt.Fprintf(&b, "%d. **%s** %s (%s) at %s", n, tierWord(f.Tier), idSpan(f.Code), strings.Join(rules, ", "),
		idSpan(absolutePlace(r, f)))
	if f.Pointer != "" {
		fmt.Fprintf(&b, " %s", idSpan(f.Pointer))
	}
	fmt.Fprintf(&b, ", %s\n   - %s\n", idSpan(string(f.Bucket)), sentenceSpan(f.Message))
	if f.Why != "" {
		fmt.Fprintf(&b, "   - Why: %s\n", sentenceSpan(f.Why))
	}
	for _, line := range fixLines(f) {
		fmt.Fprintf(&b, "   - Fix: %s\n", sentenceSpan(line))
	}
	return b.String()
}

// tierWord is a tier outside a code span: only the known ones stand as they are.
func tierWord(t referee.Tier) string {
	if t.Known() {
		return string(t)
	}
	return idSpan(string(t))
}

// markdownTail is what follows the findings, a section each.
func markdownTail(r *referee.Report, o Options) []string {
	var sections []string
	add := func(title string, list [][2]string) {
		if len(list) == 0 {
			return
		}
		text := "\n#### " + title + "\n\n"
		for _, e := range list {
			text += fmt.Sprintf("- %s: %s\n", idSpan(e[0]), sentenceSpan(e[1]))
		}
		sections = append(sections, text)
	}
	add("High rules that could not be decided", checkEntries(undecidedHigh(r)))
	add("Questions for a person", openQuestions(r))
	add("Limits in force", auditLimits(r))
	var notes, advisory, checks [][2]string
	for _, reason := range r.Gating.Reasons {
		notes = append(notes, [2]string{"stopped", reason})
	}
	if r.Gating.Cap != "" {
		notes = append(notes, [2]string{"capped", "the total score is at most " + r.Gating.Cap})
	}
	for _, notice := range r.Notices {
		notes = append(notes, [2]string{"note", notice})
	}
	add("Notes", notes)
	for _, a := range r.Advisory {
		advisory = append(advisory, [2]string{a.Path, a.SHA256})
	}
	add("Advisory: never gates", advisory)
	if o.Verbose {
		for _, c := range r.Checks {
			checks = append(checks, [2]string{c.ID, string(c.Status) + ", " + checkDetail(c)})
		}
		add("Rules", checks)
	}
	return append(sections, fmt.Sprintf("\n<sub>Digest %s, sheet %s, semantics %d. Re-derivation catches slips, not "+
		"a wrong set-up.</sub>\n",
		idSpan(r.Digest), idSpan(r.Sheet.SHA256), r.Semantics))
}

// writeRow is one flagged submission among many.
func (m *markdown) writeRow(r *referee.Report) {
	if len(r.Findings) == 0 && !r.Fails(m.o.FailOn) {
		return
	}
	if m.rows++; m.rows > maxRows {
		return
	}
	if m.rows == 1 {
		m.p.print("| | verdict | score | high | mid | low | submission | heaviest |\n| --- | --- | --: | --: | --: " +
			"| --: | --- | --- |\n")
	}
	mark, heaviest := "pass", "undecided"
	if r.Fails(m.o.FailOn) {
		mark = "**fail**"
	}
	if len(r.Findings) > 0 {
		heaviest = tableCell(r.Findings[0].Code, maxName)
	}
	v := r.Verdict
	m.p.printf("| %s | %s | %s | %d | %d | %d | %s | %s |\n", mark, tableCell(string(v.Severity), 40),
		tableCell(v.Score, 40),
		v.Risk.High, v.Risk.Mid, v.Risk.Low, tableCell(bareTitle(r), maxName), heaviest)
}

func (m *markdown) writeSummary() {
	s := m.totals
	switch {
	case s.reports == 0:
		m.p.print("No submission was audited.\n")
		return
	case s.reports == 1:
		return
	}
	if m.rows > maxRows {
		m.p.printf("\n_%d more flagged submissions are not listed._\n", m.rows-maxRows)
	}
	m.p.printf("\n### %s audited: %d pass, %d fail\n", legible.Count(s.reports, "submission"), s.reports-s.failed,
		s.failed)
	m.p.print("\n| verdict | submissions |\n| --- | --: |\n")
	for _, c := range s.bySeverity() {
		m.p.printf("| %s | %d |\n", tableCell(c.name, 40), c.n)
	}
	if len(s.codes) == 0 {
		return
	}
	m.p.print("\n| finding | submissions | findings | up to |\n| --- | --: | --: | --- |\n")
	for _, c := range topTallies(s.codes, maxTallies) {
		m.p.printf("| %s | %d | %d | %s |\n", tableCell(c.name, maxName), c.reports, c.findings,
			strings.ReplaceAll(tierWord(c.tier), "|", `\|`))
	}
}
