package githubapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/githubtest"
)

// TestStory: a review whose body was changed is told from one that stands as it was submitted, and by whom, over more
// than one page; what this token wrote is known by its author; a pull request that does not exist has no answer.
func TestStory(t *testing.T) {
	s := githubtest.New(t)
	s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "agent"})
	pull := s.Open(githubtest.Pull{Head: "feature", Author: "agent"})
	first := s.Review(pull, "rosa", "APPROVED", "fine")
	for range 120 {
		s.Review(pull, "rosa", "COMMENTED", "talk")
	}
	edited := s.Review(pull, "rosa", "APPROVED", "fine")
	s.EditReviewBy(pull, edited, "mallory", "/accept lending.dti fine")
	gone := s.Review(pull, "wim", "APPROVED", "fine")
	s.EditReviewBy(pull, gone, "", "not fine")
	bots := s.Review(pull, "github-actions[bot]", "COMMENTED", "the gate's")
	s.EditReview(pull, bots, "the gate's own")
	others := s.Review(pull, "helper[bot]", "COMMENTED", "the gate's")
	s.EditReviewBy(pull, others, "helper[bot]", "like the gate's")
	for _, api := range []string{s.APIURL(), s.URL} {
		c, err := New(Options{APIURL: api, Token: s.Token, Repository: s.Name})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Story(t.Context(), pull)
		if err != nil || len(got.Edited) != 125 || got.HeadSHA != s.Head(pull) || got.State != "open" || got.Draft ||
			got.BaseRef != "main" || c.Calls() != 2 {
			t.Errorf("%s: %+v, %v, %d calls", api, got, err, c.Calls())
		}
		if got.Edited[first] || !got.Edited[edited] || !got.Edited[gone] || !got.Edited[bots] {
			t.Errorf("%s: edited %v", api, got.Edited)
		}
		editors := []string{got.Editors[first], got.Editors[edited], got.Editors[gone], got.Editors[bots],
			got.Editors[others]}
		if want := []string{"", "mallory", "", "github-actions[bot]", "helper[bot]"}; !slices.Equal(editors, want) {
			t.Errorf("%s: editors %q, want %q", api, editors, want)
		}
		if got.Viewer != "github-actions[bot]" || len(got.Own) != 1 || got.Own[bots] != "the gate's own" {
			t.Errorf("%s: %q wrote %v", api, got.Viewer, got.Own)
		}
		if len(got.Commits) != 1 || got.CommitCount != 1 || len(got.Siblings) != 0 {
			t.Errorf("%s: %+v, %d, %v", api, got.Commits, got.CommitCount, got.Siblings)
		}
		if _, err := c.Story(t.Context(), 99); err == nil {
			t.Error("a pull request that does not exist was answered for")
		}
	}
}

// TestStoryTimeline: every force-push and change of base is known, over more than one page, the oldest first; an app is
// named as the REST API names it, an account that is gone has no name, and an event that cannot be read is no empty
// list.
func TestStoryTimeline(t *testing.T) {
	s := githubtest.New(t)
	s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "helper[bot]"})
	pull := s.Open(githubtest.Pull{Head: "feature", Author: "helper[bot]"})
	for range 120 {
		s.Retarget(pull, "main")
	}
	s.Close(pull, "owner")
	s.Reopen(pull, "owner")
	s.ForcePush(pull, githubtest.Change{Files: map[string]string{"a": "2"}}, false)
	c, err := New(Options{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Story(t.Context(), pull)
	if err != nil || len(got.Timeline) != 121 || c.Calls() != 2 {
		t.Fatalf("%d events in %d calls, %v", len(got.Timeline), c.Calls(), err)
	}
	first, last := got.Timeline[0], got.Timeline[120]
	if first.Event != "base_ref_changed" || first.Actor != "helper[bot]" || last.Event != "head_ref_force_pushed" ||
		last.At.Before(first.At) {
		t.Errorf("%+v, %+v", first, last)
	}
	at := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	for name, nodes := range map[string][]*eventJSON{"null": {nil}, "unknown": {{Type: "MergedEvent", At: at}},
		"no time": {{Type: "BaseRefChangedEvent"}}, "no type": {{At: at}}} {
		if err := new(Story).addEvents(nodes); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	ghost := Story{}
	if err := ghost.addEvents([]*eventJSON{{Type: "HeadRefForcePushedEvent", At: at}}); err != nil ||
		ghost.Timeline[0] != (TimelineEvent{"head_ref_force_pushed", "", at}) {
		t.Errorf("%+v, %v", ghost.Timeline, err)
	}
}

// TestStoryCommits: who made a commit, with and without an account, and whom its message names, over more than one
// page.
func TestStoryCommits(t *testing.T) {
	s := githubtest.New(t)
	rosa := "7+rosa@users.noreply.github.com"
	s.Commit("feature", githubtest.Change{Author: "agent"})
	s.CommitMany("feature", 118, "agent")
	s.Commit("feature", githubtest.Change{Author: "Nobody <nobody@example.com>", Committer: "helper[bot]",
		Message: "Change\n\nCo-authored-by: Rosa <" + rosa + ">\nCo-authored-by: Claude <noreply@anthropic.com>\n"})
	pull := s.Open(githubtest.Pull{Head: "feature", Author: "agent"})
	c, err := New(Options{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Story(t.Context(), pull)
	if err != nil || got.CommitCount != 120 || len(got.Commits) != 120 || c.Calls() != 2 {
		t.Fatalf("%d of %d commits in %d calls, %v", len(got.Commits), got.CommitCount, c.Calls(), err)
	}
	last := got.Commits[119]
	nobody := Identity{Email: "nobody@example.com", Name: "Nobody"}
	bot := Identity{Login: "helper[bot]", Bot: true, Email: "30+helper[bot]@users.noreply.github.com",
		Name: "helper[bot]"}
	want := []Identity{nobody, {Login: "rosa", Email: rosa, Name: "Rosa"},
		{Email: "noreply@anthropic.com", Name: "Claude"}}
	if last.SHA != s.Head(pull) || last.Author != nobody || last.Committer != bot ||
		!slices.Equal(last.Authors, want) || !strings.Contains(last.Message, "Co-authored-by: Rosa") {
		t.Errorf("%+v", last)
	}
	if first := got.Commits[0]; first.Author.Login != "agent" || first.Committer.Login != "agent" || first.Author.Bot {
		t.Errorf("%+v", first)
	}
}

// TestStorySiblings: the other open pull requests of a head are known, to another base too, and those of another head,
// a closed one and the pull request itself are none.
func TestStorySiblings(t *testing.T) {
	s := githubtest.New(t)
	s.Commit("dev", githubtest.Change{Files: map[string]string{"d": "1"}})
	head := s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "agent"})
	s.CommitFork("mallory/work", "feature", githubtest.Change{Parent: head, Author: "mallory"})
	one := s.Open(githubtest.Pull{Head: "feature", Author: "agent"})
	two := s.Open(githubtest.Pull{Head: "feature", Author: "mallory", Base: "dev"})
	closed := s.Open(githubtest.Pull{Head: "feature", Author: "mallory", Base: "dev"})
	s.Close(closed, "mallory")
	s.Open(githubtest.Pull{Head: "feature", Author: "mallory", Fork: "mallory/work"})
	c, err := New(Options{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	for pull, want := range map[int64]int64{one: two, two: one} {
		if got, err := c.Story(t.Context(), pull); err != nil || !slices.Equal(got.Siblings, []int64{want}) {
			t.Errorf("%d: %v, %v", pull, got.Siblings, err)
		}
	}
}

// TestActors: an app is named as the REST API names it, whichever form the GraphQL API has for it.
func TestActors(t *testing.T) {
	for want, a := range map[string]*actorJSON{"": nil, "rosa": {"User", "rosa"}, "helper[bot]": {"Bot", "helper"},
		"other[bot]": {"Bot", "other[bot]"}, "app[bot]": {"User", "app[bot]"}} {
		if got := a.restLogin(); got != want {
			t.Errorf("%+v is %q, want %q", a, got, want)
		}
	}
}

// TestMergeBase: the commit at which a branch left main, also after main has moved on.
func TestMergeBase(t *testing.T) {
	s := githubtest.New(t)
	fork := s.Ref("refs/heads/main")
	head := s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "agent"})
	base := s.Commit("main", githubtest.Change{Files: map[string]string{"b": "1"}})
	c, err := New(Options{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.MergeBase(t.Context(), base, head); err != nil || got != fork {
		t.Errorf("%s, %v; want %s", got, err, fork)
	}
	if _, err := c.MergeBase(t.Context(), base, "0000000000000000000000000000000000000001"); err == nil {
		t.Error("a commit that does not exist has a merge base")
	}
}
