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
// rename it over the reference), so that git and others may write at the same time. Among our own processes a second
// lock comes before it, which the system takes back when a process dies (lockFile): a <ref>.lock does not go away by
// itself, and removing one that is merely slow would let two writers in.
type refSwap struct {
	fs   billy.Filesystem // of the git directory; every write goes through it
	dir  string
	wait time.Duration // for a lock that another program holds
}

// lockFile is empty but while a reference is being swapped. Whoever gets its lock and finds something in it knows that
// the process before died there, and that a <ref>.lock that it finds is that process's. The mark is written after the
// objects and before <ref>.lock, so it is there whenever a <ref>.lock of ours can be.
const lockFile = "referee-ledger.lock"

// swap sets the reference from old to id and, in between, calls store, which writes the objects that id names. It
// returns ledger.ErrStale if the reference does not hold old. Objects come before the reference: a process that dies
// between the two leaves objects that nobody names, and never a branch that names what is missing. Each step is broken
// in turn by TestEveryWriteFails and TestKilledProcesses.
func (s *refSwap) swap(ctx context.Context, ref, old, id string, store func() error) (err error) {
	lock, err := s.fs.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the repository cannot be written: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the repository: %w", err)
	}
	// Read under the lock: only now can nobody be in the middle of writing it.
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
	// An empty file: nobody died here, so a <ref>.lock, if there is one, belongs to another program and stays.
	if len(died) == 0 {
		if _, err := lock.Write([]byte{'!'}); err != nil {
			return err
		}
	} else if err := s.removeFile(ref + ".lock"); err != nil {
		return err
	}
	// From here to the truncation, a death is visible to the next process.
	if err := s.replaceRef(ctx, ref, old, id); err != nil {
		return errors.Join(err, lock.Truncate(0))
	}
	_ = lock.Truncate(0) // the reference is set; a lock that still says otherwise only makes the next one look twice
	return nil
}

// checkHolds is the comparison of the compare-and-swap. It is made twice: before any work, and again under <ref>.lock,
// where nobody can move the reference any more.
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

// removeFile is content if the file is gone already.
func (s *refSwap) removeFile(name string) error {
	if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceRef is git's protocol: while <ref>.lock exists, nobody else writes the reference. It is created exclusively,
// and brought to the disk before the rename, or a crash could leave an empty reference under the right name. After a
// failure the lock is removed, for it is ours.
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

// createLock makes the lock, and waits a while for one that another program holds. It never removes such a lock
// (TestForeignLock): nothing tells a program that died from one that is slow.
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

// minPause is how often a foreign lock is looked at; git holds one for a few milliseconds.
const minPause = 20 * time.Millisecond

// toDisk brings a file to the disk where the file system can. File systems in memory cannot, and need not.
func toDisk(f billy.File) error {
	if s, ok := f.(interface{ Sync() error }); ok {
		return s.Sync()
	}
	return nil
}
