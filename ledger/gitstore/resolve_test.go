package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeadOfHead: a HEAD that names itself is refused, not followed without end.
func TestHeadOfHead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: HEAD\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &Repo{dir: dir}
	if _, err := r.Resolve("HEAD"); err == nil || !strings.Contains(err.Error(), "not a branch") {
		t.Errorf("HEAD of HEAD: %v", err)
	}
}
