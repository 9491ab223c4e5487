package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// lifecycle drafts what became of earlier sign-offs of an open pull request, and the rejections by reviewers who request changes.
func (p *pulled) lifecycle(rec *signoff.Record) ([]ledger.Receipt, error) {
	var drafts []ledger.Receipt
	for _, e := range p.live() {
		work := p.workOf(e)
		switch r := p.takenBack(e, rec); {
		case r != nil:
			drafts = append(drafts, *r)
		case work == nil:
			drafts = append(drafts, p.observed(ledger.Superseded, e, ledger.ObservedBy{Event: "synchronize", Actor: p.pr.Author, At: canonical.Time(p.pr.UpdatedAt), SHA: p.pr.HeadSHA}))
			p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is void: other bytes were pushed, or another sheet is in force", e.Receipt.Seq))
		case e.Receipt.PullRequest.HeadSHA != p.pr.HeadSHA && !p.rules.Config.Carry:
			p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is for the same bytes on an earlier head; the configuration does not carry it over (carry_on_rebase)", e.Receipt.Seq))
		}
	}
	rejected, err := p.rejections(rec)
	return append(drafts, rejected...), err
}

// carriedReviews are the approvals of an earlier head that hold for this one, where the configuration carries them: by the record that the gate
// itself announced, each of them has signed exactly these bytes, of every run that is here now. That record is needed because the forge moves a
// review to another head after a force-push (fact 3), and only the gate knows what it was of.
func (p *pulled) carriedReviews(rec *signoff.Record) map[int64]bool {
	out := map[int64]bool{}
	if !p.rules.Config.Carry || len(p.out.Audits) == 0 {
		return out
	}
	for _, r := range rec.Reviews {
		if r.State != "APPROVED" {
			continue
		}
		out[r.ID] = !slices.ContainsFunc(p.out.Audits, func(a audit.AuditedRun) bool { return a.Work == nil || p.carriedFrom(r, *a.Work) == nil })
	}
	return out
}

// carriedFrom is the receipt of an earlier head by which a review has signed off these very bytes; nil where the gate vouches for none.
func (p *pulled) carriedFrom(r githubapi.Review, w receipt.Work) *ledger.Entry {
	for _, e := range p.live() {
		a := e.Receipt.Approval
		if e.Receipt.Kind != ledger.Approved || e.Receipt.SelfSigned || !p.vouched[e.Hash] || e.Receipt.PullRequest.HeadSHA == p.pr.HeadSHA {
			continue
		}
		if a.Review.ID == r.ID && a.Approver.ID == r.UserID && a.Review.BodySHA256 == signoff.ReviewRef(r).BodySHA256 && e.Receipt.Run.ID == w.Run.ID && a.SubjectDigest == w.Subject() {
			return &e
		}
	}
	return nil
}

// workOf is the run of this head that an entry signs off, byte for byte; nil where there is none.
func (p *pulled) workOf(e ledger.Entry) *receipt.Work {
	for _, a := range p.out.Audits {
		if a.Work != nil && a.Work.Run.ID == e.Receipt.Run.ID && a.Work.Subject() == receipt.SubjectDigest(e.Receipt) {
			return a.Work
		}
	}
	return nil
}

// takenBack drafts the entry that ends a sign-off whose review is no longer what it was: edited (also where the old text was put back), dismissed,
// gone, by somebody who may no longer sign while the pull request is open, or followed by a request for changes of somebody who may. Answers of an earlier review of the same person end it in the same way.
func (p *pulled) takenBack(e ledger.Entry, rec *signoff.Record) *ledger.Receipt {
	signed := p.signature(e)
	if signed == nil {
		return nil
	}
	kind, why, now := p.changedSince(signed, rec)
	if kind == "" {
		return nil
	}
	p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is void: %s", e.Receipt.Seq, why))
	permission := rec.Permissions[now.User]
	if signoff.PermissionRank[permission] < signoff.PermissionRank["write"] { // of somebody who decides no more, the ledger keeps the one they signed with
		permission = signed.Approval.Approver.Permission
	}
	r := p.j.about(e, kind, p.pullRef())
	ref := signoff.ReviewRef(now)
	r.MintedAt = ref.SubmittedAt
	r.Approval = &ledger.Approval{Decision: kind, Approver: signoff.ApproverOf(now, permission), Review: ref, SubjectDigest: receipt.SubjectDigest(e.Receipt)}
	r.IdempotencyKey = p.key(kind, now.ID, e)
	return &r
}

// changedSince says what became of the review, or of the workflow run, that signed an entry: the kind of entry that ends it, why, and the review
// to blame; "" where it is as it was.
func (p *pulled) changedSince(signed *ledger.Receipt, rec *signoff.Record) (kind ledger.Kind, why string, now githubapi.Review) {
	a := signed.Approval
	at, _ := time.Parse(receipt.TimeFormat, a.Review.SubmittedAt) // it was written in this form
	if !signed.SelfSigned {
		i := slices.IndexFunc(rec.Reviews, func(r githubapi.Review) bool { return r.ID == a.Review.ID })
		if i < 0 {
			gone := githubapi.Review{ID: a.Review.ID, User: a.Approver.Login, UserID: a.Approver.ID, UserType: a.Approver.Type, SubmittedAt: at}
			return ledger.Revoked, "the review is gone", gone
		}
		switch r := rec.Reviews[i]; {
		case r.State == "DISMISSED":
			return ledger.Revoked, "the review was dismissed", r
		case rec.Edited[r.ID] || signoff.ReviewRef(r).BodySHA256 != a.Review.BodySHA256:
			return ledger.Amended, "the review was edited", r
		}
		if has, known := rec.Permissions[rec.Reviews[i].User]; known && rec.Pull.State == "open" && rec.Unqualified(rec.Reviews[i].User, p.rules.Config) != "" {
			return ledger.Revoked, fmt.Sprintf("%s may no longer sign off (permission %s)", rec.Reviews[i].User, has), rec.Reviews[i]
		}
		if r := signoff.EditedAnswer(signed, rec); r != nil {
			return ledger.Amended, "an earlier review that answered the checklist was edited or dismissed", *r
		}
	}
	if r := laterNo(rec, at, p.rules.Config); r != nil {
		return ledger.Revoked, r.User + " requests changes", *r
	}
	return "", "", now
}

// signature is the entry that somebody signed: the one given, or the one that it carries; nil where that is not of this pull request.
func (p *pulled) signature(e ledger.Entry) *ledger.Receipt {
	for e.Receipt.Approval == nil {
		i := slices.IndexFunc(p.entries, func(x ledger.Entry) bool { return x.Hash == e.Receipt.RefersTo })
		if i < 0 || p.entries[i].Receipt.Seq >= e.Receipt.Seq {
			return nil
		}
		e = p.entries[i]
	}
	return e.Receipt
}

// laterNo is an open request for changes of somebody who may approve, submitted after a sign-off.
func laterNo(rec *signoff.Record, signedAt time.Time, cfg *config.Config) *githubapi.Review {
	latest := signoff.LatestDecisive(rec.Reviews)
	for i, r := range rec.Reviews {
		if r.State == "CHANGES_REQUESTED" && latest[r.UserID] == r.ID && r.UserType == "User" && r.SubmittedAt.After(signedAt) && rec.Unqualified(r.User, cfg) == "" {
			return &rec.Reviews[i]
		}
	}
	return nil
}

// rejections draft the no of each qualified person who asks for changes of what was audited, for the history of the agent. A receipt that their
// no ends is ended by a revoked entry instead.
func (p *pulled) rejections(rec *signoff.Record) ([]ledger.Receipt, error) {
	var out []ledger.Receipt
	latest := signoff.LatestDecisive(rec.Reviews)
	for _, r := range rec.Reviews {
		if r.State != "CHANGES_REQUESTED" || latest[r.UserID] != r.ID || r.UserType != "User" || rec.Unqualified(r.User, p.rules.Config) != "" || r.CommitSHA != p.pr.HeadSHA {
			continue
		}
		for _, a := range p.out.Audits {
			if a.Work == nil || slices.ContainsFunc(p.live(), func(e ledger.Entry) bool { return p.workOf(e) == a.Work }) {
				continue
			}
			d := receipt.Decision{Kind: ledger.Rejected, Approver: signoff.ApproverOf(r, rec.Permissions[r.User]), Review: signoff.ReviewRef(r)}
			draft, err := receipt.Draft(*a.Work, d, p.j.place(p.pullRef()))
			if err != nil {
				p.out.Notices = append(p.out.Notices, fmt.Sprintf("%s: the rejection cannot be kept: %v", a.Dir, err))
				continue
			}
			out = append(out, draft)
		}
	}
	return out, nil
}

// carried drafts the entry that carries a sign-off over to a new head with the same bytes.
func (p *pulled) carried(e ledger.Entry, w receipt.Work) ledger.Receipt {
	r := *e.Receipt
	r.Kind, r.Approval, r.Accepted, r.SelfSigned, r.Sanitized = ledger.Carried, nil, nil, false, nil
	r.RefersTo = e.Hash
	r.PullRequest, r.Workflow = p.pullRef(), p.j.place(nil).Workflow
	r.ObservedBy = &ledger.ObservedBy{Event: "synchronize", Actor: p.pr.Author, At: canonical.Time(p.pr.UpdatedAt), SHA: p.pr.HeadSHA}
	r.MintedAt, r.IdempotencyKey = r.ObservedBy.At, p.keyAt(ledger.Carried, e.Receipt.Approval.Review.ID, e, p.pr.HeadSHA)
	r.Evidence = w.Evidence
	unplace(&r)
	return r
}

// unplace takes out what Mint fills in for an entry's own place.
func unplace(r *ledger.Receipt) {
	r.Seq, r.ParentHash, r.Log, r.ID = 0, "", ledger.Log{}, ""
}

// about is a life-cycle entry about an earlier one, without an audit.
func (j *Job) about(e ledger.Entry, kind ledger.Kind, pull *ledger.PullRequest) ledger.Receipt {
	place := j.place(pull)
	return ledger.Receipt{Schema: e.Receipt.Schema, Kind: kind, Org: place.Org, Repository: place.Repository, PullRequest: place.PullRequest, Workflow: place.Workflow,
		Run: e.Receipt.Run, FlightSheet: e.Receipt.FlightSheet, Submission: e.Receipt.Submission, RefersTo: e.Hash, Cook: e.Receipt.Cook, Incident: e.Receipt.Incident}
}

// observed is a life-cycle entry about an earlier one that nobody signs.
func (p *pulled) observed(kind ledger.Kind, e ledger.Entry, by ledger.ObservedBy) ledger.Receipt {
	r := p.j.about(e, kind, p.pullRef())
	r.ObservedBy, r.MintedAt = &by, by.At
	r.IdempotencyKey = p.key(kind, e.Receipt.Seq, e)
	return r
}

// key names a life-cycle entry: event is the review's id, or what stands for the event.
func (p *pulled) key(kind ledger.Kind, event int64, e ledger.Entry) string {
	return p.keyAt(kind, event, e, e.Hash)
}

// keyAt also tells apart entries of one kind about one earlier entry, such as two heads that it is carried to.
func (p *pulled) keyAt(kind ledger.Kind, event int64, e ledger.Entry, at string) string {
	return ledger.Key{Repository: p.j.Event.RepositoryID, PullRequest: p.pr.Number, Review: event, Run: e.Receipt.Run.ID, Kind: kind, Subject: canonical.SHA256Hex([]byte(receipt.SubjectDigest(e.Receipt) + " " + at))}.Digest()
}

// follow looks at a pull request that is closed: its reviews may still change, and what rests on them with them. Nothing is audited again, for base
// may hold the work already, and nothing is minted; the review stays as it was, and the sign-off check says what became void.
func (p *pulled) follow(ctx context.Context) (*Result, error) {
	drafts, err := p.endings(ctx)
	if err != nil {
		return nil, errors.Join(err, p.postBroken(ctx, err))
	}
	if err := p.write(ctx, drafts); err != nil {
		return nil, errors.Join(err, p.postBroken(ctx, err))
	}
	out := &Result{Word: outcome.ResultIgnored, Messages: append(p.out.Drift, fmt.Sprintf("pull request %d is %s: %d of its receipts became void", p.pr.Number, p.pr.State, len(drafts)))}
	if !p.voided() {
		return out, nil
	}
	if len(drafts) > 0 {
		out.Word = "revoked"
	}
	return out, p.void(ctx)
}

// endings drafts the entries that end sign-offs of a closed pull request.
func (p *pulled) endings(ctx context.Context) (drafts []ledger.Receipt, err error) {
	if p.rules, err = p.j.rulesFor(ctx, p.pr.BaseRef); err != nil {
		return nil, err
	}
	p.out.Base = p.rules.Commit
	if p.reviews, err = p.j.API.Reviews(ctx, p.pr.Number); err != nil {
		return nil, err
	}
	if p.at, err = p.j.verified(ctx); err != nil {
		return nil, err
	}
	if p.entries, err = p.j.entriesOf(ctx, p.at, p.pr.Number, p.reviews); err != nil || len(p.entries) == 0 {
		return nil, err
	}
	rec, err := p.record(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range p.live() {
		if r := p.takenBack(e, rec); r != nil {
			drafts = append(drafts, *r)
		}
	}
	return drafts, nil
}

// voided reports whether a sign-off of this pull request was taken back, now or earlier: a job that died may have left the check green.
func (p *pulled) voided() bool {
	return len(p.live()) == 0 && slices.ContainsFunc(p.entries, func(e ledger.Entry) bool { return e.Receipt.Kind == ledger.Revoked || e.Receipt.Kind == ledger.Amended })
}

// void turns the sign-off check of a closed pull request back, where it is green.
func (p *pulled) void(ctx context.Context) error {
	have, err := p.j.API.Checks(ctx, p.pr.HeadSHA)
	if err != nil {
		return err
	}
	lines := p.out.Drift
	if len(lines) == 0 {
		lines = []string{"a receipt of this pull request was taken back"}
	}
	green := slices.ContainsFunc(newestRuns(have, comment.SignOffCheck), passes)
	if !green {
		return nil
	}
	_, err = p.put(ctx, githubapi.Check{Name: comment.SignOffCheck, HeadSHA: p.pr.HeadSHA, ExternalID: canonical.SHA256Hex([]byte("referee.void/v1\n" + strings.Join(lines, "\n"))), Status: "completed", Conclusion: "action_required",
		Title: "the sign-off was taken back", Summary: report.Fenced(lines)}, have, "")
	return err
}

// closed says on the ledger that audited work was withdrawn: its history counts, also where nobody signed it. A merge has an event of its own. The
// checks of another open pull request with the same head may have waited for this one.
func (j *Job) closed(ctx context.Context, number int64) (*Result, error) {
	p, err := j.newPulled(ctx, number)
	if err != nil {
		return nil, err
	}
	if p.pr.Merged || p.pr.State == "open" {
		return ignored("pull request %d is merged or open again: the push to base is what counts", number), nil
	}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	at := p.pr.UpdatedAt
	if !p.pr.ClosedAt.IsZero() {
		at = p.pr.ClosedAt
	}
	by := ledger.ObservedBy{Event: "closed", Actor: p.pr.ClosedBy, At: canonical.Time(at), SHA: p.pr.HeadSHA}
	var drafts []ledger.Receipt
	for _, a := range p.out.Audits {
		if a.Work == nil {
			continue
		}
		r, err := receipt.Observed(*a.Work, ledger.Withdrawn, by, j.place(p.pullRef()))
		if err != nil {
			p.out.Notices = append(p.out.Notices, fmt.Sprintf("%s: the withdrawal cannot be kept: %v", a.Dir, err))
			continue
		}
		if g := &p.rules.Config.Governance; governance.IsAttributed(g, &r) && !g.Operates(r.Agent.Name, p.pr.Author) {
			receipt.WithoutAudit(&r)
		}
		for _, e := range p.live() {
			if e.Receipt.Run.ID == r.Run.ID && p.workOf(e) != nil {
				r.RefersTo = e.Hash
			}
		}
		drafts = append(drafts, r)
	}
	if err := p.write(ctx, drafts); err != nil {
		return nil, err
	}
	r := &Result{Word: "withdrawn", Outcome: p.out, Messages: []string{fmt.Sprintf("pull request %d was closed; %d runs are withdrawn", number, len(drafts))}}
	story, err := j.API.Story(ctx, number)
	if err != nil {
		return nil, err
	}
	for _, n := range story.Siblings {
		one, err := j.pull(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("pull request %d, which has the same head: %w", n, err)
		}
		r.Messages = append(r.Messages, fmt.Sprintf("pull request %d has the same head: %s", n, one.Word))
	}
	return r, nil
}
