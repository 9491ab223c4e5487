package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
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
	{"actions off", func(_ *testing.T, c *clinic) { c.answers["actions/permissions"] = map[string]any{"enabled": false} },
		"actions.enabled", gate.Problem, "Actions are turned off"},
	{"no workflow", func(_ *testing.T, c *clinic) { delete(c.files, workflowPath); delete(c.files, reviewPath) },
		"workflow.present", gate.Problem, "no workflow on main runs the gate"},
	{"another action", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, pin, "actions/hello@v1") },
		"workflow.present", gate.Problem, "does not use the action"},
	{"no YAML", func(_ *testing.T, c *clinic) { c.files[workflowPath] = "on: [push\n" },
		"workflow.present", gate.Problem, "referee.yml: line 1: the YAML cannot be read"},
	{"no trigger", func(_ *testing.T, c *clinic) { delete(c.files, reviewPath) },
		"workflow.present", gate.Problem, "no workflow on pull_request_review starts it"},
	{"trigger under another name", func(t *testing.T, c *clinic) { c.edit(t, reviewPath, "name: referee-review", "name: reviews") },
		"workflow.present", gate.Problem, "no workflow on pull_request_review starts it"},
	{"renamed file", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/gate.yaml"] = c.files[workflowPath]
		delete(c.files, workflowPath)
	}, "workflow.present", gate.Fine, "gate.yaml runs the gate"},
	{"not on a target", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "pull_request_target", "pull_request")
	}, "workflow.events", gate.Problem, "runs on pull_request"},
	{"also on the pull request", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  merge_group:\n", "  merge_group:\n  pull_request:\n")
	}, "workflow.events", gate.Problem, "also runs on pull_request"},
	{"not after a review", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  workflow_run:\n    workflows: [referee-review]\n    types: [completed]\n", "")
	}, "workflow.events", gate.Problem, "does not run on workflow_run"},
	{"no schedule", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "  schedule:\n    - cron: \"17 5 * * *\"\n", "")
	}, "workflow.events", gate.Warning, "does not run on schedule"},
	{"direct in public", direct, "workflow.events", gate.Problem, "direct set-up in a public repository"},
	{"direct in private", func(t *testing.T, c *clinic) { direct(t, c); c.private = true }, "workflow.events", gate.Warning, "the direct set-up"},
	{"direct is present", direct, "workflow.present", gate.Fine, "runs the gate"},
	{"no checks", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, "checks: write", "checks: read") },
		"workflow.permissions", gate.Problem, "lacks checks: write"},
	{"by the repository's word", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, c.files[workflowPath][strings.Index(c.files[workflowPath], "permissions:"):strings.Index(c.files[workflowPath], "concurrency:")], "")
	}, "workflow.permissions", gate.Problem, "lacks contents: write"},
	{"a major tag", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, pin+" # v1.2.3", "defendableos/referee@v1") },
		"action.pinned", gate.Problem, "something that moves"},
	{"a full tag", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "defendableos/referee@v1.2.3")
	},
		"action.pinned", gate.Warning, "names a tag"},
	{"a short commit", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "defendableos/referee@0a0a0a0a")
	},
		"action.pinned", gate.Problem, "something that moves"},
	{"an image by digest", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, pin+" # v1.2.3", "docker://ghcr.io/defendableos/referee@sha256:"+strings.Repeat("0a", 32))
	}, "action.pinned", gate.Fine, "pinned to 0a0a0a0a"},
	{"this repository's own", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, pin+" # v1.2.3", "./") },
		"action.pinned", gate.Fine, "this repository's own"},
	{"an unknown key", func(t *testing.T, c *clinic) {
		c.edit(t, gate.ConfigPath, "fail_on: high", "fail_onn: high")
	},
		"config", gate.Problem, `.github/referee.yml:22:1: unknown key "fail_onn"`},
	{"another base", func(t *testing.T, c *clinic) { c.edit(t, gate.ConfigPath, `["main"]`, `["release"]`) },
		"config", gate.Problem, "the default branch main is not gated"},
	{"no configuration", func(_ *testing.T, c *clinic) { delete(c.files, gate.ConfigPath) },
		"config", gate.Fine, "the defaults hold"},
	{"a sheet that is none", func(_ *testing.T, c *clinic) { c.files["flight_sheets/ours.json"] = "{}" },
		"sheets", gate.Problem, "flight_sheets/ours.json"},
	{"a sheet that is not there", func(t *testing.T, c *clinic) { c.edit(t, gate.ConfigPath, `["*"]`, `[math-stepz]`) },
		"sheets", gate.Problem, `did you mean "math-steps"?`},
	{"a version that is not active", func(t *testing.T, c *clinic) { c.edit(t, gate.ConfigPath, `["*"]`, `[math-steps@9.0.0]`) },
		"sheets", gate.Problem, "the active version of math-steps"},
	{"a good sheet of its own", func(t *testing.T, c *clinic) {
		src, err := newClinicSheet()
		if err != nil {
			t.Fatal(err)
		}
		c.files["flight_sheets/math-steps.json"] = src
	}, "sheets", gate.Fine, "own sheets load: 1"},
	{"nothing required", func(_ *testing.T, c *clinic) { c.rules = drop(c.rules, "required_status_checks") },
		"checks.required", gate.Problem, `"referee-audit", "referee / sign-off"`},
	{"only the audit", func(_ *testing.T, c *clinic) {
		p := c.parameters("required_status_checks")
		p["required_status_checks"] = p["required_status_checks"].([]any)[:1]
	}, "checks.required", gate.Problem, `not required on main: "referee / sign-off"`},
	{"another job's name", func(t *testing.T, c *clinic) { c.edit(t, workflowPath, "name: referee-audit", "name: gate") },
		"checks.required", gate.Problem, `not required on main: "gate"`},
	{"by the older protection", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.protect("referee-audit", "referee / sign-off")
	}, "checks.required", gate.Fine, "are required on main"},
	{"by the older protection from anywhere", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.protect("referee-audit", "referee / sign-off")
	}, "checks.source", gate.Problem, `from any source: "referee-audit", "referee / sign-off"`},
	{"the gate's own check", func(t *testing.T, c *clinic) { c.require(gate.AuditCheck, 15368, gate.SignOffCheck, 15368) },
		"checks.required", gate.Fine, `"referee / audit", "referee / sign-off"`},
	{"the protection out of sight", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "required_status_checks")
		c.hide = []string{"branches/main/protection"}
	}, "checks.required", gate.Unknown, "administration: read"},
	{"from any source", func(_ *testing.T, c *clinic) { c.require("referee-audit", 15368, gate.SignOffCheck, 0) },
		"checks.source", gate.Problem, `from any source: "referee / sign-off"`},
	{"nothing to come from", func(_ *testing.T, c *clinic) { c.rules = drop(c.rules, "required_status_checks") },
		"checks.source", gate.Warning, "neither of the gate's checks"},
	{"an App's token", func(t *testing.T, c *clinic) {
		c.require("referee-audit", 15368, gate.SignOffCheck, 777)
		c.edit(t, workflowPath, "        with:\n", "        with:\n          token: ${{ steps.app.outputs.token }}\n")
	}, "checks.token", gate.Fine, "of the app 777"},
	{"an App that is given nothing", func(_ *testing.T, c *clinic) { c.require("referee-audit", 15368, gate.SignOffCheck, 777) },
		"checks.token", gate.Problem, "given no token of it"},
	{"an App that is not required", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "        with:\n", "        with:\n          token: ${{ steps.app.outputs.token }}\n")
	}, "checks.token", gate.Problem, "is given another token"},
	{"the plain token elsewhere", func(_ *testing.T, c *clinic) { c.require("referee-audit", 9, gate.SignOffCheck, 9) },
		"checks.token", gate.Warning, "can be forged"},
	{"no approvals", func(_ *testing.T, c *clinic) { c.parameters("pull_request")["required_approving_review_count"] = 0 },
		"reviews.required", gate.Problem, "no approval is required"},
	{"too few approvals", func(t *testing.T, c *clinic) { c.edit(t, gate.ConfigPath, "count: 1", "count: 2") },
		"reviews.required", gate.Warning, "1 of the 2"},
	{"approvals that stay", func(_ *testing.T, c *clinic) { c.parameters("pull_request")["dismiss_stale_reviews_on_push"] = false },
		"reviews.stale", gate.Problem, "outlives a push"},
	{"stale by the older protection", func(_ *testing.T, c *clinic) {
		c.rules = drop(c.rules, "pull_request")
		c.protect("x")
	}, "reviews.stale", gate.Fine, "dismissed"},
	{"no owners", func(_ *testing.T, c *clinic) { delete(c.files, ".github/CODEOWNERS") },
		"files.owned", gate.Problem, "there is no CODEOWNERS"},
	{"owners of the sheets alone", func(t *testing.T, c *clinic) { c.edit(t, ".github/CODEOWNERS", "/.github/", "/docs/") },
		"files.owned", gate.Problem, "no owner of .github/workflows/referee.yml"},
	{"owners of another folder", func(t *testing.T, c *clinic) {
		c.edit(t, gate.ConfigPath, "flight_sheets: flight_sheets", "flight_sheets: sheets/ours")
	}, "files.owned", gate.Problem, "no owner of sheets/ours/new.json"},
	{"owners whom nobody asks", func(_ *testing.T, c *clinic) { c.parameters("pull_request")["require_code_owner_review"] = false },
		"files.owned", gate.Problem, "whose review is not required"},
	{"workflows that approve", func(_ *testing.T, c *clinic) {
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": true}
	}, "actions.approve", gate.Problem, "create and approve"},
	{"tokens that write", func(_ *testing.T, c *clinic) {
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "write", "can_approve_pull_request_reviews": false}
	}, "actions.token", gate.Warning, "may write"},
	{"a ledger that can be cut", func(_ *testing.T, c *clinic) { c.ledger = drop(c.ledger, "non_fast_forward") },
		"ledger.rules", gate.Problem, "the branch ledger may be force-pushed"},
	{"a ledger without rules", func(_ *testing.T, c *clinic) { c.ledger = []map[string]any{} },
		"ledger.rules", gate.Problem, "may be deleted and be force-pushed"},
	{"a ledger that nobody can push to", func(_ *testing.T, c *clinic) { c.ledger = append(c.ledger, c.rules[2]) },
		"ledger.rules", gate.Warning, "pull_request: the gate's own push may be refused"},
	{"a ledger in one line", func(_ *testing.T, c *clinic) {
		c.ledger = append(c.ledger, map[string]any{"type": "required_linear_history", "ruleset_source_type": "Repository", "ruleset_source": "example/work", "ruleset_id": 42})
	}, "ledger.rules", gate.Fine, "neither deleted nor force-pushed"},
	{"a ledger by the older protection", func(_ *testing.T, c *clinic) {
		c.ledger = []map[string]any{}
		c.answers["branches/ledger/protection"] = map[string]any{"allow_force_pushes": map[string]any{"enabled": false}, "allow_deletions": map[string]any{"enabled": false}}
	}, "ledger.rules", gate.Fine, "neither deleted nor force-pushed"},
	{"a ledger by the older protection that may be cut", func(_ *testing.T, c *clinic) {
		c.ledger = []map[string]any{}
		c.answers["branches/ledger/protection"] = map[string]any{"allow_force_pushes": map[string]any{"enabled": true}, "allow_deletions": map[string]any{"enabled": false}}
	}, "ledger.rules", gate.Problem, "may be force-pushed"},
	{"a ledger elsewhere that cannot be seen", func(t *testing.T, c *clinic) {
		c.edit(t, gate.ConfigPath, "  branch: ledger\n", "  branch: ledger\n  repository: acme/ledger\n")
	}, "ledger.rules", gate.Unknown, "of acme/ledger"},
	{"the head under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target", "permissions: write-all", "github.event.pull_request.head.sha")
	}, "workflows.head", gate.Problem, "lint.yml (job build)"},
	{"the head with nothing to take", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target", "permissions: {contents: read}", "github.event.pull_request.head.sha")
	}, "workflows.head", gate.Fine, ""},
	{"the head on pull_request", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request", "permissions: write-all", "github.event.pull_request.head.sha")
	}, "workflows.head", gate.Fine, ""},
	{"the base under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "pull_request_target", "permissions: write-all", "github.event.pull_request.base.sha")
	}, "workflows.head", gate.Fine, ""},
	{"something under a target", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/lint.yml"] = fmt.Sprintf(attack, "[issue_comment]", "permissions: write-all", "steps.pr.outputs.sha")
	}, "workflows.head", gate.Warning, "may be checked out"},
	{"the gate that checks out", func(t *testing.T, c *clinic) {
		c.edit(t, workflowPath, "    steps:\n", "    steps:\n      - run: gh pr checkout ${{ github.event.pull_request.number }}\n")
	}, "workflows.head", gate.Problem, "referee.yml (job audit)"},
	{"a called workflow", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/outer.yml"] = "on: pull_request_target\njobs:\n  call:\n    uses: ./.github/workflows/inner.yml\n"
		c.files[".github/workflows/inner.yml"] = fmt.Sprintf(attack, "workflow_call", "permissions: {packages: write}", "github.head_ref")
	}, "workflows.head", gate.Problem, "inner.yml (job build)"},
	{"a workflow that cannot be read", func(_ *testing.T, c *clinic) { c.files[".github/workflows/x.yml"] = "a: *b\n" },
		"workflows.head", gate.Warning, "not read: x.yml"},
	{"another that may write", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/release.yml"] = "on: push\njobs:\n  out:\n    permissions: {contents: write}\n    steps: [{run: make}]\n"
	}, "workflows.write", gate.Warning, "release.yml (job out)"},
	{"another that writes by the repository's word", func(_ *testing.T, c *clinic) {
		c.files[".github/workflows/release.yml"] = "on: push\njobs:\n  out:\n    steps: [{run: make}]\n"
		c.answers["actions/permissions/workflow"] = map[string]any{"default_workflow_permissions": "write", "can_approve_pull_request_reviews": false}
	}, "workflows.write", gate.Warning, "release.yml (job out)"},
	{"settings out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"actions/permissions"} },
		"actions.enabled", gate.Unknown, "the token may not read the settings of Actions: it needs the permission administration: read"},
	{"workflow settings out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"actions/permissions/workflow"} },
		"actions.approve", gate.Unknown, "administration: read"},
	{"files out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"git/**"} },
		"files.owned", gate.Unknown, "contents: read"},
	{"rules out of sight", func(_ *testing.T, c *clinic) { c.hide = []string{"rules/**"} },
		"ledger.rules", gate.Unknown, "metadata: read"},
}

// direct is the direct set-up.
func direct(_ *testing.T, c *clinic) {
	delete(c.files, reviewPath)
	c.files[workflowPath] = template("direct.yml", initOptions{branch: "main"}, actionPin{uses: pin})
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
				if d.Status == gate.Problem {
					want = exitRules
				}
			}
			if code != want {
				t.Errorf("exit code %d, not %d", code, want)
			}
		})
		if c.status != gate.Fine {
			seen[c.id] = true
		}
	}
	for _, d := range gate.Diagnose(&gate.Settings{}) {
		if !seen[d.ID] {
			t.Errorf("no case in which %s is not ok", d.ID)
		}
	}
}
