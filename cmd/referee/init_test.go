package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/doctor"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
)

// The configuration that init writes says, key by key, what holds without it.
func TestInitConfiguration(t *testing.T) {
	text := setupTemplate("config.yml", initOptions{branch: "main"}, actionPin{})
	cfg, err := config.Parse([]byte(text), config.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg, config.Default()) {
		t.Errorf("it gives\n%+v, not\n%+v", cfg, config.Default())
	}
	src, err := os.ReadFile("../../gate/config/config.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`configKey\{"(\w+)"`).FindAllStringSubmatch(string(src), -1)
	if len(keys) < 35 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, key := range keys {
		if !regexp.MustCompile(`\b` + key[1] + `\b`).MatchString(text) {
			t.Errorf("it does not name %s", key[1])
		}
	}
}

// setupWorkflow is a workflow as the test reads it: by another reader than doctor's.
type setupWorkflow struct {
	Name        string
	RunName     string `yaml:"run-name"`
	On          map[string]any
	Permissions map[string]string
	Concurrency struct {
		Group  string
		Cancel *bool `yaml:"cancel-in-progress"`
	}
	Jobs map[string]struct {
		Name        string
		If          string
		RunsOn      string `yaml:"runs-on"`
		Timeout     int    `yaml:"timeout-minutes"`
		Permissions map[string]string
		Environment string
		Steps       []struct {
			ID        string
			Uses, Run string
			With      map[string]string
		}
	}
}

// types are those that an event is filtered by.
func (w setupWorkflow) types(event string) []string {
	filters, _ := w.On[event].(map[string]any)
	list, _ := filters["types"].([]any)
	var types []string
	for _, x := range list {
		types = append(types, x.(string))
	}
	return types
}

var (
	pin    = actionName + "@" + strings.Repeat("0a", 20)
	writes = map[string]string{"contents": "write", "checks": "write", "pull-requests": "write",
		"issues": "write", "actions": "read"}
	pullTypes    = []string{"opened", "synchronize", "reopened", "ready_for_review", "edited", "closed"}
	reviewTypes  = []string{"submitted", "edited", "dismissed"}
	always       = map[string][]string{"merge_group": nil, "push": nil, "schedule": nil, "workflow_dispatch": nil}
	setupPromise = map[string]struct { // gate.md, "Two workflows, written by `referee init`"
		events      map[string][]string
		permissions map[string]string // of the one job: the workflow itself has none
	}{
		"referee.yml": {with(always, map[string][]string{"pull_request_target": pullTypes,
			"workflow_run": {"completed"}}), writes},
		"referee-review.yml": {map[string][]string{"pull_request_review": reviewTypes}, nil},
		"direct.yml": {with(always, map[string][]string{"pull_request": pullTypes,
			"pull_request_review": reviewTypes}), writes},
	}
)

// setupIf keeps the gate's own review from starting the gate again, and again: what an App's token does starts
// workflows.
var setupIf = map[string]string{
	"referee.yml":        "github.event_name != 'workflow_run' || github.event.workflow_run.conclusion != 'skipped'",
	"referee-review.yml": "github.event.review.user.type != 'Bot'",
	"direct.yml":         "github.event_name != 'pull_request_review' || github.event.review.user.type != 'Bot'",
}

func with(a, b map[string][]string) map[string][]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// readSetup reads a workflow that init writes.
func readSetup(t *testing.T, name string, o initOptions) setupWorkflow {
	t.Helper()
	var w setupWorkflow
	text := setupTemplate(name, o, actionPin{uses: pin + " # v1.2.3"})
	if err := yaml.UnmarshalWithOptions([]byte(text), &w, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if i := strings.Index(text, "@APP"); i >= 0 || strings.Contains(text, "@PLAIN") {
		t.Errorf("%s: a mark is left: %.60s", name, text[max(i, 0):])
	}
	return w
}

// The events, their types and the permissions are those that gate.md names, and nothing of a pull request is checked
// out.
func TestInitWorkflows(t *testing.T) {
	for name, want := range setupPromise {
		w := readSetup(t, name, initOptions{branch: "main"})
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: permissions of the workflow: %v", name, w.Permissions)
		}
		for event, types := range want.events {
			if _, there := w.On[event]; !there || !slices.Equal(w.types(event), types) {
				t.Errorf("%s: %s has the types %v", name, event, w.types(event))
			}
		}
		if len(w.On) != len(want.events) {
			t.Errorf("%s: events %v", name, w.On)
		}
		if len(w.Jobs) != 1 {
			t.Errorf("%s has %d jobs", name, len(w.Jobs))
		}
		for _, j := range w.Jobs {
			if j.If != setupIf[name] {
				t.Errorf("%s: if %q", name, j.If)
			}
			if len(j.Steps) != 1 || j.Timeout == 0 || j.RunsOn == "" || !maps.Equal(j.Permissions, want.permissions) ||
				j.Environment != "" {
				t.Errorf("%s: %+v", name, j)
			}
			if name == "referee-review.yml" {
				if j.Steps[0].Uses != "" || !strings.HasPrefix(j.Steps[0].Run, "echo ") ||
					strings.Contains(j.Steps[0].Run, "$") {
					t.Errorf("the trigger does more than echo: %+v", j.Steps)
				}
				continue
			}
			if j.Steps[0].Uses != pin || j.Name != "referee-audit" || len(j.Steps[0].With) != 2 {
				t.Errorf("%s: %+v", name, j)
			}
			if w.Concurrency.Cancel == nil || *w.Concurrency.Cancel ||
				!strings.Contains(w.Concurrency.Group, "github.event.pull_request.number") ||
				!strings.Contains(w.Concurrency.Group, "github.event_name") {
				t.Errorf("%s: concurrency %+v", name, w.Concurrency)
			}
			if w.RunName != doctor.RunName {
				t.Errorf("%s: run-name %q", name, w.RunName)
			}
			w.asksForInputs(t, name)
		}
	}
}

// asksForInputs: who starts the workflow by hand is asked for what the title of the run then says, and for the answers.
func (w setupWorkflow) asksForInputs(t *testing.T, name string) {
	t.Helper()
	dispatch, _ := w.On["workflow_dispatch"].(map[string]any)
	inputs, _ := dispatch["inputs"].(map[string]any)
	if got := slices.Sorted(maps.Keys(inputs)); !slices.Equal(got, []string{"commands", "digest", "head", "mode",
		"pr"}) {
		t.Errorf("%s: inputs %v", name, got)
	}
	for input, x := range inputs {
		if about, _ := x.(map[string]any)["description"].(string); about == "" {
			t.Errorf("%s: the input %s is not described", name, input)
		}
	}
}

// With an App the job's own token may do nothing: the App's token is made of a key in an environment, for what the gate
// does and no more.
func TestInitApp(t *testing.T) {
	w := readSetup(t, "referee.yml", initOptions{branch: "main", app: "777"})
	j := w.Jobs["audit"]
	if len(j.Permissions) != 0 || j.Permissions == nil || j.Environment != "referee" || len(j.Steps) != 2 {
		t.Fatalf("%+v", j)
	}
	token, action := j.Steps[0], j.Steps[1]
	if !regexp.MustCompile(`^actions/create-github-app-token@[0-9a-f]{40}$`).MatchString(token.Uses) ||
		token.With["app-id"] != "777" ||
		token.With["private-key"] != "${{ secrets."+appSecret+" }}" {
		t.Errorf("%+v", token)
	}
	granted := map[string]string{}
	for key, level := range token.With {
		if scope, found := strings.CutPrefix(key, "permission-"); found {
			granted[scope] = level
		}
	}
	if !maps.Equal(granted, writes) {
		t.Errorf("the App's token is made for %v", granted)
	}
	if action.Uses != pin || action.With["token"] != "${{ steps."+token.ID+".outputs.token }}" ||
		len(action.With) != 3 {
		t.Errorf("%+v", action)
	}
}

// Every ruleset and every setting that init prints is one that GitHub describes, and on the branches it holds what the
// page says.
func TestInitRulesets(t *testing.T) {
	for app, held := range map[string]string{"": "Repository rule violations|",
		"777": "Repository rule violations|Repository rule violations"} {
		s := githubtest.New(t)
		s.AddToken("person", githubtest.Token{Login: "owner", Admin: true})
		tip := s.Ref("refs/heads/main")
		for _, file := range rulesetFiles(initOptions{app: app}) {
			text := setupText(file, initOptions{app: app}, "ledger")
			if err := s.Protect(text); err != nil || strings.Contains(text, "@") {
				t.Errorf("%s: %v", file, err)
			}
		}
		api, err := githubapi.New(githubapi.Options{APIURL: s.APIURL(), Token: "person", Repository: s.Name,
			MaxWait: -1})
		if err != nil {
			t.Fatal(err)
		}
		onMain := api.UpdateRef(t.Context(), "refs/heads/main", tip, false)
		onLedger := api.CreateRef(t.Context(), "refs/heads/ledger", tip)
		for i, err := range []error{onMain, onLedger} {
			want := strings.Split(held, "|")[i]
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("app %q: %v, want %q", app, err, want)
			}
		}
	}
}

// Every type of an event is one that GitHub's published schemas have.
func TestInitEventsExist(t *testing.T) {
	src, err := os.ReadFile("../../internal/githubtest/testdata/contract/webhooks.json")
	if err != nil {
		t.Skip("GitHub's schemas are not there: .ci/github-contract --write fetches them")
	}
	var published struct{ Definitions map[string]any }
	if err := json.Unmarshal(src, &published); err != nil {
		t.Fatal(err)
	}
	for name, want := range setupPromise {
		for event, types := range want.events {
			event = strings.TrimSuffix(event, "_target") // the same payload
			for _, kind := range types {
				if published.Definitions[event+"$"+kind] == nil {
					t.Errorf("%s: GitHub has no %s %s", name, event, kind)
				}
			}
		}
	}
}

// A release pins the action to its own commit; what does not know one says so.
func TestPin(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	for _, c := range []struct{ version, recorded, linked, uses, note string }{
		{"v1.2.3", sha, "", "defendableos/referee@" + sha + " # v1.2.3", ""},
		{"1.2.3", "unknown", sha, "defendableos/referee@" + sha + " # v1.2.3", ""},
		{"v1.2.3", strings.Repeat("cd", 20), sha, "defendableos/referee@" + sha + " # v1.2.3", ""},
		{"v1.2.3", "unknown", "", "defendableos/referee@v1.2.3", "does not know its commit"},
		{"v1.2.3", sha + " (with changes)", "", "defendableos/referee@v1.2.3", "does not know its commit"},
		{"dev", sha, "", "defendableos/referee@v1", "development build (dev)"},
		{"v0.0.0-20261101000000-abcdefabcdef", sha, sha, "defendableos/referee@v1", "development build"},
		{"v1.2.3-rc.1", sha, sha, "defendableos/referee@v1", "development build"},
	} {
		got := pinOf(versionInfo{Version: c.version, Commit: c.recorded}, c.linked)
		if got.uses != c.uses || !strings.Contains(got.note, c.note) || (got.note == "") != (c.note == "") {
			t.Errorf("%+v gives %+v", c, got)
		}
	}
}

// When a write fails, what was written before it is removed, and what stood before stays.
func TestInitWritesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := &setupWriter{root: root}
	if err := w.planFiles([]newFile{{".github/workflows/a.yml", "a", ""}, {".github/b.yml", "b", ""}},
		[]newFile{{"run.json", "{}", ""}}); err != nil {
		t.Fatal(err)
	}
	// between the look and the write
	if err := root.WriteFile(".github/b.yml", []byte("another's"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.writePlanned(); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("the write gives %v", err)
	}
	var left []string
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		left = append(left, name)
		return err
	})
	if err != nil || !slices.Equal(left, []string{".", ".github", ".github/b.yml"}) {
		t.Errorf("%v is left (%v)", left, err)
	}
}
