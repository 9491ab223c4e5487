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

// serveBackend serves repositories over loopback until it is ended, and prints the URL first. git writes what it does into trace, if there is one.
func serveBackend(root, git, trace string) error {
	path, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		return fmt.Errorf("git --exec-path: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	env := []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bench", "GIT_CONFIG_NOSYSTEM=1"}
	if trace != "" {
		env = append(env, "GIT_TRACE2_EVENT="+trace)
	}
	return http.Serve(l, &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Env: env})
}
