package gitstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Init makes dir, which is empty or absent, a bare repository without a commit. It writes what git init would, and no
// hooks or templates, so it needs no git binary and nothing of the user's template directory gets in. A directory with
// files is refused, because they could act as a repository's.
func Init(dir, branch string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	var err error
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o755))
	}
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = "+
			"true\n\tbare = true\n"), 0o644))
}
