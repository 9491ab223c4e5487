package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/report"
)

// maxCommandLines is how many commands are written out; above that a line speaks of all runs where it can, and the rest
// is counted.
const maxCommandLines = 40

// howToSignOff say how to sign off this commit: one block that is complete and works as it is pasted, but for the
// reasons. A reason is left for the person to write, and nothing stands in its place: a command without one is refused,
// so that none is given by copying.
func (o writer) howToSignOff() []block {
	if o.Empty() || o.SignedHere() {
		return nil
	}
	acceptable, defects := o.Hurdles()
	if defects+o.UndecidedRules() > 0 || o.Stopped() || o.RefusedCount() > 0 {
		return []block{
			{
				"step",
				"The agent has to push a fix first: what could not be audited or decided, and findings that are " +
					"not deal-findings, cannot be accepted. " +
					"This page then says how to sign off the new commit.\n",
			},
		}
	}
	lines, left, unwritable := o.signLines(acceptable)
	missing := o.Need - len(o.CountedReviews())
	if len(lines)+len(unwritable) == 0 && missing <= 0 {
		return nil
	}
	if o.DigestRequired {
		lines = append(lines, fmt.Sprintf("/digest %.8s", o.Digest()))
	}
	var out []block
	say := func(format string, args ...any) { out = append(out, block{"step", fmt.Sprintf(format, args...)}) }
	if len(lines) == 0 {
		say("Submit an approving review. No commands are needed.\n")
	} else {
		say("%s\n\n", o.submitSentence())
		out = append(out, block{"step", report.Fenced(lines)})
	}
	if left > 0 {
		say("\n%s left out. The questions and findings on this page have their keys.\n", countOf(left, "line"))
	}
	for _, key := range unwritable {
		say("\n%s cannot be written as a command: rename the rule in its sheet.\n", codeName(key))
	}
	for _, hint := range o.explainLines(lines) {
		say("\n%s\n", hint)
	}
	return out
}

// submitSentence is the first step.
func (o writer) submitSentence() string {
	if len(o.Objections)+len(o.Unknown)+len(o.WaitingSiblings()) > 0 {
		return "Once these obstacles are cleared, submit an approving review with these lines:"
	}
	return "Submit an approving review with these lines:"
}

// explainLines explain the lines of the block, as far as it has them.
func (o writer) explainLines(lines []string) []string {
	has := func(command string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, command) })
	}
	var out []string
	if has("/satisfied ") {
		out = append(out, "Where the answer is no, write `/flag` instead of `/satisfied`, and say why after the key.")
	}
	if has("/accept ") {
		out = append(
			out,
			"After each `/accept`, on the same line, write why the finding is acceptable: the receipt keeps it, "+
				"and without it the review does not count.",
		)
	}
	if len(o.Audits) > 1 && (has("/satisfied ") || has("/accept ")) {
		out = append(
			out,
			"A key alone applies to every run in this pull request; `run:key` applies to that run only.",
		)
	}
	if slices.ContainsFunc(o.Judged, func(j signoff.Judged) bool {
		return j.Review.State == "APPROVED" && j.Review.CommitSHA == o.Head && j.Review.UserType == "User"
	}) {
		out = append(
			out,
			"Answers in somebody's earlier approving review of this commit still count, unless they answer "+
				"differently now or have requested changes since, or that review was dismissed or edited. "+
				"Restoring an edited text does not help.",
		)
	}
	return out
}

// signLines are what a review still has to say, how many lines of it are left out, and the keys that cannot be written
// as a command.
func (o writer) signLines(acceptable []outcome.Hurdle) (lines []string, left int, unwritable []string) {
	lines, unwritable = o.writeLines(acceptable, false)
	if len(lines) > maxCommandLines {
		lines, unwritable = o.writeLines(acceptable, true)
	}
	left = max(0, len(lines)-maxCommandLines)
	return lines[:len(lines)-left], left, unwritable
}

// writeLines are all the lines: for single runs where runs differ in what they ask or are accepted for, or, where it
// has to be short, for all runs.
func (o writer) writeLines(acceptable []outcome.Hurdle, short bool) (lines, unwritable []string) {
	add := func(command, key string, run *audit.AuditedRun) {
		if run != nil && !short && len(o.Audits) > 1 {
			key = run.Work.Run.ID + ":" + key
		}
		line := command + key
		switch {
		case !o.isWritable(line, key):
			if !slices.Contains(unwritable, key) {
				unwritable = append(unwritable, key)
			}
		case !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	for _, q := range o.questionsOfRuns() {
		if o.askedAlike(q) {
			add("/satisfied ", q.id, nil)
			continue
		}
		for _, a := range q.open {
			add("/satisfied ", q.id, a)
		}
	}
	for _, h := range acceptable {
		add("/accept ", h.Rules[0], h.Run)
	}
	return lines, unwritable
}

// askedAlike reports whether all runs that ask a question's key ask it in the same words, and none of them has an
// answer.
func (o writer) askedAlike(q *question) bool {
	n := 0
	for _, a := range o.Audits {
		if a.Work != nil && signoff.OpenQuestions(a.Work)[q.id] {
			n++
		}
	}
	return len(q.open) == n && n > 0
}

// isWritable reports whether a command is read back as it is meant once it was shown, copied and pasted, with a reason
// behind it.
func (o writer) isWritable(line, key string) bool {
	c := signoff.ParseCommands(report.Plain(line, sentenceLength) + " because")
	all, one := o.CommandFits(key, func(w *receipt.Work, rule string) bool {
		return signoff.OpenQuestions(w)[rule] || signoff.HasFinding(w, rule)
	})
	switch {
	case len(c.Problems) > 0 || all == one:
		return false
	case len(c.Answers) == 1:
		return c.Answers[0].ID == key
	}
	return len(c.Accepts) == 1 && c.Accepts[0].RuleID == key
}
