package report

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/referee"
)

// The reports of this file are written by hand: what an audit of the four sample runs, of a file that is no JSON and of
// one line of a .jsonl file would say.

func sample(id string) *referee.Report {
	return &referee.Report{
		Schema: referee.ReportSchema, Location: "testdata/runs/" + id, Run: referee.RunRef{ID: id, Lane: "agent",
			Project: id}, Lane: "agent",
		Sheet: referee.SheetRef{Slug: "cre-multifamily-agency", Version: "1.0.0",
			SHA256: strings.Repeat("5e", 32)},
		Semantics: referee.SemanticsVersion,
		Engine:    referee.EngineRef{Version: "0.1.0", RegistrySHA256: strings.Repeat("4e", 32)},
		Submission: referee.SubmissionRef{Path: "submission.json", SHA256: strings.Repeat("ab", 32),
			GitBlob: strings.Repeat("cd", 20)},
		Evidence: []referee.EvidenceRef{
			{ID: "t12", Kind: "file", Path: "evidence/t12.csv", SHA256: strings.Repeat("12", 32), Bytes: 2048,
				Status: "held"},
		},
		Protocol: referee.Protocol{Parsed: true, FieldCompleteness: "11/11", TypeValidation: true},
		Gating:   referee.Gating{Passed: true},
		Digest:   strings.Repeat("d1", 32),
	}
}

func checks(n int) []referee.Check {
	out := []referee.Check{
		{ID: "structure", Kind: "structure", Category: "structure", Tier: referee.High, Status: referee.Pass},
		{ID: "schema", Kind: "schema", Category: "schema", Tier: referee.High, Status: referee.Pass},
		{ID: "dscr", Kind: "recompute", Category: "math", Tier: referee.High, Status: referee.Pass,
			Atoms: []string{"EVID_001"}, Notes: []string{"rounded"}},
		{ID: "ltv", Kind: "recompute", Category: "math", Tier: referee.High, Status: referee.Pass},
		{ID: "inputs_match_evidence", Kind: "inputs_match_evidence", Category: "evidence", Tier: referee.High,
			Status: referee.Pass},
		{ID: "dscr_floor", Kind: "expr", Category: "policy", Tier: referee.High, Status: referee.Pass},
		{ID: "ltv_cap", Kind: "expr", Category: "policy", Tier: referee.Mid, Status: referee.Pass},
		{ID: "market_view", Kind: "checklist", Category: "policy", Tier: referee.Mid, Status: referee.Open},
	}
	return out[:n]
}

func verdict(r *referee.Report, score string, severity referee.Severity, action string) {
	c := &r.Verdict.Counts
	for _, check := range r.Checks {
		c.Declared++
		switch check.Status {
		case referee.Pass:
			c.Satisfied++
		case referee.Flag:
			c.Flagged++
		case referee.Skip:
			c.Skipped++
		case referee.Open:
			c.Open++
		}
	}
	for _, f := range r.Findings {
		switch f.Tier {
		case referee.High:
			r.Verdict.Risk.High++
		case referee.Mid:
			r.Verdict.Risk.Mid++
		case referee.Low:
			r.Verdict.Risk.Low++
		}
	}
	r.Verdict.Score, r.Verdict.Severity, r.Verdict.RecommendedAction = score, severity, action
	r.Verdict.ScoreFraction = fmt.Sprintf("%d/%d", c.Satisfied, c.Declared)
	if severity == referee.Unsigned {
		r.Verdict.SeverityIfApproved = referee.Honey
	}
}

func oakStreet() *referee.Report {
	r := sample("oak-street")
	r.Checks = checks(7)
	r.Atoms = []referee.Atom{{ID: "EVID_001", Type: "math.rederived", Field: "/calculations/0/result", Pass: true,
		Severity: "info", Scope: "field", Message: "1.3123 re-derives"}}
	verdict(r, "100.0", referee.Unsigned, "approve")
	return r
}

func mapleCourt() *referee.Report {
	r := sample("maple-court")
	r.Checks = checks(8)
	r.Checks[6].Status = referee.Flag
	r.Checklist = []referee.Question{{ID: "market_view", Text: "Does the market study name at least three " +
		"comparable leases signed within twelve months?",
		Why: "Rents without comparables are a hope."}}
	r.Findings = []referee.Finding{{
		Code: "policy.ltv_cap", RuleIDs: []string{"ltv_cap"}, Tier: referee.Mid, Severity: "noncritical",
		Bucket: referee.DealFinding, Stage: referee.StagePolicy,
		Pointer: "/calculations/1", File: "submission.json", Line: 31, Column: 5,
		Message: "loan to value is 0.7642; the sheet's cap is 0.75", Spot: &referee.Spot{Gate: "ltv <= 0.75",
			Recomputed: "0.7642", Distance: "0.0142"},
		Fix: &referee.Fix{Text: "bring the loan down, or show a higher appraised value", Moves: []referee.Move{
			{Input: "loan_amount", From: "8215150", To: "8062500"}, {Input: "appraised_value", From: "10750000",
				To: "10953533.33"}}},
	}}
	verdict(r, "75.0", referee.Jelly, "review")
	return r
}

func elmPlaza() *referee.Report {
	r := sample("elm-plaza")
	r.Checks = checks(8)
	r.Checks[2].Status, r.Checks[5].Status, r.Checks[4].Status = referee.Flag, referee.Flag, referee.Skip
	r.Checks[4].Reason = "no calculation carries sources, so that no input can be held against the evidence"
	r.Verdict.UndecidedHigh = []string{"inputs_match_evidence"}
	r.Atoms = []referee.Atom{
		{ID: "EVID_001", Type: "math.rederived", Field: "/calculations/0/result", Severity: "critical", Scope: "field",
			Message: "1.30 is 27.2 % off 1.0217"},
		{ID: "EVID_002", Type: "math.rederived", Field: "/calculations/1/result", Pass: true, Severity: "info",
			Scope: "field", Message: "0.71 re-derives"},
	}
	r.Findings = []referee.Finding{
		{Code: "math.mismatch", RuleIDs: []string{"dscr"}, Tier: referee.High, Severity: "critical",
			Bucket: referee.WorkDefect, Stage: referee.StageMath,
			Pointer: "/calculations/0/result", File: "submission.json", Line: 22, Column: 17, EndLine: 22, EndCol: 21,
			Message: "the calculation DSCR claims 1.30; its own formula noi / annual_debt_service with noi = " +
				"720,000 and annual_debt_service = 704,707 gives 1.0217",
			Why: "A coverage that is not there pays no debt.",
			Spot: &referee.Spot{Claimed: "1.3", Recomputed: "1.0217", Delta: "0.2783", Percent: "27.2389",
				Band: "high"},
			Fix: &referee.Fix{Text: "state 1.0217, or correct the inputs",
				JSONPatch: `[{"op":"replace","path":"/calculations/0/result","value":1.0217}]`},
			Atoms: []string{"EVID_001"}},
		{Code: "policy.dscr_floor", RuleIDs: []string{"dscr_floor", "dscr_floor_stressed"}, Tier: referee.High,
			Severity: "critical", Bucket: referee.DealFinding, Stage: referee.StagePolicy,
			Pointer: "/calculations/0", File: "submission.json", Line: 18, Column: 5,
			Message: "the recomputed DSCR of 1.0217 is below the lender's floor of 1.25",
			Spot:    &referee.Spot{Gate: "dscr >= 1.25", Recomputed: "1.0217", Distance: "0.2283"}},
		{Code: "math.coarse_rounding", RuleIDs: []string{"math.rederivation"}, Tier: referee.Low,
			Severity: "noncritical", Bucket: referee.WorkDefect, Stage: referee.StageMath,
			Pointer: "/calculations/4/result", File: "submission.json", Line: 64, Column: 17, EndLine: 64, EndCol: 21,
			Message: "0.05 is an honest rounding of 0.0516 that hides 3.1 %; state more digits"},
	}
	r.Adjudication.Attribution = []referee.Attribution{{RuleID: "dscr", Code: "math.mismatch", Tier: referee.High,
		Atoms: []string{"EVID_001"}}}
	r.Notices = []string{"the sheet cre-multifamily-agency of this repository shadows the library's"}
	r.Derived = []referee.Derived{{ID: "debt_yield", Value: "0.0876"},
		{ID: "irr", Reason: "the cash flows change sign twice"}}
	r.Explained = []referee.Explanation{{RuleID: "dscr_floor", Text: "dscr >= 1.25", Outcome: "false",
		Operands: []referee.ExplainedOperand{{Text: "dscr", Value: "1.0217", From: "recomputed from /calculations/0"},
			{Text: "1.25", Value: "1.25", From: "the sheet"}}}}
	verdict(r, "50.0", referee.Propolis, "resubmit")
	return r
}

func riverLofts() *referee.Report {
	r := sample("river-lofts")
	r.Checks = checks(7)
	r.Checks[5].Status = referee.Flag
	r.Findings = []referee.Finding{{Code: "policy.dscr_floor", RuleIDs: []string{"dscr_floor"}, Tier: referee.High,
		Severity: "critical", Bucket: referee.DealFinding,
		Stage: referee.StagePolicy, Pointer: "/calculations/0", File: "submission.json", Line: 18, Column: 5,
		Message: "the recomputed DSCR of 1.1032 is below the lender's floor of 1.25",
		Fix: &referee.Fix{Text: "no wording mends this",
			Moves: []referee.Move{{Input: "noi", From: "777411", To: "880884"}}}}}
	verdict(r, "85.7", referee.Propolis, "reject")
	return r
}

// unreadable is a bare file that is no JSON.
func unreadable() *referee.Report {
	r := sample("")
	r.Run, r.Location, r.Submission.Path = referee.RunRef{}, "inbox/answer, final.json", "answer, final.json"
	r.Protocol = referee.Protocol{FieldCompleteness: "0/11"}
	r.Checks = checks(7)
	for i := range r.Checks[1:] {
		r.Checks[i+1].Status, r.Checks[i+1].BlockedBy = referee.Skip, "structure"
	}
	r.Checks[0].Status = referee.Flag
	r.Verdict.UndecidedHigh = []string{"schema", "dscr"}
	r.Gating = referee.Gating{Reasons: []string{"the submission cannot be read"}}
	r.Findings = []referee.Finding{{Code: "structure.json_valid", RuleIDs: []string{"structure"}, Tier: referee.High,
		Severity: "critical",
		Bucket:   referee.WorkDefect, Stage: referee.StageStructure, File: "answer, final.json", Line: 3, Column: 12,
		Message: `duplicate key "noi" (first at line 2, column 3): a name may stand only once in an object`}}
	verdict(r, "0.0", referee.Propolis, "resubmit")
	return r
}

// lineOf is the n-th submission of a .jsonl file, flagged if n divides by 9.
func lineOf(n int) *referee.Report {
	r := sample("")
	r.Run, r.Location = referee.RunRef{}, "data/answers.jsonl"
	r.Submission.Path, r.Submission.Line = "answers.jsonl", n
	r.Checks = checks(7)
	if n%9 != 0 {
		verdict(r, "100.0", referee.Unsigned, "approve")
		return r
	}
	r.Checks[3].Status = referee.Flag
	f := referee.Finding{Code: "math.mismatch", RuleIDs: []string{"ltv"}, Tier: referee.Mid, Severity: "noncritical",
		Bucket: referee.WorkDefect, Stage: referee.StageMath,
		Pointer: "/calculations/1/result", File: "answers.jsonl", Line: n, Column: 310, EndLine: n, EndCol: 314,
		Message: "claims 0.75; recomputed 0.71"}
	if n%18 == 0 {
		f.Tier, f.Severity, f.Message = referee.High, "critical", "claims 0.95; recomputed 0.71"
	}
	r.Findings = []referee.Finding{f}
	if f.Tier == referee.High {
		verdict(r, "85.7", referee.Propolis, "resubmit")
	} else {
		verdict(r, "85.7", referee.Jelly, "resubmit")
	}
	return r
}

func lines(n int) []*referee.Report {
	var out []*referee.Report
	for i := range n {
		out = append(out, lineOf(i+1))
	}
	return out
}
