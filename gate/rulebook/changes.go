package rulebook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Tools are what the forge does with a sheet. The command gives them: the gate decides by sheets and does not make
// them.
type Tools struct {
	// Lint is what `referee sheet lint` says of a sheet that loads, without what its examples gave: that is Test's.
	Lint func(*referee.Sheet) (problems, warnings []string)
	// Test runs the sheet's examples and trips. summary says what held, "" where there are none.
	Test func(*referee.Sheet) (summary string, failures []string)
	// Turned says what becomes of a submission's verdict from one version to the next, "" where it stays.
	Turned func(where string, c referee.Case, before, after *referee.Sheet) string
}

// StoredRun is a receipt that is live on the ledger, with its run folder as it stands on base (FindRun).
type StoredRun struct {
	Receipt *ledger.Receipt
	Folder  fs.FS
	Where   string
}

// Bounds on what a pull request's sheets may ask of the gate.
const (
	maxRulebookFiles = 2000    // files of the folder
	maxRulebooks     = 200     // changed sheets
	maxRulebookBytes = 8 << 20 // of them together
	maxTurnedAsked   = 500     // stored runs asked, for each sheet
	maxTurnedNamed   = 50
	maxTurnedWork    = 80_000_000 // units of decimal.Meter for all stored runs, about 20 s
	maxProblemsNamed = 20
)

var sheetFile = pattern.New(`\A[a-z][a-z0-9]*(-[a-z0-9]+)*\.json\z`)

// Changes says what the sheets and the configuration of a pull request would mean: the configuration first, then sheets
// by name. They judge nothing in it (gate.md, fact 6). base and head are its trees, cfg the configuration in force,
// embedded the library's sheets, stored the receipts whose verdicts a new sheet may turn.
//
// A file that is no sheet, does not load, is refused by the lint or fails its own examples is a Problem, which fails
// the audit check: what judges next must not be broken. Only SLUG.json in the folder of the sheets itself is one; other
// files and folders there judge nothing and are passed over, but no symlink or submodule under such a name is.
func Changes(base, head fs.FS, cfg *config.Config, embedded fs.FS, tools Tools, stored []StoredRun) []Change {
	var out []Change
	then := cfg
	if audit.ContentIdentity(base, config.Path) != audit.ContentIdentity(head, config.Path) {
		change, parsed := configChange(head, cfg)
		out = append(out, change)
		then = cmp.Or(parsed, cfg)
	}
	r := &sheetComparer{work: decimal.Meter{Most: maxTurnedWork}, base: cfg, cfg: then, tools: tools, stored: stored,
		embedded: embedded,
		before:   sheetFolder{tree: base, dir: cfg.Sheets}, after: sheetFolder{tree: head, dir: then.Sheets}}
	return append(out, r.listChanges()...)
}

// sheetComparer compares the sheets of two trees.
type sheetComparer struct {
	base, cfg     *config.Config // in force, and as the pull request leaves it
	tools         Tools
	stored        []StoredRun
	embedded      fs.FS
	before, after sheetFolder
	bytes         int64
	work          decimal.Meter // of asking stored runs
}

// sheetFolder is where a tree keeps sheets.
type sheetFolder struct {
	tree fs.FS
	dir  string
}

// libraryOf finds the sheets that judge by this folder.
func (f sheetFolder) libraryOf(embedded fs.FS) *referee.Library {
	sub, err := fs.Sub(f.tree, f.dir)
	if err != nil {
		return referee.NewLibrary(embedded, nil, f.dir) // no such folder can be
	}
	return referee.NewLibrary(embedded, audit.WithLinks(f.tree, sub, f.dir), f.dir)
}

// listSheets lists the folder's own sheets and what stands in their place. A folder that is not there has none.
func (f sheetFolder) listSheets() (map[string]fs.DirEntry, error) {
	if err := f.refuseUnreachable(); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(f.tree, f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the folder cannot be read: %w", err)
	case len(list) > maxRulebookFiles:
		return nil, fmt.Errorf("the folder holds %d files; at most %d are read", len(list), maxRulebookFiles)
	}
	out := map[string]fs.DirEntry{}
	for _, e := range list {
		if strings.HasSuffix(strings.ToLower(e.Name()), ".json") {
			out[e.Name()] = e
		}
	}
	return out, nil
}

// refuseUnreachable refuses a folder that stands behind a link, or is none.
func (f sheetFolder) refuseUnreachable() error {
	if !fs.ValidPath(f.dir) {
		return fmt.Errorf("flight_sheets %q is not the path of a folder: write it with single slashes and no dots",
			f.dir)
	}
	for i := range len(f.dir) + 1 {
		if i < len(f.dir) && f.dir[i] != '/' {
			continue
		}
		info, err := audit.Lstat(f.tree, f.dir[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", f.dir[:i], err)
		case !info.IsDir():
			return fmt.Errorf("%s is %s; sheets must be in a plain folder", f.dir[:i], whatIs(info.Mode()))
		}
	}
	return nil
}

// whatIs names what stands where a plain file or folder should.
func whatIs(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symlink"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	}
	return "a submodule or a special file"
}

// listChanges lists the sheets that differ.
func (r *sheetComparer) listChanges() []Change {
	then, err := r.after.listSheets()
	if err != nil {
		return []Change{{Path: r.after.dir, Problems: []string{err.Error()}}}
	}
	now, _ := r.before.listSheets() // what base has and nobody can read was nobody's rulebook
	var names []string
	for name, e := range then {
		if now[name] == nil || r.sheetIdentity(r.before, name, now[name]) != r.sheetIdentity(r.after, name, e) {
			names = append(names, name)
		}
	}
	for name := range now {
		if then[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > maxRulebooks {
		return []Change{
			{
				Path: r.after.dir,
				Problems: []string{
					fmt.Sprintf(
						"%d sheets change; at most %d are compared: split the pull request",
						len(names),
						maxRulebooks,
					),
				},
			},
		}
	}
	before, after := r.before.libraryOf(r.embedded), r.after.libraryOf(r.embedded)
	var out []Change
	for _, name := range names {
		out = append(out, r.describeChange(name, then[name], before, after))
	}
	return out
}

// sheetIdentity is identityOf, for names too that no tree can be asked for.
func (r *sheetComparer) sheetIdentity(f sheetFolder, name string, e fs.DirEntry) string {
	if at := path.Join(f.dir, name); fs.ValidPath(at) {
		return audit.ContentIdentity(f.tree, at)
	}
	return "unreadable " + e.Type().String()
}

// describeChange looks at one sheet. e is its entry in the head, nil where it is removed.
func (r *sheetComparer) describeChange(name string, e fs.DirEntry, before, after *referee.Library) Change {
	c := Change{Path: path.Join(r.after.dir, strings.ToValidUTF8(name, "\ufffd"))}
	if e != nil {
		if why := r.whyNoSheet(name, e); why != "" {
			c.Problems = []string{why}
			return c
		}
	}
	slug := strings.TrimSuffix(name, ".json")
	was, wasErr := before.Find(slug)
	is, err := after.Find(slug)
	if wasErr != nil && !errors.Is(wasErr, referee.ErrNoSheet) {
		c.Warnings = append(c.Warnings, "the sheet on base does not load, so the change cannot be compared")
	}
	switch {
	case e == nil && err != nil:
		c.noteRemoved(was, r.stored, slug)
		return c
	case err != nil:
		c.Problems = problemsOf(err)
		return c
	}
	c.Sheet = is.Slug + "@" + is.Version
	if e == nil {
		c.Warnings = append(c.Warnings, "removed: the library's sheet "+c.Sheet+" judges instead")
	} else {
		r.lintAndTest(&c, is)
	}
	r.compareVerdicts(&c, was, is)
	return c
}

// whyNoSheet says why an entry under the name of a sheet is none, or cannot be looked at.
func (r *sheetComparer) whyNoSheet(name string, e fs.DirEntry) string {
	switch {
	case !utf8.ValidString(name):
		return fmt.Sprintf("the name %q is not UTF-8", name)
	case !e.Type().IsRegular():
		return fmt.Sprintf("%s is %s; a sheet must be a plain file", name, whatIs(e.Type()))
	case !sheetFile.MatchString(name):
		return fmt.Sprintf("%q is not the name of a sheet: use SLUG.json, in lower-case letters, digits and dashes",
			name)
	}
	info, err := e.Info()
	if err != nil {
		return "it cannot be read: " + err.Error()
	}
	if limit := ledger.SheetFile.MaxBytes(); info.Size() > limit {
		return fmt.Sprintf("it has %d bytes; a sheet has at most %d", info.Size(), limit)
	}
	if r.bytes += info.Size(); r.bytes > maxRulebookBytes {
		return fmt.Sprintf(
			"the changed sheets up to here have %d bytes; at most %d are looked at: split the pull request",
			r.bytes,
			maxRulebookBytes,
		)
	}
	return ""
}

// problemsOf lists why a sheet is refused, each with its place.
func problemsOf(err error) []string {
	var refused *referee.RefusedError
	if !errors.As(err, &refused) {
		return []string{err.Error()}
	}
	var out []string
	for _, p := range refused.Problems {
		out = append(out, p.String())
	}
	return firstAndCount(out, maxProblemsNamed)
}

// lintAndTest lints and tests a sheet of the head.
func (r *sheetComparer) lintAndTest(c *Change, sheet *referee.Sheet) {
	problems, warnings := r.tools.Lint(sheet)
	tested, failures := r.tools.Test(sheet)
	c.Tested = tested
	c.Problems = firstAndCount(append(slices.Clone(problems), failures...), maxProblemsNamed)
	c.Warnings = append(c.Warnings, firstAndCount(slices.Clone(warnings), maxProblemsNamed)...)
	if tested == "" && len(failures) == 0 {
		c.Warnings = append(c.Warnings, "it has no example: nothing shows that it judges as described")
	}
	if sheet.Shadows {
		c.Warnings = append(c.Warnings, "it replaces the library's sheet of the same slug")
	}
	for _, rule := range r.cfg.Runs {
		for _, entry := range rule.Sheets {
			if slug, version := referee.SplitSheet(entry); slug == sheet.Slug &&
				!referee.VersionIn(sheet.Version, version) {
				c.Warnings = append(
					c.Warnings,
					fmt.Sprintf("the configuration lets %s judge %s; version %s does not fit", entry, rule.Path,
						sheet.Version),
				)
			}
		}
	}
}

// compareVerdicts says what becomes of stored verdicts.
func (r *sheetComparer) compareVerdicts(c *Change, was, is *referee.Sheet) {
	if was == nil || was.SHA256 == is.SHA256 {
		return
	}
	if was.Version == is.Version {
		c.Warnings = append(
			c.Warnings,
			fmt.Sprintf("the content changes but the version is still %s: change the version (S54)", is.Version),
		)
	}
	asked := 0
	for _, s := range r.stored {
		if s.Receipt.FlightSheet.Slug != is.Slug {
			continue
		}
		if asked++; asked > maxTurnedAsked {
			continue
		}
		said := r.askBothVersions(s, was, is)
		if r.work.Exhausted() { // an audit that was cut short says nothing
			c.Problems = append(c.Problems, fmt.Sprintf("%s: the stored runs take more than %d steps together, "+
				"and from here on none could be compared: change fewer sheets at once", s.Where, r.work.Most))
			break
		}
		if said != "" {
			c.Turned = append(c.Turned, said)
		}
	}
	c.Turned = firstAndCount(c.Turned, maxTurnedNamed)
	if asked > maxTurnedAsked {
		c.Warnings = append(
			c.Warnings,
			fmt.Sprintf("%d of %d stored runs of this sheet were compared", maxTurnedAsked, asked),
		)
	}
}

// limited is a sheet with the limits that a configuration sets for the runs of a folder.
func limited(cfg *config.Config, folder string, sheet *referee.Sheet) (*referee.Sheet, error) {
	i := slices.IndexFunc(cfg.Runs, func(rule config.RunRule) bool {
		return config.CompilePattern(rule.Path).MatchString(folder + "/run.json")
	})
	if i < 0 {
		return audit.WithLimits(sheet, config.RunRule{})
	}
	return audit.WithLimits(sheet, cfg.Runs[i])
}

// askBothVersions asks both versions, each under the limits that the configuration beside it sets, about a stored run.
func (r *sheetComparer) askBothVersions(s StoredRun, was, is *referee.Sheet) string {
	folder, err := referee.OpenRun(s.Folder)
	if err != nil {
		return fmt.Sprintf("%s: cannot be read, so its outcome is unknown: %s", s.Where, audit.ExplainRefusal(err))
	}
	if was, err = limited(r.base, s.Where, was); err == nil {
		is, err = limited(r.cfg, s.Where, is)
	}
	if err != nil {
		return fmt.Sprintf("%s: cannot be compared, so its outcome is unknown: %v", s.Where, err)
	}
	c := folder.Case(was, receipt.PinnedProfile(s.Receipt.Agent))
	c.Location, c.Together = s.Where, &r.work
	return r.tools.Turned(s.Where, c, was, is)
}

// noteRemoved says that a slug names no sheet any more.
func (c *Change) noteRemoved(was *referee.Sheet, stored []StoredRun, slug string) {
	c.Warnings = append(c.Warnings, "removed: no sheet has this slug any more, so a run that names it cannot be "+
		"audited")
	if was != nil {
		c.Sheet = was.Slug + "@" + was.Version
	}
	for _, s := range stored {
		if s.Receipt.FlightSheet.Slug == slug {
			c.Turned = append(c.Turned, s.Where+": no sheet would judge it")
		}
	}
	c.Turned = firstAndCount(c.Turned, maxTurnedNamed)
}

// firstAndCount keeps the first of a list and counts the others.
func firstAndCount(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}

// Change is a sheet or the configuration that a pull request edits. It judges nothing there; what it would mean is
// said.
type Change struct {
	Path     string
	Sheet    string   // slug@version, "" for the configuration or a sheet that does not load
	Problems []string // why it would be refused, or what the lint says; a problem fails the audit check
	Warnings []string
	Tested   string   // what its own examples gave: "12 examples and trips hold", "" where there are none to run
	Turned   []string // stored verdicts that it would change
}
