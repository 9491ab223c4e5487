package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// newRoutes are the operations, by the names that GitHub's description gives their parameters.
func (s *Server) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, f := range map[string]func(call) reply{
		"GET {repo}":                                                            s.getRepository,
		"GET {repo}/pulls":                                                      s.listPulls,
		"GET {repo}/pulls/{pull_number}":                                        s.getPull,
		"GET {repo}/pulls/{pull_number}/reviews":                                s.listReviews,
		"POST {repo}/pulls/{pull_number}/reviews":                               s.createReview,
		"PUT {repo}/pulls/{pull_number}/reviews/{review_id}":                    s.updateReview,
		"GET {repo}/pulls/{pull_number}/commits":                                s.listCommits,
		"GET {repo}/pulls/{pull_number}/files":                                  s.listFiles,
		"GET {repo}/pulls/{pull_number}/comments":                               s.listComments,
		"POST {repo}/pulls/{pull_number}/comments":                              s.createComment,
		"DELETE {repo}/pulls/comments/{comment_id}":                             s.deleteComment,
		"GET {repo}/issues":                                                     s.listIssues,
		"POST {repo}/issues":                                                    s.createIssue,
		"GET {repo}/issues/{issue_number}":                                      s.getIssue,
		"PATCH {repo}/issues/{issue_number}":                                    s.updateIssue,
		"GET {repo}/issues/{issue_number}/comments":                             s.listIssueComments,
		"POST {repo}/issues/{issue_number}/comments":                            s.createIssueComment,
		"GET {repo}/commits/{commit_sha}/pulls":                                 s.pullsOf,
		"GET {repo}/compare/{basehead}":                                         s.compareCommits,
		"GET /apps/{app_slug}":                                                  s.getApp,
		"GET /user":                                                             s.getOwnUser,
		"POST /graphql":                                                         s.answerGraphQL,
		"GET {repo}/commits/{ref}/check-runs":                                   s.listChecks,
		"POST {repo}/check-runs":                                                s.createCheck,
		"GET {repo}/check-runs/{check_run_id}":                                  s.getCheck,
		"PATCH {repo}/check-runs/{check_run_id}":                                s.updateCheck,
		"GET {repo}/check-runs/{check_run_id}/annotations":                      s.listAnnotations,
		"GET {repo}/collaborators/{username}/permission":                        s.getPermission,
		"GET /orgs/{org}/teams/{team_slug}/memberships/{username}":              s.getMembership,
		"GET {repo}/contents/{path...}":                                         s.getContents,
		"GET {repo}/git/ref/{ref...}":                                           s.getRef,
		"POST {repo}/git/refs":                                                  s.createRef,
		"PATCH {repo}/git/refs/{ref...}":                                        s.updateRef,
		"POST {repo}/git/trees":                                                 s.createTree,
		"GET {repo}/git/trees/{tree_sha}":                                       s.getTree,
		"POST {repo}/git/blobs":                                                 s.createBlob,
		"GET {repo}/git/blobs/{file_sha}":                                       s.getBlob,
		"POST {repo}/git/commits":                                               s.createCommit,
		"GET {repo}/git/commits/{commit_sha}":                                   s.getGitCommit,
		"GET {repo}/actions/runs/{run_id}":                                      s.getRun,
		"GET {repo}/branches/{branch}/protection":                               s.answerSetting(nil),
		"GET {repo}/rules/branches/{branch}":                                    s.branchRules,
		"GET {repo}/rulesets":                                                   s.answerSetting([]any{}),
		"POST {repo}/rulesets":                                                  s.createRuleset,
		"GET {repo}/rulesets/{ruleset_id}":                                      s.getRuleset,
		"GET {repo}/environments/{environment_name}":                            s.answerSetting(nil),
		"GET {repo}/environments/{environment_name}/deployment-branch-policies": s.answerSetting(nil),
		"GET {repo}/actions/secrets/{secret_name}":                              s.answerSetting(nil),
		"GET {repo}/actions/permissions": s.answerSetting(object{"enabled": true,
			"allowed_actions": "all"}),
		"GET {repo}/actions/permissions/workflow": s.answerSetting(
			object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": false}),
		"DELETE {repo}/pulls/{pull_number}/reviews/{review_id}":      s.deleteReview,
		"POST {repo}/pulls/{pull_number}/reviews/{review_id}/events": s.submitReview,
	} {
		s.handleLocked(mux, strings.Replace(pattern, " {repo}", " /repos/{owner}/{repo}", 1), f)
	}
	return mux
}

// getOwnUser is who a person's token belongs to; an app's token is nobody's.
func (s *Server) getOwnUser(c call) reply {
	u, known := s.lookupUser(c.token.Login)
	if !known || c.token.App != "" || u.Type != "User" {
		return refuseWith(403, "Resource not accessible by integration")
	}
	return okReply(object(s.exampleObject("get /user")).withMembers(s.simpleUser(u)).withMembers(object{"user_view_type": "private"}))
}

// getApp knows every app; GitHub Actions has the id that a test has set ("apps/github-actions"), as on another server.
func (s *Server) getApp(c call) reply {
	app := object(s.exampleObject("get /apps/{app_slug}")).withMembers(s.appObject(c.PathValue("app_slug")))
	if id := s.set["apps/"+c.PathValue("app_slug")]; id != nil {
		app["id"] = id
	}
	return okReply(app)
}

func (s *Server) getRepository(c call) reply {
	o := s.repositoryObject("get /repos/{owner}/{repo}", s.Name)
	if c.token.Admin {
		o["permissions"] = rolePermissions("admin")
	}
	return okReply(o)
}

// getPermission folds maintain into write and triage into read at the top, as GitHub does; the user's own members do
// not.
func (s *Server) getPermission(c call) reply {
	u, known := s.lookupUser(c.PathValue("username"))
	if !known {
		return refuseWith(404, "Not Found")
	}
	role := u.Role
	if role == "" {
		role = "none"
	}
	folded := map[string]string{"maintain": "write", "triage": "read"}[role]
	if folded == "" {
		folded = role
	}
	return okReply(object{"permission": folded, "role_name": role,
		"user": s.simpleUser(u).withMembers(object{"permissions": rolePermissions(role), "role_name": role})})
}

// getMembership is for tokens that may read the organisation's members, which the job's own may not.
func (s *Server) getMembership(c call) reply {
	if !c.token.Members {
		return refuseWith(403, "Resource not accessible by integration")
	}
	team := c.PathValue("org") + "/" + c.PathValue("team_slug")
	if !slices.Contains(s.teams[team], c.PathValue("username")) {
		return refuseWith(404, "Not Found")
	}
	return okReply(object{"url": s.APIURL() + c.URL.Path, "role": "member", "state": "active"})
}

// Set gives an answer to a GET below the repository that doctor asks (branches/main/protection, rulesets, …) as JSON;
// nil takes it back.
func (s *Server) Set(path string, answer any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set[path] = answer
}

// Example is an official example of the answer to an operation ("get /repos/{owner}/{repo}/rulesets"), or of an event
// ("event push"). The example of a branch's protection does not fit the official description where it lists apps and
// checks; that is left out or added.
func (s *Server) Example(name string) map[string]any {
	o := s.exampleObject(name)
	if reviews, is := o["required_pull_request_reviews"].(map[string]any); is {
		delete(reviews, "dismissal_restrictions")
		delete(reviews, "bypass_pull_request_allowances")
	}
	if checks, is := o["required_status_checks"].(map[string]any); is {
		checks["checks"] = []any{}
	}
	if o["enforcement"] == "enabled" { // which the description does not allow
		o["enforcement"] = "active"
	}
	delete(o, "restrictions")
	return o
}

// answerSetting answers with what a test has set, or else with what a new repository says; nil is a 404. Only an
// administrator's token may look behind a branch's protection and the permissions of Actions.
func (s *Server) answerSetting(fallback any) func(call) reply {
	return func(c call) reply {
		path := strings.TrimPrefix(c.URL.Path, "/repos/"+s.Name+"/")
		if !c.token.Admin && !strings.HasPrefix(path, "rule") {
			return refuseWith(403, "Resource not accessible by integration")
		}
		answer := s.set[path]
		if answer == nil {
			answer = fallback
		}
		if answer == nil {
			return refuseWith(404, "Not Found")
		}
		var plain any
		data, err := json.Marshal(answer)
		if err == nil {
			err = json.Unmarshal(data, &plain)
		}
		s.mustWork(fmt.Sprint(path), err)
		return okReply(plain)
	}
}
