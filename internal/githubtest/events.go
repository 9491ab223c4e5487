package githubtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Event is what a runner hands to a job: the event's name and its payload.
type Event struct {
	Name    string
	Payload []byte
	SHA     string // GITHUB_SHA
	Ref     string // GITHUB_REF
}

// event makes a payload of the members, on top of the official example of the event, and holds it against the schema.
func (s *Server) eventPayload(name, schema, sha, ref string, members object) Event {
	o := object(s.exampleObject("event " + name)).withMembers(members)
	for _, k := range []string{"installation", "organization", "enterprise"} {
		delete(o, k)
	}
	o["repository"] = s.eventRepository(o["repository"].(map[string]any))
	data, err := json.MarshalIndent(o, "", " ")
	s.mustWork("", err)
	if s.contract != nil {
		if err := s.contract.checkEvent(schema, data); err != nil {
			s.report("githubtest: the event %s is not as GitHub describes it: %s", schema, briefError(err))
		}
	}
	return Event{Name: name, Payload: data, SHA: sha, Ref: ref}
}

// eventRepository is the repository as payloads hold it: an older shape than the API's.
func (s *Server) eventRepository(o object) object {
	_, short, _ := strings.Cut(s.Name, "/")
	return o.withMembers(object{"id": repoID, "node_id": nodeID("R", repoID), "name": short, "full_name": s.Name,
		"private": s.private, "default_branch": "main",
		"owner": s.simpleUser(s.ownerOf(s.Name)), "html_url": s.URL + "/" + s.Name, "clone_url": s.URL + "/" + s.Name +
			".git",
		"is_template": false, "web_commit_signoff_required": false, "topics": []any{}, "visibility": "public",
		"custom_properties": object{}, "allow_forking": true})
}

// eventPull makes a payload's pull request ours.
func (s *Server) eventPull(o object, p *pull) object {
	side := func(key, repo, ref, sha string) object {
		b := object(o[key].(map[string]any))
		owner := s.ownerOf(repo)
		_, short, _ := strings.Cut(repo, "/")
		r := s.eventRepository(b["repo"].(map[string]any)).withMembers(object{"full_name": repo, "name": short,
			"owner": s.simpleUser(owner), "fork": repo != s.Name})
		return b.withMembers(object{"ref": ref, "sha": sha, "label": owner.Login + ":" + ref, "user": s.simpleUser(owner),
			"repo": r})
	}
	head := s.Name
	if p.Fork != "" {
		head = p.Fork
	}
	o.withMembers(object{"number": p.number, "id": 900_000 + p.number, "node_id": nodeID("PR", p.number), "state": p.state,
		"title": p.Title, "user": s.simpleUser(s.userNamed(p.Author)),
		"draft": p.Draft, "created_at": timeStamp(p.opened), "updated_at": timeStamp(p.moved),
		"closed_at": stampOrNull(p.closed), "merge_commit_sha": textOrNull(p.mergeSHA),
		"head": side("head", head, p.Head, p.head), "base": side("base", s.Name, p.Base, s.baseSHA(p)), "body": nil,
		"auto_merge": nil, "active_lock_reason": nil})
	if _, whole := o["merged"]; whole {
		o["merged"] = p.mergedBy != ""
	}
	return o
}

// PullEvent is a pull_request event: opened, synchronize, reopened, ready_for_review, edited or closed. With target it
// is named pull_request_target, whose payload is the same.
func (s *Server) PullEvent(number int64, action string, target bool) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	example := object(s.exampleObject("event pull_request")["pull_request"].(map[string]any))
	members := object{"action": action, "number": number, "pull_request": s.eventPull(example, p),
		"sender": s.simpleUser(s.userNamed(p.Author))}
	switch action {
	case "synchronize":
		before := p.head
		if len(p.heads) > 1 {
			before = p.heads[len(p.heads)-2]
		}
		members.withMembers(object{"before": before, "after": p.head})
	case "edited":
		members["changes"] = object{"title": object{"from": "Before"}}
	case "closed":
		members["sender"] = s.simpleUser(s.userNamed(p.closedBy + p.mergedBy))
		example["state"] = "closed"
	}
	e := s.eventPayload("pull_request", "pull_request$"+action, s.baseSHA(p), "refs/heads/"+p.Base, members)
	if target {
		e.Name = "pull_request_target"
	} else {
		e.SHA, e.Ref = p.head, fmt.Sprintf("refs/pull/%d/merge", number)
	}
	return e
}

// ReviewEvent is a pull_request_review event: submitted, edited or dismissed.
func (s *Server) ReviewEvent(number, review int64, action string) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	r := p.reviewByID(review)
	example := s.exampleObject("event pull_request_review")
	state := strings.ToLower(r.state)
	members := object{"action": action, "pull_request": s.eventPull(example["pull_request"].(map[string]any), p),
		"sender": s.simpleUser(s.userNamed(r.user)),
		"review": object(example["review"].(map[string]any)).withMembers(object{"id": r.id, "node_id": nodeID("PRR", r.id),
			"user": s.simpleUser(s.userNamed(r.user)), "body": textOrNull(r.body),
			"commit_id": r.commit, "submitted_at": timeStamp(r.at), "state": state, "author_association": "NONE"})}
	if action == "edited" {
		members["changes"] = object{"body": object{"from": "Before"}}
	}
	return s.eventPayload("pull_request_review", "pull_request_review$"+action, p.head, "refs/heads/"+p.Base, members)
}

// RunEvent is a workflow_run event: a run of AddRun has completed.
func (s *Server) RunEvent(id int64) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	ours := s.runJSON(r)
	example := s.exampleObject("event workflow_run")
	run := object(example["workflow_run"].(map[string]any))
	for _, key := range []string{"id", "name", "display_title", "path", "event", "status", "conclusion", "head_branch",
		"head_sha", "actor", "triggering_actor", "run_attempt",
		"created_at", "updated_at", "run_started_at"} {
		run[key] = ours[key]
	}
	run["pull_requests"] = ours["pull_requests"]
	for _, key := range []string{"repository", "head_repository"} {
		name := ours[key].(object)["full_name"].(string)
		_, short, _ := strings.Cut(name, "/")
		run[key] = object(run[key].(map[string]any)).withMembers(object{"id": repoID, "full_name": name, "name": short,
			"owner": s.simpleUser(s.ownerOf(name)), "fork": name != s.Name})
	}
	return s.eventPayload("workflow_run", "workflow_run$completed", s.git.resolveName("refs/heads/main"),
		"refs/heads/main",
		object{"workflow_run": run, "sender": s.simpleUser(s.userNamed(r.TriggeringActor))})
}

// MergeGroupEvent is a merge_group event about a commit that a merge queue made on a base.
func (s *Server) MergeGroupEvent(sha, base string) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.git.readCommit(sha)
	s.mustWork("", err)
	parent := s.git.resolveName("refs/heads/" + base)
	ref := "refs/heads/gh-readonly-queue/" + base + "/pr-1-" + parent
	return s.eventPayload("merge_group", "merge_group$checks_requested", sha, ref,
		object{"sender": s.simpleUser(s.userNamed("owner")), "merge_group": object{
			"head_sha": sha, "head_ref": ref, "base_ref": "refs/heads/" + base, "base_sha": parent,
			"head_commit": object{"id": sha, "tree_id": c.tree, "message": c.message, "timestamp": c.at,
				"author":    object{"name": c.author.name, "email": c.author.email},
				"committer": object{"name": c.committer.name, "email": c.committer.email}}}})
}

// PushEvent is a push event: a branch has moved from before to where it is.
func (s *Server) PushEvent(branch, before, by string) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	sha := s.git.resolveName("refs/heads/" + branch)
	commits, err := s.git.logBetween(before, sha, true)
	s.mustWork("", err)
	slices.Reverse(commits)
	list := []any{}
	for _, c := range commits {
		list = append(list, object{"id": c.sha, "tree_id": c.tree, "distinct": true, "message": c.message,
			"timestamp": c.at, "url": s.URL + "/" + s.Name + "/commit/" + c.sha,
			"author":    object{"name": c.author.name, "email": c.author.email},
			"committer": object{"name": c.committer.name, "email": c.committer.email},
			"added":     []any{}, "removed": []any{}, "modified": []any{}})
	}
	var head any
	if len(list) > 0 {
		head = list[len(list)-1]
	}
	u := s.userNamed(by)
	return s.eventPayload("push", "push$event", sha, "refs/heads/"+branch, object{"ref": "refs/heads/" + branch,
		"before": before, "after": sha, "created": false, "deleted": false,
		"forced": false, "base_ref": nil, "compare": s.URL + "/" + s.Name + "/compare/" + before + "..." + sha,
		"commits": list, "head_commit": head,
		"pusher": object{"name": u.Login, "email": u.Email()}, "sender": s.simpleUser(u)})
}

// DispatchEvent is a workflow_dispatch event with inputs.
func (s *Server) DispatchEvent(by string, inputs map[string]any) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.eventPayload("workflow_dispatch", "workflow_dispatch$event", s.git.resolveName("refs/heads/main"),
		"refs/heads/main",
		object{"inputs": inputs, "ref": "refs/heads/main", "workflow": ".github/workflows/referee.yml",
			"sender": s.simpleUser(s.userNamed(by))})
}

// ScheduleEvent is what a scheduled workflow gets. There is no such webhook, and so no schema.
func (s *Server) ScheduleEvent(cron string) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := json.MarshalIndent(object{"schedule": cron,
		"repository": s.eventRepository(s.exampleObject("event push")["repository"].(map[string]any))}, "", " ")
	s.mustWork("", err)
	return Event{Name: "schedule", Payload: data, SHA: s.git.resolveName("refs/heads/main"), Ref: "refs/heads/main"}
}
