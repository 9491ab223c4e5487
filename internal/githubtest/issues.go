package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// issue is an issue that is no pull request.
type issue struct {
	number            int64
	title, body, user string
	state             string
	labels            []string
	comments          []*comment
	at                time.Time
}

// Issue is an issue as a test looks at it.
type Issue struct {
	Number             int64
	Title, Body, State string
	Labels, Comments   []string
}

// Issues are all issues, the oldest first.
func (s *Server) Issues() []Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Issue
	for _, n := range slices.Sorted(maps.Keys(s.issues)) {
		i := s.issues[n]
		x := Issue{Number: n, Title: i.title, Body: i.body, State: i.state, Labels: i.labels}
		for _, c := range i.comments {
			x.Comments = append(x.Comments, c.body)
		}
		out = append(out, x)
	}
	return out
}

func (s *Server) issueJSON(i *issue) object {
	o := object(s.exampleObject("post /repos/{owner}/{repo}/issues"))
	labels := []any{}
	for n, l := range i.labels {
		labels = append(labels, object{"id": 100 + n, "node_id": nodeID("LA", int64(n)),
			"url": s.apiURL("labels/%s", l), "name": l, "description": nil, "color": "ededed", "default": false})
	}
	delete(o, "pull_request")
	delete(o, "pinned_comment")
	o.withMembers(object{"number": i.number, "id": 800_000 + i.number, "node_id": nodeID("I", i.number), "title": i.title,
		"body": i.body, "user": s.simpleUser(s.userNamed(i.user)),
		"state": i.state, "labels": labels, "assignee": nil, "assignees": []any{}, "milestone": nil,
		"comments": len(i.comments), "closed_at": nil, "closed_by": nil,
		"created_at": timeStamp(i.at), "updated_at": timeStamp(i.at), "author_association": "NONE", "state_reason": nil,
		"locked": false, "active_lock_reason": nil,
		"url": s.apiURL("issues/%d", i.number), "html_url": fmt.Sprintf("%s/%s/issues/%d", s.URL, s.Name, i.number)})
	if i.state == "closed" {
		o["closed_at"] = timeStamp(s.now)
	}
	return o
}

// pullIssue is a pull request as the issues API gives it: the one place that says who closed it.
func (s *Server) pullIssue(p *pull) object {
	o := s.issueJSON(&issue{number: p.number, title: p.Title, user: p.Author, state: p.state, at: p.opened})
	at := s.apiURL("pulls/%d", p.number)
	o["pull_request"] = object{"url": at, "html_url": at, "diff_url": at, "patch_url": at}
	if p.closedBy != "" {
		o["closed_by"] = s.simpleUser(s.userNamed(p.closedBy))
	}
	return o
}

func (s *Server) listIssues(c call) reply {
	q := c.URL.Query()
	var list []any
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.issues))) {
		i := s.issues[n]
		stateFits := q.Get("state") == "all" || i.state == q.Get("state") || q.Get("state") == "" && i.state == "open"
		if stateFits && (q.Get("labels") == "" || slices.Contains(i.labels, q.Get("labels"))) {
			list = append(list, s.issueJSON(i))
		}
	}
	return s.pageOfList(c, list)
}

func (s *Server) getIssue(c call) reply {
	n := pathNumber(c, "issue_number")
	if i := s.issues[n]; i != nil {
		return okReply(s.issueJSON(i))
	}
	if p := s.pulls[n]; p != nil {
		return okReply(s.pullIssue(p))
	}
	return refuseWith(404, "Not Found")
}

func (s *Server) createIssue(c call) reply {
	var in struct {
		Title, Body string
		Labels      []string
	}
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if in.Title == "" {
		return invalidInput("Issue", "title", "title can't be blank")
	}
	if bad := bodyProblem("Issue", in.Body+"."); bad != nil {
		return *bad
	}
	i := &issue{number: int64(len(s.pulls) + len(s.issues) + 1), title: in.Title, body: in.Body, labels: in.Labels,
		user: c.token.Login, state: "open", at: s.now}
	s.issues[i.number] = i
	return createdReply(s.issueJSON(i))
}

func (s *Server) updateIssue(c call) reply {
	i := s.issues[pathNumber(c, "issue_number")]
	if i == nil {
		return refuseWith(404, "Not Found")
	}
	var in struct{ State, Title, Body *string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	for to, from := range map[*string]*string{&i.state: in.State, &i.title: in.Title, &i.body: in.Body} {
		if from != nil {
			*to = *from
		}
	}
	return okReply(s.issueJSON(i))
}

// commentsBelow gives the comments below an issue or a pull request.
func (s *Server) commentsBelow(c call) *[]*comment {
	n := pathNumber(c, "issue_number")
	if i := s.issues[n]; i != nil {
		return &i.comments
	}
	return nil
}

func (s *Server) issueCommentJSON(c *comment) object {
	o := object(s.exampleObject("post /repos/{owner}/{repo}/issues/{issue_number}/comments"))
	delete(o, "pin")
	delete(o, "minimized")
	return o.withMembers(object{"id": c.id, "node_id": nodeID("IC", c.id), "body": c.body,
		"user": s.simpleUser(s.userNamed(c.user)), "created_at": timeStamp(c.at), "updated_at": timeStamp(c.at)})
}

func (s *Server) listIssueComments(c call) reply {
	comments := s.commentsBelow(c)
	if comments == nil {
		return refuseWith(404, "Not Found")
	}
	var list []any
	for _, x := range *comments {
		list = append(list, s.issueCommentJSON(x))
	}
	return s.pageOfList(c, list)
}

func (s *Server) createIssueComment(c call) reply {
	comments := s.commentsBelow(c)
	if comments == nil {
		return refuseWith(404, "Not Found")
	}
	var in struct{ Body string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if bad := bodyProblem("IssueComment", in.Body); bad != nil {
		return *bad
	}
	x := &comment{id: s.nextID(), user: c.token.Login, body: in.Body, at: s.now}
	*comments = append(*comments, x)
	return createdReply(s.issueCommentJSON(x))
}
