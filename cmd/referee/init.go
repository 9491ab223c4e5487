package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/referee"
)

// setupFiles are what init writes, with @NAME@ where something of the repository or of this build goes in.
//
//go:embed setup
var setupFiles embed.FS

// initOptions are the flags of init.
type initOptions struct {
	direct bool
	branch string
	sheet  string
	app    string // id of the GitHub App whose token the gate works with; "": the workflow's own token
}

const initLong = `DIR (default .) is the top of a repository. Written are
  .github/workflows/referee.yml          the gate
  .github/workflows/referee-review.yml   what starts it after a review
  .github/referee.yml                    the configuration: what holds anyway
  runs/example/                          a run folder for an agent to fill
What stands already is left as it is, and named. Where something cannot be
written, nothing is.

With --app the gate works as a GitHub App of yours, and the printed rulesets let
nobody else append to the ledger or make the required checks.`

func initCommand() *command {
	c := newCommand("init", "[DIR]", "write the gate's workflows, configuration and a sample run", 1)
	c.long = initLong
	c.examples = []string{"referee init", "referee init --branch trunk --sheet math-steps", "referee init --app 123456",
		"referee init --direct"}
	o := initOptions{}
	c.flags.BoolVar(&o.direct, "direct", false, "one workflow, which a pull request can edit: only\nwhere no agent "+
		"can edit workflows")
	c.flags.StringVar(&o.app, "app", "", "`APP_ID` of the GitHub App that the gate works as\n(default: the "+
		"workflow's own token)")
	c.flags.StringVar(&o.branch, "branch", "", "the default `BRANCH` (default: what git says, else main)")
	c.flags.StringVar(&o.sheet, "sheet", "cre-multifamily-agency", "flight `SHEET` of the sample run")
	c.run = func(a *app, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		return a.initRepository(dir, o)
	}
	return c
}

// initRepository writes the files and says what comes next.
func (a *app) initRepository(dir string, o initOptions) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usagef("%s cannot be set up: %w", dir, err).withHint("name the top folder of a repository")
	}
	defer root.Close()
	if top := repositoryAbove(dir); top != "" {
		return usagef("%s lies inside the repository %s: GitHub reads workflows at its top only", dir,
			top).withHint("referee init %s", top)
	}
	if o.branch == "" {
		o.branch = a.defaultBranch(root)
	}
	if !plainBranch().MatchString(o.branch) {
		return usagef("the branch name %q does not fit into a workflow: use letters, digits, dots, dashes, "+
			"underscores and slashes", o.branch).withHint("--branch names the default branch")
	}
	s, err := sampleSheet(dir, o.sheet)
	if err != nil {
		return err
	}
	pin := pinOf(versionOf(debug.ReadBuildInfo()), actionCommit)
	w := &setupWriter{root: root}
	if err := w.planFiles(filesOfSetup(o, pin), runFiles(s, path.Base(firstRun), nil)); err != nil {
		return usagef("%w", err).withHint("nothing was written; move it away, or name another DIR")
	}
	if err := w.writePlanned(); err != nil {
		return toolf("%w", err).withHint("nothing was written")
	}
	if pin.note != "" {
		a.note("%s", pin.note)
	}
	if o.direct {
		a.note("%s", directWarning)
	}
	return a.print(initPage(w, o, ledgerBranch(root)))
}

// checkFlags refuses what cannot be meant.
func (o initOptions) checkFlags() error {
	switch {
	case o.app == "":
		return nil
	case !appID().MatchString(o.app):
		return usagef("--app is %q, not the id of a GitHub App",
			o.app).withHint("the number that the App's settings page names \"App ID\", and `gh api apps/SLUG --jq .id`")
	case o.direct:
		return usagef("--app and --direct exclude each other: a pull request that edits the workflow could read the " +
			"App's key").withHint("omit --direct")
	}
	return nil
}

// appID is the id of a GitHub App; what is larger than GitHub's database has never been given away.
var appID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,11}$`) })

const directWarning = "the direct set-up runs the workflow file of the pull request itself: whoever can push a " +
	"branch here can edit the gate that judges them"

// plainBranch is a branch name that is no pattern in a workflow's filter.
var plainBranch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`) })

// firstRun is the folder of the sample run.
const firstRun = "runs/example"

// filesOfSetup is what init writes beside the sample run.
func filesOfSetup(o initOptions, pin actionPin) []newFile {
	config := newFile{config.Path, setupTemplate("config.yml", o, pin), ""}
	if o.direct {
		return []newFile{{workflowPath, setupTemplate("direct.yml", o, pin), ""}, config}
	}
	return []newFile{{workflowPath, setupTemplate("referee.yml", o, pin), ""},
		{reviewPath, setupTemplate("referee-review.yml", o, pin), ""}, config}
}

const (
	workflowPath = ".github/workflows/referee.yml"
	reviewPath   = ".github/workflows/referee-review.yml"
)

// setupTemplate is one embedded file with what belongs to the repository and the build in its places.
func setupTemplate(name string, o initOptions, pin actionPin) string {
	text, err := setupFiles.ReadFile("setup/" + name)
	if err != nil {
		panic(err) // a file of this program's own
	}
	return strings.NewReplacer("@BRANCH@", quoteJSON(o.branch), "@ACTION@", pin.uses, "@APP_ID@",
		o.app).Replace(o.chooseLines(string(text)))
}

// chooseLines keeps the lines of a template that are for every set-up, and of those marked for one kind of token the
// ones of this set-up.
func (o initOptions) chooseLines(text string) string {
	keep, leave := "@PLAIN@", "@APP@"
	if o.app != "" {
		keep, leave = leave, keep
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, leave) {
			b.WriteString(strings.TrimPrefix(line, keep))
		}
	}
	return b.String()
}

// sampleSheet is the rulebook of the sample run: of the repository, or of the library.
func sampleSheet(dir, name string) (*referee.Sheet, error) {
	var own fs.FS
	if info, err := os.Stat(filepath.Join(dir, sheetsDir)); err == nil && info.IsDir() {
		own = os.DirFS(filepath.Join(dir, sheetsDir))
	}
	s, err := referee.NewLibrary(flightsheets.FS(), own, sheetsDir).Find(name)
	if err != nil {
		return nil, sheetError(err)
	}
	return s, nil
}

// ledgerBranch is what the configuration in place says, which need not be the one that init would have written.
func ledgerBranch(root *os.Root) string {
	if src, err := root.ReadFile(filepath.FromSlash(config.Path)); err == nil {
		if cfg, err := config.Parse(src, config.Path); err == nil {
			return cfg.Ledger.Branch
		}
	}
	return config.Default().Ledger.Branch
}

// actionCommit is the commit of the release that this build belongs to, set by the linker; what the build recorded, if
// it is "".
var actionCommit string

// actionPin is how a workflow names the action, and what is to be said where that is not the best.
type actionPin struct{ uses, note string }

const (
	actionName = "defendableos/referee"
	newestTag  = "v1" // what a build without a version names
)

var (
	releaseVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+)$`) })
	commitID       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })
)

// pinOf is the action at this build's own commit: a tag can be moved, a commit cannot.
func pinOf(v versionInfo, commit string) actionPin {
	if commit == "" {
		commit = v.Commit
	}
	m := releaseVersion().FindStringSubmatch(v.Version)
	switch {
	case m == nil:
		return actionPin{actionName + "@" + newestTag, fmt.Sprintf("this is a development build (%s): the workflow "+
			"names the action by the tag %s; name a release's commit instead", v.Version, newestTag)}
	case !commitID().MatchString(commit):
		tag := "v" + m[1]
		return actionPin{actionName + "@" + tag, fmt.Sprintf("this build does not know its commit: the workflow "+
			"names the action by the tag %s; name the commit instead: gh api repos/%s/commits/%s --jq .sha", tag,
			actionName, tag)}
	}
	return actionPin{actionName + "@" + commit + " # v" + m[1], ""}
}

// setupWriter writes all of its files or none.
type setupWriter struct {
	root *os.Root
	todo []newFile
	left []string // what stands already
	made []string // folders and files, in the order in which they were made
}

// planFiles looks at every place before anything is written. A run folder that holds anything is left whole.
func (w *setupWriter) planFiles(files, run []newFile) error {
	for _, f := range files {
		if err := w.lookAt(f); err != nil {
			return err
		}
	}
	if err := w.checkFolder(path.Dir(firstRun)); err != nil {
		return err
	}
	info, err := w.root.Lstat(filepath.FromSlash(firstRun))
	if err == nil && info.IsDir() {
		w.left = append(w.left, firstRun)
		return nil
	}
	for _, f := range run {
		f.name = firstRun + "/" + f.name
		if err := w.lookAt(f); err != nil {
			return err
		}
	}
	return nil
}

// lookAt decides about one file: it is written, left, or in the way.
func (w *setupWriter) lookAt(f newFile) error {
	if err := w.checkFolder(path.Dir(f.name)); err != nil {
		return err
	}
	info, err := w.root.Lstat(filepath.FromSlash(f.name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.todo = append(w.todo, f)
		return nil
	case err != nil:
		return fmt.Errorf("looking at %s: %w", f.name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s, not a file", f.name, kindOf(info.Mode()))
	}
	w.left = append(w.left, f.name)
	return nil
}

// checkFolder refuses a folder that is something else, or that leads elsewhere.
func (w *setupWriter) checkFolder(dir string) error {
	for _, at := range downTo(dir) {
		info, err := w.root.Lstat(filepath.FromSlash(at))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("looking at %s: %w", at, err)
		case !info.IsDir():
			return fmt.Errorf("%s is %s, not a folder", at, kindOf(info.Mode()))
		}
	}
	return nil
}

// downTo are the folders of a path, the topmost first and itself last.
func downTo(dir string) []string {
	var all []string
	for ; dir != "."; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}

// kindOf words what stands in the way.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a file"
	}
	return "something else"
}

// writePlanned writes what plan found missing. When something fails, all that it made is removed again.
func (w *setupWriter) writePlanned() error {
	for _, f := range w.todo {
		if err := w.writeFile(f); err != nil {
			for i := len(w.made) - 1; i >= 0; i-- {
				// what cannot be removed is explained by the error before
				_ = w.root.Remove(filepath.FromSlash(w.made[i]))
			}
			return fmt.Errorf("writing %s: %w", f.name, err)
		}
	}
	return nil
}

func (w *setupWriter) writeFile(f newFile) error {
	for _, at := range downTo(path.Dir(f.name)) {
		err := w.root.Mkdir(filepath.FromSlash(at), 0o777)
		if err == nil {
			w.made = append(w.made, at)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	to, err := w.root.OpenFile(filepath.FromSlash(f.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w.made = append(w.made, f.name)
	_, err = to.WriteString(f.text)
	return errors.Join(err, to.Close())
}
