package gitstore

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// lossy loses the n-th request, or its answer after the server has done it.
type lossy struct {
	left   int
	answer bool
	hit    string // what was lost
}

var errLost = errors.New("connection reset by peer")

// RoundTrip is http.RoundTripper's.
func (l *lossy) RoundTrip(req *http.Request) (*http.Response, error) {
	l.left--
	if l.left != -1 {
		return http.DefaultTransport.RoundTrip(req)
	}
	l.hit = req.Method + " " + req.URL.Path
	if !l.answer {
		return nil, errLost
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	return nil, errLost
}

// TestLostRequests loses each request of an append, and each answer, in turn, to a client without patience. Whatever
// was lost, the receipt is there once at the end.
func TestLostRequests(t *testing.T) {
	t.Parallel()
	url := serveBare(t, true)
	dir := t.TempDir()
	count := int64(0)
	pushes := 0
	for _, answer := range []bool{false, true} {
		for n := 0; ; n++ {
			l := &lossy{left: n, answer: answer}
			s, err := connectTo(url, Options{Now: fixedClock, Branch: "ledger", MaxWait: -1}, &http.Client{Transport: l})
			if err != nil {
				t.Fatal(err)
			}
			_, err = ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(count))
			if err != nil && !errors.Is(err, errLost) {
				t.Fatalf("request %d lost (%s): %v", n, l.hit, err)
			}
			if strings.HasPrefix(l.hit, "POST") && strings.HasSuffix(l.hit, "git-receive-pack") {
				if pushes++; err != nil {
					t.Errorf("a lost push is tried again or found: %v", err)
				}
			}
			again, err := Open(url, Options{Now: fixedClock})
			if err != nil {
				t.Fatal(err)
			}
			result, err := ledger.Append(t.Context(), again, ledger.Retry{}, draftSample(count))
			if err != nil {
				t.Fatal(err)
			}
			if count++; result.Head.Count != count {
				t.Fatalf("request %d lost (%s): %d entries, want %d", n, l.hit, result.Head.Count, count)
			}
			if l.hit == "" {
				break
			}
		}
	}
	if pushes != 2 {
		t.Errorf("%d pushes were lost, want one request and one answer", pushes)
	}
	repo, err := Clone(t.Context(), url, filepath.Join(dir, "clone"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantVerified(t, repo.Dir(), count)
}

// TestClone fetches the whole history, with git and without, and both verify to the same head.
func TestClone(t *testing.T) {
	url := serveBare(t, true)
	s, err := Open(url, Options{Now: fixedClock})
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(3) {
		if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(n)); err != nil {
			t.Fatal(err)
		}
	}
	for name, git := range gitReaders(t) {
		repo, err := Clone(t.Context(), url, filepath.Join(t.TempDir(), "clone"), Options{Git: git})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantVerified(t, repo.Dir(), 3)
	}
	if _, err := Clone(t.Context(), url, t.TempDir(), Options{Branch: "other"}); err == nil {
		t.Error("a branch that is not there was cloned")
	}
}

// TestRefusedPush holds that what no second try can change is not tried twice.
func TestRefusedPush(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"401": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusUnauthorized) },
		"403": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", http.StatusForbidden) },
		"404": func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) },
	} {
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			if r.URL.Path == "" {
				t.Error("no path")
			}
			answer(w, r)
		}))
		s, err := Open(server.URL+"/x", Options{Now: fixedClock})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0))
		if err == nil || !strings.Contains(err.Error(), name) || calls != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
		server.Close()
	}
	if !isLasting(transport.ErrAuthorizationFailed) {
		t.Error("a refused push is tried again")
	}
}

// TestRaces holds that the texts of a lost race are known, and no other.
func TestRaces(t *testing.T) {
	for _, text := range []string{"command error on refs/heads/ledger: failed to update ref", "object not found",
		"non-fast-forward update: refs/heads/ledger"} {
		if !isRace(errors.New(text)) {
			t.Errorf("%q is no race", text)
		}
	}
	if isRace(errors.New("pre-receive hook declined")) {
		t.Error("a declined push is a race")
	}
}

// TestDeclinedPush has a hook of the server's decline: that is final, and says why.
func TestDeclinedPush(t *testing.T) {
	url := servedByGit(t, true)
	s, err := Open(url, Options{Now: fixedClock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	// A bound on what the server takes in is declined by it, as a hook would.
	dir := serverDir(t, url)
	if out, err := exec.Command("git", "--git-dir="+dir, "config", "receive.maxInputSize",
		"10").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, err = ledger.Append(t.Context(), s, ledger.Retry{Tries: 3}, draftSample(1))
	if err == nil || errors.Is(err, ledger.ErrStale) {
		t.Errorf("%v, want that the push was refused", err)
	}
	at, err := s.Head(t.Context())
	if err != nil || at.Head.Count != 1 {
		t.Errorf("%d entries, %v", at.Head.Count, err)
	}
}
