package referee

import (
	"strings"
	"testing"
)

// TestScoreIsFloored: 99.96 is never shown as 100 (S13); by hand.
func TestScoreIsFloored(t *testing.T) {
	for _, c := range []struct {
		n, d int
		want string
	}{{2499, 2500, "99.9"}, {2500, 2500, "100"}, {1, 3, "33.3"}, {2, 3, "66.6"}, {0, 7, "0"}, {0, 0, "0"},
		{1, 1000, "0.1"}, {1, 10_000, "0"}} {
		if got := percentShare(c.n, c.d); got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.n, c.d, got, c.want)
		}
	}
}

// TestRankIsTotal: whatever order findings are raised in, they come out in one.
func TestRankIsTotal(t *testing.T) {
	base := []Finding{
		{Code: "a", Tier: High, Severity: "critical", Bucket: WorkDefect, Stage: StageMath, order: 1, doc: 5,
			Pointer: "/x"}, {Code: "b", Tier: High, Severity: "critical", Bucket: WorkDefect, Stage: StageMath,
			order: 1, doc: 5, Pointer: "/x"},
		{Code: "a", Tier: High, Severity: "critical", Bucket: WorkDefect, Stage: StageMath, order: 1, doc: 5,
			Pointer: "/y"}, {Code: "a", Tier: Mid, Severity: "critical", Bucket: StackFit, Stage: StageLane, order: 9},
		{Code: "a", Tier: Mid, Severity: "noncritical", Bucket: WorkDefect, Stage: StageStructure},
		{Code: "a", Tier: Mid, Severity: "noncritical", Bucket: DealFinding, Stage: StagePolicy},
		{Code: "a", Tier: Low, Severity: "critical", Bucket: WorkDefect, Stage: StageStructure},
	}
	want := "a/x a/y b/x a a a a"
	for shift := range base {
		turned := append(append([]Finding{}, base[shift:]...), base[:shift]...)
		rankFindings(turned)
		var got []string
		for _, f := range turned {
			got = append(got, f.Code+f.Pointer)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("turned by %d: %v, want %s", shift, got, want)
		}
		if turned[3].Bucket != StackFit || turned[4].Stage != StageStructure || turned[6].Tier != Low {
			t.Errorf("turned by %d: %+v", shift, turned)
		}
	}
}

// TestAtoms: numbered from EVID_001, cited by findings; all of them only where asked for.
func TestAtoms(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	bad := ratioSubmission("110", "100", "noi / debt", "1.5")
	rep := auditText(sheet, bad)
	cited := map[string]bool{}
	for _, f := range rep.Findings {
		for _, id := range f.Atoms {
			cited[id] = true
		}
	}
	for _, at := range rep.Atoms {
		if !cited[at.ID] || at.Pass || !strings.HasPrefix(at.ID, "EVID_0") {
			t.Errorf("an atom that nothing cites: %+v", at)
		}
	}
	all := auditText(sheet, bad, func(c *Case) { c.AllAtoms = true })
	if len(all.Atoms) <= len(rep.Atoms) || all.Atoms[0].ID != "EVID_001" {
		t.Errorf("%d atoms of %d, first %s", len(rep.Atoms), len(all.Atoms), all.Atoms[0].ID)
	}
	for n, want := range map[int]string{1: "EVID_001", 12: "EVID_012", 123: "EVID_123", 1234: "EVID_1234"} {
		if got := atomID(n); got != want {
			t.Errorf("atom %d is %s, want %s", n, got, want)
		}
	}
}

// TestScoresOfTheSheet: the fixed protocol's scores are derived values; none where gating failed.
func TestScoresOfTheSheet(t *testing.T) {
	sheet := mustSheet(
		t, `"required_inputs":[{"name":"a"}],"derive":[{"id":"avail","expr":"a / 8"},{"id":"all","expr":"a * 10"}],
			"scores":{"availability":"avail","total":"all"},
		"eval_spec":{"rules":[{"id":"r","expr":"a > 1","tier":"high"},{"id":"must","expr":"a < 100","tier":"low",
		"non_compensable":true}]}`)
	good := auditText(sheet, `{"inputs":{"a":4}}`)
	if s := good.Scores; s == nil || s.Availability != "0.5" || s.Total != "40" || s.Gated || !good.Gating.Passed ||
		!good.Adjudication.Eligible {
		t.Errorf("%+v %+v", s, good.Gating)
	}
	high := auditText(sheet, `{"inputs":{"a":1}}`)
	if s := high.Scores; s == nil || !s.Gated || s.Total != "" || high.Gating.Passed || high.Adjudication.Eligible {
		t.Errorf("%+v %+v", s, high.Gating)
	}
	low := auditText(sheet, `{"inputs":{"a":101}}`)
	if low.Gating.Passed || !low.Scores.Gated {
		t.Errorf("a flag of a non-compensable rule does not stop the sample: %+v", low.Gating)
	}
}

// TestLinesOfJSONL: a finding in the seventh line of a .jsonl file is placed there.
func TestLinesOfJSONL(t *testing.T) {
	rep := auditText(mustSheet(t, ratioSheet), ratioSubmission("110", "100", "noi / debt", "1.1"),
		func(c *Case) { c.Line = 7 })
	if f := findingOf(t, rep, "policy.dscr_gate"); f.Line != 7 || rep.Submission.Line != 7 {
		t.Errorf("line %d of %d", f.Line, rep.Submission.Line)
	}
	broken := auditText(mustSheet(t, ratioSheet), `{"a":`, func(c *Case) { c.Line = 3 })
	if f := broken.Findings[0]; f.Line != 3 {
		t.Errorf("line %d", f.Line)
	}
}
