package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// mirror holds the newest commit of a branch whole, for servers that give nothing less.
type mirror struct {
	o    Options
	url  string
	ref  string
	web  *web   // nil where the URL is not HTTP
	dir  string // a bare repository; "" before the first update
	repo *Repo
}

// updateMirror fetches what is new and returns the branch's commit, "" if there is no branch.
func (m *mirror) updateMirror(ctx context.Context) (string, error) {
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
	err := m.fetchBranch(ctx, m.dir, 1)
	if errors.Is(err, errNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return readRef(m.dir, m.ref)
}

// fetchBranch brings the branch into a bare repository, depth commits of it, 0 for all: over HTTP by go-git, and over
// everything else by the git binary, which knows the user's keys and hosts.
func (m *mirror) fetchBranch(ctx context.Context, dir string, depth int) error {
	if m.web == nil {
		return fetchByGit(ctx, dir, m.url, m.ref, depth, m.o)
	}
	return m.web.fetch(ctx, dir, m.ref, depth)
}

// read implements source.
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
	r, remote := s.at.(*remote)
	switch {
	case o.Git != "":
		err = fetchByGit(ctx, dir, location, s.ledgerRef(), 0, o)
	case remote:
		err = r.mirror.fetchBranch(ctx, dir, 0)
	default:
		err = errors.New("git not found: it is needed to copy a repository on this machine")
	}
	if err != nil {
		return nil, fmt.Errorf("fetching %s from %s: %w", s.ledgerRef(), location, err)
	}
	return OpenRepo(dir, o.Git)
}

// fetchByGit runs git fetch in a repository of our own. The token goes through the environment, not the arguments,
// which every user of the machine can read.
func fetchByGit(ctx context.Context, dir, location, ref string, depth int, o Options) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head"}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	err := runGit(ctx, dir, o, append(args, "--", location, "+"+ref+":"+ref)...)
	if err != nil && strings.Contains(err.Error(), "couldn't find remote ref") {
		return errNoBranch
	}
	return err
}

// runGit runs the git binary in a repository of our own.
func runGit(ctx context.Context, dir string, o Options, args ...string) error {
	cmd := exec.CommandContext(ctx, o.Git,
		append([]string{"--git-dir=" + dir, "-c", "gc.auto=0", "-c", "fetch.fsckObjects=false"}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if o.Password != "" {
		user := o.User
		if user == "" {
			user = "x-access-token"
		}
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
			"GIT_CONFIG_VALUE_0="+basicHeader(user, o.Password))
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %.500s", args[0], err, strings.TrimSpace(string(said)))
	}
	return nil
}
