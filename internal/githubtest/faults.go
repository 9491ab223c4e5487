package githubtest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"time"
)

// Fault is something that goes wrong, or happens, at a request of the API, or of git's own protocol.
type Fault struct {
	// at one of git's: Path is then info/refs?service=git-upload-pack, git-upload-pack, or the same of git-receive-pack
	Git    bool
	Method string // "" any
	// pattern of package path below /repos/OWNER/NAME, "*" for one element, "**" at its end for any number; "" any
	Path  string
	Skip  int // so many matching requests pass first
	Times int // how often; 0 is once, below 0 always

	// runs before the request is carried out, without the server's lock: a push, a dismissed review
	Do         func()
	Status     int         // answers with this status instead
	Header     http.Header // of that answer
	Body       string      // of that answer
	DropBefore bool        // breaks the connection, nothing is carried out
	DropAfter  bool        // carries the request out and breaks the connection
	FailAfter  bool        // carries the request out and answers with Status
	Stale      bool        // a reference is read as it was before its last change
}

// The faults that GitHub is known for.
var (
	BadToken = Fault{Status: 401, Body: `{"message":"Bad credentials",` +
		`"documentation_url":"https://docs.github.com/rest","status":"401"}`}
	NoAccess = Fault{Status: 403, Body: `{"message":"Resource not accessible by integration",` +
		`"documentation_url":"https://docs.github.com/rest","status":"403"}`}
	Missing = Fault{Status: 404, Body: `{"message":"Not Found","documentation_url":"https://docs.github.com/rest",` +
		`"status":"404"}`}
	Conflicted = Fault{Status: 409, Body: `{"message":"Conflict","status":"409"}`}
	Abused     = Fault{Status: 422, Body: `{"message":"Validation Failed","errors":[{"resource":"PullRequestReview",` +
		`"code":"abuse","field":"base"}]}`}
	Unicorn    = Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Unicorn!</html>"}
	DropBefore = Fault{DropBefore: true}
	DropAfter  = Fault{DropAfter: true}
)

// RetryAfter is a secondary rate limit (403 or 429) that names its seconds.
func RetryAfter(status, seconds int) Fault {
	return Fault{Status: status, Header: http.Header{"Retry-After": {fmt.Sprint(seconds)}},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api` +
			`#about-secondary-rate-limits"}`}
}

// Spent is the primary rate limit (403 or 429), which ends so many seconds from now.
func (s *Server) Spent(status, seconds int) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Fault{Status: status, Body: `{"message":"API rate limit exceeded for installation."}`,
		Header: http.Header{"X-Ratelimit-Limit": {"1000"},
			"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {fmt.Sprint(s.now.Unix() + int64(seconds))}}}
}

// OnGit gives the fault for a method and path of git's protocol.
func (f Fault) OnGit(method, pattern string) Fault {
	f.Git = true
	return f.On(method, pattern)
}

// On gives the fault for a method and path.
func (f Fault) On(method, pattern string) Fault {
	f.Method, f.Path = method, pattern
	return f
}

// Always gives the fault for every matching request.
func (f Fault) Always() Fault {
	f.Times = -1
	return f
}

// Inject makes a fault happen. Those injected first come first.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// ClearFaults takes back what has not happened.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// SetLatency makes every request, of the API and of git, wait so long before it is carried out.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// waitLatency waits for as long as the network would take.
func (s *Server) waitLatency() {
	s.mu.Lock()
	d := s.latency
	s.mu.Unlock()
	time.Sleep(d)
}

// gitFault carries out the fault of a request of git's, and reports whether that was all.
func (s *Server) gitFault(w http.ResponseWriter, r *http.Request, token Token) (done bool) {
	s.mu.Lock()
	f := s.dueFault(r)
	s.mu.Unlock()
	if f == nil {
		return false
	}
	if f.Do != nil {
		f.Do()
	}
	if f.DropAfter || f.FailAfter {
		s.carryOut(httptest.NewRecorder(), r, token)
	}
	if f.DropBefore || f.DropAfter {
		panic(http.ErrAbortHandler)
	}
	if f.Status == 0 {
		return false
	}
	maps.Copy(w.Header(), f.Header)
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body) // a client that has gone needs no answer
	return true
}

// dueFault gives the fault that a request runs into, nil if there is none.
func (s *Server) dueFault(r *http.Request) *Fault {
	below := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/repos/"+s.Name), "/")
	name, git := strings.CutPrefix(r.URL.Path, "/"+s.Name+".git/")
	if git {
		below = strings.TrimSuffix(name+"?"+r.URL.RawQuery, "?")
	}
	for _, f := range s.faults {
		if f.Git != git || f.Times == 0 || f.Method != "" && f.Method != r.Method || !matchesPattern(f.Path, below) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		return f
	}
	return nil
}

func matchesPattern(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "**"); ok {
		n := strings.Count(prefix, "/")
		parts := strings.Split(name, "/")
		if len(parts) <= n {
			return false
		}
		pattern, name = strings.TrimSuffix(prefix, "/"), strings.Join(parts[:n], "/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Request is one request of the API that reached the server.
type Request struct {
	Method string
	Path   string // below the API's own
	Query  string
	Body   string
	Status int // 0 if the connection was broken
}

// Requests are the requests of the API so far, in order. Those of git are not among them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count is the number of requests of the API so far.
func (s *Server) Count() int { return len(s.Requests()) }

// GitRequests is the number of requests of the git protocol so far.
func (s *Server) GitRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gitRequests
}
