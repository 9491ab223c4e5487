package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// ledgerFlags say where a ledger is kept.
type ledgerFlags struct {
	repo, branch string
	repos        []string // all that --ledger names
	noGit        bool
}

// ledgerFlag adds --ledger and --branch to a command.
func ledgerFlag(flags *pflag.FlagSet) *ledgerFlags {
	f := &ledgerFlags{}
	flags.Var(&ledgerValue{to: f}, "ledger", "git `REPO` that keeps the ledger (default: the one around this folder)")
	f.placeFlags(flags)
	return f
}

// ledgersFlag is ledgerFlag for a command that adds several ledgers up.
func ledgersFlag(flags *pflag.FlagSet) *ledgerFlags {
	f := &ledgerFlags{}
	flags.Var(&ledgerValue{to: f, many: true}, "ledger",
		"git `REPO` that keeps the ledger (default: the one around this folder); may be given again")
	f.placeFlags(flags)
	return f
}

// ledgerValue is the flag --ledger. A second one is refused where a command reads one ledger: the last would win, and
// nobody would see that the first was not read.
type ledgerValue struct {
	to   *ledgerFlags
	many bool
}

func (v *ledgerValue) String() string { return "" }
func (v *ledgerValue) Type() string   { return "string" }

func (v *ledgerValue) Set(repo string) error {
	switch {
	case len(v.to.repos) > 0 && !v.many:
		return errors.New("this command reads one ledger, and two are named")
	case slices.Contains(v.to.repos, repo):
		return errors.New("this ledger is named twice; its receipts would count double")
	}
	v.to.repo, v.to.repos = repo, append(v.to.repos, repo)
	return nil
}

// usualBranch is the branch that holds a ledger unless another is named.
const usualBranch = "ledger"

// placeFlags adds what is common to commands that name the repository as an argument.
func (f *ledgerFlags) placeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.branch, "branch", usualBranch, "`BRANCH` that holds the ledger")
}

// bulkFlag adds --no-git to a command that reads all of a ledger. Others read a few objects, for which starting git is
// not worth it.
func (f *ledgerFlags) bulkFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&f.noGit, "no-git", false, "read without the git binary: slower, same result")
}

// kept is a ledger where it is kept, in one of its states.
type kept struct {
	*gitstore.Store
	at       ledger.Snapshot
	location string
	branch   string
	name     string // as messages call it
}

// verifyCopy is the ledger as package verify takes it.
func (k *kept) verifyCopy(f *ledgerFlags) *verify.Copy {
	return &verify.Copy{Store: k.Store, Location: k.location, Branch: k.branch, Name: k.name, Git: f.gitPath()}
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

// ledgerLocation is the repository that keeps the ledger.
func (f *ledgerFlags) ledgerLocation() string {
	if f.repo == "" {
		return "."
	}
	return f.repo
}

// reachLedger opens the repository of a ledger. Nothing is read yet.
func (a *app) reachLedger(f *ledgerFlags) (*kept, error) {
	if err := gitstore.CheckBranch(f.branch); err != nil {
		return nil, usagef("--branch: %w", err)
	}
	c, err := verify.Open(f.ledgerLocation(), gitstore.Options{Branch: f.branch, Now: a.now})
	if err != nil {
		return nil, noRepository(f, err)
	}
	return &kept{Store: c.Store, location: c.Location, branch: c.Branch, name: c.Name}, nil
}

// openStore opens the ledger, which may not have begun yet.
func (a *app) openStore(f *ledgerFlags) (*kept, error) {
	k, err := a.reachLedger(f)
	if err != nil {
		return nil, err
	}
	if k.at, err = k.Head(a.ctx); err != nil {
		return nil, errors.Join(toolf("reading the ledger, %s: %w", k.name,
			err).withHint("`referee ledger verify` checks it"), k.Close())
	}
	return k, nil
}

// noRepository words what kept a repository from being opened: it is not there, or it cannot be read.
func noRepository(f *ledgerFlags, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return toolf("opening the repository %s: %w", f.ledgerLocation(), err)
	}
	if f.repo == "" {
		return usagef("no ledger: this folder is not in a git repository, and --ledger names none").withHint(
			"use --ledger REPO").withHint(
			"`git init` makes this folder a repository; `referee ledger init DIR` creates one for a ledger alone")
	}
	return usagef("--ledger %s cannot be opened: %w", f.repo,
		err).withHint("REPO is a folder of a git repository, a bare one, or a URL")
}

// openLedger opens a ledger that has begun.
func (a *app) openLedger(f *ledgerFlags) (*kept, error) {
	k, err := a.openStore(f)
	if err == nil && k.at.ID == "" {
		_ = k.Close() // nothing was fetched
		return nil, usagef("no ledger found: no %s", k.name).withHint("the first `referee approve` creates one, and so " +
			"does `referee ledger init`").withHint("--ledger and --branch say where to look")
	}
	return k, err
}

// findEntry gives the entry that a word names: its sequence number, its receipt id, its hash, or four digits or more of
// the hash.
func (a *app) findEntry(k *kept, word string) (*ledger.Entry, error) {
	hash, err := a.hashOf(k, word)
	if err != nil {
		return nil, err
	}
	e, err := ledger.Lookup(a.ctx, k, k.at, hash)
	switch {
	case err != nil:
		return nil, lookupError(word, err)
	case e == nil:
		return nil, a.noEntry(k, word)
	}
	return e, nil
}

func (a *app) noEntry(k *kept, word string) error {
	return rulesf("the ledger, %s, has no receipt %s", k.name, word).withHint("it has %s; `referee ledger log` lists them",
		countEntries(k.at.Head.Count))
}

var (
	seqWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,9}$`) })
	idWord  = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^(?i:DCR)-([0-9]{6,9})-[0-9a-fA-F]{8}$`) })
	prefixWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,63}$`) })
)

// hashOf finds the whole hash of a word by the names in one directory of the ledger, whatever its size.
func (a *app) hashOf(k *kept, word string) (string, error) {
	lower := strings.ToLower(strings.TrimPrefix(word, "sha256:"))
	if canonical.CheckHash(lower) == nil {
		return lower, nil
	}
	if id := idWord().FindStringSubmatch(word); id != nil {
		return a.bySeq(k, id[1], word)
	}
	if seqWord().MatchString(word) {
		return a.bySeq(k, word, word)
	}
	if !prefixWord().MatchString(lower) {
		return "", usagef("%q names no receipt", word).withHint("write its number, its id (DCR-000012-0a1b2c3d), its " +
			"hash, or four digits or more of the hash")
	}
	found, err := a.hashesIn(k, "hash/"+lower[:2]+"/"+lower[2:4],
		func(p ledger.Place) bool { return strings.HasPrefix(p.Hash, lower) })
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", a.noEntry(k, word)
	case len(found) > 1:
		return "", usagef("%d receipts begin with %s", len(found),
			word).withHint("write more of the hash: %.16s… or %.16s…", found[0], found[1])
	}
	return found[0], nil
}

// bySeq finds the hash of the entry at a place. An id names its entry only if all of it is right.
func (a *app) bySeq(k *kept, digits, word string) (string, error) {
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return "", usagef("%q is not the number of a receipt", word)
	}
	found, err := a.hashesIn(k, ledger.EntryDir(seq), func(p ledger.Place) bool { return p.Seq == seq })
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, a.noEntry(k, word))
	}
	if e, err := ledger.Lookup(a.ctx, k, k.at, found[0]); digits != word &&
		(err != nil || e == nil || !strings.EqualFold(e.Receipt.ID, word)) {
		return "", a.noEntry(k, word)
	}
	return found[0], nil
}

// hashesIn lists the hashes in a directory of the ledger whose places are wanted.
func (a *app) hashesIn(k *kept, dir string, want func(ledger.Place) bool) (hashes []string, err error) {
	files, err := k.Read(a.ctx, k.at, dir)
	if err != nil {
		return nil, rulesf("reading the ledger, %s: %w", k.name,
			err).withHint("`referee ledger verify` reports what is wrong")
	}
	for _, f := range files {
		if p, err := ledger.ParsePath(f.Path); err == nil && want(p) {
			hashes = append(hashes, p.Hash)
		}
	}
	return hashes, nil
}

// lookupError tells a word that is no hash from an entry that cannot be read.
func lookupError(word string, err error) error {
	return rulesf("receipt %s: %w", word, err).withHint("`referee ledger verify` checks the ledger")
}

// countEntries counts the entries of a ledger in words.
func countEntries(n int64) string { return legible.Count(n, "entry") }

// slashedBase is the last element of a path, for names that must not hold the folders of this machine.
func slashedBase(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.Base(path)
	}
	return filepath.Base(full)
}
