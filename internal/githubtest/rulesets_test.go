package githubtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onDefault is a ruleset for the default branch with the required checks, each NAME@APP; an app of 0 is any.
func onDefault(checks ...string) string {
	var list []string
	for _, c := range checks {
		name, app, _ := strings.Cut(c, "@")
		if app == "0" {
			list = append(list, fmt.Sprintf(`{"context": %q}`, name))
			continue
		}
		list = append(list, fmt.Sprintf(`{"context": %q, "integration_id": %s}`, name, app))
	}
	return `{"name": "default", "target": "branch", "enforcement": "active",
		"conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
		"rules": [{"type": "required_status_checks", "parameters": {"strict_required_status_checks_policy": false,
		"required_status_checks": [` + strings.Join(list, ",") + `]}}]}`
}

// TestRequiredChecks: what GitHub's documentation says of required checks ("About protected branches", "Troubleshooting
// required status checks", "Available rules for rulesets"), sentence by sentence.
func TestRequiredChecks(t *testing.T) {
	const actions, other = "github-actions", "other"
	for _, c := range []struct {
		says string
		do   func(s *Server, head string)
		want string
	}{
		{"a check that has not come is expected", func(*Server, string) {}, "a: expected"},
		{"successful", func(s *Server, head string) { s.ForgeCheck(actions, head, "a", "success") }, ""},
		{"skipped", func(s *Server, head string) { s.ForgeCheck(actions, head, "a", "skipped") }, ""},
		{"neutral", func(s *Server, head string) { s.ForgeCheck(actions, head, "a", "neutral") }, ""},
		{"action required", func(s *Server, head string) { s.ForgeCheck(actions, head, "a", "action_required") },
			"a: action_required"},
		{"cancelled", func(s *Server, head string) { s.ForgeCheck(actions, head, "a", "cancelled") }, "a: cancelled"},
		{"another app's is none", func(s *Server, head string) { s.ForgeCheck(other, head, "a", "success") },
			"a: expected"},
		{"another app's changes nothing", func(s *Server, head string) {
			s.ForgeCheck(actions, head, "a", "failure")
			s.ForgeCheck(other, head, "a", "success")
		}, "a: failure"},
		{"the newest of one app counts", func(s *Server, head string) {
			s.ForgeCheck(actions, head, "a", "failure")
			s.ForgeCheck(actions, head, "a", "success")
		}, ""},
		{"a job of the same name is not told apart", func(s *Server, head string) {
			s.ForgeCheck(actions, head, "a", "failure")
			s.RunJob(head, "a", "success")
		}, ""},
		{"of another name", func(s *Server, head string) { s.ForgeCheck(actions, head, "b", "success") },
			"a: expected"},
		{"on another commit", func(s *Server, _ string) {
			s.ForgeCheck(actions, s.Ref("refs/heads/main"), "a",
				"success")
		}, "a: expected"},
		{"a status alone", func(s *Server, head string) { s.ForgeStatus(actions, head, "a", "success") }, ""},
		{"a status and a check: both", func(s *Server, head string) {
			s.ForgeCheck(actions, head, "a", "failure")
			s.ForgeStatus(actions, head, "a", "success")
		}, "a: failure"},
		{"a check and a status: both", func(s *Server, head string) {
			s.ForgeCheck(actions, head, "a", "success")
			s.ForgeStatus(actions, head, "a", "pending")
		}, "a: pending"},
		{"a status of another app", func(s *Server, head string) { s.ForgeStatus("", head, "a", "success") },
			"a: expected"},
	} {
		s := New(t)
		n := opened(s)
		if err := s.Protect(onDefault("a@15368")); err != nil {
			t.Fatal(err)
		}
		c.do(s, s.Head(n))
		merge, missing := s.Mergeable(n)
		group, _ := s.GroupMergeable(s.Head(n), "main")
		if got := strings.Join(missing, ", "); got != c.want || merge != (c.want == "") || group != merge {
			t.Errorf("%s: %v %q, not %q", c.says, merge, got, c.want)
		}
	}
}

// TestMergeable: every ruleset of the base holds, an inactive one and another branch's do not; approvals are of people
// who may write, of this head, and not the author's.
func TestMergeable(t *testing.T) {
	s := New(t)
	n := opened(s)
	const reviews = `{"name": "reviews", "target": "branch", "enforcement": "active",
		"conditions": {"ref_name": {"include": ["refs/heads/main"], "exclude": []}},
		"rules": [{"type": "pull_request", "parameters": {"required_approving_review_count": 1,
		"dismiss_stale_reviews_on_push": true, "require_code_owner_review": false,
		"require_last_push_approval": false, "required_review_thread_resolution": false}}]}`
	for _, body := range []string{onDefault("a@15368", "b@0"), reviews,
		strings.Replace(strings.Replace(onDefault("c@1"), "~DEFAULT_BRANCH", "refs/heads/other", 1), `"default"`,
			`"other"`, 1),
		strings.Replace(strings.Replace(onDefault("d@1"), `"active"`, `"disabled"`, 1), `"default"`, `"off"`, 1)} {
		if err := s.Protect(body); err != nil {
			t.Fatal(err)
		}
	}
	want := func(missing ...string) {
		t.Helper()
		if ok, got := s.Mergeable(n); !slices.Equal(got, missing) || ok != (len(missing) == 0) {
			t.Errorf("%v %q, not %q", ok, got, missing)
		}
	}
	want("a: expected", "b: expected", "approvals: 0 of 1")
	s.ForgeCheck("github-actions", s.Head(n), "a", "success")
	s.ForgeStatus("", s.Head(n), "b", "success")
	for _, who := range []string{"agent", "reader", "mallory"} {
		s.Review(n, who, "APPROVED", "")
	}
	want("approvals: 0 of 1")
	rosa := s.Review(n, "rosa", "APPROVED", "")
	s.Review(n, "rosa", "COMMENTED", "")
	want()
	s.Review(n, "wim", "CHANGES_REQUESTED", "")
	want("changes requested: 1")
	s.Review(n, "wim", "APPROVED", "")
	s.DismissReview(n, rosa, "owner")
	want()
	s.SetDraft(n, true)
	want("it is closed, or a draft")
	s.SetDraft(n, false)
	s.Push(n, Change{Files: map[string]string{"x": "1"}})
	want("a: expected", "b: expected", "approvals: 0 of 1")
	s.Unprotect()
	want()
	for _, body := range []string{`{"name": "x"}`, `{"name": "x", "enforcement": "on"}`,
		strings.Replace(onDefault("a@1"), "required_status_checks\"", "required_checks\"", 1)} {
		strict, breaches := reports(t)
		if err := strict.Protect(body); err == nil && len(*breaches) == 0 {
			t.Errorf("%s is taken", body)
		}
	}
}

// TestRulesetsHoldPushes: who may bypass a ruleset pushes, nobody else, by git or through the API.
func TestRulesetsHoldPushes(t *testing.T) {
	s := New(t)
	const lock = `{"name": %q, "target": "branch", "enforcement": "active", "conditions": {"ref_name": {"include": ` +
		`["refs/heads/kept"], "exclude": []}}, "bypass_actors": [%s], "rules": [%s]}`
	app := fmt.Sprintf(`{"actor_id": %d, "actor_type": "Integration", "bypass_mode": "always"}`, AppID("keeper"))
	for _, body := range []string{fmt.Sprintf(lock, "app", app, `{"type": "creation"}, {"type": "update"}`),
		fmt.Sprintf(lock, "whole", "", `{"type": "deletion"}, {"type": "non_fast_forward"}`)} {
		if err := s.Protect(body); err != nil {
			t.Fatal(err)
		}
	}
	s.AddToken("person", Token{Login: "owner", Admin: true})
	s.AddToken("keeper", Token{Login: "keeper[bot]", App: "keeper"})
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(token string, args ...string) error {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-C", dir},
			args...)...)
		cmd.Env = gitEnvironment("URL=" + strings.Replace(s.CloneURL(), "http://", "http://x:"+token+"@", 1))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	push := func(token, what string) error {
		return git(token, "push", strings.Replace(s.CloneURL(), "http://", "http://x:"+token+"@", 1), what)
	}
	if out, err := exec.Command("git", "clone", "-q", s.CloneURL(), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, step := range []struct{ token, what, refusal string }{
		{"person", "HEAD:refs/heads/kept", "creations being restricted"},
		{s.Token, "HEAD:refs/heads/kept", "creations being restricted"},
		{"keeper", "HEAD:refs/heads/kept", ""},
		{"person", "HEAD:refs/heads/free", ""},
		{"person", "HEAD:refs/heads/kept", "Cannot update"},
		{s.Token, "HEAD:refs/heads/kept", "Cannot update"},
		{"keeper", "HEAD:refs/heads/kept", ""},
		{"keeper", "+HEAD^:refs/heads/kept", "force-push"},
		{"keeper", ":refs/heads/kept", "Cannot delete"},
	} {
		if err := git("", "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(step.what, "+") {
			if err := git("", "reset", "-q", "--hard", "HEAD^"); err != nil {
				t.Fatal(err)
			}
		}
		before := s.Ref("refs/heads/kept")
		err := push(step.token, step.what)
		if refused := err != nil && strings.Contains(err.Error(), step.refusal) &&
			s.Ref("refs/heads/kept") == before; refused != (step.refusal != "") || err != nil && !refused {
			t.Errorf("%+v: %v", step, err)
		}
	}
	for method, path := range map[string]string{"PATCH": "git/refs/heads/kept", "POST": "git/refs"} {
		status, answer, _ := ask(t, s, method, path, fmt.Sprintf(`{"ref": "refs/heads/kept", "sha": %q}`,
			s.Ref("refs/heads/kept")))
		if said, _ := answer["message"].(string); status != 422 || method == "PATCH" &&
			!strings.Contains(said, "Repository rule violations found") {
			t.Errorf("%s %s: %d %v", method, path, status, answer)
		}
	}
}
