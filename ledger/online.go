package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Online reads a forge's own record, as far as L4 compares it. The gate implements it.
type Online interface {
	// Reviews gives every review of a pull request, dismissed ones included; ErrNoPull if there is no such pull request.
	Reviews(ctx context.Context, pull int64) ([]ReviewRecord, error)
	// Merges gives every merge into the base since the ledger's genesis that touched a run.
	Merges(ctx context.Context) ([]MergeRecord, error)
}

// Witness is an Online that also knows what single entries rest on. An Online that is none leaves self-signed entries uncompared.
type Witness interface {
	// MergeOf gives the commit that a pull request was merged as; "" if it was not merged, ErrNoPull if there is none.
	MergeOf(ctx context.Context, pull int64) (sha string, err error)
	// RunOf gives the event that began a run of a workflow, and whose it was; an error also if the forge knows no such run any more.
	RunOf(ctx context.Context, run int64) (event, actor string, err error)
}

// ErrNoPull says that the forge knows no such pull request.
var ErrNoPull = errors.New("no such pull request")

// ReviewRecord is one review as the forge records it now.
type ReviewRecord struct {
	ID          int64
	State       string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	Login       string
	UserID      int64
	UserType    string // User, Bot
	SubmittedAt string // in the ledger's form
	CommitSHA   string
	BodySHA256  string
}

// MergeRecord is one commit on base and the runs that it brought.
type MergeRecord struct {
	PullRequest int64 // 0 for a direct push
	SHA         string
	Runs        []MergedRun
}

// MergedRun is a run as it stands on base.
type MergedRun struct {
	ID               string
	SubmissionSHA256 string
	SheetSHA256      string
}

// VerifyOnline compares the entries, in order, with the forge's record (L4). Entries outside a pull request are compared
// with nothing. The error is the reading of the entries; what the forge does not give is a problem.
func VerifyOnline(ctx context.Context, entries iter.Seq2[*Receipt, error], forge Online) ([]Problem, error) {
	o := online{ctx: ctx, forge: forge, pulls: map[int64]pullRecord{}, live: map[string]int64{}, said: map[string]bool{}}
	if err := o.approvals(entries); err != nil {
		return nil, err
	}
	o.merges()
	return o.problems, ctx.Err()
}

// VerifyApprovals is the part of VerifyOnline that is about reviews. It is for entries that are not the whole ledger: what was merged cannot be
// judged by them.
func VerifyApprovals(ctx context.Context, entries iter.Seq2[*Receipt, error], forge Online) ([]Problem, error) {
	o := online{ctx: ctx, forge: forge, pulls: map[int64]pullRecord{}, live: map[string]int64{}, said: map[string]bool{}}
	if err := o.approvals(entries); err != nil {
		return nil, err
	}
	return o.problems, ctx.Err()
}

// approvals compares every approval with what the forge records of it. All entries are read first, for a later one may take back an earlier one.
func (o *online) approvals(entries iter.Seq2[*Receipt, error]) error {
	var signed []*Receipt
	for r, err := range entries {
		if err != nil {
			return err
		}
		o.remember(r)
		if r.Approval != nil && r.Pull() > 0 {
			signed = append(signed, r)
		}
	}
	for _, r := range signed {
		if r.SelfSigned {
			o.selfSigned(r)
		} else {
			o.approval(r)
		}
	}
	return nil
}

// selfSigned compares an entry without a review with the run of the workflow that its signer started by hand: nobody else can start one in their
// name.
func (o *online) selfSigned(r *Receipt) {
	forge, ok := o.forge.(Witness)
	if !ok {
		return
	}
	if r.Workflow == nil {
		o.add(CodeNoReview, r.Seq, "it is self-signed and names no run of a workflow")
		return
	}
	event, actor, err := forge.RunOf(o.ctx, r.Workflow.RunID)
	login := r.Approval.Approver.Login
	switch {
	case err != nil:
		o.add(CodeOnlineUnread, r.Seq, "the workflow run %d, by which it was self-signed: %v", r.Workflow.RunID, err)
	case event != "workflow_dispatch" || !strings.EqualFold(actor, login):
		o.add(CodeReviewDiffers, r.Seq, "it is self-signed by %s; the workflow run %d was begun by %s, by the event %s", clip(login), r.Workflow.RunID, clip(actor), clip(event))
	}
}

type online struct {
	ctx      context.Context
	forge    Online
	pulls    map[int64]pullRecord
	live     map[string]int64 // bytes and sheet that an entry signs off, to its seq
	said     map[string]bool  // bytes that the ledger itself calls unreceipted
	merged   []*Receipt       // the entries of kind merged
	ended    []int64          // review ids with an amended or revoked entry
	problems []Problem
}

type pullRecord struct {
	reviews []ReviewRecord
	err     error
}

func (o *online) add(code Code, seq int64, format string, args ...any) {
	o.problems = append(o.problems, problem(code, "", seq, format, args...))
}

// bytesKey names bytes under a rulebook.
func bytesKey(submission, sheet string) string { return submission + sheet }

// remember notes what an entry says of its bytes and of earlier entries.
func (o *online) remember(r *Receipt) {
	key := bytesKey(r.Submission.SHA256, r.FlightSheet.SHA256)
	switch r.Kind {
	case Approved, Carried:
		o.live[key] = r.Seq
	case Amended, Revoked:
		delete(o.live, key)
		o.ended = append(o.ended, r.Approval.Review.ID)
	case Superseded, Withdrawn, Rejected:
		delete(o.live, key)
	case Unreceipted:
		o.said[key] = true
	case Merged:
		o.merged = append(o.merged, r)
	}
}

func (o *online) reviews(pull int64) ([]ReviewRecord, error) {
	rec, ok := o.pulls[pull]
	if !ok {
		rec.reviews, rec.err = o.forge.Reviews(o.ctx, pull)
		o.pulls[pull] = rec
	}
	return rec.reviews, rec.err
}

// approval compares one entry's approval with the review that it names.
func (o *online) approval(r *Receipt) {
	a := r.Approval
	reviews, err := o.reviews(r.Pull())
	if errors.Is(err, ErrNoPull) {
		o.add(CodeNoReview, r.Seq, "the forge knows no pull request %d", r.Pull())
		return
	}
	if err != nil {
		o.add(CodeOnlineUnread, r.Seq, "the reviews of pull request %d: %v", r.Pull(), err)
		return
	}
	i := slices.IndexFunc(reviews, func(v ReviewRecord) bool { return v.ID == a.Review.ID })
	if i < 0 {
		o.add(CodeNoReview, r.Seq, "pull request %d has no review %d", r.Pull(), a.Review.ID)
		return
	}
	v := reviews[i]
	if diff := differs(a, v); diff != "" {
		o.add(CodeReviewDiffers, r.Seq, "review %d: %s", v.ID, diff)
		return
	}
	if !r.Kind.Live() || slices.Contains(o.ended, v.ID) {
		return
	}
	switch {
	case v.State == "DISMISSED":
		o.add(CodeReviewChanged, r.Seq, "review %d was dismissed", v.ID)
	case v.BodySHA256 != a.Review.BodySHA256:
		o.add(CodeReviewChanged, r.Seq, "the text of review %d was edited", v.ID)
	case v.State != "APPROVED":
		o.add(CodeReviewDiffers, r.Seq, "review %d has the state %s, the receipt says %s", v.ID, clip(v.State), a.Decision)
	}
}

// differs says in what the record is another one than the receipt's. A dismissed state and an edited text are not among
// it, as they come later; nor is the commit, as a forge moves a review to another head after a force-push.
func differs(a *Approval, v ReviewRecord) string {
	for _, c := range []struct{ what, receipt, forge string }{
		{"the reviewer", fmt.Sprint(a.Approver.ID), fmt.Sprint(v.UserID)},
		{"the reviewer's type", a.Approver.Type, v.UserType},
		{"the time", a.Review.SubmittedAt, v.SubmittedAt},
	} {
		if c.receipt != c.forge {
			return fmt.Sprintf("%s is %s in the receipt, %s at the forge", c.what, c.receipt, clip(c.forge))
		}
	}
	return ""
}

// merges holds every merged run to a live receipt or to an unreceipted entry, and every merged entry to a merge.
func (o *online) merges() {
	merges, err := o.forge.Merges(o.ctx)
	if err != nil {
		o.add(CodeOnlineUnread, -1, "the merges into the base: %v", err)
		return
	}
	o.complete(merges)
	for _, r := range o.merged {
		if !slices.ContainsFunc(merges, func(m MergeRecord) bool { return m.PullRequest == r.Pull() && m.SHA == r.ObservedBy.SHA }) {
			o.unmatched(r)
		}
	}
}

// unmatched looks closer at a merged entry that none of the commits bears out: a rebased one need not bring the run itself, and a message need not
// name the pull request.
func (o *online) unmatched(r *Receipt) {
	forge, ok := o.forge.(Witness)
	if ok {
		sha, err := forge.MergeOf(o.ctx, r.Pull())
		switch {
		case err != nil && !errors.Is(err, ErrNoPull):
			o.add(CodeOnlineUnread, r.Seq, "the merge of pull request %d: %v", r.Pull(), err)
			return
		case err == nil && sha != "" && sha == r.ObservedBy.SHA:
			return
		}
	}
	o.add(CodeMergeDiffers, r.Seq, "the forge has no merge %.12s of pull request %d", r.ObservedBy.SHA, r.Pull())
}

// complete holds every merged run to a live receipt or to an unreceipted entry.
func (o *online) complete(merges []MergeRecord) {
	for _, m := range merges {
		for _, run := range m.Runs {
			key := bytesKey(run.SubmissionSHA256, run.SheetSHA256)
			if _, ok := o.live[key]; !ok && !o.said[key] {
				o.add(CodeUnreceipted, -1, "the commit %.12s brought the run %s (%.8s…), which has no live receipt", m.SHA, clip(run.ID), run.SubmissionSHA256)
			}
		}
	}
}

// VerifyMerges compares the entries, in order, with the commits on base alone, as a clone holds them without a forge:
// every merged run has a live receipt or an unreceipted entry, and every merged entry names one of the commits.
func VerifyMerges(entries iter.Seq2[*Receipt, error], merges []MergeRecord) ([]Problem, error) {
	o := online{live: map[string]int64{}, said: map[string]bool{}}
	for r, err := range entries {
		if err != nil {
			return nil, err
		}
		o.remember(r)
	}
	o.complete(merges)
	for _, r := range o.merged {
		if !slices.ContainsFunc(merges, func(m MergeRecord) bool { return m.SHA == r.ObservedBy.SHA }) {
			o.add(CodeMergeDiffers, r.Seq, "the base holds no commit %.12s that brings a run", r.ObservedBy.SHA)
		}
	}
	return o.problems, nil
}
