package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// lifecycleDrafts are the entries that say what became of earlier sign-offs, and what people are told of it.
type lifecycleDrafts struct {
	drafts         []ledger.Receipt
	drift, notices []string
}

// draftLifecycle drafts what became of earlier sign-offs of an open pull request, and the rejections by reviewers who
// request changes.
func (p judgedPull) draftLifecycle() lifecycleDrafts {
	var out lifecycleDrafts
	for _, e := range p.held.liveSignOffs() {
		ended, why := p.draftEnding(e)
		switch {
		case ended != nil:
			out.drafts, out.drift = append(out.drafts, *ended), append(out.drift, why)
		case p.signedWork(e) == nil:
			pushed := ledger.ObservedBy{
				Event: "synchronize",
				Actor: p.pr.Author,
				At:    canonical.Time(p.pr.UpdatedAt),
				SHA:   p.pr.HeadSHA,
			}
			out.drafts = append(out.drafts, p.draftObserved(ledger.Superseded, e, pushed))
			out.drift = append(
				out.drift,
				fmt.Sprintf("receipt %d is void: other bytes were pushed, or another sheet is in force", e.Receipt.Seq),
			)
		case e.Receipt.PullRequest.HeadSHA != p.pr.HeadSHA && !p.rules.Config.Carry:
			out.drift = append(
				out.drift,
				fmt.Sprintf(
					"receipt %d is for the same bytes on an earlier head; the configuration does not carry it "+
						"over (carry_on_rebase)",
					e.Receipt.Seq,
				),
			)
		}
	}
	rejections, notices := p.draftRejections()
	out.drafts, out.notices = append(out.drafts, rejections...), notices
	return out
}

// carriedReviews are the approvals of an earlier head that hold for this one, where the configuration carries them: by
// the record that the gate itself announced, each of them has signed exactly these bytes, of every run that is here
// now. That record is needed because the forge moves a review to another head after a force-push (fact 3), and only the
// gate knows what it was of.
func (p judgedPull) carriedReviews() map[int64]bool {
	out := map[int64]bool{}
	if !p.rules.Config.Carry || len(p.out.Audits) == 0 {
		return out
	}
	for _, r := range p.record.Reviews {
		if r.State != "APPROVED" {
			continue
		}
		out[r.ID] = !slices.ContainsFunc(
			p.out.Audits,
			func(a audit.AuditedRun) bool { return a.Work == nil || p.carriedFrom(r, *a.Work) == nil },
		)
	}
	return out
}

// carriedFrom is the receipt of an earlier head by which a review has signed off these very bytes; nil where the gate
// vouches for none.
func (p judgedPull) carriedFrom(r githubapi.Review, w receipt.Work) *ledger.Entry {
	for _, e := range p.held.liveSignOffs() {
		a := e.Receipt.Approval
		if e.Receipt.Kind != ledger.Approved || e.Receipt.SelfSigned || !p.held.vouched[e.Hash] ||
			e.Receipt.PullRequest.HeadSHA == p.pr.HeadSHA {
			continue
		}
		if a.Review.ID == r.ID && a.Approver.ID == r.UserID && a.Review.BodySHA256 == signoff.ReviewRef(r).BodySHA256 &&
			e.Receipt.Run.ID == w.Run.ID &&
			a.SubjectDigest == w.Subject() {
			return &e
		}
	}
	return nil
}

// signedWork is the run of this head that an entry signs off, byte for byte; nil where there is none.
func (a auditedPull) signedWork(e ledger.Entry) *receipt.Work {
	for _, one := range a.out.Audits {
		if one.Work != nil && one.Work.Run.ID == e.Receipt.Run.ID &&
			one.Work.Subject() == receipt.SubjectDigest(e.Receipt) {
			return one.Work
		}
	}
	return nil
}

// draftEnding drafts the entry that ends a sign-off whose review is no longer what it was, and says why: edited (also
// where the old text was put back), dismissed, gone, by somebody who may no longer sign while the pull request is open,
// or followed by a request for changes of somebody who may. Answers of an earlier review of the same person end it in
// the same way. nil where the sign-off stands.
func (p judgedPull) draftEnding(e ledger.Entry) (r *ledger.Receipt, why string) {
	signed := p.held.signedEntry(e)
	if signed == nil {
		return nil, ""
	}
	kind, why, now := p.changedSince(signed)
	if kind == "" {
		return nil, ""
	}
	permission := p.record.Permissions[now.User]
	// of somebody who decides no more, the ledger keeps the one they signed with
	if signoff.PermissionRank[permission] < signoff.PermissionRank["write"] {
		permission = signed.Approval.Approver.Permission
	}
	draft := p.job.lifecycleEntry(e, kind, p.pullRef())
	ref := signoff.ReviewRef(now)
	draft.MintedAt = ref.SubmittedAt
	draft.Approval = &ledger.Approval{
		Decision:      kind,
		Approver:      signoff.ApproverOf(now, permission),
		Review:        ref,
		SubjectDigest: receipt.SubjectDigest(e.Receipt),
	}
	draft.IdempotencyKey = p.lifecycleKey(kind, now.ID, e, e.Hash)
	return &draft, fmt.Sprintf("receipt %d is void: %s", e.Receipt.Seq, why)
}

// changedSince says what became of the review, or of the workflow run, that signed an entry: the kind of entry that
// ends it, why, and the review to blame; "" where it is as it was.
func (p judgedPull) changedSince(signed *ledger.Receipt) (kind ledger.Kind, why string, now githubapi.Review) {
	a, rec := signed.Approval, p.record
	at, _ := time.Parse(receipt.TimeFormat, a.Review.SubmittedAt) // it was written in this form
	if !signed.SelfSigned {
		i := slices.IndexFunc(rec.Reviews, func(r githubapi.Review) bool { return r.ID == a.Review.ID })
		if i < 0 {
			gone := githubapi.Review{
				ID:          a.Review.ID,
				User:        a.Approver.Login,
				UserID:      a.Approver.ID,
				UserType:    a.Approver.Type,
				SubmittedAt: at,
			}
			return ledger.Revoked, "the review is gone", gone
		}
		switch r := rec.Reviews[i]; {
		case r.State == "DISMISSED":
			return ledger.Revoked, "the review was dismissed", r
		case rec.Edited[r.ID] || signoff.ReviewRef(r).BodySHA256 != a.Review.BodySHA256:
			return ledger.Amended, "the review was edited", r
		}
		if has, known := rec.Permissions[rec.Reviews[i].User]; known && rec.Pull.State == "open" &&
			rec.Unqualified(rec.Reviews[i].User, p.rules.Config) != "" {
			return ledger.Revoked, fmt.Sprintf(
				"%s may no longer sign off (permission %s)",
				rec.Reviews[i].User,
				has,
			), rec.Reviews[i]
		}
		if r := signoff.EditedAnswer(signed, rec); r != nil {
			return ledger.Amended, "an earlier review that answered the checklist was edited or dismissed", *r
		}
	}
	if r := laterRejection(rec, at, p.rules.Config); r != nil {
		return ledger.Revoked, r.User + " requests changes", *r
	}
	return "", "", now
}

// signedEntry is the entry that somebody signed: the one given, or the one that it carries; nil where that is not of
// this pull request.
func (h heldEntries) signedEntry(e ledger.Entry) *ledger.Receipt {
	for e.Receipt.Approval == nil {
		i := slices.IndexFunc(h.entries, func(x ledger.Entry) bool { return x.Hash == e.Receipt.RefersTo })
		if i < 0 || h.entries[i].Receipt.Seq >= e.Receipt.Seq {
			return nil
		}
		e = h.entries[i]
	}
	return e.Receipt
}

// laterRejection is an open request for changes of somebody who may approve, submitted after a sign-off.
func laterRejection(rec *signoff.Record, signedAt time.Time, cfg *config.Config) *githubapi.Review {
	latest := signoff.LatestDecisive(rec.Reviews)
	for i, r := range rec.Reviews {
		if r.State == "CHANGES_REQUESTED" && latest[r.UserID] == r.ID && r.UserType == "User" &&
			r.SubmittedAt.After(signedAt) &&
			rec.Unqualified(r.User, cfg) == "" {
			return &rec.Reviews[i]
		}
	}
	return nil
}

// draftRejections draft the rejection of each qualified person who requests changes of what was audited, for the
// history of the agent. A receipt that their rejection ends is ended by a revoked entry instead.
func (p judgedPull) draftRejections() (drafts []ledger.Receipt, notices []string) {
	rec, cfg := p.record, p.rules.Config
	latest := signoff.LatestDecisive(rec.Reviews)
	for _, r := range rec.Reviews {
		if r.State != "CHANGES_REQUESTED" || latest[r.UserID] != r.ID || r.UserType != "User" ||
			rec.Unqualified(r.User, cfg) != "" ||
			r.CommitSHA != p.pr.HeadSHA {
			continue
		}
		for _, a := range p.out.Audits {
			if a.Work == nil ||
				slices.ContainsFunc(
					p.held.liveSignOffs(),
					func(e ledger.Entry) bool { return p.signedWork(e) == a.Work },
				) {
				continue
			}
			d := receipt.Decision{
				Kind:     ledger.Rejected,
				Approver: signoff.ApproverOf(r, rec.Permissions[r.User]),
				Review:   signoff.ReviewRef(r),
			}
			draft, err := receipt.Draft(*a.Work, d, p.job.receiptPlace(p.pullRef()))
			if err != nil {
				notices = append(notices, fmt.Sprintf("%s: the rejection cannot be recorded: %v", a.Dir, err))
				continue
			}
			drafts = append(drafts, draft)
		}
	}
	return drafts, notices
}

// draftCarried drafts the entry that carries a sign-off over to a new head with the same bytes.
func (p judgedPull) draftCarried(e ledger.Entry, w receipt.Work) ledger.Receipt {
	r := *e.Receipt
	r.Kind, r.Approval, r.Accepted, r.SelfSigned, r.Sanitized = ledger.Carried, nil, nil, false, nil
	r.RefersTo = e.Hash
	r.PullRequest, r.Workflow = p.pullRef(), p.job.receiptPlace(nil).Workflow
	r.ObservedBy = &ledger.ObservedBy{
		Event: "synchronize",
		Actor: p.pr.Author,
		At:    canonical.Time(p.pr.UpdatedAt),
		SHA:   p.pr.HeadSHA,
	}
	r.MintedAt, r.IdempotencyKey = r.ObservedBy.At, p.lifecycleKey(
		ledger.Carried,
		e.Receipt.Approval.Review.ID,
		e,
		p.pr.HeadSHA,
	)
	r.Evidence = w.Evidence
	clearPlace(&r)
	return r
}

// clearPlace takes out what Mint fills in for an entry's own place.
func clearPlace(r *ledger.Receipt) {
	r.Seq, r.ParentHash, r.Log, r.ID = 0, "", ledger.Log{}, ""
}

// lifecycleEntry is a life-cycle entry about an earlier one, without an audit.
func (j *Job) lifecycleEntry(e ledger.Entry, kind ledger.Kind, pull *ledger.PullRequest) ledger.Receipt {
	place := j.receiptPlace(pull)
	return ledger.Receipt{
		Schema:      e.Receipt.Schema,
		Kind:        kind,
		Org:         place.Org,
		Repository:  place.Repository,
		PullRequest: place.PullRequest,
		Workflow:    place.Workflow,
		Run:         e.Receipt.Run,
		FlightSheet: e.Receipt.FlightSheet,
		Submission:  e.Receipt.Submission,
		RefersTo:    e.Hash,
		Cook:        e.Receipt.Cook,
		Incident:    e.Receipt.Incident,
	}
}

// draftObserved is a life-cycle entry about an earlier one that nobody signs.
func (p judgedPull) draftObserved(kind ledger.Kind, e ledger.Entry, by ledger.ObservedBy) ledger.Receipt {
	r := p.job.lifecycleEntry(e, kind, p.pullRef())
	r.ObservedBy, r.MintedAt = &by, by.At
	r.IdempotencyKey = p.lifecycleKey(kind, e.Receipt.Seq, e, e.Hash)
	return r
}

// lifecycleKey names a life-cycle entry: event is the review's id, or what stands for the event; at tells apart entries
// of one kind about one earlier entry, such as two heads that it is carried to, and is that entry's hash where nothing
// has to be told apart.
func (p judgedPull) lifecycleKey(kind ledger.Kind, event int64, e ledger.Entry, at string) string {
	return ledger.Key{
		Repository:  p.job.Event.RepositoryID,
		PullRequest: p.pr.Number,
		Review:      event,
		Run:         e.Receipt.Run.ID,
		Kind:        kind,
		Subject:     canonical.SHA256Hex([]byte(receipt.SubjectDigest(e.Receipt) + " " + at)),
	}.Digest()
}
