package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// lifecycle drafts what became of earlier sign-offs of an open pull request, and the no of who asks for changes.
func (p *pulled) lifecycle(rec *Record) ([]ledger.Receipt, error) {
	var drafts []ledger.Receipt
	carry := p.carriers()
	for _, e := range p.live() {
		if r := p.takenBack(e, rec); r != nil {
			drafts = append(drafts, *r)
			continue
		}
		work := p.workOf(e)
		if e.Receipt.PullRequest.HeadSHA == p.pr.HeadSHA && work != nil {
			continue
		}
		if work == nil {
			drafts = append(drafts, p.observed(ledger.Superseded, e, ledger.ObservedBy{Event: "synchronize", Actor: p.pr.Author, At: stamp(p.pr.UpdatedAt), SHA: p.pr.HeadSHA}))
			p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is void: other bytes were pushed, or another sheet is in force", e.Receipt.Seq))
			continue
		}
		if carry[e.Hash] {
			r, err := p.carried(e, *work)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, r)
			continue
		}
		p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is for the same bytes on an earlier head; the configuration does not carry it over (carry_on_rebase)", e.Receipt.Seq))
	}
	rejected, err := p.rejections(rec)
	return append(drafts, rejected...), err
}

// carriers are the sign-offs that may be carried to this head: of each run the newest, where as many people stand behind it as have to.
func (p *pulled) carriers() map[string]bool {
	out := map[string]bool{}
	if !p.rules.Config.Carry {
		return out
	}
	newest := map[string]ledger.Entry{}
	for _, e := range p.live() {
		newest[e.Receipt.Run.ID] = e
	}
	for _, e := range newest {
		out[e.Hash] = p.behind(e) >= p.out.Need
	}
	return out
}

// behind is how many people's approvals of the bytes that an entry signs off nobody has taken back.
func (p *pulled) behind(e ledger.Entry) int {
	people := map[string]bool{}
	for _, x := range p.live() {
		if a := x.Receipt.Approval; a != nil && x.Receipt.Run.ID == e.Receipt.Run.ID && subjectOf(x.Receipt) == subjectOf(e.Receipt) {
			people[a.Approver.Login] = true
		}
	}
	return len(people)
}

// workOf is the run of this head that an entry signs off, byte for byte; nil where there is none.
func (p *pulled) workOf(e ledger.Entry) *Work {
	for _, a := range p.out.Audits {
		if a.Work != nil && a.Work.Run.ID == e.Receipt.Run.ID && a.Work.Subject() == subjectOf(e.Receipt) {
			return a.Work
		}
	}
	return nil
}

// takenBack drafts the entry that ends a sign-off whose review is no longer what it was: edited, dismissed, gone, or followed by a request for
// changes of somebody who may approve.
func (p *pulled) takenBack(e ledger.Entry, rec *Record) *ledger.Receipt {
	signed := p.signature(e)
	if signed == nil || e.Receipt.SelfSigned {
		return nil
	}
	i := slices.IndexFunc(rec.Reviews, func(r githubapi.Review) bool { return r.ID == signed.Review.ID })
	var now githubapi.Review
	kind, why := ledger.Kind(""), ""
	switch {
	case i < 0:
		kind, why = ledger.Revoked, "the review is gone"
		now = githubapi.Review{ID: signed.Review.ID, User: signed.Approver.Login, UserID: signed.Approver.ID, UserType: signed.Approver.Type}
		now.SubmittedAt, _ = time.Parse(timeForm, signed.Review.SubmittedAt) // it was written in this form
	case rec.Reviews[i].State == "DISMISSED":
		kind, why, now = ledger.Revoked, "the review was dismissed", rec.Reviews[i]
	case reviewRef(rec.Reviews[i]).BodySHA256 != signed.Review.BodySHA256:
		kind, why, now = ledger.Amended, "the review was edited", rec.Reviews[i]
	default:
		if j := laterNo(rec, rec.Reviews[i], p.rules.Config); j != nil {
			kind, why, now = ledger.Revoked, j.User+" requests changes", *j
		}
	}
	if kind == "" {
		return nil
	}
	p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is void: %s", e.Receipt.Seq, why))
	permission := rec.Permissions[now.User]
	if permission == "" {
		permission = signed.Approver.Permission
	}
	r := p.j.about(e, kind, p.pullRef())
	ref := reviewRef(now)
	r.MintedAt = ref.SubmittedAt
	r.Approval = &ledger.Approval{Decision: kind, Approver: approverOf(now, permission), Review: ref, SubjectDigest: subjectOf(e.Receipt)}
	r.IdempotencyKey = p.key(kind, now.ID, e)
	return &r
}

// signature is the approval behind an entry; of one that was carried, the one of the entry that it carries.
func (p *pulled) signature(e ledger.Entry) *ledger.Approval {
	if signed := p.signed(e); signed != nil {
		return signed.Approval
	}
	return nil
}

// signed is the entry that somebody signed: the one given, or the one that it carries; nil where that is not of this pull request.
func (p *pulled) signed(e ledger.Entry) *ledger.Receipt {
	for e.Receipt.Approval == nil {
		i := slices.IndexFunc(p.entries, func(x ledger.Entry) bool { return x.Hash == e.Receipt.RefersTo })
		if i < 0 || p.entries[i].Receipt.Seq >= e.Receipt.Seq {
			return nil
		}
		e = p.entries[i]
	}
	return e.Receipt
}

// laterNo is an open request for changes of somebody who may approve, submitted after the review.
func laterNo(rec *Record, review githubapi.Review, cfg *Config) *githubapi.Review {
	latest := latestDecisive(rec.Reviews)
	for i, r := range rec.Reviews {
		if r.State == "CHANGES_REQUESTED" && latest[r.UserID] == r.ID && r.UserType == "User" && r.SubmittedAt.After(review.SubmittedAt) && rec.unqualified(r.User, cfg) == "" {
			return &rec.Reviews[i]
		}
	}
	return nil
}

// rejections draft the no of each qualified person who asks for changes of what was audited, for the history of the agent. A receipt that their
// no ends is ended by a revoked entry instead.
func (p *pulled) rejections(rec *Record) ([]ledger.Receipt, error) {
	var out []ledger.Receipt
	latest := latestDecisive(rec.Reviews)
	for _, r := range rec.Reviews {
		if r.State != "CHANGES_REQUESTED" || latest[r.UserID] != r.ID || r.UserType != "User" || rec.unqualified(r.User, p.rules.Config) != "" || r.CommitSHA != p.pr.HeadSHA {
			continue
		}
		for _, a := range p.out.Audits {
			if a.Work == nil || slices.ContainsFunc(p.live(), func(e ledger.Entry) bool { return p.workOf(e) == a.Work }) {
				continue
			}
			d := Decision{Kind: ledger.Rejected, Approver: approverOf(r, rec.Permissions[r.User]), Review: reviewRef(r)}
			draft, err := Draft(*a.Work, d, p.j.place(p.pullRef()))
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
func (p *pulled) carried(e ledger.Entry, w Work) (ledger.Receipt, error) {
	signed := p.signature(e)
	if signed == nil {
		return ledger.Receipt{}, fmt.Errorf("receipt %d cannot be carried over: the approval behind it is not in the ledger", e.Receipt.Seq)
	}
	r := *e.Receipt
	r.Kind, r.Approval, r.Accepted, r.SelfSigned, r.Sanitized = ledger.Carried, nil, nil, false, nil
	r.RefersTo = e.Hash
	r.PullRequest, r.Workflow = p.pullRef(), p.j.place(nil).Workflow
	r.ObservedBy = &ledger.ObservedBy{Event: "synchronize", Actor: p.pr.Author, At: stamp(p.pr.UpdatedAt), SHA: p.pr.HeadSHA}
	r.MintedAt, r.IdempotencyKey = r.ObservedBy.At, p.keyAt(ledger.Carried, signed.Review.ID, e, p.pr.HeadSHA)
	r.Evidence = w.Evidence
	unplace(&r)
	return r, nil
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
	return ledger.Key{Repository: p.j.Event.RepositoryID, PullRequest: p.pr.Number, Review: event, Run: e.Receipt.Run.ID, Kind: kind, Subject: shaOf([]byte(subjectOf(e.Receipt) + " " + at))}.Digest()
}

func stamp(t time.Time) string { return canonical.Time(t) }

// follow looks at a pull request that is closed: its reviews may still change, and what rests on them with them. Nothing is audited again, for base
// may hold the work already, and nothing is minted; the review stays as it was, and the sign-off check says what became void.
func (p *pulled) follow(ctx context.Context) (*Result, error) {
	rules, err := p.j.rulesFor(ctx, p.pr.BaseRef)
	if err != nil {
		return nil, err
	}
	p.rules, p.out.Base = rules, rules.Commit
	if p.reviews, err = p.j.API.Reviews(ctx, p.pr.Number); err != nil {
		return nil, err
	}
	if err := p.readLedger(ctx); err != nil {
		return nil, err
	}
	rec, err := p.record(ctx)
	if err != nil {
		return nil, err
	}
	var drafts []ledger.Receipt
	for _, e := range p.live() {
		if r := p.takenBack(e, rec); r != nil {
			drafts = append(drafts, *r)
		}
	}
	if err := p.write(ctx, drafts); err != nil {
		return nil, err
	}
	out := &Result{Word: ResultIgnored, Messages: append(p.out.Drift, fmt.Sprintf("pull request %d is %s: %d of its receipts became void", p.pr.Number, p.pr.State, len(drafts)))}
	if len(drafts) == 0 {
		return out, nil
	}
	out.Word = "revoked"
	return out, p.void(ctx)
}

// void turns the sign-off check of a closed pull request back.
func (p *pulled) void(ctx context.Context) error {
	have, err := p.j.API.Checks(ctx, p.pr.HeadSHA)
	if err != nil {
		return err
	}
	text := strings.Join(p.out.Drift, "\n")
	_, err = p.put(ctx, githubapi.Check{Name: SignOffCheck, HeadSHA: p.pr.HeadSHA, ExternalID: shaOf([]byte("referee.void/v1\n" + text)), Status: "completed", Conclusion: "action_required",
		Title: "the sign-off was taken back", Summary: report.Fenced(p.out.Drift)}, have, "")
	return err
}

// closed says on the ledger that audited work was withdrawn: its history counts, also where nobody signed it. A merge has an event of its own.
func (j *Job) closed(ctx context.Context, number int64) (*Result, error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	if pr.Merged || pr.State == "open" {
		return ignored("pull request %d is merged or open again: the push to base is what counts", number), nil
	}
	p := &pulled{j: j, pr: pr, out: &Outcome{Repository: j.Runner.Repository, ServerURL: j.Runner.ServerURL, Pull: number, Head: pr.HeadSHA}}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	at := pr.UpdatedAt
	if !pr.ClosedAt.IsZero() {
		at = pr.ClosedAt
	}
	by := ledger.ObservedBy{Event: "closed", Actor: pr.ClosedBy, At: stamp(at), SHA: pr.HeadSHA}
	var drafts []ledger.Receipt
	for _, a := range p.out.Audits {
		if a.Work == nil {
			continue
		}
		r, err := Observed(*a.Work, ledger.Withdrawn, by, j.place(p.pullRef()))
		if err != nil {
			p.out.Notices = append(p.out.Notices, fmt.Sprintf("%s: the withdrawal cannot be kept: %v", a.Dir, err))
			continue
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
	return &Result{Word: "withdrawn", Outcome: p.out, Messages: []string{fmt.Sprintf("pull request %d was closed; %d runs are withdrawn", number, len(drafts))}}, nil
}
