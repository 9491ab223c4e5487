// Package githubapi is the one importer of google/go-github: what the gate asks of GitHub's REST API, in its own types,
// with retries, rate limits and a bound on the total wait.
//
// Facts it rests on (gate.md): 403 and 429 carry Retry-After or x-ratelimit-reset, 422 may carry "code":"abuse"; writes
// are serialised; a permission is read from the user's role, because the top-level field folds maintain into write.
//
// What is sent again, and when:
//   - an answer that asks for patience (403, 429, 422 abuse) was not carried out: after the wait that it asks for,
//     whatever the method;
//   - a 5xx or a lost connection leaves open whether the effect took place: a GET, and a write that gives the same
//     twice (an update by id, an
//     object named by its content), is sent again; a review, a comment, an issue or a check is looked for first; a
//     reference is left to
//     the caller, for a swap that is tried twice can look lost when it was won.
//
// All waits together stay below Options.MaxWait, by the server's clock and not by ours. The token is sent to the API's
// own host and to no other, and stands in no error.
package githubapi

import (
	"fmt"
	"net/http"
	"time"
)

// Options say how to reach GitHub, or an Enterprise Server.
type Options struct {
	APIURL     string // GITHUB_API_URL, default https://api.github.com; an Enterprise Server's ends in /api/v3
	Token      string
	Repository string        // owner/name
	MaxWait    time.Duration // bound on all waits together; 0 is DefaultMaxWait, below 0 nothing is waited for
	UserAgent  string
	// slug of the app that the token belongs to (github-actions for the job's own); "" if not known
	App       string
	Transport http.RoundTripper // http.DefaultTransport if nil
	// Dry, if set, is told every request; what would write is not sent, and is answered with an empty object.
	Dry func(method, path string, body []byte)
}

// DefaultMaxWait bounds the waits where Options do not.
const DefaultMaxWait = 2 * time.Minute

// The kinds of Error.
const (
	Unauthorized  = "unauthorized"  // 401: the token is missing, wrong or expired
	Forbidden     = "forbidden"     // 403: it may not
	RateLimited   = "rate_limited"  // 403 or 429: the hour's requests are spent
	Abuse         = "abuse"         // 403, 422 or 429: too fast
	NotFound      = "not_found"     // 404 or 410: there is none, or the token may not see it
	Conflict      = "conflict"      // 409
	Unprocessable = "unprocessable" // 422
	Server        = "server"        // 5xx: for a write, whether it took place is not known
	Lost          = "lost"          // no answer: for a write, whether it took place is not known
	Refused       = "refused"       // anything else
)

// Error is an answer of the server that is not a success, or that there was none.
type Error struct {
	Status  int    // HTTP status, 0 if there was no answer
	Method  string // GET, POST …
	Path    string
	Message string // the server's own, cleaned
	Kind    string // one of the constants
	Waited  string // what was waited for before, "" if nothing was
}

// Error words the answer and what would be right.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: %s: %s", e.Method, e.Path, e.Kind, e.Message)
	if e.Status > 0 {
		s = fmt.Sprintf("%s %s: %d %s: %s", e.Method, e.Path, e.Status, e.Kind, e.Message)
	}
	if e.Waited != "" {
		s += " (" + e.Waited + ")"
	}
	if hint := hints[e.Kind]; hint != "" {
		s += "; " + hint
	}
	return s
}

// hints say what would be right.
var hints = map[string]string{
	Unauthorized: "the token is missing, wrong or expired",
	Forbidden:    "the token lacks the permission that this needs",
	RateLimited:  "try again later, or allow a longer wait",
	Abuse:        "try again later, or allow a longer wait",
}

// Ambiguous reports whether a write may have taken place although it ended in this error.
func (e *Error) Ambiguous() bool { return e.Kind == Server || e.Kind == Lost }

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
	MergedBy     string // login, "" where it is not merged
	HeadSHA      string
	HeadRef      string
	HeadRepo     string // owner/name; another repository for a fork, "" where it was deleted
	BaseSHA      string
	BaseRef      string
	ChangedFiles int
	Commits      int
	ClosedBy     string
	ClosedAt     time.Time
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
	SHA               string
	Message           string
	Author, Committer Identity
	Authors           []Identity // the author and everybody whom a Co-authored-by names, as GitHub reads the message
}

// Identity is somebody as a commit names them. Anybody can write any name and address into a commit.
type Identity struct {
	Login string // of the account that confirmed the address, as the REST API writes it; "" where GitHub knows none
	Bot   bool   // the account is an app's
	Email string
	Name  string
}

// TimelineEvent is an event of a pull request that makes its earlier reviews stale.
type TimelineEvent struct {
	Event string // head_ref_force_pushed or base_ref_changed
	Actor string // login as the REST API writes it; "" where the account is gone
	At    time.Time
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

// WorkflowRun is a run of a workflow: the one that a workflow_run event is about, or the one that a self-signature
// rests on. What may change with a re-run (attempt, triggering actor, conclusion) is the newest attempt's.
type WorkflowRun struct {
	ID                int64
	Name              string // of the workflow
	DisplayTitle      string // what the workflow's run-name came to when the run began; a re-run keeps it
	Path              string // of the workflow file; GitHub may write @ and a reference behind it
	Event             string
	Conclusion        string
	Attempt           int // 1 for a run that nobody has re-run
	HeadSHA           string
	HeadBranch        string
	HeadRepo          string // owner/name
	Actor             string // who started the first attempt; every re-run has this account's permissions
	ActorID           int64
	TriggeringActor   string // who started the newest attempt
	TriggeringActorID int64
	CreatedAt         time.Time
	PullRequests      []int64 // empty for a fork's: OpenPullRequestsFrom finds them
}

// TreeEntry is one name of a tree, as the repository has it.
type TreeEntry struct {
	Path string // relative to the tree
	Mode string
	Type string // blob, tree, commit
	SHA  string
	Size int64 // of a blob
}
