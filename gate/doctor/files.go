package doctor

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/pattern"
)

// trigger is the workflow whose end starts the gate after a review, nil where there is none.
func (p *checkup) trigger() *ciWorkflow {
	if p.gate == nil {
		return nil
	}
	filters, _ := p.gate.events["workflow_run"].(map[string]any)
	names := eventsOf(filters["workflows"])
	for _, w := range p.workflows {
		_, named := names[w.name]
		if _, reviews := w.events["pull_request_review"]; named && reviews {
			return w
		}
	}
	return nil
}

// direct reports whether the gate runs from the pull request's own workflow file only.
func (p *checkup) direct() bool {
	_, target := p.gate.events["pull_request_target"]
	_, own := p.gate.events["pull_request"]
	return own && !target
}

func (p *checkup) workflowPresent() doctorFinding {
	switch {
	case p.gate == nil && p.Files[gateFile] != nil && len(p.broken) > 0:
		return problemf("no workflow on %s runs the gate; %s", p.DefaultBranch, strings.Join(p.broken, "; "))
	case p.gate == nil && p.Files[gateFile] != nil:
		return problemf("%s on %s does not use the action", gateFile, p.DefaultBranch)
	case p.gate == nil && p.Local[gateFile]:
		return problemf("%s is in the working tree but not on %s: merge it first", gateFile, p.DefaultBranch)
	case p.gate == nil:
		return problemf("no workflow on %s runs the gate", p.DefaultBranch)
	case p.direct():
		return finef("%s runs the gate", path.Base(p.gate.path))
	case p.trigger() == nil:
		return problemf(
			"%s runs the gate, but no workflow on pull_request_review starts it after a review",
			path.Base(p.gate.path),
		)
	}
	return finef("%s runs the gate, %s starts it after a review", path.Base(p.gate.path), path.Base(p.trigger().path))
}

func (p *checkup) workflowEvents() doctorFinding {
	if p.gate == nil {
		return problemf("no workflow runs the gate")
	}
	if p.direct() && p.Private {
		return warnf("the direct set-up: %s runs on pull_request", path.Base(p.gate.path))
	}
	if p.direct() {
		return problemf("the direct set-up in a public repository: %s runs on pull_request", path.Base(p.gate.path))
	}
	var missing, extra []string
	for _, event := range []string{"pull_request_target", "workflow_run"} {
		if _, there := p.gate.events[event]; !there {
			missing = append(missing, event)
		}
	}
	for _, event := range []string{"pull_request", "pull_request_review"} {
		if _, there := p.gate.events[event]; there {
			extra = append(extra, event)
		}
	}
	switch {
	case len(missing) > 0:
		return problemf("%s does not run on %s", path.Base(p.gate.path), strings.Join(missing, " and "))
	case len(extra) > 0:
		return problemf("%s also runs on %s", path.Base(p.gate.path), strings.Join(extra, " and "))
	}
	for _, event := range []string{"merge_group", "push", "schedule"} {
		if _, there := p.gate.events[event]; !there {
			missing = append(missing, event)
		}
	}
	missing = append(missing, p.missingTypes()...)
	if len(missing) > 0 {
		return warnf("%s does not run on %s", path.Base(p.gate.path), strings.Join(missing, ", "))
	}
	return finef("%s runs on the default branch's own file", path.Base(p.gate.path))
}

// pullTypes are what happens to a pull request that the gate acts on. Without types GitHub takes the first three.
var pullTypes = []string{"opened", "synchronize", "reopened", "ready_for_review", "edited", "closed"}

// missingTypes are the types of the pull request's event that the workflow leaves out.
func (p *checkup) missingTypes() (missing []string) {
	have := pullTypes[:3]
	if filters, _ := p.gate.events["pull_request_target"].(map[string]any); filters["types"] != nil {
		have = slices.Collect(maps.Keys(eventsOf(filters["types"])))
	}
	for _, kind := range pullTypes {
		if !slices.Contains(have, kind) {
			missing = append(missing, "pull_request_target "+kind)
		}
	}
	return missing
}

// RunName is the run-name of the gate's workflow: the title of a run that somebody started by hand says for which pull
// request, head and digest. A sign-off by hand is bound to it; every other run keeps the title that GitHub gives it.
const RunName = `${{ github.event_name == 'workflow_dispatch' && ` +
	`format('referee {0} pr={1} head={2} digest={3}', inputs.mode, inputs.pr, inputs.head, inputs.digest) || '' }}`

// signInputs are the inputs that a sign-off by hand needs.
var signInputs = []string{"mode", "pr", "head", "digest", "commands"}

// workflowSelfSign looks whether a sign-off by hand can be bound to what its run was started for, where the
// configuration allows one.
func (p *checkup) workflowSelfSign() doctorFinding {
	switch {
	case !p.config.Approval.SelfSign:
		return finef("nobody signs off by hand: approval.self_sign is false")
	case p.gate == nil:
		return problemf("no workflow runs the gate")
	case strings.Join(strings.Fields(p.gate.runName), " ") != RunName:
		return problemf(
			"approval.self_sign is true, but the run-name of %s does not say what a run was started for",
			path.Base(p.gate.path),
		)
	}
	dispatch, _ := p.gate.events["workflow_dispatch"].(map[string]any)
	inputs, _ := dispatch["inputs"].(map[string]any)
	var missing []string
	for _, name := range signInputs {
		if _, there := inputs[name]; !there {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return problemf(
			"approval.self_sign is true, but workflow_dispatch of %s lacks the inputs %s",
			path.Base(p.gate.path),
			strings.Join(missing, ", "),
		)
	}
	return finef("a sign-off by hand is bound to the head and the digest that its run was started for")
}

// gateNeeds is what the gate's job may do.
var gateNeeds = []struct{ scope, level string }{
	{"contents", "write"},
	{"checks", "write"},
	{"pull-requests", "write"},
	{"issues", "write"},
	{"actions", "read"},
}

func (p *checkup) workflowPermissions() doctorFinding {
	if p.gate == nil {
		return problemf("no workflow runs the gate")
	}
	if p.ownToken() {
		return finef("%s works with a token of its own", path.Base(p.gate.path))
	}
	grant, sure := p.grantFor(p.gate, p.job)
	if !sure {
		return doctorFinding{
			Unknown,
			path.Base(
				p.gate.path,
			) + " says nothing of its permissions, and the token may not read the repository's: it needs " +
				p.Hidden[FromWorkflows],
		}
	}
	var missing []string
	for _, need := range gateNeeds {
		if level := grant.levelOf(need.scope); level != need.level && level != "write" {
			missing = append(missing, need.scope+": "+need.level)
		}
	}
	if len(missing) > 0 {
		return problemf("%s lacks %s", path.Base(p.gate.path), strings.Join(missing, ", "))
	}
	return finef("%s has what the gate needs", path.Base(p.gate.path))
}

var (
	pinnedAction = pattern.New(`@(?:[0-9a-f]{40}|sha256:[0-9a-f]{64})$`)
	versionTag   = pattern.New(`[@:]v?[0-9]+\.[0-9]+\.[0-9]+$`)
)

func (p *checkup) actionPinned() doctorFinding {
	switch uses := p.step.uses; {
	case p.job == nil:
		return problemf("no workflow runs the gate")
	case strings.HasPrefix(uses, "./"):
		return finef("the action is this repository's own")
	case pinnedAction.MatchString(uses):
		return finef("the action is pinned to %.12s", uses[strings.LastIndexAny(uses, "@:")+1:])
	case versionTag.MatchString(uses):
		return warnf("%q names a tag", uses)
	default:
		return problemf("%q can be moved: it does not name a commit", uses)
	}
}

func (p *checkup) configReads() doctorFinding {
	_, there := p.Files[config.Path]
	switch {
	case p.configErr != nil:
		return problemf("%s", p.configErr)
	case !slices.Contains(p.config.Branches, p.DefaultBranch):
		return problemf(
			"branches is %s: the default branch %s is not gated",
			quotedList(p.config.Branches),
			p.DefaultBranch,
		)
	case !there && p.Local[config.Path]:
		return warnf("%s is in the working tree but not on %s: the defaults apply", config.Path, p.DefaultBranch)
	case !there:
		return finef("no file, so the defaults apply")
	}
	return finef("%s is understood", config.Path)
}

// fromHead are expressions that name the pull request's own commit.
var fromHead = pattern.New(
	`github\.event\.pull_request\.(head|merge_commit_sha)|github\.head_ref|refs/pull/|` +
		`workflow_run\.(head_|pull_requests)|github\.event\.(number|issue\.number|pull_request\.number)`,
)

// fromBase are expressions that name what the repository itself holds.
var fromBase = pattern.New(
	`\$\{\{\s*github\.(sha|ref|ref_name|base_ref|repository|` +
		`event\.pull_request\.base\.\w+|event\.repository\.default_branch)\s*\}\}`,
)

// headCommand are shell commands that fetch it.
var headCommand = pattern.New(
	`gh pr checkout|git [^\n]*pull/[^\n]*/(head|merge)|git ` +
		`[^\n]*(github\.event\.pull_request\.head|github\.head_ref|workflow_run\.head_)`,
)

// takesHead reports whether a step brings the pull request's files: 2 surely, 1 perhaps, where an expression cannot be
// followed.
func (s ciStep) takesHead() int {
	if headCommand.MatchString(s.run) {
		return 2
	}
	if !strings.HasPrefix(s.uses, "actions/checkout@") {
		return 0
	}
	from := s.with["ref"] + " " + s.with["repository"]
	switch {
	case fromHead.MatchString(from):
		return 2
	case strings.Contains(from, "${{") && !fromBase.MatchString(from):
		return 1
	}
	return 0
}

// privileged are the events whose token may write although somebody else began them.
var privileged = []string{"pull_request_target", "workflow_run", "issue_comment"}

// trusted are the workflows that run with this repository's token whoever began them, and those that they call.
func (p *checkup) trusted() []*ciWorkflow {
	var out []*ciWorkflow
	called := map[string]bool{}
	for _, w := range p.workflows {
		if slices.ContainsFunc(privileged, func(e string) bool { _, there := w.events[e]; return there }) {
			out = append(out, w)
			for _, j := range w.jobs {
				called[strings.TrimPrefix(j.uses, "./")] = true
			}
		}
	}
	for _, w := range p.workflows {
		if called[w.path] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (p *checkup) workflowsHead() doctorFinding {
	var surely, perhaps []string
	for _, w := range p.trusted() {
		for _, j := range w.jobs {
			grant, sure := p.grantFor(w, j)
			takes := 0
			for _, s := range j.steps {
				takes = max(takes, s.takesHead())
			}
			where := path.Base(w.path) + " (job " + j.id + ")"
			switch {
			case takes == 0 || !grant.mayWrite():
			case takes == 2 && sure:
				surely = append(surely, where)
			default:
				perhaps = append(perhaps, where)
			}
		}
	}
	switch {
	case len(surely) > 0:
		return problemf(
			"with a token that may write, the pull request is checked out by %s",
			strings.Join(surely, ", "),
		)
	case len(perhaps) > 0:
		return warnf(
			"with a token that may write, the pull request may be checked out by %s",
			strings.Join(perhaps, ", "),
		)
	case len(p.broken) > 0:
		return warnf("not read: %s", strings.Join(p.broken, "; "))
	}
	return finef("no workflow with a token that may write checks a pull request out")
}

func (p *checkup) workflowsWrite() doctorFinding {
	var may []string
	for _, w := range p.workflows {
		for _, j := range w.jobs {
			if grant, _ := p.grantFor(w, j); w != p.gate && grant.levelOf("contents") == "write" {
				may = append(may, path.Base(w.path)+" (job "+j.id+")")
			}
		}
	}
	if len(may) > 0 {
		return warnf("contents: write, besides the gate: %s", strings.Join(may, ", "))
	}
	if len(p.broken) > 0 {
		return warnf("not read: %s", strings.Join(p.broken, "; "))
	}
	return finef("only the gate may write contents")
}
