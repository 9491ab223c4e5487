package outcome

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Outcome is one gate run over a pull request: what was audited, who has signed, and what still waits. Every paper is
// made of it.
type Outcome struct {
	Repository string // owner/name
	ServerURL  string // of the site, for links; no slash at the end
	Ledger     config.Ledger
	RunID      int64 // of the workflow run: a newer run's text is never overwritten
	Attempt    int64 // of that run
	Direct     bool  // the workflow file came from the pull request itself
	Pull       int64
	Head, Base string // SHAs
	FailOn     referee.Threshold
	Accept     string
	Audits     []audit.AuditedRun
	Refusals   []audit.Refusal
	Removed    []string
	Rulebook   []rulebook.Change
	Notices    []string
	Governance []governance.Violation

	Judged     []signoff.Judged
	Objections []string
	Unknown    []string // commit identities without an account: nobody's review counts
	Need       int      // approvals that are needed
	Receipts   []ledger.Entry
	// all that the ledger holds of the pull request: the review announces them, void ones too
	Entries    []ledger.Entry
	Waived     []ledger.Waiver // accepted by who signed those receipts
	LedgerHead string          // tip of the ledger, "" where there is none yet
	Blocked    []string        // why an approval makes no receipt yet
	Drift      []string        // what happened since to earlier receipts
	NotPosted  []string        // what a refused write left out, and why
	Siblings   []Sibling       // other open pull requests with the same head
	StaleGreen bool            // the sign-off check could not be written, and an older one may be green
	// earlier heads that failed, as the gate's own review keeps them; ReviewPaper adds this one
	Heads memory.Heads

	DigestRequired bool  // a review counts only if it names the audit (/digest)
	ReviewID       int64 // the gate's own review, for links; 0 where it is not known
	NoReview       bool  // the gate posts no review here: the checks carry all
}

// WaitingSiblings are the siblings that are not signed off.
func (o *Outcome) WaitingSiblings() []Sibling {
	return slices.DeleteFunc(slices.Clone(o.Siblings), func(s Sibling) bool { return s.Signed })
}

// Sibling is another open pull request with the same head commit. Checks belong to commits: what is green for one is
// green for the other, and so neither is green before both are.
type Sibling struct {
	Pull   int64
	Passes bool   // its audit
	Signed bool   // its sign-off
	Why    string // why it is not known, "" where it is
}

// Digest identifies what was audited and how it came out: SHA-256 over the domain, the head, and each run's folder and
// report digest or refusal, in order. It is the check's external_id, and what /digest in a review names.
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

// Idle reports whether the pull request is none of the gate's business: it touches no run and no rulebook. It gets no
// review.
func (o *Outcome) Idle() bool { return o.Empty() && len(o.Rulebook) == 0 && len(o.Governance) == 0 }

// Fails is the verdict of the audit check: a run that could not be audited, a finding at or above the threshold, an
// undecided high rule, or an agent beyond its limits.
func (o *Outcome) Fails() bool {
	if o.Stopped() {
		return true
	}
	return slices.ContainsFunc(
		o.Audits,
		func(a audit.AuditedRun) bool { return a.Work == nil || a.Work.Report.Fails(o.FailOn) },
	)
}

// Stopped reports what no finding is needed for: something could not be audited, a rulebook is broken, or an agent is
// beyond its limits.
func (o *Outcome) Stopped() bool {
	broken := slices.ContainsFunc(o.Rulebook, func(c rulebook.Change) bool { return len(c.Problems) > 0 })
	return broken || len(o.Refusals) > 0 || len(o.Governance) > 0
}

// AuditPasses reports whether the audit check succeeds. A high deal-finding fails it until a counted review accepts it.
func (o *Outcome) AuditPasses() bool {
	return o.PassesHere() && !slices.ContainsFunc(o.Siblings, func(s Sibling) bool { return !s.Passes })
}

// PassesHere is AuditPasses without a look at other pull requests.
func (o *Outcome) PassesHere() bool {
	if o.Stopped() {
		return false
	}
	for _, a := range o.Audits {
		if a.Work == nil || o.FailsUnaccepted(a.Work) {
			return false
		}
	}
	return true
}

// FailsUnaccepted reports whether a finding of a run stands in the way that no counted review accepts.
func (o *Outcome) FailsUnaccepted(w *receipt.Work) bool {
	if o.FailOn == referee.FailNever {
		return false
	}
	waived := o.waivedRulesOf(w)
	for _, f := range w.Report.Findings {
		if o.FailOn.Covers(f) &&
			!(f.Bucket == referee.DealFinding && o.Accept == "deal-finding" && receipt.AnyWaived(f.RuleIDs, waived)) {
			return true
		}
	}
	return len(w.Report.Verdict.UndecidedHigh) > 0
}

// waivedRulesOf are the rules of a run's findings that counted reviews, or those behind its receipts, accept.
func (o *Outcome) waivedRulesOf(w *receipt.Work) map[string]bool {
	return waivedRules(signoff.WaiversFor(o.Waivers(), w))
}

func waivedRules(waivers []ledger.Waiver) map[string]bool {
	out := map[string]bool{}
	for _, w := range waivers {
		out[w.RuleID] = true
	}
	return out
}

// CountedReviews are the reviews that are sign-offs; none while a commit's identity is unknown or a qualified reviewer
// objects.
func (o *Outcome) CountedReviews() []signoff.Judged {
	if len(o.Unknown) > 0 || len(o.Objections) > 0 {
		return nil
	}
	var out []signoff.Judged
	for _, j := range o.Judged {
		if j.Counted {
			out = append(out, j)
		}
	}
	return out
}

// Waivers are what counted reviews, and those behind the receipts, accept.
func (o *Outcome) Waivers() []ledger.Waiver {
	var out []ledger.Waiver
	for _, j := range o.CountedReviews() {
		out = append(out, j.Commands.Accepts...)
	}
	return append(out, o.Waived...)
}

// Signed reports whether every run has its receipt, here and in every other open pull request with this head.
func (o *Outcome) Signed() bool {
	return o.SignedHere() && len(o.WaitingSiblings()) == 0
}

// SignedHere is Signed without a look at other pull requests.
func (o *Outcome) SignedHere() bool {
	if o.Empty() {
		return true
	}
	return len(o.Refusals) == 0 &&
		!slices.ContainsFunc(o.Audits, func(a audit.AuditedRun) bool { return o.ReceiptOf(a) == nil })
}

// ReceiptOf is the receipt, among those that this job has decided, for a run's very bytes (Work.Subject); nil where
// there is none.
func (o *Outcome) ReceiptOf(a audit.AuditedRun) *ledger.Entry {
	if a.Work == nil {
		return nil
	}
	for _, e := range ledger.Live(o.Receipts) {
		if r := e.Receipt; r.Run.ID == a.Work.Run.ID && receipt.SubjectDigest(r) == a.Work.Subject() {
			return &e
		}
	}
	return nil
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

// What the output "result" says. ResultIgnored is of an event that the gate does not act on; the others are of an
// Outcome.
const (
	ResultNoRuns = "no-runs" // the pull request touches nothing that is gated
	ResultFailed = "failed"  // the audit check fails, or something could not be audited
	// the audit passes, and a receipt is missing, here or in another pull request with this commit
	ResultAwaiting = "awaiting-sign-off"
	ResultSigned   = "signed" // the audit passes, and every run has its receipt
	ResultIgnored  = "ignored"
)

// Result is the outcome in a word.
func (o *Outcome) Result() string {
	switch {
	case !o.AuditPasses():
		return ResultFailed
	case len(o.WaitingSiblings()) > 0:
		return ResultAwaiting
	case o.Empty():
		return ResultNoRuns
	case o.Signed():
		return ResultSigned
	}
	return ResultAwaiting
}

// Hurdle is a finding of a run that stands in the way until a review accepts one of its rules.
type Hurdle struct {
	Run   *audit.AuditedRun
	Rules []string
}

// Hurdles are the findings that stand in the way of a receipt: those that a review may accept, and how many may not be
// accepted.
func (o *Outcome) Hurdles() (acceptable []Hurdle, defects int) {
	for i := range o.Audits {
		a := &o.Audits[i]
		if a.Work == nil {
			continue
		}
		waived := o.waivedRulesOf(a.Work)
		for _, f := range a.Work.Report.Findings {
			h := Hurdle{a, f.RuleIDs}
			same := func(have Hurdle) bool { return have.Run == a && slices.Equal(have.Rules, h.Rules) }
			switch {
			case !o.FailOn.Covers(f):
			case f.Bucket != referee.DealFinding || o.Accept != "deal-finding" || len(f.RuleIDs) == 0:
				defects++
			case !receipt.AnyWaived(f.RuleIDs, waived) && !slices.ContainsFunc(acceptable, same):
				acceptable = append(acceptable, h)
			}
		}
	}
	return acceptable, defects
}

// UndecidedRules counts the high rules that nobody decided.
func (o *Outcome) UndecidedRules() int {
	n := 0
	for _, a := range o.Audits {
		if a.Work != nil {
			n += len(a.Work.Report.Verdict.UndecidedHigh)
		}
	}
	return n
}

// RefusedCount is how much could not be audited.
func (o *Outcome) RefusedCount() int {
	n := len(o.Refusals)
	for _, a := range o.Audits {
		if a.Work == nil {
			n++
		}
	}
	return n
}

// BrokenRulebooks counts the rulebooks that the pull request edits and that would be refused.
func (o *Outcome) BrokenRulebooks() int {
	n := 0
	for _, c := range o.Rulebook {
		if len(c.Problems) > 0 {
			n++
		}
	}
	return n
}

// Signers gives the counted reviews that make the sign-off, the earliest of different people, or none where there are
// too few.
func (o *Outcome) Signers() []signoff.Judged {
	counted := slices.Clone(o.CountedReviews())
	slices.SortStableFunc(counted, func(a, b signoff.Judged) int {
		return cmp.Or(a.Review.SubmittedAt.Compare(b.Review.SubmittedAt), cmp.Compare(a.Review.ID, b.Review.ID))
	})
	if o.Need < 1 || len(counted) < o.Need {
		return nil
	}
	return counted[:o.Need]
}

// UnaskedCommands are the words of signers that fit no run: an answer to no question, a waiver of a rule that flags
// nothing. They are slips of the pen. So is a key that means one rule in all runs and another in one.
func (o *Outcome) UnaskedCommands(signers []signoff.Judged) []string {
	var out []string
	say := func(s signoff.Judged, verb, key, nothing string, fits func(w *receipt.Work, rule string) bool) {
		switch all, one := o.CommandFits(key, fits); {
		case all && one:
			out = append(
				out,
				fmt.Sprintf(
					"%s %s %q, which is a key of its own and a key of one run: rename one of the rules",
					s.Review.User,
					verb,
					key,
				),
			)
		case !all && !one:
			out = append(out, fmt.Sprintf("%s %s %q, which %s", s.Review.User, verb, key, nothing))
		}
	}
	for _, s := range signers {
		for _, a := range s.Commands.Answers {
			say(
				s,
				"answers",
				a.ID,
				"no run asks",
				func(w *receipt.Work, rule string) bool { return signoff.OpenQuestions(w)[rule] },
			)
		}
		for _, w := range s.Commands.Accepts {
			say(s, "accepts", w.RuleID, "flags nothing", signoff.HasFinding)
		}
	}
	return out
}

// CommandFits reports whether a command's key fits a rule of some run by itself, and whether it fits one behind the
// run's id.
func (o *Outcome) CommandFits(key string, has func(w *receipt.Work, rule string) bool) (all, one bool) {
	for _, a := range o.Audits {
		if a.Work == nil {
			continue
		}
		all = all || has(a.Work, key)
		rule := signoff.RuleOfRun(key, a.Work.Run.ID)
		one = one || rule != "" && has(a.Work, rule)
	}
	return all, one
}

// Verdicts are those of the runs that were audited.
func (o *Outcome) Verdicts() []ledger.Verdict {
	var out []ledger.Verdict
	for i := range o.Audits {
		if o.Audits[i].Work != nil {
			out = append(out, o.VerdictOf(&o.Audits[i]))
		}
	}
	return out
}

// VerdictOf is the verdict of a run that was audited: the receipt's where there is one, for it holds what the person
// answered.
func (o *Outcome) VerdictOf(a *audit.AuditedRun) ledger.Verdict {
	if e := o.ReceiptOf(*a); e != nil && e.Receipt.Verdict != nil {
		return *e.Receipt.Verdict
	}
	return *receipt.VerdictOf(a.Work.Report.Verdict)
}

// RecommendedAction is the heaviest over all runs (S39): resubmit, reject, review or approve; none where nothing was
// audited. What could not be audited is to be submitted again. A run that failed twice already is not sent round a
// third time: review, a person decides.
func (o *Outcome) RecommendedAction() string {
	verdicts := o.Verdicts()
	var have []string
	for i := range o.Audits {
		action := "resubmit"
		if o.Audits[i].Work != nil {
			action, verdicts = verdicts[0].RecommendedAction, verdicts[1:]
		}
		if action == "resubmit" && o.WornOut(&o.Audits[i]) {
			action = "review"
		}
		have = append(have, action)
	}
	if len(o.Refusals) > 0 {
		have = append(have, "resubmit")
	}
	return firstKnownWord(actions, have)
}

// WornOutRuns is how many runs fail again, and have used up their revisions.
func (o *Outcome) WornOutRuns() int {
	n := 0
	for i := range o.Audits {
		if o.WornOut(&o.Audits[i]) {
			n++
		}
	}
	return n
}

// WornOut reports whether a run fails again and has used up its revisions: a person decides what becomes of it.
func (o *Outcome) WornOut(a *audit.AuditedRun) bool {
	return a.Failed >= memory.MaxRevisions && (a.Work == nil || a.Work.Report.Fails(o.FailOn))
}

// ClientReady: every run is, and nothing stands beside them that could not be audited.
func (o *Outcome) ClientReady(verdicts []ledger.Verdict) bool {
	return len(verdicts) > 0 && len(verdicts) == len(o.Audits) && !o.Stopped() &&
		!slices.ContainsFunc(verdicts, func(v ledger.Verdict) bool { return !v.ClientReady })
}

// firstKnownWord is the first known word that one of the values has. An unknown word is the worst of all.
func firstKnownWord(order, have []string) string {
	at := len(order)
	for _, s := range have {
		at = min(at, max(0, slices.Index(order, s)))
	}
	if at == len(order) {
		return "none"
	}
	return order[at]
}

var actions = []string{"resubmit", "reject", "review", "approve"}

// FailedRuns are the folders of the runs that fail at this head, and that no counted review accepts.
func (o *Outcome) FailedRuns() []string {
	var out []string
	for _, a := range o.Audits {
		if a.Work == nil || o.FailsUnaccepted(a.Work) {
			out = append(out, a.Dir)
		}
	}
	return out
}

// FailingElsewhere are the other pull requests with this commit whose audit fails.
func (o *Outcome) FailingElsewhere() []Sibling {
	return slices.DeleteFunc(slices.Clone(o.Siblings), func(s Sibling) bool { return s.Passes })
}

// Marker is what the papers of this run carry.
func (o *Outcome) Marker() memory.Marker {
	head := o.Head
	if !hexOnly.MatchString(head) {
		head = "" // no commit's name: a paper is still made, and found again
	}
	return memory.Marker{Pull: o.Pull, Head: head, Digest: o.Digest(), RunID: o.RunID, Attempt: o.Attempt}
}

var hexOnly = pattern.New(`^[0-9a-f]{1,64}$`)

// severities are the words of a verdict, worst first. actions are the recommended ones, by what has to be done before a
// merge.
var (
	severities = []string{
		string(referee.Propolis),
		string(referee.Jelly),
		string(referee.Unsigned),
		string(referee.Honey),
	}
)

// WorstSeverity is the severity of the worst of the verdicts; "none" without one.
func WorstSeverity(verdicts []ledger.Verdict) string {
	var have []string
	for _, v := range verdicts {
		have = append(have, v.Severity)
	}
	return firstKnownWord(severities, have)
}
