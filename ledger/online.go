package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Online reads a forge's own record, as far as L4 compares it. The gate implements it.
type Online interface {
	// Reviews returns every review of a pull request, dismissed ones included; ErrNoPull if there is no such pull
	// request. A list that may be incomplete is an error: a review that is missing counts as forged.
	Reviews(ctx context.Context, pull int64) ([]ReviewRecord, error)
	// Merges returns every merge into the base since the ledger's genesis that touched a run, the oldest first.
	Merges(ctx context.Context) ([]MergeRecord, error)
}

// Witness is an Online that also knows what single entries rest on. With an Online that does not, the reviews alone are
// compared.
type Witness interface {
	// MergeOf returns the commit that a pull request was merged as; "" if it was not merged, ErrNoPull if the forge
	// knows no such pull request.
	MergeOf(ctx context.Context, pull int64) (sha string, err error)
	// PullsOf returns the pull requests that brought a commit to base; none for a direct push.
	PullsOf(ctx context.Context, sha string) ([]int64, error)
	// RunOf returns a run of a workflow; ErrNoRun if the forge knows no such run, or has deleted its record (GitHub
	// does after 400 days).
	RunOf(ctx context.Context, run int64) (WorkflowRecord, error)
	// PermissionOf returns a person's permission on the repository as it is now: admin, maintain, write, triage, read
	// or none. The permission of then is in no API.
	PermissionOf(ctx context.Context, login string) (string, error)
	// UserOf returns the id of the account that has a login now; ErrNoUser if no account has it.
	UserOf(ctx context.Context, login string) (int64, error)
}

// What a Witness says of what the forge does not know; test with errors.Is.
var (
	ErrNoPull = errors.New("no such pull request")
	ErrNoRun  = errors.New("no such workflow run")
	ErrNoUser = errors.New("no such account")
)

// WorkflowRecord is one run of a workflow as the forge records it.
type WorkflowRecord struct {
	Path  string // .github/workflows/referee.yml
	Event string // workflow_dispatch, workflow_run …
	Actor string // login of who started it; a re-run does not change it
	Title string // display_title, which the workflow's run-name makes of the inputs
}

// SelfSignTitle is the title of the workflow run by which an admin signs off a head by hand: the workflow's run-name
// makes it of the inputs, so that the forge's record says what was signed. digest is what the admin gave of the audit's
// digest, at least 16 hex digits.
func SelfSignTitle(pull int64, head, digest string) string {
	return fmt.Sprintf("referee sign-off pr=%d head=%s digest=%s", pull, head, digest)
}

// ReviewRecord is one review as the forge records it now. The body is compared by hash, as a receipt has only that.
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

// MergedRun is a run as it is on base. Its bytes and its rulebook decide whether it is signed off; its id can be used
// again by anybody.
type MergedRun struct {
	ID               string
	SubmissionSHA256 string
	SheetSHA256      string
}

// VerifyOnline compares the entries, in order, with the forge's record (L4). Of the entries, hash and receipt are read.
// The error is about reading the entries. A record that the forge does not deliver is a problem (LDG-606) and not an
// error: it was not compared, so it must not pass, and the rest is compared all the same.
func VerifyOnline(ctx context.Context, entries iter.Seq2[Entry, error], forge Online) ([]Problem, error) {
	o := newOnline(ctx, forge)
	if err := o.checkApprovals(entries); err != nil {
		return nil, err
	}
	o.checkMerges()
	return o.problems, ctx.Err()
}

// VerifyApprovals is the part of VerifyOnline that is about sign-offs. It is for entries that are not the whole ledger:
// what was merged cannot be judged by them.
func VerifyApprovals(ctx context.Context, entries iter.Seq2[Entry, error], forge Online) ([]Problem, error) {
	o := newOnline(ctx, forge)
	if err := o.checkApprovals(entries); err != nil {
		return nil, err
	}
	return o.problems, ctx.Err()
}

// checkApprovals compares every sign-off with what the forge records of it. All entries are read first, for a later one
// may take back an earlier one.
func (o *online) checkApprovals(entries iter.Seq2[Entry, error]) error {
	var signed []Entry
	for e, err := range entries {
		if err != nil {
			return err
		}
		o.rememberEntry(e)
		if e.Receipt.Approval != nil || e.Receipt.Kind == Carried {
			signed = append(signed, Entry{Hash: e.Hash, Receipt: e.Receipt})
			o.byHash[e.Hash] = e.Receipt
		}
	}
	for _, e := range signed {
		switch r := e.Receipt; {
		case r.Kind == Carried:
			o.checkCarried(r)
		case r.Pull() == 0:
			o.addProblem(CodeNoReview, r.Seq, "it is signed by %s outside a pull request: the forge has no record of that",
				clipForeign(r.Approval.Approver.Login))
		case r.SelfSigned:
			o.selfSigned(e)
		default:
			o.checkApproval(e)
		}
	}
	return nil
}

// checkCarried compares an entry that carries a sign-off over to another head with the sign-off: everything but its
// place must be the same. The forge has no review of the new head, so the earlier entry is all that vouches for this
// one.
func (o *online) checkCarried(r *Receipt) {
	earlier := o.byHash[r.RefersTo]
	switch {
	case earlier == nil:
		return // an earlier part of the ledger, which is not looked at here
	case earlier.Pull() != r.Pull():
		o.addProblem(CodeReviewDiffers, r.Seq, "it carries entry %d, which was signed off in pull request %d, not %d",
			earlier.Seq, earlier.Pull(), r.Pull())
	case !sameAudit(r, earlier):
		o.addProblem(CodeReviewDiffers, r.Seq, "it carries entry %d but contains a different audit", earlier.Seq)
	}
}

// sameAudit compares all that an audit is, except where and when it was made. Provenance of the evidence is left out: a
// file that the pull request brought may be on base by now.
func sameAudit(a, b *Receipt) bool {
	return a.Run == b.Run && a.FlightSheet == b.FlightSheet && a.Submission.SHA256 == b.Submission.SHA256 &&
		a.ReportDigest == b.ReportDigest && a.Semantics == b.Semantics &&
		a.FindingsTotal == b.FindingsTotal && a.SubjectDigest() == b.SubjectDigest() &&
		reflect.DeepEqual(a.Verdict, b.Verdict) && reflect.DeepEqual(a.Findings, b.Findings) &&
		reflect.DeepEqual(a.Checklist, b.Checklist) && reflect.DeepEqual(a.Agent, b.Agent) &&
		reflect.DeepEqual(a.Assignment, b.Assignment)
}

// selfSigned compares an entry without a review with the run of the workflow that its signer started by hand: nobody
// else can start one in their name, and its title says which head they signed. Who runs it again later does not change
// its actor. The title is compared up to the digest, because a receipt says which head was signed and not what was
// typed.
func (o *online) selfSigned(e Entry) {
	r := e.Receipt
	forge, ok := o.forge.(Witness)
	if !ok {
		return
	}
	if r.Workflow == nil {
		o.addProblem(CodeNoReview, r.Seq, "it is self-signed but names no workflow run")
		return
	}
	run, err := forge.RunOf(o.ctx, r.Workflow.RunID)
	login := r.Approval.Approver.Login
	switch {
	case errors.Is(err, ErrNoRun) && o.finished[e.Hash]:
		// The forge has deleted the record of work that was merged long ago.
	case errors.Is(err, ErrNoRun):
		o.addProblem(CodeNoReview, r.Seq, "it is self-signed by the workflow run %d, which the forge does not know",
			r.Workflow.RunID)
	case err != nil:
		o.addProblem(CodeOnlineUnread, r.Seq, "the workflow run %d, by which it was self-signed: %v", r.Workflow.RunID, err)
	case run.Event != "workflow_dispatch" || !strings.EqualFold(run.Actor, login):
		o.addProblem(CodeReviewDiffers, r.Seq, "it is self-signed by %s; the workflow run %d was started by %s with the "+
			"event %s", clipForeign(login), r.Workflow.RunID, clipForeign(run.Actor), clipForeign(run.Event))
	case !strings.HasPrefix(run.Title, SelfSignTitle(r.Pull(), r.PullRequest.HeadSHA, "")):
		o.addProblem(CodeReviewDiffers, r.Seq, "it is self-signed for head %.12s of pull request %d; the workflow run %d "+
			"was started for %q", r.PullRequest.HeadSHA, r.Pull(), r.Workflow.RunID, clipForeign(run.Title))
	case !sameWorkflow(r.Workflow, run):
		o.addProblem(CodeReviewDiffers, r.Seq, "it names the workflow %s; run %d belongs to %s", clipForeign(r.Workflow.Ref),
			r.Workflow.RunID, clipForeign(run.Path))
	}
}

// sameWorkflow holds the workflow that an entry names to the record of its run. A reference is owner/name/path@ref.
// Without that, any workflow that somebody manages to add could pose as the gate's.
func sameWorkflow(w *Workflow, run WorkflowRecord) bool {
	path, _, _ := strings.Cut(w.Ref, "@")
	return run.Event == w.Event && run.Path != "" && strings.HasSuffix(path, "/"+run.Path)
}

// online is one comparison with a forge: what the entries say, collected before anything is asked, and what was read.
type online struct {
	ctx      context.Context
	forge    Online
	pulls    map[int64]pullRecord
	standing Standing
	byHash   map[string]*Receipt    // the sign-offs
	signing  map[string][]signature // bytes and sheet to the entries that sign them off
	finished map[string]bool        // entries whose pull request was merged or closed
	said     map[string]bool        // bytes that the ledger itself calls unreceipted
	merged   []*Receipt             // the entries of kind merged
	problems []Problem
}

// signature is an entry that signs off: what Standing asks of it.
type signature struct {
	hash    string
	receipt *Receipt
}

func newOnline(ctx context.Context, forge Online) *online {
	return &online{ctx: ctx, forge: forge, pulls: map[int64]pullRecord{}, byHash: map[string]*Receipt{},
		signing:  map[string][]signature{},
		finished: map[string]bool{}, said: map[string]bool{}}
}

// pullRecord is the one answer about a pull request, or why none came.
type pullRecord struct {
	reviews []ReviewRecord
	err     error
}

func (o *online) addProblem(code Code, seq int64, format string, args ...any) {
	o.problems = append(o.problems, newProblem(code, "", seq, format, args...))
}

// bytesKey names bytes under a rulebook. Both are hashes of one length, so joining them is unambiguous.
func bytesKey(submission, sheet string) string { return submission + sheet }

// rememberEntry notes what an entry says of its bytes and of earlier entries. Of the sign-offs it keeps only what
// Standing asks, because a ledger has many and receipts are large.
func (o *online) rememberEntry(e Entry) {
	r := e.Receipt
	o.standing.Add(e.Hash, r)
	key := bytesKey(r.Submission.SHA256, r.FlightSheet.SHA256)
	switch r.Kind {
	case Approved, Carried:
		o.signing[key] = append(o.signing[key], signature{e.Hash, &Receipt{Kind: r.Kind, RefersTo: r.RefersTo}})
	case Withdrawn:
		o.finished[r.RefersTo] = true
	case Unreceipted:
		o.said[key] = true
	case Merged:
		o.finished[r.RefersTo] = true
		o.merged = append(o.merged, r)
	}
}

// isSignedOff reports whether an entry signs bytes off by a rulebook and nothing takes it back.
func (o *online) isSignedOff(key string) bool {
	return slices.ContainsFunc(o.signing[key], func(s signature) bool { return o.standing.Live(s.hash, s.receipt) })
}

// readReviews asks the forge once for each pull request, also when that fails: requests are limited by the hour
// (receipts.md, "Levels"), and two answers within one verification could differ.
func (o *online) readReviews(pull int64) ([]ReviewRecord, error) {
	rec, ok := o.pulls[pull]
	if !ok {
		rec.reviews, rec.err = o.forge.Reviews(o.ctx, pull)
		o.pulls[pull] = rec
	}
	return rec.reviews, rec.err
}

// checkApproval compares one entry's approval with the review that it names. A difference in who, what type or when
// means that the entry is wrong (LDG-602); a dismissed or edited review means that it was right once (LDG-603), which
// counts only while nothing in the ledger says so.
func (o *online) checkApproval(e Entry) {
	r := e.Receipt
	a := r.Approval
	reviews, err := o.readReviews(r.Pull())
	if errors.Is(err, ErrNoPull) {
		o.addProblem(CodeNoReview, r.Seq, "pull request %d: not found on the forge", r.Pull())
		return
	}
	if err != nil {
		o.addProblem(CodeOnlineUnread, r.Seq, "the reviews of pull request %d: %v", r.Pull(), err)
		return
	}
	i := slices.IndexFunc(reviews, func(v ReviewRecord) bool { return v.ID == a.Review.ID })
	if i < 0 {
		if r.Kind != Revoked { // a review that was deleted is revoked by its own name
			o.addProblem(CodeNoReview, r.Seq, "pull request %d has no review %d", r.Pull(), a.Review.ID)
		}
		return
	}
	v := reviews[i]
	if diff := o.differenceFrom(a, v); diff != "" {
		o.addProblem(CodeReviewDiffers, r.Seq, "review %d: %s", v.ID, diff)
		return
	}
	if !o.standing.Live(e.Hash, r) {
		return
	}
	switch {
	case v.State == "DISMISSED":
		o.addProblem(CodeReviewChanged, r.Seq, "review %d was dismissed", v.ID)
	case v.BodySHA256 != a.Review.BodySHA256:
		o.addProblem(CodeReviewChanged, r.Seq, "the text of review %d was edited", v.ID)
	case v.State != "APPROVED":
		o.addProblem(CodeReviewDiffers, r.Seq, "review %d has the state %s, the receipt says %s", v.ID, clipForeign(v.State),
			a.Decision)
	case !o.finished[e.Hash]:
		o.checkOpen(r)
	}
}

// checkOpen compares what a sign-off rests on as long as its pull request is open: who signed may still sign, and the
// workflow that wrote it is the one it names. After the merge or the closing it no longer matters who may sign now:
// people leave.
func (o *online) checkOpen(r *Receipt) {
	forge, ok := o.forge.(Witness)
	if !ok {
		return
	}
	login := r.Approval.Approver.Login
	permission, err := forge.PermissionOf(o.ctx, login)
	switch {
	case err != nil:
		o.addProblem(CodeOnlineUnread, r.Seq, "the permission of %s: %v", clipForeign(login), err)
	case !slices.Contains([]string{"write", "maintain", "admin"}, permission):
		o.addProblem(CodeReviewChanged, r.Seq, "%s had the permission %s and has %s now", clipForeign(login),
			r.Approval.Approver.Permission, clipForeign(permission))
	}
	if r.Workflow == nil {
		return
	}
	run, err := forge.RunOf(o.ctx, r.Workflow.RunID)
	switch {
	case errors.Is(err, ErrNoRun):
		// Anybody who may write can delete a run, and GitHub does so after 400 days: the review is what counts.
	case err != nil:
		o.addProblem(CodeOnlineUnread, r.Seq, "the workflow run %d: %v", r.Workflow.RunID, err)
	case !sameWorkflow(r.Workflow, run):
		o.addProblem(CodeReviewDiffers, r.Seq,
			"it names the workflow %s and the event %s; run %d belongs to %s, started by %s",
			clipForeign(r.Workflow.Ref), clipForeign(r.Workflow.Event), r.Workflow.RunID, clipForeign(run.Path),
			clipForeign(run.Event))
	}
}

// differenceFrom says in what the record is another one than the receipt's. A dismissed state and an edited text are
// not among it, as they come later; nor is the commit, as a forge moves a review to another head after a force-push.
// The account's id is compared before its login, since a login can be renamed.
func (o *online) differenceFrom(a *Approval, v ReviewRecord) string {
	for _, c := range []struct{ what, receipt, forge string }{
		{"the reviewer", fmt.Sprint(a.Approver.ID), fmt.Sprint(v.UserID)},
		{"the reviewer's type", a.Approver.Type, v.UserType},
		{"the time", a.Review.SubmittedAt, v.SubmittedAt},
	} {
		if c.receipt != c.forge {
			return fmt.Sprintf("%s is %s in the receipt, %s at the forge", c.what, c.receipt, clipForeign(c.forge))
		}
	}
	if !strings.EqualFold(a.Approver.Login, v.Login) && !o.mayBeRenamed(a.Approver) {
		return fmt.Sprintf("the receipt says %s, the review is by %s", clipForeign(a.Approver.Login),
			clipForeign(v.Login))
	}
	return ""
}

// mayBeRenamed reports whether the account that a receipt names may have had that login when it signed: nobody else has
// it now. A login that somebody else has now was either given up or invented, and the receipt shows the wrong person to
// everybody who reads it; so that is a difference.
func (o *online) mayBeRenamed(who Approver) bool {
	forge, ok := o.forge.(Witness)
	if !ok {
		return true // the id is the same, and nobody can say whose the login is
	}
	id, err := forge.UserOf(o.ctx, who.Login)
	return errors.Is(err, ErrNoUser) || err == nil && id == who.ID
}

// checkMerges holds every merged run to a live receipt or to an unreceipted entry, and every merged entry to a merge.
// The first finds work that went past the gate, the second an entry that claims a merge to make a pull request look
// finished.
func (o *online) checkMerges() {
	merges, err := o.forge.Merges(o.ctx)
	if err != nil {
		o.addProblem(CodeOnlineUnread, -1, "the merges into the base: %v", err)
		return
	}
	o.checkComplete(merges)
	for _, r := range o.merged {
		if !slices.ContainsFunc(merges, func(m MergeRecord) bool {
			return m.PullRequest == r.Pull() &&
				m.SHA == r.ObservedBy.SHA
		}) {
			o.checkUnmatched(r)
		}
	}
}

// checkUnmatched looks closer at a merged entry that none of the commits bears out: a rebased one need not bring the
// run itself, and a message need not name the pull request. Without a Witness nobody can be asked, so the entry counts
// as wrong.
func (o *online) checkUnmatched(r *Receipt) {
	forge, ok := o.forge.(Witness)
	if ok {
		sha, err := forge.MergeOf(o.ctx, r.Pull())
		switch {
		case err != nil && !errors.Is(err, ErrNoPull):
			o.addProblem(CodeOnlineUnread, r.Seq, "the merge of pull request %d: %v", r.Pull(), err)
			return
		case err == nil && sha != "" && sha == r.ObservedBy.SHA:
			return
		}
	}
	o.addProblem(CodeMergeDiffers, r.Seq, "the forge has no merge %.12s of pull request %d", r.ObservedBy.SHA, r.Pull())
}

// checkComplete holds every merged run to a live receipt or to an unreceipted entry. An unreceipted entry is enough:
// the ledger itself says that the run went past the gate.
func (o *online) checkComplete(merges []MergeRecord) {
	for i, m := range merges {
		for _, run := range m.Runs {
			key := bytesKey(run.SubmissionSHA256, run.SheetSHA256)
			if !o.isSignedOff(key) && !o.said[key] && !o.onTheWay(m, run, merges[i+1:]) {
				o.addProblem(CodeUnreceipted, -1, "the commit %.12s brought the run %s (%.8s…), which has no live receipt",
					m.SHA, clipForeign(run.ID), run.SubmissionSHA256)
			}
		}
	}
}

// onTheWay reports whether a run without a receipt is a state on the way to a signed one: a pull request of several
// commits that was merged by rebasing brings each of them to base, and the last one was signed off. Where the forge can
// be asked, both commits must be of one pull request.
func (o *online) onTheWay(m MergeRecord, run MergedRun, later []MergeRecord) bool {
	for _, next := range later {
		i := slices.IndexFunc(next.Runs, func(r MergedRun) bool { return r.ID == run.ID })
		if i < 0 {
			continue
		}
		return o.isSignedOff(bytesKey(next.Runs[i].SubmissionSHA256, next.Runs[i].SheetSHA256)) && o.onePull(m, next)
	}
	return false
}

// onePull reports whether two commits on base came from one pull request. Otherwise a later, signed pull request on the
// same run would excuse an earlier one that was merged past the gate.
func (o *online) onePull(a, b MergeRecord) bool {
	forge, ok := o.forge.(Witness)
	if !ok {
		return a.PullRequest == 0 || a.PullRequest == b.PullRequest
	}
	first, err := forge.PullsOf(o.ctx, a.SHA)
	if err != nil {
		o.addProblem(CodeOnlineUnread, -1, "the pull request of commit %.12s: %v", a.SHA, err)
		return false
	}
	second, err := forge.PullsOf(o.ctx, b.SHA)
	if err != nil {
		o.addProblem(CodeOnlineUnread, -1, "the pull request of commit %.12s: %v", b.SHA, err)
		return false
	}
	return slices.ContainsFunc(first, func(n int64) bool { return slices.Contains(second, n) })
}

// VerifyMerges compares the entries, in order, with the commits on base alone, as a clone holds them without a forge:
// every merged run has a live receipt or an unreceipted entry, and every merged entry names one of the commits.
// Messages of commits are no evidence of a pull request, so only commits are compared.
func VerifyMerges(entries iter.Seq2[Entry, error], merges []MergeRecord) ([]Problem, error) {
	o := newOnline(context.Background(), nil)
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		o.rememberEntry(e)
	}
	o.checkComplete(merges)
	for _, r := range o.merged {
		if !slices.ContainsFunc(merges, func(m MergeRecord) bool { return m.SHA == r.ObservedBy.SHA }) {
			o.addProblem(CodeMergeDiffers, r.Seq, "the base holds no commit %.12s that brings a run", r.ObservedBy.SHA)
		}
	}
	return o.problems, nil
}
