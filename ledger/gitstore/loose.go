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

// writeLoose writes objects as git does: whole under another name, then renamed. One that is killed in between leaves a
// file that git's own cleaning removes.
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

// compressorFor returns the compressor for an object. A tree is mostly hashes, which do not get shorter.
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

func (l *looseWriter) writeOne(f billy.Filesystem, name string, o gitobject.Object) error {
	if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), fmt.Sprintf("tmp_obj_%016x", rand.Uint64()))
	err := l.deflateTo(f, temp, o)
	if err == nil {
		err = f.Rename(temp, name)
	}
	if err != nil {
		if gone := f.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

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
