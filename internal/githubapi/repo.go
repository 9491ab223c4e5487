package githubapi

import (
	"context"
	"fmt"
	"net/url"

	"github.com/google/go-github/v62/github"
)

// Repository reads the repository.
func (c *Client) Repository(ctx context.Context) (Repository, error) {
	r, _, err := c.gh.Repositories.Get(ctx, c.owner, c.name)
	if err != nil {
		return Repository{}, unwrapFailure("the repository", err)
	}
	if r.GetID() == 0 || r.GetDefaultBranch() == "" {
		return Repository{}, unwrapFailure("the repository", errOther)
	}
	return Repository{ID: r.GetID(), Owner: r.GetOwner().GetLogin(), OwnerID: r.GetOwner().GetID(),
		Name:          r.GetFullName(),
		DefaultBranch: r.GetDefaultBranch(), Private: r.GetPrivate()}, nil
}

// roles are the repository roles, the highest first, with the names that the map of permissions has for them.
var roles = []struct{ role, permission string }{
	{"admin", "admin"}, {"maintain", "maintain"}, {"write", "push"}, {"triage", "triage"}, {"read", "pull"},
}

// Permission is a user's role now: admin, maintain, write, triage, read or none. It is read from the user's own
// permissions, because the top-level field of the answer folds maintain into write; a role that an organisation named
// itself counts as the highest of them.
func (c *Client) Permission(ctx context.Context, login string) (string, error) {
	level, _, err := c.gh.Repositories.GetPermissionLevel(ctx, c.owner, c.name, url.PathEscape(login))
	if err = unwrapFailure("the permission of "+login, err); IsNotFound(err) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	permissions := level.GetUser().GetPermissions()
	for _, r := range roles {
		if permissions[r.permission] || len(permissions) == 0 && level.GetUser().GetRoleName() == r.role {
			return r.role, nil
		}
	}
	return "none", nil
}

// UserID is the id of the account that has a login now.
func (c *Client) UserID(ctx context.Context, login string) (int64, error) {
	user, _, err := c.gh.Users.Get(ctx, url.PathEscape(login))
	return user.GetID(), unwrapFailure("the account "+login, err)
}

// TeamMember reports whether a user is an active member of org/team. A token that may not see the team sees no member.
func (c *Client) TeamMember(ctx context.Context, org, team, login string) (bool, error) {
	m, _, err := c.gh.Teams.GetTeamMembershipBySlug(ctx, url.PathEscape(org), url.PathEscape(team),
		url.PathEscape(login))
	if err = unwrapFailure("the team "+org+"/"+team, err); IsNotFound(err) {
		return false, nil
	}
	return m.GetState() == "active", err
}

// Content is a file at a commit or branch. A directory, a symbolic link and a submodule are no files.
func (c *Client) Content(ctx context.Context, path, ref string) ([]byte, error) {
	file, _, _, err := c.gh.Repositories.GetContents(ctx, c.owner, c.name, path,
		&github.RepositoryContentGetOptions{Ref: ref})
	if err != nil {
		return nil, unwrapFailure(path, err)
	}
	if file.GetType() != "file" {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if file.GetEncoding() == "none" { // more than a megabyte
		return c.Blob(ctx, file.GetSHA())
	}
	text, err := file.GetContent()
	return []byte(text), unwrapFailure(path, err)
}

// WorkflowRun reads a run of a workflow.
func (c *Client) WorkflowRun(ctx context.Context, id int64) (WorkflowRun, error) {
	var r struct { // go-github leaves the path out
		github.WorkflowRun
		Path string `json:"path"`
	}
	if _, err := c.Get(ctx, fmt.Sprintf("actions/runs/%d", id), &r); err != nil {
		return WorkflowRun{}, err
	}
	if r.GetID() != id {
		return WorkflowRun{}, unwrapFailure("the workflow run", errOther)
	}
	run := WorkflowRun{ID: r.GetID(), Name: r.GetName(), DisplayTitle: r.GetDisplayTitle(), Path: r.Path,
		Event: r.GetEvent(), Conclusion: r.GetConclusion(),
		Attempt: r.GetRunAttempt(), HeadSHA: r.GetHeadSHA(), HeadBranch: r.GetHeadBranch(),
		HeadRepo: r.GetHeadRepository().GetFullName(),
		Actor:    r.GetActor().GetLogin(), ActorID: r.GetActor().GetID(),
		TriggeringActor: r.GetTriggeringActor().GetLogin(), TriggeringActorID: r.GetTriggeringActor().GetID(),
		CreatedAt: r.GetCreatedAt().UTC()}
	for _, p := range r.PullRequests {
		run.PullRequests = append(run.PullRequests, int64(p.GetNumber()))
	}
	return run, nil
}

// AppID is the number of an app that its page names: GitHub Actions ("github-actions") has another one on every server.
func (c *Client) AppID(ctx context.Context, slug string) (int64, error) {
	app, _, err := c.gh.Apps.Get(ctx, slug)
	return app.GetID(), unwrapFailure("the app "+slug, err)
}

// Get reads any path of the API below the repository ("branches/main/protection"; "" is the repository itself) into a
// value, for what go-github does not know and for what only doctor asks. The status is also given where it is an
// error's.
func (c *Client) Get(ctx context.Context, path string, into any) (int, error) {
	whole := "repos/" + c.owner + "/" + c.name
	if path != "" {
		whole += "/" + path
	}
	req, err := c.gh.NewRequest("GET", whole, nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.gh.Do(ctx, req, into)
	if e, ok := unwrapFailure(path, err).(*Error); ok {
		return e.Status, e
	}
	if err != nil {
		return 0, unwrapFailure(path, err)
	}
	return resp.StatusCode, nil
}

// Issues are all issues with the label, open and closed, the newest first. Pull requests are none.
func (c *Client) Issues(ctx context.Context, label string) ([]Issue, error) {
	issues, err := collectPages("the issues", func(i *github.Issue) *github.Issue { return i },
		func(o github.ListOptions) ([]*github.Issue, *github.Response, error) {
			return c.gh.Issues.ListByRepo(ctx, c.owner, c.name, &github.IssueListByRepoOptions{State: "all",
				Labels: []string{label}, ListOptions: o})
		})
	var out []Issue
	for _, i := range issues {
		if !i.IsPullRequest() {
			out = append(out, issueOf(i))
		}
	}
	return out, err
}

func issueOf(i *github.Issue) Issue {
	out := Issue{Number: int64(i.GetNumber()), Title: i.GetTitle(), Body: i.GetBody(), State: i.GetState(),
		User: i.GetUser().GetLogin()}
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

// CreateIssue opens an issue with a title, a body and labels. If the reply is lost, an open issue with this text under
// its first label is the one; without a label it is looked for nowhere, and an error says that it may be there.
func (c *Client) CreateIssue(ctx context.Context, i Issue) (int64, error) {
	labels := append([]string{}, i.Labels...) // none is an empty list, not null
	made, err := sendOnce(ctx, c, "the new issue", func() (Issue, error) {
		made, _, err := c.gh.Issues.Create(ctx, c.owner, c.name, &github.IssueRequest{Title: &i.Title, Body: &i.Body,
			Labels: &labels})
		return Issue{Number: int64(made.GetNumber())}, err
	}, func() (Issue, bool, error) {
		if len(labels) == 0 {
			return Issue{}, false, ErrTooMany
		}
		issues, err := c.Issues(ctx, labels[0])
		return findAmong(issues, err, func(have Issue) bool {
			return have.State == "open" && have.Title == i.Title && sameText(have.Body, i.Body)
		})
	})
	return made.Number, err
}

// CommentIssue adds a comment to an issue or to a pull request's conversation.
func (c *Client) CommentIssue(ctx context.Context, number int64, body string) error {
	_, err := sendOnce(ctx, c, "the new comment", func() (string, error) {
		_, _, err := c.gh.Issues.CreateComment(ctx, c.owner, c.name, int(number), &github.IssueComment{Body: &body})
		return body, err
	}, func() (string, bool, error) {
		bodies, err := collectPages("the comments", (*github.IssueComment).GetBody,
			func(o github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
				return c.gh.Issues.ListComments(ctx, c.owner, c.name, int(number),
					&github.IssueListCommentsOptions{ListOptions: o})
			})
		return findAmong(bodies, err, func(have string) bool { return sameText(have, body) })
	})
	return err
}

// CloseIssue closes an issue.
func (c *Client) CloseIssue(ctx context.Context, number int64) error {
	_, _, err := c.gh.Issues.Edit(withRetry(ctx), c.owner, c.name, int(number),
		&github.IssueRequest{State: github.String("closed")})
	return unwrapFailure("the issue", err)
}
