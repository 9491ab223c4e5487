package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/go-git/go-billy/v5"
)

// refSwap sets a reference if it still holds the old id. It keeps to git's own protocol (create <ref>.lock, write it,
// rename it over the reference), so that git and others may write at the same time, and lets one of our processes in at
// a time through a lock that the system takes back when a process dies (lockFile).
type refSwap struct {
	fs   billy.Filesystem // of the git directory; every write goes through it
	dir  string
	wait time.Duration // for a lock that another program holds
}

// lockFile is empty but while a reference is being swapped. Whoever gets its lock and finds something in it knows that
// the process before died there, and that a <ref>.lock that it finds is that process's.
const lockFile = "referee-ledger.lock"

// swap does what it says and, in between, calls store, which writes the objects that the new id stands for. It gives
// ledger.ErrStale if the reference does not hold old.
func (s *refSwap) swap(ctx context.Context, ref, old, id string, store func() error) (err error) {
	lock, err := s.fs.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the repository cannot be written: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the repository: %w", err)
	}
	died, err := io.ReadAll(io.LimitReader(lock, 1))
	if err != nil {
		return err
	}
	if err := s.checkHolds(ref, old); err != nil {
		return err
	}
	if err := store(); err != nil {
		return fmt.Errorf("writing the objects: %w", err)
	}
	if len(died) == 0 {
		if _, err := lock.Write([]byte{'!'}); err != nil {
			return err
		}
	} else if err := s.removeFile(ref + ".lock"); err != nil {
		return err
	}
	if err := s.replaceRef(ctx, ref, old, id); err != nil {
		return errors.Join(err, lock.Truncate(0))
	}
	_ = lock.Truncate(0) // the reference is set; a lock that still says otherwise only makes the next one look twice
	return nil
}

func (s *refSwap) checkHolds(ref, old string) error {
	now, err := readRef(s.dir, ref)
	if err != nil {
		return err
	}
	if now != old {
		return fmt.Errorf("%s is %.12s, not %.12s: %w", ref, now, old, ledger.ErrStale)
	}
	return nil
}

func (s *refSwap) removeFile(name string) error {
	if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceRef is git's protocol: while <ref>.lock exists, nobody else writes the reference.
func (s *refSwap) replaceRef(ctx context.Context, ref, old, id string) error {
	if err := s.fs.MkdirAll(path.Dir(ref), 0o755); err != nil {
		return err
	}
	name := ref + ".lock"
	f, err := s.createLock(ctx, name)
	if err != nil {
		return err
	}
	err = s.checkHolds(ref, old)
	if err == nil {
		_, err = f.Write([]byte(id + "\n"))
	}
	if err = errors.Join(err, toDisk(f), f.Close()); err == nil {
		err = s.fs.Rename(name, ref)
	}
	if err != nil {
		return errors.Join(err, s.removeFile(name))
	}
	return nil
}

// createLock makes the lock, and waits a while for one that another program holds.
func (s *refSwap) createLock(ctx context.Context, name string) (billy.File, error) {
	for until := time.Duration(0); ; until += minPause {
		f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		if until >= s.wait {
			return nil, fmt.Errorf("another program has locked %s; if none is running, remove that file: %w",
				path.Join(s.dir, name), ledger.ErrStale)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(minPause):
		}
	}
}

const minPause = 20 * time.Millisecond

// toDisk brings a file to the disk where the file system can.
func toDisk(f billy.File) error {
	if s, ok := f.(interface{ Sync() error }); ok {
		return s.Sync()
	}
	return nil
}
