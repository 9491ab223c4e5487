package gitstore

import (
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// backend serves the bare repositories below root through a real `git http-backend`.
func backend(t testing.TB, root string) *httptest.Server {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git binary")
	}
	path, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester",
			"GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=/dev/null"},
		InheritEnv: []string{"PATH"},
	})
	t.Cleanup(server.Close)
	return server
}

// served makes a bare repository and gives its URL. filters says whether the server gives single objects.
func served(t testing.TB, filters bool) string {
	t.Helper()
	dir := bare(t)
	for key, value := range map[string]string{"http.receivepack": "true",
		"uploadpack.allowFilter": map[bool]string{true: "true", false: "false"}[filters]} {
		if out, err := exec.Command("git", "--git-dir="+dir, "config", key, value).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	url := backend(t, filepath.Dir(dir)).URL + "/" + filepath.Base(dir)
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

func TestHTTPStore(t *testing.T) {
	for name, filters := range map[string]bool{"filters": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			storetest.TestStore(t, func(t *testing.T) func() ledger.Store {
				url := served(t, filters)
				return func() ledger.Store {
					s, err := Open(url, Options{Now: clock})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = s.Close() })
					return noTree{s}
				}
			})
		})
	}
}

// noTree hides that a store can be verified as a whole, which a remote's cannot without a clone.
type noTree struct{ ledger.Store }
