package storetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// ServerOptions say what a server allows.
type ServerOptions struct {
	Filters bool     // the server leaves objects out where it is asked to
	Pushes  bool     // pushes are answered in this process as well; otherwise git looks at each
	Real    bool     // git answers everything
	Hidden  string   // beginning of the names of references that are not shown
	Env     []string // of git's http-backend, beside the root
}

// Server serves the bare repositories below a directory over HTTP, for tests. What this module's own client asks for,
// version 2 of git's protocol and the push of one branch, is answered in this process, without the processes that each
// request costs git; everything else by git's own http-backend. TestAnswersAreGits compares the answers with git's.
type Server struct {
	root string
	o    ServerOptions
	git  *cgi.Handler
}

// NewServer makes a server of the bare repositories below root. An error says that git is not installed.
func NewServer(root string, o ServerOptions) (*Server, error) {
	backend, err := httpBackend()
	if err != nil {
		return nil, err
	}
	env := append([]string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=/nonexistent"}, o.Env...)
	return &Server{root: root, o: o, git: &cgi.Handler{
		Path: backend, Env: env, InheritEnv: []string{"PATH"}}}, nil
}

// httpBackend finds git's own server.
var httpBackend = sync.OnceValues(func() (string, error) {
	tools, err := exec.Command("git", "--exec-path").Output()
	return filepath.Join(strings.TrimSpace(string(tools)), "git-http-backend"), err
})

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.o.Real || r.Header.Get("Content-Encoding") != "" {
		s.git.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if answer, kind := s.answerRequest(r, body); answer != nil {
		w.Header().Set("Content-Type", "application/x-"+kind)
		w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
		_, _ = w.Write(answer) // a client that has gone needs no answer
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.TransferEncoding = nil
	s.git.ServeHTTP(w, r)
}

// answerRequest is what this package has to say, and its type; nil where git is to be asked.
func (s *Server) answerRequest(r *http.Request, body []byte) (answer []byte, kind string) {
	second := r.Header.Get("Git-Protocol") == "version=2"
	dir, call := filepath.Split(strings.TrimSuffix(r.URL.Path, "/"))
	dir = strings.TrimSuffix(dir, "/")
	if call == "refs" {
		dir, call = strings.TrimSuffix(dir, "/info"), r.Method+" "+r.URL.RawQuery
	}
	if !filepath.IsLocal(strings.TrimPrefix(dir, "/")) {
		return nil, ""
	}
	repo := &repository{dir: filepath.Join(s.root, filepath.FromSlash(dir)), hidden: s.o.Hidden}
	switch {
	case call == "GET service=git-upload-pack" && second && s.o.Filters && repo.isRepository():
		return greetClient(), "git-upload-pack-advertisement"
	case call == "git-upload-pack" && second && s.o.Filters:
		return repo.answerCommand(body), "git-upload-pack-result"
	case call == "GET service=git-receive-pack" && s.o.Pushes:
		return repo.advertiseRefs(), "git-receive-pack-advertisement"
	case call == "git-receive-pack" && s.o.Pushes:
		return repo.receivePush(body), "git-receive-pack-result"
	}
	return nil, ""
}

// greetClient says what can be asked for in version 2.
func greetClient() []byte {
	var b bytes.Buffer
	for _, line := range []string{"version 2", "agent=git/storetest", "ls-refs=unborn",
		"fetch=shallow wait-for-done filter", "server-option", "object-format=sha1"} {
		writeLine(&b, line+"\n")
	}
	b.WriteString("0000")
	return b.Bytes()
}
