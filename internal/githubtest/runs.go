package githubtest

import (
	"strings"
	"time"
)

// Run is a run of a workflow.
type Run struct {
	ID         int64
	Name       string // of the workflow; "referee-review" if empty
	Path       string // of the workflow's file; .github/workflows/NAME.yml if empty
	Event      string // pull_request_review if empty
	Conclusion string // success if empty
	// what the workflow's run-name came to; if empty the pull request's title, or, without one, the workflow's name
	DisplayTitle string
	Attempt      int // 1 if 0; Rerun adds to it
	// who started it; if empty the pull request's author, and the owner for one that was started by hand
	Actor           string
	TriggeringActor string // who started this attempt; the actor if empty
	HeadBranch      string // the pull request's if empty, and main for one that was started by hand
	HeadSHA         string // where that branch is if empty; it does not move with the branch
	Pull            int64  // whose head it ran on; 0 if none
	Listed          bool   // the run names its pull request, which it does not for a fork's

	created time.Time
}

// AddRun adds a run of a workflow and gives its id.
func (s *Server) AddRun(r Run) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ID, r.Attempt, r.created = s.nextID(), max(r.Attempt, 1), s.now
	orElse(&r.Name, "referee-review")
	orElse(&r.Path, ".github/workflows/"+r.Name+".yml")
	orElse(&r.Event, "pull_request_review")
	orElse(&r.Conclusion, "success")
	if p := s.pulls[r.Pull]; p != nil && r.Event != "workflow_dispatch" {
		orElse(&r.Actor, p.Author)
		orElse(&r.HeadBranch, p.Head)
		orElse(&r.HeadSHA, p.head)
		orElse(&r.DisplayTitle, p.Title)
	}
	orElse(&r.Actor, "owner")
	orElse(&r.TriggeringActor, r.Actor)
	orElse(&r.HeadBranch, "main")
	orElse(&r.HeadSHA, s.git.resolveName("refs/heads/"+r.HeadBranch))
	orElse(&r.DisplayTitle, r.Name)
	s.runs[r.ID] = &r
	return r.ID
}

// orElse sets what is empty.
func orElse(text *string, to string) {
	if *text == "" {
		*text = to
	}
}

// Rerun is the button "Re-run all jobs": the run keeps its id, title, head and actor, and its newest attempt is another
// person's.
func (s *Server) Rerun(id int64, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	r.Attempt++
	r.TriggeringActor = by
}

func (s *Server) runJSON(r *Run) object {
	o := object(s.exampleObject("get /repos/{owner}/{repo}/actions/runs/{run_id}"))
	head := s.Name
	pulls := []any{}
	if p := s.pulls[r.Pull]; p != nil && r.Event != "workflow_dispatch" {
		if p.Fork != "" {
			head = p.Fork
		} else if r.Listed {
			pulls = append(pulls, s.runPull(p))
		}
	}
	repository := func(name, key string) object {
		r := object(o[key].(map[string]any))
		_, short, _ := strings.Cut(name, "/")
		return r.withMembers(object{"id": repoID, "name": short, "full_name": name, "owner": s.simpleUser(s.ownerOf(name))})
	}
	return o.withMembers(object{"id": r.ID, "name": r.Name, "display_title": r.DisplayTitle, "path": r.Path,
		"event":  r.Event,
		"status": "completed", "conclusion": r.Conclusion,
		"head_branch": r.HeadBranch, "head_sha": r.HeadSHA, "pull_requests": pulls,
		"actor": s.simpleUser(s.userNamed(r.Actor)), "triggering_actor": s.simpleUser(s.userNamed(r.TriggeringActor)),
		"repository": repository(s.Name, "repository"), "head_repository": repository(head, "head_repository"),
		"run_attempt": r.Attempt,
		"created_at":  timeStamp(r.created), "updated_at": timeStamp(r.created), "run_started_at": timeStamp(r.created)})
}

// runPull is a pull request as a run lists it.
func (s *Server) runPull(p *pull) object {
	side := func(ref, sha string) object {
		return object{"ref": ref, "sha": sha, "repo": object{"id": repoID, "url": s.APIURL() + "/repos/" + s.Name,
			"name": s.Name}}
	}
	return object{"id": 900_000 + p.number, "number": p.number, "url": s.apiURL("pulls/%d", p.number),
		"head": side(p.Head, p.head), "base": side(p.Base, s.baseSHA(p))}
}

func (s *Server) getRun(c call) reply {
	if r := s.runs[pathNumber(c, "run_id")]; r != nil {
		return okReply(s.runJSON(r))
	}
	return refuseWith(404, "Not Found")
}
