package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// question is one item of the checklist, over all runs that ask it in these words.
type question struct {
	id, text, why string
	asked         []*Audited
	open          []*Audited // those for which no counted review answers it
	said          []givenAnswer
}

// givenAnswer is one answer, and the runs that it was given for.
type givenAnswer struct {
	text string
	runs []string
}

// questions are the open checks of all runs, each with the answers that counted reviews give, in the order of the audits and sheets.
func (o *Outcome) questions() []*question {
	var out []*question
	for i := range o.Audits {
		a := &o.Audits[i]
		if a.Work == nil {
			continue
		}
		answers := o.answers(a.Work)
		for _, c := range a.Work.Report.Checks {
			if c.Status != referee.Open {
				continue
			}
			q := asked(a.Work.Report, c)
			if i := slices.IndexFunc(out, func(have *question) bool { return have.id == q.id && have.text == q.text }); i >= 0 {
				q = out[i]
			} else {
				out = append(out, q)
			}
			q.asked = append(q.asked, a)
			q.note(a, answers[q.id])
		}
	}
	return out
}

func asked(rep *referee.Report, c referee.Check) *question {
	for _, q := range rep.Checklist {
		if q.ID == c.ID {
			return &question{id: c.ID, text: q.Text, why: q.Why}
		}
	}
	return &question{id: c.ID, text: cmp.Or(c.Label, c.Reason, "this rule waits for a person")}
}

// note keeps the answer for a run, "" where there is none.
func (q *question) note(a *Audited, answer string) {
	if answer == "" {
		q.open = append(q.open, a)
		return
	}
	i := slices.IndexFunc(q.said, func(s givenAnswer) bool { return s.text == answer })
	if i < 0 {
		i, q.said = len(q.said), append(q.said, givenAnswer{text: answer})
	}
	q.said[i].runs = append(q.said[i].runs, a.Dir)
}

// answers are what counted reviews say of a run's questions, in words, by question. Of two answers a flag stands.
func (o *Outcome) answers(w *Work) map[string]string {
	open := asks(w)
	var all []ledger.Answer
	for _, j := range o.counted() {
		for _, a := range answersFor(j.Commands, w.Run.ID, open) {
			a.By = j.Review.User
			all = mergeAnswer(all, a)
		}
	}
	out := map[string]string{}
	for _, a := range all {
		if out[a.ID] = fmt.Sprintf("Yes, says %s", code(a.By)); a.Answer != "satisfied" {
			out[a.ID] = fmt.Sprintf("No, says %s: %s", code(a.By), quoted(a.Note))
		}
	}
	return out
}

// open counts the questions that no counted review answers, each once for the runs that ask it in the same words.
func (o *Outcome) open() int {
	n := 0
	for _, q := range o.questions() {
		if len(q.open) > 0 {
			n++
		}
	}
	return n
}

func (o *Outcome) checklist() []block {
	var out []block
	for _, q := range o.questions() {
		text := fmt.Sprintf("- %s: %s\n", code(q.id), quoted(q.text))
		if q.why != "" {
			text += "  - Why: " + quoted(q.why) + "\n"
		}
		if len(o.Audits) > 1 {
			text += "  - Asked by " + spans(folders(q.asked), 5) + "\n"
		}
		for _, s := range q.said {
			if text += "  - " + s.text; len(s.runs) < len(q.asked) {
				text += ", for " + spans(s.runs, 5)
			}
			text += "\n"
		}
		if len(q.open) > 0 && len(q.said) > 0 {
			text += "  - Open for " + spans(folders(q.open), 5) + "\n"
		}
		out = append(out, block{"question", text})
	}
	return out
}

func folders(runs []*Audited) []string {
	var out []string
	for _, a := range runs {
		out = append(out, a.Dir)
	}
	return out
}

// reviews is every review, counted or not counted and why.
func (o *Outcome) reviews() []block {
	if len(o.Judged) == 0 {
		return nil
	}
	out := []block{{"heading", "| reviewer | review | of commit | counted? |\n| --- | --- | --- | --- |\n"}}
	for _, j := range o.Judged {
		state := strings.ReplaceAll(strings.ToLower(j.Review.State), "_", " ")
		out = append(out, block{"review", fmt.Sprintf("| %s | %s | %s | %s |\n", cell(j.Review.User), cell(state), cell(fmt.Sprintf("%.7s", j.Review.CommitSHA)), o.standing(j))})
	}
	return out
}

func (o *Outcome) standing(j Judged) string {
	switch {
	case !j.Counted:
		return "not counted because " + report.Cell(j.Because, sentenceLength)
	case len(o.Unknown) > 0:
		return "not counted because a commit's identity is unknown"
	case len(o.Objections) > 0:
		return "not counted because changes are requested"
	}
	return "**counted**"
}

// receipts are the entries of the ledger, with a link where the site is known.
func (o *Outcome) receipts() []block {
	if len(o.Receipts) == 0 {
		return nil
	}
	out := []block{{"heading", "| receipt | run | signed off by | SHA-256 |\n| --- | --- | --- | --- |\n"}}
	for _, e := range o.Receipts {
		r := e.Receipt
		number, by := cell(r.ID), "carried over from an earlier commit"
		if link := o.link(e); link != "" {
			number = "[" + number + "](" + link + ")"
		}
		if r.Approval != nil {
			by = cell(r.Approval.Approver.Login)
		}
		if r.SelfSigned {
			by += " **self-signed**"
		}
		out = append(out, block{"receipt", fmt.Sprintf("| %s | %s | %s | %s |\n", number, cell(r.Run.ID), by, report.Cell(e.Hash[:min(12, len(e.Hash))], nameLength))})
	}
	return out
}

// hurdle is a finding of a run that stands in the way until a review accepts one of its rules.
type hurdle struct {
	run   *Audited
	rules []string
}

// hurdles are the findings that stand in the way of a receipt: those that a review may accept, and how many may not be accepted.
func (o *Outcome) hurdles() (acceptable []hurdle, defects int) {
	for i := range o.Audits {
		a := &o.Audits[i]
		if a.Work == nil {
			continue
		}
		waived := o.waived(a.Work)
		for _, f := range a.Work.Report.Findings {
			h := hurdle{a, f.RuleIDs}
			same := func(have hurdle) bool { return have.run == a && slices.Equal(have.rules, h.rules) }
			switch {
			case !o.FailOn.Covers(f):
			case f.Bucket != referee.DealFinding || o.Accept != "deal-finding" || len(f.RuleIDs) == 0:
				defects++
			case !anyWaived(f.RuleIDs, waived) && !slices.ContainsFunc(acceptable, same):
				acceptable = append(acceptable, h)
			}
		}
	}
	return acceptable, defects
}

// undecided counts the high rules that nobody decided.
func (o *Outcome) undecided() int {
	n := 0
	for _, a := range o.Audits {
		if a.Work != nil {
			n += len(a.Work.Report.Verdict.UndecidedHigh)
		}
	}
	return n
}
