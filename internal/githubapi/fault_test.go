package githubapi_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// bubble runs a test in synctest's time, with a server that is reached without a network.
func bubble(t *testing.T, test func(t *testing.T, s *githubtest.Server, pull int64)) {
	s, n := sample(t)
	synctest.Test(t, func(t *testing.T) { test(t, s, n) })
}

// waits runs f and gives how long it took.
func waits(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// What asks for patience was not carried out: it is waited for as long as the server asks, for reads and writes alike.
func TestRateLimits(t *testing.T) {
	abused := githubtest.Abused
	abused.Header = http.Header{"Retry-After": {"7"}}
	for name, c := range map[string]struct {
		fault func(*githubtest.Server) githubtest.Fault
		want  time.Duration
	}{
		"403 Retry-After": {func(*githubtest.Server) githubtest.Fault { return githubtest.RetryAfter(403, 5) },
			5 * time.Second},
		"429 Retry-After": {func(*githubtest.Server) githubtest.Fault { return githubtest.RetryAfter(429, 30) },
			30 * time.Second},
		"Retry-After 0": {func(*githubtest.Server) githubtest.Fault { return githubtest.RetryAfter(429, 0) },
			time.Second},
		"422 abuse":             {func(*githubtest.Server) githubtest.Fault { return githubtest.Abused }, time.Minute},
		"422 abuse with a time": {func(*githubtest.Server) githubtest.Fault { return abused }, 7 * time.Second},
		// the reset is 20 s after the fault was made; the server's clock moves by one with the request, and one is
		// added
		"403 reset": {func(s *githubtest.Server) githubtest.Fault { return s.Spent(403, 20) }, 20 * time.Second},
		"429 reset": {func(s *githubtest.Server) githubtest.Fault { return s.Spent(429, 20) }, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
				k := client(t, s)
				s.Inject(c.fault(s))
				got := waits(func() { must(k.PullRequest(t.Context(), n))(t) })
				if got != c.want || k.Calls() != 2 {
					t.Errorf("a read waited %s in %d calls, want %s in 2", got, k.Calls(), c.want)
				}
				s.Inject(c.fault(s).On("POST", "pulls/*/reviews"))
				got = waits(func() { must(k.CreateReview(t.Context(), n, s.Head(n), "once"))(t) })
				if got != c.want || len(s.ReviewsBy(n, "github-actions[bot]")) != 1 {
					t.Errorf("a write waited %s, %d reviews", got, len(s.ReviewsBy(n, "github-actions[bot]")))
				}
			})
		})
	}
}

// The waits together stay below MaxWait, and the message says what was waited for and what would have come.
func TestMaxWait(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
		c := client(t, s, func(o *githubapi.Options) { o.MaxWait = 100 * time.Second })
		s.Inject(githubtest.RetryAfter(429, 40).Always())
		var err error
		if got := waits(func() { _, err = c.PullRequest(t.Context(), n) }); got != 80*time.Second {
			t.Errorf("waited %s, want 80 s", got)
		}
		if err == nil || kind(err) != githubapi.Abuse ||
			!strings.Contains(err.Error(), "waited 1m20s for rate limits; the next wait would be 40s, and 20s of "+
				"1m40s are left") {
			t.Errorf("%v", err)
		}
		none := client(t, s, func(o *githubapi.Options) { o.MaxWait = -1 })
		if got := waits(func() { _, err = none.PullRequest(t.Context(), n) }); got != 0 ||
			kind(err) != githubapi.Abuse || none.Calls() != 1 {
			t.Errorf("waited %s: %v", got, err)
		}
	})
}

// A 5xx or a lost connection is tried four times where that changes nothing: after 1, 2 and 4 seconds.
func TestBrokenReads(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{"502": githubtest.Unicorn, "before": githubtest.DropBefore,
		"after": githubtest.DropAfter} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
				c := client(t, s)
				fault.Times = 3
				s.Inject(fault)
				if got := waits(func() { must(c.PullRequest(t.Context(), n))(t) }); got != 7*time.Second ||
					c.Calls() != 4 {
					t.Errorf("waited %s in %d calls, want 7 s in 4", got, c.Calls())
				}
				later := githubtest.Fault{Status: 503, Header: http.Header{"Retry-After": {"20"}}}
				s.Inject(later)
				if got := waits(func() { must(c.PullRequest(t.Context(), n))(t) }); got != 20*time.Second ||
					c.Calls() != 6 {
					t.Errorf("waited %s in %d calls for a server that asks for 20 s, want 2 more calls", got, c.Calls())
				}
				s.Inject(fault.Always())
				_, err := c.PullRequest(t.Context(), n)
				if !githubapi.IsAmbiguous(err) || c.Calls() != 10 ||
					!strings.Contains(err.Error(), "waited 7s for the server to recover") {
					t.Errorf("%v after %d calls", err, c.Calls())
				}
			})
		})
	}
}

// A write whose reply was lost is looked for, and made again only where it is not there: in the end there is one of it.
func TestLostReplies(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{
		"before": githubtest.DropBefore, "after": githubtest.DropAfter, "502 after": {Status: 502, FailAfter: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
				c := client(t, s)
				lost := func(what string, err error, made int) {
					t.Helper()
					if err != nil || made != 1 {
						t.Errorf("%s: %v, %d made", what, err, made)
					}
				}
				s.Inject(fault.On("POST", "pulls/*/reviews"))
				_, err := c.CreateReview(t.Context(), n, s.Head(n), "the body")
				lost("review", err, len(s.ReviewsBy(n, "github-actions[bot]")))

				s.Inject(fault.On("POST", "pulls/*/comments"))
				_, err = c.CreateComment(t.Context(), n, s.Head(n), githubapi.Comment{Path: "a.json", Line: 1,
					Body: "x"})
				lost("comment", err, len(s.Comments(n)))

				s.Inject(fault.On("POST", "check-runs"))
				_, err = c.PutCheck(t.Context(), githubapi.Check{Name: "audit", HeadSHA: s.Head(n), ExternalID: "d",
					Conclusion: "success", Title: "t", Summary: "s", Annotations: annotations(3)})
				lost("check", err, len(s.Checks(s.Head(n))))

				s.Inject(fault.On("POST", "issues"))
				_, err = c.CreateIssue(t.Context(), githubapi.Issue{Title: "title", Body: "b",
					Labels: []string{"referee"}})
				lost("issue", err, len(s.Issues()))

				s.Inject(fault.On("POST", "issues/*/comments"))
				err = c.CommentIssue(t.Context(), s.Issues()[0].Number, "x")
				lost("issue's comment", err, len(s.Issues()[0].Comments))
			})
		})
	}
}

// What is lost each time ends in an error that says so, with nothing made twice.
func TestLostForGood(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
		c := client(t, s)
		s.Inject(githubtest.DropBefore.On("POST", "").Always())
		if _, err := c.CreateReview(t.Context(), n, s.Head(n), "x"); !githubapi.IsAmbiguous(err) || c.Calls() != 6 {
			t.Errorf("%v after %d calls, want 3 tries and 3 looks", err, c.Calls())
		}
		s.ClearFaults()
		s.Inject(githubtest.DropAfter.On("POST", "issues").Always())
		if _, err := c.CreateIssue(t.Context(), githubapi.Issue{Title: "t"}); !githubapi.IsAmbiguous(err) ||
			len(s.Issues()) != 1 {
			t.Errorf("without a label: %v, %d issues", err, len(s.Issues()))
		}
	})
}

// Annotations are appended: a batch whose reply was lost is not sent again if it has arrived.
func TestLostAnnotations(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{"before": githubtest.DropBefore,
		"after": githubtest.DropAfter} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
				c := client(t, s)
				s.Inject(fault.On("PATCH", "check-runs/*"))
				check := must(c.PutCheck(t.Context(), githubapi.Check{Name: "audit", HeadSHA: s.Head(n),
					Conclusion: "failure", Title: "t", Summary: "s", Annotations: annotations(120)}))(t)
				if got := s.Checks(s.Head(n)); len(got) != 1 || len(got[0].Annotations) != 120 ||
					got[0].Conclusion != "failure" || check.Posted != 120 {
					t.Errorf("%d checks, %d annotations, %s", len(got), len(got[0].Annotations), got[0].Conclusion)
				}
			})
		})
	}
}

// An update by id gives the same twice and is sent again; a reference is not: its caller must look.
func TestRepeatable(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
		c := client(t, s)
		id := must(c.CreateReview(t.Context(), n, s.Head(n), "one"))(t)
		s.Inject(githubtest.DropAfter.On("PUT", ""))
		if err := c.UpdateReview(t.Context(), n, id, "two"); err != nil {
			t.Error(err)
		}
		comment := must(c.CreateComment(t.Context(), n, s.Head(n), githubapi.Comment{Path: "a.json", Line: 1,
			Body: "x"}))(t)
		s.Inject(githubtest.DropAfter.On("DELETE", ""))
		if err := c.DeleteComment(t.Context(), comment); err != nil {
			t.Error(err)
		}
		before := c.Calls()
		s.Inject(githubtest.DropAfter.On("PATCH", "git/refs/**"))
		head := s.Ref("refs/heads/main")
		if err := c.UpdateRef(t.Context(), "refs/heads/main", head, false); !githubapi.IsAmbiguous(err) ||
			c.Calls()-before != 1 {
			t.Errorf("%v after %d calls", err, c.Calls()-before)
		}
	})
}

// Refusals are worded: what, where, and what would be right.
func TestRefusals(t *testing.T) {
	for want, fault := range map[string]githubtest.Fault{
		"GET /repos/acme/underwriting/pulls/1: 401 unauthorized: Bad credentials; the token is missing, wrong or " +
			"expired": githubtest.BadToken,
		"GET /repos/acme/underwriting/pulls/1: 403 forbidden: Resource not accessible by integration; the token lacks the " +
			"permission that this needs": githubtest.NoAccess,
		"GET /repos/acme/underwriting/pulls/1: 404 not_found: Not Found":  githubtest.Missing,
		"GET /repos/acme/underwriting/pulls/1: 409 conflict: Conflict":    githubtest.Conflicted,
		"GET /repos/acme/underwriting/pulls/1: 418 refused: I'm a teapot": {Status: 418, Body: "<html>"},
	} {
		s, n := sample(t)
		c := client(t, s)
		s.Inject(fault)
		if _, err := c.PullRequest(t.Context(), n); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if c.Calls() != 1 {
			t.Errorf("%s: %d calls", want, c.Calls())
		}
	}
}

// The token is in no error, whoever puts it there; nor are control and bidirectional characters.
func TestErrorsAreClean(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	s.Inject(githubtest.Fault{Status: 403, Body: `{"message":"` + s.Token + `\n::error::x\u202e\u001b[31m` +
		strings.Repeat("a", 1000) + `"}`})
	_, err := c.PullRequest(t.Context(), n)
	if err == nil || strings.Contains(err.Error(), s.Token) || strings.ContainsAny(err.Error(), "\n\u202e\x1b") ||
		len(err.Error()) > 600 {
		t.Errorf("%q", err)
	}
}

// A redirect to another host is not followed: the token goes to the API's own and to no other.
func TestRedirects(t *testing.T) {
	s, n := sample(t)
	c := client(t, s)
	s.Inject(githubtest.Fault{Status: 307, Header: http.Header{"Location": {"https://evil.example/x"}}})
	_, err := c.PullRequest(t.Context(), n)
	if err == nil || !strings.Contains(err.Error(),
		"the server redirects to https://evil.example, which is not followed") || len(s.Requests()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
	s.Inject(githubtest.Fault{Status: 301,
		Header: http.Header{"Location": {s.APIURL() + "/repos/acme/underwriting/pulls/1"}}})
	if p, err := c.PullRequest(t.Context(), n); err != nil || p.Number != n {
		t.Errorf("within the host: %v", err)
	}
}

// A list that is longer than GitHub gives whole is an error, not a shorter list.
func TestTooMany(t *testing.T) {
	s := githubtest.New(t)
	files := map[string]string{}
	for i := range 3001 {
		files["f/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String()] = "1\n"
	}
	s.Commit("many", githubtest.Change{Files: files, Author: "agent"})
	n := s.Open(githubtest.Pull{Head: "many"})
	c := client(t, s)
	if p := must(c.PullRequest(t.Context(), n))(t); p.ChangedFiles != 3001 {
		t.Fatalf("%d files", p.ChangedFiles)
	}
	before := c.Calls()
	if got, err := c.Files(t.Context(), n); !errors.Is(err, githubapi.ErrTooMany) || got != nil {
		t.Errorf("%d files, %v", len(got), err)
	}
	if calls := c.Calls() - before; calls > 30 {
		t.Errorf("%d calls", calls)
	}
	s.Commit("long", githubtest.Change{Author: "agent"})
	s.CommitMany("long", 249, "agent")
	long := s.Open(githubtest.Pull{Head: "long"})
	got, err := c.Story(t.Context(), long)
	if !errors.Is(err, githubapi.ErrTooMany) || got.Commits != nil || !strings.Contains(err.Error(), "250 commits") ||
		!strings.Contains(err.Error(), "squash them, or split the pull request") {
		t.Errorf("%d commits, %v", len(got.Commits), err)
	}
}

func TestPages(t *testing.T) {
	s, n := sample(t)
	var want []int64
	for range 205 {
		want = append(want, s.Review(n, "rosa", "COMMENTED", "x"))
	}
	c := client(t, s)
	var got []int64
	for _, r := range must(c.Reviews(t.Context(), n))(t) {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, want) || c.Calls() != 3 {
		t.Errorf("%d reviews in %d calls, want 205 in 3", len(got), c.Calls())
	}
}

func TestCancelled(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, n int64) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s.Inject(githubtest.RetryAfter(429, 30))
		_, err := client(t, s).PullRequest(ctx, n)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// A dry run reads, and tells what it would write.
func TestDry(t *testing.T) {
	s, n := sample(t)
	var told []string
	c := client(t, s, func(o *githubapi.Options) {
		o.Dry = func(method, path string, _ []byte) { told = append(told, method+" "+path) }
	})
	must(c.PullRequest(t.Context(), n))(t)
	must(c.CreateReview(t.Context(), n, s.Head(n), "x"))(t)
	if want := []string{"GET /repos/acme/underwriting/pulls/1",
		"POST /repos/acme/underwriting/pulls/1/reviews"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	if len(s.Requests()) != 1 || len(s.ReviewsBy(n, "github-actions[bot]")) != 0 {
		t.Errorf("%d requests", len(s.Requests()))
	}
}

func TestOptionsRefused(t *testing.T) {
	for name, o := range map[string]githubapi.Options{
		"no owner":         {Repository: "work"},
		"a path":           {Repository: "a/b/c"},
		"not a URL":        {Repository: "a/b", APIURL: "api.github.com"},
		"another scheme":   {Repository: "a/b", APIURL: "ftp://api.github.com"},
		"a password in it": {Repository: "a/b", APIURL: "https://u:p@api.github.com"},
		"a line end":       {Repository: "a/b", Token: "ghs_x\r\nHost: evil"},
	} {
		if _, err := githubapi.New(o); err == nil || strings.Contains(err.Error(), "ghs_x") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The API of an Enterprise Server lies under a path, with or without a slash at its end; api.github.com's under none.
func TestBaseURLs(t *testing.T) {
	s, n := sample(t)
	for _, base := range []string{s.URL + "/api/v3", s.URL + "/api/v3/", s.URL, s.URL + "/"} {
		c := client(t, s, func(o *githubapi.Options) { o.APIURL = base })
		if _, err := c.PullRequest(t.Context(), n); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}
