package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/doctor"
)

const attack = `on: %s
%s
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ %s }}"}
      - run: make
`

// doctorCases are what can be wrong, with the check that sees it.
var doctorCases = []struct {
	name   string
	change func(*testing.T, *clinic)
	id     string
	status string
	what   string
}{
	{"actions off", func(_ *testing.T,
		c *clinic) {
		c.answers["actions/permissions"] = map[string]any{"enabled": false}
	},
		"actions.enabled", doctor.Problem, "Actions are turned off"},
	{"no workflow", func(_ *testing.T, c *clinic) { delete(c.files, workflowPath); delete(c.files, reviewPath) },
		"workflow.present", doctor.Problem, "no workflow on main runs the gate"},
	{"another action", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, pin, "actions/hello@v1") },
		"workflow.present", doctor.Problem, "does not use the action"},
	{"no YAML", func(_ *testing.T, c *clinic) { c.files[workflowPath] = "on: [push\n" },
		"workflow.present", doctor.Problem, "referee.yml: line 1: the YAML cannot be read"},
	{"no trigger", func(_ *testing.T, c *clinic) { delete(c.files, reviewPath) },
		"workflow.present", doctor.Problem, "no workflow on pull_request_review starts it"},
	{"trigger under another name", func(t *testing.T, c *clinic) {
		c.edit(t, reviewPath, "name: referee-review",
			"name: reviews")
	},
		"workflow.present", doctor.Problem, "no workflow on pull_request_review starts it"},
	{"renamed file", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/gate.yaml"] = c.files[workflowPath]
		delete(c.files, workflowPath)
	}, "workflow.present", doctor.Fine, "gate.yaml runs the gate"},
	{"not on a target", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "pull_request_target", "pull_request")
	}, "workflow.events", doctor.Problem, "runs on pull_request"},
	{"also on the pull request", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  merge_group:\n", "  merge_group:\n  pull_request:\n")
	}, "workflow.events", doctor.Problem, "also runs on pull_request"},
	{"not after a review", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  workflow_run:\n    workflows: [referee-review]\n    types: [completed]\n", "")
	}, "workflow.events", doctor.Problem, "does not run on workflow_run"},
	{"no schedule", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  schedule:\n    - cron: \"17 5 * * *\"\n", "")
	}, "workflow.events", doctor.Warning, "does not run on schedule"},
	{"direct in public", direct, "workflow.events", doctor.Problem, "direct set-up in a public repository"},
	{"direct in private", func(t *testing.T, c *clinic) { direct(t, c); c.private = true }, "workflow.events",
		doctor.Warning, "the direct set-up"},
	{"direct is present", direct, "workflow.present", doctor.Fine, "runs the gate"},
	{"no checks", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, "checks: write", "checks: read") },
		"workflow.permissions", doctor.Problem, "lacks checks: write"},
	{"by the repository's word", func(t *testing.T, c *clinic) {
		text := c.files[workflowPath]
		c.edit(t, workflowPath, text[strings.Index(text, "    permissions:"):strings.Index(text, "    steps:")], "")
		c.edit(t, workflowPath, "permissions: {}", "#")
	}, "workflow.permissions", doctor.Problem, "lacks contents: write"},
	{"a major tag", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3",
			"defendableos/referee@v1")
	},
		"action.pinned", doctor.Problem, "can be moved"},
	{"a full tag", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "defendableos/referee@v1.2.3")
	},
		"action.pinned", doctor.Warning, "names a tag"},
	{"a short commit", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "defendableos/referee@0a0a0a0a")
	},
		"action.pinned", doctor.Problem, "can be moved"},
	{"an image by digest", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "docker://ghcr.io/defendableos/referee@sha256:"+strings.Repeat("0a",
			32))
	}, "action.pinned", doctor.Fine, "pinned to 0a0a0a0a"},
	{"this repository's own", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, pin+" # v1.2.3", "./") },
		"action.pinned", doctor.Fine, "this repository's own"},
	{"an unknown key", func(t *testing.T, c *clinic) {
		c.edit(t, config.Path, "fail_on: high", "fail_onn: high")
	},
		"config", doctor.Problem, `.github/referee.yml:23:1: unknown key "fail_onn"`},
	{"another base", func(t *testing.T, c *clinic) { c.edit(t, config.Path, `["main"]`, `["release"]`) },
		"config", doctor.Problem, "the default branch main is not gated"},
	{"no configuration", func(_ *testing.T, c *clinic) { delete(c.files, config.Path) },
		"config", doctor.Fine, "the defaults apply"},
	{"a sheet that is none", func(_ *testing.T, c *clinic) { c.files["flight_sheets/ours.json"] = "{}" },
		"sheets", doctor.Problem, "flight_sheets/ours.json"},
	{"a sheet that is not there", func(t *testing.T, c *clinic) { c.edit(t, config.Path, `["*"]`, `[math-stepz]`) },
		"sheets", doctor.Problem, `did you mean "math-steps"?`},
	{"a version that is not active",
		func(t *testing.T, c *clinic) { c.edit(t, config.Path, `["*"]`, `[math-steps@9.0.0]`) },
		"sheets", doctor.Problem, "the active version of math-steps"},
	{"a good sheet of its own", func(t *testing.T, c *clinic) {
		src, err := newClinicSheet()
		if err != nil {
			t.Fatal(err)
		}
		c.files["flight_sheets/math-steps.json"] = src
	}, "sheets", doctor.Fine, "own sheets load: 1"},
	{"nothing required", func(_ *testing.T, c *clinic) { c.rules = drop(c.rules, "required_status_checks") },
		"checks.required", doctor.Problem, `"referee / audit", "referee / sign-off"`},
	{"only the audit", func(_ *testing.T, c *clinic) {
		p := c.parameters("required_status_checks")
		p["required_status_checks"] = p["required_status_checks"].([]any)[:1]
	}, "checks.required", doctor.Problem, `not required on main: "referee / sign-off"`},
	{"the job in the audit's place",
		func(_ *testing.T, c *clinic) { c.require("referee-audit", 15368, comment.SignOffCheck, 15368) },
		"checks.required", doctor.Problem, `not required on main: "referee / audit"`},
	{"the job, as earlier versions printed it",
		func(_ *testing.T, c *clinic) { c.require("referee-audit", 15368, comment.SignOffCheck, 15368) },
		"checks.job", doctor.Warning,
		`the job "referee-audit" is required on main, and stays red after a later /accept`},
	{"the job beside the checks", func(_ *testing.T, c *clinic) {
		c.require("referee-audit", 15368, comment.AuditCheck, 15368, comment.SignOffCheck, 15368)
	}, "checks.job", doctor.Warning, "stays red"},
	{"the job by another name", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "name: referee-audit", "name: gate")
		c.require("gate", 15368, comment.AuditCheck, 15368, comment.SignOffCheck, 15368)
	}, "checks.job", doctor.Warning, `the job "gate"`},
	{"another job", func(_ *testing.T, c *clinic) {
		c.require("test", 15368, comment.AuditCheck, 15368, comment.SignOffCheck, 15368)
	},
		"checks.job", doctor.Fine, "is not required"},
	{"a job by the check's name", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "name: referee-audit", "name: referee / audit")
	}, "checks.names", doctor.Problem, `referee.yml (job audit): "referee / audit"`},
	{"another workflow's job by the check's name", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/ci.yml"] = "on: push\njobs:\n  x:\n    name: Referee / sign-off\n    steps: " +
			"[{run: make}]\n"
	}, "checks.names", doctor.Problem, `ci.yml (job x): "referee / sign-off"`},
	{"a called job by the check's name", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/outer.yml"] = "on: push\njobs:\n  referee:\n    uses: " +
			"./.github/workflows/inner.yml\n"
		c.files[".github/workflows/inner.yml"] = "on: workflow_call\njobs:\n  sign-off:\n    steps: [{run: make}]\n"
	}, "checks.names", doctor.Problem, `outer.yml (job referee): "referee / sign-off"`},
	{"a called job by another name", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/outer.yml"] = "on: push\njobs:\n  referee:\n    uses: " +
			"./.github/workflows/inner.yml\n"
		c.files[".github/workflows/inner.yml"] = "on: workflow_call\njobs:\n  test:\n    steps: [{run: make}]\n"
	}, "checks.names", doctor.Fine, ""},
	{"jobs that cannot be read", func(_ *testing.T, c *clinic) { c.files[".github/workflows/x.yml"] = "a: *b\n" },
		"checks.names", doctor.Warning, "not read: x.yml"},
	{"by the older protection", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.protect(comment.AuditCheck, comment.SignOffCheck)
	}, "checks.required", doctor.Fine, "are required on main"},
	{"by the older protection from anywhere", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.protect(comment.AuditCheck, comment.SignOffCheck)
	}, "checks.source", doctor.Problem, `from any source: "referee / audit", "referee / sign-off"`},
	{"the protection out of sight", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.hide = []string{"branches/main/protection"}
	}, "checks.required", doctor.Unknown, "administration: read"},
	{"a job that may be required out of sight", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.hide = []string{"branches/main/protection"}
	}, "checks.job", doctor.Unknown, "administration: read"},
	{"from any source", func(_ *testing.T, c *clinic) { c.require(comment.AuditCheck, 15368, comment.SignOffCheck, 0) },
		"checks.source", doctor.Problem, `from any source: "referee / sign-off"`},
	{"nothing to come from", func(_ *testing.T, c *clinic) { c.rules = drop(c.rules, "required_status_checks") },
		"checks.source", doctor.Warning, "neither of the gate's checks"},
	{"an App's token", withApp, "checks.token", doctor.Fine, "of the app 777"},
	{"an App's token by hand", func(t *testing.T, c *clinic) {
		c.require(comment.AuditCheck, 777, comment.SignOffCheck, 777)
		c.edit(t, workflowPath, "        with:\n", "        with:\n          token: ${{ secrets.APP_TOKEN }}\n")
	}, "checks.token", doctor.Fine, "of the app 777"},
	{"an App that is given nothing",
		func(_ *testing.T, c *clinic) { c.require(comment.AuditCheck, 777, comment.SignOffCheck, 777) },
		"checks.token", doctor.Problem, "does not use its token"},
	{"two apps for one token", func(_ *testing.T, c *clinic) {
		c.require(comment.AuditCheck, 15368,
			comment.SignOffCheck, 777)
	},
		"checks.token", doctor.Problem, "of the apps 777, 15368"},
	{"an App that is not required", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "        with:\n", "        with:\n          token: ${{ steps.app.outputs.token }}\n")
	}, "checks.token", doctor.Problem, "uses another token"},
	{"another App's token", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.require(comment.AuditCheck, 778, comment.SignOffCheck, 778)
	}, "checks.token", doctor.Problem, "required of the app 778, but the action uses a token of the app 777"},
	{"the plain token elsewhere", func(_ *testing.T, c *clinic) {
		c.answers["apps/github-actions"] = 9
		c.require(comment.AuditCheck, 9, comment.SignOffCheck, 9)
	}, "checks.token", doctor.Warning, "can be forged"},
	{"github.com's id elsewhere", func(_ *testing.T, c *clinic) { c.answers["apps/github-actions"] = 9 },
		"checks.token", doctor.Problem, "of the app 15368, but the action does not use its token"},
	{"no App's key", func(*testing.T, *clinic) {}, "app.key", doctor.Fine, "does not use an App's token"},
	{"an App's key", withApp, "app.key", doctor.Fine, `REFEREE_APP_KEY is kept in the environment "referee", which is ` +
		`for main alone`},
	{"a key for the merge queue too", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.environment("main", "gh-readonly-queue/main/*")
	}, "app.key", doctor.Fine, "for main alone"},
	{"a key for every branch of agents", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.environment("main",
			"agent/*")
	},
		"app.key", doctor.Warning, `is open to "agent/*"`},
	{"a key for a tag", func(t *testing.T, c *clinic) { withApp(t, c); c.policy("main", "tag") },
		"app.key", doctor.Warning, "the tag main"},
	{"a key for every branch", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.answers["environments/referee"].(map[string]any)["deployment_branch_policy"] = nil
	}, "app.key", doctor.Warning, "open to every branch"},
	{"a key for every protected branch", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.answers["environments/referee"].(map[string]any)["deployment_branch_policy"] = map[string]any{
			"protected_branches":     true,
			"custom_branch_policies": false}
	}, "app.key", doctor.Warning, "every protected branch"},
	{"an environment that is not there",
		func(t *testing.T, c *clinic) { withApp(t, c); delete(c.answers, "environments/referee") },
		"app.key", doctor.Warning, "does not exist"},
	{"a key that is a secret of the repository too", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.answers["actions/secrets/REFEREE_APP_KEY"] = map[string]any{"name": "REFEREE_APP_KEY",
			"created_at": "2026-12-01T12:00:00Z", "updated_at": "2026-12-01T12:00:00Z"}
	}, "app.key", doctor.Warning, "also a secret of the repository"},
	{"a key without an environment", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.edit(t, workflowPath, "    environment: referee #", "    #")
	}, "app.key", doctor.Warning, "a workflow on any branch can read it"},
	{"a key out of sight", func(t *testing.T, c *clinic) { withApp(t, c); c.hide = []string{"environments/**"} },
		"app.key", doctor.Unknown, "administration: read"},
	{"every sheet", func(*testing.T, *clinic) {}, "sheets.any", doctor.Warning,
		`which sheets do you use? Any active one may judge "runs/**/run.json"`},
	{"the sheets by name", func(t *testing.T, c *clinic) { c.edit(t, config.Path, `["*"]`, `[math-steps]`) },
		"sheets.any", doctor.Fine, ""},
	{"no closed", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, ", edited, closed]", ", edited]") },
		"workflow.events", doctor.Warning, "does not run on pull_request_target closed"},
	{"GitHub's own types", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "    types: [opened, synchronize, reopened, ready_for_review, edited, closed]\n", "")
	}, "workflow.events", doctor.Warning, "pull_request_target ready_for_review, pull_request_target edited, " +
		"pull_request_target closed"},
	{"by hand", selfSign, "workflow.self_sign", doctor.Fine, "bound to the head and the digest"},
	{"by hand without a title", func(t *testing.T, c *clinic) {
		selfSign(t, c)
		c.edit(t, workflowPath, "run-name: ", "run-name: by hand #")
	}, "workflow.self_sign", doctor.Problem, "the run-name of referee.yml does not say"},
	{"by hand with another title", func(t *testing.T, c *clinic) {
		selfSign(t, c)
		c.edit(t, workflowPath, "head={2}", "head={3}")
	}, "workflow.self_sign", doctor.Problem, "run-name"},
	{"by hand without a digest", func(t *testing.T, c *clinic) {
		selfSign(t, c)
		c.edit(t, workflowPath, "      digest:\n", "      summary:\n")
	}, "workflow.self_sign", doctor.Problem, "lacks the inputs digest"},
	{"no approvals", func(_ *testing.T,
		c *clinic) {
		c.parameters("pull_request")["required_approving_review_count"] = 0
	},
		"reviews.required", doctor.Problem, "no approval is required"},
	{"too few approvals", func(t *testing.T, c *clinic) { c.edit(t, config.Path, "count: 1", "count: 2") },
		"reviews.required", doctor.Warning, "1 of the 2"},
	{"approvals that stay", func(_ *testing.T,
		c *clinic) {
		c.parameters("pull_request")["dismiss_stale_reviews_on_push"] = false
	},
		"reviews.stale", doctor.Problem, "stays valid after a push"},
	{"stale by the older protection", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "pull_request")
		c.protect("x")
	}, "reviews.stale", doctor.Fine, "dismissed"},
	{"no owners", func(_ *testing.T, c *clinic) { delete(c.files, ".github/CODEOWNERS") },
		"files.owned", doctor.Problem, "CODEOWNERS is missing"},
	{"owners of the sheets alone", func(t *testing.T, c *clinic) {
		c.edit(t, ".github/CODEOWNERS", "/.github/",
			"/docs/")
	},
		"files.owned", doctor.Problem, "no owner for .github/workflows/referee.yml"},
	{"owners of another folder", func(t *testing.T, c *clinic) {
		c.edit(t, config.Path, "flight_sheets: flight_sheets", "flight_sheets: sheets/ours")
	}, "files.owned", doctor.Problem, "no owner for sheets/ours/new.json"},
	{"owners whom nobody asks",
		func(_ *testing.T, c *clinic) { c.parameters("pull_request")["require_code_owner_review"] = false },
		"files.owned", doctor.Problem, "whose review is not required"},
	{"workflows that approve", func(_ *testing.T, c *clinic) {
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "read",
			"can_approve_pull_request_reviews": true}
	}, "actions.approve", doctor.Problem, "create and approve"},
	{"tokens that write", func(_ *testing.T, c *clinic) {
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "write",
			"can_approve_pull_request_reviews": false}
	}, "actions.token", doctor.Warning, "may write"},
	{"a ledger that can be cut", func(_ *testing.T, c *clinic) { c.ledger = drop(c.ledger, "non_fast_forward") },
		"ledger.rules", doctor.Problem, "the branch ledger may be force-pushed"},
	{"a ledger without rules", func(_ *testing.T, c *clinic) { c.ledger = []map[string]any{} },
		"ledger.rules", doctor.Problem, "may be deleted and be force-pushed"},
	{"a ledger that administrators can rewrite", func(_ *testing.T, c *clinic) {
		c.answers[fmt.Sprintf("rulesets/%d",
			c.ledger[0]["ruleset_id"])].(map[string]any)["bypass_actors"] = []any{map[string]any{"actor_id": 5,
			"actor_type": "RepositoryRole", "bypass_mode": "always"}}
	}, "ledger.rules", doctor.Warning, "can be deleted or force-pushed by administrators"},
	{"a ledger that the App can rewrite", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.answers[fmt.Sprintf("rulesets/%d",
			c.ledger[0]["ruleset_id"])].(map[string]any)["bypass_actors"] = []any{integration(777)}
	}, "ledger.rules", doctor.Warning, "can be deleted or force-pushed by the app 777"},
	{"a ledger that anybody can push to", func(*testing.T, *clinic) {}, "ledger.push", doctor.Warning,
		"anybody with push access can append entries to the branch ledger, forged ones too; " +
			"with the workflow's own token this cannot be stopped"},
	{"a ledger that anybody can push to beside the App", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.ledger = drop(drop(c.ledger, "update"), "creation")
	}, "ledger.push", doctor.Warning, "anybody with push access can append entries to the branch ledger, forged " +
		"ones too"},
	{"a ledger for the App alone", withApp, "ledger.push", doctor.Fine,
		"only the app 777 may push to the branch ledger"},
	{"a ledger for an App that the gate is not",
		func(t *testing.T, c *clinic) { withApp(t, c); c.bypass(integration(778)) },
		"ledger.push", doctor.Problem,
		"only the app 778 may push to the branch ledger, but the action uses a token of the app 777"},
	{"a ledger for an App without its token", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.files[workflowPath] = newClinic(t).files[workflowPath]
	}, "ledger.push", doctor.Problem, "the action does not use its token"},
	{"a ledger for administrators too", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.bypass(integration(777), map[string]any{"actor_id": 5, "actor_type": "RepositoryRole",
			"bypass_mode": "always"})
	}, "ledger.push", doctor.Warning, "besides the app 777, administrators may push"},
	{"a ledger by a team's pull requests", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.bypass(integration(777), map[string]any{"actor_id": 1, "actor_type": "Team", "bypass_mode": "pull_request"})
	}, "ledger.push", doctor.Warning, "besides the app 777, a team may push"},
	{"a ledger for nobody", func(t *testing.T, c *clinic) { withApp(t, c); c.bypass() },
		"ledger.push", doctor.Problem, "the gate's own push is refused"},
	{"a ledger for every workflow", func(t *testing.T, c *clinic) { withApp(t, c); c.bypass(integration(15368)) },
		"ledger.push", doctor.Warning, "any workflow of the repository can"},
	{"a ledger that anybody may create", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.ledger = drop(c.ledger,
			"creation")
	},
		"ledger.push", doctor.Warning, "anybody may create it"},
	{"a ledger whose bypass cannot be seen",
		func(t *testing.T, c *clinic) { withApp(t, c); c.hide = []string{"rulesets/**"} },
		"ledger.push", doctor.Unknown,
		"who may bypass the ledger's rulesets: it needs the permission administration: read"},
	{"a ledger whose rules cannot be seen",
		func(_ *testing.T, c *clinic) { c.hide = []string{"rules/branches/ledger"} },
		"ledger.push", doctor.Unknown, "metadata: read"},
	{"a ledger that the older protection keeps for the App", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.ledger = drop(drop(c.ledger, "update"), "creation")
		c.older(true, 777)
	}, "ledger.push", doctor.Fine, "only the app 777 may push"},
	{"a ledger that the older protection keeps from all but administrators", func(t *testing.T, c *clinic) {
		withApp(t, c)
		c.ledger = drop(drop(c.ledger, "update"), "creation")
		c.older(false, 777)
	}, "ledger.push", doctor.Warning, "administrators may push"},
	{"a ledger that lets the App in, whole", withApp, "ledger.rules", doctor.Fine, "neither deleted nor force-pushed"},
	{"a ledger that nobody can push to", func(_ *testing.T, c *clinic) { c.ledger = append(c.ledger, c.rules[2]) },
		"ledger.rules", doctor.Warning, "pull_request: the gate's own push may be refused"},
	{"a ledger in one line", func(_ *testing.T, c *clinic) {
		c.ledger = append(c.ledger, map[string]any{"type": "required_linear_history",
			"ruleset_source_type": "Repository", "ruleset_source": "acme/underwriting", "ruleset_id": 42})
	}, "ledger.rules", doctor.Fine, "neither deleted nor force-pushed"},
	{"a ledger by the older protection", func(_ *testing.T, c *clinic) {
		c.ledger = []map[string]any{}
		c.answers["branches/ledger/protection"] = map[string]any{"allow_force_pushes": map[string]any{"enabled": false},
			"allow_deletions": map[string]any{"enabled": false}}
	}, "ledger.rules", doctor.Fine, "neither deleted nor force-pushed"},
	{"a ledger by the older protection that may be cut", func(_ *testing.T, c *clinic) {
		c.ledger = []map[string]any{}
		c.answers["branches/ledger/protection"] = map[string]any{"allow_force_pushes": map[string]any{"enabled": true},
			"allow_deletions": map[string]any{"enabled": false}}
	}, "ledger.rules", doctor.Problem, "may be force-pushed"},
	{"a ledger elsewhere that cannot be seen", func(t *testing.T, c *clinic) {
		c.edit(t, config.Path, "  branch: ledger\n", "  branch: ledger\n  repository: acme/ledger\n")
	}, "ledger.rules", doctor.Unknown, "of acme/ledger"},
	{"the head under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target", "permissions: write-all",
			"github.event.pull_request.head.sha")
	}, "workflows.head", doctor.Problem, "lint.yml (job build)"},
	{"the head with nothing to take", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target",
			"permissions: {contents: read}", "github.event.pull_request.head.sha")
	}, "workflows.head", doctor.Fine, ""},
	{"the head on pull_request", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request", "permissions: write-all",
			"github.event.pull_request.head.sha")
	}, "workflows.head", doctor.Fine, ""},
	{"the base under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target", "permissions: write-all",
			"github.event.pull_request.base.sha")
	}, "workflows.head", doctor.Fine, ""},
	{"something under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "[issue_comment]", "permissions: write-all",
			"steps.pr.outputs.sha")
	}, "workflows.head", doctor.Warning, "may be checked out"},
	{"the gate that checks out", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "    steps:\n", "    steps:\n      - run: gh pr checkout ${{ "+
			"github.event.pull_request.number }}\n")
	}, "workflows.head", doctor.Problem, "referee.yml (job audit)"},
	{"a called workflow", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/outer.yml"] = "on: pull_request_target\njobs:\n  call:\n    uses: " +
			"./.github/workflows/inner.yml\n"
		c.files[".github/workflows/inner.yml"] = fmt.Sprintf(attack, "workflow_call", "permissions: {packages: write}",
			"github.head_ref")
	}, "workflows.head", doctor.Problem, "inner.yml (job build)"},
	{"a workflow that cannot be read", func(_ *testing.T, c *clinic) { c.files[".github/workflows/x.yml"] = "a: *b\n" },
		"workflows.head", doctor.Warning, "not read: x.yml"},
	{"another that may write", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/release.yml"] = "on: push\njobs:\n  out:\n    permissions: {contents: write}\n   " +
			" steps: [{run: make}]\n"
	}, "workflows.write", doctor.Warning, "release.yml (job out)"},
	{"another that writes by the repository's word", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/release.yml"] = "on: push\njobs:\n  out:\n    steps: [{run: make}]\n"
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "write",
			"can_approve_pull_request_reviews": false}
	}, "workflows.write", doctor.Warning, "release.yml (job out)"},
	{"settings out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"actions/permissions"} },
		"actions.enabled", doctor.Unknown,
		"the token may not read the settings of Actions: it needs the permission administration: read"},
	{"workflow settings out of sight",
		func(_ *testing.T, c *clinic) { c.hide = []string{"actions/permissions/workflow"} },
		"actions.approve", doctor.Unknown, "administration: read"},
	{"files out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"git/**"} },
		"files.owned", doctor.Unknown, "contents: read"},
	{"rules out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"rules/**"} },
		"ledger.rules", doctor.Unknown, "metadata: read"},
}

// withApp is the set-up with an App of one's own, as init writes and prints it.
func withApp(t *testing.T, c *clinic) {
	o := initOptions{branch: "main", app: "777"}
	for _, f := range filesOfSetup(o, actionPin{uses: pin + " # v1.2.3"}) {
		c.files[f.name] = f.text
	}
	c.rules, c.ledger = nil, nil
	for _, file := range rulesetFiles(o) {
		to := &c.ledger
		if file == "protect-default.json" {
			to = &c.rules
		}
		*to = append(*to, c.printedRules(t, file, o)...)
	}
	var environment map[string]any
	if err := json.Unmarshal([]byte(setupText("environment.json", o, "ledger")), &environment); err != nil {
		t.Fatal(err)
	}
	c.answers["environments/referee"] = c.server.Example("get /repos/{owner}/{repo}/environments/{environment_name}")
	maps.Copy(c.answers["environments/referee"].(map[string]any), environment)
	c.environment("main")
}

// environment sets the branches that may use the environment.
func (c *clinic) environment(branches ...string) {
	var list []any
	for i, name := range branches {
		list = append(list, map[string]any{"id": i, "node_id": "x", "name": name, "type": "branch"})
	}
	c.answers["environments/referee/deployment-branch-policies"] = map[string]any{"total_count": len(list),
		"branch_policies": list}
}

// policy sets the one name, of a branch or a tag, that may use the environment.
func (c *clinic) policy(name, kind string) {
	c.environment(name)
	policies := c.answers["environments/referee/deployment-branch-policies"].(map[string]any)["branch_policies"]
	policies.([]any)[0].(map[string]any)["type"] = kind
}

// bypass names whom the ruleset lets through that keeps others from the ledger.
func (c *clinic) bypass(actors ...map[string]any) {
	for _, r := range c.ledger {
		if r["type"] == "update" {
			c.answers[fmt.Sprintf("rulesets/%d",
				r["ruleset_id"])].(map[string]any)["bypass_actors"] = append([]map[string]any{}, actors...)
		}
	}
}

// integration is an app in the list of those whom a ruleset lets through.
func integration(id int64) map[string]any {
	return map[string]any{"actor_id": id, "actor_type": "Integration", "bypass_mode": "always"}
}

// older sets the older protection of the ledger, which lets an app alone push.
func (c *clinic) older(admins bool, app int64) {
	a := c.server.Example("post /repos/{owner}/{repo}/check-runs")["app"].(map[string]any)
	a["id"] = app
	p := map[string]any{"allow_force_pushes": map[string]any{"enabled": false},
		"allow_deletions": map[string]any{"enabled": false},
		"enforce_admins":  map[string]any{"url": "https://api.github.com/x", "enabled": admins},
		"restrictions": map[string]any{"url": "https://api.github.com/x", "users_url": "https://api.github.com/x",
			"teams_url": "https://api.github.com/x",
			"apps_url":  "https://api.github.com/x", "users": []any{}, "teams": []any{}, "apps": []any{a}}}
	c.answers["branches/ledger/protection"] = p
}

// selfSign is the configuration in which an admin signs by hand.
func selfSign(t *testing.T, c *clinic) {
	c.edit(t, config.Path, "self_sign: false", "self_sign: true")
}

// direct is the direct set-up.
func direct(_ *testing.T, c *clinic) {
	delete(c.files, reviewPath)
	c.files[workflowPath] = setupTemplate("direct.yml", initOptions{branch: "main"}, actionPin{uses: pin})
}

// require names the required checks, each with its app; 0 is any source.
func (c *clinic) require(namesAndApps ...any) {
	var list []any
	for pair := range slices.Chunk(namesAndApps, 2) {
		check := map[string]any{"context": pair[0]}
		if pair[1] != 0 {
			check["integration_id"] = pair[1]
		}
		list = append(list, check)
	}
	c.parameters("required_status_checks")["required_status_checks"] = list
}

// protect sets the official example of the older protection, with these required checks.
func (c *clinic) protect(names ...string) {
	p := c.server.Example("get /repos/{owner}/{repo}/branches/{branch}/protection")
	p["required_status_checks"].(map[string]any)["contexts"] = names
	c.answers["branches/main/protection"] = p
}

// Each thing that can be wrong is seen by its check, and said; a problem is exit code 1, everything else 0.
func TestDoctorCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range doctorCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newClinic(t)
			c.change(t, k)
			code, all := k.diagnoses(t)
			if d := all[c.id]; d.Status != c.status || !strings.Contains(d.What, c.what) {
				t.Errorf("%s: %q %q, not %q %q", c.id, d.Status, d.What, c.status, c.what)
			}
			want := exitClean
			for _, d := range all {
				if d.Status == doctor.Problem {
					want = exitRules
				}
			}
			if code != want {
				t.Errorf("exit code %d, not %d", code, want)
			}
		})
		if c.status != doctor.Fine {
			seen[c.id] = true
		}
	}
	for _, d := range doctor.Diagnose(&doctor.Settings{}) {
		if !seen[d.ID] {
			t.Errorf("no case in which %s is not ok", d.ID)
		}
	}
}
