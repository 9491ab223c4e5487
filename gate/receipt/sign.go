package receipt

import (
	"context"
	"fmt"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Policy is what the configuration says of sign-offs.
type Policy struct {
	FailOn referee.Threshold
	Accept string // none or deal-finding
}

// NotSignable is returned where the rules do not let an approval become a receipt. Reason says what, and what would be
// right.
type NotSignable struct {
	Run    string
	Reason string
	cause  error
}

// Error gives the reason.
func (e *NotSignable) Error() string {
	return fmt.Sprintf("run %q cannot be signed off: %s", e.Run, e.Reason)
}

// Unwrap is the error behind the reason: a *ledger.Refusal where the ledger's own rules refuse it; else nil.
func (e *NotSignable) Unwrap() error { return e.cause }

// Sign drafts the receipt of a decision, after holding it to the policy: an approval of work that the rules refuse
// makes no receipt.
func Sign(w Work, d Decision, p Place, policy Policy) (ledger.Receipt, error) {
	var answers []referee.Answer
	for _, a := range d.Answers {
		answers = append(answers, referee.Answer{ID: a.ID, Satisfied: a.Answer == "satisfied", Note: a.Note})
	}
	signed, err := w.Report.Sign(w.Sheet, answers)
	if err != nil {
		return ledger.Receipt{}, &NotSignable{Run: w.Run.ID, Reason: err.Error()}
	}
	if why := Blocked(w.Report, signed, policy.FailOn, policy.Accept, d.Waivers); why != "" &&
		d.Kind == ledger.Approved {
		return ledger.Receipt{}, &NotSignable{Run: w.Run.ID, Reason: why}
	}
	r, err := Draft(w, d, p)
	if err == nil && d.Kind == ledger.Approved && r.Incident != nil && opensAfter(r.Incident.OpenedAt, r.MintedAt) {
		return ledger.Receipt{}, &NotSignable{Run: w.Run.ID, Reason: fmt.Sprintf(
			"the incident says opened_at %s, which is after this sign-off at %s: state when it was opened",
			r.Incident.OpenedAt, r.MintedAt)}
	}
	if err == nil && d.Kind == ledger.Approved && r.Cook != nil {
		if err := checkCook(w, r.Cook); err != nil {
			return ledger.Receipt{}, &NotSignable{Run: w.Run.ID, Reason: err.Error(), cause: err}
		}
	}
	return r, err
}

// opensAfter reports whether an incident was opened after a time. What is no time in the ledger's format is refused
// when the receipt is written. A receipt that is in a ledger already is derived again without this (Draft).
func opensAfter(opened, minted string) bool {
	at, err := time.Parse(TimeFormat, opened)
	sign, signErr := time.Parse(TimeFormat, minted)
	return err == nil && signErr == nil && at.After(sign)
}

// Mint appends the receipts of one sign-off, once: a second delivery of the same decision finds the first one's
// receipts. papers are what a new ledger's first commit also holds (verify.html). A sheet of the embedded library is
// kept in the ledger, a repository's own is in the repository.
func Mint(
	ctx context.Context,
	store ledger.Store,
	receipts []ledger.Receipt,
	sheets []*referee.Sheet,
	papers []ledger.File,
) (ledger.Result, error) {
	draft := ledger.Draft{Receipts: receipts, Papers: papers}
	for _, s := range sheets {
		if s.Origin == "library" {
			draft.Sheets = append(draft.Sheets, s.Canonical)
		}
	}
	return ledger.Append(ctx, store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) { return draft, nil })
}
