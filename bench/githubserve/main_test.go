package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A scenario from outside: a script, further steps, and the API beside them.
func TestServe(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(runs, "evidence"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "steps")
	for name, text := range map[string]string{filepath.Join(runs, "evidence", "a.csv"): "a,b\n",
		script: `{"do": "commit", "branch": "work", "author": "agent", "from": "` + runs +
			`", "at": "runs/one", "files": {"x": "1"}}

{"do": "open", "branch": "work"}
`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, stop := io.Pipe()
	read, out := io.Pipe()
	done := make(chan int)
	var errs strings.Builder
	go func() { done <- run([]string{"-dir", t.TempDir(), "-steps", script}, in, out, &errs) }()
	lines := bufio.NewScanner(read)
	var url string
	for lines.Scan() {
		var line struct {
			URL    string
			Result any
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if url = line.URL; url != "" {
			break
		}
	}
	for _, c := range []struct{ method, path, body, want string }{
		// base64 of "a,b\n"
		{"GET", "/api/v3/repos/acme/underwriting/contents/runs/one/evidence/a.csv?ref=work", "", `"content":"YSxiCg==\n"`},
		{"POST", "/_steps", `{"do": "review", "pull": 1, "user": "rosa", "state": "APPROVED"}`, `{"result":1`},
		{"GET", "/api/v3/repos/acme/underwriting/pulls/1/reviews", "", `"login":"rosa"`},
		{"POST", "/_steps", `{"do": "event", "event": "pull_request_target", "action": "opened", "pull": 1}`,
			`"name":"pull_request_target"`},
		{"POST", "/_steps", `{"do": "fault", "state": "unicorn", "method": "GET", "path": "pulls/*"}`,
			`{"result":null}`},
		{"GET", "/api/v3/repos/acme/underwriting/pulls/1", "", "Unicorn!"},
		{"POST", "/_steps", `{"do": "dance"}`, `no step is named`},
		{"POST", "/_steps", `{"do": "head", "pul": 1}`, `unknown field`},
		{"POST", "/_steps", `{"do": "head", "pull": 9}`, `step \"head\"`},
		{"GET", "/_steps", "", "0 breaches"},
		{"GET", "/api/v3/repos/acme/underwriting/likes", "", "Not Found"},
		{"GET", "/_steps", "", "1 breaches"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s %s %s: %v\ngot  %.300s\nwant %s", c.method, c.path, c.body, err, got, c.want)
		}
	}
	if err := stop.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 || !strings.Contains(errs.String(), "no operation GET") {
		t.Errorf("ended with %d: %s", code, errs.String())
	}
}

func TestServeRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"-dir", t.TempDir(), "-steps", "absent"}, {"-colour"}} {
		var errs strings.Builder
		if code := run(args, strings.NewReader(""), io.Discard, &errs); code != 3 || errs.String() == "" {
			t.Errorf("%q: %d %s", args, code, errs.String())
		}
	}
}
