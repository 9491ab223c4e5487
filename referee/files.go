package referee

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
)

// ErrNotRegular is returned for a symlink, a folder or a device where a file must stand.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile reads at most limit bytes of a regular file. No part of its path may be a symlink: in a pull request, a link
// leads where its author wants.
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

// identity hashes a file's bytes both ways: SHA-256, and the id that git gives them.
type identity struct {
	io.Writer
	sum, blob hash.Hash
}

func newIdentity(size int64) *identity {
	id := &identity{sum: sha256.New(), blob: sha1.New()}
	fmt.Fprintf(id.blob, "blob %d\x00", size)
	id.Writer = io.MultiWriter(id.sum, id.blob)
	return id
}

func (id *identity) submissionRef() SubmissionRef {
	return SubmissionRef{SHA256: hex.EncodeToString(id.sum.Sum(nil)), GitBlob: hex.EncodeToString(id.blob.Sum(nil))}
}

// hashLargeSubmission streams a file that is too large to read, so that two of them are not taken for one.
func hashLargeSubmission(tree fs.FS, name string) (*SubmissionRef, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	id := newIdentity(info.Size())
	if _, err := io.Copy(id, f); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	ref := id.submissionRef()
	return &ref, nil
}
