package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// mirror holds the newest commit of a branch whole, for servers that give nothing less.
type mirror struct {
	o    Options
	url  string
	ref  string
	auth transport.AuthMethod
	dir  string // a bare repository; "" before the first update
	repo *Repo
}

// update fetches what is new and gives the branch's commit, "" if there is no branch.
func (m *mirror) update(ctx context.Context) (string, error) {
	if m.repo == nil {
		dir, err := os.MkdirTemp(m.o.Cache, "referee-ledger-")
		if err != nil {
			return "", err
		}
		if err := Init(dir, "none"); err != nil {
			return "", err
		}
		if m.repo, err = OpenRepo(dir, m.o.Git); err != nil {
			return "", err
		}
		m.dir = dir
	}
	err := fetch(ctx, m.dir, m.url, m.ref, 1, m.auth)
	if errors.Is(err, errNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return readRef(m.dir, m.ref)
}

// read is source's.
func (m *mirror) read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error) {
	if m.repo == nil {
		return nil, fmt.Errorf("%s: %w: nothing was fetched yet", ids[0], ErrMissing)
	}
	return m.repo.all.(source).read(ctx, limit, ids)
}

// close removes what was fetched.
func (m *mirror) close() error {
	if m.dir == "" {
		return nil
	}
	return os.RemoveAll(m.dir)
}

// errNoBranch says that the remote has no such branch.
var errNoBranch = errors.New("there is no such branch")

// fetch brings a branch into a bare repository, by go-git. depth 0 is all of it.
func fetch(ctx context.Context, dir, url, ref string, depth int, auth transport.AuthMethod) error {
	storage := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	defer func() { _ = storage.Close() }()
	from := git.NewRemote(storage, &config.RemoteConfig{Name: "origin", URLs: []string{url}})
	err := from.FetchContext(ctx, &git.FetchOptions{
		RefSpecs: []config.RefSpec{config.RefSpec("+" + ref + ":" + ref)}, Depth: depth, Auth: auth, Tags: git.NoTags, Force: true,
	})
	var none git.NoMatchingRefSpecError
	switch {
	case errors.Is(err, git.NoErrAlreadyUpToDate):
		return nil
	case errors.As(err, &none) || errors.Is(err, transport.ErrEmptyRemoteRepository):
		return errNoBranch
	}
	return err
}

// Clone fetches the ledger's whole history into dir, which is empty or absent, and opens it there: with the git binary
// where one is given, which is faster, or with go-git.
func Clone(ctx context.Context, location, dir string, o Options) (*Repo, error) {
	s, err := Open(location, o)
	if err != nil {
		return nil, err
	}
	if err := Init(dir, "none"); err != nil {
		return nil, err
	}
	if o.Git != "" {
		err = fetchByGit(ctx, dir, location, s.ref(), o)
	} else {
		var auth transport.AuthMethod
		if r, ok := s.at.(*remote); ok {
			auth = r.auth
		}
		err = fetch(ctx, dir, location, s.ref(), 0, auth)
	}
	if err != nil {
		return nil, fmt.Errorf("fetching %s from %s: %w", s.ref(), location, err)
	}
	return OpenRepo(dir, o.Git)
}

// fetchByGit runs git fetch in a repository of our own. The token goes through the environment, not the arguments, which
// every user of the machine can read.
func fetchByGit(ctx context.Context, dir, location, ref string, o Options) error {
	cmd := exec.CommandContext(ctx, o.Git, "--git-dir="+dir, "-c", "gc.auto=0", "-c", "fetch.fsckObjects=false", "fetch", "--quiet",
		"--no-tags", "--no-write-fetch-head", "--", location, "+"+ref+":"+ref)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if o.Password != "" {
		user := o.User
		if user == "" {
			user = "x-access-token"
		}
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0="+basic(user, o.Password))
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git fetch: %w: %.500s", err, strings.TrimSpace(string(said)))
	}
	return nil
}
