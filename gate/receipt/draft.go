package receipt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Work is one audited run: what a decision is about.
type Work struct {
	Report   *referee.Report
	Sheet    *referee.Sheet
	Run      *referee.Run
	Bytes    []byte            // the submission
	Evidence []ledger.Evidence // with whose it is (S66)
	Prior    referee.PriorFunc // the receipts that the audit could read; nil without a ledger
}

// Place is where the decision was made. PullRequest and Workflow are nil outside a forge.
type Place struct {
	Org         *ledger.Org
	Repository  ledger.Repository
	PullRequest *ledger.PullRequest
	Workflow    *ledger.Workflow
}

// Decision is what a person decided, and the record it was read from.
type Decision struct {
	Kind       ledger.Kind // approved or rejected
	Approver   ledger.Approver
	Review     ledger.Review
	Answers    []ledger.Answer // satisfied or flag, for checklist items
	Waivers    []ledger.Waiver
	SelfSigned bool
}

// Subject is the digest of what was decided on: sheet, submission, evidence and the run's manifest by content (gate.md:
// never a commit alone).
func (w Work) Subject() string {
	r := w.boundParts()
	return ledger.SubjectOf(&r).Digest()
}

// boundParts is the part of a receipt that its subject is made of.
func (w Work) boundParts() ledger.Receipt {
	rep, assignment := w.Report, w.assignmentText()
	return ledger.Receipt{
		Run:         ledger.Run{ID: w.Run.ID, Lane: rep.Lane, Project: w.Run.Project},
		FlightSheet: ledger.FlightSheet{Slug: rep.Sheet.Slug, Version: rep.Sheet.Version, SHA256: rep.Sheet.SHA256},
		Submission: ledger.Submission{
			Path:    rep.Submission.Path,
			SHA256:  rep.Submission.SHA256,
			GitBlob: rep.Submission.GitBlob,
		},
		Semantics: rep.Semantics, Agent: agentOf(rep.Agent, w.Run.CostUSD), Params: paramsOf(rep), Evidence: w.Evidence,
		Assignment: &ledger.Assignment{
			Text:   clipAssignment(assignment),
			SHA256: canonical.SHA256Hex([]byte(assignment)),
		},
	}
}

// assignmentText is what the agent was asked: by the run, or by the sheet.
func (w Work) assignmentText() string {
	if w.Sheet == nil {
		return w.Run.Assignment
	}
	return cmp.Or(w.Run.Assignment, w.Sheet.Instructions)
}

// paramsOf are the limits that the audit was run by, as a receipt holds them (S71).
func paramsOf(rep *referee.Report) []ledger.Param {
	var out []ledger.Param
	for _, p := range rep.Params {
		out = append(out, ledger.Param{Name: p.Name, Value: p.Value})
	}
	return out
}

// statedOf are the figures that a person confirms, as a receipt holds them (S70).
func statedOf(rep *referee.Report) []ledger.Figure {
	var out []ledger.Figure
	for _, f := range rep.Stated {
		out = append(out, ledger.Figure{Name: f.Name, Value: f.Value})
	}
	return out
}

// Draft makes the receipt of a decision, complete but for its place in the chain. It refuses what the ledger refuses
// (package ledger's Refusal), and a cook or incident whose submission does not say what such a receipt must hold.
func Draft(w Work, d Decision, p Place) (ledger.Receipt, error) {
	var answers []referee.Answer
	for _, a := range d.Answers {
		if a.Answer != "open" {
			answers = append(answers, referee.Answer{ID: a.ID, Satisfied: a.Answer == "satisfied", Note: a.Note})
		}
	}
	signed, err := w.Report.Sign(w.Sheet, answers)
	if err != nil {
		return ledger.Receipt{}, fmt.Errorf("applying the answers: %w", err)
	}
	r := withoutOutcome(w, d, p)
	r.Verdict = VerdictOf(signed.Verdict)
	if d.Kind != ledger.Approved && r.Verdict.Severity == string(referee.Honey) {
		r.Verdict.Severity = string(referee.Unsigned) // honey exists only in an approved record (S37)
	}
	r.Findings, r.FindingsTotal = FindingsOf(signed.Findings)
	r.Checklist = checklistOf(w.Report, signed, d)
	if err := addLaneDetails(&r, w); err != nil {
		return ledger.Receipt{}, err
	}
	return r, nil
}

// Observed makes the entry of audited work that nobody decided about: it was withdrawn, or stands on base without a
// receipt. It holds the whole audit, for the agent's history. Its key is the same for the same bytes and event.
func Observed(w Work, kind ledger.Kind, by ledger.ObservedBy, p Place) (ledger.Receipt, error) {
	r, err := Draft(w, Decision{Kind: kind, Review: ledger.Review{SubmittedAt: by.At}}, p)
	if err != nil {
		return ledger.Receipt{}, err
	}
	r.Approval, r.ObservedBy = nil, &by
	r.IdempotencyKey = ledger.Key{
		Repository:  p.Repository.ID,
		PullRequest: r.Pull(),
		Run:         w.Run.ID,
		Kind:        kind,
		Subject:     canonical.SHA256Hex([]byte(w.Subject() + " " + by.SHA)),
	}.Digest()
	return r, nil
}

// withoutOutcome is what a receipt says beside the outcome.
func withoutOutcome(w Work, d Decision, p Place) ledger.Receipt {
	rep := w.Report
	r := w.boundParts()
	r.Schema, r.Kind, r.MintedAt = ledger.SchemaOf(rep.Lane), d.Kind, d.Review.SubmittedAt
	r.Org, r.Repository, r.PullRequest, r.Workflow = p.Org, p.Repository, p.PullRequest, p.Workflow
	r.Engine, r.ReportDigest = &ledger.Engine{
		Version:        rep.Engine.Version,
		RegistrySHA256: rep.Engine.RegistrySHA256,
	}, rep.Digest
	r.Stated = statedOf(rep)
	r.SelfSigned, r.Accepted = d.SelfSigned, d.Waivers
	r.Approval = &ledger.Approval{Decision: d.Kind, Approver: d.Approver, Review: d.Review, SubjectDigest: w.Subject()}
	for _, f := range rep.Advisory {
		r.Advisory = append(r.Advisory, ledger.FileRef{Path: f.Path, SHA256: f.SHA256})
	}
	r.IdempotencyKey = ledger.Key{
		Repository:  p.Repository.ID,
		PullRequest: r.Pull(),
		Review:      d.Review.ID,
		Run:         w.Run.ID,
		Kind:        d.Kind,
		Subject:     w.Subject(),
	}.Digest()
	return r
}

// maxAssignment is how long an assignment may be to stand in a receipt; a longer one is bound by its hash.
const maxAssignment = 16 << 10

func clipAssignment(s string) string {
	if len(s) > maxAssignment {
		return ""
	}
	return s
}

// checklistOf holds every question with its answer, and the checks that wait for a person for another reason (S64).
func checklistOf(rep *referee.Report, signed *referee.Signed, d Decision) []ledger.Answer {
	said := map[string]ledger.Answer{}
	for _, a := range d.Answers {
		said[a.ID] = a
	}
	var out []ledger.Answer
	for i, before := range rep.Checks {
		if before.Status != referee.Open {
			continue
		}
		answer, ok := said[before.ID]
		if !ok || signed.Checks[i].Status == referee.Open {
			out = append(out, ledger.Answer{ID: before.ID, Answer: "open"})
			continue
		}
		if answer.By == "" {
			answer.By, answer.At = d.Approver.Login, d.Review.SubmittedAt
		}
		out = append(out, answer)
	}
	return out
}

// addLaneDetails adds what a cook or an incident receipt holds, read from the submission's member of that name.
func addLaneDetails(r *ledger.Receipt, w Work) error {
	if r.Schema == ledger.EvalSchema {
		return nil
	}
	doc, err := strictjson.Parse(w.Bytes, strictjson.SubmissionLimits)
	if err != nil {
		return fmt.Errorf("the submission cannot be read: %w", err)
	}
	if r.Schema == ledger.CookSchema {
		r.Cook, err = cookOf(doc.Get("cook"))
		return err
	}
	r.Incident, err = incidentOf(doc.Get("incident"), r)
	return err
}

func cookOf(v *strictjson.Value) (*ledger.Cook, error) {
	if v == nil {
		return nil, fmt.Errorf(
			"a cook receipt needs the submission's member \"cook\": {before, after, base_model, tuned_model, dataset, " +
				"pairs, eval_before, eval_after, lift, runner}",
		)
	}
	pairs, _ := v.Get("pairs").Int()
	return &ledger.Cook{
		Before:     memberText(v, "before"),
		After:      memberText(v, "after"),
		BaseModel:  memberText(v, "base_model"),
		TunedModel: memberText(v, "tuned_model"),
		Dataset:    memberText(v, "dataset"),
		Pairs:      pairs,
		EvalBefore: memberText(v, "eval_before"),
		EvalAfter:  memberText(v, "eval_after"),
		Lift:       memberText(v, "lift"),
		Runner:     memberText(v, "runner"),
		ComputeUSD: memberText(v, "compute_usd"),
	}, nil
}

func incidentOf(v *strictjson.Value, r *ledger.Receipt) (*ledger.Incident, error) {
	if v == nil {
		return nil, fmt.Errorf(
			"an incident receipt needs the submission's member \"incident\": {kind, tier, title, detail, lane, " +
				"response, status, opened_at, receipts}",
		)
	}
	in := &ledger.Incident{
		ID:     memberText(v, "id"),
		Kind:   memberText(v, "kind"),
		Tier:   memberText(v, "tier"),
		Title:  memberText(v, "title"),
		Detail: memberText(v, "detail"),
		Lane:   memberText(v, "lane"),
		Response: memberTexts(
			v,
			"response",
		),
		Status:   memberText(v, "status"),
		OpenedAt: memberText(v, "opened_at"),
		Receipts: memberTexts(v, "receipts"),
	}
	if in.ID == "" {
		in.ID = r.Run.ID
	}
	return in, nil
}

// memberText is a member as the ledger writes it: text as it is, a number as its digits.
func memberText(v *strictjson.Value, key string) string {
	m := v.Get(key)
	if m == nil || m.Kind != strictjson.String && m.Kind != strictjson.Number {
		return ""
	}
	return m.Text
}

// memberTexts is a list of texts; the ledger writes an empty list where there is none.
func memberTexts(v *strictjson.Value, key string) []string {
	return append([]string{}, v.Get(key).Texts()...)
}

// Blocked says why an audited run may not be signed off at a threshold, or "" where it may: a finding at or above it
// that is not waived, an undecided high rule, or a question left open. Only deal-findings can be waived, and only where
// accept says so: the work is right, and the client decides (gate.md).
func Blocked(
	rep *referee.Report,
	signed *referee.Signed,
	failOn referee.Threshold,
	accept string,
	waivers []ledger.Waiver,
) string {
	waived := map[string]bool{}
	for _, w := range waivers {
		waived[w.RuleID] = true
	}
	var reasons []string
	for _, f := range signed.Findings {
		if !failOn.Covers(f) ||
			f.Bucket == referee.DealFinding && accept == "deal-finding" && AnyWaived(f.RuleIDs, waived) {
			continue
		}
		reason := fmt.Sprintf("%s finding %s (%s): %s", f.Tier, f.Code, f.Bucket, f.Message)
		if f.Bucket != referee.DealFinding && AnyWaived(f.RuleIDs, waived) {
			reason += "; a " + string(f.Bucket) + " cannot be accepted"
		}
		reasons = append(reasons, reason)
	}
	if failOn != referee.FailNever || rep.Verdict.UndecidedHigh != nil {
		for _, id := range rep.Verdict.UndecidedHigh {
			reasons = append(reasons, fmt.Sprintf("the high rule %q could not be decided", id))
		}
	}
	if open := signed.Unanswered(); len(open) > 0 {
		reasons = append(reasons, "unanswered checklist items: "+strings.Join(open, ", "))
	}
	if len(reasons) > 5 {
		reasons = append(reasons[:5], fmt.Sprintf("and %d more", len(reasons)-5))
	}
	return strings.Join(reasons, "; ")
}

// AnyWaived reports whether one of the rules is among the waived ones.
func AnyWaived(ids []string, waived map[string]bool) bool {
	for _, id := range ids {
		if waived[id] {
			return true
		}
	}
	return false
}
