package githubapi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// annotations makes n annotations of one file.
func annotations(n int) []githubapi.Annotation {
	out := make([]githubapi.Annotation, n)
	for i := range out {
		out[i] = githubapi.Annotation{Path: "a.json", StartLine: i + 1, EndLine: i + 1, StartColumn: 3, EndColumn: 4,
			Level: "warning", Title: "t", Message: fmt.Sprint(i)}
	}
	return out
}

func TestPutCheck(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	head := s.Head(n)
	if got, err := c.FindCheck(t.Context(), head, "referee / audit"); got != nil || err != nil {
		t.Fatalf("%v, %v", got, err)
	}
	check := githubapi.Check{Name: "referee / audit", HeadSHA: head, ExternalID: "digest", Conclusion: "failure",
		Title: "1 high", Summary: "s", Text: "t", Annotations: annotations(120)}
	before := c.Calls()
	check = must(c.PutCheck(t.Context(), check))(t)
	if made := c.Calls() - before; made != 3 {
		t.Errorf("120 annotations took %d requests, want 3", made)
	}
	got := s.Checks(head)
	if len(got) != 1 || got[0].Conclusion != "failure" || len(got[0].Annotations) != 120 ||
		got[0].Annotations[119]["message"] != "119" || check.Posted != 120 || check.AppSlug != "github-actions" {
		t.Errorf("%+v, posted %d", got[0].Conclusion, check.Posted)
	}
	found := must(c.FindCheck(t.Context(), head, "referee / audit"))(t)
	if found == nil || found.ID != check.ID || found.ExternalID != "digest" || found.Posted != 120 ||
		found.Title != "1 high" {
		t.Fatalf("%+v", found)
	}
	found.Conclusion, found.Annotations = "success", check.Annotations // posted already: none is sent again
	must(c.PutCheck(t.Context(), *found))(t)
	if got = s.Checks(head); got[0].Conclusion != "success" || len(got[0].Annotations) != 120 {
		t.Errorf("updated: %s with %d", got[0].Conclusion, len(got[0].Annotations))
	}
}

// A check of another app is not ours, however it is named.
func TestFindCheckOfOurApp(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	s.ForgeCheck("evil", s.Head(n), "referee / sign-off", "success")
	if got := must(c.FindCheck(t.Context(), s.Head(n), "referee / sign-off"))(t); got != nil {
		t.Errorf("%+v", got)
	}
	any := client(t, s, func(o *githubapi.Options) { o.App = "" })
	got := must(any.FindCheck(t.Context(), s.Head(n), "referee / sign-off"))(t)
	if got == nil || got.AppSlug != "evil" {
		t.Fatalf("%+v", got)
	}
	if _, err := any.PutCheck(t.Context(), *got); !githubapi.IsForbidden(err) {
		t.Errorf("updated another app's check: %v", err)
	}
}

// A check that breaks off between two batches shows no conclusion, and goes on where it stopped.
func TestPutCheckBreaksOff(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	s.Inject(githubtest.NoAccess.On("PATCH", "check-runs/*"))
	check := githubapi.Check{Name: "audit", HeadSHA: s.Head(n), Conclusion: "success", Title: "t", Summary: "s",
		Annotations: annotations(60)}
	check, err := c.PutCheck(t.Context(), check)
	if !githubapi.IsForbidden(err) || check.Posted != 50 {
		t.Fatalf("%v, posted %d", err, check.Posted)
	}
	if got := s.Checks(s.Head(n))[0]; got.Status != "in_progress" || got.Conclusion != "" {
		t.Errorf("%s %s", got.Status, got.Conclusion)
	}
	must(c.PutCheck(t.Context(), check))(t)
	if got := s.Checks(s.Head(n)); len(got) != 1 || got[0].Conclusion != "success" || len(got[0].Annotations) != 60 {
		t.Errorf("%d checks, %s, %d annotations", len(got), got[0].Conclusion, len(got[0].Annotations))
	}
}

// The limits of gate.md are the server's to enforce: what breaks one is a loud 422.
func TestLimits(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	check := githubapi.Check{Name: "audit", HeadSHA: s.Head(n), Conclusion: "success", Title: "t", Summary: "s"}
	for name, change := range map[string]func(*githubapi.Check){
		"summary": func(k *githubapi.Check) { k.Summary = strings.Repeat("ä", 32768) },
		"text":    func(k *githubapi.Check) { k.Text = strings.Repeat("a", 65536) },
		"title":   func(k *githubapi.Check) { k.Title = strings.Repeat("a", 256) },
		"annotation": func(k *githubapi.Check) {
			k.Annotations = annotations(1)
			k.Annotations[0].Message = strings.Repeat("a", 65537)
		},
		"commit": func(k *githubapi.Check) { k.HeadSHA = strings.Repeat("0", 40) },
	} {
		bad := check
		change(&bad)
		if _, err := c.PutCheck(t.Context(), bad); kind(err) != githubapi.Unprocessable {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := check
	wide.Annotations = []githubapi.Annotation{{Path: "a", StartLine: 1, EndLine: 2, StartColumn: 1, EndColumn: 2,
		Level: "notice", Message: "m"}}
	must(c.PutCheck(t.Context(), wide))(t)
	if _, column := s.Checks(s.Head(n))[0].Annotations[0]["start_column"]; column {
		t.Error("a column was sent for more than one line")
	}
	if _, err := c.CreateReview(t.Context(), n, s.Head(n),
		strings.Repeat("a", 65537)); kind(err) != githubapi.Unprocessable {
		t.Errorf("a long review: %v", err)
	}
	if _, err := c.CreateComment(t.Context(), n, s.Head(n), githubapi.Comment{Path: "a.json", Line: 99,
		Body: "x"}); kind(err) != githubapi.Unprocessable {
		t.Errorf("a line outside the diff: %v", err)
	}
}

func kind(err error) string {
	e := new(githubapi.Error)
	if !errors.As(err, &e) {
		return ""
	}
	return e.Kind
}

func TestComments(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	id := must(c.CreateComment(t.Context(), n, s.Head(n), githubapi.Comment{Path: "b/c.txt", Line: 2, Body: "here"}))(t)
	s.Reply(n, id, "rosa", "why?")
	got := must(c.Comments(t.Context(), n))(t)
	if len(got) != 2 || got[0] != (githubapi.Comment{ID: id, User: "github-actions[bot]", Path: "b/c.txt", Line: 2,
		Body: "here"}) || got[1].InReplyTo != id || got[1].User != "rosa" {
		t.Errorf("%+v", got)
	}
	for range 2 { // the second finds none
		if err := c.DeleteComment(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if left := s.Comments(n); !slices.Equal(left, []string{"why?"}) {
		t.Errorf("%q", left)
	}
}

func TestIssues(t *testing.T) {
	s, _ := sample(t)
	c := client(t, s)
	id := must(c.CreateIssue(t.Context(), githubapi.Issue{Title: "unreceipted merge", Body: "b",
		Labels: []string{"referee"}}))(t)
	must(c.CreateIssue(t.Context(), githubapi.Issue{Title: "other"}))(t)
	if err := errors.Join(c.CommentIssue(t.Context(), id, "again"), c.CloseIssue(t.Context(), id)); err != nil {
		t.Fatal(err)
	}
	got := must(c.Issues(t.Context(), "referee"))(t)
	if len(got) != 1 || got[0].Number != id || got[0].State != "closed" || got[0].Title != "unreceipted merge" ||
		got[0].User != "github-actions[bot]" || !slices.Equal(got[0].Labels, []string{"referee"}) {
		t.Errorf("%+v", got)
	}
	if all := s.Issues(); !slices.Equal(all[0].Comments, []string{"again"}) {
		t.Errorf("%+v", all)
	}
}

func TestGitData(t *testing.T) {
	s, _ := sample(t)
	c := client(t, s)
	first := must(c.CreateTree(t.Context(), "", []githubapi.TreeFile{{Path: "x/a.json", Content: "{}\n"}}))(t)
	entries := must(c.Tree(t.Context(), first, true))(t)
	if len(entries) != 2 || entries[0].Type != "tree" || entries[1].Path != "x/a.json" || entries[1].Mode != "100644" ||
		entries[1].Size != 3 {
		t.Fatalf("%+v", entries)
	}
	// 9e26dfeeb6e641a33dae4961196235bdb965b21b: printf '{}' | git hash-object --stdin gives it; with a line end it is
	// 0967ef42….
	if entries[1].SHA != "0967ef424bce6791893e9a57bb952f80fd536e93" {
		t.Errorf("the blob is %s", entries[1].SHA)
	}
	second := must(c.CreateTree(t.Context(), first, []githubapi.TreeFile{{Path: "y/a.json", SHA: entries[1].SHA}}))(t)
	commit := must(c.CreateCommit(t.Context(), githubapi.NewCommit{Message: "m\n\nTrailer: x\n", Tree: second}))(t)
	if !commit.Verified || commit.Reason != "valid" {
		t.Errorf("%+v", commit)
	}
	if err := c.CreateRef(t.Context(), "refs/heads/ledger", commit.SHA); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateRef(t.Context(), "refs/heads/ledger", commit.SHA); kind(err) != githubapi.Unprocessable {
		t.Errorf("a second time: %v", err)
	}
	next := must(c.CreateCommit(t.Context(), githubapi.NewCommit{Message: "n\n", Tree: first,
		Parents: []string{commit.SHA}}))(t)
	if err := c.UpdateRef(t.Context(), "refs/heads/ledger", next.SHA, false); err != nil {
		t.Fatal(err)
	}
	if err := c.UpdateRef(t.Context(), "refs/heads/ledger", commit.SHA, false); kind(err) != githubapi.Unprocessable {
		t.Errorf("backwards: %v", err)
	}
	if got := must(c.Ref(t.Context(), "refs/heads/ledger"))(t); got != next.SHA {
		t.Errorf("the branch is at %s", got)
	}
	tree, parents, err := c.GitCommit(t.Context(), next.SHA)
	if err != nil || tree != first || !slices.Equal(parents, []string{commit.SHA}) {
		t.Errorf("%s %v %v", tree, parents, err)
	}
	if b := must(c.Blob(t.Context(), entries[1].SHA))(t); string(b) != "{}\n" {
		t.Errorf("%q", b)
	}
	if _, err := c.CreateTree(t.Context(), "",
		[]githubapi.TreeFile{{Path: "a", SHA: strings.Repeat("1", 40)}}); kind(err) != githubapi.Unprocessable {
		t.Errorf("a blob that is not there: %v", err)
	}
}

func TestRepository(t *testing.T) {
	s, _ := sample(t)
	s.AddToken("members", githubtest.Token{Login: "owner", Members: true})
	s.AddTeam("acme/reviewers", "rosa")
	c := client(t, s)
	if got := must(c.Repository(t.Context()))(t); got != (githubapi.Repository{ID: 4242, Owner: "acme", OwnerID: 42,
		Name: "acme/underwriting", DefaultBranch: "main"}) {
		t.Errorf("%+v", got)
	}
	for login, want := range map[string]string{"owner": "admin", "rosa": "maintain", "wim": "write", "tria": "triage",
		"reader": "read", "mallory": "none", "nobody": "none", "helper[bot]": "write"} {
		if got := must(c.Permission(t.Context(), login))(t); got != want {
			t.Errorf("%s has %s, want %s", login, got, want)
		}
	}
	if _, err := c.TeamMember(t.Context(), "acme", "reviewers", "rosa"); !githubapi.IsForbidden(err) {
		t.Errorf("the job's own token read a team: %v", err)
	}
	m := client(t, s, func(o *githubapi.Options) { o.Token = "members" })
	for login, want := range map[string]bool{"rosa": true, "wim": false} {
		if got := must(m.TeamMember(t.Context(), "acme", "reviewers", login))(t); got != want {
			t.Errorf("%s: %v", login, got)
		}
	}
}

func TestContent(t *testing.T) {
	s, _ := sample(t)
	big := strings.Repeat("0123456789abcdef", 1<<16+1) // more than a megabyte
	s.Commit("main", githubtest.Change{Files: map[string]string{".github/referee.yml": "version: 1\n", "big": big,
		"link": "big", "sub": s.Ref("refs/heads/main")},
		Modes: map[string]string{"link": "120000", "sub": "160000"}})
	c := client(t, s)
	if got := must(c.Content(t.Context(), ".github/referee.yml", "main"))(t); string(got) != "version: 1\n" {
		t.Errorf("%q", got)
	}
	if got := must(c.Content(t.Context(), "big", "main"))(t); string(got) != big {
		t.Errorf("%d bytes, want %d", len(got), len(big))
	}
	if _, err := c.Content(t.Context(), "absent", "main"); !githubapi.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"link", "sub", ".github"} {
		if _, err := c.Content(t.Context(), path, "main"); err == nil ||
			!strings.Contains(err.Error(), "is not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestGet(t *testing.T) {
	s, _ := sample(t)
	s.AddToken("admin", githubtest.Token{Login: "owner", Admin: true})
	var into map[string]any
	if status, err := client(t, s).Get(t.Context(), "branches/main/protection", &into); status != 403 ||
		!githubapi.IsForbidden(err) {
		t.Errorf("%d %v", status, err)
	}
	c := client(t, s, func(o *githubapi.Options) { o.Token = "admin" })
	if status, err := c.Get(t.Context(), "branches/main/protection", &into); status != 404 ||
		!githubapi.IsNotFound(err) {
		t.Errorf("%d %v", status, err)
	}
	s.Set("branches/main/protection", s.Example("get /repos/{owner}/{repo}/branches/{branch}/protection"))
	s.Set("rulesets/1", s.Example("get /repos/{owner}/{repo}/rulesets/{ruleset_id}"))
	s.Set("rulesets", []any{s.Example("get /repos/{owner}/{repo}/rulesets")})
	s.Set("rules/branches/main", []any{s.Example("get /repos/{owner}/{repo}/rules/branches/{branch}")})
	for _, path := range []string{"", "branches/main/protection", "rulesets", "rulesets/1", "rules/branches/main",
		"actions/permissions", "actions/permissions/workflow"} {
		var any any
		if status, err := c.Get(t.Context(), path, &any); status != 200 || err != nil || any == nil {
			t.Errorf("%q: %d %v", path, status, err)
		}
	}
}
