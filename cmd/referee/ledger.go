package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// ledgerFlags say where a ledger is kept.
type ledgerFlags struct {
	repo, branch string
	noGit        bool
}

// ledgerFlag adds --ledger, --branch and --no-git to a command.
func ledgerFlag(flags *pflag.FlagSet) *ledgerFlags {
	f := &ledgerFlags{}
	flags.StringVar(&f.repo, "ledger", "", "git `REPO` that keeps the ledger (default: the one around this folder)")
	f.placeFlags(flags)
	return f
}

// placeFlags adds what is common to commands that name the repository as an argument.
func (f *ledgerFlags) placeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.branch, "branch", "ledger", "`BRANCH` that holds the ledger")
	flags.BoolVar(&f.noGit, "no-git", false, "read without the git binary, which is slower and gives the same")
}

// kept is a ledger where it is kept, in one of its states.
type kept struct {
	*gitstore.Store
	at   ledger.Snapshot
	name string // as messages call it
}

// gitPath is the git binary, or "" where there is none or it is not wanted.
func (f *ledgerFlags) gitPath() string {
	if f.noGit {
		return ""
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	return git
}

// location is the repository that keeps the ledger.
func (f *ledgerFlags) location() string {
	if f.repo == "" {
		return "."
	}
	return f.repo
}

// openStore opens the ledger, which may not have begun yet.
func (a *app) openStore(f *ledgerFlags) (*kept, error) {
	if err := gitstore.CheckBranch(f.branch); err != nil {
		return nil, usagef("--branch: %w", err)
	}
	store, err := gitstore.Open(f.location(), gitstore.Options{Branch: f.branch, Git: f.gitPath(), Now: a.now})
	if err != nil {
		return nil, noRepository(f, err)
	}
	k := &kept{Store: store, name: "branch " + f.branch + " of " + f.location()}
	if k.at, err = store.Head(a.ctx); err != nil {
		return nil, toolf("reading the ledger, %s: %w", k.name, err)
	}
	return k, nil
}

// noRepository words what kept a repository from being opened: it is not there, or it cannot be read.
func noRepository(f *ledgerFlags, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return toolf("opening the repository %s: %w", f.location(), err)
	}
	if f.repo == "" {
		return usagef("no ledger was named, and this folder is in no git repository").hint("--ledger REPO names the repository that keeps it").hint("`git init` makes this folder one; `referee ledger init DIR` makes a repository for a ledger alone")
	}
	return usagef("--ledger %s cannot be opened: %w", f.repo, err).hint("REPO is a folder of a git repository, a bare one, or a URL")
}

// openLedger opens a ledger that has begun.
func (a *app) openLedger(f *ledgerFlags) (*kept, error) {
	k, err := a.openStore(f)
	if err == nil && k.at.ID == "" {
		return nil, usagef("there is no ledger: no %s", k.name).hint("the first `referee approve` begins one, and so does `referee ledger init`").hint("--ledger and --branch say where it is kept")
	}
	return k, err
}

// find gives the entry that a word names: its sequence number, its receipt id, or its hash or the beginning of it.
func (a *app) find(k *kept, word string) (*ledger.Entry, error) {
	var found []*ledger.Entry
	lower := strings.ToLower(strings.TrimPrefix(word, "sha256:"))
	if len(lower) == 64 {
		e, err := ledger.Lookup(a.ctx, k, k.at, lower)
		switch {
		case err != nil:
			return nil, lookupError(word, err)
		case e == nil:
			return nil, rulesf("the ledger, %s, holds no receipt %s", k.name, word).hint("`referee ledger log` lists its entries")
		}
		return e, nil
	}
	matches, err := matcher(word)
	if err != nil {
		return nil, err
	}
	for e, err := range ledger.Backwards(a.ctx, k, k.at) {
		if err != nil {
			return nil, rulesf("reading the ledger, %s: %w", k.name, err).hint("`referee ledger verify` says what is wrong with it")
		}
		if matches(e) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, rulesf("the ledger, %s, holds no entry %s", k.name, word).hint("it has %s; `referee ledger log` lists them", entries(k.at.Head.Count))
	case 1:
		return found[0], nil
	}
	return nil, usagef("%d entries begin with %s", len(found), word).hint("write more of the hash: %.12s… or %.12s…", found[0].Hash, found[1].Hash)
}

// lookupError tells a word that is no hash from an entry that cannot be read.
func lookupError(word string, err error) error {
	return rulesf("receipt %s: %w", word, err).hint("`referee ledger verify` says whether the ledger is whole")
}

// entries counts the entries of a ledger in words.
func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return plural(int(n), "entry")
}

// slashedBase is the last element of a path, for names that must not hold the folders of this machine.
func slashedBase(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.Base(path)
	}
	return filepath.Base(full)
}
