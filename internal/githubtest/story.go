package githubtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// question is what is asked of the GraphQL API: its variables say where three lists go on.
type question struct {
	Query     string
	Variables struct {
		Owner, Name              string
		Number                   int64
		Reviews, Commits, Events *string
	}
}

// answerGraphQL answers the one question that the gate puts to the GraphQL API: who made and edited what in a pull
// request. The answer has the form of GitHub's public schema (PullRequestReview.fullDatabaseId is a BigInt, which is a
// string; lastEditedAt is a DateTime or null).
func (s *Server) answerGraphQL(c call) reply {
	var in question
	if err := c.decodeBody(&in); err != nil || !strings.Contains(in.Query, "lastEditedAt") {
		return refuseWith(400, "Problems parsing JSON")
	}
	// for an app's token too, and then the login has its [bot]
	viewer := object{"__typename": "User", "login": c.token.Login}
	p := s.pulls[in.Variables.Number]
	if p == nil || !strings.EqualFold(in.Variables.Owner+"/"+in.Variables.Name, s.Name) {
		return okReply(object{"data": object{"viewer": viewer, "repository": object{"pullRequest": nil,
			"pullRequests": object{"nodes": []any{}}}},
			"errors": []any{object{"type": "NOT_FOUND",
				"message": fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.",
					in.Variables.Number)}}})
	}
	open, inside := []any{}, []any{}
	merged := s.git.isAncestor(p.head,
		s.git.resolveName("refs/heads/main")) // then GitHub lists no open ones of the commit
	for _, n := range slices.Sorted(maps.Keys(s.pulls)) {
		other := s.pulls[n]
		if other.state == "open" {
			open = append(open, object{"number": n, "headRefOid": other.head})
		}
		if other.state == "open" && !merged && s.git.isAncestor(p.head, other.head) {
			inside = append(inside, object{"number": n, "headRefOid": other.head, "state": s.stateOf(other),
				"repository": object{"nameWithOwner": s.Name}})
		}
	}
	return okReply(object{"data": object{"viewer": viewer,
		"repository": object{"pullRequests": object{"nodes": open[:min(len(open), 100)]}, "pullRequest": object{
			"headRefOid": p.head, "isDraft": p.Draft, "state": s.stateOf(p), "baseRefName": p.Base,
			"reviews": s.reviewNodes(p, c.token.Login, in.Variables.Reviews),
			"commits": s.commitNodes(p, in.Variables.Commits), "timelineItems": s.eventNodes(p, in.Variables.Events),
			"head": object{"nodes": []any{object{"commit": object{"associatedPullRequests": object{"nodes": inside}}}}}}}}})
}

// stateOf is a pull request's state as the GraphQL API words it.
func (s *Server) stateOf(p *pull) string {
	if p.mergedBy != "" {
		return "MERGED"
	}
	return strings.ToUpper(p.state)
}

// actorObject is an account as an Actor: a Bot's login has no [bot] there.
func (s *Server) actorObject(login string) any {
	if login == "" {
		return nil
	}
	u := s.userNamed(login)
	return object{"__typename": u.Type, "login": strings.TrimSuffix(u.Login, "[bot]")}
}

func (s *Server) reviewNodes(p *pull, reader string, after *string) object {
	nodes := []any{}
	for _, r := range p.reviewsSeenBy(reader) {
		nodes = append(nodes, object{"fullDatabaseId": fmt.Sprint(r.id), "body": r.body,
			"lastEditedAt": stampOrNull(r.edited), "author": s.actorObject(r.user), "editor": s.actorObject(r.editor)})
	}
	return pageConnection(nodes, after)
}

// eventTypes are the events that the gate asks for, by the names that the REST API has for them.
var eventTypes = map[string]string{"head_ref_force_pushed": "HeadRefForcePushedEvent",
	"base_ref_changed":                "BaseRefChangedEvent",
	"automatic_base_change_succeeded": "AutomaticBaseChangeSucceededEvent"}

func (s *Server) eventNodes(p *pull, after *string) object {
	nodes := []any{}
	for _, e := range p.timeline {
		if of := eventTypes[e.name]; of != "" {
			nodes = append(nodes, object{"__typename": of, "createdAt": timeStamp(e.at), "actor": s.actorObject(e.actor)})
		}
	}
	return pageConnection(nodes, after)
}

func (s *Server) commitNodes(p *pull, after *string) object {
	commits, err := s.git.commitsBetween(s.baseOf(p), p.head)
	s.mustWork("", err)
	slices.Reverse(commits)
	nodes := []any{}
	for _, c := range commits[:min(len(commits), maxCommits)] {
		authors := s.commitAuthors(c)
		nodes = append(nodes, object{"commit": object{"oid": c.sha, "message": c.message,
			"author": s.gitActor(c.author), "committer": s.gitActor(c.committer),
			"authors": object{"totalCount": len(authors), "nodes": authors[:min(len(authors), 100)]}}})
	}
	return pageConnection(nodes, after).withMembers(object{"totalCount": len(commits)})
}

// pageConnection is a page of 100 of a list; a cursor is how many came before it.
func pageConnection(nodes []any, after *string) object {
	from := 0
	if after != nil {
		_, _ = fmt.Sscan(*after, &from)
	}
	from = min(from, len(nodes))
	to := min(from+100, len(nodes))
	var end any
	if to > from {
		end = fmt.Sprint(to)
	}
	return object{"pageInfo": object{"hasNextPage": to < len(nodes), "endCursor": end}, "nodes": nodes[from:to]}
}

// gitActor is somebody as a commit names them, with the account that the address belongs to. The login of an app's
// account has its [bot] here.
func (s *Server) gitActor(p person) object {
	o := object{"name": p.name, "email": p.email, "user": nil}
	if u, ok := s.byEmail(p.email); ok {
		o["user"] = object{"__typename": u.Type, "login": u.Login}
	}
	return o
}

var coAuthored = regexp.MustCompile(`(?mi)^co-authored-by:\s*(.*?)\s*<([^>\s]+)>\s*$`)

// commitAuthors are a commit's author, and whom its message names as authors.
func (s *Server) commitAuthors(c commit) []any {
	out := []any{s.gitActor(c.author)}
	for _, m := range coAuthored.FindAllStringSubmatch(c.message, -1) {
		out = append(out, s.gitActor(person{m[1], m[2]}))
	}
	return out
}
