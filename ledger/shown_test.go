package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// tieredFindings is a sample with findings of a tier, each of n bytes at least: high, then mid, then low ones, all of
// one rule.
func tieredFindings(high, mid, low, n int) ledger.Receipt {
	r := storetest.Sample(0)
	one := r.Findings[0]
	one.Message = strings.Repeat("x", n)
	r.Findings = nil
	for range high {
		f := one
		f.Tier = "high"
		r.Findings = append(r.Findings, f)
	}
	for range mid {
		r.Findings = append(r.Findings, one)
	}
	for range low {
		f := one
		f.Tier = "low"
		r.Findings = append(r.Findings, f)
	}
	return storetest.Judged(r, 27, 0)
}

// TestShownFindings: a receipt that shows fewer findings than it says there are is refused, unless it is full; a full
// one is held to what its own fields still imply.
func TestShownFindings(t *testing.T) {
	full := func(edit func(*ledger.Receipt)) func() ledger.Receipt {
		return func() ledger.Receipt {
			b, err := ledger.Mint(ledger.NewHead(), tieredFindings(2, 50, 10, 6000)) // 62 of 6 KB: about 42 have room
			if err != nil {
				t.Fatal(err)
			}
			r, err := ledger.Parse(b)
			if err != nil || len(r.Findings) >= 60 || len(r.Findings) < 35 || len(b) <= ledger.FullBytes {
				t.Fatalf("%d findings in %d bytes, %v", len(r.Findings), len(b), err)
			}
			edit(r)
			return *r
		}
	}
	few := func(edit func(*ledger.Receipt)) func() ledger.Receipt {
		return func() ledger.Receipt {
			b, err := ledger.Mint(ledger.NewHead(), tieredFindings(2, 3, 1, 20))
			if err != nil {
				t.Fatal(err)
			}
			r, err := ledger.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			edit(r)
			return *r
		}
	}
	for name, c := range map[string]struct {
		make func() ledger.Receipt
		want string // refusal, "" for none
	}{
		"all of few":  {few(func(*ledger.Receipt) {}), ""},
		"full":        {full(func(*ledger.Receipt) {}), ""},
		"none of few": {few(func(r *ledger.Receipt) { r.Findings = nil }), ledger.RefuseFindings},
		"the lightest left out": {few(func(r *ledger.Receipt) { r.Findings = r.Findings[:5] }),
			ledger.RefuseFindings},
		"the heaviest left out": {few(func(r *ledger.Receipt) { r.Findings = r.Findings[2:] }),
			ledger.RefuseFindings},
		"199 of 312": {func() ledger.Receipt { return cutTo(t, tieredFindings(0, 312, 0, 20), 199) },
			ledger.RefuseFindings},
		"full, a high one hidden": {full(func(r *ledger.Receipt) { r.Findings = r.Findings[1:] }), ledger.RefuseCounts},
		"full, more high than shown": {full(func(r *ledger.Receipt) {
			r.Verdict.Risk.High, r.Verdict.Risk.Low, r.Verdict.RiskPoints = 3, 9, 3*5+50*2+9
		}), ledger.RefuseCounts},
		"full, fewer mid than shown": {full(func(r *ledger.Receipt) {
			r.Verdict.Risk.Mid, r.Verdict.Risk.Low, r.Verdict.RiskPoints = 10, 50, 2*5+10*2+50
		}), ledger.RefuseCounts},
		"full, jelly": {full(func(r *ledger.Receipt) { r.Verdict.Severity = "jelly" }),
			ledger.RefuseSeverity},
		"full, ready": {full(func(r *ledger.Receipt) { r.Verdict.ClientReady = true }),
			ledger.RefuseReady},
		"full, to be approved": {full(func(r *ledger.Receipt) { r.Verdict.RecommendedAction = "approve" }),
			ledger.RefuseAction},
		"full, to be rejected": {full(func(r *ledger.Receipt) { r.Verdict.RecommendedAction = "reject" }),
			ledger.RefuseAction},
		"critical below the other": {few(func(r *ledger.Receipt) { r.Findings[1].Severity = "critical" }),
			ledger.RefuseFindings},
		"deal before defect": {few(func(r *ledger.Receipt) {
			r.Findings[0].Bucket = "deal-finding"
		}), ledger.RefuseFindings},
		"policy before math": {few(func(r *ledger.Receipt) { r.Findings[0].Stage = "policy" }), ledger.RefuseFindings},
		"undecided, not skipped": {few(func(r *ledger.Receipt) {
			r.Kind, r.Approval.Decision = ledger.Rejected, ledger.Rejected
			r.Verdict.UndecidedHigh = []string{"dscr"}
		}), ledger.RefuseCounts},
		"accepted, not there": {few(func(r *ledger.Receipt) {
			r.Accepted = []ledger.Waiver{{RuleID: "ltv", Reason: "x", By: "rosa", At: r.MintedAt}}
		}), ledger.RefuseWaiver},
	} {
		r := c.make()
		_, err := ledger.Format(r)
		refusal, _ := errors.AsType[*ledger.Refusal](err)
		if (err == nil) != (c.want == "") || c.want != "" && (refusal == nil || refusal.Code != c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if same := r.Validate(); (same == nil) != (err == nil) {
			t.Errorf("%s: Validate says %v, Format %v", name, same, err)
		}
	}
}

// cutTo is a receipt that shows n findings.
func cutTo(t *testing.T, r ledger.Receipt, n int) ledger.Receipt {
	t.Helper()
	b, err := ledger.Mint(ledger.NewHead(), r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	out.Findings = out.Findings[:n]
	return *out
}

// TestUndecidedIsFinding: of semantics 2, a high rule that nobody decided is named by a high finding (S74).
func TestUndecidedIsFinding(t *testing.T) {
	r := tieredFindings(1, 1, 0, 20)
	r.Semantics = 2
	r.Kind, r.Approval.Decision = ledger.Rejected, ledger.Rejected
	r.Findings[1].RuleIDs = []string{"ltv"}
	r.Findings[0].RuleIDs = []string{"cap_rate"}
	r.Verdict.Counts = ledger.Counts{Declared: 28, Satisfied: 26, Flagged: 1, Skipped: 1}
	r.Verdict.Score, r.Verdict.ScoreFraction = "92.8", "26/28"
	r.Verdict.UndecidedHigh = []string{"cap_rate"}
	if _, err := ledger.Mint(ledger.NewHead(), storetest.Key(r)); err != nil {
		t.Errorf("named by a high finding: %v", err)
	}
	r.Verdict.UndecidedHigh = []string{"ltv"} // the finding of ltv is mid
	if _, err := ledger.Mint(ledger.NewHead(), storetest.Key(r)); err == nil ||
		!strings.Contains(err.Error(), "no high finding says so") {
		t.Errorf("named by a mid one: %v", err)
	}
}
