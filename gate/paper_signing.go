package gate

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// question is one item of the checklist, over all runs that ask it.
type question struct {
	id, text, why string
	runs          []string
	answer        string // "" while it is open
}

// questions are the open checks of all runs, each with the answer that counted reviews give, in the order of the audits and sheets.
func (o *Outcome) questions() []*question {
	answers := o.answers()
	var out []*question
	for _, a := range o.Audits {
		if a.Work == nil {
			continue
		}
		for _, c := range a.Work.Report.Checks {
			if c.Status != referee.Open {
				continue
			}
			q := asked(a.Work.Report, c)
			i := slices.IndexFunc(out, func(have *question) bool { return have.id == q.id && have.text == q.text })
			if i < 0 {
				i, out = len(out), append(out, q)
			}
			out[i].runs = append(out[i].runs, a.Dir)
			out[i].answer = answers[q.id]
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

// answers are what counted reviews say, in words, by question.
func (o *Outcome) answers() map[string]string {
	out := map[string]string{}
	for _, j := range o.counted() {
		for _, a := range j.Commands.Answers {
			word := "satisfied"
			if a.Answer != "satisfied" {
				word = "flagged, " + quoted(a.Note)
			}
			out[a.ID] = fmt.Sprintf("%s, says %s", word, code(j.Review.User))
		}
	}
	return out
}

// open counts the questions that no counted review answers.
func (o *Outcome) open() int {
	n := 0
	for _, q := range o.questions() {
		if q.answer == "" {
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
			text += "  - Asked by " + spans(q.runs, 5) + "\n"
		}
		if q.answer != "" {
			text += "  - Answered: " + q.answer + "\n"
		} else {
			text += fmt.Sprintf("  - Open. Answer with %s, or %s and the reason\n", code("/satisfied "+q.id), code("/flag "+q.id))
		}
		out = append(out, block{"question", text})
	}
	return out
}

// reviews is every review, counted or not counted and why.
func (o *Outcome) reviews() []block {
	if len(o.Judged) == 0 {
		return nil
	}
	out := []block{{"heading", "| reviewer | review | of | |\n| --- | --- | --- | --- |\n"}}
	for _, j := range o.Judged {
		out = append(out, block{"review", fmt.Sprintf("| %s | %s | %s | %s |\n", cell(j.Review.User), cell(strings.ToLower(j.Review.State)), cell(fmt.Sprintf("%.7s", j.Review.CommitSHA)), o.standing(j))})
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
	out := []block{{"heading", "| receipt | entry | run | SHA-256 | by |\n| --- | --- | --- | --- | --- |\n"}}
	for _, e := range o.Receipts {
		r := e.Receipt
		number, by := cell(r.ID), ""
		if link := o.link(e); link != "" {
			number = "[" + number + "](" + link + ")"
		}
		if r.Approval != nil {
			by = cell(r.Approval.Approver.Login)
		}
		if r.SelfSigned {
			by += " **self-signed**"
		}
		out = append(out, block{"receipt", fmt.Sprintf("| %s | %s | %s | %s | %s |\n", number, cell(string(r.Kind)), cell(r.Run.ID), cell(e.Hash), by)})
	}
	if o.LedgerHead != "" {
		out = append(out, block{"ledger's head", fmt.Sprintf("\nThe ledger's head is %s. `referee ledger verify` checks all of it.\n", code(o.LedgerHead))})
	}
	return out
}

var (
	site     = newPattern(`^https?://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~-]+)*$`)
	fullHash = newPattern(`^[0-9a-f]{64}$`)
)

// link is where an entry is read on the site; "" where that is not known.
func (o *Outcome) link(e ledger.Entry) string {
	repository := cmp.Or(o.Ledger.Repository, o.Repository)
	if !site.MatchString(o.ServerURL) || repository == "" || o.Ledger.Branch == "" || !fullHash.MatchString(e.Hash) {
		return ""
	}
	file := ledger.Place{Class: ledger.EntryFile, Seq: e.Receipt.Seq, Hash: e.Hash}.String()
	return o.ServerURL + segments(repository) + "/blob" + segments(o.Ledger.Branch) + segments(file)
}

// segments escapes each part of a path.
func segments(path string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(path, "/") {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(part), "@", "%40"))
	}
	return b.String()
}

// hurdles are the findings that stand in the way of a receipt: those that a review may accept, by rule, and how many may not be accepted.
func (o *Outcome) hurdles() (rules []string, defects int) {
	waived := waivedRules(o.waivers())
	for _, a := range o.Audits {
		if a.Work == nil {
			continue
		}
		for _, f := range a.Work.Report.Findings {
			switch {
			case !atOrAbove(f, o.FailOn):
			case f.Bucket != referee.DealFinding || o.Accept != "deal-finding" || len(f.RuleIDs) == 0:
				defects++
			case !anyWaived(f.RuleIDs, waived) && !slices.Contains(rules, f.RuleIDs[0]):
				rules = append(rules, f.RuleIDs[0])
			}
		}
	}
	return rules, defects
}

// instructions say how to sign off. A reason is left for the person to write: a command without one is refused, so that none is given by copying.
func (o *Outcome) instructions() []block {
	rules, defects := o.hurdles()
	commands := o.commands(rules)
	if o.Empty() || o.Signed() || len(commands) == 0 && o.Need > 0 && len(o.counted()) >= o.Need {
		return nil
	}
	var out []block
	submit := "Submit"
	if o.refused()+o.undecided()+defects > 0 {
		out = append(out, block{"step", "What could not be audited or decided, and findings at or above the threshold that are no deal-findings, cannot be accepted: have the agent mend them and push.\n\n"})
		submit = "Then submit"
	}
	out = append(out, block{"step", submit + " an approving review whose text holds, a line each:\n\n"},
		block{"step", report.Fenced(append(commands, fmt.Sprintf("/digest %.8s", o.Digest())))})
	if len(rules) > 0 {
		out = append(out, block{"step", "\nAfter each `/accept` comes the reason, on the same line: it stands in the receipt.\n"})
	}
	return out
}

// maxCommandLines is how many commands are written out; the checklist names the rest.
const maxCommandLines = 40

// commands are what a review still has to say.
func (o *Outcome) commands(rules []string) []string {
	var out []string
	for _, q := range o.questions() {
		if q.answer == "" {
			out = append(out, "/satisfied "+q.id)
		}
	}
	for _, rule := range rules {
		out = append(out, "/accept "+rule)
	}
	return out[:min(len(out), maxCommandLines)]
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
