package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// goGit reads objects without a git binary. It sees objects only: configuration and references of the repository are
// never read through it.
type goGit struct {
	dir string

	mu    sync.Mutex // the storage is not safe for concurrent use
	store *filesystem.Storage
}

// deltaCache is how many bytes of bases for deltas are kept.
const deltaCache = 48 << 20

func newGoGit(dir string) *goGit {
	return &goGit{dir: dir, store: openStorage(dir)}
}

func openStorage(dir string) *filesystem.Storage {
	return filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(deltaCache), filesystem.Options{
		KeepDescriptors: true, AlternatesFS: osfs.New("/"),
	})
}

// read implements source.
func (g *goGit) read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error) {
	return readBulk(ctx, g, limit, ids)
}

// sizes implements bulk.
func (g *goGit) sizes(ctx context.Context, ids []string) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for _, id := range ids {
			size, err := g.objectSize(id)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(size, err) || err != nil {
				return
			}
		}
	}
}

func (g *goGit) objectSize(id string) (size int64, err error) {
	err = g.tryRelisting(func() error {
		size, err = g.store.EncodedObjectSize(plumbing.NewHash(id))
		return err
	})
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	return size, nil
}

// tryRelisting does what it is given, and once more with the packs listed anew if an object was not found: another
// process may have packed it meanwhile.
func (g *goGit) tryRelisting(do func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := do()
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		_ = g.store.Close()
		g.store = openStorage(g.dir)
		err = do()
	}
	return err
}

// bodies implements bulk.
func (g *goGit) bodies(ctx context.Context, ids []string) iter.Seq2[gitobject.Object, error] {
	return func(yield func(gitobject.Object, error) bool) {
		for _, id := range ids {
			o, err := g.objectBody(id)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func (g *goGit) objectBody(id string) (o gitobject.Object, err error) {
	err = g.tryRelisting(func() error {
		o, err = g.inflateObject(plumbing.NewHash(id))
		return err
	})
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = ErrMissing
	}
	if err != nil {
		return gitobject.Object{}, fmt.Errorf("%s: %w", id, err)
	}
	o.ID = id
	return o, nil
}

func (g *goGit) inflateObject(hash plumbing.Hash) (o gitobject.Object, err error) {
	encoded, err := g.store.EncodedObject(plumbing.AnyObject, hash)
	if err != nil {
		return o, err
	}
	r, err := encoded.Reader()
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o.Kind, o.Data = gitobject.Kind(encoded.Type().String()), make([]byte, encoded.Size())
	_, err = io.ReadFull(r, o.Data)
	return o, err
}
