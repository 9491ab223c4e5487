package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// auditOptions are the flags of referee audit.
type auditOptions struct {
	sheet, format, out, failOn, explain, dir, shard, input string
	samples, gold                                          string
	limit                                                  referee.Threshold // failOn, read
	jobs                                                   int
	atoms, verbose                                         bool
	part                                                   part
	ledger                                                 *ledgerFlags
	prior                                                  referee.PriorFunc
	params                                                 *paramFlags
}

const auditLong = `A PATH is a run folder (it holds run.json), a folder of run folders, a bare
submission (.json), a file of submissions, one a line (.jsonl), or - for
standard input. A bare submission is judged by --sheet, or by the flight sheet
that its assignment_id names; standard error then says which one that was.

Results are the same bytes for the same input, whatever --jobs is. Exit codes:
0 nothing at or above --fail-on; 1 a finding there, a high rule that nobody
could decide, a run without its submission, or nothing to audit; 2 a run.json,
sheet or flag that is not understood; 3 the tool failed or was interrupted. All
other submissions are audited and reported all the same; the highest code wins.

--samples joins a file of records with the samples that were asked, by their
ids: the sample is the evidence of its record, and the right answer of --gold
is too. A record of no sample, a second answer of one model, and a sample that
a model left out are refused. Without gold a record has no error score.

--shard I/N audits every N-th submission, counted from the I-th over all PATHs,
for a job matrix. Interleaving the parts gives the bytes of the whole:
  paste -d '\n' part-1.json part-2.json | grep .`

func auditCommand() *command {
	c := newCommand("audit", "PATH…", "audit agents' submissions by their flight sheets", -1)
	c.long = auditLong
	c.examples = []string{
		"referee audit runs/oak-street",
		"referee audit runs --format sarif --out findings.sarif",
		"referee audit memo.json --sheet cre-multifamily-agency",
		"referee audit batch.jsonl --sheet math-steps --format json > reports.jsonl",
		"referee audit out.jsonl --sheet fly-s1-next-second --samples pairs.jsonl",
		"referee audit runs/elm-plaza --explain dscr_gate",
		"referee audit runs/serving --param slo_p99_ms=300",
		"cat memo.json | referee audit - --sheet cre-multifamily-agency --fail-on mid",
	}
	o := &auditOptions{}
	f := c.flags
	f.StringVar(&o.sheet, "sheet", "", "flight `SHEET` to judge by: slug, slug@version or slug@^1.2")
	c.choiceFlag(&o.format, "format", "table", "`FORMAT` of the result", report.Formats())
	f.StringVar(&o.out, "out", "", "write the result to `FILE`; the table stays on the terminal")
	c.choiceFlag(&o.failOn, "fail-on", "high", "lightest `TIER` that makes the exit code 1", referee.ThresholdNames())
	f.StringVar(&o.explain, "explain", "", "print the proof of `RULE`: each operand, its value, where it came from")
	f.BoolVar(&o.atoms, "atoms", false, "keep every verified fact in the json, not only the cited ones")
	f.BoolVar(&o.verbose, "verbose", false, "show every check, derived values and advisory files")
	f.IntVar(&o.jobs, "jobs", 0, "audit `N` submissions at a time (default: one per processor)")
	f.StringVar(&o.shard, "shard", "", "audit only part `I/N` of the submissions")
	c.choiceFlag(&o.input, "input", "auto", "`KIND` of standard input", []string{"auto", "json", "jsonl"})
	f.StringVar(&o.samples, "samples", "", "join records with the samples in `FILE`, one a line, by id")
	f.StringVar(&o.gold, "gold", "", "the right answers in `FILE`, one a line, by id of the sample")
	o.ledger = &ledgerFlags{}
	f.StringVar(&o.ledger.repo, "ledger", "", "git `REPO` whose ledger holds the receipts that a submission names")
	o.ledger.placeFlags(f)
	o.params = paramsFlag(f)
	dir := sheetsFlag(f)
	c.run = func(a *app, args []string) error {
		o.dir = *dir
		return o.auditPaths(a, args)
	}
	return c
}

// auditPaths checks the request whole before anything is read or written, then audits.
func (o *auditOptions) auditPaths(a *app, paths []string) error {
	if err := o.checkFlags(paths); err != nil {
		return err
	}
	if o.samples == "" { // a batch of samples stays below 100 MB this way
		defer debug.SetGCPercent(a.collectLess())
	}
	library, err := a.openLibrary(o.dir)
	if err != nil {
		return err
	}
	au := &auditor{app: a, options: o, library: library, chosen: map[string]int{}, unproved: map[string]bool{}}
	if err := au.chooseSheet(); err != nil {
		return err
	}
	if au.batch, err = au.newBatch(); err != nil {
		return err
	}
	if au.sources, err = sourcesOf(paths); err != nil {
		return err
	}
	if au.papers, err = o.newPapers(a, func() { au.bar.clearBar() }); err != nil {
		return err
	}
	defer au.papers.abandonPapers()
	if o.ledger.repo != "" {
		k, err := a.openLedger(o.ledger)
		if err != nil {
			return err
		}
		defer k.Close()
		o.prior = receipt.Prior(a.ctx, k, k.at)
	}
	return au.run()
}

// collectLess lets the heap grow fivefold between collections, unless GOGC says otherwise, and returns what it was.
// What an audit leaves behind is a few megabytes, so that collecting it as often as Go does by default takes a third of
// the time (docs/performance.md); the process's memory limit bounds the rest. It comes before the sheets are loaded:
// one submission then ends before the first collection.
func (a *app) collectLess() int {
	const percent = 400
	if a.getenv("GOGC") != "" {
		was := debug.SetGCPercent(percent)
		debug.SetGCPercent(was)
		return was
	}
	return debug.SetGCPercent(percent)
}

// checkFlags refuses flags that cannot be meant.
func (o *auditOptions) checkFlags(paths []string) error {
	var err error
	switch {
	case len(paths) == 0:
		return usagef("audit needs a PATH").withHint("name a run folder, a submission (.json), a file of submissions " +
			"(.jsonl), or - for standard input")
	case o.jobs < 0 || o.jobs > maxJobs:
		return usagef("--jobs must be between 1 and %d, not %d", maxJobs, o.jobs)
	case o.out == "-":
		return usagef("--out needs a file name").withHint("omit it for standard output")
	case o.explain != "" && o.format != "table" && o.out == "":
		return usagef("--explain prints its proof in the table; --format %s has no table",
			o.format).withHint("leave --format out, or send it to a file with --out")
	}
	if o.limit, err = thresholdFlag(o.failOn); err != nil {
		return err
	}
	if o.jobs == 0 {
		o.jobs = min(runtime.GOMAXPROCS(0), maxJobs)
	}
	if o.part, err = parsePart(o.shard); err != nil {
		return err
	}
	return o.params.checkSyntax()
}

const maxJobs = 256

// part is one of n parts of the submissions; the zero part is all of them.
type part struct{ index, of int }

// parsePart reads "2/5".
func parsePart(s string) (part, error) {
	if s == "" {
		return part{}, nil
	}
	left, right, _ := strings.Cut(s, "/")
	i, errI := strconv.Atoi(left)
	n, errN := strconv.Atoi(right)
	if errI != nil || errN != nil || i < 1 || i > n || fmt.Sprintf("%d/%d", i, n) != s {
		return part{}, usagef("--shard %q must be I/N with I from 1 to N, such as 2/5", s)
	}
	return part{i, n}, nil
}

// hasPosition reports whether the submission at this position, counted from 0, belongs to the part.
func (p part) hasPosition(position int) bool { return p.of == 0 || position%p.of == p.index-1 }

// thresholdFlag reads --fail-on.
func thresholdFlag(word string) (referee.Threshold, error) {
	limit, err := referee.ParseThreshold(word)
	if err != nil {
		return limit, unknownWord("--fail-on", word, referee.ThresholdNames())
	}
	return limit, nil
}
