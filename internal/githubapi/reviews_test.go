package githubapi_test

import (
	"testing"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// TestPendingReview: a review that is not submitted is seen by its author alone, and there is one of an account; it is
// submitted once or deleted.
func TestPendingReview(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	r := must(c.StartReview(t.Context(), n, s.Head(n), "first"))(t)
	if r.State != githubapi.Pending || r.ID == 0 || !r.SubmittedAt.IsZero() {
		t.Errorf("%+v", r)
	}
	if _, err := c.StartReview(t.Context(), n, s.Head(n), "second"); !githubapi.IsUnprocessable(err) {
		t.Errorf("a second pending one: %v", err)
	}
	s.AddToken("pat", githubtest.Token{Login: "rosa"})
	other := client(t, s, func(o *githubapi.Options) { o.Token = "pat" })
	if got := must(other.Reviews(t.Context(), n))(t); len(got) != 0 {
		t.Errorf("somebody else sees %+v", got)
	}
	if err := other.SubmitReview(t.Context(), n, r.ID, "mine now"); !githubapi.IsNotFound(err) {
		t.Errorf("somebody else submits it: %v", err)
	}
	if err := c.SubmitReview(t.Context(), n, r.ID, "final"); err != nil {
		t.Fatal(err)
	}
	if got := must(other.Reviews(t.Context(), n))(t); len(got) != 1 || got[0].State != "COMMENTED" ||
		got[0].Body != "final" || got[0].SubmittedAt.IsZero() {
		t.Errorf("%+v", got)
	}
	if err := c.SubmitReview(t.Context(), n, r.ID, "again"); !githubapi.IsUnprocessable(err) {
		t.Errorf("submitted twice: %v", err)
	}
	if err := c.DropReview(t.Context(), n, r.ID); !githubapi.IsUnprocessable(err) {
		t.Errorf("a submitted one is deleted: %v", err)
	}
	r = must(c.StartReview(t.Context(), n, s.Head(n), "third"))(t)
	for range 2 { // one that is gone is fine
		if err := c.DropReview(t.Context(), n, r.ID); err != nil {
			t.Error(err)
		}
	}
	if got := must(c.Reviews(t.Context(), n))(t); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPendingReviewLost: a reply that is lost leaves one review, and it is known.
func TestPendingReviewLost(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{"before": githubtest.DropBefore, "after": githubtest.DropAfter,
		"502 after": {Status: 502, FailAfter: true}} {
		bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
			c := client(t, s)
			s.Inject(fault.On("POST", "pulls/*/reviews"))
			r := must(c.StartReview(t.Context(), n, s.Head(n), "body"))(t)
			s.Inject(fault.On("POST", "pulls/*/reviews/*/events"))
			err := c.SubmitReview(t.Context(), n, r.ID, "body")
			if ids := s.ReviewsBy(n, "github-actions[bot]"); err != nil || len(ids) != 1 ||
				s.ReviewState(n, ids[0]) != "COMMENTED" {
				t.Errorf("%s: %v, %v", name, err, ids)
			}
			r = must(c.StartReview(t.Context(), n, s.Head(n), "more"))(t)
			s.Inject(fault.On("DELETE", "pulls/*/reviews/*"))
			if err := c.DropReview(t.Context(), n, r.ID); err != nil || s.ReviewState(n, r.ID) != "" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
