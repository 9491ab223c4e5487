package githubapi

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzFailure: whatever a server answers, it becomes one printable line without the token, of a known kind, and a wait
// that is no less than a second and no more than a day or what Retry-After says.
func FuzzFailure(f *testing.F) {
	for _, seed := range []struct {
		status                              int
		body, after, remaining, reset, date string
	}{
		{422, `{"message":"Validation Failed","errors":[{"code":"abuse"}]}`, "", "", "", ""},
		{422, `{"message":"Unprocessable Entity","errors":["a text",{"resource":"R","field":"f","code":"c",` +
			`"message":"m"},null,7]}`, "", "", "", ""},
		{422, `{"code":"abuse"}`, "1", "", "", ""},
		{403, `{"message":"API rate limit exceeded"}`, "", "0", "9223372036854775807", "Tue, 01 Dec 2026 12:00:00 GMT"},
		{429, "tok-123 \u202e\x00\xff", "-5", "0", "x", "y"},
		{502, "<html>", "99999999999999", "", "", ""},
		{301, "", "", "", "", ""},
	} {
		f.Add(seed.status, seed.body, seed.after, seed.remaining, seed.reset, seed.date)
	}
	kinds := []string{Unauthorized, Forbidden, RateLimited, Abuse, NotFound, Conflict, Unprocessable, Server, Refused}
	t := &transport{base: &url.URL{Scheme: "https", Host: "api.github.com", Path: "/"}, token: "tok-123"}
	f.Fuzz(func(tt *testing.T, status int, body, after, remaining, reset, date string) {
		resp := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after},
			"X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}, "Date": {date}}}
		req := &http.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: "api.github.com", Path: "/repos/a/b"}}
		e := t.failureOf(req, resp, []byte(body), nil)
		text := e.Error()
		if strings.Contains(text, "tok-123") || len([]rune(e.Message)) > 301 ||
			strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			tt.Errorf("%q", text)
		}
		known := false
		for _, k := range kinds {
			known = known || k == e.Kind
		}
		if !known {
			tt.Errorf("kind %q", e.Kind)
		}
		for n := range 9 {
			if d := pauseOf(resp.Header, n); d < time.Second || d > time.Duration(1<<31)*time.Second {
				tt.Errorf("a wait of %s", d)
			}
		}
	})
}

// What the server gives is read to its end within the attempt; an answer without end is refused.
func TestAnswerWithoutEnd(t *testing.T) {
	endless := roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: zeros{}, Request: r}, nil
	})
	c, err := New(Options{Repository: "a/b", Transport: endless, MaxWait: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Repository(t.Context())
	if e := new(Error); !errors.As(err, &e) || e.Kind != Lost ||
		!strings.Contains(e.Message, "more than 67108864 bytes") {
		t.Errorf("%v", err)
	}
}

// An answer that is empty, no JSON, or about something else is an error, and never an empty list or a thing without
// members.
func TestAnswerUnreadable(t *testing.T) {
	for _, body := range []string{"", " ", "null", "<html>", `{"number":2}`, `[]`, `{"number":`} {
		c, err := New(Options{Repository: "a/b", MaxWait: -1,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{},
					Body:    io.NopCloser(strings.NewReader(body)),
					Request: r}, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		_, repo := c.Repository(t.Context())
		_, pull := c.PullRequest(t.Context(), 1)
		_, run := c.WorkflowRun(t.Context(), 1)
		_, list := c.Reviews(t.Context(), 1)
		if repo == nil || pull == nil || run == nil || list == nil && body != "[]" {
			t.Errorf("%q: %v, %v, %v, %v", body, repo, pull, run, list)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }
func (zeros) Close() error               { return nil }
