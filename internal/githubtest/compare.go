package githubtest

import (
	"encoding/json"
	"errors"
	"strings"
)

// compare is what two commits have in common; of the commits and files between them it tells the number of commits.
func (s *Server) compare(c call) reply {
	base, head, ok3 := strings.Cut(c.PathValue("basehead"), "...")
	base, head = s.git.resolve(base+"^{commit}"), s.git.resolve(head+"^{commit}")
	if !ok3 || base == "" || head == "" {
		return refuse(404, "Not Found")
	}
	fork, err := s.git.mergeBase(base, head)
	if err != nil {
		return refuse(404, "No common ancestor between %s and %s.", base, head)
	}
	ahead, err := s.git.commits(base, head)
	s.must("", err)
	behind, err := s.git.commits(head, base)
	s.must("", err)
	status := map[[2]bool]string{{true, true}: "identical", {false, true}: "ahead", {true, false}: "behind",
		{false, false}: "diverged"}[[2]bool{len(ahead) == 0, len(behind) == 0}]
	o := object(s.example("get /repos/{owner}/{repo}/compare/{basehead}"))
	common := o["merge_base_commit"].(map[string]any)
	common["sha"] = strings.TrimSpace(fork)
	return ok(o.with(object{"status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": []any{}, "files": []any{},
		"merge_base_commit": common, "url": s.apiURL("compare/%s...%s", base, head)}))
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
