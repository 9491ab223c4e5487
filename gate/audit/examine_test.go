package audit_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

func TestExamine(t *testing.T) {
	rule := config.RunRule{Path: "runs/**/run.json", Sheets: []string{"*"}}
	a := audit.Examine(
		gatetest.SampleDeal(t, "oak-street"),
		audit.PlannedRun{Dir: "runs/oak-street", Rule: rule},
		gatetest.Library(),
		config.Default(),
		nil,
	)
	if a.Refused != "" || a.Work == nil || !a.Chosen || a.Work.Report.Fails(referee.FailOnHigh) {
		t.Fatalf("%+v", a)
	}
	cfg := config.Default()
	cfg.Governance.Agents = []config.AgentProfile{
		{Name: "underwriter", Profile: referee.Agent{Name: "underwriter", Model: "another", Pinned: true}},
	}
	a = audit.Examine(
		gatetest.SampleDeal(t, "oak-street"),
		audit.PlannedRun{Dir: "runs/oak-street", Rule: rule},
		gatetest.Library(),
		cfg,
		nil,
	)
	misstated := func(f referee.Finding) bool { return f.Code == "lane.profile_mismatch" }
	if a.Work == nil || !a.Work.Report.Agent.Pinned || !slices.ContainsFunc(a.Work.Report.Findings, misstated) {
		t.Errorf("a profile that run.json misstates: %+v", a)
	}
}

// TestExamineTogether: the runs of one pull request have a budget together (S81); the run that finds it spent is
// undecided and fails, and says why.
func TestExamineTogether(t *testing.T) {
	rule := config.RunRule{Path: "runs/**/run.json", Sheets: []string{"*"}}
	run := audit.PlannedRun{Dir: "runs/oak-street", Rule: rule}
	measure := &decimal.Meter{Most: audit.MaxPullWork}
	examine := func(together *decimal.Meter) *referee.Report {
		a := audit.ExamineWithin(gatetest.SampleDeal(t, "oak-street"), run, gatetest.Library(), config.Default(), nil,
			together)
		if a.Work == nil {
			t.Fatalf("refused: %s", a.Refused)
		}
		return a.Work.Report
	}
	alone := examine(nil)
	if first := examine(measure); first.Digest != alone.Digest || alone.Fails(referee.FailOnHigh) {
		t.Errorf("the first run is judged otherwise than alone: %v", first.Findings)
	}
	if measure.Spent == 0 || measure.Spent*1000 > audit.MaxPullWork {
		t.Errorf("an ordinary run takes %d of %d", measure.Spent, audit.MaxPullWork)
	}
	late := examine(&decimal.Meter{Most: measure.Spent, Spent: measure.Spent - 5})
	spent := func(f referee.Finding) bool {
		return f.Code == "math.too_complex" && strings.Contains(f.Message, "together with the audits before it")
	}
	if !late.Fails(referee.FailOnHigh) || !slices.ContainsFunc(late.Findings, spent) {
		t.Errorf("a run without room passes, or does not say why: %v", late.Findings)
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
		{name: "another version than the rule allows", sheets: []string{"cre-multifamily-agency@^2"},
			says: "the configuration lets"},
		{name: "another lane than the path's", sheets: []string{"*"}, lane: "compute", says: `accepts only lane "compute"`},
		{name: "an unknown sheet", sheets: []string{"*"},
			swap: [][3]string{{"run.json", "cre-multifamily-agency", "cre-multifamily-agenzy"}}, says: "did you mean"},
		{name: "an inactive version", sheets: []string{"*"},
			swap: [][3]string{{"run.json", `"flight_sheet": "cre-multifamily-agency`,
				`"flight_sheet": "cre-multifamily-agency@9.9.9", "x-was": "`}}, says: "the active version"},
		{name: "another lane", sheets: []string{"*"},
			swap: [][3]string{{"run.json", `"lane": "agent"`, `"lane": "dataset"`}},
			says: `run.json says lane "dataset"`},
		{name: "an unknown member", sheets: []string{"*"}, swap: [][3]string{{"run.json", `"project"`, `"projekt"`}},
			says: "run.json is refused"},
		{name: "no submission", sheets: []string{"*"},
			edit: func(m fstest.MapFS) { delete(m, "runs/oak-street/submission.json") }, says: "a file is missing"},
		{name: "no manifest", sheets: []string{"*"},
			edit: func(m fstest.MapFS) { delete(m, "runs/oak-street/run.json") }, says: "a file is missing"},
		{name: "a submission that is a link", sheets: []string{"*"}, edit: func(m fstest.MapFS) {
			m["runs/oak-street/submission.json"] = &fstest.MapFile{Data: []byte("/etc/passwd"),
				Mode: fs.ModeSymlink | 0o777}
		}, says: "symlink"},
		{name: "an id that is not the folder's", sheets: []string{"*"},
			swap: [][3]string{{"run.json", `"id": "oak-street"`, `"id": "elm-street"`}}, says: "they must be the same"},
	} {
		head := gatetest.SampleDeal(t, "oak-street", c.swap...)
		if c.edit != nil {
			c.edit(head)
		}
		a := audit.Examine(
			head,
			audit.PlannedRun{
				Dir:  "runs/oak-street",
				Rule: config.RunRule{Path: "runs/**/run.json", Sheets: c.sheets, Lane: c.lane},
			},
			gatetest.Library(),
			config.Default(),
			nil,
		)
		if a.Work != nil || !strings.Contains(a.Refused, c.says) {
			t.Errorf("%s: refused %q, want %q", c.name, a.Refused, c.says)
		}
		if o := (&outcome.Outcome{FailOn: referee.FailOnHigh, Audits: []audit.AuditedRun{a}}); !o.Fails() ||
			o.AuditPasses() ||
			o.Signed() ||
			o.Digest() == (&outcome.Outcome{}).Digest() {
			t.Errorf("%s: a run that could not be audited passes", c.name)
		}
	}
}
