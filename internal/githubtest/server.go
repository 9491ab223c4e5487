package githubtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a GitHub with one repository. Its methods may be called at any time, also from a Fault's Do.
type Server struct {
	Name  string // owner/name of the repository
	URL   string // of the site, without a slash at the end; "" until it listens
	Token string // a valid token: the job's own, which belongs to the app github-actions

	git      *repo
	report   func(format string, args ...any) // a broken contract
	contract *contract
	mux      *http.ServeMux
	backend  *cgi.Handler

	mu          sync.Mutex
	now         time.Time
	ids         int64
	users       []User
	teams       map[string][]string
	tokens      map[string]Token
	private     bool
	unsigned    bool
	verified    map[string]bool
	before      map[string]string // what references held before their last change
	pulls       map[int64]*pull
	issues      map[int64]*issue
	checks      []*check
	runs        map[int64]*Run
	rulesets    []*ruleset
	statuses    []status
	set         map[string]any // answers that a test has set
	faults      []*Fault
	requests    []Request
	gitRequests int
	processes   bool // git's own backend answers
	latency     time.Duration
}

// New starts a server for a test, with the repository acme/underwriting, its branch main with a README, and the sample
// users. A broken contract fails the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start(t.TempDir(), t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Contract(); err != nil {
		failMissingContract(t, err)
	}
	site := httptest.NewServer(s)
	s.URL = site.URL
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return s
}

// Start makes a server over a new repository in dir. Who calls it lets it listen (it is an http.Handler) and sets URL.
// A broken contract is reported once Contract has read the descriptions.
func Start(dir string, report func(format string, args ...any)) (*Server, error) {
	s := &Server{Name: "acme/underwriting", Token: "ghs_0123456789abcdefghijABCDEFGHIJ012345", report: report,
		users: append([]User(nil), sample...),
		now:   time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), ids: 1000, teams: map[string][]string{},
		verified: map[string]bool{}, before: map[string]string{},
		pulls: map[int64]*pull{}, issues: map[int64]*issue{}, runs: map[int64]*Run{}, set: map[string]any{}}
	s.tokens = map[string]Token{s.Token: {Login: actionsBot, App: "github-actions"},
		administrator: {Login: "owner", Admin: true}}
	var err error
	if s.git, err = newRepo(filepath.Join(dir, s.Name+".git")); err != nil {
		return nil, err
	}
	tools, err := gitTools()
	if err != nil {
		return nil, err
	}
	s.backend = &cgi.Handler{Path: filepath.Join(tools, "git-http-backend"), InheritEnv: []string{"PATH"},
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=git", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent"}}
	s.mux = s.newRoutes()
	s.Commit("main", Change{Files: map[string]string{"README.md": "# work\n"}, Message: "Begin"})
	return s, nil
}

// APIURL is what GITHUB_API_URL would say, as on an Enterprise Server.
func (s *Server) APIURL() string { return s.URL + "/api/v3" }

// CloneURL is where git finds the repository.
func (s *Server) CloneURL() string { return s.URL + "/" + s.Name + ".git" }

// Dir is the bare repository.
func (s *Server) Dir() string {
	s.mustWork("", s.git.objects.flushAndShare())
	return s.git.dir
}

// DirNow is Dir for who looks once and is done with it: objects of later are there only after another call.
func (s *Server) DirNow() string {
	s.mustWork("", s.git.objects.flushPending())
	return s.git.dir
}

// SetPrivate makes the repository one that cannot be read without a token.
func (s *Server) SetPrivate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.private = true
}

// SetUnsigned makes the server one that does not sign the commits that it makes.
func (s *Server) SetUnsigned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsigned = true
}

// Now is the server's time; it moves by a second with every request and every change.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Sleep moves the server's time on.
func (s *Server) Sleep(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// nextTime is the time of the next thing that happens.
func (s *Server) nextTime() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *Server) nextID() int64 {
	s.ids++
	return s.ids
}

// ServeHTTP is the site: git under /OWNER/NAME.git, the API under /api/v3 and, as on api.github.com, under /.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.waitLatency()
	if strings.HasPrefix(r.URL.Path, "/"+s.Name+".git/") {
		s.serveGit(w, r)
		return
	}
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
	if r.URL.Path == "/api/graphql" {
		r.URL.Path = "/graphql"
	}
	s.serveAPI(w, r)
}

// serveGit hands a request to git's own backend and then looks what a push has changed.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	if password == "" {
		password = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	push := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	s.mu.Lock()
	s.gitRequests++
	token, known := s.tokens[password]
	closed := !known && (push || s.private || password != "")
	s.mu.Unlock()
	switch {
	case closed:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Authentication required.", http.StatusUnauthorized)
		return
	case push && token.ReadOnly:
		http.Error(w, "Write access to repository not granted.", http.StatusForbidden)
		return
	}
	if push {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.syncBranches(token.Login)
		}()
	}
	if s.gitFault(w, r, token) {
		return
	}
	s.carryOut(w, r, token)
}

// carryOut does what a request of git's asks for.
func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, token Token) {
	if !s.processes && pushGreeting(w, r, s.git.dir) {
		return
	}
	if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
		s.receivePush(w, r, token)
		return
	}
	if !s.answerUpload(w, r) {
		s.toBackend(w, r, s.backend)
	}
}

// toBackend hands a request to git, which reads the disk.
func (s *Server) toBackend(w http.ResponseWriter, r *http.Request, backend *cgi.Handler) {
	if err := s.git.objects.flushAndShare(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend.ServeHTTP(w, r)
}

// reply is an answer of the API.
type reply struct {
	status int
	body   any // JSON, raw bytes, or nothing
	header http.Header
}

// okReply is an answer with status 200.
func okReply(body any) reply { return reply{status: 200, body: body} }

// createdReply is an answer with status 201.
func createdReply(body any) reply { return reply{status: 201, body: body} }

// refuseWith is an error as GitHub words it.
func refuseWith(status int, format string, args ...any) reply {
	return reply{status: status, body: object{"message": fmt.Sprintf(format, args...),
		"documentation_url": "https://docs.github.com/rest", "status": fmt.Sprint(status)}}
}

// invalidInput is GitHub's 422: for reviews a list of texts, for everything else one of objects.
func invalidInput(resource, field, format string, args ...any) reply {
	if resource == "PullRequestReview" {
		return reply{status: 422, body: object{"message": "Unprocessable Entity",
			"documentation_url": "https://docs.github.com/rest", "errors": []any{fmt.Sprintf(format, args...)}}}
	}
	return reply{status: 422, body: object{"message": "Validation Failed",
		"documentation_url": "https://docs.github.com/rest", "status": "422",
		"errors": []any{object{"resource": resource, "field": field, "code": "custom",
			"message": fmt.Sprintf(format, args...)}}}}
}

// serveAPI is one request of the API from its arrival to its record.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	fault := s.dueFault(r)
	s.mu.Unlock()
	if fault == nil {
		fault = &Fault{}
	}
	if fault.Do != nil {
		fault.Do()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextTime()
	rec := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body)}
	defer func() { s.requests = append(s.requests, rec) }()
	if fault.DropBefore {
		panic(http.ErrAbortHandler)
	}
	rep := reply{status: fault.Status, body: []byte(fault.Body), header: fault.Header}
	if fault.Status == 0 || fault.FailAfter {
		answer := s.answerRequest(r, body, fault.Stale)
		if fault.DropAfter {
			panic(http.ErrAbortHandler)
		}
		if fault.Status == 0 {
			rep = answer
		}
	}
	rec.Status = rep.status
	s.writeReply(w, rep)
}

func (s *Server) writeReply(w http.ResponseWriter, rep reply) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Date", s.now.Format(http.TimeFormat))
	for name, values := range rep.header {
		h[name] = values
	}
	data, raw := rep.body.([]byte)
	if !raw && rep.body != nil {
		data, _ = json.Marshal(rep.body) // objects of our own making
	}
	w.WriteHeader(rep.status)
	_, _ = w.Write(data) // a client that has gone needs no answer
}

// errNotJSON becomes GitHub's own wording.
var errNotJSON = errors.New("problems parsing JSON")

// call is a request as a handler sees it.
type call struct {
	*http.Request
	token Token
	body  []byte
	stale bool
}

// decodeBody decodes the body; a body that is none is GitHub's 400.
func (c call) decodeBody(v any) error {
	d := json.NewDecoder(bytes.NewReader(c.body))
	if err := d.Decode(v); err != nil {
		return errNotJSON
	}
	return nil
}

// answerRequest authenticates, finds the handler, and holds request and answer against the contract.
func (s *Server) answerRequest(r *http.Request, body []byte, stale bool) reply {
	c := call{Request: r, body: body, stale: stale}
	secret := strings.TrimPrefix(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "token ")
	var known bool
	if c.token, known = s.tokens[secret]; !known && (secret != "" || s.private || r.Method != "GET") {
		return refuseWith(401, "Bad credentials")
	}
	if r.Method != "GET" && c.token.ReadOnly && r.URL.Path != "/graphql" {
		return refuseWith(403, "Resource not accessible by integration")
	}
	var rep reply
	s.mux.ServeHTTP(collector{&c, &rep}, r)
	if r.Pattern == "" || rep.status == 0 {
		s.report("githubtest: no operation %s %s", r.Method, r.URL.Path)
		return refuseWith(404, "Not Found")
	}
	switch {
	case s.contract == nil:
	case r.URL.Path == "/graphql":
		s.checkGraphQL(body, rep)
	default:
		s.contract.checkExchange(s.report, r, body, rep)
	}
	return rep
}

// collector carries a call into a handler of the mux and its reply out of it.
type collector struct {
	call  *call
	reply *reply
}

// Header is http.ResponseWriter's; nothing is written by it.
func (collector) Header() http.Header { return http.Header{} }

// Write is http.ResponseWriter's; nothing is written by it.
func (collector) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader is http.ResponseWriter's; nothing is written by it.
func (collector) WriteHeader(int) {}

// handleLocked registers a handler, which is called with the server's lock held.
func (s *Server) handleLocked(mux *http.ServeMux, pattern string, f func(c call) reply) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		to := w.(collector)
		to.call.Request = r
		if strings.Contains(pattern, "{owner}") && !strings.EqualFold(r.PathValue("owner")+"/"+r.PathValue("repo"),
			s.Name) {
			*to.reply = refuseWith(404, "Not Found")
			return
		}
		*to.reply = f(*to.call)
	})
}

// Transport answers requests in this process, without a network: for tests whose time is synctest's.
func (s *Server) Transport() http.RoundTripper { return inProcess{s} }

type inProcess struct{ s *Server }

// RoundTrip is http.RoundTripper's.
func (p inProcess) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if x := recover(); x != nil {
			if x != http.ErrAbortHandler {
				panic(x)
			}
			resp, err = nil, io.ErrUnexpectedEOF
		}
	}()
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	p.s.ServeHTTP(w, in)
	return w.Result(), nil
}
