package doctor

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/pattern"
)

// ciWorkflow is a workflow file, as far as it matters what it may do and with whose files.
type ciWorkflow struct {
	path    string
	name    string
	runName string
	events  map[string]any // by name, with their filters
	grant   ciGrant
	jobs    []*ciJob
}

// ciJob is one job of a workflow.
type ciJob struct {
	id, name    string
	uses        string // another workflow that it is
	environment string
	grant       ciGrant
	steps       []ciStep
}

// ciStep is one step of a job.
type ciStep struct {
	uses, run string
	with      map[string]string
}

// ciGrant is what a permissions key says; nil where there is none.
type ciGrant map[string]string

// checkName is the name of the check that GitHub makes of a job.
func (j *ciJob) checkName() string {
	if j.name != "" {
		return j.name
	}
	return j.id
}

// parseWorkflow reads a workflow file, leniently: what it does not know cannot matter to it.
func parseWorkflow(file string, src []byte) (*ciWorkflow, error) {
	v, err := config.ReadPlainYAML(src)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is no mapping")
	}
	w := &ciWorkflow{
		path:    file,
		name:    textValue(m["name"]),
		runName: textValue(m["run-name"]),
		events:  eventsOf(m["on"]),
		grant:   grantOf(m),
	}
	if w.name == "" {
		w.name = file // as GitHub does
	}
	jobs, _ := m["jobs"].(map[string]any)
	if len(w.events) == 0 || len(jobs) == 0 {
		return nil, errors.New("it has no events, or no jobs")
	}
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		job, _ := jobs[id].(map[string]any)
		w.jobs = append(w.jobs, jobOf(id, job))
	}
	return w, nil
}

func jobOf(id string, m map[string]any) *ciJob {
	j := &ciJob{
		id:          id,
		name:        textValue(m["name"]),
		uses:        textValue(m["uses"]),
		environment: textValue(m["environment"]),
		grant:       grantOf(m),
	}
	if place, is := m["environment"].(map[string]any); is {
		j.environment = textValue(place["name"])
	}
	steps, _ := m["steps"].([]any)
	for _, s := range steps {
		step, _ := s.(map[string]any)
		with, _ := step["with"].(map[string]any)
		out := ciStep{uses: textValue(step["uses"]), run: textValue(step["run"]), with: map[string]string{}}
		for key, value := range with {
			out.with[key] = textValue(value)
		}
		j.steps = append(j.steps, out)
	}
	return j
}

// textValue is a text, "" where something else stands.
func textValue(v any) string {
	s, _ := v.(string)
	return s
}

// eventsOf reads `on`: one name, a list of names, or names with filters.
func eventsOf(v any) map[string]any {
	events := map[string]any{}
	switch v := v.(type) {
	case string:
		events[v] = nil
	case []any:
		for _, name := range v {
			events[textValue(name)] = nil
		}
	case map[string]any:
		return v
	}
	return events
}

// grantOf reads `permissions`: read-all, write-all, or scopes; what is not named there is not granted.
func grantOf(m map[string]any) ciGrant {
	v, there := m["permissions"]
	if !there {
		return nil
	}
	g := ciGrant{}
	switch v := v.(type) {
	case string:
		g["*"] = strings.TrimSuffix(v, "-all")
	case map[string]any:
		for scope, level := range v {
			g[scope] = textValue(level)
		}
	}
	return g
}

// levelOf is what a grant says of a scope.
func (g ciGrant) levelOf(scope string) string {
	if level, there := g[scope]; there {
		return level
	}
	return g["*"]
}

// mayWrite reports whether a grant lets anything be written.
func (g ciGrant) mayWrite() bool {
	for _, level := range g {
		if level == "write" {
			return true
		}
	}
	return false
}

// grantFor is what a job's token may do: what the job says, else what the workflow says, else what the repository says.
// sure is false where the repository's settings cannot be seen; then it may write.
func (p *checkup) grantFor(w *ciWorkflow, j *ciJob) (g ciGrant, sure bool) {
	switch {
	case j.grant != nil:
		return j.grant, true
	case w.grant != nil:
		return w.grant, true
	}
	if _, hidden := p.Hidden[FromWorkflows]; hidden {
		return ciGrant{"*": "write"}, false
	}
	return ciGrant{"*": p.Workflows.Token}, true
}

// workflowFile is the name of a file that GitHub reads as a workflow.
var workflowFile = pattern.New(`^\.github/workflows/[^/]+\.ya?ml$`)

// gateFile is where `referee init` writes the workflow that runs the gate.
const gateFile = ".github/workflows/referee.yml"

// gateAction is a step that runs the gate: this action under whatever account, or its image.
var gateAction = pattern.New(`^(?:[A-Za-z0-9-]+/referee@|docker://[^ ]*/referee[:@])`)

// readWorkflows reads every workflow and finds the one that runs the gate: the first by that name, or else by name.
func (p *checkup) readWorkflows() {
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		if !workflowFile.MatchString(file) {
			continue
		}
		w, err := parseWorkflow(file, p.Files[file])
		if err != nil {
			p.broken = append(p.broken, path.Base(file)+": "+err.Error())
			continue
		}
		p.workflows = append(p.workflows, w)
		if p.gate == nil || file == gateFile {
			p.findGate(w)
		}
	}
}

func (p *checkup) findGate(w *ciWorkflow) {
	for _, j := range w.jobs {
		for _, s := range j.steps {
			if gateAction.MatchString(s.uses) || w.path == gateFile && strings.HasPrefix(s.uses, "./") {
				p.gate, p.job, p.step = w, j, s
				return
			}
		}
	}
}
