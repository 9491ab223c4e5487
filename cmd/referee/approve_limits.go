package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// maxConfig is how large a configuration may be; the forge's reader has the same bound.
const maxConfig = 1 << 20

// baseNames are where a repository's base is looked for: what the forge calls its default branch, the usual names, and
// what is checked out. The work tree itself is not among them: an agent writes there.
var baseNames = []string{"refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD"}

// limitsOf finds the configuration whose limits a sign-off is held to: the base's of the repository that keeps the
// ledger, else of the one around the run; what holds without any (config.Default), where neither has one.
func (a *app) limitsOf(k *kept, run string) (*config.Config, error) {
	repos := []*gitstore.Repo{k.Repo()}
	if around, err := gitstore.OpenRepo(run, ""); err == nil {
		repos = append(repos, around)
	}
	for _, repo := range repos {
		if repo == nil {
			continue
		}
		cfg, err := a.configAtBase(repo)
		if cfg != nil || err != nil {
			return cfg, err
		}
	}
	return config.Default(), nil
}

// configAtBase reads a repository's configuration at its base; nil, if it has none. One that lies in the work tree and
// is not committed is refused: nobody can tell whether a person or the agent wrote it.
func (a *app) configAtBase(repo *gitstore.Repo) (*config.Config, error) {
	for _, name := range baseNames {
		commit, err := repo.Resolve(name)
		if err != nil || commit == "" {
			continue
		}
		tree, err := repo.TreeFS(a.ctx, commit)
		if err != nil {
			return nil, toolf("reading %s of %s: %w", name, repo.Dir(), err)
		}
		src, err := fs.ReadFile(tree, config.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, refuseUncommitted(repo, name)
		case err != nil:
			return nil, toolf("reading %s at %s: %w", config.Path, name, err)
		case len(src) > maxConfig:
			return nil, rulesf("%s at %s has %d bytes; at most %d are read", config.Path, name, len(src), maxConfig)
		}
		cfg, err := config.Parse(src, config.Path)
		if err != nil {
			return nil, rulesf("the limits on agents cannot be read: %w", err).withHint(
				"correct it on the base branch; it was read at %s", name)
		}
		return cfg, nil
	}
	return nil, refuseUncommitted(repo, "its base branch")
}

// refuseUncommitted refuses a configuration that only the work tree has.
func refuseUncommitted(repo *gitstore.Repo, base string) error {
	if filepath.Base(repo.Dir()) != ".git" {
		return nil // no work tree
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(repo.Dir()), filepath.FromSlash(config.Path))); err != nil {
		return nil
	}
	return rulesf("%s is not committed: %s does not have it, and limits on agents are read from there", config.Path,
		base).withHint("commit it on the base branch first")
}

// maxRemembered is how many of the newest entries are looked at where nothing is summed up over all of them. It is what
// the gate looks at.
const maxRemembered = 5000

// checkLimits holds the run's agent to the limits that the gate holds it to (governance.CheckLimits). A person's no is
// always heard, and is not held to anything.
func (a *app) checkLimits(k *kept, cfg *config.Config, w receipt.Work, at time.Time) error {
	audits := []audit.AuditedRun{{Dir: w.Report.Location, Work: &w}}
	history := governance.NewHistory(cfg, 0, audits)
	if err := a.feedHistory(k, history, cfg.Governance.SpendCapUSD != ""); err != nil {
		return err
	}
	found := governance.CheckLimits(audits, cfg, history, at)
	if len(found) == 0 {
		return nil
	}
	f := rulesf("not signed off: %s: %s", found[0].Kind, found[0].Reason)
	for _, v := range found[1:] {
		f = f.withHint("and %s: %s", v.Kind, v.Reason)
	}
	return f.withHint("--reject WHY records the rejection in the ledger")
}

// feedHistory feeds the ledger to a history, oldest first: all of it, or the newest entries.
func (a *app) feedHistory(k *kept, h *governance.History, all bool) error {
	if k.at.ID == "" {
		return nil // the first sign-off begins it
	}
	var newest []ledger.Entry
	for e, err := range ledger.Backwards(a.ctx, k, k.at) {
		if err != nil {
			return rulesf("reading the ledger, %s: %w", k.name, err).withHint("`referee ledger verify` checks it")
		}
		newest = append(newest, ledger.Entry{Hash: e.Hash, Receipt: e.Receipt}) // the bytes of many would not fit
		if len(newest) == maxRemembered && !all {
			break
		}
	}
	for i := range slices.Backward(newest) {
		if err := h.Add(&newest[i]); err != nil {
			return rulesf("the ledger, %s, says something of an agent that cannot be read: %w", k.name, err)
		}
	}
	return nil
}
