package githubapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Client asks GitHub about one repository. It is safe for concurrent use; writes are sent one after the other.
type Client struct {
	gh          *github.Client
	transport   *transport
	owner, name string
	app         string
}

// New makes a client. Nothing is sent yet.
func New(o Options) (*Client, error) {
	owner, name, ok := strings.Cut(o.Repository, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(name, "/?#%") || strings.ContainsAny(owner, "?#%") {
		return nil, fmt.Errorf("the repository %q is not owner/name", o.Repository)
	}
	if o.APIURL == "" {
		o.APIURL = "https://api.github.com"
	}
	base, err := url.Parse(strings.TrimSuffix(o.APIURL, "/") + "/")
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil ||
		base.RawQuery != "" {
		return nil, fmt.Errorf("the API's URL %q is not like https://api.github.com or https://HOST/api/v3", o.APIURL)
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the token holds a character that no token has")
	}
	t := &transport{next: o.Transport, base: base, token: o.Token, agent: o.UserAgent, dry: o.Dry, left: o.MaxWait}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	if t.left == 0 {
		t.left = DefaultMaxWait
	}
	t.left = max(t.left, 0)
	t.budget = t.left
	if t.agent == "" {
		t.agent = "referee"
	}
	gh := github.NewClient(&http.Client{Transport: t, CheckRedirect: t.checkRedirect})
	gh.BaseURL = base
	return &Client{gh: gh, transport: t, owner: owner, name: name, app: o.App}, nil
}

// Calls is the number of requests that were sent so far.
func (c *Client) Calls() int {
	c.transport.mu.Lock()
	defer c.transport.mu.Unlock()
	return c.transport.calls
}

// Name is owner/name.
func (c *Client) Name() string { return c.owner + "/" + c.name }

// unwrapFailure unwraps the *Error that the transport gave; everything else is named by what was read.
func unwrapFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	if e := new(Error); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the answer about %s cannot be read: %w", what, err)
}

// errOther says that an answer is not about what was asked.
var errOther = errors.New("it is about something else")

// sends is how often something is made whose reply gets lost.
const sends = 3

// sendOnce makes something that must not be made twice. Where the reply is lost, it looks whether the thing is there,
// and makes it again only if it is not.
func sendOnce[T any](
	ctx context.Context, c *Client, what string, send func() (T, error), find func() (T, bool, error),
) (T, error) {
	for try := 1; ; try++ {
		made, err := send()
		if err = unwrapFailure(what, err); !IsAmbiguous(err) {
			return made, err
		}
		found, there, lookErr := find()
		if lookErr == nil && there {
			return found, nil
		}
		if lookErr != nil || try == sends || !c.transport.pauseWithinBudget(ctx, time.Second<<try) {
			return made, err
		}
	}
}

// findAmong finds the first item that fits.
func findAmong[T any](items []T, err error, fits func(T) bool) (T, bool, error) {
	if i := slices.IndexFunc(items, fits); err == nil && i >= 0 {
		return items[i], true, nil
	}
	var none T
	return none, false, err
}

// isErrorKind reports whether an error is an *Error of one of the kinds.
func isErrorKind(err error, kinds ...string) bool {
	e := new(Error)
	if !errors.As(err, &e) {
		return false
	}
	for _, kind := range kinds {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// IsNotFound reports whether there is no such thing, or none that the token may see.
func IsNotFound(err error) bool { return isErrorKind(err, NotFound) }

// IsForbidden reports whether the token may not do it, as on a fork.
func IsForbidden(err error) bool { return isErrorKind(err, Forbidden) }

// IsUnprocessable reports whether the server understood what was asked and cannot do it as things are.
func IsUnprocessable(err error) bool { return isErrorKind(err, Unprocessable) }

// IsAmbiguous reports whether a write may have taken place although it failed.
func IsAmbiguous(err error) bool { return isErrorKind(err, Server, Lost) }

// ErrTooMany says that a list is longer than GitHub, or this client, gives whole: what is not seen cannot be judged.
var ErrTooMany = errors.New("the list is too long to be read whole")

// The bounds of a list.
const (
	perPage  = 100
	maxPages = 30 // 3,000: as many files as GitHub lists of a pull request
)

// eachPage gives the items of a list, page by page. A list that goes on after maxPages is an error, and nothing of it
// may be relied on.
func eachPage[T any](what string, page func(github.ListOptions) ([]T, *github.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		o := github.ListOptions{PerPage: perPage, Page: 1}
		for range maxPages {
			items, resp, err := page(o)
			if err != nil {
				yield(none, unwrapFailure(what, err))
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if resp.NextPage == 0 {
				return
			}
			o.Page = resp.NextPage
		}
		yield(none, fmt.Errorf("%s: more than %d: %w", what, maxPages*perPage, ErrTooMany))
	}
}

// collectPages reads a whole list and converts its items.
func collectPages[T, U any](
	what string, convert func(T) U, page func(github.ListOptions) ([]T, *github.Response, error),
) ([]U, error) {
	var out []U
	for item, err := range eachPage(what, page) {
		if err != nil {
			return nil, err
		}
		out = append(out, convert(item))
	}
	return out, nil
}
