package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/referee"
)

// auditor audits the sources of one command and keeps the sums.
type auditor struct {
	*app
	options *auditOptions
	library *referee.Library
	sheet   *referee.Sheet // of --sheet; nil lets each submission name its own
	sources []source
	batch   *batch // of --samples
	papers  *papers
	bar     *progress

	seen, audited, failed int
	worst                 int             // the highest exit code so far
	chosen                map[string]int  // sheets chosen by assignment_id
	proved                bool            // some sheet has the rule of --explain
	unproved              map[string]bool // sheets that have not, by slug
}

// chooseSheet loads the sheet of --sheet, and refuses a rule of --explain that it does not have.
func (au *auditor) chooseSheet() error {
	if au.options.sheet == "" {
		return nil
	}
	sheet, err := au.library.Find(au.options.sheet)
	if err != nil {
		return sheetError(err)
	}
	if au.sheet, err = au.options.params.sheetWith(sheet, true); err != nil {
		return err
	}
	if rule := au.options.explain; rule != "" && sheet.Rule(rule) == nil {
		return au.noRule(sheet)
	}
	return nil
}

// noRule refuses the rule of --explain and names the nearest one of the sheet.
func (au *auditor) noRule(sheet *referee.Sheet) error {
	ids := make([]string, len(sheet.Rules))
	for i, r := range sheet.Rules {
		ids[i] = r.ID
	}
	f := usagef("the flight sheet %s has no rule %q", sheet.Slug, au.options.explain)
	if near := nearest.Word(au.options.explain, ids); near != "" {
		f = f.withHint("did you mean %q?", near)
	}
	return f.withHint("`referee sheet show %s` lists its rules", sheet.Slug)
}

// run audits everything and sums up.
func (au *auditor) run() error {
	au.bar = au.newProgress(au.sources)
	err := runOrdered(au.ctx, au.options.jobs, au.emitUnits, au.judgeUnit, au.takeOutcome)
	au.bar.endBar()
	if au.ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return au.endInterrupted()
	}
	if err != nil {
		return err
	}
	if err := au.papers.closePapers(); err != nil {
		return err
	}
	if err := au.options.params.checkAllUsed(); err != nil && au.audited > 0 {
		return err
	}
	return au.endAudit()
}

// emitUnits emits the submissions of all sources that belong to this part.
func (au *auditor) emitUnits(emit func(unit) bool) error {
	for _, s := range au.sources {
		stopped := false
		err := s.emitUnits(au.stdin, au.options.input, func(u unit) bool {
			position := au.seen
			au.seen++
			if !au.options.part.hasPosition(position) {
				return true
			}
			stopped = !emit(u)
			return !stopped
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

// takeOutcome adds one outcome to the papers and the sums; it is called in input order.
func (au *auditor) takeOutcome(r verdictOf) error {
	au.bar.addProgress(r.weight)
	if r.err == nil && au.batch != nil {
		r.err = au.batch.admitRecord(r.key, r.record)
	}
	if r.err != nil {
		au.bar.clearBar()
		printError(au.stderr, r.err)
		au.worst = max(au.worst, codeOf(r.err))
		return nil
	}
	au.audited++
	if r.byAssignment {
		au.chosen[r.report.Sheet.Slug+"@"+r.report.Sheet.Version]++
	}
	if au.options.explain != "" {
		au.noteExplained(r)
	}
	if r.report.Fails(au.options.limit) {
		au.failed++
		au.worst = max(au.worst, exitRules)
	}
	return au.papers.addReport(r.report)
}

// noteExplained notes which sheets have the rule of --explain.
func (au *auditor) noteExplained(r verdictOf) {
	if r.sheet.Rule(au.options.explain) != nil {
		au.proved = true
		return
	}
	au.unproved[r.sheet.Slug] = true
}

// endAudit ends a whole audit: notes, and the exit code.
func (au *auditor) endAudit() error {
	for _, ref := range slices.Sorted(maps.Keys(au.chosen)) {
		au.note("%s chosen by assignment_id for %s; --sheet names it yourself", ref,
			countWord(au.chosen[ref], "submission"))
	}
	if au.batch != nil {
		au.sumBatch()
	}
	if au.options.explain != "" && !au.proved && len(au.unproved) > 0 {
		slug := slices.Sorted(maps.Keys(au.unproved))[0]
		sheet, err := au.library.Find(slug)
		if err != nil {
			return sheetError(err)
		}
		return au.noRule(sheet)
	}
	switch {
	case au.audited > 0 || au.worst > 0:
	case au.seen > 0: // the set is smaller than the number of parts: the other parts audit it
		au.note("part %s holds none of the %s", au.options.shard, countWord(au.seen, "submission"))
	default:
		return rulesf("nothing was audited: no submission found").withHint("a run folder contains run.json, a .jsonl " +
			"file one submission per line; `referee run new` writes a run folder")
	}
	if au.worst == exitClean {
		return nil
	}
	return &failure{code: au.worst}
}

// sumBatch says what holds for the batch as a whole: who left samples out, and the questions that a person answers
// once.
func (au *auditor) sumBatch() {
	for _, err := range au.batch.missingSamples() {
		printError(au.stderr, err)
		au.worst = max(au.worst, codeOf(err))
	}
	for _, q := range au.batch.asked {
		au.note("a person answers once for this batch: %s (%s)", q.Text, q.ID)
	}
}

// endInterrupted ends an audit that was stopped: what was written is said to be a part.
func (au *auditor) endInterrupted() error {
	au.papers.cutPapers(au.audited)
	return toolf("interrupted after %s: the result is incomplete", countWord(au.audited, "submission"))
}

// countWord counts things in words.
func countWord(n int, word string) string { return legible.Count(n, word) }
