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

	"github.com/defendableos/referee/gate"
)

// The configuration that init writes says, key by key, what holds without it.
func TestInitConfiguration(t *testing.T) {
	text := template("config.yml", initOptions{branch: "main"}, actionPin{})
	cfg, err := gate.ParseConfig([]byte(text), gate.ConfigPath)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg, gate.DefaultConfig()) {
		t.Errorf("it gives\n%+v, not\n%+v", cfg, gate.DefaultConfig())
	}
	src, err := os.ReadFile("../../gate/config.go")
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
	On          map[string]any
	Permissions map[string]string
	Concurrency struct {
		Group  string
		Cancel *bool `yaml:"cancel-in-progress"`
	}
	Jobs map[string]struct {
		Name    string
		RunsOn  string `yaml:"runs-on"`
		Timeout int    `yaml:"timeout-minutes"`
		Steps   []struct {
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
	pin          = actionName + "@" + strings.Repeat("0a", 20)
	writes       = map[string]string{"contents": "write", "checks": "write", "pull-requests": "write", "issues": "write", "actions": "read"}
	pullTypes    = []string{"opened", "synchronize", "reopened", "ready_for_review", "edited", "closed"}
	reviewTypes  = []string{"submitted", "edited", "dismissed"}
	always       = map[string][]string{"merge_group": nil, "push": nil, "schedule": nil, "workflow_dispatch": nil}
	setupPromise = map[string]struct { // gate.md, "Two workflows, written by `referee init`"
		events      map[string][]string
		permissions map[string]string
	}{
		"referee.yml":        {with(always, map[string][]string{"pull_request_target": pullTypes, "workflow_run": {"completed"}}), writes},
		"referee-review.yml": {map[string][]string{"pull_request_review": reviewTypes}, map[string]string{}},
		"direct.yml":         {with(always, map[string][]string{"pull_request": pullTypes, "pull_request_review": reviewTypes}), writes},
	}
)

func with(a, b map[string][]string) map[string][]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// The events, their types and the permissions are those that gate.md names, and nothing of a pull request is checked out.
func TestInitWorkflows(t *testing.T) {
	for name, want := range setupPromise {
		text := template(name, initOptions{branch: "main"}, actionPin{uses: pin + " # v1.2.3"})
		var w setupWorkflow
		if err := yaml.UnmarshalWithOptions([]byte(text), &w, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !maps.Equal(w.Permissions, want.permissions) {
			t.Errorf("%s: permissions %v", name, w.Permissions)
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
			if len(j.Steps) != 1 || j.Timeout == 0 || j.RunsOn == "" {
				t.Errorf("%s: %+v", name, j)
			}
			if name == "referee-review.yml" {
				if j.Steps[0].Uses != "" || !strings.HasPrefix(j.Steps[0].Run, "echo ") || strings.Contains(j.Steps[0].Run, "$") {
					t.Errorf("the trigger does more than echo: %+v", j.Steps)
				}
				continue
			}
			if j.Steps[0].Uses != pin || j.Name != "referee-audit" {
				t.Errorf("%s: %+v", name, j)
			}
			if w.Concurrency.Cancel == nil || *w.Concurrency.Cancel || !strings.Contains(w.Concurrency.Group, "github.event.pull_request.number") ||
				!strings.Contains(w.Concurrency.Group, "github.event_name") {
				t.Errorf("%s: concurrency %+v", name, w.Concurrency)
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
	if err := w.plan([]newFile{{".github/workflows/a.yml", "a", ""}, {".github/b.yml", "b", ""}}, []newFile{{"run.json", "{}", ""}}); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(".github/b.yml", []byte("another's"), 0o644); err != nil { // between the look and the write
		t.Fatal(err)
	}
	if err := w.write(); !errors.Is(err, fs.ErrExist) {
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
