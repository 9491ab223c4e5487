package gitstore

import (
	"compress/zlib"
	"errors"
	"fmt"
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
	for _, o := range objects {
		name := path.Join("objects", o.ID[:2], o.ID[2:])
		if _, err := f.Stat(name); err == nil {
			continue
		}
		if err := writeOne(f, name, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.Kind, o.ID, err)
		}
	}
	return nil
}

func writeOne(f billy.Filesystem, name string, o gitobject.Object) error {
	if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), fmt.Sprintf("tmp_obj_%016x", rand.Uint64()))
	err := deflate(f, temp, o)
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

func deflate(f billy.Filesystem, name string, o gitobject.Object) (err error) {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := zlib.NewWriterLevel(file, zlib.BestSpeed)
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
