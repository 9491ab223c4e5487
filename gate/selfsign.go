package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// minDispatchedDigest is how much of the audit's digest a sign-off by hand names, in hex digits.
const minDispatchedDigest = 16

// dispatchedSignOff is what an admin signs off by hand: the head and the audit that they looked at, as the inputs of
// the workflow name them. The workflow's run-name repeats them, so that GitHub's record of the run says what was
// signed.
type dispatchedSignOff struct{ head, digest string }

// selfSign mints the sign-off of an admin who has nobody else to ask, where the configuration allows it. The receipt
// says self_signed everywhere. Only who started the workflow by hand on the default branch can do it, only an admin,
// and only by the first attempt of the run: a later one can be started by somebody else, and acts in the admin's name.
func (j *Job) selfSign(ctx context.Context, number int64) (*Result, error) {
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	if pr.State != "open" {
		return nil, brokenf("pull request %d is %s: nothing is signed off", number, pr.State)
	}
	checks := j.checksOn(pr.HeadSHA, number)
	var refused error
	posted, err := j.throughTheSteps(ctx, pr, checks, func(ctx context.Context, p signedPull) (signedPull, error) {
		p, err := p.signByHand(ctx, checks)
		var no *Broken
		if errors.As(err, &no) {
			refused, err = err, nil // the pull request stays as it is, and its checks say so
		}
		return p, err
	})
	if err != nil {
		return nil, errors.Join(err, checks.postBroken(ctx, err))
	}
	if refused != nil {
		return nil, refused
	}
	r := posted.jobResult()
	r.Failed = r.Failed || !posted.out.Signed()
	return r, nil
}

// signByHand signs a pull request, about which was decided already, off in the name of who started the run. A refusal
// is *Broken.
func (p signedPull) signByHand(ctx context.Context, checks *headChecks) (signedPull, error) {
	if p.out.Signed() && p.rules.Config.Approval.SelfSign {
		return p, nil
	}
	run, permission, err := p.checkDispatch(ctx)
	if err != nil {
		return p, err
	}
	drafts, err := p.draftSelfSigned(run, permission)
	if err != nil {
		return p, err
	}
	if len(p.held.withoutEntry(drafts)) > 0 {
		if err := checks.claimSignOff(ctx, p.out.Digest()); err != nil {
			return p, err
		}
	}
	if p.auditedPull, err = p.writeEntries(ctx, drafts); err != nil {
		return p, err
	}
	return p.confirmSelfSigned(ctx)
}

// checkDispatch holds the dispatch to who may sign by hand and to what they named.
func (p signedPull) checkDispatch(ctx context.Context) (run githubapi.WorkflowRun, permission string, err error) {
	j := p.job
	sender := j.Event.Sender
	want := dispatchedSignOff{p.pr.HeadSHA, p.out.Digest()}
	switch {
	case !p.rules.Config.Approval.SelfSign:
		return run, "", brokenf(
			"the configuration does not let people sign off their own work: approval.self_sign is false",
		)
	case j.Runner.Ref != "refs/heads/"+j.Event.DefaultBranch:
		return run, "", brokenf(
			"a sign-off by hand runs on refs/heads/%s, not on %s: choose the default branch",
			j.Event.DefaultBranch,
			j.Runner.Ref,
		)
	case j.Runner.Attempt != 1:
		return run, "", brokenf(
			"this is attempt %d of the workflow run: a sign-off by hand counts once; start the workflow again",
			j.Runner.Attempt,
		)
	case p.pr.Draft:
		return run, "", brokenf("pull request %d is a draft: nothing is signed off", p.pr.Number)
	case len(p.out.Objections) > 0:
		return run, "", brokenf(
			"changes are requested (%s): nothing is signed off until they are settled or withdrawn",
			strings.Join(p.out.Objections, "; "),
		)
	case !want.names(j.Event.Inputs["head"], j.Event.Inputs["digest"]):
		return run, "", brokenf(
			"a sign-off by hand names what it signs with the inputs head and digest; for the present head: -f "+
				"pr=%d -f mode=sign-off -f head=%s -f digest=%.*s",
			p.pr.Number,
			want.head,
			minDispatchedDigest,
			want.digest,
		)
	}
	if permission, err = j.API.Permission(ctx, sender); err != nil {
		return run, "", err
	}
	if permission != "admin" {
		return run, "", brokenf("%s has the permission %q; only an admin may sign off by hand", sender, permission)
	}
	if run, err = j.API.WorkflowRun(ctx, j.Runner.RunID); err != nil {
		return run, "", fmt.Errorf("reading the workflow run, which is the record of who signs: %w", err)
	}
	if why := want.whyNotRecorded(run, p.pr.Number, sender, j.Runner.WorkflowRef); why != "" {
		return run, "", brokenf("GitHub's record of this workflow run contradicts the sign-off: %s", why)
	}
	if run.Attempt != 1 || run.TriggeringActor != "" && !strings.EqualFold(run.TriggeringActor, sender) {
		return run, "", brokenf(
			"%s has started attempt %d of this workflow run: a sign-off by hand counts once; start the workflow again",
			run.TriggeringActor,
			run.Attempt,
		)
	}
	return run, permission, nil
}

// names reports whether the inputs are of this head and this audit.
func (d dispatchedSignOff) names(head, digest string) bool {
	return head == d.head && len(digest) >= minDispatchedDigest && strings.HasPrefix(d.digest, digest)
}

// whyNotRecorded says in what GitHub's record of a run is not that a person signed this head by hand by that workflow;
// "" where it is.
func (d dispatchedSignOff) whyNotRecorded(run githubapi.WorkflowRun, pull int64, login, workflow string) string {
	rec := verify.WorkflowRecord(run)
	begins := ledger.SelfSignTitle(pull, d.head, "")
	digest, titled := strings.CutPrefix(rec.Title, begins)
	path, _, _ := strings.Cut(workflow, "@")
	switch {
	case rec.Event != "workflow_dispatch":
		return fmt.Sprintf("it was started by the event %q", rec.Event)
	case !strings.EqualFold(rec.Actor, login):
		return fmt.Sprintf("it was started by %s, not by %s", rec.Actor, login)
	case rec.Path == "" || !strings.HasSuffix(path, "/"+rec.Path):
		return fmt.Sprintf("it is a run of %s, not of %s", rec.Path, path)
	case !titled || !d.names(d.head, digest):
		return fmt.Sprintf(
			"its title is %q; the workflow's run-name must make it %q, as `referee init` writes it",
			rec.Title,
			begins+d.digest[:minDispatchedDigest],
		)
	}
	return ""
}

// draftSelfSigned drafts the receipts. The workflow run is in the place of a review: its number, and when it began.
func (p signedPull) draftSelfSigned(run githubapi.WorkflowRun, permission string) ([]ledger.Receipt, error) {
	j, cfg := p.job, p.rules.Config
	body := j.typedCommands()
	commands := signoff.ParseCommands(body)
	switch {
	case len(commands.Problems) > 0:
		return nil, brokenf("the commands cannot be read: %s", commands.Problems[0])
	case commands.Digest != "" && !strings.HasPrefix(p.out.Digest(), commands.Digest):
		return nil, brokenf(
			"/digest %s does not match the audit of this head, %.8s",
			commands.Digest,
			p.out.Digest(),
		)
	case cfg.Approval.DigestRequired && commands.Digest == "" && j.Event.Inputs["digest"] == "":
		return nil, brokenf("the configuration asks for /digest %.8s", p.out.Digest())
	case p.out.Stopped() || len(p.out.Audits) == 0:
		return nil, brokenf("nothing to sign off: the pull request has no run, or something could not be audited")
	}
	review := githubapi.Review{
		ID:          run.ID,
		User:        j.Event.Sender,
		UserID:      run.ActorID,
		UserType:    "User",
		Body:        body,
		CommitSHA:   p.pr.HeadSHA,
		SubmittedAt: run.CreatedAt,
	}
	signer := signoff.Judged{Review: review, Commands: commands, Counted: true}
	for _, a := range p.out.Audits {
		if a.Work == nil {
			return nil, brokenf("%s could not be audited: %s", a.Dir, a.Refused)
		}
	}
	if slips := p.out.UnaskedCommands([]signoff.Judged{signer}); len(slips) > 0 {
		return nil, brokenf("these commands do not apply: %s", strings.Join(slips, "; "))
	}
	var drafts []ledger.Receipt
	for _, a := range p.out.Audits {
		d := signoff.DecisionOf(signer, permission, []signoff.Judged{signer}, a.Work)
		d.SelfSigned = true
		r, err := receipt.Sign(
			*a.Work,
			d,
			j.receiptPlace(p.pullRef()),
			receipt.Policy{FailOn: cfg.FailOn, Accept: cfg.Accept},
		)
		var not *receipt.NotSignable
		if errors.As(err, &not) {
			return nil, brokenf("%s: %s", a.Dir, not.Reason)
		}
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, r)
	}
	return drafts, nil
}

// typedCommands are what a sign-off by hand says, in place of a review's text: the action's input, else the workflow's.
func (j *Job) typedCommands() string {
	if j.Options.Commands != "" {
		return j.Options.Commands
	}
	return j.Event.Inputs["commands"]
}

// confirmSelfSigned takes for signed off what an admin signed by hand, as long as everything that made it so still
// holds: the configuration, their permission, nobody's request for changes, GitHub's record of the workflow run, for
// this head and this audit, and the gate's own announcement of the receipt: what the ledger says alone counts for
// nothing.
func (p signedPull) confirmSelfSigned(ctx context.Context) (signedPull, error) {
	if !p.rules.Config.Approval.SelfSign || len(p.out.Objections) > 0 || p.out.Stopped() || len(p.out.Audits) == 0 {
		return p, nil
	}
	var found []ledger.Entry
	live := p.held.liveSignOffs()
	for _, a := range p.out.Audits {
		i := slices.IndexFunc(live, func(e ledger.Entry) bool { return a.Work != nil && p.isSelfSigned(e, *a.Work) })
		if i < 0 {
			return p, nil
		}
		why, err := p.whyUnconfirmed(ctx, live[i].Receipt)
		if err != nil {
			return p, err
		}
		if why != "" {
			p.out.Drift = append(
				p.out.Drift,
				fmt.Sprintf("receipt %d is self-signed and no longer counts: %s", live[i].Receipt.Seq, why),
			)
			return p, nil
		}
		found = append(found, live[i])
	}
	for _, e := range found {
		p.out.Receipts = append(p.out.Receipts, e)
		p.out.Waived = append(p.out.Waived, signoff.WaiversOfRun(e.Receipt.Run.ID, e.Receipt.Accepted)...)
	}
	return p, nil
}

// isSelfSigned reports whether an entry that the gate vouches for is an admin's own sign-off of a run at this head.
func (p signedPull) isSelfSigned(e ledger.Entry, w receipt.Work) bool {
	r := e.Receipt
	return r.SelfSigned && r.Kind == ledger.Approved && p.held.vouched[e.Hash] &&
		r.PullRequest.HeadSHA == p.pr.HeadSHA &&
		r.Run.ID == w.Run.ID &&
		receipt.SubjectDigest(r) == w.Subject() &&
		r.Workflow != nil
}

// whyUnconfirmed says why a self-signature no longer counts; "" where it does.
func (p signedPull) whyUnconfirmed(ctx context.Context, r *ledger.Receipt) (string, error) {
	login := r.Approval.Approver.Login
	permission, err := p.job.API.Permission(ctx, login)
	if err != nil {
		return "", err
	}
	if permission != "admin" {
		return fmt.Sprintf("%s has the permission %q now", login, permission), nil
	}
	run, err := p.job.API.WorkflowRun(ctx, r.Workflow.RunID)
	if githubapi.IsNotFound(err) {
		return "GitHub no longer knows its workflow run", nil
	}
	if err != nil {
		return "", err
	}
	return dispatchedSignOff{p.pr.HeadSHA, p.out.Digest()}.whyNotRecorded(run, p.pr.Number, login, r.Workflow.Ref), nil
}
