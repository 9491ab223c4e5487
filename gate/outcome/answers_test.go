package outcome

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/referee"
)

// runWithQuestions is a run with open questions and findings.
func runWithQuestions(id string, asks, flags []string) audit.AuditedRun {
	a := audit.AuditedRun{Dir: "runs/" + id, Work: &receipt.Work{Run: &referee.Run{ID: id}, Report: &referee.Report{}}}
	for _, q := range asks {
		a.Work.Report.Checks = append(a.Work.Report.Checks, referee.Check{ID: q, Status: referee.Open})
	}
	for _, f := range flags {
		a.Work.Report.Findings = append(a.Work.Report.Findings, referee.Finding{RuleIDs: []string{f}})
	}
	return a
}

// TestAnswersForRuns: a word about one run beats one about all, and concerns no other run.
func TestAnswersForRuns(t *testing.T) {
	c := signoff.ParseCommands(
		"/satisfied site_visit\n/flag oak:site_visit nobody was there\n/satisfied elm:only\n/accept dscr all of " +
			"them\n/accept oak:dscr this one\n/accept elm:ltv here",
	)
	oak, elm := runWithQuestions(
		"oak",
		[]string{"site_visit"},
		[]string{"dscr", "ltv"},
	), runWithQuestions(
		"elm",
		[]string{"site_visit", "only"},
		[]string{"dscr", "ltv"},
	)
	words := func(a audit.AuditedRun) (out []string) {
		for _, x := range signoff.AnswersFor(c, a.Work.Run.ID, signoff.OpenQuestions(a.Work)) {
			out = append(out, x.ID+"="+x.Answer+" "+x.Note)
		}
		for _, x := range signoff.WaiversFor(c.Accepts, a.Work) {
			out = append(out, x.RuleID+"="+x.Reason)
		}
		return out
	}
	if got, want := words(oak), []string{"site_visit=flag nobody was there", "dscr=this one"}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("oak: %q, want %q", got, want)
	}
	if got, want := words(elm), []string{"only=satisfied ", "site_visit=satisfied ", "ltv=here",
		"dscr=all of them"}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("elm: %q, want %q", got, want)
	}
	o := &Outcome{Audits: []audit.AuditedRun{oak, elm}}
	if got := o.UnaskedCommands([]signoff.Judged{{Commands: c}}); got != nil {
		t.Errorf("%q", got)
	}
}

// TestUnaskedKeys: a word that fits nothing, and one that means two things, are said.
func TestUnaskedKeys(t *testing.T) {
	o := &Outcome{
		Audits: []audit.AuditedRun{
			runWithQuestions("oak", []string{"a"}, nil),
			runWithQuestions("elm", []string{"oak:a"}, []string{"x"}),
			{Dir: "runs/broken"},
		},
	}
	for body, says := range map[string]string{"/satisfied b": "no run asks", "/satisfied elm:a": "no run asks",
		"/accept oak:x why": "flags nothing", "/satisfied oak:a": "a key of its own and a key of one run",
		"/satisfied a": "", "/satisfied elm:oak:a": "", "/accept elm:x why": ""} {
		got := strings.Join(o.UnaskedCommands([]signoff.Judged{{Commands: signoff.ParseCommands(body)}}), "; ")
		if !strings.Contains(got, says) || says == "" && got != "" {
			t.Errorf("%s: %q, want %q", body, got, says)
		}
	}
	// A rule's own id is never taken for the key of a run: the agent names its run.
	c := signoff.ParseCommands("/satisfied oak:a")
	if got := signoff.AnswersFor(c, "oak", map[string]bool{"a": true, "oak:a": true}); len(got) != 1 ||
		got[0].ID != "oak:a" {
		t.Errorf("%+v", got)
	}
}
