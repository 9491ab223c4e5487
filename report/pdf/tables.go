package pdf

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

func (p *paper) writeChecklist() {
	if len(p.r.Checklist) == 0 {
		return
	}
	p.beginSection("Questions to the human", 20)
	var cells [][][]span
	for _, a := range p.r.Checklist {
		cells = append(cells, [][]span{
			textSpans(report.CleanName(a.ID)),
			{{style: strong, text: a.Answer}},
			textSpans(a.Note),
			append(textSpans(report.CleanName(a.By)), span{style: note, text: dateInWords(a.At)}),
		})
	}
	p.setTable([]field{{"QUESTION", 52}, {"ANSWER", 20}, {"NOTE", 54}, {"BY", 48}}, cells)
}

// writeStated are the figures that no document of the run holds: whoever signed has vouched for them (S70).
func (p *paper) writeStated() {
	if len(p.r.Stated) == 0 {
		return
	}
	p.beginSection("Figures from the agent alone, confirmed by the signer", 20)
	var cells [][][]span
	for _, f := range p.r.Stated {
		cells = append(cells, [][]span{textSpans(report.CleanName(f.Name)), textSpans(f.Value)})
	}
	p.setTable([]field{{"FIGURE", 72}, {"VALUE", 102}}, cells)
}

// writeLimits are what the configuration set (S71).
func (p *paper) writeLimits() {
	if len(p.r.Params) == 0 {
		return
	}
	p.beginSection("Limits in force", 20)
	var cells [][][]span
	for _, l := range p.r.Params {
		cells = append(cells, [][]span{textSpans(report.CleanName(l.Name)), textSpans(l.Value)})
	}
	p.setTable([]field{{"LIMIT", 72}, {"VALUE", 102}}, cells)
}

func (p *paper) writeAccepted() {
	if len(p.r.Accepted) == 0 {
		return
	}
	p.beginSection("Accepted findings", 20)
	var cells [][][]span
	for _, w := range p.r.Accepted {
		cells = append(cells, [][]span{
			textSpans(report.CleanName(w.RuleID)),
			textSpans(w.Reason),
			append(textSpans(report.CleanName(w.By)), span{style: note, text: dateInWords(w.At)}),
		})
	}
	p.setTable([]field{{"RULE", 44}, {"REASON", 82}, {"ACCEPTED BY", 48}}, cells)
}

// writeFindings is the table of what is wrong, in the receipt's rank.
func (p *paper) writeFindings() {
	if p.r.Verdict == nil {
		return
	}
	title := fmt.Sprintf("Findings: %d", p.r.FindingsTotal)
	if p.r.FindingsTotal == 0 {
		title = "Findings: none"
	}
	p.beginSection(title, 20)
	if n := len(p.r.Findings); n > 0 {
		var cells [][][]span
		for i := range p.r.Findings {
			cells = append(cells, p.findingCells(i+1, &p.r.Findings[i]))
		}
		p.setTable([]field{{"NO.", 9}, {"TIER", 14}, {"FINDING", 107}, {"RULE AND PLACE", 44}}, cells)
	}
	if rest := p.r.FindingsTotal - len(p.r.Findings); rest > 0 {
		p.y += 1.5
		p.setParagraph(note, fmt.Sprintf("%d more stand in the report, which this receipt binds by its SHA-256.", rest))
	}
}

func (p *paper) findingCells(n int, f *ledger.Finding) [][]span {
	text := []span{{style: body, text: f.Message}}
	if s := figuresLine(f.Spot); s != "" {
		text = append(text, span{style: style{size: 8, color: black}, text: s})
	}
	if f.Why != "" {
		text = append(text, span{style: note, text: "Why: " + f.Why})
	}
	for _, line := range fixLines(f.Fix) {
		text = append(text, span{style: note, text: "Fix: " + line})
	}
	where := []span{{style: style{face: bold, size: 7.8, color: black}, text: report.CleanNames(f.RuleIDs, 5)},
		{style: note, text: joinParts(", ", f.Code, wordsOf(f.Bucket), f.Severity)}, {style: note,
			text: placeOfFinding(f)}}
	if len(f.Atoms) > 0 {
		where = append(where, span{style: note, text: report.CleanNames(f.Atoms, 6)})
	}
	return [][]span{{{style: body, text: fmt.Sprint(n)}}, {{style: body, mark: f.Tier}}, text, where}
}

// figuresLine are a finding's numbers in one line.
func figuresLine(s *ledger.Spot) string {
	if s == nil {
		return ""
	}
	percent := withUnit(s.Percent, "%")
	if s.Percent == "infinite" {
		percent = "without bound"
	}
	return joinParts(",  ", afterWord("claimed", s.Claimed), afterWord("recomputed", s.Recomputed), afterWord("off by",
		s.Delta),
		percent,
		afterWord("gate", s.Gate), afterWord("distance", s.Distance), afterWord("band", s.Band))
}

// fixLines is a receipt's fix as lines.
func fixLines(f *ledger.Fix) (lines []string) {
	if f == nil {
		return nil
	}
	if f.Text != "" {
		lines = append(lines, f.Text)
	}
	for i, m := range f.Moves {
		if i == 5 {
			return append(lines, fmt.Sprintf("… and %s", legible.Count(len(f.Moves)-i, "other way")))
		}
		lines = append(
			lines,
			fmt.Sprintf(
				"move %s from %s to %s, all else kept",
				report.CleanName(m.Input),
				report.CleanName(m.From),
				report.CleanName(m.To),
			),
		)
	}
	return lines
}

// placeOfFinding is where a finding stands in the submission.
func placeOfFinding(f *ledger.Finding) string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", report.CleanName(f.File), f.Line)
	}
	return strings.TrimSpace(joinParts("  ", at, f.Pointer))
}

func (p *paper) writeEvidence() {
	if len(p.r.Evidence) == 0 {
		return
	}
	p.beginSection("Evidence", 20)
	var cells [][][]span
	for _, e := range p.r.Evidence {
		file := append(
			textSpans(report.CleanName(e.Path)),
			span{style: style{face: mono, size: 6.6, color: black}, text: e.SHA256},
		)
		if e.SHA256 == "" {
			file = append(textSpans(report.CleanName(e.Path)), span{style: note, text: wordsOf(e.Status)})
		}
		cells = append(cells, [][]span{
			append(textSpans(report.CleanName(e.ID)), span{style: note, text: wordsOf(e.Kind)}),
			file,
			textSpans(byteSize(e.Bytes)),
			{{style: note, text: evidenceOrigin(e)}},
		})
	}
	p.setTable([]field{{"EVIDENCE", 34}, {"FILE AND SHA-256", 94}, {"SIZE", 16}, {"WHERE FROM", 30}}, cells)
}

// evidenceOrigin says whose an item of evidence is (S66).
func evidenceOrigin(e ledger.Evidence) string {
	switch e.Provenance {
	case "base":
		return "already on the base branch"
	case "pull_request":
		return "added in the pull request by " + report.CleanName(e.AddedBy)
	}
	return "a local file"
}

// byteSize is a number of bytes.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%d.%d kB", n/1000, n%1000/100)
	}
	return fmt.Sprintf("%d.%d MB", n/1000_000, n%1000_000/100_000)
}

func (p *paper) writeAdvisory() {
	if len(p.r.Advisory) == 0 {
		return
	}
	p.beginSection("Advisory: never gates", 20)
	for _, f := range p.r.Advisory {
		p.setPairs(pair{"Opinion", namedSpans(report.CleanName(f.Path), f.SHA256)})
	}
}
