package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report/pdf"
)

const replayLong = `Finds the sheet, the submission and the evidence that the receipt binds, audits
them again, and compares the whole receipt but its place and its approval. The
agent's profile and the limits are those of the configuration on base, and whose
the evidence is tell the commits of base and head; where these are missing,
that is said, and the receipt's word is taken.
It says one of: the same digest; the same findings and verdict, by another
engine; or what is decided otherwise, with the rule. A pull request's bytes are
read from git objects at the recorded head; those of a local sign-off from the
repository's files, or from its HEAD. The sheet comes from the library, the
ledger, or the history.
Exit codes: 0 the same; 1 it differs; 3 the bytes are missing, or the
receipt needs another release.`

func receiptReplayCommand() *command {
	c := newCommand("receipt replay", "SEQ|ID|HASH|FILE", "derive a receipt's findings again from git", 1)
	c.long = replayLong
	c.examples = []string{"referee receipt replay 12", "referee receipt replay 3fa9 --source ~/src/memos --ledger " +
		"receipts.git"}
	source := c.flags.String("source", ".", "git `REPO` that holds the runs")
	configPath := c.flags.String("config", "", "the configuration's `PATH` on base (default: "+config.Path+")")
	where := ledgerFlag(c.flags)
	sheets := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("receipt replay needs a number, an id, a hash or a file").withHint(
				"`referee ledger log` lists the entries")
		}
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		h, err := a.holdReceipt("receipt replay", args, where)
		if err != nil {
			return err
		}
		if !isReceiptFile(args[0]) && h.refusalError() != nil {
			return h.refusalError()
		}
		if _, err := ledger.Parse(h.Bytes); err != nil {
			return rulesf("%s: %w", args[0], err)
		}
		r := &replay{app: a, k: k, e: h.Entry, standing: h.standing, source: *source, config: *configPath}
		if r.library, err = a.openLibrary(*sheets); err != nil {
			return err
		}
		return r.run()
	}
	return c
}

// replay derives one receipt again.
type replay struct {
	*app
	k *kept
	e *ledger.Entry

	standing pdf.Standing // of a file: what the ledger says of it
	source   string
	config   string
	dir      string // of the run, in the commit or the files
	library  *referee.Library
	repo     *gitstore.Repo // nil where the source is no repository
}

func (r *replay) run() error {
	if !r.e.Receipt.Audited() {
		return usagef("entry %d is of kind %q and holds no audit to replay", r.e.Receipt.Seq, r.e.Receipt.Kind)
	}
	if repo, err := gitstore.OpenRepo(r.source, ""); err == nil {
		r.repo = repo
	} else if _, err := os.Stat(r.source); err != nil {
		return usagef("--source %s: %w", r.source, err)
	}
	folder, where, done, err := r.runFolder()
	if err != nil {
		return err
	}
	defer done()
	sheet, err := r.replaySheet()
	if err != nil {
		return err
	}
	out, err := audit.Rerun(r.e.Receipt, sheet, folder, r.replayGround(),
		receipt.Prior(r.ctx, r.k, receipt.Before(r.k.at, r.e.Receipt)))
	if errors.Is(err, audit.ErrOtherSemantics) {
		return toolf("replaying receipt %d: %w", r.e.Receipt.Seq,
			err).withHint("install release %s and replay it there; `referee ledger verify` checks it here as well",
			r.e.Receipt.Engine.Version)
	}
	if err != nil {
		return toolf("replaying receipt %d: %w", r.e.Receipt.Seq, err)
	}
	return r.printReplay(out, where)
}

// runFolder finds the run folder, and says where.
func (r *replay) runFolder() (folder fs.FS, where string, done func(), err error) {
	if pull := r.e.Receipt.PullRequest; pull != nil {
		folder, where, err = r.inCommit(pull.HeadSHA)
		if err != nil {
			return nil, "", nil, toolf("pull request %d at %s: %w", pull.Number, pull.HeadSHA,
				err).withHint("git fetch origin refs/pull/%d/head brings it here, after a squash too", pull.Number)
		}
		return folder, where, func() {}, nil
	}
	root, err := os.OpenRoot(r.source)
	if err != nil {
		return nil, "", nil, toolf("opening %s: %w", r.source, err)
	}
	folder, path, err := receipt.FindRun(root.FS(), r.e.Receipt)
	if r.dir = path; err == nil {
		return folder, path, func() { root.Close() }, nil
	}
	root.Close()
	if head := r.headCommit(); head != "" && errors.Is(err, receipt.ErrNotAtHand) {
		folder, where, err = r.inCommit(head)
	}
	if err != nil {
		return nil, "", nil, toolf("%w in the files of %s or in its HEAD", err,
			r.source).withHint("--source names the repository that holds the run")
	}
	return folder, where, func() {}, nil
}

// headCommit is the commit that is checked out, "" if there is none.
func (r *replay) headCommit() string {
	if r.repo == nil {
		return ""
	}
	head, err := r.repo.Resolve("HEAD")
	if err != nil {
		return "" // an unborn or a broken HEAD holds no run
	}
	return head
}

// inCommit looks for the run in a commit's tree.
func (r *replay) inCommit(commit string) (fs.FS, string, error) {
	if r.repo == nil {
		return nil, "", fmt.Errorf("%s is not a git repository: %w", r.source, receipt.ErrNotAtHand)
	}
	tree, err := r.repo.TreeFS(r.ctx, commit)
	if err != nil {
		return nil, "", err
	}
	folder, path, err := receipt.FindRun(tree, r.e.Receipt)
	r.dir = path
	return folder, fmt.Sprintf("%s at %.12s", path, commit), err
}

// replayGround reads what else of a pull request's commits is at hand: the base by whose configuration was judged, and
// what base and head have in common.
func (r *replay) replayGround() audit.Ground {
	out, pull := audit.Ground{Dir: r.dir, Config: r.config}, r.e.Receipt.PullRequest
	if pull == nil || r.repo == nil {
		return out
	}
	if base, err := r.repo.TreeFS(r.ctx, pull.BaseSHA); err == nil {
		out.Base = base
	}
	if id, ok, err := r.repo.MergeBase(r.ctx, pull.BaseSHA, pull.HeadSHA); ok && err == nil {
		if fork, err := r.repo.TreeFS(r.ctx, id); err == nil {
			out.Fork = fork
		}
	}
	return out
}

// replaySheet finds the rulebook by its hash: the active one, the ledger's, or the repository's of another time.
func (r *replay) replaySheet() (*referee.Sheet, error) {
	want := r.e.Receipt.FlightSheet
	if sheet, err := r.library.Find(want.Slug); err == nil && sheet.SHA256 == want.SHA256 {
		return sheet, nil
	}
	sheet, err := receipt.KeptSheet(r.ctx, r.k, r.k.at, r.e.Receipt)
	if err != nil {
		return nil, toolf("reading the ledger's sheet: %w", err)
	}
	if sheet == nil {
		sheet = r.oldSheet()
	}
	if sheet == nil {
		return nil, toolf("the flight sheet %s@%s (%.12s…) was not found: not in the library, not in the ledger, "+
			"and not in the history of %s", want.Slug, want.Version, want.SHA256, r.source)
	}
	return sheet, nil
}

// maxHistory bounds how far back a sheet is looked for.
const maxHistory = 10_000

// oldSheet looks for the sheet in the base of the pull request, and back along the history.
func (r *replay) oldSheet() *referee.Sheet {
	if r.repo == nil {
		return nil
	}
	_, shadows := flightsheets.Read(r.e.Receipt.FlightSheet.Slug)
	starts := []string{r.headCommit()}
	if pull := r.e.Receipt.PullRequest; pull != nil {
		starts = append(starts, pull.BaseSHA)
	}
	for _, from := range starts {
		n := 0
		for c, err := range r.repo.Commits(r.ctx, from) {
			if n++; err != nil || n > maxHistory {
				break
			}
			tree, err := r.repo.TreeFS(r.ctx, c.ID)
			if err != nil {
				break
			}
			if sheet := receipt.TreeSheet(tree, sheetsDir, r.e.Receipt, shadows); sheet != nil {
				return sheet
			}
		}
	}
	return nil
}

// replayWord is the outcome in a few words.
func replayWord(out *audit.Replay) string {
	switch {
	case !out.Same:
		return "DIFFERS"
	case out.Engine != "":
		return "derived again: the same findings and verdict, another engine"
	}
	return "derived again: the same"
}

// printReplay says whether the receipt was reached again.
func (r *replay) printReplay(out *audit.Replay, where string) error {
	p := &page{}
	p.line("receipt %d  %s  %s", r.e.Receipt.Seq, r.e.Receipt.ID, replayWord(out))
	p.writeEntry("run", receiptColumn, where)
	p.writeEntry("sheet", receiptColumn, r.e.Receipt.FlightSheet.Slug+"@"+r.e.Receipt.FlightSheet.Version)
	p.writeEntry("recorded", receiptColumn, out.Want)
	p.writeEntry("now", receiptColumn, out.Got)
	if out.Engine != "" {
		p.writeEntry("engine", receiptColumn, out.Engine)
	}
	for _, change := range out.Changed {
		p.text("  - ", change)
	}
	for _, word := range out.Word {
		p.text("  at the receipt's word: ", word)
	}
	// the audit may be derived again, and the approval still be somebody's invention
	for _, why := range r.standing.Fails {
		p.text("NOT VERIFIED  ", why)
	}
	if err := r.print(p.b.String()); err != nil || out.Same && r.standing.InLedger {
		return err
	}
	return &failure{code: exitRules}
}
