package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/defendableos/referee/internal/gitobject"
)

// TestMain removes the repository that the tests copy.
func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := template(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// git runs in a repository and gives what it prints.
func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir=" + dir, "-c", "user.name=x", "-c", "user.email=x@y"},
		args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// copySample copies a repository of two lines of history that are merged, with directories, a link to another
// repository and a file of 3,000 bytes.
func copySample(t *testing.T) (root, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git binary")
	}
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	dir = filepath.Join(root, "x", "r.git")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return root, dir
}

const sampleConfig = `[core]
	repositoryformatversion = 0
	bare = true
[uploadpack]
	allowFilter = true
[http]
	receivepack = true
[transfer]
	hideRefs = refs/hidden
[receive]
	autogc = false
`

// template makes what sample copies.
var template = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "storetest-"); err != nil {
		return "", err
	}
	var b strings.Builder
	for n := 1; n <= 6; n++ {
		fmt.Fprintf(&b, "commit refs/heads/main\nmark :%d\ncommitter x <x@y> %d +0000\ndata 1\nx\n", n, 1000+n)
		if n == 6 {
			fmt.Fprint(&b, "from :5\nmerge :2\n")
		} else if n > 1 {
			fmt.Fprintf(&b, "from :%d\n", n-1)
		}
		fmt.Fprintf(&b, "M 100644 inline a/b/f%d\ndata 2\n%02d\n", n, n)
	}
	fmt.Fprintf(&b, "M 100755 inline large\ndata 3000\n%s\n", strings.Repeat("x", 3000))
	fmt.Fprintf(&b, "M 160000 %s module\n", strings.Repeat("1", 40))
	fmt.Fprint(&b, "reset refs/heads/other\nfrom :3\n\nreset refs/hidden/x\nfrom :1\n\n")
	init := exec.Command("git", "init", "-q", "--bare", "--initial-branch=main", "--template=", dir)
	fill := exec.Command("git", "--git-dir="+dir, "fast-import", "--quiet")
	fill.Stdin = strings.NewReader(b.String())
	return dir, errors.Join(init.Run(), fill.Run(), os.WriteFile(filepath.Join(dir, "config"), []byte(sampleConfig),
		0o644))
})

func serveRoot(t *testing.T, root string, real bool) (*Server, string) {
	t.Helper()
	s, err := NewServer(root, ServerOptions{Filters: true, Pushes: true, Real: real, Hidden: "refs/hidden",
		Env: []string{"REMOTE_USER=tester"}})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(s)
	t.Cleanup(site.Close)
	return s, site.URL + "/x/r.git"
}

// askServer sends a request to a server and gives its type and its bytes.
func askServer(t *testing.T, url, service string, body []byte) (kind string, answer []byte) {
	t.Helper()
	method, call := "GET", "/info/refs?service="+service
	if body != nil {
		method, call = "POST", "/"+service
	}
	req, err := http.NewRequest(method, url+call, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if service == "git-upload-pack" {
		req.Header.Set("Git-Protocol", "version=2")
	}
	req.Header.Set("Content-Type", "application/x-"+service+"-request")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", service, resp.Status, err)
	}
	return resp.Header.Get("Content-Type"), b.Bytes()
}

// answerLines is an answer in words: its lines, without the name of who answers, and the objects of its pack.
func answerLines(t *testing.T, answer []byte) (lines []string) {
	t.Helper()
	var band bytes.Buffer
	rest, ok := answer, true
	for len(rest) > 0 {
		var line, special string
		if line, special, rest, ok = cutPacket(rest); !ok {
			t.Fatalf("not packets: %.200q", answer)
		}
		if data, is := strings.CutPrefix(line, "\x01"); is {
			band.WriteString(data)
			continue
		}
		if strings.HasPrefix(line, "\x02") || line == "object-info\n" { // for people; not in every version of git
			continue
		}
		var words []string
		for word := range strings.FieldsSeq(line + special) {
			if !strings.HasPrefix(word, "agent=") {
				words = append(words, word)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	if strings.HasPrefix(band.String(), "PACK") {
		none := func(string) (gitobject.Object, bool) { return gitobject.Object{}, false }
		objects, err := gitobject.ReadPack(&band, gitobject.Limits{Objects: 1000, Size: 1 << 20, Total: 1 << 20}, none)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range objects {
			ids = append(ids, o.ID)
		}
		slices.Sort(ids)
		return append(lines, ids...)
	}
	return append(lines, band.String())
}

// commandRequest is a command of version 2.
func commandRequest(name string, args ...string) []byte {
	var b bytes.Buffer
	writeLine(&b, "command="+name+"\n")
	writeLine(&b, "object-format=sha1")
	b.WriteString("0001")
	for _, a := range args {
		writeLine(&b, a+"\n")
	}
	b.WriteString("0000")
	return b.Bytes()
}

// TestAnswersAreGits: what this package answers is what git's own backend answers.
func TestAnswersAreGits(t *testing.T) {
	root, dir := copySample(t)
	ours, here := serveRoot(t, root, false)
	_, there := serveRoot(t, root, true)
	id := func(name string) string { return git(t, dir, "", "rev-parse", name) }
	main, tree, blob, large := id("main"), id("main^{tree}"), id("main:a/b/f1"), id("main:large")
	for _, c := range []struct {
		name, service string
		body          []byte
	}{
		{"greeting", "git-upload-pack", nil},
		{"greeting before a push", "git-receive-pack", nil},
		{"one branch", "git-upload-pack", commandRequest("ls-refs", "ref-prefix refs/heads/main")},
		{"all branches", "git-upload-pack", commandRequest("ls-refs", "ref-prefix refs/heads/", "ref-prefix refs/hidden")},
		{"none", "git-upload-pack", commandRequest("ls-refs", "ref-prefix refs/heads/none")},
		{"objects by their ids", "git-upload-pack", commandRequest("fetch", "no-progress", "filter tree:0", "deepen 1",
			"want "+tree, "want "+blob, "done")},
		{"a commit and a file", "git-upload-pack", commandRequest("fetch", "no-progress", "filter tree:0", "deepen 1",
			"want "+main, "want "+large, "done")},
		{"a blob alone", "git-upload-pack", commandRequest("fetch", "no-progress", "filter tree:0", "deepen 1", "want "+blob,
			"done")},
		{"a commit and its files", "git-upload-pack", commandRequest("fetch", "no-progress", "filter blob:limit=3001",
			"deepen 1", "want "+main, "done")},
		{"without large files", "git-upload-pack", commandRequest("fetch", "no-progress", "filter blob:limit=3000",
			"deepen 1",
			"want "+main, "done")},
		{"two commits deep", "git-upload-pack", commandRequest("fetch", "no-progress", "filter blob:limit=9999", "deepen 2",
			"want "+main, "want "+id("other"), "done")},
		{"all commits", "git-upload-pack", commandRequest("fetch", "no-progress", "filter tree:0", "want "+main, "done")},
		{"commits to the first", "git-upload-pack", commandRequest("fetch", "no-progress", "filter tree:0", "deepen 5",
			"want "+main, "done")},
		{"the whole history", "git-upload-pack", commandRequest("fetch", "no-progress", "want "+main, "done")},
	} {
		kind, answer := askServer(t, here, c.service, c.body)
		wantKind, want := askServer(t, there, c.service, c.body)
		got, wanted := answerLines(t, answer), answerLines(t, want)
		if kind != wantKind || !slices.Equal(got, wanted) {
			t.Errorf("%s: %s %q\ngit: %s %q", c.name, kind, got, wantKind, wanted)
		}
		if req := directRequest(c.service, c.body); leftToGit(ours, req, c.body) {
			t.Errorf("%s: git was asked", c.name)
		}
	}
	for _, body := range [][]byte{commandRequest("fetch", "filter tree:0", "want "+main, "want "+tree, "done"),
		commandRequest("fetch", "filter tree:0", "want "+large, "want "+tree, "done"),
		commandRequest("fetch", "no-progress", "want "+main, "have "+id("other"), "done"),
		commandRequest("fetch", "filter sparse:oid=x", "want "+main, "done"), commandRequest("fetch", "want "+noID, "done"),
		commandRequest("ls-refs", "symrefs", "ref-prefix HEAD"), commandRequest("object-info"), []byte("zzzz"), nil} {
		if !leftToGit(ours, directRequest("git-upload-pack", []byte{1}), body) {
			t.Errorf("%q was not left to git", body)
		}
	}
}

func directRequest(service string, body []byte) *http.Request {
	req := httptest.NewRequest("POST", "/x/r.git/"+service, nil)
	if body == nil {
		req = httptest.NewRequest("GET", "/x/r.git/info/refs?service="+service, nil)
	}
	req.Header.Set("Git-Protocol", "version=2")
	return req
}

func leftToGit(s *Server, req *http.Request, body []byte) bool {
	answer, _ := s.answerRequest(req, body)
	return answer == nil
}

// pushOf is a push of a commit behind main, as our client sends it.
func pushOf(t *testing.T, dir, old, ref, wants string, broken bool) []byte {
	t.Helper()
	file := gitobject.New(gitobject.Blob, []byte("new "+ref))
	tree := gitobject.New(gitobject.Tree, gitobject.EncodeTree([]gitobject.Entry{{Mode: gitobject.ModeFile, Name: "n",
		ID: file.ID}}))
	rec := gitobject.Record{Tree: tree.ID, Author: "x <x@y>", By: "x <x@y>", Time: 2000, Authored: 2000, Message: "n\n",
		Parents: []string{git(t, dir, "", "rev-parse", "main")}}
	commit := gitobject.New(gitobject.Commit, rec.Encode())
	objects := []gitobject.Object{file, tree, commit}
	if broken {
		objects = objects[1:]
	}
	var b bytes.Buffer
	writeLine(&b, old+" "+commit.ID+" "+ref+"\x00 "+wants+"\n")
	b.WriteString("0000")
	if err := gitobject.WritePack(&b, objects); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPushesAreGits: a push ends as git's own backend ends it, and leaves a repository that git finds whole.
func TestPushesAreGits(t *testing.T) {
	const band = "report-status side-band-64k agent=x"
	for _, c := range []struct {
		name, old, ref, wants string
		broken, gits          bool // a file is missing; git is asked
	}{
		{name: "a new branch", old: noID, ref: "refs/heads/new", wants: band},
		{name: "without a band", old: noID, ref: "refs/heads/new", wants: "report-status"},
		{name: "a branch goes on", old: "main", ref: "refs/heads/main", wants: band},
		{name: "the branch has moved", old: "main~1", ref: "refs/heads/main", wants: band},
		{name: "the branch is there", old: noID, ref: "refs/heads/main", wants: band},
		{name: "the branch is not there", old: "main", ref: "refs/heads/new", wants: band},
		{name: "a file is missing", old: "main", ref: "refs/heads/main", wants: band, broken: true, gits: true},
		{name: "no branch", old: noID, ref: "refs/tags/v1", wants: band, gits: true},
		{name: "another capability", old: noID, ref: "refs/heads/new", wants: "report-status-v2 side-band-64k",
			gits: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var ends [2][]string
			for i, real := range []bool{false, true} {
				root, dir := copySample(t)
				server, url := serveRoot(t, root, real)
				old := c.old
				if old != noID {
					old = git(t, dir, "", "rev-parse", old)
				}
				body := pushOf(t, dir, old, c.ref, c.wants, c.broken)
				if p, ok := parsePush(body); !real && !c.gits && (!ok || p.ref != c.ref) {
					t.Error("git was asked")
				}
				if !real && c.gits && !leftToGit(server, directRequest("git-receive-pack", body), body) {
					t.Error("it was not left to git")
				}
				_, answer := askServer(t, url, "git-receive-pack", body)
				ends[i] = append(answerLines(t, answer), git(t, dir, "", "for-each-ref"))
				if !real {
					git(t, dir, "", "fsck", "--strict", "--connectivity-only")
				}
			}
			if !slices.Equal(ends[0], ends[1]) {
				t.Errorf("%q\ngit: %q", ends[0], ends[1])
			}
		})
	}
}
