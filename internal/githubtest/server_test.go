package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reports is a server whose breaches of contract are collected.
func reports(t *testing.T) (*Server, *[]string) {
	t.Helper()
	var all []string
	s := New(t)
	s.report = func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	return s, &all
}

// ask sends a request of the API below the repository, over the network.
func ask(t *testing.T, s *Server, method, path, body string) (int, map[string]any, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.APIURL()+"/repos/"+s.Name+"/"+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	var out map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&out) // a list or nothing: the status is enough
	return resp.StatusCode, out, resp.Header
}

// opened opens a pull request of two files.
func opened(s *Server) int64 {
	s.Commit("work", Change{Files: map[string]string{"a.json": "{}\n", "b.txt": "1\n"}, Author: "agent"})
	return s.Open(Pull{Head: "work"})
}

// A server that did not notice a breach would prove nothing.
func TestContractIsHeld(t *testing.T) {
	s, breaches := reports(t)
	n := opened(s)
	ask(t, s, "GET", "pulls/1", "")
	if len(*breaches) != 0 {
		t.Fatalf("a plain request: %q", *breaches)
	}
	for name, c := range map[string]struct{ method, path, body, want string }{
		"a member of another type": {"POST", "pulls/1/reviews", `{"event":"COMMENT","body":"x","commit_id":"` +
			s.Head(n) + `","comments":"none"}`, "is not as GitHub describes it"},
		"a member that is misspelt": {"POST", "pulls/1/reviews", `{"event":"COMMENT","body":"x","comit_id":"x"}`,
			`no member "comit_id" is described`},
		"no such operation": {"GET", "pulls/1/likes", "", "no operation GET"},
		"a parameter":       {"GET", "pulls?state=sleeping", "", "is not as GitHub describes it"},
	} {
		*breaches = nil
		ask(t, s, c.method, c.path, c.body)
		if len(*breaches) != 1 || !strings.Contains((*breaches)[0], c.want) {
			t.Errorf("%s: %q", name, *breaches)
		}
	}
	*breaches = nil
	s.Set("rulesets", []any{map[string]any{"id": "one"}})
	ask(t, s, "GET", "rulesets", "")
	if len(*breaches) != 1 || !strings.Contains((*breaches)[0], "the answer to GET") {
		t.Errorf("a wrong answer: %q", *breaches)
	}
	*breaches = nil
	s.mu.Lock()
	s.eventPayload("push", "push$event", "", "", object{"commits": "none"})
	s.mu.Unlock()
	if len(*breaches) != 1 || !strings.Contains((*breaches)[0], "the event push$event is not as GitHub describes it") {
		t.Errorf("a wrong event: %q", *breaches)
	}
}

// spy is a test that notes what would have become of it.
type spy struct {
	testing.TB
	said, died string
}

func (s *spy) Helper()                           {}
func (s *spy) Logf(format string, args ...any)   { s.said = fmt.Sprintf(format, args...) }
func (s *spy) Fatalf(format string, args ...any) { s.died = fmt.Sprintf(format, args...) }

// Without the descriptions a plain run says what it does not look at, and a run that proves the whole fails; so does
// one with broken ones.
func TestMissingContract(t *testing.T) {
	t.Setenv("REFEREE_CI", "")
	plain, broken, ci := &spy{}, &spy{}, &spy{}
	failMissingContract(plain, fs.ErrNotExist)
	failMissingContract(broken, errors.New("broken"))
	t.Setenv("REFEREE_CI", "1")
	failMissingContract(ci, fs.ErrNotExist)
	if plain.died != "" || !strings.Contains(plain.said, "NOT held") || broken.died == "" || ci.died == "" {
		t.Errorf("%+v %+v %+v", plain, broken, ci)
	}
}

// Every event fits its published schema (payload reports it where not) and says what the runner needs.
func TestEvents(t *testing.T) {
	s := New(t)
	before := s.Ref("refs/heads/main")
	n := opened(s)
	s.CommitFork("mallory/work", "patch", Change{Files: map[string]string{"x": "1"}, Author: "mallory"})
	fork := s.Open(Pull{Head: "patch", Fork: "mallory/work", Author: "mallory"})
	review := s.Review(n, "rosa", "APPROVED", "")
	pulls := map[string]func() Event{}
	for _, action := range []string{"opened", "synchronize", "reopened", "ready_for_review", "edited"} {
		pulls[action] = func() Event { return s.PullEvent(n, action, true) }
	}
	for name, make := range pulls {
		if e := make(); e.Name != "pull_request_target" || e.SHA != before || e.Ref != "refs/heads/main" ||
			at(t, e, "pull_request", "head", "sha") != s.Head(n) || at(t, e, "action") != name {
			t.Errorf("%s: %s %s %s", name, e.Name, e.SHA, e.Ref)
		}
	}
	if e := s.PullEvent(fork, "opened", false); e.Name != "pull_request" || e.Ref != "refs/pull/2/merge" ||
		at(t, e, "pull_request", "head", "repo", "full_name") != "mallory/work" {
		t.Errorf("a fork's: %s %s", e.Name, e.Ref)
	}
	for _, action := range []string{"submitted", "edited"} {
		if e := s.ReviewEvent(n, review, action); at(t, e, "review", "user", "login") != "rosa" ||
			at(t, e, "review", "state") != "approved" {
			t.Errorf("%s: %s", action, e.Payload)
		}
	}
	s.DismissReview(n, review, "owner")
	if e := s.ReviewEvent(n, review, "dismissed"); at(t, e, "review", "state") != "dismissed" {
		t.Errorf("dismissed: %s", e.Payload)
	}
	if e := s.RunEvent(s.AddRun(Run{Pull: n, Listed: true})); at(t, e, "workflow_run",
		"event") != "pull_request_review" || at(t, e, "workflow_run", "head_sha") != s.Head(n) || e.SHA != before {
		t.Errorf("workflow_run: %s", e.Payload)
	}
	if e := s.RunEvent(s.AddRun(Run{Pull: fork, Listed: true})); at(t, e, "workflow_run", "head_repository",
		"full_name") != "mallory/work" {
		t.Errorf("a fork's workflow_run: %s", e.Payload)
	}
	if e := s.MergeGroupEvent(s.Head(n), "main"); at(t, e, "merge_group", "head_sha") != s.Head(n) ||
		at(t, e, "merge_group", "base_sha") != before {
		t.Errorf("merge_group: %s", e.Payload)
	}
	merge := s.Merge(n, "rosa", "merge")
	if e := s.PullEvent(n, "closed", true); at(t, e, "pull_request", "merged") != true ||
		at(t, e, "pull_request", "merge_commit_sha") != merge {
		t.Errorf("closed: %s", e.Payload)
	}
	if e := s.PushEvent("main", before, "rosa"); at(t, e, "after") != merge || e.SHA != merge ||
		e.Ref != "refs/heads/main" {
		t.Errorf("push: %s", e.Payload)
	}
	if e := s.DispatchEvent("owner", map[string]any{"pr": "1", "mode": "sign-off"}); at(t, e, "inputs",
		"mode") != "sign-off" || at(t, e, "sender", "login") != "owner" {
		t.Errorf("workflow_dispatch: %s", e.Payload)
	}
	if e := s.ScheduleEvent("0 6 * * *"); e.Name != "schedule" || at(t, e, "schedule") != "0 6 * * *" ||
		at(t, e, "repository", "full_name") != s.Name {
		t.Errorf("schedule: %s", e.Payload)
	}
}

// at reads a member of a payload.
func at(t *testing.T, e Event, path ...string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(e.Payload, &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		o, isObject := v.(map[string]any)
		if !isObject {
			return nil
		}
		v = o[key]
	}
	return v
}

// The repository behind the API is one that git clones and pushes to; a push to a pull request's branch is seen.
func TestGitOverHTTP(t *testing.T) {
	s := New(t)
	n := opened(s)
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git",
			append([]string{"-c", "user.name=agent", "-c", "user.email=20+agent@users.noreply.github.com"}, args...)...)
		cmd.Env = gitEnvironment()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	with := strings.Replace(s.CloneURL(), "http://", "http://x-access-token:"+s.Token+"@", 1)
	git("clone", "--quiet", with, dir)
	git("-C", dir, "checkout", "--quiet", "work")
	git("-C", dir, "commit", "--quiet", "--allow-empty", "-m", "More")
	git("-C", dir, "push", "--quiet", "origin", "work")
	if head := git("-C", dir, "rev-parse", "HEAD"); s.Head(n) != head {
		t.Errorf("the pull request is at %s, pushed was %s", s.Head(n), head)
	}
	if refs := git("ls-remote", s.CloneURL()); !strings.Contains(refs, s.Head(n)+"\trefs/pull/1/head") ||
		strings.Contains(refs, "refs/test") {
		t.Errorf("%s", refs)
	}
	git("-C", dir, "commit", "--quiet", "--amend", "--allow-empty", "-m", "Other")
	git("-C", dir, "push", "--quiet", "--force", "origin", "work")
	forced := slices.ContainsFunc(s.pulls[n].timeline,
		func(e happening) bool { return e.name == "head_ref_force_pushed" })
	if !forced {
		t.Error("no force-push in the timeline")
	}
	for name, url := range map[string]string{"no token": s.CloneURL(), "a wrong token": strings.Replace(s.CloneURL(),
		"http://", "http://x:wrong@", 1)} {
		cmd := exec.Command("git", "-C", dir, "push", url, "HEAD:refs/heads/evil")
		cmd.Env = gitEnvironment()
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("pushed with %s: %s", name, out)
		}
	}
}

// A fault happens where and as often as it says; what it does comes before the request is carried out.
func TestFaults(t *testing.T) {
	s, _ := reports(t)
	n := opened(s)
	s.Inject(Fault{Method: "GET", Path: "pulls/*", Skip: 1, Times: 2, Status: 500})
	for i, want := range []int{200, 500, 500, 200} {
		if got, _, _ := ask(t, s, "GET", "pulls/1", ""); got != want {
			t.Errorf("request %d: %d, want %d", i, got, want)
		}
	}
	s.Inject(Fault{Path: "git/refs/**", DropBefore: true})
	if got, _, _ := ask(t, s, "GET", "pulls/1", ""); got != 200 {
		t.Errorf("another path ran into the fault: %d", got)
	}
	s.ClearFaults()
	s.Inject(Fault{Path: "pulls/*", Do: func() { s.Push(n, Change{Files: map[string]string{"a.json": "[]"}}) }})
	if _, body, _ := ask(t, s, "GET", "pulls/1", ""); body["commits"] != 2.0 {
		t.Errorf("%v commits: the push came after the answer", body["commits"])
	}
	old, next := s.Ref("refs/heads/main"), s.Head(n)
	s.SetRef("refs/heads/main", next)
	s.Inject(Fault{Path: "git/ref/**", Stale: true})
	for _, want := range []string{old, next} {
		_, body, _ := ask(t, s, "GET", "git/ref/heads/main", "")
		if got := body["object"].(map[string]any)["sha"]; got != want {
			t.Errorf("the reference is %v, want %s", got, want)
		}
	}
	s.Inject(DropAfter.On("POST", "issues"))
	if got, _, _ := ask(t, s, "POST", "issues", `{"title":"x"}`); got != 0 || len(s.Issues()) != 1 {
		t.Errorf("status %d, %d issues", got, len(s.Issues()))
	}
	all := s.Requests()
	if last := all[len(all)-1]; last.Status != 0 || last.Method != "POST" || last.Body != `{"title":"x"}` ||
		s.Count() != len(all) {
		t.Errorf("%+v", last)
	}
}

// Who may do what: a wrong token, a read-only one, a repository that is private.
func TestTokens(t *testing.T) {
	s, _ := reports(t)
	opened(s)
	s.AddToken("fork", Token{Login: "mallory", ReadOnly: true})
	s.AddToken("person", Token{Login: "wim"})
	status := func(token, method, path, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(context.Background(), method, s.URL+"/repos/acme/underwriting/"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "token "+token)
		}
		resp, err := s.Transport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	check := `{"name":"x","head_sha":"` + s.Ref("refs/heads/main") + `"}`
	for _, c := range []struct {
		token, method, path, body string
		want                      int
	}{
		{"", "GET", "pulls/1", "", 200}, {"wrong", "GET", "pulls/1", "", 401}, {"", "POST", "issues", `{"title":"x"}`,
			401},
		{"fork", "GET", "pulls/1", "", 200}, {"fork", "POST", "issues", `{"title":"x"}`, 403},
		{"person", "POST", "check-runs", check, 403},
		{s.Token, "POST", "check-runs", check, 201}, {"person", "GET", "actions/permissions", "", 403},
	} {
		if got := status(c.token, c.method, c.path, c.body); got != c.want {
			t.Errorf("%q %s %s: %d, want %d", c.token, c.method, c.path, got, c.want)
		}
	}
	s.SetPrivate()
	if got := status("", "GET", "pulls/1", ""); got != 401 {
		t.Errorf("private, without a token: %d", got)
	}
}

// Pages are cut as asked, and the Link header says where it goes on.
func TestPages(t *testing.T) {
	s := New(t)
	n := opened(s)
	for range 5 {
		s.Review(n, "rosa", "COMMENTED", "x")
	}
	_, _, h := ask(t, s, "GET", "pulls/1/reviews?per_page=2&page=2", "")
	if want := "<" + s.APIURL() +
		`/repos/acme/underwriting/pulls/1/reviews?page=3&per_page=2>; rel="next"`; h.Get("Link") != want {
		t.Errorf("got  %s\nwant %s", h.Get("Link"), want)
	}
	if _, _, h = ask(t, s, "GET", "pulls/1/reviews?per_page=2&page=3", ""); h.Get("Link") != "" {
		t.Errorf("after the last: %s", h.Get("Link"))
	}
}

// The blobs that the server writes without git are git's.
func TestLooseBlobs(t *testing.T) {
	s := New(t)
	for _, data := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("line\n"), 1000)} {
		id, err := s.git.writeBlob(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.git.runGit(data, "hash-object", "--stdin")
		got, readErr := s.git.readBlob(id)
		if err != nil || readErr != nil || id != want || !bytes.Equal(got, data) {
			t.Errorf("%s, git says %s: %v %v", id, want, err, readErr)
		}
	}
}
