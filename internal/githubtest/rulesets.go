package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
)

// ruleset is a ruleset of the repository: what somebody posted, and what of it is obeyed here.
type ruleset struct {
	ID           int64
	Name         string
	Target       string
	Enforcement  string
	BypassActors []bypassActor `json:"bypass_actors"`
	Conditions   struct {
		RefName struct{ Include, Exclude []string } `json:"ref_name"`
	}
	Rules []rule
}

// bypassActor is somebody for whom a ruleset does not hold.
type bypassActor struct {
	ID   *int64 `json:"actor_id"`
	Type string `json:"actor_type"`
	Mode string `json:"bypass_mode"`
}

// rule is one rule of a ruleset.
type rule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// administrator is a token that may do everything to the repository's settings.
const administrator = "githubtest-administrator"

// Protect posts a ruleset as an administrator does with `gh api … /rulesets`: what GitHub's description does not allow
// is refused.
func (s *Server) Protect(body string) error {
	r, err := http.NewRequest("POST", s.APIURL()+"/repos/"+s.Name+"/rulesets", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+administrator)
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.Transport().RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated || err != nil {
		return fmt.Errorf("the ruleset is refused: %d %s %w", resp.StatusCode, answer, err)
	}
	return nil
}

// Unprotect takes every ruleset away.
func (s *Server) Unprotect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rulesets = nil
}

func (s *Server) createRuleset(c call) reply {
	if !c.token.Admin {
		return refuseWith(403, "Resource not accessible by integration")
	}
	var r ruleset
	if err := c.decodeBody(&r); err != nil {
		return refuseWith(400, "%v", err)
	}
	if r.Name == "" || r.Enforcement == "" ||
		slices.ContainsFunc(s.rulesets, func(have *ruleset) bool { return have.Name == r.Name }) {
		return invalidInput("Ruleset", "name", "Name must be unique")
	}
	orElse(&r.Target, "branch")
	r.ID = s.nextID()
	s.rulesets = append(s.rulesets, &r)
	return createdReply(s.rulesetJSON(&r, true))
}

// rulesetJSON shows who may bypass a ruleset only to an administrator.
func (s *Server) rulesetJSON(r *ruleset, admin bool) object {
	list := func(v any) any {
		data, err := json.Marshal(v)
		s.mustWork("", err)
		var plain []any
		s.mustWork("", json.Unmarshal(data, &plain))
		return append([]any{}, plain...)
	}
	o := object{"id": r.ID, "node_id": nodeID("RRS", r.ID), "name": r.Name, "target": r.Target,
		"source_type": "Repository", "source": s.Name, "enforcement": r.Enforcement,
		"conditions": object{"ref_name": object{"include": list(r.Conditions.RefName.Include),
			"exclude": list(r.Conditions.RefName.Exclude)}}, "rules": list(r.Rules),
		"created_at": timeStamp(s.now), "updated_at": timeStamp(s.now)}
	if admin {
		o["bypass_actors"] = list(r.BypassActors)
	}
	return o
}

// getRuleset answers with what a test has set, or else with a ruleset that was posted.
func (s *Server) getRuleset(c call) reply {
	for _, r := range s.rulesets {
		if r.ID == pathNumber(c, "ruleset_id") {
			return okReply(s.rulesetJSON(r, c.token.Admin))
		}
	}
	return s.answerSetting(nil)(c)
}

// branchRules lists the active rules on a branch, unless a test has set others.
func (s *Server) branchRules(c call) reply {
	list := []any{}
	for _, r := range s.rulesetsOn("refs/heads/" + c.PathValue("branch")) {
		for _, x := range r.Rules {
			o := object{"type": x.Type, "ruleset_source_type": "Repository", "ruleset_source": s.Name,
				"ruleset_id": r.ID}
			if x.Parameters != nil {
				o["parameters"] = x.Parameters
			}
			list = append(list, o)
		}
	}
	return s.answerSetting(list)(c)
}

// rulesetsOn are the active rulesets that hold for a branch.
func (s *Server) rulesetsOn(ref string) []*ruleset {
	named := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			match, _ := path.Match(p, ref)
			return match || p == "~ALL" || p == "~DEFAULT_BRANCH" && ref == "refs/heads/main"
		})
	}
	var out []*ruleset
	for _, r := range s.rulesets {
		if r.Target == "branch" && r.Enforcement == "active" && named(r.Conditions.RefName.Include) &&
			!named(r.Conditions.RefName.Exclude) {
			out = append(out, r)
		}
	}
	return out
}

// roles are the ids under which rulesets name the roles of a repository.
var roles = map[int64]string{2: "maintain", 4: "write", 5: "admin"}

// bypassesRules reports whether a ruleset does not hold for the pushes of a token.
func (s *Server) bypassesRules(r *ruleset, t Token) bool {
	return slices.ContainsFunc(r.BypassActors, func(a bypassActor) bool {
		switch {
		case a.ID == nil || a.Mode != "always":
			return false
		case a.Type == "Integration":
			return t.App != "" && AppID(t.App) == *a.ID
		case a.Type == "RepositoryRole":
			return t.App == "" && s.userNamed(t.Login).Role == roles[*a.ID]
		}
		return false
	})
}

// ruleViolation says which rule forbids a token to move a reference, "" if none does. An empty commit stands for a
// reference that is not there.
func (s *Server) ruleViolation(t Token, ref, old, next string) string {
	for _, r := range s.rulesetsOn(ref) {
		if s.bypassesRules(r, t) {
			continue
		}
		for _, x := range r.Rules {
			switch {
			case x.Type == "creation" && old == "":
				return "Cannot create ref due to creations being restricted."
			case x.Type == "deletion" && next == "":
				return "Cannot delete this protected ref."
			case old == "" || next == "":
			case x.Type == "update":
				return "Cannot update this protected ref."
			case x.Type == "non_fast_forward" && s.git.objectKind(next) != "" && !s.git.isAncestor(old, next):
				// git looks at what it has yet to receive
				return "Cannot force-push to this protected ref."
			case x.Type == "pull_request":
				return "Changes must be made through a pull request."
			case x.Type == "required_status_checks" && len(s.missingChecks(x, next)) > 0:
				return "Required status checks are expected."
			}
		}
	}
	return ""
}

// forwardOnly reports whether a ruleset keeps a token from anything but moving a reference forward.
func (s *Server) forwardOnly(t Token, ref string) bool {
	return slices.ContainsFunc(s.rulesetsOn(ref), func(r *ruleset) bool {
		return !s.bypassesRules(r, t) &&
			slices.ContainsFunc(r.Rules, func(x rule) bool { return x.Type == "non_fast_forward" })
	})
}

// violationReply is GitHub's refusal of a change that a ruleset forbids.
func violationReply(why string) reply {
	return refuseWith(422, "Repository rule violations found\n\n%s\n\n", why)
}
