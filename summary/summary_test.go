package summary

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

func sample(agent, score, severity string, findings ...Finding) Sample {
	return Sample{Sheet: "s", Version: "1.0.0", Lane: "agent", Agent: agent, Model: "m", Score: score,
		Severity: severity, Action: "review", Eligible: severity != "propolis",
		Readable: true, Have: 9, Need: 10, Findings: findings, Checks: []Check{{"expr", "pass"}, {"expr", "flag"},
			{"math", "skip"}}, Values: []Value{{"mae", score}}}
}

// The numbers are counted by hand: 2 of 3 eligible is 66.6 (floored), 27 of 30 members present is 90, all 3 could be
// read, the mean of 80, 90 and 95 is 88.333333.
func TestSheet(t *testing.T) {
	s := Of([]Sample{
		sample("a", "80", "jelly", Finding{Code: "math.mismatch", Tier: "mid", Bucket: "work-defect", Percent: "5"}),
		sample("a", "90", "propolis", Finding{Code: "math.mismatch", Tier: "high", Bucket: "work-defect",
			Percent: "20"}, Finding{Code: "math.mismatch", Tier: "mid", Bucket: "work-defect", Percent: "infinite"}),
		sample("b", "95", "unsigned"),
	})
	if len(s.Sheets) != 1 || len(s.Agents) != 2 {
		t.Fatalf("%d sheets, %d agents", len(s.Sheets), len(s.Agents))
	}
	x := s.Sheets[0]
	for name, pair := range map[string][2]any{
		"eligible": {x.Eligible, 2}, "eligibility": {x.Eligibility, "66.6"}, "availability": {x.Availability, "100"},
		"completeness": {x.Completeness, "90"},
		"mean":         {x.Score.Mean, "88.333333"},
		"p50":          {x.Score.P50, "90"}, "p95": {x.Score.P95, "95"}, "errors": {x.Errors.N, 2},
		"greatest error":                    {x.Errors.Max, "20"},
		"values over eligible samples only": {x.Values[0].N, 2},
		"compliance": {x.Compliance,
			[]Compliance{{Kind: "expr", Satisfied: 3, Flagged: 3, Rate: "50"}, {Kind: "math", Skipped: 3}}},
		"failures": {x.Failures,
			[]Failure{{Code: "math.mismatch", Tier: "high", Bucket: "work-defect", Samples: 2, Findings: 3,
				Rate: "66.6"}}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestAgent(t *testing.T) {
	var group []Sample
	for range 50 {
		group = append(group, sample("a", "100", "unsigned"))
	}
	group = append(group, sample("a", "40", "jelly", Finding{Code: "policy.x", Tier: "mid", Bucket: "deal-finding"}))
	a := Of(group).Agents[0]
	// 51 samples in at most 24 points is three at a time: 17 points, the last of 100, 100 and 40, whose mean is 80.
	if len(a.Trend) != 17 || a.Trend[16] != (Point{From: 49, To: 51, Score: "80"}) {
		t.Errorf("%d points, the last %v", len(a.Trend), a.Trend[len(a.Trend)-1])
	}
	if want := []Count{{"mid", 1, "1.9"}}; !reflect.DeepEqual(a.Tiers, want) {
		t.Errorf("tiers %v, want %v", a.Tiers, want)
	}
}

// Nearest-rank by hand: of 1 … 10, the 50th percentile is the 5th value, the 95th and 99th the 10th.
func TestPercentiles(t *testing.T) {
	d := Distribution{}
	for _, v := range []string{"10", "9", "8", "7", "6", "5", "4", "3", "2", "1"} {
		d.add(v)
	}
	d.close()
	if d.P50 != "5" || d.P95 != "10" || d.P99 != "10" || d.Min != "1" || d.Mean != "5.5" {
		t.Errorf("%+v", d)
	}
	if got, want := d.Histogram(3), []int{3, 3, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("histogram %v, want %v", got, want)
	}
}

func TestShardsSumUpToTheWhole(t *testing.T) {
	all := []Sample{sample("a", "1", "jelly"), sample("b", "2", "jelly"), sample("a", "3", "jelly")}
	whole, _ := json.Marshal(Of(all))
	again, _ := json.Marshal(Of(append(append([]Sample{}, all[:1]...), all[1:]...)))
	if string(whole) != string(again) {
		t.Error("the same samples give other bytes")
	}
}

func TestFromReceipt(t *testing.T) {
	if _, ok := FromReceipt(&ledger.Receipt{Kind: ledger.Merged}); ok {
		t.Error("an entry without an audit is no sample")
	}
	s, ok := FromReceipt(&ledger.Receipt{Run: ledger.Run{ID: "r", Lane: "agent"}, Agent: &ledger.Agent{Name: "a",
		ConfidencePrior: "0.7"}, Verdict: &ledger.Verdict{Score: "90", Severity: "honey", Risk: ledger.Risk{High: 0}},
		Findings: []ledger.Finding{{Code: "math.mismatch", Tier: "low", Spot: &ledger.Spot{Percent: "1.5"}}}})
	if !ok || !s.Eligible || s.Confidence != "0.7" || s.Findings[0].Percent != "1.5" {
		t.Errorf("%v %+v", ok, s)
	}
}

func TestFromReport(t *testing.T) {
	r := &referee.Report{Verdict: referee.Verdict{Score: "90"}, Protocol: referee.Protocol{Parsed: true,
		FieldCompleteness: "3/4"},
		Checks: []referee.Check{{ID: "structure", Kind: "implicit", Category: "structure", Status: referee.Pass},
			{ID: "gate", Kind: "expr", Category: "policy", Status: referee.Flag}}}
	s := FromReport(r)
	if s.Have != 3 || s.Need != 4 || !reflect.DeepEqual(s.Checks, []Check{{"structure", "pass"}, {"expr", "flag"}}) {
		t.Errorf("%+v", s)
	}
}
