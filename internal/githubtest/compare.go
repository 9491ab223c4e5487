package githubtest

import (
	"encoding/json"
	"errors"
	"strings"
)

// compareCommits is what two commits have in common; of the commits and files between them it tells the number of
// commits.
func (s *Server) compareCommits(c call) reply {
	base, head, ok3 := strings.Cut(c.PathValue("basehead"), "...")
	base, head = s.git.resolveName(base+"^{commit}"), s.git.resolveName(head+"^{commit}")
	if !ok3 || base == "" || head == "" {
		return refuseWith(404, "Not Found")
	}
	fork, err := s.git.mergeBase(base, head)
	if err != nil {
		return refuseWith(404, "No common ancestor between %s and %s.", base, head)
	}
	ahead, err := s.git.commitsBetween(base, head)
	s.mustWork("", err)
	behind, err := s.git.commitsBetween(head, base)
	s.mustWork("", err)
	status := map[[2]bool]string{{true, true}: "identical", {false, true}: "ahead", {true, false}: "behind",
		{false, false}: "diverged"}[[2]bool{len(ahead) == 0, len(behind) == 0}]
	o := object(s.exampleObject("get /repos/{owner}/{repo}/compare/{basehead}"))
	common := o["merge_base_commit"].(map[string]any)
	common["sha"] = strings.TrimSpace(fork)
	return okReply(o.withMembers(object{"status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": []any{}, "files": []any{},
		"merge_base_commit": common, "url": s.apiURL("compare/%s...%s", base, head)}))
}

// checkGraphQL holds a question to the GraphQL API and its answer against GitHub's public schema.
func (s *Server) checkGraphQL(body []byte, rep reply) {
	var in struct{ Query string }
	var out struct{ Data any }
	data, err := json.Marshal(rep.body)
	if err = errors.Join(err, json.Unmarshal(body, &in), json.Unmarshal(data, &out)); err == nil && rep.status == 200 {
		err = conformsToSchema(in.Query, out.Data)
	}
	if err != nil {
		s.report("githubtest: POST /graphql is not as GitHub describes it: %v", err)
	}
}
