package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
)

// tokenAction is a step that makes a token of a GitHub App.
var tokenAction = pattern.New(`^actions/create-github-app-token@`)

// namedSecret is an expression that reads a secret.
var namedSecret = pattern.New(`\bsecrets\.([A-Za-z_][A-Za-z0-9_]*)`)

// appStep is the step of the gate's job that makes an App's token; false where there is none.
func (p *checkup) appStep() (ciStep, bool) {
	if p.job == nil {
		return ciStep{}, false
	}
	i := slices.IndexFunc(p.job.steps, func(s ciStep) bool { return tokenAction.MatchString(s.uses) })
	if i < 0 {
		return ciStep{}, false
	}
	return p.job.steps[i], true
}

// madeBy is the App whose token the action is given, 0 where the workflow does not say.
func (p *checkup) madeBy() int64 {
	step, _ := p.appStep()
	id, err := strconv.ParseInt(step.with["app-id"], 10, 64)
	if err != nil || !p.ownToken() {
		return 0
	}
	return id
}

// AppKey says where the gate's workflow takes its App's key from: the environment that its job names and the secret, ""
// where there is none.
func (s *Settings) AppKey() (environment, secret string) {
	p := newCheckup(s)
	if !p.ownToken() {
		return "", ""
	}
	return p.job.environment, p.keySecret()
}

// keySecret is the secret that the token is made of, or that it is.
func (p *checkup) keySecret() string {
	text := p.step.with["token"]
	if step, there := p.appStep(); there {
		text = step.with["private-key"]
	}
	if m := namedSecret.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func (p *checkup) appKey() doctorFinding {
	if !p.ownToken() {
		return finef("the action does not use an App's token")
	}
	key, place := p.keySecret(), p.job.environment
	if key == "" {
		key = "its token"
	}
	if place == "" {
		return warnf("%s is read without an environment: a workflow on any branch can read it too", key)
	}
	if f := p.whatIsHidden([]Source{FromEnvironment}); f.status != "" {
		return f
	}
	switch open := p.openBranches(); {
	case p.SecretOutside:
		return warnf("%s is also a secret of the repository: a workflow on any branch can read it", key)
	case p.Environment == nil:
		return warnf(
			"the environment %q does not exist: GitHub creates it, open to every branch, when a job first names it",
			place,
		)
	case open != "":
		return warnf("the environment %q is open to %s", place, open)
	}
	return finef("%s is kept in the environment %q, which is for %s alone", key, place, p.DefaultBranch)
}

// openBranches are those beside the default branch, and the merge queue's own, that may use the environment; "" if none
// may.
func (p *checkup) openBranches() string {
	if p.Environment == nil {
		return ""
	}
	switch {
	case p.Environment.Every:
		return "every branch"
	case p.Environment.Protected:
		return "every protected branch"
	}
	var open []string
	for _, pattern := range p.Environment.Branches {
		if pattern != p.DefaultBranch && pattern != "gh-readonly-queue/"+p.DefaultBranch+"/*" {
			open = append(open, pattern)
		}
	}
	return quotedList(open)
}

// roleAdmin is the id of the role of administrators in a ruleset.
const roleAdmin = 5

// actorWords name those whom a ruleset may let through.
var actorWords = map[string]string{
	"User":              "people by name",
	"Team":              "a team",
	"OrganizationAdmin": "the organisation's owners",
	"DeployKey":         "deploy keys",
	"EnterpriseOwner":   "the enterprise's owners",
}

// bypassWord names whom a ruleset lets through.
func (a BypassActor) bypassWord() string {
	switch {
	case a.Type == "Integration":
		return fmt.Sprintf("the app %d", a.ID)
	case a.Type == "RepositoryRole" && a.ID == roleAdmin:
		return "administrators"
	case a.Type == "RepositoryRole":
		return "a role of the repository"
	case actorWords[a.Type] != "":
		return actorWords[a.Type]
	}
	return a.Type
}

// ledgerPlace names the ledger's branch.
func (p *checkup) ledgerPlace() string {
	if p.LedgerRepository != "" {
		return "the branch " + p.LedgerBranch + " of " + p.LedgerRepository
	}
	return "the branch " + p.LedgerBranch
}

func (p *checkup) ledgerRules() doctorFinding {
	var may []string
	if !p.ledger.noDelete {
		may = append(may, "be deleted")
	}
	if !p.ledger.noForce {
		may = append(may, "be force-pushed")
	}
	good := finef("%s can be neither deleted nor force-pushed", p.ledgerPlace())
	switch who := p.rewriters(); {
	case len(who) > 0:
		good = warnf("%s can be deleted or force-pushed by %s", p.ledgerPlace(), strings.Join(who, " and "))
	case len(p.ledger.stops) > 0:
		good = warnf(
			"%s is held by %s: the gate's own push may be refused",
			p.ledgerPlace(),
			strings.Join(slices.Compact(slices.Sorted(slices.Values(p.ledger.stops))), ", "),
		)
	}
	return p.madeByEither(
		len(may) == 0,
		good,
		problemf("%s may %s", p.ledgerPlace(), strings.Join(may, " and ")),
		FromLedgerRules,
		FromLedgerProtection,
	)
}

// rewriters are those for whom the rules against deleting and force-pushing do not hold, as far as they can be seen.
func (p *checkup) rewriters() (who []string) {
	for _, kind := range []string{"deletion", "non_fast_forward"} {
		apps, others := p.letThrough(p.ledger.locksOf(kind))
		for _, id := range apps {
			who = append(who, BypassActor{ID: id, Type: "Integration"}.bypassWord())
		}
		who = append(who, others...)
	}
	slices.Sort(who)
	return slices.Compact(who)
}

// ledgerPush looks who may append to the ledger.
func (p *checkup) ledgerPush() doctorFinding {
	updates, creations := p.ledger.locksOf("update"), p.ledger.locksOf("creation")
	if len(updates) == 0 {
		return p.madeByEither(false, doctorFinding{}, p.ledgerOpen(), FromLedgerRules, FromLedgerProtection)
	}
	if f := p.whatIsHidden([]Source{FromLedgerBypass}); f.status != "" {
		return f
	}
	apps, others := p.letThrough(updates)
	switch f := p.ledgerApp(apps); {
	case f.status != "":
		return f
	case len(others) > 0:
		return warnf("besides the app %d, %s may push to %s", apps[0], strings.Join(others, " and "), p.ledgerPlace())
	case len(creations) == 0 && !slices.ContainsFunc(updates, func(l branchLock) bool { return l.older }):
		return warnf(
			"only the app %d may push to %s, and anybody may create it: the rule creation is missing",
			apps[0],
			p.ledgerPlace(),
		)
	}
	if made, _ := p.letThrough(creations); len(creations) > 0 && !slices.Contains(made, apps[0]) {
		return problemf("the app %d may push to %s, and may not create it", apps[0], p.ledgerPlace())
	}
	return finef("only the app %d may push to %s", apps[0], p.ledgerPlace())
}

// ledgerOpen is said where nothing keeps anybody who can push from the ledger.
func (p *checkup) ledgerOpen() doctorFinding {
	if p.ownToken() {
		return warnf("anybody with push access can append entries to %s, forged ones too", p.ledgerPlace())
	}
	return warnf(
		"anybody with push access can append entries to %s, forged ones too; with the workflow's own token this "+
			"cannot be stopped",
		p.ledgerPlace(),
	)
}

// ledgerApp says what is wrong with the apps that may push, if anything is.
func (p *checkup) ledgerApp(apps []int64) doctorFinding {
	made := p.madeBy()
	switch {
	case len(apps) == 0:
		return problemf("no app may push to %s: the gate's own push is refused", p.ledgerPlace())
	case slices.ContainsFunc(apps, p.isActions) && p.ownToken():
		return warnf("GitHub Actions may push to %s: any workflow of the repository can", p.ledgerPlace())
	case slices.ContainsFunc(apps, p.isActions):
		return warnf(
			"any workflow of the repository can push to %s, as GitHub Actions; with the workflow's own token this "+
				"cannot be stopped",
			p.ledgerPlace(),
		)
	case p.job != nil && !p.ownToken():
		return problemf(
			"only the app %d may push to %s, but the action does not use its token: the gate's own push is refused",
			apps[0],
			p.ledgerPlace(),
		)
	case made > 0 && !slices.Contains(apps, made):
		return problemf(
			"only the app %d may push to %s, but the action uses a token of the app %d: the gate's own push "+
				"is refused",
			apps[0],
			p.ledgerPlace(),
			made,
		)
	case len(apps) > 1:
		return warnf("the apps %s may push to %s", numbers(apps), p.ledgerPlace())
	}
	return doctorFinding{}
}

// letThrough is whom all of the locks let through: the apps, and the others in words. What a lock lets through only
// with a pull request counts for the others, and not for an app, which has to push.
func (p *checkup) letThrough(locks []branchLock) (apps []int64, others []string) {
	for i, l := range locks {
		actors := l.actors
		if !l.older {
			actors = p.LedgerBypass[l.ruleset]
		}
		var may []int64
		var who []string
		for _, a := range actors {
			if a.Type == "Integration" && a.Mode != "pull_request" {
				may = append(may, a.ID)
			} else {
				who = append(who, a.bypassWord())
			}
		}
		if i == 0 {
			apps, others = may, who
			continue
		}
		apps = slices.DeleteFunc(apps, func(id int64) bool { return !slices.Contains(may, id) })
		others = slices.DeleteFunc(others, func(w string) bool { return !slices.Contains(who, w) })
	}
	slices.Sort(apps)
	slices.Sort(others)
	return slices.Compact(apps), slices.Compact(others)
}
