package gitstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/ledger"
)

// failing is a connection on which requests fail: the n-th one, or all from it on. It notes what was sent.
type failing struct {
	left   int
	always bool
	fault  func(*http.Request) (*http.Response, error)
	sent   []string
	hit    string
}

// RoundTrip is http.RoundTripper's.
func (f *failing) RoundTrip(req *http.Request) (*http.Response, error) {
	f.sent = append(f.sent, req.Method+" "+req.URL.Path)
	f.left--
	if f.left == -1 || f.always && f.left < 0 {
		f.hit = req.Method + " " + req.URL.Path
		return f.fault(req)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// respondWith answers without the server.
func respondWith(code int, header ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: code, Header: http.Header{}, Request: req,
			Body: io.NopCloser(strings.NewReader("try later"))}
		for i := 0; i+1 < len(header); i += 2 {
			resp.Header.Set(header[i], header[i+1])
		}
		return resp, nil
	}
}

// carriedOut has the server do what was asked, and loses the answer after some bytes.
func carriedOut(after int64) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		start := all[:min(int64(len(all)/2), after)]
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(start), broken{}))
		return resp, nil
	}
}

type broken struct{}

// Read is io.Reader's.
func (broken) Read([]byte) (int, error) { return 0, errLost }

// openWithoutWaits opens a store whose waits are noted and take no time.
func openWithoutWaits(t *testing.T, url string, client http.RoundTripper, maxWait time.Duration) (*Store,
	*[]time.Duration) {
	t.Helper()
	s, err := connectTo(url, Options{Now: fixedClock, Branch: "ledger", MaxWait: maxWait}, &http.Client{Transport: client})
	if err != nil {
		t.Fatal(err)
	}
	waits := new([]time.Duration)
	s.at.(*remote).again.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return s, waits
}

// TestPatience: each request of an append fails once, on a server that gives single objects and on one that does not.
// The append succeeds, its receipt is there once, and the waits are the API's: a second for a server that fails, and
// what it says where it says it. Only a push waits for nothing, unless it was refused before it began: the branch tells
// what became of it.
func TestPatience(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  func(*http.Request) (*http.Response, error)
		wait   time.Duration
		pushes bool // the wait is also that of a push
		sweep  bool // at each request, and not at the first only
	}{
		"reset": {func(*http.Request) (*http.Response, error) { return nil, errLost }, time.Second,
			false, false},
		"502":             {respondWith(502), time.Second, false, true},
		"503 with a time": {respondWith(503, "Retry-After", "7"), 7 * time.Second, false, false},
		"429":             {respondWith(429, "Retry-After", "3"), 3 * time.Second, true, true},
		"429 with a date": {respondWith(429, "Retry-After", "Tue, 01 Dec 2026 12:00:09 GMT", "Date",
			"Tue, 01 Dec 2026 12:00:00 GMT"), 9 * time.Second, true, false},
		"429 without a time":   {respondWith(429), time.Minute, true, false},
		"403 with a time":      {respondWith(403, "Retry-After", "60"), time.Minute, true, false},
		"the answer is lost":   {carriedOut(0), time.Second, false, false},
		"the answer is cut":    {carriedOut(1 << 20), time.Second, false, true},
		"nothing but a second": {respondWith(500, "Retry-After", "0"), time.Second, false, false},
	} {
		for _, filters := range []bool{true, false} {
			// A server that gives whole branches is read by other code, and what breaks off is that code's to see.
			if !filters && (!c.sweep || name != "the answer is cut" && !isFullRun()) {
				continue
			}
			t.Run(fmt.Sprintf("%s/filters=%v", name, filters), func(t *testing.T) {
				url := serveBare(t, filters)
				count, pushed := int64(0), false
				for n := 0; ; n++ {
					f := &failing{left: n, fault: c.fault}
					s, waits := openWithoutWaits(t, url, f, 0)
					result, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(count))
					if err != nil || result.Head.Count != count+1 || len(result.Added) != 1 {
						t.Fatalf("request %d (%s): %+v, %v", n, f.hit, result.Head, err)
					}
					if count++; f.hit == "" || n > 0 && !c.sweep {
						break
					}
					push := f.hit[:4] == "POST" && strings.HasSuffix(f.hit, "/git-receive-pack")
					pushed = pushed || push
					if want := []time.Duration{c.wait}; (!push || c.pushes) && !slices.Equal(*waits, want) || push &&
						!c.pushes && len(*waits) > 0 {
						t.Errorf("%s: waited %v, want %v", f.hit, *waits, want)
					}
				}
				if c.sweep && !pushed {
					t.Error("no push failed")
				}
				wantVerified(t, serverDir(t, url), count)
			})
		}
	}
}

// TestPatienceEnds: what goes on failing ends in an error that says what, and how long it was waited for.
func TestPatienceEnds(t *testing.T) {
	url := serveBare(t, true)
	for name, c := range map[string]struct {
		fault   func(*http.Request) (*http.Response, error)
		maxWait time.Duration
		waits   []time.Duration
		text    string
	}{
		"503": {respondWith(503), 0, []time.Duration{1e9, 2e9, 4e9},
			"the server answers 503: try later; waited 7s for it to recover"},
		"no answer": {func(*http.Request) (*http.Response, error) { return nil, errLost }, 0,
			[]time.Duration{1e9, 2e9, 4e9}, "connection reset by peer; waited 7s for it to recover"},
		"a limit": {respondWith(429, "Retry-After", "50"), 0, []time.Duration{50e9, 50e9},
			"429: try later; waited 1m40s; the next wait would be 50s, and 20s of 2m0s are left"},
		"a long limit": {respondWith(429, "Retry-After", "3600"), 0, nil,
			"429: try later; waited 0s; the next wait would be 1h0m0s, and 2m0s of 2m0s are left"},
		"limits": {respondWith(429), 10 * time.Minute, []time.Duration{60e9, 120e9, 240e9},
			"429: try later; waited 7m0s; the next wait would be 8m0s, and 3m0s of 10m0s are left"},
		"no patience":   {respondWith(503), -1, nil, "the server answers 503: try later"},
		"no permission": {respondWith(403), 0, nil, "the server wants another token or user (403)"},
		"no repository": {respondWith(404), 0, nil, "(404)"},
		"half a patience": {respondWith(500), 2 * time.Second, []time.Duration{1e9},
			"500: try later; waited 1s; the next wait would be 2s, and 1s of 2s are left"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{always: true, fault: c.fault}
			s, waits := openWithoutWaits(t, url, f, c.maxWait)
			_, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0))
			if err == nil || !strings.Contains(err.Error(), c.text) || !slices.Equal(*waits, c.waits) ||
				len(f.sent) != len(c.waits)+1 {
				t.Errorf("%v\nafter %v and %d requests; want %q after %v", err, *waits, len(f.sent), c.text, c.waits)
			}
		})
	}
}

// TestSilence: a server that says nothing for a minute has hung up, whether before its answer or within it.
func TestSilence(t *testing.T) {
	hang := func(req *http.Request) error {
		<-req.Context().Done()
		return req.Context().Err()
	}
	for name, f := range map[string]func(*http.Request) (*http.Response, error){
		"no answer": func(req *http.Request) (*http.Response, error) { return nil, hang(req) },
		"half an answer": func(req *http.Request) (*http.Response, error) {
			time.Sleep(50 * time.Second) // slow is not silent
			r, w := io.Pipe()
			go func() {
				_, _ = w.Write([]byte("001e# service=git-upload-pack\n")) // nobody reads on when the test is over
				time.Sleep(50 * time.Second)
				_, _ = w.Write([]byte("0000"))
				_ = w.CloseWithError(hang(req))
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Request: req, Body: r}, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, waits := openWithoutWaits(t, "http://git.example/x.git", &failing{always: true, fault: f}, 0)
			start := time.Now()
			_, err := s.Head(t.Context())
			once := time.Minute
			if name != "no answer" {
				once = 160 * time.Second
			}
			if took := time.Since(start); !errors.Is(err, errSilent) || took != 4*once || len(*waits) != 3 {
				t.Errorf("%s: %v after %s and %v; want four times %s", name, err, took, *waits, once)
			}
		})
	}
}

// TestCutPack: a pack that breaks off behind its first megabyte is fetched again, and nothing of the first one is left.
func TestCutPack(t *testing.T) {
	t.Parallel()
	for _, filters := range []bool{true, false} {
		url := serveBare(t, filters)
		var noise bytes.Buffer // that no compression makes small
		for seed := sha256.Sum256(nil); noise.Len() < 3<<20; seed = sha256.Sum256(seed[:]) {
			noise.Write(seed[:])
		}
		git := func(stdin []byte, args ...string) string {
			cmd := exec.Command("git", append([]string{"--git-dir=" + serverDir(t, url)}, args...)...)
			cmd.Stdin = bytes.NewReader(stdin)
			cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x",
				"GIT_COMMITTER_EMAIL=x")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(out))
		}
		blob := git(noise.Bytes(), "hash-object", "-w", "--stdin")
		tree := git([]byte("100644 blob "+blob+"\tnoise\n"), "mktree")
		commit := git(nil, "commit-tree", "-m", "x", tree)
		git(nil, "update-ref", "refs/heads/main", commit)
		w, err := OpenWork(url, Options{Cache: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		cuts := 0
		w.remote.again.next = &failing{always: true, fault: func(req *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(req.URL.Path, "/git-upload-pack") || cuts == 2 {
				return http.DefaultTransport.RoundTrip(req)
			}
			cuts++
			return carriedOut(1<<20 + 1<<19)(req)
		}}
		var waits []time.Duration
		w.remote.again.sleep = func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}
		repo, err := w.Fetch(t.Context(), commit)
		if err != nil || cuts != 2 || !slices.Equal(waits, []time.Duration{1e9, 2e9}) {
			t.Fatalf("filters=%v: %v after %d cuts and %v", filters, err, cuts, waits)
		}
		fs, err := repo.TreeFS(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile("noise")
		if err != nil || !bytes.Equal(got, noise.Bytes()) {
			t.Errorf("filters=%v: other bytes, %v", filters, err)
		}
		if left, _ := filepath.Glob(filepath.Join(w.dir, "objects", "pack", "tmp*")); len(left) > 0 {
			t.Errorf("filters=%v: left behind: %v", filters, left)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
