package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/testdata"
)

const demoLong = `DIR, which is absent or empty (a new temporary folder otherwise), becomes a git
work tree with four sample runs of one agent, and a ledger on its branch
"ledger". The runs are audited; the sign-off is tried on each: two are signed,
two are refused, and it says why. Receipts are minted and verified, and papers
are left to look at. Nothing is sent anywhere, and git is not needed.`

func demoCommand() *command {
	c := newCommand("demo", "[DIR]", "from an assignment to a verified receipt, on sample runs", 1)
	c.long = demoLong
	c.examples = []string{"referee demo", "referee demo /tmp/oak", "referee demo --all"}
	all := c.flags.Bool("all", false, "go on: a training run with lift and one without, a lane lock, a "+
		"spend\nbreach and a rogue agent, each standing on the receipts before")
	c.run = func(a *app, args []string) error {
		dir, err := demoFolder(args)
		if err != nil {
			return err
		}
		d := &demo{app: a, dir: dir, at: demoTime(a.now()), next: 7, sheets: referee.NewLibrary(flightsheets.FS(), nil,
			"")}
		return d.playStages(*all)
	}
	return c
}

// demoFolder is DIR, or a new folder; one that holds anything is refused before anything is written.
func demoFolder(args []string) (string, error) {
	if len(args) == 0 {
		dir, err := os.MkdirTemp("", "referee-demo-")
		if err != nil {
			return "", toolf("making a folder: %w", err)
		}
		return dir, nil
	}
	entries, err := os.ReadDir(args[0])
	switch {
	case err == nil && len(entries) > 0:
		return "", usagef("%s is not empty: refusing to overwrite",
			args[0]).withHint("name a folder that is absent or empty, or omit it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", usagef("cannot create the demonstration in %s: %w", args[0], err)
	}
	return args[0], nil
}

// demoTime dates the sign-offs alike everywhere, so that everybody's receipts have the same hashes; unless the clock is
// before it.
func demoTime(now time.Time) time.Time { return demoTimeOf(now, demoDay) }

// demoDay is when the first of them is signed.
var demoDay = time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)

// demoTimeOf is a time of the demonstration, or now while that lies ahead.
func demoTimeOf(now, at time.Time) time.Time {
	if now.Before(at) {
		return now.UTC().Truncate(time.Second)
	}
	return at
}

// demoRuns are shown from the clean one to the broken one.
var demoRuns = []string{"oak-street", "maple-court", "river-lofts", "elm-plaza"}

// demoSigner is who signs in the demonstration.
const demoSigner = "demo-reviewer"

// demo is the state that goes from stage to stage.
type demo struct {
	*app
	dir    string
	at     time.Time
	sheets *referee.Library
	store  *gitstore.Store
	work   []receipt.Work
	minted []*ledger.Entry
	next   int // the number of the verification: it comes after everything that was minted
}

// playStages does one stage after the other; each prints what it did before the next begins.
func (d *demo) playStages(all bool) error {
	stages := []func() error{d.beginWorktree, d.judgeAll, d.showAssignment, d.showRuns, d.showSubmissions, d.showAudits,
		d.signOffs, d.showReceipts,
		d.verifyLedger}
	if all {
		stages = append(stages, d.enterRejections, d.signOperations, d.verifyLedger)
	}
	for _, stage := range append(stages, d.writePapers) {
		if err := stage(); err != nil {
			return err
		}
	}
	return nil
}

// beginWorktree makes the work tree.
func (d *demo) beginWorktree() error {
	err := initWorktree(d.dir, testdata.Runs(), firstCommit{branch: "main", who: "referee demo <referee@localhost>",
		when: d.at, message: "Four sample runs\n"})
	if err != nil {
		return toolf("making the work tree in %s: %w", d.dir, err)
	}
	if d.store, err = gitstore.Open(d.dir, gitstore.Options{Now: d.now}); err != nil {
		return toolf("%w", err)
	}
	return d.print("From an assignment to a receipt that anyone can verify, in seven stages.\nFolder: " + d.dir + "\n")
}

// judgeAll audits the runs by the library's own sheets, whatever sheets lie about here.
func (d *demo) judgeAll() error {
	for _, name := range demoRuns {
		w, err := d.judgeRun(name, nil)
		if err != nil {
			return toolf("auditing the sample run %s: %w", name, err)
		}
		d.work = append(d.work, w)
	}
	return nil
}

func (d *demo) judgeRun(name string, prior referee.PriorFunc) (receipt.Work, error) {
	root, err := os.OpenRoot(filepath.Join(d.dir, "runs", name))
	if err != nil {
		return receipt.Work{}, err
	}
	defer root.Close()
	folder, err := referee.OpenRun(root.FS())
	if err != nil {
		return receipt.Work{}, err
	}
	sheet, err := d.sheets.Find(folder.Run.Sheet)
	if err != nil {
		return receipt.Work{}, err
	}
	if sheet, err = demoParams().sheetWith(sheet, false); err != nil {
		return receipt.Work{}, err
	}
	return receipt.Judge(folder, sheet, path.Join("runs", name), prior), nil
}

// signOff tries to sign one run off: every question is answered with yes.
func (d *demo) signOff(w receipt.Work, waivers ...ledger.Waiver) (*ledger.Entry, error) {
	l := receipt.Local{Name: demoSigner, At: d.at, Waivers: waivers}
	open, err := w.Open(nil)
	if err != nil {
		return nil, err
	}
	for _, q := range open {
		l.Answers = append(l.Answers, ledger.Answer{ID: q.ID, Answer: "satisfied"})
	}
	return d.enterReceipt(w, l)
}

// enterReceipt puts a decision into the ledger.
func (d *demo) enterReceipt(w receipt.Work, l receipt.Local) (*ledger.Entry, error) {
	place := receipt.Place{Repository: ledger.Repository{Name: "demo"}}
	entry, _, err := l.SignOff(d.ctx, d.store, w, place, receipt.Policy{FailOn: referee.FailOnHigh,
		Accept: "deal-finding"}, ledgerPapers())
	return entry, err
}
