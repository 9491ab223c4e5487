package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/comment"
)

// requiredNames are the two checks of the gate among those that are required, and those that are missing. The job that
// makes them is neither: its conclusion is that of its own event, and stays red when a later review accepts what it
// found.
func (p *checkup) requiredNames() (have, missing []string) {
	for _, name := range []string{comment.AuditCheck, comment.SignOffCheck} {
		if _, there := p.rules.checks[name]; there {
			have = append(have, name)
		} else {
			missing = append(missing, name)
		}
	}
	return have, missing
}

func (p *checkup) checksRequired() doctorFinding {
	have, missing := p.requiredNames()
	return p.madeByEither(len(missing) == 0, finef("%s are required on %s", quotedList(have), p.DefaultBranch),
		problemf("not required on %s: %s", p.DefaultBranch, quotedList(missing)), FromRules, FromProtection)
}

// checksJob looks whether a job that runs the gate is required beside, or in the place of, the checks that it makes.
func (p *checkup) checksJob() doctorFinding {
	if p.job == nil {
		return problemf("no workflow runs the gate")
	}
	if _, required := p.rules.checks[p.job.checkName()]; required {
		return warnf(
			"the job %q is required on %s, and stays red after a later /accept",
			p.job.checkName(),
			p.DefaultBranch,
		)
	}
	return p.madeByEither(
		false,
		doctorFinding{},
		finef("the job %q is not required", p.job.checkName()),
		FromRules,
		FromProtection,
	)
}

// checksNames looks for jobs whose check has the name of one of the gate's: both belong to one app, and GitHub takes
// the newer for the other.
func (p *checkup) checksNames() doctorFinding {
	var taken []string
	for _, w := range p.workflows {
		for _, j := range w.jobs {
			for _, name := range []string{comment.AuditCheck, comment.SignOffCheck} {
				caller, called, _ := strings.Cut(name, " / ") // as GitHub names a job of a called workflow
				if strings.EqualFold(j.checkName(), name) ||
					j.uses != "" && strings.EqualFold(j.checkName(), caller) && p.mayName(j.uses, called) {
					taken = append(taken, fmt.Sprintf("%s (job %s): %q", path.Base(w.path), j.id, name))
				}
			}
		}
	}
	if len(taken) > 0 {
		return problemf("a job makes a check under the gate's own name: %s", strings.Join(taken, ", "))
	}
	if len(p.broken) > 0 {
		return warnf("not read: %s", strings.Join(p.broken, "; "))
	}
	return finef("no job makes a check under a name of the gate's")
}

// mayName reports whether a called workflow has, or may have, a job whose check is called so: one of another repository
// is not seen.
func (p *checkup) mayName(uses, name string) bool {
	for _, w := range p.workflows {
		if w.path == strings.TrimPrefix(uses, "./") {
			return slices.ContainsFunc(w.jobs, func(j *ciJob) bool { return strings.EqualFold(j.checkName(), name) })
		}
	}
	return true
}

func (p *checkup) checksSource() doctorFinding {
	have, _ := p.requiredNames()
	if len(have) == 0 {
		return p.madeByEither(
			false,
			doctorFinding{},
			warnf("neither of the gate's checks is required yet"),
			FromRules,
			FromProtection,
		)
	}
	var open []string
	for _, name := range have {
		if len(p.rules.checks[name]) == 0 {
			open = append(open, name)
		}
	}
	return p.madeByEither(len(open) == 0, finef("%s must come from a named app", quotedList(have)),
		problemf("from any source: %s", quotedList(open)), FromRules, FromProtection)
}

// checksToken holds the apps that the checks are required of to the one whose token makes them.
func (p *checkup) checksToken() doctorFinding {
	own := p.ownToken()
	all := p.requiredApps()
	others := slices.DeleteFunc(slices.Clone(all), p.isActions)
	switch made := p.madeBy(); {
	case len(all) > 1:
		return problemf("the checks are required of the apps %s, but one token makes them all", numbers(all))
	case own && len(all) > len(others):
		return problemf(
			"the checks are required of GitHub Actions, but the action uses another token: they will never arrive",
		)
	case len(others) > 0 && p.job != nil && !own:
		return problemf(
			"the checks are required of the app %d, but the action does not use its token: they will never arrive",
			others[0],
		)
	case len(others) > 0 && made > 0 && made != others[0]:
		return problemf(
			"the checks are required of the app %d, but the action uses a token of the app %d: they will "+
				"never arrive",
			others[0],
			made,
		)
	case len(others) > 0:
		return finef("the checks are required of the app %d", others[0])
	case own:
		return p.madeByEither(
			false,
			doctorFinding{},
			warnf("the action uses a token of its own, but nothing requires the checks of its app"),
			FromRules,
			FromProtection,
		)
	}
	return p.madeByEither(
		false,
		doctorFinding{},
		warnf("the checks are made with the workflow's own token and can be forged"),
		FromFiles,
		FromRules,
		FromProtection,
	)
}

// requiredApps are the apps that the gate's checks are required of.
func (p *checkup) requiredApps() []int64 {
	apps := slices.Concat(p.rules.checks[comment.AuditCheck], p.rules.checks[comment.SignOffCheck])
	slices.Sort(apps)
	return slices.Compact(apps)
}

// numbers is ids with commas.
func numbers(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ", ")
}

// isActions reports whether an app is GitHub Actions, whose id is another one on every server.
func (p *checkup) isActions(app int64) bool {
	if p.ActionsApp != 0 {
		return app == p.ActionsApp
	}
	return app == actionsApp
}

// ownToken reports whether the action is given another token than the job's.
func (p *checkup) ownToken() bool {
	token := p.step.with["token"]
	return token != "" && !strings.Contains(token, "github.token") && !strings.Contains(token, "secrets.GITHUB_TOKEN")
}
