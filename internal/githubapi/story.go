package githubapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Story is what the GraphQL API tells of a pull request at one moment: where it is, who edited its reviews, and who
// made its commits. Logins are written as the REST API writes them, an app's with "[bot]" at its end.
//
// What is relied on, of GitHub's public schema and of answers that others have published: viewer is the account that
// the token acts as, and for an installation token its login has the "[bot]"; an Actor of type Bot (a review's author
// or editor) has the login without it; GitActor.user has it, and is null where no account confirmed the address.
// Commit.authors are the git author and everybody whom a Co-authored-by names.
type Story struct {
	Viewer      string // login that this token acts as, "github-actions[bot]" for the job's own
	HeadSHA     string
	State       string // open, closed, merged
	Draft       bool
	BaseRef     string
	Edited      map[int64]bool   // of every review by its id: whether the body was edited since it was submitted
	Editors     map[int64]string // who edited it last; "" where nobody did, or the account is gone
	Own         map[int64]string // bodies of the reviews that Viewer wrote, as they are at this moment
	Commits     []Commit         // the oldest first, all of them
	CommitCount int
	Siblings    []int64 // other open pull requests of this repository with the same head, in order
	Timeline    []TimelineEvent
}

// storyQuery is one request for up to 100 reviews, 100 commits and 100 events. Other pull requests of the head are
// asked for in two ways: GitHub does not list open ones of a commit that the default branch has.
const storyQuery = `query($owner:String!,$name:String!,$number:Int!,$reviews:String,$commits:String,` +
	`$events:String){viewer{__typename login} repository(owner:$owner,name:$name){` +
	`pullRequests(states:OPEN,first:100,orderBy:{field:UPDATED_AT,direction:DESC}){nodes{number headRefOid}} ` +
	`pullRequest(number:$number){headRefOid state isDraft baseRefName ` +
	`reviews(first:100,after:$reviews){pageInfo{hasNextPage endCursor} nodes{fullDatabaseId body lastEditedAt ` +
	`author{__typename login} editor{__typename login}}} ` +
	`commits(first:100,after:$commits){totalCount pageInfo{hasNextPage endCursor} nodes{commit{oid message ` +
	`author{name email user{__typename login}} committer{name email user{__typename login}} ` +
	`authors(first:100){totalCount nodes{name email user{__typename login}}}}}} ` +
	`timelineItems(first:100,after:$events,itemTypes:[HEAD_REF_FORCE_PUSHED_EVENT,BASE_REF_CHANGED_EVENT,` +
	`AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT]){` +
	`pageInfo{hasNextPage endCursor} nodes{__typename ... on HeadRefForcePushedEvent{createdAt actor{__typename ` +
	`login}} ` +
	`... on BaseRefChangedEvent{createdAt actor{__typename login}} ... on AutomaticBaseChangeSucceededEvent{createdAt ` +
	`actor{__typename login}}}} ` +
	`head:commits(last:1){nodes{commit{associatedPullRequests(first:100){nodes{number state headRefOid ` +
	`repository{nameWithOwner}}}}}}}}}`

type actorJSON struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
}

// restLogin is the login as the REST API writes it; "" for nobody.
func (a *actorJSON) restLogin() string {
	switch {
	case a == nil:
		return ""
	case a.Type == "Bot" && !strings.HasSuffix(a.Login, "[bot]"):
		return a.Login + "[bot]"
	}
	return a.Login
}

type gitActorJSON struct {
	Name  string     `json:"name"`
	Email string     `json:"email"`
	User  *actorJSON `json:"user"`
}

func (g *gitActorJSON) toIdentity() Identity {
	if g == nil {
		return Identity{}
	}
	login := g.User.restLogin()
	return Identity{Login: login, Bot: g.User != nil && (g.User.Type == "Bot" || strings.HasSuffix(login, "[bot]")),
		Email: g.Email, Name: g.Name}
}

type commitJSON struct {
	SHA       string        `json:"oid"`
	Message   string        `json:"message"`
	Author    *gitActorJSON `json:"author"`
	Committer *gitActorJSON `json:"committer"`
	Authors   struct {
		Count int             `json:"totalCount"`
		Nodes []*gitActorJSON `json:"nodes"`
	} `json:"authors"`
}

type reviewJSON struct {
	ID     string     `json:"fullDatabaseId"`
	Body   string     `json:"body"`
	Edited *string    `json:"lastEditedAt"`
	Author *actorJSON `json:"author"`
	Editor *actorJSON `json:"editor"`
}

type eventJSON struct {
	Type  string     `json:"__typename"`
	At    time.Time  `json:"createdAt"`
	Actor *actorJSON `json:"actor"`
}

type pullJSON struct {
	Number     int64  `json:"number"`
	State      string `json:"state"`
	Head       string `json:"headRefOid"`
	Repository struct {
		Name string `json:"nameWithOwner"`
	} `json:"repository"`
}

type pageInfo struct {
	HasNextPage bool    `json:"hasNextPage"`
	EndCursor   *string `json:"endCursor"`
}

type storyPage struct {
	Data struct {
		Viewer     *actorJSON `json:"viewer"`
		Repository struct {
			PullRequests struct {
				Nodes []pullJSON `json:"nodes"`
			} `json:"pullRequests"`
			PullRequest *storyPull `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

type storyPull struct {
	Head    string `json:"headRefOid"`
	State   string `json:"state"`
	Draft   bool   `json:"isDraft"`
	Base    string `json:"baseRefName"`
	Reviews struct {
		PageInfo pageInfo     `json:"pageInfo"`
		Nodes    []reviewJSON `json:"nodes"`
	} `json:"reviews"`
	Commits struct {
		Count    int      `json:"totalCount"`
		PageInfo pageInfo `json:"pageInfo"`
		Nodes    []struct {
			Commit commitJSON `json:"commit"`
		} `json:"nodes"`
	} `json:"commits"`
	Timeline struct {
		PageInfo pageInfo     `json:"pageInfo"`
		Nodes    []*eventJSON `json:"nodes"`
	} `json:"timelineItems"`
	HeadCommit struct {
		Nodes []struct {
			Commit struct {
				Pulls struct {
					Nodes []pullJSON `json:"nodes"`
				} `json:"associatedPullRequests"`
			} `json:"commit"`
		} `json:"nodes"`
	} `json:"head"`
}

// maxCommits is how many commits GitHub lists of a pull request; further ones are left out without a word.
const maxCommits = 250

// Story asks the one question that is put to the GraphQL API, for the REST API tells neither who edited a review nor
// whom a Co-authored-by names. The pushes that were no fast-forward and the changes of base come with it, so that all
// of it is of one moment. More commits or authors than GitHub lists are ErrTooMany, which says what to do: who made the
// rest is not known; Viewer and Siblings are.
func (c *Client) Story(ctx context.Context, number int64) (Story, error) {
	out := Story{Edited: map[int64]bool{}, Editors: map[int64]string{}, Own: map[int64]string{}}
	first := pageInfo{HasNextPage: true}
	reviews, commits, events := first, first, first
	for range maxPages {
		page, err := c.storyPage(ctx, number, reviews.EndCursor, commits.EndCursor, events.EndCursor)
		if err != nil {
			return Story{}, err
		}
		pull := page.Data.Repository.PullRequest
		if pull == nil || page.Data.Viewer.restLogin() == "" || out.HeadSHA != "" &&
			(out.HeadSHA != pull.Head || out.BaseRef != pull.Base) {
			return Story{}, unwrapFailure(storyName, errOther)
		}
		out.Viewer, out.CommitCount = page.Data.Viewer.restLogin(), pull.Commits.Count
		out.HeadSHA, out.State, out.Draft, out.BaseRef = pull.Head, strings.ToLower(pull.State), pull.Draft, pull.Base
		out.Siblings = siblingPulls(page, number, c.owner+"/"+c.name)
		if reviews.HasNextPage {
			err = out.addReviews(pull.Reviews.Nodes)
			reviews = pull.Reviews.PageInfo
		}
		if err == nil && commits.HasNextPage {
			err = out.addCommits(pull)
			commits = pull.Commits.PageInfo
		}
		if err == nil && events.HasNextPage {
			err = out.addEvents(pull.Timeline.Nodes)
			events = pull.Timeline.PageInfo
		}
		if errors.Is(err, ErrTooMany) {
			return Story{Viewer: out.Viewer, Siblings: out.Siblings}, err
		}
		if err != nil {
			return Story{}, err
		}
		if !reviews.HasNextPage && !commits.HasNextPage && !events.HasNextPage {
			return out, out.checkComplete()
		}
	}
	return Story{}, fmt.Errorf("the reviews or the pushes: more than %d: open a new pull request: %w", maxPages*perPage,
		ErrTooMany)
}

const storyName = "the pull request's story"

// addReviews adds a page of reviews.
func (s *Story) addReviews(nodes []reviewJSON) error {
	for _, n := range nodes {
		id, err := strconv.ParseInt(n.ID, 10, 64)
		if err != nil {
			return unwrapFailure(storyName, errOther)
		}
		s.Edited[id], s.Editors[id] = n.Edited != nil, n.Editor.restLogin()
		if n.Author.restLogin() == s.Viewer && s.Viewer != "" {
			s.Own[id] = n.Body
		}
	}
	return nil
}

// restEvents are the events that are asked for, by the names that the REST API has for them. Where GitHub itself takes
// another base, as the old one's branch was deleted, it is a change of base like any other.
var restEvents = map[string]string{"HeadRefForcePushedEvent": "head_ref_force_pushed",
	"BaseRefChangedEvent":               "base_ref_changed",
	"AutomaticBaseChangeSucceededEvent": "base_ref_changed"}

// addEvents adds a page of events. One that cannot be read might be the push that makes a review stale.
func (s *Story) addEvents(nodes []*eventJSON) error {
	for _, n := range nodes {
		if n == nil || restEvents[n.Type] == "" || n.At.IsZero() {
			return unwrapFailure(storyName, errOther)
		}
		s.Timeline = append(s.Timeline, TimelineEvent{Event: restEvents[n.Type], Actor: n.Actor.restLogin(), At: n.At.UTC()})
	}
	return nil
}

// addCommits adds a page of commits.
func (s *Story) addCommits(pull *storyPull) error {
	if pull.Commits.Count >= maxCommits {
		return fmt.Errorf("the pull request has %d commits, and GitHub lists at most %d, so who made the others "+
			"cannot be told; squash them, or split the pull request: %w",
			pull.Commits.Count, maxCommits, ErrTooMany)
	}
	for _, n := range pull.Commits.Nodes {
		j := n.Commit
		if j.Authors.Count > len(j.Authors.Nodes) {
			return fmt.Errorf("commit %.7s has %d authors, and GitHub lists at most 100; take Co-authored-by lines "+
				"out of its message: %w", j.SHA, j.Authors.Count, ErrTooMany)
		}
		commit := Commit{SHA: j.SHA, Message: j.Message, Author: j.Author.toIdentity(), Committer: j.Committer.toIdentity()}
		for _, a := range j.Authors.Nodes {
			commit.Authors = append(commit.Authors, a.toIdentity())
		}
		s.Commits = append(s.Commits, commit)
	}
	return nil
}

// checkComplete refuses a list that lacks commits.
func (s *Story) checkComplete() error {
	if len(s.Commits) == s.CommitCount {
		return nil
	}
	return fmt.Errorf("the pull request has %d commits, and GitHub lists %d of them; squash them, or split the pull "+
		"request: %w", s.CommitCount, len(s.Commits), ErrTooMany)
}

// siblingPulls are the other open pull requests of a repository that have the same head.
func siblingPulls(page *storyPage, number int64, repository string) []int64 {
	pull := page.Data.Repository.PullRequest
	var out []int64
	add := func(p pullJSON) {
		if p.Number != number && p.Head == pull.Head && !slices.Contains(out, p.Number) {
			out = append(out, p.Number)
		}
	}
	for _, p := range page.Data.Repository.PullRequests.Nodes {
		add(p)
	}
	for _, n := range pull.HeadCommit.Nodes {
		for _, p := range n.Commit.Pulls.Nodes {
			if p.State == "OPEN" && strings.EqualFold(p.Repository.Name, repository) {
				add(p)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (c *Client) storyPage(ctx context.Context, number int64, reviews, commits, events *string) (*storyPage, error) {
	at := *c.transport.base
	// /api/v3 beside /api/graphql on an Enterprise Server
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/v3") + "/graphql"
	req, err := c.gh.NewRequest("POST", at.String(), map[string]any{"query": storyQuery,
		"variables": map[string]any{"owner": c.owner, "name": c.name, "number": number, "reviews": reviews,
			"commits": commits, "events": events}})
	if err != nil {
		return nil, err
	}
	page := &storyPage{}
	if _, err := c.gh.Do(markRead(ctx), req, page); err != nil {
		return nil, unwrapFailure(storyName, err)
	}
	if len(page.Errors) > 0 {
		return nil, &Error{Status: 200, Method: "POST", Path: "/graphql", Kind: Refused,
			Message: c.transport.cleanForLog(page.Errors[0].Message)}
	}
	return page, nil
}
