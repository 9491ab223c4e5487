package githubtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// How required checks attach to commits, as GitHub's documentation says:
//   - a required check is a name ("context") and, where the rule says so, the app ("integration") that it must come
//     from;
//   - what counts for a pull request is the commit at its head, and in a merge queue the commit of the group: nothing
//     of an older head, and
//     nothing of a workflow that ran on the default branch's commit, such as the job of a workflow_run;
//   - of several check runs of one name and app the newest counts: a job and a check made through the API are not told
//     apart;
//   - success, neutral and skipped satisfy it; a check that is not completed, and one that is not there, do not;
//   - a commit status of the same name is required as well where there is one.

// status is a commit status, the older kind of check.
type status struct{ app, head, context, state string }

// ForgeStatus sets a commit status in the name of an app.
func (s *Server) ForgeStatus(app, sha, context, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = append(s.statuses, status{app, sha, context, state})
}

// RunJob adds the check that GitHub makes of a workflow's job on a commit: it belongs to GitHub Actions.
func (s *Server) RunJob(sha, name, conclusion string) int64 {
	return s.ForgeCheck("github-actions", sha, name, conclusion)
}

// Mergeable says whether the rulesets of a pull request's base let it be merged by somebody who may not bypass them,
// and what is missing: "referee / sign-off: action_required", "approvals: 0 of 1".
func (s *Server) Mergeable(number int64) (ok bool, missing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	if p.state != "open" || p.Draft {
		missing = append(missing, "it is closed, or a draft")
	}
	for _, r := range s.rulesetsOn("refs/heads/" + p.Base) {
		for _, x := range r.Rules {
			switch x.Type {
			case "required_status_checks":
				missing = append(missing, s.missingChecks(x, p.head)...)
			case "pull_request":
				missing = append(missing, s.missingReviews(x, p)...)
			}
		}
	}
	return len(missing) == 0, missing
}

// GroupMergeable says whether the commit of a merge queue's group has the checks that its base requires, and what is
// missing.
func (s *Server) GroupMergeable(sha, base string) (ok bool, missing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rulesetsOn("refs/heads/" + base) {
		for _, x := range r.Rules {
			if x.Type == "required_status_checks" {
				missing = append(missing, s.missingChecks(x, sha)...)
			}
		}
	}
	return len(missing) == 0, missing
}

// missingChecks are the required checks of a rule that a commit does not satisfy.
func (s *Server) missingChecks(r rule, sha string) (missing []string) {
	var p struct {
		Checks []struct {
			Context string `json:"context"`
			App     *int64 `json:"integration_id"`
		} `json:"required_status_checks"`
	}
	s.mustWork("", json.Unmarshal(r.Parameters, &p))
	for _, c := range p.Checks {
		of := func(app string) bool { return c.App == nil || AppID(app) == *c.App }
		if state := s.contextState(sha, c.Context, of); !isPassing(state) {
			missing = append(missing, c.Context+": "+state)
		}
	}
	return missing
}

// isPassing are the conclusions that satisfy a required check.
func isPassing(state string) bool {
	return slices.Contains([]string{"success", "neutral", "skipped"}, state)
}

// contextState is what a commit says under a name, of the apps that count: the conclusion of the newest check run, or
// what keeps it from one.
func (s *Server) contextState(sha, context string, of func(app string) bool) string {
	var newest *check
	for _, c := range s.checks {
		if c.head == sha && c.name == context && of(c.app) && (newest == nil || !c.started.Before(newest.started)) {
			newest = c
		}
	}
	state := "expected"
	if newest != nil {
		if state = newest.conclusion; newest.status != "completed" {
			state = newest.status
		}
	}
	for _, x := range slices.Backward(s.statuses) {
		if x.head == sha && x.context == context && of(x.app) {
			if newest == nil || isPassing(state) {
				state = x.state
			}
			break
		}
	}
	return state
}

// missingReviews are what a pull request lacks of the reviews that a rule demands. Nobody owns code here.
func (s *Server) missingReviews(r rule, p *pull) (missing []string) {
	var want struct {
		Count int  `json:"required_approving_review_count"`
		Stale bool `json:"dismiss_stale_reviews_on_push"`
	}
	s.mustWork("", json.Unmarshal(r.Parameters, &want))
	last := map[string]*review{}
	for _, x := range p.reviews {
		if role := s.userNamed(x.user).Role; x.state != "COMMENTED" && !strings.EqualFold(x.user, p.Author) &&
			slices.Contains([]string{"write", "maintain", "admin"}, role) {
			last[x.user] = x
		}
	}
	approvals, against := 0, 0
	for _, x := range last {
		switch {
		case x.state == "CHANGES_REQUESTED":
			against++
		case x.state == "APPROVED" && (!want.Stale || x.commit == p.head):
			approvals++
		}
	}
	if approvals < want.Count {
		missing = append(missing, fmt.Sprintf("approvals: %d of %d", approvals, want.Count))
	}
	if against > 0 {
		missing = append(missing, fmt.Sprintf("changes requested: %d", against))
	}
	return missing
}
