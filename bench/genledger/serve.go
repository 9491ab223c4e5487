package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"strings"
)

// serveBackend serves the repositories below a directory over loopback, by git http-backend, and gives their URL and
// what ends it. The server's processes are this one's children, so that their processor time is counted.
func serveBackend(root, git string) (url string, end func() error, err error) {
	path, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		return "", nil, fmt.Errorf("git --exec-path: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bench",
			"GIT_CONFIG_NOSYSTEM=1"},
	}}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), server.Close, nil
}
