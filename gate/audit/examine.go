package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// AuditedRun is one run folder of a pull request after its audit. Refused is set, and Work nil, where it could not be
// audited: that is a failure, never a pass.
type AuditedRun struct {
	Dir     string
	Work    *receipt.Work
	Chosen  bool   // the pull request chose its sheet: the configuration says "*"
	Refused string // why it could not be audited
	// earlier audited heads of this run that failed: after two, a human decides (gate.md, the revision loop)
	Failed  int
	Notices []string
}

// MaxPullWork is what the audits of one pull request may take together, in units of decimal.Meter: about a minute. One
// audit may take a twelfth of it (S81), and an ordinary one takes less than a thousandth.
const MaxPullWork = 240_000_000

// Examine audits a planned run of the head tree by the base's rulebooks: run.json names a sheet, and the configuration
// says which may judge this path, in which lane. Where the configuration pins the agent, its profile is the one that
// counts.
func Examine(
	head fs.FS,
	run PlannedRun,
	library *referee.Library,
	cfg *config.Config,
	prior referee.PriorFunc,
) AuditedRun {
	return ExamineWithin(head, run, library, cfg, prior, nil)
}

// ExamineWithin is Examine for one of several runs that have a budget together; nil is no such budget.
func ExamineWithin(
	head fs.FS,
	run PlannedRun,
	library *referee.Library,
	cfg *config.Config,
	prior referee.PriorFunc,
	together *decimal.Meter,
) AuditedRun {
	a := AuditedRun{Dir: run.Dir}
	tree, err := fs.Sub(head, run.Dir)
	if err != nil {
		a.Refused = err.Error()
		return a
	}
	folder, err := referee.OpenRun(WithLinks(head, tree, run.Dir))
	if err != nil {
		a.Refused = ExplainRefusal(err)
		return a
	}
	sheet, why := chooseSheet(folder.Run, run.Rule, library)
	if why != "" {
		a.Refused = why
		return a
	}
	if sheet, err = setParams(sheet, run.Rule, library); err != nil {
		a.Refused = err.Error()
		return a
	}
	a.Chosen = slices.Contains(run.Rule.Sheets, "*")
	if path.Base(run.Dir) != folder.Run.ID {
		a.Refused = fmt.Sprintf(
			"run.json says id %q in a folder named %q: they must be the same",
			folder.Run.ID,
			path.Base(run.Dir),
		)
		return a
	}
	if name := findPointer(WithLinks(head, tree, run.Dir), folder); name != "" {
		a.Refused = name + " is a Git LFS pointer: the file itself is not in git, so it can be " +
			"neither judged nor hashed; commit it as a plain file"
		return a
	}
	c := folder.Case(sheet, config.PinnedProfile(cfg, folder.Run.Agent.Name))
	c.Prior, c.Location, c.Together = prior, run.Dir, together
	a.Work = &receipt.Work{Report: referee.Audit(c), Sheet: sheet, Run: folder.Run, Bytes: folder.Bytes,
		Prior: c.Prior}
	return a
}

// pointer is how a pointer of Git LFS begins; it has no more than a thousand bytes.
var pointer = []byte("version https://git-lfs.github.com/spec/")

// findPointer names the first file of a run, submission or evidence, that is a pointer of a large-file storage; "" if
// none is.
func findPointer(tree fs.FS, folder *referee.RunFolder) string {
	if bytes.HasPrefix(folder.Bytes, pointer) {
		return folder.Run.Submission
	}
	for _, e := range folder.Run.Evidence {
		if e.Path == "" {
			continue
		}
		if b, err := referee.ReadFile(tree, e.Path, int64(len(pointer))); err == nil && bytes.Equal(b, pointer) {
			return e.Path
		}
	}
	return ""
}

// ExplainRefusal words what is wrong with a run folder for somebody who has to mend it.
func ExplainRefusal(err error) string {
	var refused *referee.RefusedError
	switch {
	case errors.As(err, &refused):
		return "run.json is refused: " + refused.Problems[0].String()
	case errors.Is(err, fs.ErrNotExist):
		return "a file is missing: " + err.Error()
	case errors.Is(err, referee.ErrNotRegular):
		return err.Error() + "; a run may hold only plain files"
	}
	return err.Error()
}

// chooseSheet finds the sheet that may judge a run: the one run.json names, if the rule for its path allows it, in its
// lane.
func chooseSheet(run *referee.Run, rule config.RunRule, library *referee.Library) (*referee.Sheet, string) {
	slug, version := referee.SplitSheet(run.Sheet)
	sheet, err := library.Find(run.Sheet)
	if err != nil {
		return nil, "run.json names a rulebook that cannot be used: " + err.Error()
	}
	switch {
	case !allowsSheet(rule.Sheets, sheet):
		return nil, fmt.Sprintf(
			"run.json names the sheet %s; the configuration lets %v judge %s",
			slug,
			rule.Sheets,
			rule.Path,
		)
	case version != "" && !referee.VersionIn(sheet.Version, version):
		return nil, fmt.Sprintf("run.json names %s@%s; the active version is %s", slug, version, sheet.Version)
	case run.Lane != sheet.Lane:
		return nil, fmt.Sprintf("run.json says lane %q; the sheet %s judges lane %q", run.Lane, slug, sheet.Lane)
	case rule.Lane != "" && rule.Lane != sheet.Lane:
		return nil, fmt.Sprintf(
			"the sheet %s judges lane %q; the configuration accepts only lane %q at %s",
			slug,
			sheet.Lane,
			rule.Lane,
			rule.Path,
		)
	}
	return sheet, ""
}

// allowsSheet holds a sheet to the configuration's list of slugs, slug@range, or "*".
func allowsSheet(list []string, sheet *referee.Sheet) bool {
	for _, entry := range list {
		slug, version := referee.SplitSheet(entry)
		if entry == "*" || slug == sheet.Slug && referee.VersionIn(sheet.Version, version) {
			return true
		}
	}
	return false
}
