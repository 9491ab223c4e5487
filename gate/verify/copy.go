package verify

import (
	"context"
	"fmt"
	"os"

	"github.com/defendableos/referee/ledger/gitstore"
)

// Copy is one copy of a ledger, where it is kept.
type Copy struct {
	Store    *gitstore.Store
	Location string // a folder or a URL
	Branch   string // as its own repository calls it
	Name     string // as messages call it
	Git      string // path of a git binary, which reads faster; none is needed

	forge *gitstore.Work // from where the forge's own ledger is fetched; nil for any other copy
}

// Open opens the ledger at a location: a folder of a git repository, or a URL. In a clone that has no branch of the
// name it is origin's, as `git clone` leaves it. Nothing is read yet.
func Open(location string, o gitstore.Options) (*Copy, error) {
	if o.Branch == "" {
		o.Branch = "ledger"
	}
	if err := gitstore.CheckBranch(o.Branch); err != nil {
		return nil, &InputError{InputBranch, err}
	}
	store, err := gitstore.Open(location, o)
	if err != nil {
		return nil, &InputError{InputRepository, err}
	}
	c := &Copy{Store: store, Location: location, Branch: o.Branch, Git: o.Git,
		Name: "branch " + o.Branch + " of " + location}
	if o.Branch = originsBranch(store, c.Branch); o.Branch != "" {
		if c.Store, err = gitstore.Open(location, o); err != nil {
			return nil, &InputError{InputRepository, err}
		}
		c.Name = "origin's branch " + c.Branch + " in " + location
	}
	return c, nil
}

// originsBranch is the copy of origin's branch that a clone holds, where it has no branch of that name of its own; ""
// elsewhere.
func originsBranch(store *gitstore.Store, branch string) string {
	repo := store.Repo()
	if repo == nil {
		return ""
	}
	if own, err := repo.Resolve(store.Ref()); err != nil || own != "" {
		return "" // an error shows again when it is read
	}
	copied := "refs/remotes/origin/" + branch
	if commit, err := repo.Resolve(copied); err != nil || commit == "" {
		return ""
	}
	return copied
}

// Close removes what was fetched for reading. The work of a Forge is the Forge's to close.
func (c *Copy) Close() error { return c.Store.Close() }

// Repository opens the copy's repository for reading all of it: through git where there is one, and in a temporary copy
// where it is behind a URL. The function given back removes that.
func (c *Copy) Repository(ctx context.Context) (*gitstore.Repo, func(), error) {
	if repo := c.Store.Repo(); repo != nil {
		bulk, err := gitstore.OpenRepo(repo.Dir(), c.Git)
		if err != nil {
			return nil, nil, fmt.Errorf("opening %s: %w", c.Name, err)
		}
		return bulk, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "referee-ledger-")
	if err != nil {
		return nil, nil, fmt.Errorf("creating a folder for a copy: %w", err)
	}
	repo, err := gitstore.Clone(ctx, c.Location, dir, gitstore.Options{Branch: c.Branch, Git: c.Git})
	if err != nil {
		os.RemoveAll(dir)
		return nil, nil, err
	}
	return repo, func() { os.RemoveAll(dir) }, nil
}

// newest gives the newest commit of a ledger, "" if there is none, and a repository that holds it. The function given
// back removes what was fetched.
func (c *Copy) newest(ctx context.Context) (repo *gitstore.Repo, commit string, done func(), err error) {
	if c.forge != nil {
		if repo, commit, err = c.fetch(ctx); err != nil {
			err = fmt.Errorf("fetching %s: %w", c.Name, err)
		}
		return repo, commit, func() {}, err
	}
	if repo, done, err = c.Repository(ctx); err != nil {
		return nil, "", nil, err
	}
	if commit, err = repo.Resolve(c.Store.Ref()); err != nil {
		done()
		return nil, "", nil, fmt.Errorf("reading %s: %w", c.Name, err)
	}
	return repo, commit, done, nil
}

// fetch gives the ledger's commit at the forge, "" if it has none, and a repository that holds it.
func (c *Copy) fetch(ctx context.Context) (*gitstore.Repo, string, error) {
	commit, err := c.forge.Tip(ctx, "refs/heads/"+c.Branch)
	if err != nil || commit == "" {
		return nil, "", err
	}
	repo, err := c.forge.History(ctx, commit)
	if err != nil {
		return nil, "", err
	}
	bulk, err := gitstore.OpenRepo(repo.Dir(), c.Git)
	return bulk, commit, err
}
