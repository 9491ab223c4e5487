package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// branchDemands are what rulesets and the older protection together demand of a branch.
type branchDemands struct {
	checks   map[string][]int64 // required checks, with the apps that they must come from; none: any source
	count    int                // of approvals
	stale    bool
	owners   bool
	noDelete bool
	noForce  bool
	stops    []string // what would stop a push of the gate's own
}

// actionsApp is the id of GitHub Actions on github.com, to which every check made with a workflow's own token belongs.
const actionsApp = 15368

// demandsOf adds up: where several rules say something, all of them hold, so that the strictest counts.
func demandsOf(rules []BranchRule, protection *BranchProtection) *branchDemands {
	d := &branchDemands{checks: map[string][]int64{}}
	for _, r := range rules {
		d.rule(r)
	}
	if protection != nil {
		d.protection(protection)
	}
	return d
}

func (d *branchDemands) rule(r BranchRule) {
	switch r.Type {
	case "deletion":
		d.noDelete = true
	case "non_fast_forward":
		d.noForce = true
	case "creation", "update", "merge_queue", "required_deployments", "workflows", "code_scanning":
		d.stops = append(d.stops, r.Type)
	case "pull_request":
		var p struct {
			Count  int  `json:"required_approving_review_count"`
			Stale  bool `json:"dismiss_stale_reviews_on_push"`
			Owners bool `json:"require_code_owner_review"`
		}
		if json.Unmarshal(r.Parameters, &p) == nil {
			d.pulls(p.Count, p.Stale, p.Owners)
		}
		d.stops = append(d.stops, r.Type)
	case "required_status_checks":
		var p struct {
			Checks []struct {
				Context string `json:"context"`
				App     *int64 `json:"integration_id"`
			} `json:"required_status_checks"`
		}
		if json.Unmarshal(r.Parameters, &p) == nil {
			for _, c := range p.Checks {
				d.check(c.Context, c.App)
			}
		}
		d.stops = append(d.stops, r.Type)
	}
}

func (d *branchDemands) protection(p *BranchProtection) {
	d.noDelete = d.noDelete || !p.Deletions.Enabled
	d.noForce = d.noForce || !p.ForcePushes.Enabled
	if p.Reviews != nil {
		d.pulls(p.Reviews.Count, p.Reviews.Stale, p.Reviews.Owners)
		d.stops = append(d.stops, "pull requests")
	}
	if p.Checks != nil {
		for _, name := range p.Checks.Contexts {
			d.check(name, nil)
		}
		for _, c := range p.Checks.Checks {
			d.check(c.Context, c.App)
		}
		d.stops = append(d.stops, "required checks")
	}
}

func (d *branchDemands) pulls(count int, stale, owners bool) {
	d.count, d.stale, d.owners = max(d.count, count), d.stale || stale, d.owners || owners
}

func (d *branchDemands) check(name string, app *int64) {
	apps := d.checks[name]
	if app != nil && *app > 0 && !slices.Contains(apps, *app) {
		apps = append(apps, *app)
	}
	d.checks[name] = apps
}

// auditNames are what the audit may be required as: the job that runs it, or the check that it makes.
func (p *checkup) auditNames() []string {
	if p.job == nil {
		return []string{AuditCheck}
	}
	return []string{p.job.check(), AuditCheck}
}

// requiredNames are the gate's own checks among those that are required, and those that are missing.
func (p *checkup) requiredNames() (have, missing []string) {
	for _, names := range [][]string{p.auditNames(), {SignOffCheck}} {
		i := slices.IndexFunc(names, func(name string) bool { _, there := p.rules.checks[name]; return there })
		if i < 0 {
			missing = append(missing, names[0])
			continue
		}
		have = append(have, names[i])
	}
	return have, missing
}

func (p *checkup) checksRequired() doctorFinding {
	have, missing := p.requiredNames()
	return p.either(len(missing) == 0, fine("%s are required on %s", quotedList(have), p.DefaultBranch),
		problem("not required on %s: %s", p.DefaultBranch, quotedList(missing)), FromRules, FromProtection)
}

func (p *checkup) checksSource() doctorFinding {
	have, _ := p.requiredNames()
	if len(have) == 0 {
		return p.either(false, doctorFinding{}, warn("neither of the gate's checks is required yet"), FromRules, FromProtection)
	}
	var open []string
	for _, name := range have {
		if len(p.rules.checks[name]) == 0 {
			open = append(open, name)
		}
	}
	return p.either(len(open) == 0, fine("%s must come from an app that is named", quotedList(have)),
		problem("from any source: %s", quotedList(open)), FromRules, FromProtection)
}

func (p *checkup) checksToken() doctorFinding {
	apps := p.rules.checks[SignOffCheck]
	ofActions := slices.ContainsFunc(apps, p.isActions)
	switch own := p.ownToken(); {
	case ofActions && own:
		return problem("%q is required of GitHub Actions, and the action is given another token: it will never come", SignOffCheck)
	case len(apps) > 0 && !ofActions && p.job != nil && !own:
		return problem("%q is required of the app %d, and the action is given no token of it: it will never come", SignOffCheck, apps[0])
	case len(apps) > 0 && !ofActions:
		return fine("%q is required of the app %d", SignOffCheck, apps[0])
	case own:
		return p.either(false, doctorFinding{}, warn("the action is given a token of its own, and nothing requires %q of its app", SignOffCheck), FromRules, FromProtection)
	}
	return p.either(false, doctorFinding{}, warn("the checks are made with the workflow's own token, and can be forged"), FromFiles, FromRules, FromProtection)
}

// isActions reports whether an app is GitHub Actions: on github.com by its id, elsewhere because the job's own check is required of it.
func (p *checkup) isActions(app int64) bool {
	return app == actionsApp || p.job != nil && slices.Contains(p.rules.checks[p.job.check()], app)
}

// ownToken reports whether the action is given another token than the job's.
func (p *checkup) ownToken() bool {
	token := p.step.with["token"]
	return token != "" && !strings.Contains(token, "github.token") && !strings.Contains(token, "secrets.GITHUB_TOKEN")
}

func (p *checkup) reviewsRequired() doctorFinding {
	need := p.config.Approval.Count
	if p.rules.count > 0 && p.rules.count < need {
		return p.either(false, doctorFinding{}, warn("%d of the %d approvals of approval.count are required on %s", p.rules.count, need, p.DefaultBranch), FromRules, FromProtection)
	}
	return p.either(p.rules.count >= need, fine("approvals required on %s: %d", p.DefaultBranch, p.rules.count),
		problem("no approval is required on %s", p.DefaultBranch), FromRules, FromProtection)
}

func (p *checkup) reviewsStale() doctorFinding {
	return p.either(p.rules.stale, fine("an approval is dismissed when something is pushed"), problem("an approval outlives a push to the pull request"), FromRules, FromProtection)
}

func (p *checkup) ledgerRules() doctorFinding {
	where := "the branch " + p.LedgerBranch
	if p.LedgerRepository != "" {
		where += " of " + p.LedgerRepository
	}
	var may []string
	if !p.ledger.noDelete {
		may = append(may, "be deleted")
	}
	if !p.ledger.noForce {
		may = append(may, "be force-pushed")
	}
	good := fine("%s can be neither deleted nor force-pushed", where)
	if len(p.ledger.stops) > 0 {
		good = warn("%s is held by %s: the gate's own push may be refused", where, strings.Join(slices.Compact(slices.Sorted(slices.Values(p.ledger.stops))), ", "))
	}
	return p.either(len(may) == 0, good, problem("%s may %s", where, strings.Join(may, " and ")), FromLedgerRules, FromLedgerProtection)
}

func (p *checkup) actionsEnabled() doctorFinding {
	if !p.Actions.Enabled {
		return problem("Actions are turned off")
	}
	return fine("Actions are on")
}

func (p *checkup) actionsApprove() doctorFinding {
	if p.Workflows.Approve {
		return problem("workflows may create and approve pull requests")
	}
	return fine("workflows may not approve pull requests")
}

func (p *checkup) actionsToken() doctorFinding {
	if p.Workflows.Token != "read" {
		return warn("a workflow's token may write where the workflow does not say otherwise")
	}
	return fine("a workflow's token may only read where the workflow does not say otherwise")
}

// quotedList is names in quotes, with commas.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}
