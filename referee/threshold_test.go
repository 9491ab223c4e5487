package referee

import "testing"

// S39a by hand: which findings fail at which threshold.
func TestThresholdCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		threshold, tier, severity string
		want                      bool
	}{
		{"high", "high", "noncritical", true}, {"high", "mid", "noncritical", false}, {"high", "low", "critical", true},
		{"mid", "high", "critical", true}, {"mid", "mid", "noncritical", true}, {"mid", "low", "noncritical", false},
		{"low", "low", "noncritical", true}, {"low", "high", "critical", true},
		{"never", "high", "critical", false}, {"never", "low", "noncritical", false},
		{"high", "hgih", "noncritical", true}, // what is no tier weighs as high
	} {
		limit, err := ParseThreshold(c.threshold)
		if err != nil || limit.String() != c.threshold {
			t.Fatalf("%s: %v, %v", c.threshold, limit, err)
		}
		f := Finding{Tier: Tier(c.tier), Severity: c.severity}
		if limit.Covers(f) != c.want || (&Report{Findings: []Finding{f}}).Fails(limit) != c.want {
			t.Errorf("%s at %s, %s: want %t", c.threshold, c.tier, c.severity, c.want)
		}
	}
}

func TestThresholdRefusesOtherWords(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "Mid", "HIGH", "none", "never ", "medium"} {
		if limit, err := ParseThreshold(s); err == nil || limit != FailOnHigh {
			t.Errorf("%q: %v, %v; want a refusal and the default", s, limit, err)
		}
	}
}

func TestThresholdOrder(t *testing.T) {
	t.Parallel()
	order := []Threshold{FailNever, FailOnHigh, FailOnMid, FailOnLow} // each stricter than the one before
	for i, a := range order {
		for j, b := range order {
			if a.Stricter(b) != (i > j) {
				t.Errorf("%s stricter than %s: want %t", a, b, i > j)
			}
		}
	}
}
