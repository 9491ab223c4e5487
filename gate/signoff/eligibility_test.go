package signoff

import (
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/internal/githubapi"
)

// approvedRecord is a pull request of an agent, approved by a maintainer at noon: the review counts.
func approvedRecord() Record {
	return Record{
		Pull: githubapi.PullRequest{
			Number:  3,
			Author:  "agent-runner",
			State:   "open",
			HeadSHA: "head",
			BaseSHA: "base",
		},
		HeadNow: "head", Digest: "0a1b2c3d4e5f",
		Reviews: []githubapi.Review{
			{
				ID:          1,
				User:        "Maintainer",
				UserID:      10,
				UserType:    "User",
				State:       "APPROVED",
				CommitSHA:   "head",
				SubmittedAt: gatetest.Noon,
			},
		},
		Commits: []githubapi.Commit{
			{
				SHA:       "head",
				Author:    githubapi.Identity{Login: "agent-runner"},
				Committer: githubapi.Identity{Login: "web-flow"},
			},
		},
		Permissions: map[string]string{"Maintainer": "maintain", "agent-runner": "admin", "other": "write"},
	}
}

func TestEligibility(t *testing.T) {
	review := func(r *Record) *githubapi.Review { return &r.Reviews[0] }
	for _, c := range []struct {
		name string
		edit func(*Record, *config.Config)
		says string // "" counts
	}{
		{"an approval", func(*Record, *config.Config) {}, ""},
		{"a comment after it does not supersede", func(r *Record, _ *config.Config) {
			r.Reviews = append(r.Reviews, githubapi.Review{ID: 2, User: "Maintainer", UserID: 10, UserType: "User",
				State: "COMMENTED", SubmittedAt: gatetest.Noon.Add(time.Hour)})
		}, ""},
		{"changes requested after it", func(r *Record, _ *config.Config) {
			r.Reviews = append(r.Reviews, githubapi.Review{ID: 2, User: "Maintainer", UserID: 10, UserType: "User",
				State: "CHANGES_REQUESTED", SubmittedAt: gatetest.Noon.Add(time.Hour)})
		}, "a later review"},
		{"dismissed", func(r *Record, _ *config.Config) { review(r).State = "DISMISSED" }, "its state is dismissed"},
		{"a bot", func(r *Record, _ *config.Config) { review(r).UserType = "Bot" }, "reviews by a bot do not count"},
		{"the author", func(r *Record, _ *config.Config) { review(r).User = "Agent-Runner" }, "opened the pull " +
			"request"},
		{"a committer", func(r *Record, _ *config.Config) { r.Commits[0].Committer.Login = "maintainer" },
			"committer of commit head"},
		{"an author of a commit", func(r *Record, _ *config.Config) { r.Commits[0].Author.Login = "Maintainer" },
			"author of commit head"},
		{"a co-author", func(r *Record, _ *config.Config) {
			r.Commits[0].Message = "x\n\nCo-authored-by: M <123+Maintainer@users.noreply.github.com>\n"
		}, "co-author of commit head"},
		{"committers allowed", func(r *Record, c *config.Config) {
			r.Commits[0].Author.Login = "Maintainer"
			c.Approval.AllowCommitters = true
		}, ""},
		{"the operator", func(r *Record, _ *config.Config) { r.Operators = []string{"maintainer"} },
			"declared operator"},
		{"who operates the agent, by the configuration", func(r *Record, c *config.Config) {
			r.Agents, c.Governance.Agents = []string{"a"},
				[]config.AgentProfile{{Name: "a", Operators: []string{"maintainer"}}}
		}, "operates the run's agent"},
		{"who operates another agent", func(r *Record, c *config.Config) {
			r.Agents, c.Governance.Agents = []string{"b"},
				[]config.AgentProfile{{Name: "a", Operators: []string{"maintainer"}}}
		}, ""},
		{"a pusher", func(r *Record, _ *config.Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "head_ref_force_pushed", Actor: "Maintainer",
				At: gatetest.Noon.Add(-time.Hour)}}
		}, "pushed to the pull request"},
		{"too little permission", func(r *Record, _ *config.Config) { r.Permissions["Maintainer"] = "triage" },
			"permission triage is below write"},
		{"unknown permission", func(r *Record, _ *config.Config) { r.Permissions = nil }, "permission unknown is " +
			"below write"},
		{"admin asked for", func(_ *Record, c *config.Config) { c.Approval.MinimumPermission = "admin" },
			"permission maintain is below admin"},
		{"not in the team", func(_ *Record, c *config.Config) { c.Approval.Teams = []string{"o/credit"} },
			"not a member of o/credit"},
		{"in the team", func(r *Record, c *config.Config) {
			c.Approval.Teams = []string{"o/credit"}
			r.TeamMembers = map[string]bool{"Maintainer": true}
		}, ""},
		{"another head", func(r *Record, _ *config.Config) { review(r).CommitSHA = "older" }, "this review covers older; " +
			"the head is now head"},
		{"a head pushed meanwhile", func(r *Record, _ *config.Config) { r.HeadNow = "audited" },
			"the head has moved since the audit"},
		{"force-push with a re-pointed review", func(r *Record, _ *config.Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "head_ref_force_pushed", Actor: "agent-runner",
				At: gatetest.Noon.Add(time.Minute)}}
		}, "head ref force pushed after it"},
		{"retargeted", func(r *Record, _ *config.Config) {
			r.Timeline = []githubapi.TimelineEvent{{Event: "base_ref_changed", At: gatetest.Noon.Add(time.Minute)}}
		}, "base ref changed after it"},
		{"closed", func(r *Record, _ *config.Config) { r.Pull.State = "closed" }, "the pull request is closed"},
		{"a draft", func(r *Record, _ *config.Config) { r.Pull.Draft = true }, "a draft"},
		{"the digest", func(r *Record, c *config.Config) {
			c.Approval.DigestRequired = true
			review(r).Body = "/digest 0a1b2c3d"
		}, ""},
		{"no digest", func(_ *Record, c *config.Config) { c.Approval.DigestRequired = true }, "asks for /digest " +
			"0a1b2c3d"},
		{"another digest", func(r *Record, _ *config.Config) { review(r).Body = "/digest ffffffff" },
			"does not match the audit in force"},
		{"a command that cannot be read", func(r *Record, _ *config.Config) { review(r).Body = "/flag x" },
			"cannot be read"},
	} {
		rec, cfg := approvedRecord(), config.Default()
		c.edit(&rec, cfg)
		got := JudgeReviews(rec, cfg)[0]
		if got.Counted != (c.says == "") || !strings.Contains(got.Because, c.says) {
			t.Errorf("%s: counted %v because %q, want %q", c.name, got.Counted, got.Because, c.says)
		}
	}
}

// TestUnknownHands: an identity without an account might be the reviewer's own, so nobody's review counts. Each is
// named once, with how many commits have it.
func TestUnknownHands(t *testing.T) {
	rec, cfg := approvedRecord(), config.Default()
	stranger := githubapi.Commit{
		SHA:       "0123456789",
		Author:    githubapi.Identity{Email: "me@laptop"},
		Committer: githubapi.Identity{Login: "web-flow"},
		Message:   "x\n\nCo-authored-by: Y <y@z>",
	}
	rec.Commits = append(rec.Commits, stranger, stranger, stranger)
	got := UnknownHands(rec, cfg)
	if len(got) != 2 || !strings.Contains(got[0], "author <me@laptop> of commit 0123456 and 2 more") ||
		!strings.Contains(got[1], "co-author <y@z>") {
		t.Errorf("%q", got)
	}
	cfg.Governance.Agents = []config.AgentProfile{{Name: "a", Emails: []string{"ME@laptop", "y@z"}}}
	if got := UnknownHands(rec, cfg); got != nil {
		t.Errorf("listed for a governed agent: %q", got)
	}
	rec.Pushers, rec.Lost = rec.Pushers.With("not a login"), "the memory is lost"
	if got := UnknownHands(rec, cfg); len(got) != 2 || !strings.Contains(got[0], "more than 100 accounts pushed") ||
		got[1] != rec.Lost {
		t.Errorf("%q", got)
	}
	cfg.Approval.AllowCommitters = true
	if got := UnknownHands(rec, cfg); got != nil {
		t.Errorf("committers may sign: %q", got)
	}
}

// TestIdentities: whose hand an identity of a commit is, and whether it is unknown. The author is a person with an
// account unless it is said otherwise.
func TestIdentities(t *testing.T) {
	who := func(login, email string) githubapi.Identity { return githubapi.Identity{Login: login, Email: email} }
	for _, c := range []struct {
		what           string
		edit           func(*githubapi.Commit)
		hands, unknown int // besides the author
	}{
		{"web-flow as GitHub links it",
			func(c *githubapi.Commit) { c.Committer = who("web-flow", "noreply@github.com") }, 0, 0},
		{"web-flow as GitHub links it not", func(c *githubapi.Commit) { c.Committer = who("", "NoReply@github.com") },
			0, 0},
		{"web-flow's login is not taken from another address",
			func(c *githubapi.Commit) { c.Committer = who("", "1+web-flow@users.noreply.github.com") }, 1, 1},
		{"an address of an Enterprise Server",
			func(c *githubapi.Commit) { c.Committer = who("", "1+rosa@users.noreply.git.corp.example") }, 1, 1},
		{"a managed account", func(c *githubapi.Commit) {
			c.Committer = who("",
				"1+octo_acme@users.noreply.github.com")
		}, 1, 1},
		{"another account than the address's",
			func(c *githubapi.Commit) { c.Committer = who("wim", "1+rosa@users.noreply.github.com") }, 2, 0},
		{"a domain that only looks like it",
			func(c *githubapi.Commit) { c.Committer = who("", "1+rosa@users.noreply.github.com@x") }, 0, 1},
		{"nobody at all", func(c *githubapi.Commit) { c.Committer = githubapi.Identity{} }, 0, 1},
		{"a trailer that only GitHub reads",
			func(c *githubapi.Commit) { c.Authors = append(c.Authors, who("wim", "w@x")) }, 1, 0},
		{"an unknown one that only GitHub reads",
			func(c *githubapi.Commit) { c.Authors = append(c.Authors, who("", "w@x")) }, 0, 1},
		{"a trailer that only we read", func(c *githubapi.Commit) {
			c.Message = "x\n\nCO-AUTHORED-BY: w <w@x>  " +
				"\nmore"
		}, 0, 1},
		{"a trailer that both read", func(c *githubapi.Commit) {
			c.Message, c.Authors = "x\n\nCo-authored-by: w <W@x>", append(c.Authors, who("wim", "w@x"))
		}, 1, 0},
		{"an app in a trailer", func(c *githubapi.Commit) {
			c.Message = "x\n\nCo-authored-by: w " +
				"<9+w[bot]@users.noreply.github.com>"
		}, 1, 0},
	} {
		rec, cfg := approvedRecord(), config.Default()
		rec.Pull.Author = ""
		author := who("agent-runner", "a@b")
		commit := githubapi.Commit{
			SHA:       "head",
			Author:    author,
			Committer: author,
			Authors:   []githubapi.Identity{author},
		}
		c.edit(&commit)
		rec.Commits = []githubapi.Commit{commit}
		if got, unknown := ownWork(rec, cfg), UnknownHands(rec, cfg); len(got) != c.hands+1 ||
			len(unknown) != c.unknown {
			t.Errorf("%s: %v, %q", c.what, got, unknown)
		}
	}
}

// TestAgentTrailers: the usual trailers of agents are nobody unknown, in whatever letters, and none of their addresses
// makes an author or a committer known. The trailers are those that the agents write, as their makers publish them.
func TestAgentTrailers(t *testing.T) {
	for _, trailer := range []string{
		"Claude <noreply@anthropic.com>", "Claude Opus 4.6 <NoReply@Anthropic.com>",
		"Copilot <223556219+Copilot@users.noreply.github.com>",
		"copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>", "Copilot <copilot@github.com>",
		"Codex <noreply@openai.com>",
		"Cursor <cursoragent@cursor.com>", "gemini-cli <218195315+gemini-cli@users.noreply.github.com>",
		"aider (gpt-5) <aider@aider.chat>",
		"Devin <158243242+devin-ai-integration[bot]@users.noreply.github.com>", "google-labs-jules[bot] " +
			"<161369871+google-labs-jules[bot]@users.noreply.github.com>",
		"dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>", "renovate[bot] " +
			"<29139614+renovate[bot]@users.noreply.github.com>",
		"github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>",
	} {
		rec, cfg := approvedRecord(), config.Default()
		rec.Commits[0].Message = "Change\n\nCo-authored-by: " + trailer + "\n"
		if got := UnknownHands(rec, cfg); got != nil {
			t.Errorf("%s: %q", trailer, got)
		}
		_, email, _ := strings.Cut(strings.TrimSuffix(trailer, ">"), "<")
		for _, role := range []string{"author", "committer"} {
			rec := approvedRecord()
			who := map[string]*githubapi.Identity{"author": &rec.Commits[0].Author,
				"committer": &rec.Commits[0].Committer}[role]
			*who = githubapi.Identity{Email: email}
			if got := UnknownHands(rec, cfg); len(got) != 1 || !strings.Contains(got[0], role+" <"+email+">") ||
				!strings.Contains(got[0], "governance.agents[].emails") {
				t.Errorf("%s as %s: %q", email, role, got)
			}
		}
	}
}

func TestObjections(t *testing.T) {
	rec, cfg := approvedRecord(), config.Default()
	rec.Reviews = append(
		rec.Reviews,
		githubapi.Review{
			ID:          2,
			User:        "other",
			UserID:      11,
			UserType:    "User",
			State:       "CHANGES_REQUESTED",
			SubmittedAt: gatetest.Noon,
		},
		githubapi.Review{
			ID:          3,
			User:        "stranger",
			UserID:      12,
			UserType:    "User",
			State:       "CHANGES_REQUESTED",
			SubmittedAt: gatetest.Noon,
		},
	)
	if got := Objections(rec, cfg); len(got) != 1 || got[0] != "other requests changes" {
		t.Errorf("%q", got)
	}
}
