package referee_test

import (
	"fmt"

	"github.com/defendableos/referee/referee"
)

// A rulebook of one calculation and one gate, and a submission whose claim does not follow from its own inputs.
const (
	coverageSheet = `{"schema": "referee.flight-sheet/v1", "slug": "coverage", "name": "Coverage", "version": "1.0.0",
  "lane": "agent", "baseline": "none",
  "required_inputs": [{"name": "income", "type": "number"}, {"name": "debt", "type": "number"}],
  "eval_spec": {
    "math_checks": [{"formula_id": "ratio", "formula": "income / debt"}],
    "rules": [{"id": "covered", "expr": "ratio >= 1.25", "tier": "high"}]}}`

	coverageWork = `{"inputs": {"income": 1000, "debt": 900},
  "calculations": [{"name": "ratio", "formula": "income / debt", "inputs": {"income": 1000, "debt": 900},
    "result": 1.3, "units": "ratio"}]}`
)

func ExampleAudit() {
	sheet, err := referee.LoadSheet([]byte(coverageSheet), "coverage.json", "repository")
	if err != nil {
		fmt.Println(err)
		return
	}
	report := referee.Audit(referee.Case{Sheet: sheet, Path: "submission.json", Bytes: []byte(coverageWork)})
	for _, f := range report.Findings {
		fmt.Printf("%s %s at %s, line %d\n", f.Tier, f.Code, f.Pointer, f.Line)
	}
	fmt.Println("fails:", report.Fails(referee.FailOnHigh))
	// 1000 / 900 is 1.11: 17 % off the claim of 1.3, which lies across the gate at 1.25, and below that gate itself.
	//
	// Output:
	// high math.mismatch at /calculations/0/result, line 3
	// high math.straddles_gate at /calculations/0/result, line 3
	// high policy.covered at /calculations/0, line 2
	// fails: true
}

func ExampleParseThreshold() {
	limit, err := referee.ParseThreshold("mid")
	fmt.Println(limit, limit.Covers(referee.Finding{Tier: referee.Low}), err)
	_, err = referee.ParseThreshold("Mid")
	fmt.Println(err)
	// Output:
	// mid false <nil>
	// unknown threshold "Mid": it must be one of high, mid, low, never
}
