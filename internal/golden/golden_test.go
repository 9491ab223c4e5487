package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that notes what it is told.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Name() string                      { return "TestPage" }
func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }

func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	same := &recorder{TB: t}
	if Compare(same, file, []byte("one\ntwo\n")); same.said != "" {
		t.Errorf("the same bytes: %q", same.said)
	}
	for _, made := range []string{"one\nzwei\n", "one\ntwo", "one\n", "one\ntwo\nthree\n", ""} {
		other := &recorder{TB: t}
		Compare(other, file, []byte(made))
		if !strings.Contains(other.said, "is stale") || !strings.Contains(other.said, "-run TestPage -update") ||
			!strings.Contains(other.said, "line ") {
			t.Errorf("%q: %q", made, other.said)
		}
	}
}
