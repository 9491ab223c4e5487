package doctor

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
)

// The examples of GitHub's documentation, "About code owners", and what it says of each.
func TestOwners(t *testing.T) {
	for _, c := range []struct {
		lines string
		name  string
		owned bool
	}{
		{"*       @global-owner1 @global-owner2", "a/b/c.txt", true},
		{"*.js    @js-owner #This is an inline comment.", "a/b/c.js", true},
		{"*.js    @js-owner", "a/b/c.ts", false},
		{"*.go docs@example.com", "main.go", true},
		{"/build/logs/ @doctocat", "build/logs/a/b.log", true},
		{"/build/logs/ @doctocat", "x/build/logs/a.log", false},
		{"docs/* docs@example.com", "docs/getting-started.md", true},
		{"docs/* docs@example.com", "docs/build-app/troubleshooting.md", false},
		{"apps/ @octocat", "a/apps/b/c.go", true},
		{"/docs/ @doctocat", "docs/a.md", true},
		{"/docs/ @doctocat", "a/docs/a.md", false},
		{"/scripts/ @doctocat @octocat", "scripts/a", true},
		{"**/logs @octocat", "build/logs/a", true},
		{"**/logs @octocat", "deeply/nested/logs/a", true},
		{"/apps/ @octocat\n/apps/github", "apps/github/a.go", false},
		{"/apps/ @octocat\n/apps/github", "apps/other.go", true},
		{"/apps/ @octocat\n/apps/github @doctocat", "apps/github/a.go", true},
		{"# @octocat", "a", false},
		{"", "a", false},
		{"/.github/ octocat", ".github/workflows/a.yml", false}, // no account: the line is left out
		{"!/.github/ @octocat", ".github/workflows/a.yml", false},
		{"[.]github @octocat", ".github/a", false},
		{"/.github @octocat", ".github/workflows/a.yml", true},
		{".github/workflows @octocat", ".github/workflows/a.yml", true},
		{".github/workflows/*.yml @octocat", ".github/workflows/a.yaml", false},
		{"* @octocat\n/.github/workflows/", ".github/workflows/a.yml", false},
		{`/a\ b/ @octocat`, "a b/c", true},
		{`\#a @octocat`, "#a", true},
		{"/a?c/**/d @octocat", "abc/x/y/d/e", true},
		{"/a** @octocat", "abc/d", true},
		{"/é/ @octocat", "é/d", true},
		{"/\xb1/ @octocat", "a/d", false},
	} {
		if got := ownerOfPath(parseOwners(c.lines), c.name); got != c.owned {
			t.Errorf("%q: %s is owned: %v", c.lines, c.name, got)
		}
	}
}

// What a workflow may be written like, and what is none.
func TestParseWorkflow(t *testing.T) {
	same := []string{
		"on: [push, pull_request_target]\njobs:\n  a: {name: x, steps: [{uses: b@1, with: {ref: '1', n: 2}}, " +
			"{run: \"echo\\n\"}]}\n",
		"'on':\n- push\n- pull_request_target\njobs:\n  a:\n    name: \"x\"\n    steps:\n    - uses: b@1\n      " +
			"with:\n        ref: \"1\"\n        n: 2\n    - run: |\n        echo\n",
		"on: &e [push, pull_request_target]\njobs: {a: {name: !!str x, if: *e, steps: [{uses: b@1, with: {ref: 1, " +
			"n: 2}}, {run: \"echo\\n\"}]}}\n",
	}
	for _, src := range same {
		w, err := parseWorkflow("w.yml", []byte(src))
		if err != nil {
			t.Fatalf("%s\n%v", src, err)
		}
		steps := []ciStep{
			{uses: "b@1", with: map[string]string{"ref": "1", "n": "2"}},
			{run: "echo\n", with: map[string]string{}},
		}
		if got := slices.Sorted(maps.Keys(w.events)); !slices.Equal(got, []string{"pull_request_target", "push"}) ||
			w.name != "w.yml" ||
			len(w.jobs) != 1 {
			t.Errorf("%s\n%+v", src, w)
		} else if j := w.jobs[0]; j.id != "a" || j.checkName() != "x" || !reflect.DeepEqual(j.steps, steps) {
			t.Errorf("%s\n%+v", src, j)
		}
	}
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(
			c,
		) + ": &" + string(
			c,
		) + " [" + strings.TrimSuffix(
			strings.Repeat("*"+string(c-1)+", ", 10),
			", ",
		) + "]\n"
	}
	for src, want := range map[string]string{
		"":                             "not one YAML document",
		"a: 1\n---\nb: 2\n":            "not one YAML document",
		"[1]":                          "no mapping",
		"name: x\n":                    "no events",
		"on: push\n":                   "no jobs",
		"on: push\non: pull_request\n": "line 2: the YAML cannot be read: mapping key \"on\" already defined",
		"on: *x\n":                     "names no anchor",
		"on: [push\n":                  "cannot be read",
		bomb:                           "too large",
		"a: &a [*a]\n":                 "too large",
		strings.Repeat("[", 200) + strings.Repeat("]", 200): "too deeply",
		strings.Repeat("# padding\n", 60_000):               "too large",
	} {
		if w, err := parseWorkflow("w.yml", []byte(src)); w != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gives %v, not %q", src, err, want)
		}
	}
}

// What permissions come to: a job's before the workflow's, and what is not named is not granted.
func TestGrants(t *testing.T) {
	for _, c := range []struct {
		workflow, job, settings, level string
		sure                           bool
	}{
		{"", "", "read", "read", true},
		{"", "", "write", "write", true},
		{"", "", "", "write", false}, // out of sight: it may
		{"permissions: {}", "", "write", "", true},
		{"permissions: write-all", "", "read", "write", true},
		{"permissions: read-all", "", "write", "read", true},
		{"permissions: {issues: write}", "", "write", "", true},
		{"permissions: {contents: write}", "", "read", "write", true},
		{"permissions: {contents: write}", "permissions: {issues: write}", "write", "", true},
		{"permissions: {}", "permissions: {contents: write}", "read", "write", true},
		{"permissions:", "", "write", "", true},
	} {
		w, err := parseWorkflow("w.yml", []byte("on: push\n"+c.workflow+"\njobs:\n  a:\n    name: x\n    "+c.job+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		p := &checkup{Settings: &Settings{Workflows: WorkflowSettings{Token: c.settings}}}
		if c.settings == "" {
			p.Hidden = map[Source]string{FromWorkflows: "administration"}
		}
		if grant, sure := p.grantFor(w, w.jobs[0]); grant.levelOf("contents") != c.level || sure != c.sure {
			t.Errorf("%+v: %q %v", c, grant.levelOf("contents"), sure)
		}
	}
}

// Rules add up: the strictest counts, and what is not understood changes nothing.
func TestDemands(t *testing.T) {
	app := int64(7)
	var protection BranchProtection
	if err := json.Unmarshal(
		[]byte(`{"required_status_checks": {"contexts": ["a", "b"], "checks": [{"context": "a", "app_id": null},
			{"context": "b", "app_id": 9}]},
		"required_pull_request_reviews": {"required_approving_review_count": 2, "dismiss_stale_reviews": true},
		"allow_force_pushes": {"enabled": false}, "allow_deletions": {"enabled": true}}`), &protection); err != nil {
		t.Fatal(err)
	}
	rules := []BranchRule{
		{Type: "deletion"},
		{Type: "something new", Parameters: json.RawMessage(`[1]`)},
		{
			Type:       "pull_request",
			Parameters: json.RawMessage(`{"required_approving_review_count": 1, "require_code_owner_review": true}`),
		},
		{
			Type: "required_status_checks",
			Parameters: json.RawMessage(
				`{"required_status_checks": [{"context": "a", "integration_id": 7}, {"context": "c"}]}`,
			),
		},
	}
	d := demandsOf(rules, &protection)
	if want := map[string][]int64{"a": {app}, "b": {9}, "c": nil}; !reflect.DeepEqual(d.checks, want) {
		t.Errorf("checks %v", d.checks)
	}
	if d.count != 2 || !d.stale || !d.owners || !d.noDelete || !d.noForce {
		t.Errorf("%+v", d)
	}
	if d := demandsOf(nil, nil); d.noDelete || d.noForce || d.count > 0 || len(d.checks) > 0 {
		t.Errorf("nothing demands %+v", d)
	}
}

// Of a repository about which nothing is known, nothing is said to be fine but what the library alone answers.
func TestDiagnoseNothing(t *testing.T) {
	hidden := map[Source]string{}
	for _, s := range []Source{FromRules, FromProtection, FromLedgerRules, FromLedgerProtection, FromActions,
		FromWorkflows, FromFiles} {
		hidden[s] = "administration: read"
	}
	ids := map[string]bool{}
	for _, d := range Diagnose(&Settings{Hidden: hidden}) {
		if d.Status != Unknown || !strings.Contains(d.What, "administration: read") || ids[d.ID] {
			t.Errorf("%+v", d)
		}
		ids[d.ID] = true
	}
}

// The title that the run-name makes, by GitHub's format() of the inputs, is the one that a verification online looks
// for.
func TestRunNameIsTheTitle(t *testing.T) {
	m := regexp.MustCompile(`format\('([^']*)', inputs\.mode, inputs\.pr, inputs\.head, inputs\.digest\)`).
		FindStringSubmatch(RunName)
	if m == nil {
		t.Fatal(RunName)
	}
	head, digest := strings.Repeat("0a", 20), strings.Repeat("1b", 8)
	got := strings.NewReplacer("{0}", "sign-off", "{1}", "7", "{2}", head, "{3}", digest).Replace(m[1])
	if want := ledger.SelfSignTitle(7, head, digest); got != want {
		t.Errorf("the run-name makes %q, looked for is %q", got, want)
	}
}

// FuzzWorkflow: whatever stands in a workflow or in CODEOWNERS, the diagnoses come to an end and are whole.
func FuzzWorkflow(f *testing.F) {
	f.Add(
		[]byte(
			"on: pull_request_target\njobs:\n  a:\n    steps: [{uses: actions/checkout@v4, with: {ref: '${{ "+
				"github.head_ref }}'}}]\n",
		),
		"* @a\n/b/*\n",
	)
	f.Add([]byte("on: &a [*a]\n"), `\`)
	f.Add([]byte("? [a]\n: {<<: *b, !!set c}\n"), "/**/ @")
	f.Add([]byte("on: push\n"), "\xb1")
	f.Fuzz(func(t *testing.T, workflow []byte, owners string) {
		w, err := parseWorkflow("w.yml", workflow)
		if (w == nil) == (err == nil) {
			t.Fatalf("%+v %v", w, err)
		}
		s := &Settings{
			DefaultBranch: "main",
			Files:         map[string][]byte{gateFile: workflow, ".github/CODEOWNERS": []byte(owners)},
			Embedded:      memoryTree{},
		}
		for _, d := range Diagnose(s) {
			if !slices.Contains([]string{Fine, Warning, Problem, Unknown}, d.Status) || d.What == "" {
				t.Fatalf("%+v", d)
			}
		}
	})
}
