package ledger

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
)

// Refusal is why an entry may not be written, or does not belong in a ledger. It is a type of its own so that a caller
// can tell "the rules say no" from "the tool failed".
type Refusal struct {
	Code    string // one of the Refuse constants
	Message string
}

// Error returns the message.
func (r *Refusal) Error() string { return "receipt refused: " + r.Message }

func refuse(code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// The reasons to refuse an entry. TestRefusals has a case for each, so that no rule can be lost unnoticed.
const (
	RefuseSchema     = "schema"      // unknown, or not the lane's
	RefuseSeq        = "seq"         // seq, parent_hash and log do not belong together
	RefuseID         = "receipt_id"  // not made of seq and submission
	RefuseApproval   = "no-approval" // no human's approval where the kind needs one, or one where it must not be
	RefuseDecision   = "decision"    // the approval decides something else
	RefuseTime       = "minted_at"   // not the time of the review or the event
	RefuseSelfSigned = "self-signed" // self_signed by someone who is no admin
	// subject_digest is not what the entry's own parts, or the earlier entry's, hash to
	RefuseSubject    = "subject"
	RefuseObserved   = "observed-by"    // no event where nobody signs, or one where somebody does
	RefuseRefers     = "refers-to"      // refers_to missing, superfluous or unresolved
	RefuseAudit      = "audit"          // the audit's members are missing or incomplete
	RefuseChecklist  = "open-checklist" // a question waits for a human, or an answer is incomplete
	RefuseUndecided  = "undecided-high" // a high rule was not decided
	RefuseSeverity   = "severity"       // a severity that this kind cannot have
	RefuseCounts     = "counts"         // numbers that do not add up
	RefuseFindings   = "findings"       // too many, or out of rank
	RefuseScore      = "score"          // a score that the counts do not make
	RefuseReady      = "client-ready"   // client_ready against the findings
	RefuseAction     = "action"         // another action than the findings recommend
	RefuseEvidence   = "evidence"       // an item that contradicts itself
	RefuseAssignment = "assignment"     // the text is not the one hashed
	RefuseWaiver     = "waiver"         // something accepted without an approval
	RefusePull       = "pull-request"   // a number out of range
	RefuseCook       = "cook"           // the cook member and the schema do not agree
	RefuseLift       = "no-lift"        // a cook without lift
	RefuseSheet      = "sheet"          // a cook whose receipts are on different sheets
	RefuseIncident   = "incident"       // the incident member and the schema do not agree
	RefuseUnresolved = "unresolved"     // a receipt that this ledger does not hold
)

// Validate returns the first reason why r may not be written, judged by r alone; Resolve judges what it refers to. The
// forms of single members are the decoder's, so Parse has checked them already. Writer and reader call the same checks:
// whatever one of them lets through, the other does too.
func (r *Receipt) Validate() error {
	if err := r.checkMembers(); err != nil {
		return err
	}
	return r.checkFacts(factsOf(r.Findings), func() int {
		b, err := canonical.Marshal(*r)
		if err != nil {
			return FullBytes + 1 // what has no bytes is refused by Format, and what is too long is full
		}
		return len(b)
	})
}

// checkMembers is Validate without the findings. The order matters: checkTime reads the approval or the event that
// checkSignature has required, and the verdict is held to a checklist whose answers are complete.
func (r *Receipt) checkMembers() error {
	checks := []func() error{
		r.checkSchema, r.checkPlace, r.checkID, r.checkSignature, r.checkTime, r.checkRefers,
		r.checkAudit, r.checkChecklist, r.checkVerdict, r.checkEvidence, r.checkSubject, r.checkCook, r.checkIncident,
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// SchemaOf is the schema of a lane's receipts. The lane decides it alone, so an incident cannot pass as an ordinary
// receipt by naming another schema.
func SchemaOf(lane string) string {
	switch lane {
	case "cook":
		return CookSchema
	case "incident":
		return IncidentSchema
	}
	return EvalSchema
}

// checkSchema leaves no choice between schemas: two that fit one lane would be two receipts about one thing.
func (r *Receipt) checkSchema() error {
	if want := SchemaOf(r.Run.Lane); r.Schema != want {
		return refuse(RefuseSchema, "the schema is %q, the lane %q has %q", r.Schema, r.Run.Lane, want)
	}
	return nil
}

// checkPlace holds seq, parent_hash and log together; whether they continue the chain is the chain's to say. seq is
// bounded by the digits of a path: an entry without a place would end the ledger for good.
func (r *Receipt) checkPlace() error {
	switch {
	case r.Seq > MaxSeq:
		return refuse(RefuseSeq, "seq is %d, at most %d has a place in the branch", r.Seq, int64(MaxSeq))
	case r.Log.Count != r.Seq:
		return refuse(RefuseSeq, "log.count is %d at seq %d; the log covers the entries before this one", r.Log.Count,
			r.Seq)
	case (r.Seq == 0) != (r.ParentHash == NoParent):
		return refuse(RefuseSeq, "parent_hash is %.8s… at seq %d; it is 64 zeros at seq 0 and only there", r.ParentHash,
			r.Seq)
	case r.Seq == 0 && r.Log.Root != EmptyRoot:
		return refuse(RefuseSeq, "log.root is %.8s… at seq 0; it must be the SHA-256 of nothing", r.Log.Root)
	case r.PullRequest != nil && (r.PullRequest.Number < 1 || r.PullRequest.Number > MaxPullRequest):
		return refuse(RefusePull, "the pull request has the number %d, it must be within 1 and %d",
			r.PullRequest.Number, MaxPullRequest)
	}
	return nil
}

// checkID keeps the id, which people quote, from naming another entry than the one that shows it.
func (r *Receipt) checkID() error {
	if want := ReceiptID(r.Seq, r.Submission.SHA256); r.ID != want {
		return refuse(RefuseID, "receipt_id is %s; seq and submission make %s", r.ID, want)
	}
	return nil
}

// ReceiptID is DCR-, the seq with six digits or more, and the first eight digits of the submission's SHA-256.
func ReceiptID(seq int64, submission string) string {
	return fmt.Sprintf("DCR-%06d-%.8s", seq, submission)
}

// Signed reports whether entries of the kind hold a human's approval.
func (k Kind) Signed() bool {
	return slices.Contains([]Kind{Approved, Amended, Revoked, Rejected}, k)
}

// Live reports whether an entry of the kind says that its bytes are signed off. Whether a later entry takes that back
// is Standing's to say.
func (k Kind) Live() bool { return k == Approved || k == Carried }

// checkSignature allows exactly one origin: a person's approval or an observed event. With both, a reader could take
// the event's time or the approval's as the one that counts; with neither, the entry would come from nobody. Waivers
// need an approval because nobody else may accept a finding. That an admin signed their own work is said in the entry,
// and only an admin may (gate.md, "Who may sign off").
func (r *Receipt) checkSignature() error {
	switch {
	case r.Kind.Signed() && r.Approval == nil:
		return refuse(RefuseApproval, "no approval: %q is an entry that a human signs, and no receipt exists "+
			"without one", r.Kind)
	case !r.Kind.Signed() && r.Approval != nil:
		return refuse(RefuseApproval, "an approval in an entry of kind %q, which nobody signs", r.Kind)
	case r.Kind.Signed() == (r.ObservedBy != nil):
		return refuse(RefuseObserved, "observed_by belongs only in entries that nobody signs; the kind is %q", r.Kind)
	case r.Approval != nil && r.Approval.Decision != r.Kind:
		return refuse(RefuseDecision, "the approval says %q in an entry of kind %q", r.Approval.Decision, r.Kind)
	case r.SelfSigned && (r.Approval == nil || r.Approval.Approver.Permission != "admin"):
		return refuse(RefuseSelfSigned, "only an admin can be self_signed")
	case len(r.Accepted) > 0 && r.Approval == nil:
		return refuse(RefuseWaiver, "a finding is accepted where nobody approves")
	case r.ObservedBy != nil && r.Kind == Merged && r.ObservedBy.SHA == "":
		return refuse(RefuseObserved, "a merged entry needs observed_by.sha, the merge commit")
	}
	return nil
}

// checkTime holds minted_at to the record it comes from, so that a receipt is a pure function of records. A time of the
// job's own would make another hash at each try, and the second delivery of an event another receipt.
func (r *Receipt) checkTime() error {
	want, where := "", ""
	if r.Approval != nil {
		want, where = r.Approval.Review.SubmittedAt, "approval.review.submitted_at"
	} else {
		want, where = r.ObservedBy.At, "observed_by.at"
	}
	if r.MintedAt != want {
		return refuse(RefuseTime, "minted_at is %s, but %s is %s; they must be equal", r.MintedAt, where, want)
	}
	return nil
}

// checkRefers requires a reference where the entry changes what an earlier one means. Rejected and withdrawn may have
// one or not, because work can be rejected or closed before anything was signed.
func (r *Receipt) checkRefers() error {
	switch r.Kind {
	case Carried, Amended, Revoked, Superseded, Merged:
		if r.RefersTo == "" {
			return refuse(RefuseRefers, "an entry of kind %q needs refers_to, the earlier entry", r.Kind)
		}
	case Approved, Unreceipted:
		if r.RefersTo != "" {
			return refuse(RefuseRefers, "an entry of kind %q takes no refers_to", r.Kind)
		}
	}
	return nil
}

// Audited reports whether r holds an audit, and not only what it is about.
func (r *Receipt) Audited() bool { return r.Verdict != nil }

// checkAudit holds the audit's members together: all, or none where the kind does without. Half an audit could show a
// score and leave out the digest by which it is replayed. The assignment's hash covers the original bytes, so a text in
// which Format replaced something cannot be compared with it.
func (r *Receipt) checkAudit() error {
	have := []bool{r.Semantics > 0, r.Engine != nil, r.Agent != nil, r.Assignment != nil, r.Verdict != nil,
		r.ReportDigest != ""}
	names := []string{"semantics", "engine", "agent", "assignment", "verdict", "report_digest"}
	needed := r.Kind.Live() || r.Kind == Rejected || slices.Contains(have, true)
	if i := slices.Index(have, false); needed && i >= 0 {
		return refuse(RefuseAudit, "%s is missing; an entry of kind %q holds the whole audit or, where nobody signs "+
			"it off, none", names[i], r.Kind)
	}
	if !needed && (r.FindingsTotal != 0 ||
		len(r.Findings)+len(r.Checklist)+len(r.Evidence)+len(r.Params)+len(r.Stated)+len(r.Advisory) > 0) {
		return refuse(RefuseAudit, "parts of an audit without a verdict")
	}
	if r.Assignment != nil && r.Assignment.Text != "" && !slices.Contains(r.Sanitized, "/assignment/text") &&
		canonical.SHA256Hex([]byte(r.Assignment.Text)) != r.Assignment.SHA256 {
		return refuse(RefuseAssignment, "assignment.sha256 is not the SHA-256 of assignment.text")
	}
	return nil
}

// checkChecklist is S38: an open question stops the receipt, and every answer names who gave it and when. A flag needs
// its reason, because the agent has to act on it.
func (r *Receipt) checkChecklist() error {
	for _, a := range r.Checklist {
		switch {
		case a.Answer == "open" && r.Kind.Live():
			return refuse(RefuseChecklist, "the checklist item %q is open; every question is answered before a "+
				"receipt is minted", a.ID)
		case a.Answer != "open" && (a.By == "" || a.At == ""):
			return refuse(RefuseChecklist, "the answer to %q lacks a person or a time", a.ID)
		case a.Answer == "flag" && a.Note == "":
			return refuse(RefuseChecklist, "the flag at %q has no reason", a.ID)
		}
	}
	return nil
}

// maxCount bounds the counts of a verdict, so that no sum of them overflows.
const maxCount int64 = 1 << 40

// checkVerdict holds the counts to each other and to the kind. A verdict over no rule is refused because zero rules
// evaluated is never success, and an undecided high rule because broken never equals pass (S74).
func (r *Receipt) checkVerdict() error {
	v := r.Verdict
	if v == nil {
		return nil
	}
	c := v.Counts
	switch {
	case int64(max(c.Declared, c.Satisfied, c.Flagged, c.Skipped, c.Open, v.Risk.High, v.Risk.Mid, v.Risk.Low)) > maxCount:
		return refuse(RefuseCounts, "a count above %d; no audit has so many rules or findings", maxCount)
	case c.Declared == 0:
		return refuse(RefuseCounts, "no rule was declared: nothing was audited")
	case c.Satisfied+c.Flagged+c.Skipped+c.Open != c.Declared:
		return refuse(RefuseCounts, "%d satisfied, %d flagged, %d skipped and %d open are not the %d declared",
			c.Satisfied, c.Flagged, c.Skipped, c.Open, c.Declared)
	case v.Risk.High+v.Risk.Mid+v.Risk.Low != r.FindingsTotal:
		return refuse(RefuseCounts, "%d high, %d mid and %d low are not the %d findings in all", v.Risk.High,
			v.Risk.Mid, v.Risk.Low, r.FindingsTotal)
	case r.Kind.Live() && c.Open > 0:
		return refuse(RefuseChecklist, "%d checks wait for a human; every question is answered before a receipt is "+
			"minted", c.Open)
	case r.Kind.Live() && len(v.UndecidedHigh) > 0:
		return refuse(RefuseUndecided, "the high rule %q was not decided; what could not be judged is not signed off",
			v.UndecidedHigh[0])
	}
	if err := r.checkOpen(); err != nil {
		return err
	}
	return r.checkSeverity()
}

// checkOpen holds the counts to the answers: every check that waits for a person is a question, and has one answer. The
// answers are counted again, because the count alone decides whether a receipt may be minted. Two answers to one
// question would let a reader choose.
func (r *Receipt) checkOpen() error {
	open, asked := 0, map[string]bool{}
	for _, a := range r.Checklist {
		if asked[a.ID] {
			return refuse(RefuseChecklist, "the question %q has two answers", a.ID)
		}
		asked[a.ID] = true
		if a.Answer == "open" {
			open++
		}
	}
	if open != r.Verdict.Counts.Open {
		return refuse(RefuseChecklist, "%d questions are open, the verdict counts %d", open, r.Verdict.Counts.Open)
	}
	return nil
}

// checkSeverity keeps honey to approved records (S37) and to records without a flag, and propolis where a high finding
// is. What the findings make it is checked with them (checkSeverityOf); this much holds even where some are not shown.
func (r *Receipt) checkSeverity() error {
	v := r.Verdict
	switch {
	case v.Severity == "honey" && !r.Kind.Live():
		return refuse(RefuseSeverity, "honey exists only in an approved record; the kind is %q", r.Kind)
	case v.Severity == "unsigned" && r.Kind.Live():
		return refuse(RefuseSeverity, "the severity of a signed record is honey, jelly or propolis, not unsigned")
	case (v.Severity == "honey" || v.Severity == "unsigned") && (v.Counts.Flagged > 0 || r.FindingsTotal > 0):
		return refuse(RefuseSeverity, "%s with %d flagged checks and %d findings", v.Severity, v.Counts.Flagged,
			r.FindingsTotal)
	case v.Severity != "propolis" && v.Risk.High > 0:
		return refuse(RefuseSeverity, "%s with %d high findings; that is propolis", v.Severity, v.Risk.High)
	}
	return nil
}

// checkEvidence keeps an item from vouching for bytes that nobody hashed, and from hiding who brought it (S66).
func (r *Receipt) checkEvidence() error {
	for _, e := range r.Evidence {
		switch {
		case (e.Status == "held") != (e.SHA256 != ""):
			return refuse(RefuseEvidence, "the evidence %q is %s; sha256 belongs only to held evidence", e.ID, e.Status)
		case (e.Provenance == "pull_request") != (e.AddedBy != ""):
			return refuse(RefuseEvidence,
				"the evidence %q comes from %s; added_by names who added it in a pull request", e.ID, e.Provenance)
		}
	}
	return nil
}

// checkSubject recomputes what the approval says was signed. An entry without an audit holds no evidence to do that
// with: it repeats the subject of the entry that it refers to, and Resolve compares the two. Without this, a real
// approval could be lent to other bytes: everything in the entry would be true but not together.
func (r *Receipt) checkSubject() error {
	if r.Approval == nil || !r.Audited() {
		return nil
	}
	if want := r.subjectDigest(); r.Approval.SubjectDigest != want {
		return refuse(RefuseSubject, "approval.subject_digest is %.8s…; sheet, submission and evidence of this "+
			"entry make %.8s…: something else was signed",
			r.Approval.SubjectDigest, want)
	}
	return nil
}

// checkCook requires a lift and computes it again, exactly: a rounded difference could turn no lift into a small one.
// That the two scores are those of the receipts named is cookedSide's to say.
func (r *Receipt) checkCook() error {
	if (r.Schema == CookSchema) != (r.Cook != nil) {
		return refuse(RefuseCook, "the member cook belongs only in a cook receipt")
	}
	if r.Cook == nil {
		return nil
	}
	return r.Cook.CheckLift()
}

// CheckLift refuses a cook that shows no lift, by the scores that it states. That they are those of its receipts is
// for Resolve.
func (c *Cook) CheckLift() error {
	before, after, lift := exactRational(c.EvalBefore), exactRational(c.EvalAfter), exactRational(c.Lift)
	switch {
	case c.Before == c.After:
		return refuse(RefuseLift, "before and after are the same receipt")
	case after.Cmp(before) <= 0:
		return refuse(RefuseLift, "no lift: %s before, %s after; a cook receipt requires a lift", c.EvalBefore,
			c.EvalAfter)
	case new(big.Rat).Sub(after, before).Cmp(lift) != 0:
		return refuse(RefuseLift, "the lift is given as %s, %s − %s is %s", c.Lift, c.EvalAfter, c.EvalBefore,
			strings.TrimSuffix(strings.TrimRight(new(big.Rat).Sub(after, before).FloatString(40), "0"), "."))
	}
	return nil
}

// exactRational is the exact value of a decimal string; the form bounds its length and its exponent. A string without
// the form is 0. The decoder has refused such a string wherever a field has the form.
func exactRational(s string) *big.Rat {
	// The form first: an exponent of nine digits would cost the library seconds before it is refused.
	if !isDecimal([]byte(s)) {
		return new(big.Rat)
	}
	n, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return n
}

// checkIncident requires the receipts of a recurring flag, since nothing else shows that it recurs; Resolve looks for
// them in the ledger.
func (r *Receipt) checkIncident() error {
	if (r.Schema == IncidentSchema) != (r.Incident != nil) {
		return refuse(RefuseIncident, "the member incident belongs only in an incident receipt")
	}
	if r.Incident != nil && r.Incident.Kind == "recurring_flag" && len(r.Incident.Receipts) == 0 {
		return refuse(RefuseIncident, "a recurring flag needs the receipts that show it")
	}
	return nil
}
