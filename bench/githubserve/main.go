// Command serve is a GitHub for scenarios that are driven from outside, as with a real runner:
//
//	serve -addr 127.0.0.1:8080 -dir DIR [-url http://host:8080] [-steps FILE]
//
// It serves the repository acme/underwriting of package githubtest: git under /acme/underwriting.git, the API under
// /api/v3. The file holds one step of githubtest.Step a line; further ones are posted to /_steps. Each gives a line of
// JSON: {"result": …} or {"error": "…"}. Requests, answers and events that differ from GitHub's own description are
// told on standard error, and make GET /_steps answer with a 500.
//
// It listens until its standard input ends.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/githubtest"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := serveForge(args, stdin, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "serve: error:", err)
		return 3
	}
	return 0
}

func serveForge(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "where to listen")
	dir := flags.String("dir", "", "an empty directory for the repository")
	url := flags.String("url", "", "how others reach the server; http:// and the address if empty")
	steps := flags.String("steps", "", "a file of steps, one a line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("-dir is missing")
	}
	b := &breaches{out: stderr}
	s, err := githubtest.Start(*dir, b.reportBreach)
	if err != nil {
		return err
	}
	if err := s.Contract(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	s.URL = strings.TrimSuffix(*url, "/")
	if s.URL == "" {
		s.URL = "http://" + listener.Addr().String()
	}
	if err := runScript(s, *steps, stdout); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: newSite(s, b)}
	go func() { _ = server.Serve(listener) }() // ends with Close
	fmt.Fprintf(stdout, "{\"url\": %q, \"token\": %q}\n", s.URL, s.Token)
	_, err = io.Copy(io.Discard, stdin)
	return errors.Join(err, server.Close())
}

// breaches counts what differed from GitHub's description.
type breaches struct {
	mu    sync.Mutex
	out   io.Writer
	count int
}

func (b *breaches) reportBreach(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	fmt.Fprintf(b.out, format+"\n", args...)
}

// runScript runs the steps of a file; the first that fails ends it.
func runScript(s *githubtest.Server, file string, out io.Writer) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		result, err := s.Step(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if err := json.NewEncoder(out).Encode(map[string]any{"result": result}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// newSite is the server with the steps beside it.
func newSite(s *githubtest.Server, b *breaches) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("POST /_steps", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		answer := map[string]any{}
		if err == nil {
			answer["result"], err = s.Step(data)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			answer = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(answer) // a client that has gone needs no answer
	})
	mux.HandleFunc("GET /_steps", func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.count > 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, "%d breaches of the contract\n", b.count)
	})
	return mux
}
