package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/doctor"
	"github.com/defendableos/referee/internal/githubtest"
)

// clinic is a repository as the test wants it: at first, what init writes and prints, with owners.
type clinic struct {
	server  *githubtest.Server
	files   map[string]string
	rules   []map[string]any // on main
	ledger  []map[string]any // on the ledger's branch
	answers map[string]any
	hide    []string // settings that the token may not see
	private bool
}

func newClinic(t *testing.T) *clinic {
	o := initOptions{branch: "main"}
	c := &clinic{server: githubtest.New(t),
		files:   map[string]string{".github/CODEOWNERS": "/.github/ @rosa\n/flight_sheets/ @rosa\n"},
		answers: map[string]any{}}
	for _, f := range filesOfSetup(o, actionPin{uses: pin + " # v1.2.3"}) {
		c.files[f.name] = f.text
	}
	c.rules, c.ledger = c.printedRules(t, "protect-default.json", o), c.printedRules(t, "protect-ledger.json", o)
	return c
}

// printedRules are the rules of a ruleset that init prints, as GitHub lists them on a branch. The ruleset itself is
// there too.
func (c *clinic) printedRules(t *testing.T, name string, o initOptions) []map[string]any {
	t.Helper()
	var set map[string]any
	if err := json.Unmarshal([]byte(setupText(name, o, "ledger")), &set); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	id := 40 + len(c.answers)
	maps.Copy(set, map[string]any{"id": id, "source": "acme/underwriting", "source_type": "Repository"})
	if set["bypass_actors"] == nil {
		set["bypass_actors"] = []any{}
	}
	c.answers[fmt.Sprintf("rulesets/%d", id)] = set
	var rules []map[string]any
	for _, x := range set["rules"].([]any) {
		r := maps.Clone(x.(map[string]any))
		maps.Copy(r, map[string]any{"ruleset_source_type": "Repository", "ruleset_source": "acme/underwriting",
			"ruleset_id": id})
		rules = append(rules, r)
	}
	return rules
}

// parameters are those of a rule, to be changed.
func (c *clinic) parameters(kind string) map[string]any {
	i := slices.IndexFunc(c.rules, func(r map[string]any) bool { return r["type"] == kind })
	return c.rules[i]["parameters"].(map[string]any)
}

// drop takes a rule away.
func drop(rules []map[string]any, kind string) []map[string]any {
	return slices.DeleteFunc(rules, func(r map[string]any) bool { return r["type"] == kind })
}

// edit replaces a text in a file.
func (c *clinic) edit(t *testing.T, name, old, now string) {
	if !strings.Contains(c.files[name], old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	c.files[name] = strings.Replace(c.files[name], old, now, 1)
}

// see runs doctor over it.
func (c *clinic) see(args ...string) (code int, stdout, stderr string) {
	s := c.server
	s.AddToken("admin", githubtest.Token{Login: "owner", Admin: true})
	s.Commit("main", githubtest.Change{Files: c.files})
	s.Set("rules/branches/main", c.rules)
	s.Set("rules/branches/ledger", c.ledger)
	for path, answer := range c.answers {
		s.Set(path, answer)
	}
	for _, path := range c.hide {
		s.Inject(githubtest.NoAccess.On("GET", path).Always())
	}
	for _, path := range []string{"branches/main/protection", "branches/ledger/protection"} {
		if c.answers[path] == nil {
			s.Inject(githubtest.Fault{Status: 404, Body: `{"message":"Branch not protected"}`}.On("GET", path).Always())
		}
	}
	if c.private {
		s.SetPrivate()
	}
	return runDoctor(map[string]string{"GITHUB_TOKEN": "admin"}, append([]string{"--repo", s.Name, "--api", s.APIURL()},
		args...)...)
}

func runDoctor(env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	getenv := func(name string) string { return env[name] }
	code = run(context.Background(), append([]string{"doctor"}, args...), getenv, strings.NewReader(""), &out,
		&complaints)
	return code, out.String(), complaints.String()
}

// diagnoses are what doctor says, by id.
func (c *clinic) diagnoses(t *testing.T) (int, map[string]doctor.Diagnosis) {
	t.Helper()
	code, stdout, stderr := c.see("--format", "json")
	var out diagnosed
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%d: %v\n%s%s", code, err, stdout, stderr)
	}
	all := map[string]doctor.Diagnosis{}
	for _, d := range out.Checks {
		all[d.ID] = d
		if d.What == "" || d.Why == "" || d.Remedy == "" {
			t.Errorf("%s says too little: %+v", d.ID, d)
		}
	}
	return code, all
}

// What init writes and prints is what doctor wants, but for the question which sheets are meant, and for what the plain
// token leaves open whatever one does: with an App of one's own nothing is left.
func TestDoctorAfterInit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *clinic)
		left   []string
	}{
		"the plain token": {func(*testing.T, *clinic) {}, []string{"checks.token", "ledger.push", "sheets.any"}},
		"an App":          {withApp, []string{"sheets.any"}},
	} {
		k := newClinic(t)
		c.change(t, k)
		code, all := k.diagnoses(t)
		for id, d := range all {
			want := doctor.Fine
			if slices.Contains(c.left, id) {
				want = doctor.Warning
			}
			if d.Status != want {
				t.Errorf("%s: %s: %+v", name, id, d)
			}
		}
		if code != exitClean || len(all) != 24 {
			t.Errorf("%s: exit code %d, %d checks", name, code, len(all))
		}
	}
}

// newClinicSheet is a sheet of the library with another version, so that it is the repository's own.
func newClinicSheet() (string, error) {
	src, err := fs.ReadFile(flightsheets.FS(), "math-steps.json")
	return string(src), err
}

// The table is for people: 80 columns, a reason and a remedy beside what is not ok, a sum at the end.
func TestDoctorTable(t *testing.T) {
	c := newClinic(t)
	c.ledger = []map[string]any{}
	code, stdout, stderr := c.see()
	for line := range strings.Lines(stdout) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"acme/underwriting, default branch main\n", "ok       reviews.stale ",
		"problem  ledger.rules ", "why: A ledger that can be force-pushed", "do:  A ruleset for the ledger's",
		"\n20 ok, 3 warnings, 1 problems, 0 unknown\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if code != exitRules || stderr != "" {
		t.Errorf("%d %s", code, stderr)
	}
}

// What doctor asks is little, and nothing that changes anything.
func TestDoctorOnlyReads(t *testing.T) {
	c := newClinic(t)
	c.see()
	for _, r := range c.server.Requests() {
		if r.Method != "GET" {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
	if n := c.server.Count(); n > 20 {
		t.Errorf("%d requests", n)
	}
}

// The exit codes: 2 for usage, 3 where the API fails; a token that may see little leaves checks unknown.
func TestDoctorExits(t *testing.T) {
	t.Parallel() // it waits for a server that fails
	c := newClinic(t)
	c.see()
	s := c.server
	at := []string{"--repo", s.Name, "--api", s.APIURL()}
	for _, x := range []struct {
		env  map[string]string
		args []string
		code int
		want string
	}{
		{nil, []string{"--repo", "example", "--api", s.APIURL()}, exitUsage, `"example" is not owner/name`},
		{nil, []string{"--repo", s.Name, "--api", "ftp://x"}, exitUsage, "the API's URL"},
		{nil, append(at, "--format", "xml"), exitUsage, "--format"},
		{nil, []string{"--repo", "acme/other", "--api", s.APIURL()}, exitTool, "does it exist"},
		{map[string]string{"GITHUB_TOKEN": "wrong"}, at, exitTool, "unauthorized"},
		{map[string]string{"T": "admin"}, append(at, "--token-env", "T"), exitClean, "checks.token"},
		{map[string]string{"T": "admin", "GITHUB_REPOSITORY": s.Name, "GITHUB_API_URL": s.APIURL()},
			[]string{"--token-env", "T"}, exitClean, "checks.token"},
		{nil, at, exitClean, "GITHUB_TOKEN is empty"},
		{nil, at, exitClean, "the token may not read the settings of"},
	} {
		code, stdout, stderr := runDoctor(x.env, x.args...)
		if text := strings.Join(strings.Fields(stdout+stderr), " "); code != x.code || !strings.Contains(text, x.want) {
			t.Errorf("%v %v: %d, not %d with %q\n%s%s", x.env, x.args, code, x.code, x.want, stdout, stderr)
		}
	}
	s.Inject(githubtest.Unicorn.On("GET", "actions/permissions").Always())
	code, stdout, _ := runDoctor(nil, at...)
	if code != exitTool || stdout != "" {
		t.Errorf("a server that fails: %d %s", code, stdout)
	}
}

// Where a remote is, however git writes it.
func TestParseRemote(t *testing.T) {
	for text, want := range map[string]remoteName{
		"https://github.com/acme/deals.git":      {"github.com", "acme/deals"},
		"https://user:secret@GitHub.com/acme/d/": {"github.com", "acme/d"},
		"git@github.com:acme/deals.git":          {"github.com", "acme/deals"},
		"ssh://git@ghe.example:2222/acme/deals":  {"ghe.example", "acme/deals"},
		"../work":                                {},
		"/srv/git/deals.git":                     {},
		"https://github.com/acme/deals/extra":    {},
		"C:/deals/x":                             {},
	} {
		if got := parseRemote(text); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// The workflows of this repository are as doctor wants them.
func TestDoctorOnThisRepository(t *testing.T) {
	names, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(names) < 2 {
		t.Fatalf("%v %v", names, err)
	}
	s := &doctor.Settings{DefaultBranch: "main", Files: map[string][]byte{}, Embedded: flightsheets.FS(),
		Hidden: map[doctor.Source]string{}}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Files[".github/workflows/"+filepath.Base(name)] = src
	}
	looked := 0
	for _, d := range doctor.Diagnose(s) {
		if strings.HasPrefix(d.ID, "workflow.") || d.ID == "action.pinned" || d.ID == "workflows.head" {
			looked++
			if d.Status != doctor.Fine {
				t.Errorf("%+v", d)
			}
		}
	}
	if looked != 6 {
		t.Errorf("%d checks", looked)
	}
}

// docs/setup.md holds the configuration as init writes it, and names every check.
func TestSetupDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/setup.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "```yaml\n"+setupTemplate("config.yml", initOptions{branch: "main"},
		actionPin{})+"```\n") {
		t.Error("docs/setup.md does not hold the configuration of cmd/referee/setup/config.yml")
	}
	var named []string
	for line := range strings.Lines(string(doc)) {
		if id, found := strings.CutPrefix(line, "| `"); found && strings.Contains(id, ".") ||
			strings.HasPrefix(line, "| `config`") || strings.HasPrefix(line, "| `sheets`") {
			id, _, _ = strings.Cut(id, "`")
			named = append(named, id)
		}
	}
	var have []string
	for _, d := range doctor.Diagnose(&doctor.Settings{}) {
		have = append(have, d.ID)
	}
	if !slices.Equal(named[len(named)-len(have):], have) {
		t.Errorf("docs/setup.md names %v, not %v", named, have)
	}
}
