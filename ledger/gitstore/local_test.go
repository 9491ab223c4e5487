package gitstore

import (
	"os/exec"
	"testing"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// fixedClock is after every date of the samples.
func fixedClock() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// gitReaders are the two ways to read: with the binary, if there is one, and without.
func gitReaders(t testing.TB) map[string]string {
	all := map[string]string{"go-git": ""}
	if path, err := exec.LookPath("git"); err == nil {
		all["git"] = path
	}
	return all
}

// initBare makes an empty bare repository.
func initBare(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := Init(dir, "ledger"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLocalStore(t *testing.T) {
	t.Parallel()
	for name, git := range gitReaders(t) {
		t.Run(name, func(t *testing.T) {
			conform := storetest.TestStore
			if git != "" { // it is written in the same way; git reads
				conform = storetest.TestTransport
			}
			conform(t, func(t *testing.T) func() ledger.Store {
				dir := initBare(t)
				return func() ledger.Store {
					s, err := Open(dir, Options{Git: git, Now: fixedClock})
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
			})
		})
	}
}
