package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
)

// Limits of what one pull request may ask of the gate.
const (
	maxRuns      = 2000  // runs audited in one pull request
	maxTreeFiles = 50000 // files looked at under the runs roots
)

// Plan is what a pull request changes, as far as the gate judges it.
type Plan struct {
	Runs     []PlannedRun
	Removed  []string // run folders that are no longer there
	Refusals []Refusal
	Rulebook []string // sheets and configuration files that the pull request changes; never used to judge it
}

// PlannedRun is one changed run folder and the rule of the configuration that covers it.
type PlannedRun struct {
	Dir  string // folder of run.json
	Rule config.RunRule
}

// Refusal is something under a runs root that cannot be audited: the check fails, and never passes by accident.
type Refusal struct {
	Path   string
	Reason string
}

// errTooMany ends a walk.
var errTooMany = errors.New("too many files")

// MakePlan compares two trees and lists the run folders that differ. base and head are file systems of commits (or any
// trees); cfg is the base branch's configuration.
func MakePlan(base, head fs.FS, cfg *config.Config) (*Plan, error) {
	p := &planner{base: base, head: head, cfg: cfg, plan: &Plan{}, covered: map[string]bool{}}
	for _, rule := range cfg.Runs {
		if err := p.findRuns(rule); err != nil {
			return nil, err
		}
	}
	for _, root := range config.RunRoots(cfg) {
		if err := p.refuseStrays(root); err != nil {
			return nil, err
		}
	}
	if err := p.findRemoved(); err != nil {
		return nil, err
	}
	p.findRulebookChanges()
	slices.SortFunc(p.plan.Runs, func(a, b PlannedRun) int { return strings.Compare(a.Dir, b.Dir) })
	return p.plan, nil
}

type planner struct {
	base, head fs.FS
	cfg        *config.Config
	plan       *Plan
	covered    map[string]bool // run folders of the head, changed or not
	seen       int
}

// findRuns lists the run folders of one rule in the head. The first rule that covers a folder is its rule.
func (p *planner) findRuns(rule config.RunRule) error {
	match := config.CompilePattern(rule.Path)
	return p.walkFiles(p.head, config.PatternRoot(rule.Path), func(name string, entry fs.DirEntry) {
		dir := path.Dir(name)
		if path.Base(name) != "run.json" || !match.MatchString(name) || p.covered[dir] {
			return
		}
		p.covered[dir] = true
		if !p.differsInTrees(dir) {
			return
		}
		if len(p.plan.Runs) == maxRuns {
			p.addRefusal(dir, fmt.Sprintf("more than %d changed runs; split the pull request", maxRuns))
			return
		}
		p.plan.Runs = append(p.plan.Runs, PlannedRun{Dir: dir, Rule: rule})
	})
}

// refuseStrays refuses changed files under a runs root that belong to no run.
func (p *planner) refuseStrays(root string) error {
	return p.walkFiles(p.head, root, func(name string, entry fs.DirEntry) {
		if p.inRun(name) || !p.differsInTrees(name) {
			return
		}
		p.addRefusal(name, "it lies under "+root+" and belongs to no run: a run is a folder with a run.json")
	})
}

func (p *planner) inRun(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.covered[dir] {
			return true
		}
	}
	return false
}

// findRemoved lists run folders that only the base has.
func (p *planner) findRemoved() error {
	for _, rule := range p.cfg.Runs {
		match := config.CompilePattern(rule.Path)
		err := p.walkFiles(p.base, config.PatternRoot(rule.Path), func(name string, _ fs.DirEntry) {
			if dir := path.Dir(name); match.MatchString(name) && !p.covered[dir] &&
				!slices.Contains(p.plan.Removed, dir) {
				p.plan.Removed = append(p.plan.Removed, dir)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// findRulebookChanges lists what judges: changed sheets and configuration. They are linted, and say what they would
// change, and judge nothing here.
func (p *planner) findRulebookChanges() {
	for _, name := range []string{config.Path, p.cfg.Sheets} {
		if p.differsInTrees(name) {
			p.plan.Rulebook = append(p.plan.Rulebook, name)
		}
	}
}

func (p *planner) addRefusal(name, why string) {
	p.plan.Refusals = append(p.plan.Refusals, Refusal{Path: name, Reason: why})
}

// walkFiles visits every file below a folder of a tree that does not exist in all trees. A folder that is a symlink or
// a submodule is not entered.
func (p *planner) walkFiles(tree fs.FS, dir string, visit func(string, fs.DirEntry)) error {
	err := fs.WalkDir(tree, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fs.SkipDir
		case err != nil:
			return fmt.Errorf("reading %s: %w", name, err)
		case entry.IsDir():
			return nil
		}
		if p.seen++; p.seen > maxTreeFiles {
			return errTooMany
		}
		visit(name, entry)
		return nil
	})
	if errors.Is(err, errTooMany) {
		return fmt.Errorf("more than %d files under the runs roots: the gate does not look further", maxTreeFiles)
	}
	return err
}

// differsInTrees compares a file or folder of the two trees: by git's object ids where the trees are commits, else by
// content.
func (p *planner) differsInTrees(name string) bool {
	before, after := ContentIdentity(p.base, name), ContentIdentity(p.head, name)
	return before != after
}
