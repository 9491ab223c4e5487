package gate

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/referee"
)

// Rules are what judges: the configuration and the sheets of one commit on base, never of the pull request.
type Rules struct {
	Commit  string
	Config  *config.Config
	Library *referee.Library
	Tree    fs.FS
}

// rulesFor finds the rules for a base branch: its own where the default branch's configuration lists it, else the
// default branch's (fact 6).
func (j *Job) rulesFor(ctx context.Context, base string) (*Rules, error) {
	main := j.Event.DefaultBranch
	rules, err := j.rulesAt(ctx, main)
	if err == nil {
		err = j.connectLedger(rules.Config.Ledger)
	}
	if err != nil || base == main || !slices.Contains(rules.Config.Branches, base) {
		return rules, err
	}
	return j.rulesAt(ctx, base)
}

// connectLedger connects to the ledger: one for all bases, where the default branch says.
func (j *Job) connectLedger(at config.Ledger) (err error) {
	j.ledgerPlace = at
	if j.Store == nil {
		if j.Store, err = j.Open(at); err != nil {
			return brokenf("the ledger cannot be reached: %v", err)
		}
	}
	return nil
}

// rulesAt reads the rules of a branch as it is now.
func (j *Job) rulesAt(ctx context.Context, branch string) (*Rules, error) {
	tip, err := j.Work.Tip(ctx, "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, brokenf(
			"the branch %q, whose configuration and sheets judge, does not exist: set the repository's default "+
				"branch, or correct `branches`",
			branch,
		)
	}
	tree, err := j.treeAt(ctx, tip)
	if err != nil {
		return nil, err
	}
	return j.rulesOf(tree, tip)
}

func (j *Job) rulesOf(tree fs.FS, commit string) (*Rules, error) {
	name := j.Options.Config
	if name == "" {
		name = config.Path
	}
	cfg := config.Default()
	src, err := referee.ReadFile(tree, name, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist) && j.Options.Config == "":
		cfg.Branches = []string{j.Event.DefaultBranch}
	case err != nil:
		return nil, brokenf("the configuration %s on base cannot be read: %v", name, err)
	default:
		if cfg, err = config.Parse(src, name); err != nil {
			return nil, brokenf("the configuration on base is refused: %v", err)
		}
	}
	if cfg.FailOn, err = stricterThreshold(cfg.FailOn, j.Options.FailOn); err != nil {
		return nil, err
	}
	own, err := fs.Sub(tree, cfg.Sheets)
	if err != nil {
		return nil, brokenf("flight_sheets %q of the configuration is not a folder: %v", cfg.Sheets, err)
	}
	library := referee.NewLibrary(j.Embedded, audit.WithLinks(tree, own, cfg.Sheets), cfg.Sheets)
	return &Rules{Commit: commit, Config: cfg, Library: library, Tree: tree}, nil
}

// stricterThreshold takes the input fail-on, which may only be stricter than the configuration.
func stricterThreshold(configured referee.Threshold, input string) (referee.Threshold, error) {
	if input == "" {
		return configured, nil
	}
	asked, err := referee.ParseThreshold(input)
	switch {
	case err != nil:
		return configured, brokenf(
			"the input fail-on is %q; it must be one of %s",
			input,
			strings.Join(referee.ThresholdNames(), ", "),
		)
	case configured.Stricter(asked):
		return configured, brokenf(
			"the input fail-on is %q, but the configuration says %q: the input may only be stricter",
			input,
			configured,
		)
	}
	return asked, nil
}

// ownerOf is the first part of owner/name.
func ownerOf(repository string) string {
	owner, _, _ := strings.Cut(repository, "/")
	return owner
}
