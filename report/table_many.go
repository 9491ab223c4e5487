package report

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// The columns of a line of a large table, fixed so that each is written when its report comes.
const (
	wideSeverity = 8
	wideScore    = 5
	wideRisk     = 12
	wideTitle    = 26
	// of a batch of samples: several models answer the same ones, so the id alone names no line
	wideModel, wideSample, wideCounts = 15, 14, 8
)

// line is one flagged or undecided submission; clean ones are only counted.
func (t *table) line(r *referee.Report) {
	if len(r.Findings) == 0 && !r.Fails(t.o.FailOn) {
		return
	}
	if t.shown++; t.shown == 1 {
		t.models = r.Gold != nil // of a sheet for samples; all lines have the columns of the first
		t.emitLine(t.ink.bold("      " + strings.Join(t.lineColumns("verdict", "score", "findings", "model", "submission"),
			"  ") + "  heaviest"))
	}
	mark := t.ink.dim("pass")
	if r.Fails(t.o.FailOn) {
		mark = t.ink.paint("1;31", "FAIL")
	}
	v, model := r.Verdict, ""
	if r.Agent != nil {
		model = CleanName(modelName(r.Agent.Name, r.Agent.Model))
	}
	cells := t.lineColumns(CleanName(string(v.Severity)), CleanName(v.Score),
		fmt.Sprintf("%dh %dm %dl", v.Risk.High, v.Risk.Mid, v.Risk.Low), model, submissionTitle(r))
	cells[0] = t.ink.paintSeverity(v.Severity, cells[0])
	t.emitLine(mark + "  " + strings.Join(cells, "  ") + "  " + t.heaviest(r, cells[1:]))
}

// lineColumns are the cells of a line before its heaviest finding, each as wide as its column.
func (t *table) lineColumns(severity, score, counts, model, title string) []string {
	fit := func(text string, n int) string { return padTo(shortenTo(text, n), n) }
	cells := []string{fit(severity, wideSeverity), fit(score, wideScore)}
	if !t.models {
		return append(cells, fit(counts, wideRisk), padTo(elideMiddle(title, wideTitle), wideTitle))
	}
	return append(cells, fit(counts, wideCounts), padTo(elideMiddle(model, wideModel), wideModel),
		padTo(elideMiddle(title, wideSample), wideSample))
}

// heaviest is the code of the first finding. The cells are those that stand before it, but for the verdict, whose
// colour takes no room.
func (t *table) heaviest(r *referee.Report, cells []string) string {
	room := t.width - 4 - gap - wideSeverity - gap
	for _, c := range cells {
		room -= textColumns(c) + gap
	}
	if len(r.Findings) == 0 { // it is here because it fails
		return shortenTo("undecided: "+CleanNames(r.Verdict.UndecidedHigh, 1), room)
	}
	return shortenTo(CleanName(r.Findings[0].Code), room)
}

// elideMiddle cuts the middle out of a name: both of its ends tell names apart.
func elideMiddle(text string, n int) string {
	if textColumns(text) <= n {
		return text
	}
	runes := []rune(text)
	tail := n / 2
	for tail > 1 && textColumns(string(runes[len(runes)-tail:])) > n/2 {
		tail--
	}
	return cutHard(text, n-1-textColumns(string(runes[len(runes)-tail:]))) + "…" + string(runes[len(runes)-tail:])
}

// summary is one sentence for a few reports, and tables for many.
func (t *table) summary() {
	switch {
	case t.totals.reports == 0:
		t.emitLine("No submission was audited.")
		return
	case t.totals.reports == 1:
		return
	}
	if t.shown > 0 {
		t.emitLine("")
	}
	if !t.batch.many {
		t.emitLine("")
	}
	for _, line := range wrapText(t.sentence(), t.width) {
		t.emitLine(t.ink.bold(line))
	}
	if t.batch.many {
		t.counts("verdict", t.totals.bySeverity())
		t.counts("recommended", t.totals.byAction())
		t.tallies("finding", t.totals.codes)
		t.tallies("rule", t.totals.rules)
	}
}

// sentence is the answer: how many, and how many fail.
func (t *table) sentence() string {
	s := t.totals
	text := fmt.Sprintf("%s audited: %d pass, %d fail", legible.Count(s.reports, "submission"), s.reports-s.failed,
		s.failed)
	if t.o.FailOn == referee.FailNever {
		text = fmt.Sprintf("%s audited", legible.Count(s.reports, "submission"))
	}
	text += fmt.Sprintf(" (fail-on %s); %d with findings", t.o.FailOn, s.flagged)
	if s.undecided > 0 {
		text += fmt.Sprintf(", %d with undecided high rules", s.undecided)
	}
	return text + "."
}

func (t *table) counts(title string, list []counted) {
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{shortenTo(CleanName(c.name), 36), fmt.Sprint(c.n)})
	}
	t.emitLine("")
	t.emitGrid([]column{{title, 36, false}, {"submissions", 11, true}}, rows)
}

// maxTallies is how many codes and rules the summary lists.
const maxTallies = 10

func (t *table) tallies(title string, tallies map[string]*tally) {
	if len(tallies) == 0 {
		return
	}
	var rows [][]string
	for _, c := range topTallies(tallies, maxTallies) {
		rows = append(rows, []string{shortenTo(CleanName(c.name), 36), fmt.Sprint(c.reports), fmt.Sprint(c.findings),
			t.ink.paintTier(c.tier, shortenTo(CleanName(string(c.tier)), 5))})
	}
	t.emitLine("")
	t.emitGrid([]column{{title, 36, false}, {"submissions", 11, true}, {"findings", 8, true}, {"up to", 5, false}}, rows)
	if left := len(tallies) - maxTallies; left > 0 {
		t.emitLine(t.ink.dim(fmt.Sprintf(" and %d more", left)))
	}
}
