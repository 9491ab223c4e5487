package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// ForgeOptions say which repository at which forge a ledger is compared with.
type ForgeOptions struct {
	API        string        // the API's URL; https://api.github.com if empty
	Repository string        // OWNER/NAME
	Token      string        // may read pull requests, and contents where they are private
	App        string        // the slug of the app as which the gate posts; "github-actions" if empty
	Base       string        // the branch that work is merged into; the repository's default one if empty
	Runs       string        // pattern of the manifests of runs; what the configuration on base says if empty
	MaxWait    time.Duration // bound on the waits for rate limits and failing servers; 0 is the usual, below 0 none
	Git        string        // path of a git binary, which reads faster; none is needed
}

// Forge is a repository at a forge, with its base branch and the configuration on it.
type Forge struct {
	o          ForgeOptions
	site       string // https://github.com
	api        *githubapi.Client
	repository githubapi.Repository
	work       *gitstore.Work
	ledger     *gitstore.Work // where the ledger is fetched from; nil where nobody asked for it
	base, tip  string         // the branch, and its commit
	tree       *gitstore.Repo // holds it
	config     *config.Config
	online     *Online
	announced  int // receipts that reviews announce
}

// OpenForge reaches the repository, and reads its base branch and its configuration there.
func OpenForge(ctx context.Context, o ForgeOptions) (*Forge, error) {
	o.API, o.App = cmp.Or(o.API, "https://api.github.com"), cmp.Or(o.App, "github-actions")
	f := &Forge{o: o}
	var err error
	if f.api, err = githubapi.New(githubapi.Options{APIURL: o.API, Token: o.Token, Repository: o.Repository,
		MaxWait: o.MaxWait}); err != nil {
		return nil, &InputError{InputForge, err}
	}
	if f.site, err = siteOf(o.API); err != nil {
		return nil, &InputError{InputForge, err}
	}
	if f.repository, err = f.api.Repository(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForge, err)
	}
	f.base = cmp.Or(o.Base, f.repository.DefaultBranch)
	if err := gitstore.CheckBranch(f.base); err != nil {
		return nil, &InputError{InputForgeBase, err}
	}
	if err := f.readBase(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close removes what was fetched.
func (f *Forge) Close() (err error) {
	for _, w := range []*gitstore.Work{f.ledger, f.work} {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
	}
	return err
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

// fetcher opens a repository at the forge for fetching.
func (f *Forge) fetcher(name string) (*gitstore.Work, error) {
	return gitstore.OpenWork(f.site+"/"+name+".git", gitstore.Options{Password: f.o.Token, MaxWait: f.o.MaxWait})
}

// readBase fetches the base branch and reads the configuration that stands on it.
func (f *Forge) readBase(ctx context.Context) (err error) {
	if f.work, err = f.fetcher(f.api.Name()); err != nil {
		return err
	}
	if f.tip, err = f.work.Tip(ctx, "refs/heads/"+f.base); err != nil {
		return fmt.Errorf("reading %s at the forge: %w", f.base, err)
	}
	if f.tip == "" {
		return inputError(InputNoForgeBase, "%s has no branch %s", f.api.Name(), f.base)
	}
	if f.tree, err = f.work.History(ctx, f.tip); err != nil {
		return fmt.Errorf("fetching %s: %w", f.base, err)
	}
	tree, err := f.tree.TreeFS(ctx, f.tip)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.base, err)
	}
	f.config = config.Default()
	src, err := tree.ReadFile(config.Path)
	switch {
	case err == nil:
		if f.config, err = config.Parse(src, config.Path); err != nil {
			return inputError(InputConfiguration, "on %s: %w", f.base, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s on %s: %w", config.Path, f.base, err)
	}
	return nil
}

// genesis gives the pin of the configuration, if there is one.
func (f *Forge) genesis() []ledger.Pin {
	if f.config.Ledger.Genesis == "" {
		return nil
	}
	return []ledger.Pin{{Level: ledger.L3, Source: config.Path + " on " + f.base, Count: 1,
		Tip: f.config.Ledger.Genesis}}
}

// Ledger opens the ledger that the forge itself keeps, in the repository that the configuration names; branch is the
// configuration's if empty. What is fetched of it lasts until the Forge is closed.
func (f *Forge) Ledger(branch string) (*Copy, error) {
	name := cmp.Or(f.config.Ledger.Repository, f.api.Name())
	branch = cmp.Or(branch, f.config.Ledger.Branch)
	if err := gitstore.CheckBranch(branch); err != nil {
		return nil, &InputError{InputBranch, fmt.Errorf("the ledger's branch: %w", err)}
	}
	work, err := f.fetcher(name)
	if err != nil {
		return nil, err
	}
	if f.ledger != nil { // asked for a second time
		_ = f.ledger.Close() // a directory of temporary files
	}
	f.ledger = work
	at := f.site + "/" + name + ".git"
	store, err := gitstore.Open(at, gitstore.Options{Branch: branch, Password: f.o.Token, MaxWait: f.o.MaxWait})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", at, err)
	}
	return &Copy{Store: store, Location: at, Branch: branch, Name: "branch " + branch + " of " + at, Git: f.o.Git,
		forge: work}, nil
}

// Compared is with what at a forge a ledger was compared.
type Compared struct {
	Repository   string `json:"repository"`
	Site         string `json:"site"`
	Base         string `json:"base"`
	BaseSHA      string `json:"base_sha"`
	PullRequests int    `json:"pull_requests"` // whose reviews were asked for
	Announced    int    `json:"announced"`     // receipts that they announce
	Genesis      string `json:"genesis_pin,omitempty"`
	Requests     int    `json:"requests"`
}

func (f *Forge) compared() *Compared {
	if f == nil {
		return nil
	}
	c := &Compared{Repository: f.api.Name(), Site: f.site, Base: f.base, BaseSHA: f.tip, Announced: f.announced,
		Genesis: f.config.Ledger.Genesis, Requests: f.api.Calls()}
	if f.online != nil {
		c.PullRequests = f.online.Pulls()
	}
	return c
}
