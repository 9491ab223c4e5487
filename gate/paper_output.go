package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// What the output "result" says. ResultIgnored is of an event that the gate does not act on; the others are of an Outcome.
const (
	ResultNoRuns   = "no-runs"           // the pull request touches nothing that is gated
	ResultFailed   = "failed"            // the audit check fails, or something could not be audited
	ResultAwaiting = "awaiting-sign-off" // the audit passes, and a receipt is missing, here or in another pull request with this commit
	ResultSigned   = "signed"            // the audit passes, and every run has its receipt
	ResultIgnored  = "ignored"
)

// Result is the outcome in a word.
func (o *Outcome) Result() string {
	switch {
	case !o.AuditPasses():
		return ResultFailed
	case len(o.waiting()) > 0:
		return ResultAwaiting
	case o.Empty():
		return ResultNoRuns
	case o.Signed():
		return ResultSigned
	}
	return ResultAwaiting
}

// Output is a step's output. Value is one line, made here: never text of a submission, which could close the runner's delimiter.
type Output struct{ Name, Value string }

// Outputs are the action's outputs, in the order of its description. report is the path of the report file.
func (o *Outcome) Outputs(report string) []Output {
	high, mid, low := o.Totals()
	verdicts := o.verdicts()
	var receipts []string
	for _, a := range o.Audits {
		if e := o.ReceiptOf(a); e != nil {
			receipts = append(receipts, generated(e.Hash))
		}
	}
	return []Output{
		{"result", o.Result()}, {"severity", worstSeverity(verdicts)}, {"score", lowestScore(verdicts)},
		{"findings", strconv.Itoa(high + mid + low)}, {"high", strconv.Itoa(high)}, {"mid", strconv.Itoa(mid)}, {"low", strconv.Itoa(low)},
		{"client_ready", strconv.FormatBool(o.clientReady(verdicts))}, {"recommended_action", o.RecommendedAction()}, {"report", generated(report)},
		{"receipt_sha256", strings.Join(receipts, " ")}, {"ledger_head", generated(o.LedgerHead)},
	}
}

// plainLine is what an output may hold at all: hashes, paths and words of this program.
var plainLine = newPattern(`^[A-Za-z0-9._/ -]*$`)

// generated empties a value that is no plain line, so that nothing can be written after it.
func generated(s string) string {
	if !plainLine.MatchString(s) {
		return ""
	}
	return s
}

// verdicts are those of the runs that were audited.
func (o *Outcome) verdicts() []ledger.Verdict {
	var out []ledger.Verdict
	for i := range o.Audits {
		if o.Audits[i].Work != nil {
			out = append(out, o.verdictOf(&o.Audits[i]))
		}
	}
	return out
}

// verdictOf is the verdict of a run that was audited: the receipt's where there is one, for it holds what the person answered.
func (o *Outcome) verdictOf(a *Audited) ledger.Verdict {
	if e := o.ReceiptOf(*a); e != nil && e.Receipt.Verdict != nil {
		return *e.Receipt.Verdict
	}
	return *verdictOf(a.Work.Report.Verdict)
}

// severities are the words of a verdict, worst first. actions are the recommended ones, by what has to be done before a merge.
var (
	severities = []string{string(referee.Propolis), string(referee.Jelly), string(referee.Unsigned), string(referee.Honey)}
	actions    = []string{"resubmit", "reject", "review", "approve"}
)

// worst is the first known word that one of the values has. An unknown word is the worst of all.
func worst(order, have []string) string {
	at := len(order)
	for _, s := range have {
		at = min(at, max(0, slices.Index(order, s)))
	}
	if at == len(order) {
		return "none"
	}
	return order[at]
}

func worstSeverity(verdicts []ledger.Verdict) string {
	var have []string
	for _, v := range verdicts {
		have = append(have, v.Severity)
	}
	return worst(severities, have)
}

// RecommendedAction is the heaviest over all runs (S39): resubmit, reject, review or approve; none where nothing was audited. What could not be
// audited is to be submitted again. A run that failed twice already is not sent round a third time: review, a person decides.
func (o *Outcome) RecommendedAction() string {
	verdicts := o.verdicts()
	var have []string
	for i := range o.Audits {
		action := "resubmit"
		if o.Audits[i].Work != nil {
			action, verdicts = verdicts[0].RecommendedAction, verdicts[1:]
		}
		if action == "resubmit" && o.wornOut(&o.Audits[i]) {
			action = "review"
		}
		have = append(have, action)
	}
	if len(o.Refusals) > 0 {
		have = append(have, "resubmit")
	}
	return worst(actions, have)
}

// maxRevisions is how many failed revisions an agent has before a person decides (gate.md).
const maxRevisions = 2

// clientReady: every run is, and nothing stands beside them that could not be audited.
func (o *Outcome) clientReady(verdicts []ledger.Verdict) bool {
	return len(verdicts) > 0 && len(verdicts) == len(o.Audits) && !o.stopped() &&
		!slices.ContainsFunc(verdicts, func(v ledger.Verdict) bool { return !v.ClientReady })
}

// scoreForm is how a score is written (S35): a whole number, or one with one decimal.
var scoreForm = newPattern(`^(\d{1,3})(?:\.(\d))?$`)

// lowestScore is the lowest score with one decimal; "" where there is none, or one that is no score.
func lowestScore(verdicts []ledger.Verdict) string {
	low := -1
	for _, v := range verdicts {
		m := scoreForm.FindStringSubmatch(v.Score)
		if m == nil {
			return ""
		}
		tenths, _ := strconv.Atoi(m[1] + (m[2] + "0")[:1]) // digits, by the form
		if low < 0 || tenths < low {
			low = tenths
		}
	}
	if low < 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", low/10, low%10)
}
