package gitstore

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// isFullRun says that everything is to speak to git itself, in full length.
func isFullRun() bool { return storetest.Full() }

// serveAt serves the bare repositories below root over HTTP.
func serveAt(t testing.TB, root string, o storetest.ServerOptions) *httptest.Server {
	t.Helper()
	o.Env = append(o.Env, "REMOTE_USER=tester")
	handler, err := storetest.NewServer(root, o)
	if err != nil {
		t.Skip("no git binary")
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// serveBare makes a bare repository and gives its URL. filters says whether the server gives single objects. Where it
// does, it is of storetest, which answers as git does (its TestAnswersAreGits); where not, git gives whole branches.
func serveBare(t testing.TB, filters bool) string {
	t.Helper()
	return servedBy(t, storetest.ServerOptions{Filters: filters, Pushes: true, Real: isFullRun()})
}

// servedByGit is served by git itself.
func servedByGit(t testing.TB, filters bool) string {
	t.Helper()
	return servedBy(t, storetest.ServerOptions{Filters: filters, Real: true})
}

func servedBy(t testing.TB, o storetest.ServerOptions) string {
	t.Helper()
	dir := initBare(t)
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	config = fmt.Appendf(config, "\tfsync = none\n[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = %v\n"+
		"[receive]\n\tautogc = false\n", o.Filters)
	if err := os.WriteFile(filepath.Join(dir, "config"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	url := serveAt(t, filepath.Dir(dir), o).URL + "/" + filepath.Base(dir)
	dirs.Store(url, dir)
	return url
}

// dirs are the repositories behind the URLs.
var dirs sync.Map

func serverDir(t testing.TB, url string) string {
	t.Helper()
	dir, ok := dirs.Load(url)
	if !ok {
		t.Fatal("no such server")
	}
	return dir.(string)
}

// TestHTTPStore holds the store over HTTP to every store's conformance: at a server that gives single objects, in full,
// at one that gives whole branches, and at git itself.
func TestHTTPStore(t *testing.T) {
	t.Parallel()
	whole := func(t *testing.T) string { return serveBare(t, false) }
	filters := func(t *testing.T) string { return serveBare(t, true) }
	t.Run("filters", func(t *testing.T) { storetest.TestStore(t, overHTTP(filters)) })
	t.Run("whole", func(t *testing.T) { storetest.TestTransport(t, overHTTP(whole)) })
	t.Run("git", func(t *testing.T) {
		if isFullRun() {
			t.Skip("the other two speak to git itself")
		}
		storetest.TestTransport(t, overHTTP(func(t *testing.T) string { return servedByGit(t, true) }))
	})
}

func overHTTP(serve func(t *testing.T) string) func(t *testing.T) func() ledger.Store {
	return func(t *testing.T) func() ledger.Store {
		url := serve(t)
		return func() ledger.Store {
			s, err := Open(url, Options{Now: fixedClock})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return noTree{s}
		}
	}
}

// noTree hides that a store can be verified as a whole, which a remote's cannot without a clone.
type noTree struct{ ledger.Store }
