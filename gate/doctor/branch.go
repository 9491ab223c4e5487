package doctor

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
	locks    []branchLock
}

// branchLock is a rule that lets only some do something to a branch.
type branchLock struct {
	kind    string // creation, update, deletion, non_fast_forward
	ruleset int64
	actors  []BypassActor
	older   bool // it is of the older protection, which says itself whom it lets through
}

// locksOf are the locks of one kind.
func (d *branchDemands) locksOf(kind string) []branchLock {
	return slices.DeleteFunc(slices.Clone(d.locks), func(l branchLock) bool { return l.kind != kind })
}

// actionsApp is the id of GitHub Actions on github.com, to which every check made with a workflow's own token belongs.
const actionsApp = 15368

// demandsOf adds up: where several rules say something, all of them hold, so that the strictest counts.
func demandsOf(rules []BranchRule, protection *BranchProtection) *branchDemands {
	d := &branchDemands{checks: map[string][]int64{}}
	for _, r := range rules {
		d.addRule(r)
	}
	if protection != nil {
		d.addProtection(protection)
	}
	return d
}

func (d *branchDemands) addRule(r BranchRule) {
	switch r.Type {
	case "creation", "update", "deletion", "non_fast_forward":
		d.locks = append(d.locks, branchLock{kind: r.Type, ruleset: r.Ruleset})
		d.noDelete, d.noForce = d.noDelete || r.Type == "deletion", d.noForce || r.Type == "non_fast_forward"
	case "merge_queue", "required_deployments", "workflows", "code_scanning":
		d.stops = append(d.stops, r.Type)
	case "pull_request":
		var p struct {
			Count  int  `json:"required_approving_review_count"`
			Stale  bool `json:"dismiss_stale_reviews_on_push"`
			Owners bool `json:"require_code_owner_review"`
		}
		if json.Unmarshal(r.Parameters, &p) == nil {
			d.addPullRule(p.Count, p.Stale, p.Owners)
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
				d.addCheck(c.Context, c.App)
			}
		}
		d.stops = append(d.stops, r.Type)
	}
}

func (d *branchDemands) addProtection(p *BranchProtection) {
	for kind, allowed := range map[string]bool{
		"deletion": p.Deletions.Enabled, "non_fast_forward": p.ForcePushes.Enabled,
	} {
		if !allowed {
			d.locks = append(d.locks, branchLock{kind: kind, older: true})
		}
	}
	d.noDelete = d.noDelete || !p.Deletions.Enabled
	d.noForce = d.noForce || !p.ForcePushes.Enabled
	if p.Pushers != nil {
		d.locks = append(d.locks, p.lock())
	}
	if p.Reviews != nil {
		d.addPullRule(p.Reviews.Count, p.Reviews.Stale, p.Reviews.Owners)
		d.stops = append(d.stops, "pull requests")
	}
	if p.Checks != nil {
		for _, name := range p.Checks.Contexts {
			d.addCheck(name, nil)
		}
		for _, c := range p.Checks.Checks {
			d.addCheck(c.Context, c.App)
		}
		d.stops = append(d.stops, "required checks")
	}
}

// lock is what the older protection says of who may push; it holds for administrators where it says so.
func (p *BranchProtection) lock() branchLock {
	l := branchLock{kind: "update", older: true}
	for _, app := range p.Pushers.Apps {
		l.actors = append(l.actors, BypassActor{ID: app.ID, Type: "Integration", Mode: "always"})
	}
	for _, who := range []struct {
		there bool
		actor BypassActor
	}{
		{len(p.Pushers.Users) > 0, BypassActor{Type: "User"}},
		{len(p.Pushers.Teams) > 0, BypassActor{Type: "Team"}},
		{!p.Admins.Enabled, BypassActor{ID: roleAdmin, Type: "RepositoryRole"}},
	} {
		if who.there {
			who.actor.Mode = "always"
			l.actors = append(l.actors, who.actor)
		}
	}
	return l
}

func (d *branchDemands) addPullRule(count int, stale, owners bool) {
	d.count, d.stale, d.owners = max(d.count, count), d.stale || stale, d.owners || owners
}

func (d *branchDemands) addCheck(name string, app *int64) {
	apps := d.checks[name]
	if app != nil && *app > 0 && !slices.Contains(apps, *app) {
		apps = append(apps, *app)
	}
	d.checks[name] = apps
}

func (p *checkup) reviewsRequired() doctorFinding {
	need := p.config.Approval.Count
	if p.rules.count > 0 && p.rules.count < need {
		return p.madeByEither(
			false,
			doctorFinding{},
			warnf("%d of the %d approvals of approval.count are required on %s", p.rules.count, need, p.DefaultBranch),
			FromRules,
			FromProtection,
		)
	}
	return p.madeByEither(p.rules.count >= need, finef("approvals required on %s: %d", p.DefaultBranch, p.rules.count),
		problemf("no approval is required on %s", p.DefaultBranch), FromRules, FromProtection)
}

func (p *checkup) reviewsStale() doctorFinding {
	return p.madeByEither(
		p.rules.stale,
		finef("an approval is dismissed when something is pushed"),
		problemf("an approval stays valid after a push to the pull request"),
		FromRules,
		FromProtection,
	)
}

func (p *checkup) actionsEnabled() doctorFinding {
	if !p.Actions.Enabled {
		return problemf("Actions are turned off")
	}
	return finef("Actions are on")
}

func (p *checkup) actionsApprove() doctorFinding {
	if p.Workflows.Approve {
		return problemf("workflows may create and approve pull requests")
	}
	return finef("workflows may not approve pull requests")
}

func (p *checkup) actionsToken() doctorFinding {
	if p.Workflows.Token != "read" {
		return warnf("a workflow's token may write where the workflow does not say otherwise")
	}
	return finef("a workflow's token may only read where the workflow does not say otherwise")
}

// quotedList is names in quotes, with commas.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}
