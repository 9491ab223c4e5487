package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DefaultMaxWait bounds the waits where Options do not.
const DefaultMaxWait = 2 * time.Minute

// The bounds of one request.
const (
	maxBroken    = 4           // times that a request may end in a 5xx or without an answer
	silence      = time.Minute // after which a server that says nothing has hung up
	defaultPause = time.Minute // what a rate limit asks for where it names no time
	aheadBytes   = 1 << 20     // of an answer that are read before anybody sees it
)

// patience sends git's requests over HTTP again, by the rules by which package githubapi sends the API's: a rate limit
// is waited for as long as the server says; a 5xx, a broken connection and a server that says nothing are tried four
// times, one, two and four seconds apart, or as far as Retry-After says; all waits together stay below a bound. A push
// is never sent again unless a rate limit refused it: what became of it is read from the branch (remote.publish). An
// answer that breaks off after its first megabyte is for retry.
type patience struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error

	mu     sync.Mutex
	left   time.Duration // of the waits
	budget time.Duration
}

// withPatience returns a client with patience; it has none if maxWait is below 0.
func withPatience(client *http.Client, maxWait time.Duration) (*http.Client, *patience) {
	switch {
	case maxWait == 0:
		maxWait = DefaultMaxWait
	case maxWait < 0:
		maxWait = 0
	}
	p := &patience{next: client.Transport, sleep: sleepOrStop, left: maxWait, budget: maxWait}
	if p.next == nil {
		p.next = http.DefaultTransport
	}
	with := *client
	with.Transport = p
	return &with, p
}

func sleepOrStop(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// What an answer can end in beside what http says of it.
var (
	errSilent = fmt.Errorf("the server has not answered for %s", silence)
	errCut    = errors.New("the answer was cut off")
)

// RoundTrip implements http.RoundTripper.
func (p *patience) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	repeatable := req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/git-upload-pack")
	var waited time.Duration
	for broken, limits := 0, 0; ; {
		resp, err := p.sendOnce(req, body)
		if ended := req.Context().Err(); ended != nil {
			closeBody(resp)
			return nil, ended
		}
		var pause time.Duration
		switch {
		case err == nil && rateLimited(resp):
			pause = retryAfter(resp.Header, defaultPause<<min(limits, 6))
			limits++
		case (err != nil || resp.StatusCode >= 500) && repeatable && broken < maxBroken-1:
			pause = time.Second << broken
			if err == nil {
				pause = max(pause, retryAfter(resp.Header, 0))
			}
			broken++
		case waited > 0 && (err != nil || resp.StatusCode >= 400):
			return nil, gaveUp(resp, err, fmt.Sprintf("waited %s for it to recover", waited))
		default:
			return resp, err
		}
		if have := p.takePause(pause); have < pause {
			if p.budget == 0 {
				return resp, err
			}
			return nil, gaveUp(resp, err, fmt.Sprintf("waited %s; the next wait would be %s, and %s of %s are left",
				waited, pause, have, p.budget))
		}
		closeBody(resp)
		if waited += pause; p.sleep(req.Context(), pause) != nil {
			return nil, req.Context().Err()
		}
	}
}

// retryReading does what reads an answer, and again if the answer broke off.
func (p *patience) retryReading(ctx context.Context, do func() error) error {
	for broken := 0; ; broken++ {
		err := do()
		pause := time.Second << broken
		if !errors.Is(err, errCut) || broken == maxBroken-1 || p == nil || p.takePause(pause) < pause ||
			p.sleep(ctx, pause) != nil {
			return err
		}
	}
}

// takePause takes a pause from the budget, or says how much is left where that is not enough.
func (p *patience) takePause(pause time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pause > p.left {
		return p.left
	}
	p.left -= pause
	return pause
}

// gaveUp is the error for what the last answer was.
func gaveUp(resp *http.Response, err error, why string) error {
	if err != nil {
		return fmt.Errorf("%w; %s", err, why)
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // what can be read of it is enough
	closeBody(resp)
	return fmt.Errorf("the server answers %d: %s; %s", resp.StatusCode, strings.TrimSpace(string(text)), why)
}

func closeBody(resp *http.Response) {
	if resp != nil {
		_ = resp.Body.Close()
	}
}

// rateLimited reports whether an answer is a rate limit: 429, or what GitHub also says, 403 with a time.
func rateLimited(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden &&
		resp.Header.Get("Retry-After") != ""
}

// retryAfter is how long the server asks to wait, in seconds or by a date of its own clock, and a second at least;
// otherwise where it does not say.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	after := h.Get("Retry-After")
	if n, err := strconv.ParseInt(after, 10, 32); err == nil {
		return max(time.Second, time.Duration(n)*time.Second)
	}
	then, err := http.ParseTime(after)
	now, dateErr := http.ParseTime(h.Get("Date"))
	if err == nil && dateErr == nil {
		return max(time.Second, then.Sub(now))
	}
	return otherwise
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	return body, errors.Join(err, req.Body.Close())
}

// sendOnce sends a request one time, and reads the beginning of the answer.
func (p *patience) sendOnce(req *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	a := &answer{ctx: ctx, cancel: cancel, timer: time.AfterFunc(silence, func() { cancel(errSilent) })}
	out := req.Clone(ctx)
	if body != nil {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := p.next.RoundTrip(out)
	if err != nil {
		err = a.causeOf(err)
		a.endAnswer()
		return nil, err
	}
	a.ReadCloser = resp.Body
	start, err := io.ReadAll(io.LimitReader(a, aheadBytes))
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), a), a}
	return resp, nil
}

// answer is the body of a response, whose end is its end and nothing else.
type answer struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Read implements io.Reader.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if err == nil {
		a.timer.Reset(silence)
		return n, nil
	}
	a.timer.Stop()
	if err != io.EOF {
		err = fmt.Errorf("%w: %w", errCut, a.causeOf(err))
	}
	return n, err
}

// Close implements io.Closer.
func (a *answer) Close() error {
	defer a.endAnswer()
	return a.ReadCloser.Close()
}

func (a *answer) endAnswer() {
	a.timer.Stop()
	a.cancel(nil)
}

// causeOf is the error, or the silence that made it.
func (a *answer) causeOf(err error) error {
	if context.Cause(a.ctx) == errSilent {
		return errSilent
	}
	return err
}
