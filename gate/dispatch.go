package gate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Modes are what a job can be asked for by hand. dry-run is audit with a client that sends no writes.
var Modes = []string{"auto", "audit", "verify", "replay", "dry-run", "sign-off"}

// runDispatch does what somebody asked for by hand.
func (j *Job) runDispatch(ctx context.Context) (*Result, error) {
	mode, number, err := j.readMode()
	if err != nil {
		return nil, err
	}
	if mode == "verify" {
		rules, err := j.rulesFor(ctx, j.Event.DefaultBranch)
		if err != nil {
			return nil, err
		}
		seen, err := j.verifyWholeLedger(ctx, rules)
		if err != nil {
			return nil, err
		}
		r := &Result{Word: "verified", Messages: []string{seen.message}}
		if wrong := seen.problemTexts(); len(wrong) > 0 {
			r.Word, r.Failed, r.Messages = "drift", true, append(r.Messages, wrong...)
		}
		return r, nil
	}
	if number == 0 {
		return nil, brokenf("the mode %q needs a pull request: set the input pr", mode)
	}
	switch mode {
	case "replay":
		return j.replayReceipts(ctx, number)
	case "sign-off":
		return j.selfSign(ctx, number)
	}
	return j.decidePull(ctx, number)
}

// readMode reads mode and pull request from the event's inputs and the action's.
func (j *Job) readMode() (mode string, number int64, err error) {
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
		return "", 0, brokenf("the mode %q is unknown; known are %s", mode, strings.Join(Modes, ", "))
	}
	if text := j.Event.Inputs["pr"]; text != "" && number == 0 {
		if number, err = strconv.ParseInt(text, 10, 64); err != nil || number < 1 {
			return "", 0, brokenf("the input pr is %q; it must be the number of a pull request", text)
		}
	}
	return mode, number, nil
}

// replayReceipts derives every live receipt of a pull request again from the bytes that it binds.
func (j *Job) replayReceipts(ctx context.Context, number int64) (*Result, error) {
	if _, err := j.rulesFor(ctx, j.Event.DefaultBranch); err != nil {
		return nil, err
	}
	at, err := j.verifiedLedger(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := j.entriesOfPull(ctx, at, number, nil)
	if err != nil {
		return nil, err
	}
	r := &Result{Word: "replayed"}
	for _, e := range ledger.Live(entries) {
		said, err := j.replayReceipt(ctx, at, e)
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
		return nil, brokenf("the ledger holds no live receipt of pull request %d", number)
	}
	return r, nil
}

func (j *Job) replayReceipt(ctx context.Context, at ledger.Snapshot, e ledger.Entry) ([]string, error) {
	tree, err := j.treeAt(ctx, e.Receipt.PullRequest.HeadSHA)
	if err != nil {
		return nil, err
	}
	folder, where, err := receipt.FindRun(tree, e.Receipt)
	if err != nil {
		return nil, err
	}
	sheet, err := j.sheetOf(ctx, at, e.Receipt)
	if err != nil {
		return nil, err
	}
	ground, err := j.readGround(ctx, e.Receipt, where)
	if err != nil {
		return nil, err
	}
	got, err := audit.Rerun(
		e.Receipt,
		sheet,
		audit.WithLinks(tree, folder, where),
		ground,
		receipt.Prior(ctx, j.Store, receipt.Before(at, e.Receipt)),
	)
	if err != nil {
		return nil, err
	}
	return got.Changed, nil
}

// readGround is what a replay of the job reads beside the run: the commits are the repository's own, so that one that
// cannot be read is an error.
func (j *Job) readGround(ctx context.Context, r *ledger.Receipt, dir string) (audit.Ground, error) {
	base, err := j.treeAt(ctx, r.PullRequest.BaseSHA)
	if err != nil {
		return audit.Ground{}, err
	}
	id, err := j.findMergeBase(ctx, r.PullRequest.BaseSHA, r.PullRequest.HeadSHA)
	if err != nil {
		return audit.Ground{}, err
	}
	fork, err := j.treeAt(ctx, id)
	return audit.Ground{Dir: dir, Config: j.Options.Config, Base: base, Fork: fork}, err
}

// sheetOf is the rulebook that a receipt binds: the ledger keeps those of the library, base those of the repository.
func (j *Job) sheetOf(ctx context.Context, at ledger.Snapshot, r *ledger.Receipt) (*referee.Sheet, error) {
	sheet, err := receipt.KeptSheet(ctx, j.Store, at, r)
	if err != nil || sheet != nil {
		return sheet, err
	}
	tree, err := j.treeAt(ctx, r.PullRequest.BaseSHA)
	if err != nil {
		return nil, err
	}
	rules, err := j.rulesOf(tree, r.PullRequest.BaseSHA)
	if err != nil {
		return nil, err
	}
	if sheet = receipt.TreeSheet(tree, rules.Config.Sheets, r, false); sheet == nil {
		return nil, fmt.Errorf(
			"the sheet %s@%s with %.12s… is neither in the ledger nor on base at %.12s",
			r.FlightSheet.Slug,
			r.FlightSheet.Version,
			r.FlightSheet.SHA256,
			r.PullRequest.BaseSHA,
		)
	}
	return sheet, nil
}
