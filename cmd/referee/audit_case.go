package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// verdictOf is what became of one unit: a report, or an error that says why there is none.
type verdictOf struct {
	report       *referee.Report
	sheet        *referee.Sheet
	byAssignment bool // the sheet was chosen by the submission's assignment_id
	err          error
	weight       int64
	record       string    // the unit, as the user would write it
	key          recordKey // of a batch
}

// judgeUnit audits one unit. It is called by several goroutines at once.
func (au *auditor) judgeUnit(u unit) verdictOf {
	v := verdictOf{weight: u.weight, record: u.unitName()}
	if u.kind == runFolder {
		if au.batch != nil {
			v.err = usagef("%s is a run folder; --samples joins records, one a line (.jsonl)", u.path)
			return v
		}
		v.report, v.sheet, v.err = au.judgeRun(u)
		return v
	}
	if u.bytes == nil {
		if u.bytes, v.err = readBare(u.path); v.err != nil {
			return v
		}
	}
	if au.batch != nil {
		var c referee.Case
		if c, v.key, v.err = au.batch.caseOf(u); v.err == nil {
			v.sheet, v.report = c.Sheet, au.auditCase(c)
		}
		return v
	}
	v.sheet, v.byAssignment, v.err = au.sheetFor(u)
	if v.err != nil {
		return v
	}
	c := referee.Case{Sheet: v.sheet, Path: bareName(u.path), Line: u.line, Location: u.path, Bytes: u.bytes}
	v.report = au.auditCase(c)
	return v
}

// auditCase runs the audit as the flags ask.
func (au *auditor) auditCase(c referee.Case) *referee.Report {
	c.Prior = au.options.prior
	c.AllAtoms, c.Explain = au.options.atoms, au.options.explain != ""
	return referee.Audit(c)
}

// bareName is how a report names a bare submission: without the folders of this machine.
func bareName(p string) string {
	if p == "-" {
		return "stdin"
	}
	return path.Base(p)
}

func readBare(p string) ([]byte, error) {
	f, err := os.Open(filepath.FromSlash(p))
	if err != nil {
		return nil, toolf("opening %s: %w", p, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSubmission))
	if err != nil {
		return nil, toolf("reading %s: %w", p, err)
	}
	return b, nil
}

// sheetFor chooses the sheet of a bare submission: that of --sheet, else the one that its assignment_id names.
func (au *auditor) sheetFor(u unit) (sheet *referee.Sheet, byAssignment bool, err error) {
	if au.sheet != nil {
		return au.sheet, false, nil
	}
	const advice = "--sheet SLUG names the flight sheet; `referee sheet list` lists them"
	doc, err := strictjson.Parse(u.bytes, strictjson.SubmissionLimits)
	if err != nil {
		return nil, false, usagef("%s cannot be read, and --sheet is missing: %w", u.unitName(), err).withHint(advice)
	}
	slug, ok := doc.Get("assignment_id").Str()
	if !ok {
		return nil, false, usagef("%s does not name a flight sheet: assignment_id is missing", u.unitName()).withHint(advice)
	}
	sheet, err = au.library.Find(slug)
	if errors.Is(err, referee.ErrNoSheet) {
		return nil, false, usagef("%s has the assignment_id %q, but no flight sheet has that name", u.unitName(),
			slug).withHint(advice)
	}
	if err != nil {
		return nil, false, sheetError(err)
	}
	sheet, err = au.options.params.sheetWith(sheet, false)
	return sheet, true, err
}

// unitName is the unit as the user would write it.
func (u unit) unitName() string {
	if u.line > 0 {
		return lineName(u.path, u.line)
	}
	if u.path == "-" {
		return "standard input"
	}
	return u.path
}

// judgeRun audits a run folder. The folder is opened as a root: no symlink in it leads out of it.
func (au *auditor) judgeRun(u unit) (*referee.Report, *referee.Sheet, error) {
	root, err := os.OpenRoot(filepath.FromSlash(u.path))
	if err != nil {
		return nil, nil, toolf("opening the run folder %s: %w", u.path, err)
	}
	defer root.Close()
	folder, err := referee.OpenRun(root.FS())
	if err != nil {
		return nil, nil, runError(u.path, root, err)
	}
	sheet, notice, err := au.sheetOfRun(u.path, folder.Run)
	if err != nil {
		return nil, nil, err
	}
	c := folder.Case(sheet, nil)
	c.Location = u.path
	if notice != "" {
		c.Notices = append(c.Notices, notice)
	}
	return au.auditCase(c), sheet, nil
}

// runError says what is wrong with a run folder. A manifest that is not understood is configuration (2); a run without
// its submission is work that was not done (1).
func runError(dir string, root *os.Root, err error) error {
	var refused *referee.RefusedError
	var pathError *fs.PathError
	switch _, noManifest := root.Lstat("run.json"); {
	case errors.As(err, &refused):
		for i := range refused.Problems {
			refused.Problems[i].File = path.Join(dir, refused.Problems[i].File)
		}
		return usagef("the manifest of the run %s is refused\n%w", dir,
			refused).withHint("`referee run new --sheet SLUG` writes a manifest to start from")
	case errors.Is(err, fs.ErrNotExist) && noManifest == nil:
		return rulesf("the run %s has no submission: %w", dir,
			err).withHint("the agent's output belongs there, or run.json must name another file as its submission")
	case errors.Is(err, referee.ErrNotRegular), !errors.As(err, &pathError):
		return usagef("the run %s is refused: %w", dir, err)
	}
	return toolf("reading the run %s: %w", dir, err)
}

// sheetOfRun finds the sheet that the manifest names, or takes that of --sheet and says so in the report. A manifest of
// another lane than its sheet's is refused, as the gate refuses it.
func (au *auditor) sheetOfRun(dir string, run *referee.Run) (sheet *referee.Sheet, notice string, err error) {
	manifest := path.Join(dir, "run.json")
	if au.sheet != nil {
		if slug, version := referee.SplitSheet(run.Sheet); slug != au.sheet.Slug ||
			!referee.VersionIn(au.sheet.Version, version) {
			return au.sheet, "run.json names the flight sheet " + run.Sheet + "; the caller chose " + au.sheet.Slug +
				"@" + au.sheet.Version, nil
		}
		sheet = au.sheet
	} else if sheet, err = au.library.Find(run.Sheet); err != nil {
		f := &failure{}
		errors.As(sheetError(err), &f)
		f.err = prefixPlace(manifest, f.err)
		return nil, "", f
	}
	if run.Lane != sheet.Lane {
		return nil, "", usagef("%s has lane %q; the flight sheet %s judges lane %q", manifest, run.Lane, sheet.Slug,
			sheet.Lane).withHint("write %q as its lane, or name a sheet of the lane %s", sheet.Lane, run.Lane)
	}
	if sheet == au.sheet {
		return sheet, "", nil // --param is in it
	}
	if sheet, err = au.options.params.sheetWith(sheet, false); err != nil {
		f := &failure{}
		errors.As(err, &f)
		f.err = prefixPlace(manifest, f.err)
		return nil, "", f
	}
	return sheet, "", nil
}
