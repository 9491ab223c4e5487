package gitstore

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/go-git/go-billy/v5"
)

// writeLoose writes objects as git does: whole under another name, then renamed, so that an object is there complete or
// not at all. A process that is killed in between leaves a file that git's own cleaning removes (git prune knows
// tmp_obj_). An object that is there already is not written again: its name is its content.
func writeLoose(f billy.Filesystem, objects []gitobject.Object) error {
	var l looseWriter
	for _, o := range objects {
		name := path.Join("objects", o.ID[:2], o.ID[2:])
		if _, err := f.Stat(name); err == nil {
			continue
		}
		if err := l.writeOne(f, name, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.Kind, o.ID, err)
		}
	}
	return nil
}

// looseWriter keeps the compressors, whose making takes longer than most objects.
type looseWriter struct{ fast, stored *zlib.Writer }

// compressorFor returns the compressor for an object. A tree is mostly hashes, which do not get shorter. BestSpeed,
// because an append waits for it and git packs the objects later anyway.
func (l *looseWriter) compressorFor(w io.Writer, kind gitobject.Kind) (*zlib.Writer, error) {
	z, level := &l.fast, zlib.BestSpeed
	if kind == gitobject.Tree {
		z, level = &l.stored, zlib.NoCompression
	}
	if *z != nil {
		(*z).Reset(w)
		return *z, nil
	}
	var err error
	*z, err = zlib.NewWriterLevel(w, level)
	return *z, err
}

// writeOne writes one object under a random name and renames it. Two processes may write the same object; the second
// rename puts equal bytes in the place of equal bytes.
func (l *looseWriter) writeOne(f billy.Filesystem, name string, o gitobject.Object) error {
	if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	// In the same directory, or the rename could cross file systems, where it is not atomic.
	temp := path.Join(path.Dir(name), fmt.Sprintf("tmp_obj_%016x", rand.Uint64()))
	err := l.deflateTo(f, temp, o)
	if err == nil {
		err = f.Rename(temp, name)
	}
	if err != nil {
		// A full disk must not stay full because of what could not be completed (TestFileLimit).
		if gone := f.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// deflateTo writes the header "<kind> <size>\0" and the bytes through zlib (gitrepository-layout calls these loose
// objects). The file is read-only, as git's are, and on the disk before it is renamed: after a crash, a branch must not
// name an object whose bytes were never written.
func (l *looseWriter) deflateTo(f billy.Filesystem, name string, o gitobject.Object) (err error) {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := l.compressorFor(file, o.Kind)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(z, "%s %d\x00", o.Kind, len(o.Data)); err != nil {
		return err
	}
	if _, err := z.Write(o.Data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return toDisk(file)
}
