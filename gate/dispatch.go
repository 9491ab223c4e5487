package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Modes are what a job can be asked for by hand. dry-run is audit with a client that sends no writes.
var Modes = []string{"auto", "audit", "verify", "replay", "dry-run", "sign-off"}

// dispatch does what somebody asked for by hand.
func (j *Job) dispatch(ctx context.Context) (*Result, error) {
	mode, number, err := j.asked()
	if err != nil {
		return nil, err
	}
	if mode == "verify" {
		rules, err := j.rulesFor(ctx, j.Event.DefaultBranch)
		if err != nil {
			return nil, err
		}
		r, wrong, err := j.verify(ctx, rules)
		if err == nil {
			r.Failed = len(wrong) > 0
		}
		return r, err
	}
	if number == 0 {
		return nil, broken("the mode %q needs a pull request: give the input pr", mode)
	}
	switch mode {
	case "replay":
		return j.replay(ctx, number)
	case "sign-off":
		return j.selfSign(ctx, number)
	}
	return j.pull(ctx, number)
}

// asked reads mode and pull request from the event's inputs and the action's.
func (j *Job) asked() (mode string, number int64, err error) {
	mode, number = j.Options.Mode, j.Options.Pull
	if m := j.Event.Inputs["mode"]; m != "" && (mode == "" || mode == "auto") {
		mode = m
	}
	if mode == "" || mode == "auto" {
		mode = "audit"
	}
	known := false
	for _, m := range Modes {
		known = known || m == mode
	}
	if !known {
		return "", 0, broken("the mode %q is unknown; known are %s", mode, strings.Join(Modes, ", "))
	}
	if text := j.Event.Inputs["pr"]; text != "" && number == 0 {
		if number, err = strconv.ParseInt(text, 10, 64); err != nil || number < 1 {
			return "", 0, broken("the input pr is %q; it must be the number of a pull request", text)
		}
	}
	return mode, number, nil
}

// replay derives every live receipt of a pull request again from the bytes that it binds.
func (j *Job) replay(ctx context.Context, number int64) (*Result, error) {
	if _, err := j.rulesFor(ctx, j.Event.DefaultBranch); err != nil {
		return nil, err
	}
	at, err := j.Store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	entries, err := pullEntries(ctx, j.Store, at, number)
	if err != nil {
		return nil, err
	}
	r := &Result{Word: "replayed"}
	for _, e := range (&pulled{entries: entries}).live() {
		said, err := j.replayed(ctx, at, e)
		if err != nil {
			return nil, fmt.Errorf("receipt %d: %w", e.Receipt.Seq, err)
		}
		if len(said) > 0 {
			r.Failed, r.Word = true, "differs"
		}
		r.Messages = append(r.Messages, fmt.Sprintf("receipt %d: %d differences", e.Receipt.Seq, len(said)))
		r.Messages = append(r.Messages, said...)
	}
	if len(r.Messages) == 0 {
		return nil, broken("the ledger holds no live receipt of pull request %d", number)
	}
	return r, nil
}

func (j *Job) replayed(ctx context.Context, at ledger.Snapshot, e ledger.Entry) ([]string, error) {
	tree, err := j.tree(ctx, e.Receipt.PullRequest.HeadSHA)
	if err != nil {
		return nil, err
	}
	folder, where, err := FindRun(tree, e.Receipt)
	if err != nil {
		return nil, err
	}
	sheet, err := j.sheetOf(ctx, at, e.Receipt)
	if err != nil {
		return nil, err
	}
	got, err := Rerun(e.Receipt, sheet, withLinks(tree, folder, where), Prior(ctx, j.Store, Before(at, e.Receipt)))
	if err != nil {
		return nil, err
	}
	if !got.Same && len(got.Changed) == 0 {
		return []string{"the report digest is another"}, nil
	}
	return got.Changed, nil
}

// sheetOf is the rulebook that a receipt binds: the ledger keeps those of the library, base those of the repository.
func (j *Job) sheetOf(ctx context.Context, at ledger.Snapshot, r *ledger.Receipt) (*referee.Sheet, error) {
	sheet, err := KeptSheet(ctx, j.Store, at, r)
	if err != nil || sheet != nil {
		return sheet, err
	}
	tree, err := j.tree(ctx, r.PullRequest.BaseSHA)
	if err != nil {
		return nil, err
	}
	rules, err := j.rulesOf(tree, r.PullRequest.BaseSHA)
	if err != nil {
		return nil, err
	}
	if sheet = TreeSheet(tree, rules.Config.Sheets, r, false); sheet == nil {
		return nil, fmt.Errorf("the sheet %s@%s with %.12s… is neither in the ledger nor on base at %.12s", r.FlightSheet.Slug, r.FlightSheet.Version, r.FlightSheet.SHA256, r.PullRequest.BaseSHA)
	}
	return sheet, nil
}

// selfSign mints the sign-off of an admin who has nobody else to ask, where the configuration allows it. The receipt says self_signed everywhere.
// Only who started the workflow by hand on the default branch can do it, and only an admin.
func (j *Job) selfSign(ctx context.Context, number int64) (*Result, error) {
	if want := "refs/heads/" + j.Event.DefaultBranch; j.Runner.Ref != want {
		return nil, broken("a sign-off by hand runs on %s, not on %s: choose the default branch", want, j.Runner.Ref)
	}
	pr, err := j.API.PullRequest(ctx, number)
	if err != nil {
		return nil, err
	}
	p := &pulled{j: j, pr: pr, out: &Outcome{Repository: j.Runner.Repository, ServerURL: j.Runner.ServerURL, RunID: j.Runner.RunID, Attempt: j.Runner.Attempt, Pull: number, Head: pr.HeadSHA}}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	permission, err := j.API.Permission(ctx, j.Event.Sender)
	if err != nil {
		return nil, err
	}
	switch {
	case !p.rules.Config.Approval.SelfSign:
		return nil, broken("the configuration does not allow to sign off one's own work: approval.self_sign is false")
	case permission != "admin":
		return nil, broken("%s has the permission %q; only an admin may sign off by hand", j.Event.Sender, permission)
	case pr.State != "open" || pr.Draft:
		return nil, broken("pull request %d is %s, or a draft: nothing is signed off", number, pr.State)
	}
	if err := p.selfSigned(ctx, permission); err != nil {
		return nil, err
	}
	if err := p.decide(ctx); err != nil {
		return nil, err
	}
	if err := p.post(ctx); err != nil {
		return nil, err
	}
	return &Result{Word: p.out.Result(), Failed: !p.out.AuditPasses() || !p.out.Signed(), Outcome: p.out}, nil
}

// selfSigned writes the receipts of the sign-off. The workflow run stands where a review would: its number, and when it began.
func (p *pulled) selfSigned(ctx context.Context, permission string) error {
	j := p.j
	run, err := j.API.WorkflowRun(ctx, j.Runner.RunID)
	if err != nil {
		return fmt.Errorf("reading the workflow run, which is the record of who signs: %w", err)
	}
	commands := ParseCommands(j.Options.Commands)
	if len(commands.Problems) > 0 {
		return broken("the commands cannot be read: %s", commands.Problems[0])
	}
	review := githubapi.Review{ID: run.ID, User: j.Event.Sender, UserType: "User", Body: j.Options.Commands, CommitSHA: p.pr.HeadSHA, SubmittedAt: run.CreatedAt}
	signer := Judged{Review: review, Commands: commands, Counted: true}
	var drafts []ledger.Receipt
	for _, a := range p.out.Audits {
		if a.Work == nil {
			return broken("%s could not be audited: %s", a.Dir, a.Refused)
		}
		d := decisionOf(signer, permission, []Judged{signer}, a.Work)
		d.SelfSigned = true
		r, err := Sign(*a.Work, d, j.place(p.pullRef()), Policy{FailOn: p.rules.Config.FailOn, Accept: p.rules.Config.Accept})
		var not *NotSignable
		if errors.As(err, &not) {
			return broken("%s: %s", a.Dir, not.Reason)
		}
		if err != nil {
			return err
		}
		drafts = append(drafts, r)
	}
	if p.out.stopped() || len(drafts) == 0 {
		return broken("nothing can be signed off: there is no run, or something could not be audited")
	}
	return p.write(ctx, drafts)
}
