package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// Online is GitHub's own record, as the ledger is held to it (L4: ledger.Online, ledger.Witness) and to what was
// announced in it (L3). Each pull request's reviews are read once, one request after the other.
type Online struct {
	api    *githubapi.Client
	merges func(context.Context) ([]ledger.MergeRecord, error)
	mu     sync.Mutex
	pulls  map[int64]pullReviews
	runs   map[int64]githubapi.WorkflowRun
	people map[string]string // permissions by login
}

// pullReviews is what was read of a pull request, or why it was not.
type pullReviews struct {
	reviews []githubapi.Review
	err     error
}

// NewOnline reads through the API; merges gives the commits on base that brought runs (gitstore's Merges). It may be
// nil for who looks at no merges, as Tail does.
func NewOnline(api *githubapi.Client, merges func(context.Context) ([]ledger.MergeRecord, error)) *Online {
	return &Online{
		api:    api,
		merges: merges,
		pulls:  map[int64]pullReviews{},
		runs:   map[int64]githubapi.WorkflowRun{},
		people: map[string]string{},
	}
}

// Know notes the reviews of a pull request that were read already, so that they are not read again.
func (o *Online) Know(pull int64, reviews []githubapi.Review) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pulls[pull] = pullReviews{reviews: reviews}
}

// Pulls is of how many pull requests the reviews were asked for.
func (o *Online) Pulls() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pulls)
}

func (o *Online) readReviews(ctx context.Context, pull int64) ([]githubapi.Review, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	have, ok := o.pulls[pull]
	if !ok {
		have.reviews, have.err = o.api.Reviews(ctx, pull)
		have.err = asNoPull(have.err)
		o.pulls[pull] = have
	}
	return have.reviews, have.err
}

// asNoPull says in the ledger's words that there is no such pull request.
func asNoPull(err error) error {
	if githubapi.IsNotFound(err) {
		return fmt.Errorf("%w: %w", ledger.ErrNoPull, err)
	}
	return err
}

// Reviews is ledger.Online's.
func (o *Online) Reviews(ctx context.Context, pull int64) ([]ledger.ReviewRecord, error) {
	reviews, err := o.readReviews(ctx, pull)
	var out []ledger.ReviewRecord
	for _, r := range reviews {
		out = append(out, ReviewRecord(r))
	}
	return out, err
}

// ReviewRecord is a review as the ledger compares it: the time in its form, and the hash of the body exactly as the API
// gives it.
func ReviewRecord(r githubapi.Review) ledger.ReviewRecord {
	return ledger.ReviewRecord{
		ID:          r.ID,
		State:       r.State,
		Login:       r.User,
		UserID:      r.UserID,
		UserType:    r.UserType,
		SubmittedAt: canonical.Time(r.SubmittedAt),
		CommitSHA:   r.CommitSHA,
		BodySHA256:  canonical.SHA256Hex([]byte(r.Body)),
	}
}

// Merges is ledger.Online's.
func (o *Online) Merges(ctx context.Context) ([]ledger.MergeRecord, error) {
	if o.merges == nil {
		return nil, errors.New("the commits on base are not available")
	}
	return o.merges(ctx)
}

// MergeOf is ledger.Witness's.
func (o *Online) MergeOf(ctx context.Context, pull int64) (string, error) {
	p, err := o.api.PullRequest(ctx, pull)
	return p.MergeSHA, asNoPull(err)
}

// RunOf is ledger.Witness's. GitHub keeps the runs of workflows for 400 days: what a self-signed entry rests on is not
// to be had for ever.
func (o *Online) RunOf(ctx context.Context, run int64) (ledger.WorkflowRecord, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	have, ok := o.runs[run]
	if !ok {
		var err error
		if have, err = o.api.WorkflowRun(ctx, run); err != nil {
			if githubapi.IsNotFound(err) {
				err = fmt.Errorf("%w: %w", ledger.ErrNoRun, err)
			}
			return ledger.WorkflowRecord{}, err
		}
		o.runs[run] = have
	}
	return WorkflowRecord(have), nil
}

// WorkflowRecord is a run of a workflow as the ledger compares it.
func WorkflowRecord(run githubapi.WorkflowRun) ledger.WorkflowRecord {
	path, _, _ := strings.Cut(run.Path, "@") // GitHub may write the reference behind it
	return ledger.WorkflowRecord{Path: path, Event: run.Event, Actor: run.Actor, Title: run.DisplayTitle}
}

// PullsOf is ledger.Witness's.
func (o *Online) PullsOf(ctx context.Context, sha string) ([]int64, error) {
	return o.api.PullRequestsOf(ctx, sha)
}

// PermissionOf is ledger.Witness's.
func (o *Online) PermissionOf(ctx context.Context, login string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	have, ok := o.people[login]
	if !ok {
		var err error
		if have, err = o.api.Permission(ctx, login); err != nil {
			return "", err
		}
		o.people[login] = have
	}
	return have, nil
}

// UserOf is ledger.Witness's.
func (o *Online) UserOf(ctx context.Context, login string) (int64, error) {
	id, err := o.api.UserID(ctx, login)
	if githubapi.IsNotFound(err) {
		return 0, fmt.Errorf("%w: %w", ledger.ErrNoUser, err)
	}
	return id, err
}

// Announced gives the receipts that the gate announced in its review on a pull request, as pins of level L3. author is
// the gate's login (github-actions[bot] with the job's own token): the same marker in somebody else's review announces
// nothing. A line that somebody changed is an error that wraps ErrAnnouncement; a pull request that does not exist
// announces nothing.
func (o *Online) Announced(ctx context.Context, pull int64, author string) ([]ledger.Pin, error) {
	reviews, err := o.readReviews(ctx, pull)
	if errors.Is(err, ledger.ErrNoPull) {
		return nil, nil
	}
	var pins []ledger.Pin
	for _, r := range reviews {
		marker, marked := memory.ParseMarker(r.Body)
		if r.User != author || r.UserType != "Bot" || !marked || marker.Pull != pull {
			continue
		}
		said, err := memory.ParseAnnounced(r.Body)
		if err != nil {
			return nil, fmt.Errorf("review %d of pull request %d: %w: %w", r.ID, pull, ErrAnnouncement, err)
		}
		for _, p := range said {
			p.Source = fmt.Sprintf("review %d of pull request %d", r.ID, pull)
			pins = append(pins, p)
		}
	}
	return pins, err
}

// ErrAnnouncement says that the line that announces receipts was changed.
var ErrAnnouncement = errors.New("its list of receipts cannot be read")

// lastOpened is how many pull requests Lately names.
const lastOpened = 50

// Lately gives the numbers of the pull requests that were opened last, whatever became of them: where a ledger was cut
// off at the end, their reviews announce receipts that it no longer names.
func (o *Online) Lately(ctx context.Context) ([]int64, error) {
	var list []struct {
		Number int64 `json:"number"`
	}
	if _, err := o.api.Get(ctx, fmt.Sprintf("pulls?state=all&per_page=%d", lastOpened), &list); err != nil {
		return nil, err
	}
	var numbers []int64
	for _, p := range list {
		numbers = append(numbers, p.Number)
	}
	return numbers, nil
}
