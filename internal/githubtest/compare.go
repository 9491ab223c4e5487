package githubtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// compare is what two commits have in common; of the commits and files between them it tells the number of commits.
func (s *Server) compare(c call) reply {
	base, head, ok3 := strings.Cut(c.PathValue("basehead"), "...")
	base, head = s.git.resolve(base+"^{commit}"), s.git.resolve(head+"^{commit}")
	if !ok3 || base == "" || head == "" {
		return refuse(404, "Not Found")
	}
	fork, err := s.git.git(nil, "merge-base", base, head)
	if err != nil {
		return refuse(404, "No common ancestor between %s and %s.", base, head)
	}
	ahead, err := s.git.commits(base + ".." + head)
	s.must("", err)
	behind, err := s.git.commits(head + ".." + base)
	s.must("", err)
	status := map[[2]bool]string{{true, true}: "identical", {false, true}: "ahead", {true, false}: "behind", {false, false}: "diverged"}[[2]bool{len(ahead) == 0, len(behind) == 0}]
	o := object(s.example("get /repos/{owner}/{repo}/compare/{basehead}"))
	common := o["merge_base_commit"].(map[string]any)
	common["sha"] = strings.TrimSpace(fork)
	return ok(o.with(object{"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": []any{}, "files": []any{},
		"merge_base_commit": common, "url": s.apiURL("compare/%s...%s", base, head)}))
}

// graphql answers the one question that the gate puts to the GraphQL API: which reviews were edited. The answer has the form of GitHub's public
// schema (PullRequestReview.fullDatabaseId is a BigInt, which is a string; lastEditedAt is a DateTime or null).
func (s *Server) graphql(c call) reply {
	var in struct {
		Query     string
		Variables struct {
			Owner, Name string
			Number      int64
			After       *string
		}
	}
	if err := c.into(&in); err != nil || !strings.Contains(in.Query, "lastEditedAt") {
		return refuse(400, "Problems parsing JSON")
	}
	p := s.pulls[in.Variables.Number]
	if p == nil || !strings.EqualFold(in.Variables.Owner+"/"+in.Variables.Name, s.Name) {
		return ok(object{"data": object{"repository": object{"pullRequest": nil}},
			"errors": []any{object{"type": "NOT_FOUND", "message": fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", in.Variables.Number)}}})
	}
	state := strings.ToUpper(p.state)
	if p.mergedBy != "" {
		state = "MERGED"
	}
	nodes := []any{}
	for _, r := range p.seen(c.token.Login) {
		nodes = append(nodes, object{"fullDatabaseId": fmt.Sprint(r.id), "lastEditedAt": stampOrNull(r.edited)})
	}
	from := 0
	if in.Variables.After != nil {
		_, _ = fmt.Sscan(*in.Variables.After, &from)
	}
	to := min(from+100, len(nodes))
	return ok(object{"data": object{"repository": object{"pullRequest": object{"headRefOid": p.head, "isDraft": p.Draft,
		"state": state, "baseRefName": p.Base, "reviews": object{
			"pageInfo": object{"hasNextPage": to < len(nodes), "endCursor": fmt.Sprint(to)}, "nodes": nodes[min(from, to):to]}}}}})
}

// conforms holds a question to the GraphQL API and its answer against GitHub's public schema.
func (s *Server) conforms(body []byte, rep reply) {
	var in struct{ Query string }
	var out struct{ Data any }
	data, err := json.Marshal(rep.body)
	if err = errors.Join(err, json.Unmarshal(body, &in), json.Unmarshal(data, &out)); err == nil && rep.status == 200 {
		err = conforms(in.Query, out.Data)
	}
	if err != nil {
		s.report("githubtest: POST /graphql is not as GitHub describes it: %v", err)
	}
}
