package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Outcome is one gate run over a pull request: what was audited, who has signed, and what still waits. Every paper is made of it.
type Outcome struct {
	Repository string // owner/name
	ServerURL  string // of the site, for links; no slash at the end
	Ledger     LedgerConfig
	RunID      int64 // of the workflow run: a newer run's text is never overwritten
	Attempt    int64 // of that run
	Direct     bool  // the workflow file came from the pull request itself
	Pull       int64
	Head, Base string // SHAs
	FailOn     referee.Threshold
	Accept     string
	Audits     []Audited
	Refusals   []Refusal
	Removed    []string
	Rulebook   []RulebookChange
	Notices    []string
	Governance []Violation

	Judged     []Judged
	Objections []string
	Unknown    []string // commit identities without an account: nobody's review counts
	Need       int      // approvals that are needed
	Receipts   []ledger.Entry
	Entries    []ledger.Entry  // all that the ledger holds of the pull request: the review announces them, void ones too
	Waived     []ledger.Waiver // accepted by who signed those receipts
	LedgerHead string          // tip of the ledger, "" where there is none yet
	Blocked    []string        // why an approval makes no receipt yet
	Drift      []string        // what happened since to earlier receipts
	NotPosted  []string        // what a refused write left out, and why
	Siblings   []Sibling       // other open pull requests with the same head
	StaleGreen bool            // the sign-off check could not be written, and an older one may be green
	Heads      Heads           // earlier heads that failed, as the gate's own review keeps them; ReviewPaper adds this one

	DigestRequired bool  // a review counts only if it names the audit (/digest)
	ReviewID       int64 // the gate's own review, for links; 0 where it is not known
	NoReview       bool  // the gate posts no review here: the checks carry all
}

// waiting are the siblings that are not signed off.
func (o *Outcome) waiting() []Sibling {
	return slices.DeleteFunc(slices.Clone(o.Siblings), func(s Sibling) bool { return s.Signed })
}

// Sibling is another open pull request with the same head commit. Checks belong to commits: what is green for one is green for the other, and so
// neither is green before both are.
type Sibling struct {
	Pull   int64
	Passes bool   // its audit
	Signed bool   // its sign-off
	Why    string // why it is not known, "" where it is
}

// RulebookChange is a sheet or the configuration that a pull request edits. It judges nothing there; what it would mean is said.
type RulebookChange struct {
	Path     string
	Sheet    string   // slug@version, "" for the configuration or a sheet that does not load
	Problems []string // why it would be refused, or what the lint says; a problem fails the audit check
	Warnings []string
	Tested   string   // what its own examples gave: "12 examples and trips hold", "" where there are none to run
	Turned   []string // stored verdicts that it would change
}

// Digest identifies what was audited and how it came out: SHA-256 over the domain, the head, and each run's folder and report digest or refusal,
// in order. It is the check's external_id, and what /digest in a review names.
func (o *Outcome) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "referee.audit/v1\n%s\n", o.Head)
	for _, a := range o.Audits {
		what := "refused " + a.Refused
		if a.Work != nil {
			what = a.Work.Report.Digest
		}
		fmt.Fprintf(h, "%d:%s\n%d:%s\n", len(a.Dir), a.Dir, len(what), what)
	}
	for _, r := range o.Refusals {
		fmt.Fprintf(h, "%d:%s\n%d:%s\n", len(r.Path), r.Path, len(r.Reason), r.Reason)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Empty reports whether the pull request touches nothing that is gated.
func (o *Outcome) Empty() bool { return len(o.Audits) == 0 && len(o.Refusals) == 0 }

// Idle reports whether the pull request is none of the gate's business: it touches no run and no rulebook. It gets no review.
func (o *Outcome) Idle() bool { return o.Empty() && len(o.Rulebook) == 0 && len(o.Governance) == 0 }

// Fails is the verdict of the audit check: a run that could not be audited, a finding at or above the threshold, an undecided high rule, or an
// agent beyond its limits.
func (o *Outcome) Fails() bool {
	if o.stopped() {
		return true
	}
	return slices.ContainsFunc(o.Audits, func(a Audited) bool { return a.Work == nil || a.Work.Report.Fails(o.FailOn) })
}

// stopped reports what no finding is needed for: something could not be audited, a rulebook is broken, or an agent is beyond its limits.
func (o *Outcome) stopped() bool {
	broken := slices.ContainsFunc(o.Rulebook, func(c RulebookChange) bool { return len(c.Problems) > 0 })
	return broken || len(o.Refusals) > 0 || len(o.Governance) > 0
}

// AuditPasses reports whether the audit check succeeds. A high deal-finding fails it until a counted review accepts it.
func (o *Outcome) AuditPasses() bool {
	return o.passesHere() && !slices.ContainsFunc(o.Siblings, func(s Sibling) bool { return !s.Passes })
}

// passesHere is AuditPasses without a look at other pull requests.
func (o *Outcome) passesHere() bool {
	if o.stopped() {
		return false
	}
	for _, a := range o.Audits {
		if a.Work == nil || o.failing(a.Work) {
			return false
		}
	}
	return true
}

// failing reports whether a finding of a run stands in the way that no counted review accepts.
func (o *Outcome) failing(w *Work) bool {
	if o.FailOn == referee.FailNever {
		return false
	}
	waived := o.waived(w)
	for _, f := range w.Report.Findings {
		if o.FailOn.Covers(f) && !(f.Bucket == referee.DealFinding && o.Accept == "deal-finding" && anyWaived(f.RuleIDs, waived)) {
			return true
		}
	}
	return len(w.Report.Verdict.UndecidedHigh) > 0
}

// waived are the rules of a run's findings that counted reviews, or those behind its receipts, accept.
func (o *Outcome) waived(w *Work) map[string]bool { return waivedRules(waiversFor(o.waivers(), w)) }

func waivedRules(waivers []ledger.Waiver) map[string]bool {
	out := map[string]bool{}
	for _, w := range waivers {
		out[w.RuleID] = true
	}
	return out
}

// counted are the reviews that are sign-offs; none while a commit's identity is unknown or a qualified reviewer objects.
func (o *Outcome) counted() []Judged {
	if len(o.Unknown) > 0 || len(o.Objections) > 0 {
		return nil
	}
	var out []Judged
	for _, j := range o.Judged {
		if j.Counted {
			out = append(out, j)
		}
	}
	return out
}

func (o *Outcome) waivers() []ledger.Waiver {
	var out []ledger.Waiver
	for _, j := range o.counted() {
		out = append(out, j.Commands.Accepts...)
	}
	return append(out, o.Waived...)
}

// Signed reports whether every run has its receipt, here and in every other open pull request with this head.
func (o *Outcome) Signed() bool {
	return o.signedHere() && len(o.waiting()) == 0
}

// signedHere is Signed without a look at other pull requests.
func (o *Outcome) signedHere() bool {
	if o.Empty() {
		return true
	}
	return len(o.Refusals) == 0 && !slices.ContainsFunc(o.Audits, func(a Audited) bool { return o.ReceiptOf(a) == nil })
}

// ReceiptOf is the receipt, among those that this job has decided, for a run's very bytes (Work.Subject); nil where there is none.
func (o *Outcome) ReceiptOf(a Audited) *ledger.Entry {
	if a.Work == nil {
		return nil
	}
	for _, e := range ledger.Live(o.Receipts) {
		if r := e.Receipt; r.Run.ID == a.Work.Run.ID && subjectOf(r) == a.Work.Subject() {
			return &e
		}
	}
	return nil
}

// subjectOf is what an entry says was signed off: its approval's word, or for one that carries an approval over to the same bytes, what it binds.
func subjectOf(r *ledger.Receipt) string {
	if r.Approval != nil {
		return r.Approval.SubjectDigest
	}
	return ledger.SubjectOf(r).Digest()
}

// Totals count findings over all runs.
func (o *Outcome) Totals() (high, mid, low int) {
	for _, a := range o.Audits {
		if a.Work != nil {
			risk := a.Work.Report.Verdict.Risk
			high, mid, low = high+risk.High, mid+risk.Mid, low+risk.Low
		}
	}
	return high, mid, low
}

// Violation is an agent beyond a limit of the configuration.
type Violation struct {
	Agent  string
	Kind   string // spend_breach, rogue, policy_violation, recurring_flag, dark
	Reason string
	Draft  string // an incident, ready to commit
}
