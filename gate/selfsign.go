package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// minDispatchedDigest is how much of the audit's digest a sign-off by hand names, in hex digits.
const minDispatchedDigest = 16

// dispatched is what an admin signs off by hand: the head and the audit that they looked at, as the inputs of the workflow name them. The
// workflow's run-name repeats them, so that GitHub's record of the run says what was signed.
type dispatched struct{ head, digest string }

// selfSign mints the sign-off of an admin who has nobody else to ask, where the configuration allows it. The receipt says self_signed everywhere.
// Only who started the workflow by hand on the default branch can do it, only an admin, and only by the first attempt of the run: a later one can
// be started by somebody else, and acts in the admin's name.
func (j *Job) selfSign(ctx context.Context, number int64) (*Result, error) {
	p, err := j.newPulled(ctx, number)
	if err != nil {
		return nil, err
	}
	if p.pr.State != "open" {
		return nil, broken("pull request %d is %s: nothing is signed off", number, p.pr.State)
	}
	var refused error
	byHand := func(ctx context.Context) error {
		var no *Broken
		if err := p.signByHand(ctx); !errors.As(err, &no) {
			return err
		} else {
			refused = err // the pull request stays as it is, and its checks say so
		}
		return nil
	}
	for _, step := range []func(context.Context) error{p.turnBack, p.look, p.decide, byHand, p.compareSiblings, p.post} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, p.postBroken(ctx, err))
		}
	}
	if refused != nil {
		return nil, refused
	}
	r := p.result()
	r.Failed = r.Failed || !p.out.Signed()
	return r, nil
}

// signByHand signs a pull request, about which was decided already, off in the name of who started the run. A refusal is *Broken.
func (p *pulled) signByHand(ctx context.Context) error {
	if p.out.Signed() && p.rules.Config.Approval.SelfSign {
		return nil
	}
	run, permission, err := p.mayAndDid(ctx)
	if err != nil {
		return err
	}
	drafts, err := p.selfSigned(run, permission)
	if err != nil {
		return err
	}
	if len(p.missing(drafts)) > 0 {
		if err := p.claimSignOff(ctx); err != nil {
			return err
		}
	}
	if err := p.write(ctx, drafts); err != nil {
		return err
	}
	return p.confirmSelfSigned(ctx)
}

// mayAndDid holds the dispatch to who may sign by hand and to what they named.
func (p *pulled) mayAndDid(ctx context.Context) (run githubapi.WorkflowRun, permission string, err error) {
	j := p.j
	sender := j.Event.Sender
	want := dispatched{p.pr.HeadSHA, p.out.Digest()}
	switch {
	case !p.rules.Config.Approval.SelfSign:
		return run, "", broken("the configuration does not allow to sign off one's own work: approval.self_sign is false")
	case j.Runner.Ref != "refs/heads/"+j.Event.DefaultBranch:
		return run, "", broken("a sign-off by hand runs on refs/heads/%s, not on %s: choose the default branch", j.Event.DefaultBranch, j.Runner.Ref)
	case j.Runner.Attempt != 1:
		return run, "", broken("this is attempt %d of the workflow run: a sign-off by hand counts once; start the workflow again", j.Runner.Attempt)
	case p.pr.Draft:
		return run, "", broken("pull request %d is a draft: nothing is signed off", p.pr.Number)
	case len(p.out.Objections) > 0:
		return run, "", broken("changes are requested (%s): nothing is signed off before they are met or withdrawn", strings.Join(p.out.Objections, "; "))
	case !want.named(j.Event.Inputs["head"], j.Event.Inputs["digest"]):
		return run, "", broken("a sign-off by hand names what it signs, by the inputs head and digest; for what is here now: -f pr=%d -f mode=sign-off -f head=%s -f digest=%.*s",
			p.pr.Number, want.head, minDispatchedDigest, want.digest)
	}
	if permission, err = j.API.Permission(ctx, sender); err != nil {
		return run, "", err
	}
	if permission != "admin" {
		return run, "", broken("%s has the permission %q; only an admin may sign off by hand", sender, permission)
	}
	if run, err = j.API.WorkflowRun(ctx, j.Runner.RunID); err != nil {
		return run, "", fmt.Errorf("reading the workflow run, which is the record of who signs: %w", err)
	}
	if why := want.recorded(run, p.pr.Number, sender, j.Runner.WorkflowRef); why != "" {
		return run, "", broken("the record of this workflow run does not bear the sign-off out: %s", why)
	}
	if run.Attempt != 1 || run.TriggeringActor != "" && !strings.EqualFold(run.TriggeringActor, sender) {
		return run, "", broken("%s has started attempt %d of this workflow run: a sign-off by hand counts once; start the workflow again", run.TriggeringActor, run.Attempt)
	}
	return run, permission, nil
}

// named reports whether the inputs are of this head and this audit.
func (d dispatched) named(head, digest string) bool {
	return head == d.head && len(digest) >= minDispatchedDigest && strings.HasPrefix(d.digest, digest)
}

// recorded says in what GitHub's record of a run is not that a person signed this head by hand by that workflow; "" where it is.
func (d dispatched) recorded(run githubapi.WorkflowRun, pull int64, login, workflow string) string {
	rec := workflowRecord(run)
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
	case !titled || !d.named(d.head, digest):
		return fmt.Sprintf("its title is %q; the workflow's run-name must make it %q, as `referee init` writes it", rec.Title, begins+d.digest[:minDispatchedDigest])
	}
	return ""
}

// selfSigned drafts the receipts. The workflow run is in the place of a review: its number, and when it began.
func (p *pulled) selfSigned(run githubapi.WorkflowRun, permission string) ([]ledger.Receipt, error) {
	j, cfg := p.j, p.rules.Config
	body := j.commands()
	commands := signoff.ParseCommands(body)
	switch {
	case len(commands.Problems) > 0:
		return nil, broken("the commands cannot be read: %s", commands.Problems[0])
	case commands.Digest != "" && !strings.HasPrefix(p.out.Digest(), commands.Digest):
		return nil, broken("/digest %s names another audit; the audit of this head is %.8s", commands.Digest, p.out.Digest())
	case cfg.Approval.DigestRequired && commands.Digest == "" && j.Event.Inputs["digest"] == "":
		return nil, broken("the configuration asks for /digest %.8s", p.out.Digest())
	case p.out.Stopped() || len(p.out.Audits) == 0:
		return nil, broken("nothing to sign off: the pull request has no run, or something could not be audited")
	}
	review := githubapi.Review{ID: run.ID, User: j.Event.Sender, UserID: run.ActorID, UserType: "User", Body: body, CommitSHA: p.pr.HeadSHA, SubmittedAt: run.CreatedAt}
	signer := signoff.Judged{Review: review, Commands: commands, Counted: true}
	for _, a := range p.out.Audits {
		if a.Work == nil {
			return nil, broken("%s could not be audited: %s", a.Dir, a.Refused)
		}
	}
	if slips := p.out.UnaskedCommands([]signoff.Judged{signer}); len(slips) > 0 {
		return nil, broken("the commands fit nothing: %s", strings.Join(slips, "; "))
	}
	var drafts []ledger.Receipt
	for _, a := range p.out.Audits {
		d := signoff.DecisionOf(signer, permission, []signoff.Judged{signer}, a.Work)
		d.SelfSigned = true
		r, err := receipt.Sign(*a.Work, d, j.place(p.pullRef()), receipt.Policy{FailOn: cfg.FailOn, Accept: cfg.Accept})
		var not *receipt.NotSignable
		if errors.As(err, &not) {
			return nil, broken("%s: %s", a.Dir, not.Reason)
		}
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, r)
	}
	return drafts, nil
}

// commands are what a sign-off by hand says, in place of a review's text: the action's input, else the workflow's.
func (j *Job) commands() string {
	if j.Options.Commands != "" {
		return j.Options.Commands
	}
	return j.Event.Inputs["commands"]
}

// confirmSelfSigned takes for signed off what an admin signed by hand, as long as everything that made it so still holds: the configuration, their
// permission, nobody's request for changes, GitHub's record of the workflow run, for this head and this audit, and the gate's own announcement of
// the receipt: what the ledger says alone counts for nothing.
func (p *pulled) confirmSelfSigned(ctx context.Context) error {
	if !p.rules.Config.Approval.SelfSign || len(p.out.Objections) > 0 || p.out.Stopped() || len(p.out.Audits) == 0 {
		return nil
	}
	var found []ledger.Entry
	live := p.live()
	for _, a := range p.out.Audits {
		i := slices.IndexFunc(live, func(e ledger.Entry) bool { return a.Work != nil && p.selfSignedFor(e, *a.Work) })
		if i < 0 {
			return nil
		}
		why, err := p.unconfirmed(ctx, live[i].Receipt)
		if err != nil {
			return err
		}
		if why != "" {
			p.out.Drift = append(p.out.Drift, fmt.Sprintf("receipt %d is self-signed and counts no longer: %s", live[i].Receipt.Seq, why))
			return nil
		}
		found = append(found, live[i])
	}
	for _, e := range found {
		p.out.Receipts = append(p.out.Receipts, e)
		p.out.Waived = append(p.out.Waived, signoff.WaiversOfRun(e.Receipt.Run.ID, e.Receipt.Accepted)...)
	}
	return nil
}

// selfSignedFor reports whether an entry that the gate vouches for is an admin's own sign-off of a run at this head.
func (p *pulled) selfSignedFor(e ledger.Entry, w receipt.Work) bool {
	r := e.Receipt
	return r.SelfSigned && r.Kind == ledger.Approved && p.vouched[e.Hash] && r.PullRequest.HeadSHA == p.pr.HeadSHA && r.Run.ID == w.Run.ID &&
		receipt.SubjectDigest(r) == w.Subject() && r.Workflow != nil
}

// unconfirmed says why a self-signature no longer counts; "" where it does.
func (p *pulled) unconfirmed(ctx context.Context, r *ledger.Receipt) (string, error) {
	login := r.Approval.Approver.Login
	permission, err := p.j.API.Permission(ctx, login)
	if err != nil {
		return "", err
	}
	if permission != "admin" {
		return fmt.Sprintf("%s has the permission %q now", login, permission), nil
	}
	run, err := p.j.API.WorkflowRun(ctx, r.Workflow.RunID)
	if githubapi.IsNotFound(err) {
		return "GitHub no longer knows its workflow run", nil
	}
	if err != nil {
		return "", err
	}
	return dispatched{p.pr.HeadSHA, p.out.Digest()}.recorded(run, p.pr.Number, login, r.Workflow.Ref), nil
}
