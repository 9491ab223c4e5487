package comment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/ledger"
)

// Output is a step's output. Value is one line, made here: never text of a submission, which could close the runner's
// delimiter.
type Output struct{ Name, Value string }

// stepOutputs are the action's outputs, in the order of its description. report is the path of the report file.
func (o writer) stepOutputs(report string) []Output {
	high, mid, low := o.Totals()
	verdicts := o.Verdicts()
	var receipts []string
	for _, a := range o.Audits {
		if e := o.ReceiptOf(a); e != nil {
			receipts = append(receipts, onlyPlain(e.Hash))
		}
	}
	return []Output{
		{"result", o.Result()}, {"severity", outcome.WorstSeverity(verdicts)}, {"score", lowestScore(verdicts)},
		{
			"findings",
			strconv.Itoa(high + mid + low),
		}, {"high", strconv.Itoa(high)}, {"mid", strconv.Itoa(mid)}, {"low", strconv.Itoa(low)},
		{
			"client_ready",
			strconv.FormatBool(o.ClientReady(verdicts)),
		}, {"recommended_action", o.RecommendedAction()}, {"report", onlyPlain(report)},
		{"receipt_sha256", strings.Join(receipts, " ")}, {"ledger_head", onlyPlain(o.LedgerHead)},
	}
}

// plainLine is what an output may hold at all: hashes, paths and words of this program.
var plainLine = pattern.New(`^[A-Za-z0-9._/ -]*$`)

// onlyPlain empties a value that is no plain line, so that nothing can be written after it.
func onlyPlain(s string) string {
	if !plainLine.MatchString(s) {
		return ""
	}
	return s
}

// scoreForm is how a score is written (S35): a whole number, or one with one decimal.
var scoreForm = pattern.New(`^(\d{1,3})(?:\.(\d))?$`)

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
