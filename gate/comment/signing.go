package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// question is one item of the checklist, over all runs that ask it in these words.
type question struct {
	id, text, why string
	asked         []*audit.AuditedRun
	open          []*audit.AuditedRun // those for which no counted review answers it
	said          []givenAnswer
}

// givenAnswer is one answer, and the runs that it was given for.
type givenAnswer struct {
	text string
	runs []string
}

// questionsOfRuns are the open checks of all runs, each with the answers that counted reviews give, in the order of the
// audits and sheets.
func (o writer) questionsOfRuns() []*question {
	var out []*question
	for i := range o.Audits {
		a := &o.Audits[i]
		if a.Work == nil {
			continue
		}
		answers := o.answersTo(a.Work)
		for _, c := range a.Work.Report.Checks {
			if c.Status != referee.Open {
				continue
			}
			q := questionOf(a.Work.Report, c)
			if i := slices.IndexFunc(out, func(have *question) bool {
				return have.id == q.id &&
					have.text == q.text
			}); i >= 0 {
				q = out[i]
			} else {
				out = append(out, q)
			}
			q.asked = append(q.asked, a)
			q.noteAnswer(a, answers[q.id])
		}
	}
	return out
}

func questionOf(rep *referee.Report, c referee.Check) *question {
	for _, q := range rep.Checklist {
		if q.ID == c.ID {
			return &question{id: c.ID, text: q.Text, why: q.Why}
		}
	}
	return &question{id: c.ID, text: cmp.Or(c.Label, c.Reason, "this rule waits for a person")}
}

// noteAnswer keeps the answer for a run, "" where there is none.
func (q *question) noteAnswer(a *audit.AuditedRun, answer string) {
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

// answersTo are what counted reviews say of a run's questions, in words, by question. Of two answers a flag stands.
func (o writer) answersTo(w *receipt.Work) map[string]string {
	open := signoff.OpenQuestions(w)
	var all []ledger.Answer
	for _, j := range o.CountedReviews() {
		for _, a := range signoff.AnswersFor(j.Commands, w.Run.ID, open) {
			a.By = j.Review.User
			all = signoff.MergeAnswer(all, a)
		}
	}
	out := map[string]string{}
	for _, a := range all {
		if out[a.ID] = fmt.Sprintf("Yes, says %s", codeName(a.By)); a.Answer != "satisfied" {
			out[a.ID] = fmt.Sprintf("No, says %s: %s", codeName(a.By), codeSentence(a.Note))
		}
	}
	return out
}

// openQuestions counts the questions that no counted review answers, each once for the runs that ask it in the same
// words.
func (o writer) openQuestions() int {
	n := 0
	for _, q := range o.questionsOfRuns() {
		if len(q.open) > 0 {
			n++
		}
	}
	return n
}

func (o writer) checklistBlocks() []block {
	var out []block
	for _, q := range o.questionsOfRuns() {
		text := fmt.Sprintf("- %s: %s\n", codeName(q.id), codeSentence(q.text))
		if q.why != "" {
			text += "  - Why: " + codeSentence(q.why) + "\n"
		}
		if len(o.Audits) > 1 {
			text += "  - Asked by " + codeSpans(runFolders(q.asked), 5) + "\n"
		}
		for _, s := range q.said {
			if text += "  - " + s.text; len(s.runs) < len(q.asked) {
				text += ", for " + codeSpans(s.runs, 5)
			}
			text += "\n"
		}
		if len(q.open) > 0 && len(q.said) > 0 {
			text += "  - Open for " + codeSpans(runFolders(q.open), 5) + "\n"
		}
		out = append(out, block{"question", text})
	}
	return out
}

func runFolders(runs []*audit.AuditedRun) []string {
	var out []string
	for _, a := range runs {
		out = append(out, a.Dir)
	}
	return out
}

// reviewBlocks is every review, counted or not counted and why.
func (o writer) reviewBlocks() []block {
	if len(o.Judged) == 0 {
		return nil
	}
	out := []block{{"heading", "| reviewer | review | of commit | counted? |\n| --- | --- | --- | --- |\n"}}
	for _, j := range o.Judged {
		state := strings.ReplaceAll(strings.ToLower(j.Review.State), "_", " ")
		out = append(
			out,
			block{
				"review",
				fmt.Sprintf(
					"| %s | %s | %s | %s |\n",
					tableCell(j.Review.User),
					tableCell(state),
					tableCell(fmt.Sprintf("%.7s", j.Review.CommitSHA)),
					o.whetherCounted(j),
				),
			},
		)
	}
	return out
}

func (o writer) whetherCounted(j signoff.Judged) string {
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

// receiptBlocks are the entries of the ledger, with a link where the site is known.
func (o writer) receiptBlocks() []block {
	if len(o.Receipts) == 0 {
		return nil
	}
	out := []block{{"heading", "| receipt | run | signed off by | SHA-256 |\n| --- | --- | --- | --- |\n"}}
	for _, e := range o.Receipts {
		r := e.Receipt
		number, by := tableCell(r.ID), "carried over from an earlier commit"
		if link := o.linkToEntry(e); link != "" {
			number = "[" + number + "](" + link + ")"
		}
		if r.Approval != nil {
			by = tableCell(r.Approval.Approver.Login)
		}
		if r.SelfSigned {
			by += " **self-signed**"
		}
		out = append(
			out,
			block{
				"receipt",
				fmt.Sprintf(
					"| %s | %s | %s | %s |\n",
					number,
					tableCell(r.Run.ID),
					by,
					report.Cell(e.Hash[:min(12, len(e.Hash))], nameLength),
				),
			},
		)
	}
	return out
}
