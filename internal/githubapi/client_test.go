package githubapi_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// client connects to a test server without a network.
func client(t *testing.T, s *githubtest.Server, change ...func(*githubapi.Options)) *githubapi.Client {
	t.Helper()
	o := githubapi.Options{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name, Transport: s.Transport(),
		App: "github-actions"}
	for _, f := range change {
		f(&o)
	}
	c, err := githubapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must gives a value or ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// sample is a server with one pull request of the agent.
func sample(t *testing.T) (*githubtest.Server, int64) {
	s := githubtest.New(t)
	s.Commit("work", githubtest.Change{Files: map[string]string{"a.json": "{}\n", "b/c.txt": "one\ntwo\n"},
		Author: "agent", Message: "Work\n"})
	return s, s.Open(githubtest.Pull{Head: "work"})
}

func TestPullRequest(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	p := must(c.PullRequest(t.Context(), n))(t)
	want := githubapi.PullRequest{Number: n, NodeID: p.NodeID, Author: "agent", AuthorType: "User", State: "open",
		HeadSHA: s.Head(n), HeadRef: "work", HeadRepo: s.Name,
		BaseSHA: s.Ref("refs/heads/main"), BaseRef: "main", ChangedFiles: 2, Commits: 1, UpdatedAt: p.UpdatedAt}
	if p != want || p.NodeID == "" || p.UpdatedAt.IsZero() {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	s.Close(n, "wim")
	if p = must(c.PullRequest(t.Context(), n))(t); p.State != "closed" || p.ClosedBy != "wim" || p.Merged ||
		p.MergeSHA != "" {
		t.Errorf("closed: %+v", p)
	}
	s.Commit("more", githubtest.Change{Files: map[string]string{"d": "1"}, Author: "agent"})
	m := s.Open(githubtest.Pull{Head: "more"})
	sha := s.Merge(m, "rosa", "squash")
	if p = must(c.PullRequest(t.Context(), m))(t); !p.Merged || p.MergeSHA != sha || p.ClosedBy != "rosa" ||
		p.ChangedFiles != 1 {
		t.Errorf("merged: %+v", p)
	}
	if got := must(c.PullRequestsOf(t.Context(), sha))(t); !slices.Equal(got, []int64{m}) {
		t.Errorf("the merge commit belongs to %v", got)
	}
}

func TestForkPullRequest(t *testing.T) {
	s, n := sample(t)
	head := s.CommitFork("mallory/work", "patch", githubtest.Change{Files: map[string]string{"x": "1"},
		Author: "mallory"})
	f := s.Open(githubtest.Pull{Head: "patch", Fork: "mallory/work", Author: "mallory"})
	c := client(t, s)
	if p := must(c.PullRequest(t.Context(), f))(t); p.HeadRepo != "mallory/work" || p.HeadSHA != head {
		t.Errorf("%+v", p)
	}
	if got := must(c.OpenPullRequests(t.Context()))(t); !slices.Equal(got, []int64{f, n}) {
		t.Errorf("open: %v", got)
	}
	if got := must(c.OpenPullRequestsFrom(t.Context(), "mallory", "patch"))(t); !slices.Equal(got, []int64{f}) {
		t.Errorf("of the fork's branch: %v", got)
	}
	id := s.AddRun(githubtest.Run{Pull: f, Listed: true})
	run := must(c.WorkflowRun(t.Context(), id))(t)
	if run.HeadSHA != head || run.HeadRepo != "mallory/work" || run.HeadBranch != "patch" ||
		run.Event != "pull_request_review" || run.Path != ".github/workflows/referee-review.yml" ||
		len(run.PullRequests) != 0 {
		t.Errorf("a fork's run: %+v", run)
	}
	if run = must(c.WorkflowRun(t.Context(),
		s.AddRun(githubtest.Run{Pull: n, Listed: true})))(t); !slices.Equal(run.PullRequests, []int64{n}) {
		t.Errorf("a branch's run: %+v", run)
	}
}

// TestDispatchedRun: what a run that was started by hand says of itself, and what a re-run by somebody else changes of
// it.
func TestDispatchedRun(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	began := s.Now()
	const title = "referee sign-off pr=1 head=0123456789012345678901234567890123456789 digest=0123456789abcdef"
	id := s.AddRun(githubtest.Run{Name: "referee", Event: "workflow_dispatch", DisplayTitle: title})
	first := must(c.WorkflowRun(t.Context(), id))(t)
	want := githubapi.WorkflowRun{ID: id, Name: "referee", DisplayTitle: title, Path: ".github/workflows/referee.yml",
		Event: "workflow_dispatch", Conclusion: "success", Attempt: 1,
		HeadSHA: s.Ref("refs/heads/main"), HeadBranch: "main", HeadRepo: s.Name, Actor: "owner", ActorID: 1,
		TriggeringActor: "owner", TriggeringActorID: 1, CreatedAt: began}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("%+v, not\n%+v", first, want)
	}
	s.Push(n, githubtest.Change{Files: map[string]string{"later": "1"}, Author: "wim"})
	s.Rerun(id, "wim")
	want.Attempt, want.TriggeringActor, want.TriggeringActorID = 2, "wim", 8
	if again := must(c.WorkflowRun(t.Context(), id))(t); !reflect.DeepEqual(again, want) {
		t.Errorf("the re-run: %+v, not\n%+v", again, want)
	}
}

func TestReviews(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	first := s.Review(n, "rosa", "APPROVED", "fine")
	s.DismissReview(n, first, "owner")
	id := must(c.CreateReview(t.Context(), n, s.Head(n), "<!-- referee -->\nbody"))(t)
	if err := c.UpdateReview(t.Context(), n, id, "new body"); err != nil {
		t.Fatal(err)
	}
	got := must(c.Reviews(t.Context(), n))(t)
	if len(got) != 2 || got[0].State != "DISMISSED" || got[0].User != "rosa" || got[0].UserID != 7 ||
		got[0].UserType != "User" || got[0].CommitSHA != s.Head(n) || got[0].SubmittedAt.IsZero() {
		t.Errorf("%+v", got)
	}
	if got[1].ID != id || got[1].Body != "new body" || got[1].State != "COMMENTED" || got[1].UserType != "Bot" {
		t.Errorf("%+v", got[1])
	}
	err := c.UpdateReview(t.Context(), n, first, "x")
	if !githubapi.IsForbidden(err) {
		t.Errorf("another's review: %v", err)
	}
}

func TestCommitsAndTimeline(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	s.Push(n, githubtest.Change{Files: map[string]string{"a.json": "[]"}, Author: "Nobody <nobody@example.com>",
		Committer: "wim", Message: "Second\n\nCo-authored-by: rosa\n"})
	if commits := must(c.Story(t.Context(), n))(t).Commits; len(commits) != 2 ||
		commits[1].Author.Email != "nobody@example.com" || commits[1].Committer.Login != "wim" {
		t.Errorf("%+v", commits)
	}
	review := s.Review(n, "rosa", "APPROVED", "")
	head := s.ForcePush(n, githubtest.Change{Files: map[string]string{"a.json": "1"}}, true)
	s.Retarget(n, "main")
	s.TakeBase(n, "main")
	s.DismissReview(n, review, "owner")
	var names []string
	for _, e := range must(c.Story(t.Context(), n))(t).Timeline {
		names = append(names, e.Event)
		if e.Actor != "agent" || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if want := []string{"head_ref_force_pushed", "base_ref_changed", "base_ref_changed"}; !slices.Equal(names, want) {
		t.Errorf("got  %v\nwant %s", names, want)
	}
	if got := must(c.Reviews(t.Context(), n))(t); got[0].CommitSHA != head {
		t.Error("the review was not moved to the new head")
	}
}
