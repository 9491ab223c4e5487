package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// approveOptions are the flags of referee approve.
type approveOptions struct {
	name, at, reject, digest, failOn, repository, dir string
	limit                                             referee.Threshold // failOn, read
	satisfied, flags, waivers                         []string
	ledger                                            *ledgerFlags
	params                                            *paramFlags
}

const approveLong = `Audits RUN, shows the verdict, asks what only a person can answer, and mints the
receipt into the ledger: a branch of a git repository, which the first sign-off
begins. On a terminal the open questions are asked; elsewhere --satisfied and
--flag answer them all, or nothing is minted.

A finding at or above --fail-on refuses the approval, unless it is a
deal-finding (the work is right and the deal is not) and --accept says why the
client goes ahead; a work-defect is never accepted. --reject records a no: the
receipt holds the SHA-256 of its reason, and the reason stays with you. One that
the ledger must hold is the answer to a question: --reject WHY --flag KEY=WHY.

The agent is held to the limits that the gate holds it to: governance of
.github/referee.yml, as committed on the base branch of the repository that
keeps the ledger (else of the one around RUN), and what the ledger says of it.
A locked lane, a spend cap that is passed, an agent that governance.agents does
not list, or one with another profile, refuses the approval.

The same sign-off twice gives the same receipt. Exit codes: 0 minted, or found;
1 the rules do not allow it, or a question is open; 2 bad usage; 3 the tool
failed, and the ledger is as it was.`

func approveCommand() *command {
	c := newCommand("approve", "RUN", "sign a run off into a local ledger, without GitHub", 1)
	c.long = approveLong
	c.examples = []string{
		"referee approve runs/oak-street --as ann",
		"referee approve runs/steps --as ann --satisfied units_shown --flag scope='too wide'",
		"referee approve runs/river-lofts --as ann --accept dscr_gate='more collateral'",
		"referee approve runs/elm-plaza --as ann --reject 'the ratio is wrong'",
	}
	o := &approveOptions{}
	f := c.flags
	f.StringVar(&o.name, "as", "", "`NAME` of the person who signs")
	f.StringArrayVar(&o.satisfied, "satisfied", nil, "the checklist item `KEY` is satisfied; may be repeated")
	f.StringArrayVar(&o.flags, "flag", nil, "the checklist item `KEY` is not satisfied: KEY=WHY; may be repeated")
	f.StringArrayVar(&o.waivers, "accept", nil, "accept a deal-finding: `RULE=WHY`; may be repeated")
	f.StringVar(&o.reject, "reject", "", "reject the run, and say `WHY`: the ledger holds the rejection and the "+
		"SHA-256 of WHY")
	f.StringVar(&o.digest, "digest", "", "first eight or more digits of the audit's `DIGEST` that you saw")
	f.StringVar(&o.at, "at", "", "`TIME` of the decision, as 2026-11-20T09:00:00Z (default: now)")
	c.choiceFlag(&o.failOn, "fail-on", "high", "lightest `TIER` that refuses an approval", referee.ThresholdNames())
	f.StringVar(&o.repository, "repository", "", "`NAME` of the repository in the receipt (default: the ledger's, "+
		"else its folder's)")
	o.ledger = ledgerFlag(f)
	o.params = paramsFlag(f)
	dir := sheetsFlag(f)
	c.run = func(a *app, args []string) error {
		o.dir = *dir
		return o.approveRun(a, args)
	}
	return c
}

// approveRun checks the request whole, audits, asks, and mints.
func (o *approveOptions) approveRun(a *app, args []string) error {
	local, err := o.readDecision(a, args)
	if err != nil {
		return err
	}
	if err := o.params.checkSyntax(); err != nil {
		return err
	}
	k, err := a.openStore(o.ledger)
	if err != nil {
		return err
	}
	defer k.Close()
	if err := a.soundTail(k); err != nil {
		return err
	}
	place, err := o.decisionPlace(k)
	if err != nil {
		return err
	}
	cfg, err := a.limitsOf(k, args[0])
	if err != nil {
		return err
	}
	work, done, err := a.openWork(slashPath(args[0]), o.dir, o.params, receipt.Prior(a.ctx, k, k.at), cfg)
	if err != nil {
		return err
	}
	defer done()
	if err := a.showWork(work, o.limit); err != nil {
		return err
	}
	if err := o.checkAgainst(work, local); err != nil {
		return err
	}
	if o.reject == "" {
		if err := a.checkLimits(k, cfg, work, local.At); err != nil {
			return err
		}
	}
	if err := o.answerOpenQuestions(a, work, &local); err != nil {
		return err
	}
	entry, again, err := local.SignOff(a.ctx, k, work, place, receipt.Policy{FailOn: o.limit, Accept: "deal-finding"},
		ledgerPapers())
	if err != nil {
		return signOffError(err)
	}
	return a.print(receiptLines(entry, k.name, again) + wordsToKeep(local))
}

// wordsToKeep prints what a rejection said, as it was hashed: no member of a receipt holds its reason. The lines are
// not wrapped, so that they can be kept as they are.
func wordsToKeep(l receipt.Local) string {
	if l.Reject == "" {
		return ""
	}
	p := &page{}
	p.writeEntry("keep", receiptColumn, "the receipt holds only the SHA-256 of these words:")
	for line := range strings.Lines(l.Text()) {
		p.line("%s%s", strings.Repeat(" ", receiptColumn), strings.TrimSuffix(line, "\n"))
	}
	return p.b.String()
}

// readDecision reads the flags.
func (o *approveOptions) readDecision(a *app, args []string) (receipt.Local, error) {
	switch {
	case len(args) == 0:
		return receipt.Local{}, usagef("approve needs a RUN").withHint("name a run folder: referee approve " +
			"runs/oak-street --as NAME")
	case strings.TrimSpace(o.name) == "":
		return receipt.Local{}, usagef("approve needs --as NAME: who signs")
	case o.reject != "" && len(o.waivers) > 0:
		return receipt.Local{}, usagef("--reject and --accept contradict each other")
	}
	var err error
	if o.limit, err = thresholdFlag(o.failOn); err != nil {
		return receipt.Local{}, err
	}
	l := receipt.Local{Name: oneLine(o.name), Reject: oneLine(o.reject)}
	if l.At, err = o.decisionTime(a.now()); err != nil {
		return receipt.Local{}, err
	}
	for _, key := range o.satisfied {
		l.Answers = append(l.Answers, ledger.Answer{ID: key, Answer: "satisfied"})
	}
	for _, pair := range o.flags {
		key, why, err := keyWhy("--flag", pair)
		if err != nil {
			return receipt.Local{}, err
		}
		l.Answers = append(l.Answers, ledger.Answer{ID: key, Answer: "flag", Note: why})
	}
	for _, pair := range o.waivers {
		rule, why, err := keyWhy("--accept", pair)
		if err != nil {
			return receipt.Local{}, err
		}
		l.Waivers = append(l.Waivers, ledger.Waiver{RuleID: rule, Reason: why})
	}
	return l, nil
}

// soundTail looks at the end of the ledger before anything is put on it: what no honest writer wrote is not signed
// over. It costs the same at any size.
func (a *app) soundTail(k *kept) error {
	if k.at.ID == "" {
		return nil // the first sign-off begins it
	}
	_, problems, err := ledger.VerifyTail(a.ctx, k, k.at, ledger.Head{})
	switch {
	case err != nil:
		return toolf("reading the end of the ledger, %s: %w", k.name, err)
	case len(problems) > 0:
		return rulesf("the ledger, %s, failed verification: %s", k.name,
			problems[0]).withHint("`referee ledger verify` lists all problems; nothing was written")
	}
	return nil
}

// oneLine puts a text on one line: a receipt's notes are lines of a review.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func keyWhy(flag, pair string) (key, why string, err error) {
	key, why, _ = strings.Cut(pair, "=")
	if key, why = strings.TrimSpace(key), oneLine(why); key == "" || why == "" {
		return "", "", usagef("%s %q must be KEY=WHY, with a reason", flag, pair)
	}
	return key, why, nil
}

// decisionTime is the time of the decision, in whole seconds. One in the future is no decision yet.
func (o *approveOptions) decisionTime(now time.Time) (time.Time, error) {
	now = now.UTC().Truncate(time.Second)
	if o.at == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, o.at)
	switch {
	case err != nil:
		return at, usagef("--at %q must be a time such as 2026-11-20T09:00:00Z", o.at)
	case at.After(now):
		return at, usagef("--at %s is in the future; a sign-off must be in the past", o.at)
	case at.Year() < 2000:
		return at, usagef("--at %s is too early: it must be 2000 or later", o.at)
	}
	return at.UTC().Truncate(time.Second), nil
}

// decisionPlace is where the sign-off is made. A forge's ledger takes no entry from here.
func (o *approveOptions) decisionPlace(k *kept) (receipt.Place, error) {
	r := ledger.Repository{Name: o.repository}
	if info := k.at.Info; info != nil {
		if info.Repository.ID != 0 {
			return receipt.Place{}, usagef("the ledger, %s, belongs to %s on a forge: its sign-offs are reviews there",
				k.name, info.Repository.Name).withHint("--ledger or --branch names a ledger for local sign-offs")
		}
		if r.Name == "" {
			r.Name = info.Repository.Name
		}
	}
	if r.Name == "" {
		r.Name = strings.TrimSuffix(slashedBase(workTree(k)), ".git")
	}
	return receipt.Place{Repository: r}, nil
}

// workTree is the folder that people know a repository by.
func workTree(k *kept) string {
	if k.Repo() == nil {
		return k.location
	}
	dir := k.Repo().Dir()
	if filepath.Base(dir) == ".git" {
		return filepath.Dir(dir)
	}
	return dir
}

// openWork opens a run folder and audits it. The function given back closes the folder, whose files are read until
// then.
func (a *app) openWork(path, sheets string, params *paramFlags, prior referee.PriorFunc,
	cfg *config.Config) (receipt.Work, func(), error) {
	if filepath.Base(path) == "run.json" {
		path = slashPath(filepath.Dir(path))
	}
	library, err := a.openLibrary(sheets)
	if err != nil {
		return receipt.Work{}, nil, err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(path, "run.json"))
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return receipt.Work{}, nil,
			usagef("%s is no run folder", path).withHint("a run folder holds run.json; `referee run new` makes one")
	}
	root, err := os.OpenRoot(filepath.FromSlash(path))
	if err != nil {
		return receipt.Work{}, nil, toolf("opening the run folder %s: %w", path, err)
	}
	folder, err := referee.OpenRun(root.FS())
	if err != nil {
		err = runError(path, root, err)
		return receipt.Work{}, nil, errors.Join(err, root.Close())
	}
	au := &auditor{app: a, library: library, options: &auditOptions{params: params}}
	sheet, _, err := au.sheetOfRun(path, folder.Run)
	if err != nil {
		return receipt.Work{}, nil, errors.Join(err, root.Close())
	}
	if params != nil {
		if err := params.checkAllUsed(); err != nil {
			return receipt.Work{}, nil, errors.Join(err, root.Close())
		}
	}
	pinned := config.PinnedProfile(cfg, folder.Run.Agent.Name)
	return receipt.JudgePinned(folder, sheet, path, prior, pinned), func() { root.Close() }, nil
}

// showWork prints the audit, as referee audit does.
func (a *app) showWork(w receipt.Work, failOn referee.Threshold) error {
	look := a.lookAt(a.stdout)
	paper, err := report.New("table", a.stdout, report.Options{Width: look.width, Color: look.color, FailOn: failOn,
		Version: referee.EngineVersion})
	if err != nil {
		return usagef("%w", err)
	}
	if err := errors.Join(paper.Add(w.Report), paper.Close()); err != nil {
		return toolf("writing the result: %w", err)
	}
	return nil
}

// checkAgainst holds what was said to the audit: the digest, the questions and the rules that were named.
func (o *approveOptions) checkAgainst(w receipt.Work, l receipt.Local) error {
	if o.digest != "" {
		digest := strings.ToLower(o.digest)
		if len(digest) < 8 || strings.Trim(digest, "0123456789abcdef") != "" {
			return usagef("--digest %q must be eight or more hexadecimal digits", o.digest)
		}
		if !strings.HasPrefix(w.Report.Digest, digest) {
			return rulesf("the audit's digest is %.16s…, not %s: this is not what you looked at", w.Report.Digest,
				o.digest)
		}
	}
	if _, err := w.Open(l.Answers); err != nil {
		return usagef("%w", err)
	}
	for _, waiver := range l.Waivers {
		if !slices.ContainsFunc(w.Report.Findings,
			func(f referee.Finding) bool { return slices.Contains(f.RuleIDs, waiver.RuleID) }) {
			return usagef("--accept %s: the audit has no finding of this rule", waiver.RuleID)
		}
	}
	return nil
}

// signOffError gives an error its exit code: what the rules refuse is a no, the rest is the tool's.
func signOffError(err error) error {
	var blocked *receipt.NotSignable
	var refused *ledger.Refusal
	switch {
	case errors.As(err, &blocked):
		f := rulesf("%w", err)
		if strings.Contains(blocked.Reason, "("+string(referee.DealFinding)+")") {
			f = f.withHint("--accept RULE=WHY accepts a deal-finding, and the receipt says so")
		}
		return f.withHint("--reject WHY records the rejection in the ledger")
	case errors.As(err, &refused):
		return rulesf("not signed off: %w", err)
	}
	return toolf("%w", err)
}
