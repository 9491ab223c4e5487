package referee

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrNotRegular is returned for a symlink, a folder or a device where a file must stand.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile reads at most limit bytes of a regular file. No part of its path may be a symlink: in a pull request, a link leads where its
// author wants.
func ReadFile(tree fs.FS, name string, limit int64) ([]byte, error) {
	if err := insideRun(name); err != nil {
		return nil, err
	}
	if err := noLinks(tree, name); err != nil {
		return nil, err
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: %w", name, ErrNotRegular)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return b, nil // cut at the limit; the strict reader then refuses it as too large
}

// noLinks looks at every part of the path.
func noLinks(tree fs.FS, name string) error {
	links, ok := tree.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		at := name[:i]
		info, err := links.Lstat(at)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("reading %s: %s is a symlink: %w", name, at, ErrNotRegular)
		}
	}
	return nil
}
