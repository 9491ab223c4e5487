package audit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// TestReplayHoldsWholeReceipt rewrites a receipt's own words, the digest kept, as somebody would who has the ledger:
// replay names what differs from what the work yields. What an older release made is said to need that release.
func TestReplayHoldsWholeReceipt(t *testing.T) {
	store, in, _ := gatetest.SampleLedger(t)
	w := gatetest.AuditSample(t, in, "oak-street", nil)
	e := gatetest.MintNew(t, store, w, receipt.Local{Name: "bea", At: gatetest.Nine, Answers: gatetest.AnswerAll(t, w)})
	folder, _, err := receipt.FindRun(in, e.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	again := func(edit func(*ledger.Receipt)) (*audit.Replay, error) {
		r, err := ledger.Parse(e.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		edit(r)
		return audit.Rerun(r, w.Sheet, folder, audit.Ground{}, nil)
	}
	for name, c := range map[string]struct {
		edit func(*ledger.Receipt)
		want string // the beginning of what replay says
	}{
		"score":   {func(r *ledger.Receipt) { r.Verdict.Score = "99.9" }, "verdict"},
		"verdict": {func(r *ledger.Receipt) { r.Verdict.ClientReady = !r.Verdict.ClientReady }, "verdict"},
		"counts":  {func(r *ledger.Receipt) { r.Verdict.Counts.Declared++ }, "verdict"},
		"a finding": {func(r *ledger.Receipt) {
			r.Findings = append(r.Findings, ledger.Finding{Code: "x", RuleIDs: []string{"dscr"}})
		}, "findings"},
		"total": {func(r *ledger.Receipt) { r.FindingsTotal++ }, "findings_total"},
		"agent": {func(r *ledger.Receipt) { r.Agent.Model = "another" }, "agent"},
		"evidence": {func(r *ledger.Receipt) { r.Evidence = append(r.Evidence, ledger.Evidence{ID: "x"}) },
			"evidence"},
		"assignment": {func(r *ledger.Receipt) { r.Assignment.Text = "another" }, "assignment"},
		"lane":       {func(r *ledger.Receipt) { r.Run.Project = "another" }, "run"},
		"answers":    {func(r *ledger.Receipt) { r.Checklist = r.Checklist[1:] }, "checklist"},
		"digest":     {func(r *ledger.Receipt) { r.ReportDigest = strings.Repeat("0", 64) }, "report_digest"},
	} {
		out, err := again(c.edit)
		if err != nil || out.Same ||
			!slices.ContainsFunc(out.Changed, func(s string) bool { return strings.HasPrefix(s, c.want+" differs") }) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if out, err := again(func(*ledger.Receipt) {}); err != nil || !out.Same || out.Engine != "" || out.Got != out.Want {
		t.Errorf("unchanged: %+v, %v", out, err)
	}
	out, err := again(func(r *ledger.Receipt) { r.Engine.Version, r.ReportDigest = "0.9.0", strings.Repeat("0", 64) })
	if err != nil || !out.Same || !strings.Contains(out.Engine, "0.9.0") ||
		!strings.Contains(out.Engine, referee.EngineVersion) {
		t.Errorf("another engine, the same findings: %+v, %v", out, err)
	}
	out, err = again(func(r *ledger.Receipt) {
		r.Engine.Version, r.ReportDigest, r.Verdict.Score = "0.9.0", strings.Repeat("0", 64), "1"
	})
	if err != nil || out.Same {
		t.Errorf("another engine that decides otherwise: %+v, %v", out, err)
	}
	if _, err := again(func(r *ledger.Receipt) { r.Semantics, r.Engine.Version = 1, "0.9.0" }); !errors.Is(
		err,
		audit.ErrOtherSemantics,
	) ||
		!strings.Contains(err.Error(), "release 0.9.0") {
		t.Errorf("semantics 1: %v", err)
	}
}
