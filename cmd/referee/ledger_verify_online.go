package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// forgeFlags say which forge a ledger is compared with.
type forgeFlags struct {
	repo, api, tokenEnv, app string
	maxWait                  time.Duration
	set                      *pflag.FlagSet
}

// addTo adds the flags to a command.
func (f *forgeFlags) addTo(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringVar(&f.repo, "repo", "", "with --online, `OWNER/NAME` at the forge (default: $GITHUB_REPOSITORY)")
	flags.StringVar(&f.api, "api", "", "with --online, `URL` of the API (default: $GITHUB_API_URL, "+
		"https://api.github.com)")
	flags.StringVar(&f.tokenEnv, "token-env", "GITHUB_TOKEN",
		"with --online, the environment variable `NAME` that holds the token")
	flags.StringVar(&f.app, "app", "github-actions", "with --online, the `SLUG` of the app as which the gate posts")
	flags.DurationVar(&f.maxWait, "max-wait", githubapi.DefaultMaxWait,
		"with --online, the API, and each connection to git, wait so long for rate limits and failing servers")
}

// strange gives a flag that was set and means nothing without --online.
func (f *forgeFlags) strange() string {
	for _, name := range []string{"repo", "api", "token-env", "app", "max-wait"} {
		if f.set.Changed(name) {
			return name
		}
	}
	return ""
}

// forgeSide is the repository at the forge, with its base branch as git objects.
type forgeSide struct {
	flags      *forgeFlags
	site       string // https://github.com
	token      string
	api        *githubapi.Client
	repository githubapi.Repository
	work       *gitstore.Work
	ledger     *gitstore.Work // where the ledger is fetched from; nil where it is a copy of the user's
	base, tip  string         // the branch, and its commit
	tree       *gitstore.Repo // holds it
	config     *config.Config
	online     *gate.Online
	announced  int // receipts that reviews announce
}

// close removes what was fetched.
func (f *forgeSide) close() {
	for _, w := range []*gitstore.Work{f.ledger, f.work} {
		if w != nil {
			_ = w.Close() // a directory of temporary files
		}
	}
}

// openForge reaches the repository, and reads its base branch and its configuration there. What cannot be reached is no
// pass.
func (a *app) openForge(flags *forgeFlags, base string) (*forgeSide, error) {
	f := &forgeSide{flags: flags}
	if err := a.connect(f); err != nil {
		return nil, err
	}
	var err error
	if f.repository, err = f.api.Repository(a.ctx); err != nil {
		return nil, toolf("cannot reach the forge: %w",
			err).hint("nothing was verified; set --repo, --api and --token-env")
	}
	if f.base = base; f.base == "" {
		f.base = f.repository.DefaultBranch
	}
	if err := gitstore.CheckBranch(f.base); err != nil {
		return nil, usagef("--base with --online names a branch at the forge: %w", err)
	}
	if err := a.readBase(f); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// connect makes the API's client of what the flags and the environment say.
func (a *app) connect(f *forgeSide) error {
	name, at := f.flags.repo, f.flags.api
	if name == "" {
		name = a.getenv("GITHUB_REPOSITORY")
	}
	if name == "" {
		return usagef("--online needs a repository").hint("use --repo OWNER/NAME; in a workflow, GITHUB_REPOSITORY " +
			"sets it")
	}
	if at == "" {
		at = a.getenv("GITHUB_API_URL")
	}
	if at == "" {
		at = "https://api.github.com"
	}
	f.token = a.getenv(f.flags.tokenEnv)
	if f.token == "" && f.flags.set.Changed("token-env") {
		return usagef("--token-env %s: the variable is not set, or is empty", f.flags.tokenEnv)
	}
	var err error
	if f.api, err = githubapi.New(githubapi.Options{APIURL: at, Token: f.token, Repository: name,
		MaxWait: f.patience()}); err != nil {
		return usagef("%w", err)
	}
	if f.site, err = siteOf(at); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// siteOf is where git finds the repositories of an API: github.com, an Enterprise Server's own host, or a tenant's.
func siteOf(api string) (string, error) {
	u, err := url.Parse(strings.TrimSuffix(api, "/"))
	if err != nil {
		return "", err
	}
	host, isAPI := strings.CutPrefix(u.Host, "api.")
	switch {
	case u.Path == "/api/v3":
		return u.Scheme + "://" + u.Host, nil
	case isAPI && u.Path == "":
		return u.Scheme + "://" + host, nil
	}
	return "", fmt.Errorf("the API's URL %q is not like https://api.github.com or https://HOST/api/v3", api)
}

// patience is the bound on the waits as the clients know it, in which 0 is the usual.
func (f *forgeSide) patience() time.Duration {
	if f.flags.maxWait == 0 {
		return -1
	}
	return f.flags.maxWait
}

// fetcher opens a repository at the forge for fetching.
func (f *forgeSide) fetcher(name string) (*gitstore.Work, error) {
	work, err := gitstore.OpenWork(f.site+"/"+name+".git", gitstore.Options{Password: f.token, MaxWait: f.patience()})
	if err != nil {
		return nil, toolf("%w", err)
	}
	return work, nil
}

// readBase fetches the base branch and reads the configuration that stands on it.
func (a *app) readBase(f *forgeSide) (err error) {
	if f.work, err = f.fetcher(f.api.Name()); err != nil {
		return err
	}
	if f.tip, err = f.work.Tip(a.ctx, "refs/heads/"+f.base); err != nil {
		return toolf("reading %s at the forge: %w", f.base, err)
	}
	if f.tip == "" {
		return usagef("%s has no branch %s", f.api.Name(),
			f.base).hint("--base names the branch that work is merged into")
	}
	if f.tree, err = f.work.History(a.ctx, f.tip); err != nil {
		return toolf("fetching %s: %w", f.base, err)
	}
	tree, err := f.tree.TreeFS(a.ctx, f.tip)
	if err != nil {
		return toolf("reading %s: %w", f.base, err)
	}
	f.config = config.Default()
	src, err := tree.ReadFile(config.Path)
	switch {
	case err == nil:
		if f.config, err = config.Parse(src, config.Path); err != nil {
			return usagef("on %s: %w", f.base, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return toolf("reading %s on %s: %w", config.Path, f.base, err)
	}
	return nil
}

// genesis gives the pin of the configuration, if there is one.
func (f *forgeSide) genesis() []ledger.Pin {
	if f.config.Ledger.Genesis == "" {
		return nil
	}
	return []ledger.Pin{{Level: ledger.L3, Source: config.Path + " on " + f.base, Count: 1,
		Tip: f.config.Ledger.Genesis}}
}

// own opens the ledger that the forge itself keeps, where the configuration says.
func (s *session) own() (*kept, error) {
	f, o := s.forge, s.options
	name := f.config.Ledger.Repository
	if name == "" {
		name = f.api.Name()
	}
	if !o.forge.set.Changed("branch") {
		o.where.branch = f.config.Ledger.Branch
	}
	if err := gitstore.CheckBranch(o.where.branch); err != nil {
		return nil, usagef("the ledger's branch: %w", err)
	}
	var err error
	if f.ledger, err = f.fetcher(name); err != nil {
		return nil, err
	}
	at := f.site + "/" + name + ".git"
	store, err := gitstore.Open(at, gitstore.Options{Branch: o.where.branch, Password: f.token, MaxWait: f.patience()})
	if err != nil {
		return nil, toolf("opening %s: %w", at, err)
	}
	return &kept{Store: store, location: at, branch: o.where.branch, name: "branch " + o.where.branch + " of " + at},
		nil
}

// fetched gives the ledger's commit at the forge, "" if it has none, and a repository that holds it.
func (s *session) fetched() (*gitstore.Repo, string, error) {
	work := s.forge.ledger
	commit, err := work.Tip(s.ctx, "refs/heads/"+s.k.branch)
	if err != nil || commit == "" {
		return nil, "", err
	}
	repo, err := work.History(s.ctx, commit)
	if err != nil {
		return nil, "", err
	}
	bulk, err := gitstore.OpenRepo(repo.Dir(), s.options.where.gitPath())
	return bulk, commit, err
}

// compareOnline holds a ledger that agrees with itself to what the forge records (L4), and to what was announced there
// (L3).
func (s *session) compareOnline(repo *gitstore.Repo, commit string) error {
	f := s.forge
	if info := s.result.Info; info != nil && info.Repository.ID != f.repository.ID {
		s.add(&ledger.Problem{Code: ledger.CodeRepository, Level: ledger.L4, Path: ledger.InfoPath, Seq: -1,
			Message: fmt.Sprintf("it is the ledger of %s (%d); %s is the repository %d", info.Repository.Name,
				info.Repository.ID, f.api.Name(), f.repository.ID)})
		return nil
	}
	var receipts []*ledger.Receipt
	for e, err := range repo.Tree(s.ctx, commit).Receipts() {
		if err != nil {
			return toolf("reading %s: %w", s.k.name, err)
		}
		receipts = append(receipts, e.Receipt)
	}
	f.online = gate.NewOnline(f.api, f.mergesSince(s, receipts))
	if !s.announced(receipts) {
		return nil
	}
	s.look(ledger.L4)
	problems, err := ledger.VerifyOnline(s.ctx, repo.Tree(s.ctx, commit).Receipts(), f.online)
	if err != nil {
		return toolf("comparing with the forge: %w", err)
	}
	s.result.Problems = append(s.result.Problems, problems...)
	return s.unmoved(commit)
}

// unmoved tells an announced receipt that is missing from one that was minted and announced while this was verified.
func (s *session) unmoved(commit string) error {
	if s.forge.ledger == nil ||
		!slices.ContainsFunc(s.result.Problems,
			func(p ledger.Problem) bool { return p.Code == ledger.CodePinMissing }) {
		return nil
	}
	now, err := s.forge.ledger.Tip(s.ctx, "refs/heads/"+s.k.branch)
	if err != nil || now != commit {
		return toolf("%s changed during the verification", s.k.name).hint("run it again")
	}
	return nil
}

// announced holds the ledger to the receipts that the gate announced in its reviews: on the pull requests that the
// ledger names, and on the newest ones, which a ledger that was cut off does not name any more. It is false if a review
// could not be read: then nothing else is asked.
func (s *session) announced(receipts []*ledger.Receipt) bool {
	f := s.forge
	unread := func(what string, err error) bool {
		s.add(&ledger.Problem{Code: ledger.CodeOnlineUnread, Level: ledger.L3, Seq: -1, Message: what + ": " +
			err.Error()})
		return false
	}
	pulls, err := f.online.Lately(s.ctx)
	if err != nil {
		return unread("the newest pull requests", err)
	}
	for _, r := range receipts {
		if n := r.Pull(); n > 0 {
			pulls = append(pulls, n)
		}
	}
	slices.Sort(pulls)
	for _, n := range slices.Compact(pulls) {
		pins, err := f.online.Announced(s.ctx, n, f.flags.app+"[bot]")
		switch {
		case errors.Is(err, gate.ErrAnnouncement):
			s.add(&ledger.Problem{Code: ledger.CodePinUnusable, Level: ledger.L3, Seq: -1, Message: err.Error()})
		case err != nil:
			return unread(fmt.Sprintf("the reviews of pull request %d", n), err)
		}
		for _, p := range pins {
			s.look(ledger.L3)
			f.announced++
			s.add(s.result.Against(p))
		}
	}
	return true
}
