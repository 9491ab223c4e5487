package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/defendableos/referee/internal/gitobject"
)

// Work is a repository behind a URL, of which single commits are fetched as objects: no clone, no check-out, no
// reference. Files of more than 64 MiB are left out where the server can leave them out, and are then missing
// (ErrMissing) to who reads them.
type Work struct {
	remote *remote
	dir    string
	have   []string // commits that were fetched
	repo   *Repo
}

// maxWork bounds the bytes of one fetch.
const maxWork = 2 << 30

// OpenWork connects to a repository. What is fetched goes into a directory under Options.Cache, which Close removes.
// Nothing is sent yet.
func OpenWork(location string, o Options) (*Work, error) {
	o.Branch = "none"
	s, err := Open(location, o)
	if err != nil {
		return nil, err
	}
	r, ok := s.at.(*remote)
	if !ok {
		return nil, fmt.Errorf("%q: not the URL of a repository", location)
	}
	dir, err := os.MkdirTemp(o.Cache, "referee-work-")
	if err != nil {
		return nil, err
	}
	return &Work{remote: r, dir: dir}, errors.Join(Init(dir, "none"))
}

// Close removes what was fetched.
func (w *Work) Close() error { return os.RemoveAll(w.dir) }

// Tip returns what a full reference (refs/heads/main) holds now, "" if it does not exist.
func (w *Work) Tip(ctx context.Context, ref string) (string, error) {
	if err := w.remote.greetServer(ctx); err != nil {
		return "", err
	}
	if w.remote.wire != nil {
		return w.remote.wire.tip(ctx, ref)
	}
	if w.remote.web == nil {
		return "", errWorkHTTP
	}
	return w.remote.web.tip(ctx, ref)
}

// errWorkHTTP refuses what is not HTTP: the gate reaches no forge otherwise.
var errWorkHTTP = errors.New("single commits are fetched over HTTP only")

// Fetch brings commits with their files, without their history, and returns the repository that holds all that was
// fetched so far.
func (w *Work) Fetch(ctx context.Context, commits ...string) (*Repo, error) {
	return w.fetchCommits(ctx, 1, commits)
}

// Recent brings a commit with its files and those of the commits before it, depth of them in all, as far as there are
// so many.
func (w *Work) Recent(ctx context.Context, commit string, depth int) (*Repo, error) {
	return w.fetchCommits(ctx, max(2, depth), []string{commit})
}

// History brings a commit with all that came before it.
func (w *Work) History(ctx context.Context, commit string) (*Repo, error) {
	return w.fetchCommits(ctx, 0, []string{commit})
}

func (w *Work) fetchCommits(ctx context.Context, depth int, commits []string) (*Repo, error) {
	var wants []string
	for _, id := range commits {
		if !gitobject.IsID(id) {
			return nil, fmt.Errorf("%q: not a commit id", id)
		}
		if (depth != 1 || !slices.Contains(w.have, id)) && !slices.Contains(wants, id) {
			wants = append(wants, id)
		}
	}
	if len(wants) == 0 && w.repo != nil {
		return w.repo, nil
	}
	if err := w.remote.greetServer(ctx); err != nil {
		return nil, err
	}
	get := w.byWire
	if w.remote.wire == nil {
		get = w.byLibrary
	}
	if err := w.remote.again.retryReading(ctx, func() error { return get(ctx, depth, wants) }); err != nil {
		return nil, fmt.Errorf("fetching %.12s: %w", wants[0], err)
	}
	repo, err := OpenRepo(w.dir, "") // anew: the packs are read once, when it is opened
	if err != nil {
		return nil, err
	}
	w.have, w.repo = append(w.have, wants...), repo
	return repo, nil
}

func (w *Work) byWire(ctx context.Context, depth int, wants []string) error {
	args := []string{fmt.Sprintf("filter blob:limit=%d", maxBlob+1)}
	if depth > 0 {
		args = append(args, fmt.Sprintf("deepen %d", depth))
	}
	pack, end, err := w.remote.wire.fetchPack(ctx, wants, args...)
	if err != nil {
		return err
	}
	defer end()
	return keepPack(w.dir, pack)
}

// byLibrary asks a server that cannot leave files out.
func (w *Work) byLibrary(ctx context.Context, depth int, wants []string) error {
	if w.remote.web == nil {
		return errWorkHTTP
	}
	return w.remote.web.fetchObjects(ctx, w.dir, depth, wants)
}
