package repo

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what action.yml says.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description string }
	Runs              struct {
		Using, Image string
		Args         []string
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(src, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// The inputs with what holds without them, and the outputs, as docs/usage.md promises them.
var (
	actionInputs = map[string]string{"token": "${{ github.token }}", "mode": "auto", "pull-request": "", "sha": "",
		"config":  "",
		"fail-on": "", "max-wait": "300", "summary": "true"}
	actionOutputs = []string{"result", "severity", "score", "findings", "high", "mid", "low", "client_ready",
		"recommended_action", "report",
		"receipt_sha256", "ledger_head"}
)

// TestAction: the action has the promised inputs and outputs, each described, and nothing else; the documentation names
// each.
func TestAction(t *testing.T) {
	var a action
	readYAML(t, "action.yml", &a)
	usage, err := os.ReadFile("docs/usage.md")
	if err != nil {
		t.Fatal(err)
	}
	described := func(kind, name, text string) {
		if !strings.HasSuffix(text, ".") {
			t.Errorf("the %s %s is described as %q, which is no sentence", kind, name, text)
		}
		if !strings.Contains(string(usage), "`"+name+"`") {
			t.Errorf("docs/usage.md does not name the %s %s", kind, name)
		}
	}
	defaults := map[string]string{}
	for name, in := range a.Inputs {
		defaults[name] = in.Default
		described("input", name, in.Description)
	}
	if !maps.Equal(defaults, actionInputs) {
		t.Errorf("inputs with their defaults\n got %v\nwant %v", defaults, actionInputs)
	}
	for name, out := range a.Outputs {
		described("output", name, out.Description)
	}
	if got := slices.Sorted(maps.Keys(a.Outputs)); !slices.Equal(got, slices.Sorted(slices.Values(actionOutputs))) {
		t.Errorf("outputs\n got %v\nwant %v", got, actionOutputs)
	}
	// what a release puts in its place
	published := regexp.MustCompile(`^docker://ghcr\.io/defendableos/referee@sha256:[0-9a-f]{64}$`)
	if a.Runs.Using != "docker" || !slices.Equal(a.Runs.Args, []string{"gate"}) || a.Runs.Image != "Dockerfile" &&
		!published.MatchString(a.Runs.Image) {
		t.Errorf("the action runs %+v", a.Runs)
	}
}

// TestDockerfile: the image is built by the compiler that go.mod names, pinned by its digest, from scratch, without
// syntax that only BuildKit knows.
func TestDockerfile(t *testing.T) {
	src, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	series := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	for _, want := range []string{"FROM golang:" + string(series[1]) + "-bookworm AS build\n", "\nFROM scratch\n",
		"CGO_ENABLED=0", "ca-certificates.crt", `ENTRYPOINT ["/referee"]`} {
		if !strings.Contains(string(src), want) {
			t.Errorf("Dockerfile has no %q", want)
		}
	}
	if bad := regexp.MustCompile(`(?m)--mount|<<|^# *syntax|^USER|^ADD|--link|--chmod`).Find(src); bad != nil {
		t.Errorf("Dockerfile holds %q", bad)
	}
}

// TestNoTemplates: text/template calls methods by names that only run time knows, so with it the linker keeps every
// method of every type and the image grows by a fifth. (An action's library that renders none may import it.)
func TestNoTemplates(t *testing.T) {
	for _, p := range packages(t) {
		for _, bad := range []string{"text/template", "html/template"} {
			if slices.Contains(p.Imports, bad) {
				t.Errorf("%s imports %s: write pages with html.EscapeString and a strings.Builder", p.ImportPath, bad)
			}
		}
	}
}

// workflow is what the rules below look at.
type workflow struct {
	On          any
	Permissions any
	Jobs        map[string]struct {
		Uses        string
		Permissions any
		Steps       []struct {
			Uses string
			With map[string]any
		}
	}
}

// TestWorkflows: every action is pinned to a commit and says its version, every workflow says what its token may do, a
// checkout keeps no token behind, and where a workflow runs for a pull request with the rights of the default branch,
// nothing of the pull request is checked out.
func TestWorkflows(t *testing.T) {
	paths, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%v: %v", paths, err)
	}
	pinned := regexp.MustCompile(`uses: (\S+@[0-9a-f]{40} # v\d\S*|\./)$`)
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(strings.TrimPrefix(line, "- "), "uses:") &&
				!pinned.MatchString(line) {
				t.Errorf("%s: %s: not pinned to a commit with its version", path, line)
			}
		}
		var w workflow
		readYAML(t, path, &w)
		if w.Permissions == nil {
			t.Errorf("%s does not say what its token may do", path)
		}
		events, err := json.Marshal(w.On)
		if err != nil {
			t.Fatal(err)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "actions/checkout@") {
					continue
				}
				if keep, is := step.With["persist-credentials"].(bool); !is || keep {
					t.Errorf("%s: %s: a checkout that keeps the token", path, name)
				}
				if _, chosen := step.With["repository"]; chosen &&
					strings.Contains(string(events), "pull_request_target") {
					t.Errorf("%s: %s: a checkout of another repository with rights of the default branch", path, name)
				}
				if ref, _ := step.With["ref"].(string); strings.Contains(string(events), "pull_request_target") &&
					ref != "${{ github.event.repository.default_branch }}" {
					t.Errorf("%s: %s: checks out %q with rights of the default branch", path, name, ref)
				}
			}
		}
	}
}

// TestOwnGate: the gate on this repository is what `referee init` writes, but for where the action comes from.
func TestOwnGate(t *testing.T) {
	for _, own := range []string{"referee.yml", "referee-review.yml"} {
		var got, want map[string]any
		readYAML(t, ".github/workflows/"+own, &got)
		src, err := os.ReadFile("cmd/referee/setup/" + own)
		if err != nil {
			t.Fatal(err)
		}
		// its token is the workflow's own
		plain := regexp.MustCompile(`(?m)^@APP@.*\n|^@PLAIN@`).ReplaceAllString(string(src), "")
		filled := strings.NewReplacer("@BRANCH@", "main", "@ACTION@", "./").Replace(plain)
		if err := yaml.Unmarshal([]byte(filled), &want); err != nil {
			t.Fatal(err)
		}
		if own == "referee.yml" {
			steps := got["jobs"].(map[string]any)["audit"].(map[string]any)
			steps["steps"] = steps["steps"].([]any)[1:] // the checkout of the default branch
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is not what init writes\n got %v\nwant %v", own, got, want)
		}
	}
}
