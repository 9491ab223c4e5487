package gitstore

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// local is a branch of a repository on this machine. Objects are written into it, never through a work tree or an
// index.
type local struct {
	repo *Repo
	ref  string
	fs   billy.Filesystem
}

// lockWait is how long a lock that another program holds is waited for.
const lockWait = 3 * time.Second

func openLocal(path string, o Options) (*Store, error) {
	repo, err := OpenRepo(path, o.Git)
	if err != nil {
		return nil, err
	}
	s := &Store{o: o, objects: repo.objects, repo: repo}
	s.at = &local{repo: repo, ref: s.ledgerRef(), fs: osfs.New(repo.dir)}
	return s, nil
}

func (l *local) tip(context.Context) (string, error) { return readRef(l.repo.dir, l.ref) }

// publish refuses a branch that is checked out: the work tree would seem to undo what was appended.
func (l *local) publish(ctx context.Context, old, commit string, objects []gitobject.Object) error {
	if short, ok := strings.CutPrefix(l.ref, "refs/remotes/origin/"); ok {
		return fmt.Errorf("%s is this clone's copy of a remote branch and cannot be appended to; run `git branch %s "+
			"origin/%s` to make a local one", l.ref, short, short)
	}
	if at, ok := firstLine(filepath.Join(l.repo.dir, "HEAD"), "ref: "); ok && at == l.ref && l.repo.work {
		return fmt.Errorf("%s is checked out in %s; switch to another branch first", l.ref, filepath.Dir(l.repo.dir))
	}
	swap := &refSwap{fs: l.fs, dir: l.repo.dir, wait: lockWait}
	return swap.swap(ctx, l.ref, old, commit, func() error { return writeLoose(l.fs, objects) })
}

// Tree returns a state of the ledger for verification as a whole. A remote's is fetched first.
func (s *Store) Tree(at ledger.Snapshot) (ledger.Tree, error) {
	if at.ID == "" {
		return ledger.FileTree{}, nil
	}
	if s.repo == nil {
		return nil, fmt.Errorf("a remote's ledger is verified in a clone (Clone)")
	}
	return s.repo.Tree(context.Background(), at.ID), nil
}
