// Package githubapi is the one importer of google/go-github: what the gate asks of GitHub's REST API, in its own types, with retries,
// rate limits and a bound on the total wait.
//
// Facts it rests on (gate.md): 403 and 429 carry Retry-After or x-ratelimit-reset, 422 may carry "code":"abuse"; POSTs are serialised and
// retried only where a marker makes them idempotent; a permission is read from the user's role, because the top-level field folds maintain
// into write. Every method's error is an *Error where the server answered.
package githubapi

import (
	"fmt"
	"time"
)

// Options say how to reach GitHub, or an Enterprise Server.
type Options struct {
	APIURL     string // GITHUB_API_URL, default https://api.github.com
	Token      string
	Repository string        // owner/name
	MaxWait    time.Duration // bound on all waits for rate limits together
	UserAgent  string
}

// Error is an answer of the server that is not a success.
type Error struct {
	Status  int    // HTTP status
	Method  string // GET, POST …
	Path    string
	Message string // the server's own, cleaned
	Kind    string // unauthorized, forbidden, rate_limited, abuse, not_found, conflict, unprocessable, server
}

// Error words the answer and what would be right.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.Method, e.Path, e.Status, e.Kind, e.Message)
}

// Repository is what the gate needs to know of the repository.
type Repository struct {
	ID            int64
	Owner         string
	OwnerID       int64
	Name          string // owner/name
	DefaultBranch string
	Private       bool
}

// PullRequest is a pull request as it is now.
type PullRequest struct {
	Number       int64
	NodeID       string
	Author       string
	AuthorType   string // User, Bot
	State        string // open, closed
	Draft        bool
	Merged       bool
	MergeSHA     string
	HeadSHA      string
	HeadRef      string
	HeadRepo     string // owner/name; another repository for a fork, "" where it was deleted
	BaseSHA      string
	BaseRef      string
	ChangedFiles int
	Commits      int
	ClosedBy     string
	UpdatedAt    time.Time
}

// Review is a review of a pull request.
type Review struct {
	ID          int64
	NodeID      string
	User        string
	UserID      int64
	UserType    string // User, Bot
	State       string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING
	Body        string
	CommitSHA   string
	SubmittedAt time.Time
}

// Commit is a commit of a pull request: who may have made it.
type Commit struct {
	SHA            string
	Parents        []string
	AuthorLogin    string // "" where GitHub knows no account for the e-mail
	AuthorEmail    string
	AuthorType     string
	CommitterLogin string
	CommitterEmail string
	CommitterType  string
	Message        string
	Verified       bool
}

// TimelineEvent is an event of a pull request's timeline.
type TimelineEvent struct {
	Event     string // head_ref_force_pushed, review_dismissed, reviewed, committed, base_ref_changed …
	Actor     string
	CommitSHA string
	At        time.Time
}

// ChangedFile is a file that a pull request changes, as the list of files says.
type ChangedFile struct{ Path, Previous, Status string }

// Check is a check run. Conclusion is "" while Status is not completed.
type Check struct {
	ID          int64
	Name        string
	HeadSHA     string
	ExternalID  string
	Status      string // queued, in_progress, completed
	Conclusion  string // success, failure, action_required
	Title       string // at most 255 characters
	Summary     string // at most 65,535 bytes
	Text        string // at most 65,535 bytes
	DetailsURL  string
	AppSlug     string
	Annotations []Annotation // posted 50 a request, appended and never re-sent
	Posted      int          // annotations that the server has already
}

// Annotation marks lines of a file. Columns count only where StartLine is EndLine.
type Annotation struct {
	Path                                       string
	StartLine, EndLine, StartColumn, EndColumn int
	Level                                      string // failure, warning, notice
	Title, Message, Raw                        string
}

// Comment is an inline review comment.
type Comment struct {
	ID        int64
	InReplyTo int64
	User      string
	Path      string
	Line      int
	Body      string
}

// Issue is an issue that the gate opens where nobody looks at a check.
type Issue struct {
	Number int64
	Title  string
	Body   string
	State  string
	User   string
	Labels []string
}

// TreeFile is one file of a tree to be made: Content, or the SHA of a blob that the repository has already.
type TreeFile struct{ Path, Content, SHA string }

// NewCommit is a commit made through the API, without author, so that GitHub signs it.
type NewCommit struct {
	Message string
	Tree    string
	Parents []string
}

// MadeCommit is what the server says of it.
type MadeCommit struct {
	SHA      string
	Verified bool
	Reason   string
}
