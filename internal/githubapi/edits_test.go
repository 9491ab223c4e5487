package githubapi

import (
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// TestEdits: a review whose body was changed is told from one that stands as it was submitted, over more than one page; a pull request that
// does not exist has no answer.
func TestEdits(t *testing.T) {
	s := githubtest.New(t)
	s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "agent"})
	pull := s.Open(githubtest.Pull{Head: "feature", Author: "agent"})
	first := s.Review(pull, "rosa", "APPROVED", "fine")
	for range 120 {
		s.Review(pull, "rosa", "COMMENTED", "talk")
	}
	last := s.Review(pull, "rosa", "APPROVED", "fine")
	s.EditReview(pull, last, "/accept lending.dti fine")
	for _, api := range []string{s.APIURL(), s.URL} {
		c, err := New(Options{APIURL: api, Token: s.Token, Repository: s.Name})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Edits(t.Context(), pull)
		if err != nil || len(got.Edited) != 122 || got.Edited[first] || !got.Edited[last] || got.HeadSHA != s.Head(pull) || got.State != "open" || got.Draft || got.BaseRef != "main" {
			t.Errorf("%s: %+v, %v", api, got, err)
		}
		if _, err := c.Edits(t.Context(), 99); err == nil {
			t.Error("a pull request that does not exist was answered for")
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
