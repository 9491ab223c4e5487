package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/githubapi"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// record is a pull request of an agent, approved by a maintainer at noon: the review counts.
func record() Record {
	return Record{
		Pull:    githubapi.PullRequest{Number: 3, Author: "agent-runner", State: "open", HeadSHA: "head", BaseSHA: "base"},
		HeadNow: "head", Digest: "0a1b2c3d4e5f",
		Reviews:     []githubapi.Review{{ID: 1, User: "Maintainer", UserID: 10, UserType: "User", State: "APPROVED", CommitSHA: "head", SubmittedAt: noon}},
		Commits:     []githubapi.Commit{{SHA: "head", Author: githubapi.Identity{Login: "agent-runner"}, Committer: githubapi.Identity{Login: "web-flow"}}},
		Permissions: map[string]string{"Maintainer": "maintain", "agent-runner": "admin", "other": "write"},
	}
}

func TestEligibility(t *testing.T) {
	review := func(r *Record) *githubapi.Review { return &r.Reviews[0] }
	for _, c := range []struct {
		name string
		edit func(*Record, *Config)
		says string // "" counts
	}{
		{"an approval", func(*Record, *Config) {}, ""},
		{"a comment after it does not supersede", func(r *Record, _ *Config) {
			r.Reviews = append(r.Reviews, githubapi.Review{ID: 2, User: "Maintainer", UserID: 10, UserType: "User", State: "COMMENTED", SubmittedAt: noon.Add(time.Hour)})
		}, ""},
		{"changes requested after it", func(r *Record, _ *Config) {
			r.Reviews = append(r.Reviews, githubapi.Review{ID: 2, User: "Maintainer", UserID: 10, UserType: "User", State: "CHANGES_REQUESTED", SubmittedAt: noon.Add(time.Hour)})
		}, "a later review"},
		{"dismissed", func(r *Record, _ *Config) { review(r).State = "DISMISSED" }, "its state is dismissed"},
		{"a bot", func(r *Record, _ *Config) { review(r).UserType = "Bot" }, "a bot signs nothing off"},
		{"the author", func(r *Record, _ *Config) { review(r).User = "Agent-Runner" }, "opened the pull request"},
		{"a committer", func(r *Record, _ *Config) { r.Commits[0].Committer.Login = "maintainer" }, "committer of commit head"},
		{"an author of a commit", func(r *Record, _ *Config) { r.Commits[0].Author.Login = "Maintainer" }, "author of commit head"},
		{"a co-author", func(r *Record, _ *Config) {
			r.Commits[0].Message = "x\n\nCo-authored-by: M <123+Maintainer@users.noreply.github.com>\n"
		}, "co-author of commit head"},
		{"committers allowed", func(r *Record, c *Config) {
			r.Commits[0].Author.Login = "Maintainer"
			c.Approval.AllowCommitters = true
		}, ""},
		{"the operator", func(r *Record, _ *Config) { r.Operators = []string{"maintainer"} }, "declared operator"},
		{"a pusher", func(r *Record, _ *Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "head_ref_force_pushed", Actor: "Maintainer", At: noon.Add(-time.Hour)}}
		}, "pushed to the pull request"},
		{"too little permission", func(r *Record, _ *Config) { r.Permissions["Maintainer"] = "triage" }, "permission triage is below write"},
		{"unknown permission", func(r *Record, _ *Config) { r.Permissions = nil }, "permission unknown is below write"},
		{"admin asked for", func(_ *Record, c *Config) { c.Approval.MinimumPermission = "admin" }, "permission maintain is below admin"},
		{"not in the team", func(_ *Record, c *Config) { c.Approval.Teams = []string{"o/credit"} }, "not a member of o/credit"},
		{"in the team", func(r *Record, c *Config) {
			c.Approval.Teams = []string{"o/credit"}
			r.TeamMembers = map[string]bool{"Maintainer": true}
		}, ""},
		{"another head", func(r *Record, _ *Config) { review(r).CommitSHA = "older" }, "it is of older; the head is head"},
		{"a head pushed meanwhile", func(r *Record, _ *Config) { r.HeadNow = "audited" }, "the head has moved since the audit"},
		{"force-push with a re-pointed review", func(r *Record, _ *Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "head_ref_force_pushed", Actor: "agent-runner", At: noon.Add(time.Minute)}}
		}, "head ref force pushed after it"},
		{"retargeted", func(r *Record, _ *Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "base_ref_changed", At: noon.Add(time.Minute)}}
		}, "base ref changed after it"},
		{"closed", func(r *Record, _ *Config) { r.Pull.State = "closed" }, "the pull request is closed"},
		{"a draft", func(r *Record, _ *Config) { r.Pull.Draft = true }, "a draft"},
		{"the digest", func(r *Record, c *Config) { c.Approval.DigestRequired = true; review(r).Body = "/digest 0a1b2c3d" }, ""},
		{"no digest", func(_ *Record, c *Config) { c.Approval.DigestRequired = true }, "asks for /digest 0a1b2c3d"},
		{"another digest", func(r *Record, _ *Config) { review(r).Body = "/digest ffffffff" }, "of another audit"},
		{"a command that cannot be read", func(r *Record, _ *Config) { review(r).Body = "/flag x" }, "cannot be read"},
	} {
		rec, cfg := record(), DefaultConfig()
		c.edit(&rec, cfg)
		got := JudgeReviews(rec, cfg)[0]
		if got.Counted != (c.says == "") || !strings.Contains(got.Because, c.says) {
			t.Errorf("%s: counted %v because %q, want %q", c.name, got.Counted, got.Because, c.says)
		}
	}
}

// TestUnknownHands: an identity without an account might be the reviewer's own, so nobody's review counts.
func TestUnknownHands(t *testing.T) {
	rec, cfg := record(), DefaultConfig()
	rec.Commits = append(rec.Commits, githubapi.Commit{SHA: "0123456789", Author: githubapi.Identity{Email: "me@laptop"}, Committer: githubapi.Identity{Login: "web-flow"},
		Message: "x\n\nCo-authored-by: Y <y@z>"})
	if got := UnknownHands(rec, cfg); len(got) != 2 || !strings.Contains(got[0], "author <me@laptop> of commit 0123456") || !strings.Contains(got[1], "co-author <y@z>") {
		t.Errorf("%q", got)
	}
	cfg.Governance.Agents = []AgentProfile{{Name: "a", Emails: []string{"ME@laptop", "y@z"}}}
	if got := UnknownHands(rec, cfg); got != nil {
		t.Errorf("listed for a governed agent: %q", got)
	}
}

func TestObjections(t *testing.T) {
	rec, cfg := record(), DefaultConfig()
	rec.Reviews = append(rec.Reviews, githubapi.Review{ID: 2, User: "other", UserID: 11, UserType: "User", State: "CHANGES_REQUESTED", SubmittedAt: noon},
		githubapi.Review{ID: 3, User: "stranger", UserID: 12, UserType: "User", State: "CHANGES_REQUESTED", SubmittedAt: noon})
	if got := Objections(rec, cfg); len(got) != 1 || got[0] != "other requests changes" {
		t.Errorf("%q", got)
	}
}
