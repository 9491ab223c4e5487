package gate

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// deal is a sample run as a tree, with edits of its files: name → from, to.
func deal(t *testing.T, name string, edits ...[3]string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	sample := os.DirFS("../testdata/runs/" + name)
	err := fs.WalkDir(sample, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sample, path)
		out["runs/"+name+"/"+path] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		f := out["runs/"+name+"/"+e[0]]
		changed := strings.Replace(string(f.Data), e[1], e[2], 1)
		if changed == string(f.Data) {
			t.Fatalf("%s does not hold %q", e[0], e[1])
		}
		f.Data = []byte(changed)
	}
	return out
}

func library() *referee.Library { return referee.NewLibrary(flightsheets.FS(), nil, "") }

func TestExamine(t *testing.T) {
	rule := RunRule{Path: "runs/**/run.json", Sheets: []string{"*"}}
	a := Examine(deal(t, "oak-street"), PlannedRun{"runs/oak-street", rule}, library(), DefaultConfig(), nil)
	if a.Refused != "" || a.Work == nil || !a.Chosen || a.Work.Report.Fails(referee.FailOnHigh) {
		t.Fatalf("%+v", a)
	}
	cfg := DefaultConfig()
	cfg.Governance.Agents = []AgentProfile{{Name: "underwriter", Profile: referee.Agent{Name: "underwriter", Model: "another", Pinned: true}}}
	a = Examine(deal(t, "oak-street"), PlannedRun{"runs/oak-street", rule}, library(), cfg, nil)
	misstated := func(f referee.Finding) bool { return f.Code == "lane.profile_mismatch" }
	if a.Work == nil || !a.Work.Report.Agent.Pinned || !slices.ContainsFunc(a.Work.Report.Findings, misstated) {
		t.Errorf("a profile that run.json misstates: %+v", a)
	}
}

// TestExamineRefusals: what a pull request must not choose, and what cannot be audited, is refused and never passes.
func TestExamineRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		sheets []string
		lane   string
		edit   func(fstest.MapFS)
		swap   []([3]string)
		says   string
	}{
		{name: "a laxer sheet", sheets: []string{"lend-atr-qm"}, says: "the configuration lets [lend-atr-qm] judge"},
		{name: "another version than the rule allows", sheets: []string{"cre-multifamily-agency@^2"}, says: "the configuration lets"},
		{name: "another lane than the path's", sheets: []string{"*"}, lane: "compute", says: `lets lane "compute" in`},
		{name: "an unknown sheet", sheets: []string{"*"}, swap: [][3]string{{"run.json", "cre-multifamily-agency", "cre-multifamily-agenzy"}}, says: "did you mean"},
		{name: "an inactive version", sheets: []string{"*"}, swap: [][3]string{{"run.json", `"flight_sheet": "cre-multifamily-agency`, `"flight_sheet": "cre-multifamily-agency@9.9.9", "x-was": "`}}, says: "the active version"},
		{name: "another lane", sheets: []string{"*"}, swap: [][3]string{{"run.json", `"lane": "agent"`, `"lane": "dataset"`}}, says: `run.json says lane "dataset"`},
		{name: "an unknown member", sheets: []string{"*"}, swap: [][3]string{{"run.json", `"project"`, `"projekt"`}}, says: "run.json is refused"},
		{name: "no submission", sheets: []string{"*"}, edit: func(m fstest.MapFS) { delete(m, "runs/oak-street/submission.json") }, says: "a file is missing"},
		{name: "no manifest", sheets: []string{"*"}, edit: func(m fstest.MapFS) { delete(m, "runs/oak-street/run.json") }, says: "a file is missing"},
		{name: "a submission that is a link", sheets: []string{"*"}, edit: func(m fstest.MapFS) {
			m["runs/oak-street/submission.json"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink | 0o777}
		}, says: "symlink"},
		{name: "an id that is not the folder's", sheets: []string{"*"}, swap: [][3]string{{"run.json", `"id": "oak-street"`, `"id": "elm-street"`}}, says: "they must be the same"},
	} {
		head := deal(t, "oak-street", c.swap...)
		if c.edit != nil {
			c.edit(head)
		}
		a := Examine(head, PlannedRun{"runs/oak-street", RunRule{Path: "runs/**/run.json", Sheets: c.sheets, Lane: c.lane}}, library(), DefaultConfig(), nil)
		if a.Work != nil || !strings.Contains(a.Refused, c.says) {
			t.Errorf("%s: refused %q, want %q", c.name, a.Refused, c.says)
		}
		if o := (&Outcome{FailOn: referee.FailOnHigh, Audits: []Audited{a}}); !o.Fails() || o.AuditPasses() || o.Signed() || o.Digest() == (&Outcome{}).Digest() {
			t.Errorf("%s: a run that could not be audited passes", c.name)
		}
	}
}
