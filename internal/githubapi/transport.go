package githubapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/defendableos/referee/internal/canonical"
)

// The bounds of one request.
const (
	attemptTimeout = time.Minute
	maxAnswer      = 64 << 20
	maxBroken      = 4              // tries that may end in a 5xx or without an answer
	maxPause       = 24 * time.Hour // no limit lasts longer
	defaultPause   = time.Minute    // what GitHub asks for where it names no time
)

// transport is everything that happens to a request below go-github: who may see the token, what is sent again, and how
// long is waited. go-github never sees a failure: it would word it with its own types, and know only one of the forms
// of a rate limit.
type transport struct {
	next   http.RoundTripper
	base   *url.URL
	token  string
	agent  string
	dry    func(method, path string, body []byte)
	writes sync.Mutex // one write at a time

	mu     sync.Mutex
	left   time.Duration // of the waits
	budget time.Duration
	calls  int
}

// sameTwice marks requests that give the same when they are sent twice.
type sameTwice struct{}

// withRetry marks the requests made with the context as giving the same when sent twice.
func withRetry(ctx context.Context) context.Context { return context.WithValue(ctx, sameTwice{}, true) }

// readOnly marks requests that change nothing, although they are posted.
type readOnly struct{}

// markRead marks the requests made with the context as changing nothing.
func markRead(ctx context.Context) context.Context { return context.WithValue(ctx, readOnly{}, true) }

// RoundTrip sends a request until it succeeds, is refused, or has been waited for long enough.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	write := req.Method != http.MethodGet && req.Method != http.MethodHead && req.Context().Value(readOnly{}) == nil
	if t.dry != nil {
		t.dry(req.Method, t.pathBelowAPI(req), body)
		if write {
			return emptyResponse(req), nil
		}
	}
	if write {
		t.writes.Lock()
		defer t.writes.Unlock()
	}
	return t.sendRetrying(req, body, !write || req.Context().Value(sameTwice{}) != nil)
}

// sendRetrying is the loop of RoundTrip; repeatable says whether a request without a clear answer may be sent again.
func (t *transport) sendRetrying(req *http.Request, body []byte, repeatable bool) (*http.Response, error) {
	var waited waits
	for broken := 0; ; {
		resp, answer, err := t.sendOnce(req, body)
		if ctx := req.Context().Err(); ctx != nil {
			return nil, ctx
		}
		if err == nil && resp.StatusCode < 400 {
			return resp, nil
		}
		failed := t.failureOf(req, resp, answer, err)
		failed.Waited = waited.String()
		var pause time.Duration
		switch {
		case failed.Kind == RateLimited || failed.Kind == Abuse:
			pause = pauseOf(resp.Header, waited.limits)
		case failed.Ambiguous() && repeatable && broken < maxBroken-1:
			pause = max(time.Second<<broken, pauseAfter(resp))
			broken++
		default:
			return nil, failed
		}
		if have := t.takeFromBudget(pause); have < pause {
			failed.Waited = strings.TrimPrefix(fmt.Sprintf("%s; the next wait would be %s, and %s of %s are left",
				failed.Waited, pause, have, t.budget), "; ")
			return nil, failed
		}
		waited.addWait(failed.Kind, pause)
		if err := sleepContext(req.Context(), pause); err != nil {
			return nil, fmt.Errorf("%w while waiting: %s", err, failed.Error())
		}
	}
}

// waits remembers what was waited for, for the message.
type waits struct {
	limits int
	limit  time.Duration
	broken time.Duration
}

func (w *waits) addWait(kind string, d time.Duration) {
	if kind == RateLimited || kind == Abuse {
		w.limits++
		w.limit += d
		return
	}
	w.broken += d
}

func (w *waits) String() string {
	var parts []string
	if w.limit > 0 {
		parts = append(parts, fmt.Sprintf("waited %s for rate limits", w.limit))
	}
	if w.broken > 0 {
		parts = append(parts, fmt.Sprintf("waited %s for the server to recover", w.broken))
	}
	return strings.Join(parts, ", ")
}

// takeFromBudget takes a pause from the budget, or says how much is left where that is not enough.
func (t *transport) takeFromBudget(pause time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if pause > t.left {
		return t.left
	}
	t.left -= pause
	return pause
}

// pauseWithinBudget waits out of the budget, and reports whether there was enough of it.
func (t *transport) pauseWithinBudget(ctx context.Context, d time.Duration) bool {
	return t.takeFromBudget(d) == d && sleepContext(ctx, d) == nil
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// sendOnce sends a request one time and reads the whole answer, so that a connection that breaks in the middle of it is
// a failure here. What go-github would act on by itself is taken out of the headers.
func (t *transport) sendOnce(req *http.Request, body []byte) (*http.Response, []byte, error) {
	t.mu.Lock()
	t.calls++
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(req.Context(), attemptTimeout)
	defer cancel()
	out := req.Clone(ctx)
	if body != nil {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if t.isOwnHost(req.URL) && t.token != "" {
		out.Header.Set("Authorization", "Bearer "+t.token)
	}
	out.Header.Set("User-Agent", t.agent)
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	err = errors.Join(err, resp.Body.Close())
	if err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err == nil && !isWholeAnswer(req, resp.StatusCode, answer) {
		err = errors.New("the answer is empty or not JSON")
	}
	if err != nil {
		return nil, nil, err
	}
	resp.Body, resp.Request = io.NopCloser(bytes.NewReader(answer)), req
	if resp.StatusCode < 400 {
		for _, name := range []string{"X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Limit",
			"Retry-After"} {
			resp.Header.Del(name)
		}
	}
	return resp, answer, nil
}

// isWholeAnswer reports whether the answer to a GET can be one: go-github takes an empty body for an empty list, and
// nothing found is not nothing there.
func isWholeAnswer(req *http.Request, status int, answer []byte) bool {
	if req.Method != http.MethodGet || status != http.StatusOK || strings.Contains(req.Header.Get("Accept"), "raw") {
		return true
	}
	start := bytes.TrimSpace(answer)
	return len(start) > 0 && (start[0] == '{' || start[0] == '[')
}

// isOwnHost reports whether a URL is the API's own: scheme, host and port.
func (t *transport) isOwnHost(u *url.URL) bool {
	return u.Scheme == t.base.Scheme && u.Host == t.base.Host
}

// checkRedirect follows within the API's own host, for a repository that was renamed, and nowhere else.
func (t *transport) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 3 || !t.isOwnHost(req.URL) {
		return &Error{Status: req.Response.StatusCode, Method: via[0].Method, Path: t.pathBelowAPI(via[0]), Kind: Refused,
			Message: fmt.Sprintf("the server redirects to %s://%s, which is not followed", req.URL.Scheme,
				req.URL.Host)}
	}
	return nil
}

// pathBelowAPI is a request's path below the API's own.
func (t *transport) pathBelowAPI(req *http.Request) string {
	return "/" + strings.TrimPrefix(req.URL.EscapedPath(), t.base.EscapedPath())
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	return body, errors.Join(err, req.Body.Close())
}

func emptyResponse(req *http.Request) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Request: req,
		Header:  http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}"))}
}

// message is the part of an answer's body that says what is wrong.
type message struct {
	Message string            `json:"message"`
	Code    string            `json:"code"`
	URL     string            `json:"documentation_url"`
	Errors  []json.RawMessage `json:"errors"`
}

// failureOf puts what came instead of a success into words.
func (t *transport) failureOf(req *http.Request, resp *http.Response, answer []byte, err error) *Error {
	e := &Error{Method: req.Method, Path: t.pathBelowAPI(req)}
	if err != nil {
		if already := new(Error); errors.As(err, &already) {
			return already
		}
		e.Kind, e.Message = Lost, t.cleanForLog("no answer: "+err.Error())
		return e
	}
	var m message
	if json.Unmarshal(answer, &m) != nil {
		m = message{}
	}
	e.Status, e.Kind = resp.StatusCode, kindOf(resp, m)
	e.Message = t.cleanForLog(m.errorText(resp.StatusCode))
	return e
}

// errorText is the server's message with its details, or the status in words.
func (m message) errorText(status int) string {
	if m.Message == "" {
		return http.StatusText(status)
	}
	s := m.Message
	for _, raw := range m.Errors {
		var detail struct{ Resource, Field, Code, Message string }
		switch {
		case raw[0] == '"':
			var text string
			_ = json.Unmarshal(raw, &text) // a text that is none adds nothing
			s += "; " + text
		case json.Unmarshal(raw, &detail) == nil:
			s += "; " + strings.Join(
				strings.Fields(detail.Resource+" "+detail.Field+" "+detail.Code+" "+detail.Message), " ")
		}
	}
	return s
}

// isSecondaryLimit reports whether a body is the one of a secondary rate limit, in any of the forms that it was given
// over the years.
func (m message) isSecondaryLimit() bool {
	if m.Code == "abuse" || strings.HasSuffix(m.URL, "#abuse-rate-limits") ||
		strings.HasSuffix(m.URL, "secondary-rate-limits") ||
		strings.Contains(strings.ToLower(m.Message), "secondary rate limit") {
		return true
	}
	for _, raw := range m.Errors {
		var detail struct{ Code string }
		if json.Unmarshal(raw, &detail) == nil && detail.Code == "abuse" {
			return true
		}
	}
	return false
}

func kindOf(resp *http.Response, m message) string {
	switch code := resp.StatusCode; {
	case code == 401:
		return Unauthorized
	case code == 403 && resp.Header.Get("X-Ratelimit-Remaining") == "0":
		return RateLimited
	case (code == 403 || code == 422 || code == 429) && m.isSecondaryLimit():
		return Abuse
	case code == 429 || code == 403 && resp.Header.Get("Retry-After") != "":
		return RateLimited
	case code == 403:
		return Forbidden
	case code == 404 || code == 410:
		return NotFound
	case code == 409:
		return Conflict
	case code == 422:
		return Unprocessable
	case code >= 500:
		return Server
	}
	return Refused
}

// pauseAfter is how long a server that fails asks to be left alone, 0 if it does not say or did not answer.
func pauseAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	after, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(after) * time.Second
}

// pauseOf is how long a rate limit asks to wait: what Retry-After says, or until x-ratelimit-reset by the server's own
// clock, and one second at least; where neither says, a minute, and twice as long each time.
func pauseOf(h http.Header, before int) time.Duration {
	if after, err := strconv.ParseInt(h.Get("Retry-After"), 10, 32); err == nil {
		return max(time.Second, time.Duration(after)*time.Second)
	}
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	now, dateErr := http.ParseTime(h.Get("Date"))
	if err == nil && dateErr == nil && h.Get("X-Ratelimit-Remaining") == "0" {
		return max(time.Second, min(time.Unix(reset, 0).Sub(now), maxPause)+time.Second)
	}
	return defaultPause << min(before, 6)
}

// cleanForLog makes a server's text fit for a log: one line, nothing invisible, not too long, and never the token.
func (t *transport) cleanForLog(s string) string {
	if t.token != "" {
		s = strings.ReplaceAll(s, t.token, "***")
	}
	s, _ = canonical.Sanitize(strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " "))
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
