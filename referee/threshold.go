package referee

import (
	"fmt"
	"slices"
	"strings"
)

// Threshold is the lightest tier that fails a report (S39a). The zero value is FailOnHigh, the default everywhere. A
// threshold that comes from outside is made by ParseThreshold only, so that a misspelt one can never fail nothing.
type Threshold uint8

// The thresholds. FailNever reports findings and fails nothing.
const (
	FailOnHigh Threshold = iota
	FailOnMid
	FailOnLow
	FailNever
)

// thresholdNames are the words of flags and configuration, in the order of the constants.
var thresholdNames = []string{"high", "mid", "low", "never"}

// ThresholdNames lists the words that ParseThreshold takes.
func ThresholdNames() []string { return slices.Clone(thresholdNames) }

// ParseThreshold reads "high", "mid", "low" or "never", and refuses everything else, other case included.
func ParseThreshold(s string) (Threshold, error) {
	at := slices.Index(thresholdNames, s)
	if at < 0 {
		return FailOnHigh, fmt.Errorf("unknown threshold %q: it must be one of %s", s,
			strings.Join(thresholdNames, ", "))
	}
	return Threshold(at), nil
}

// String is the word of the threshold.
func (t Threshold) String() string { return thresholdNames[min(int(t), len(thresholdNames)-1)] }

// Stricter reports whether t fails more reports than o does.
func (t Threshold) Stricter(o Threshold) bool { return t.lightestRank() > o.lightestRank() }

// lightestRank is the rank of the lightest tier that fails, -1 where none does.
func (t Threshold) lightestRank() int {
	if t == FailNever {
		return -1
	}
	return int(t)
}

// Covers reports whether a finding alone fails a report: its tier is at or above the threshold, or it is critical (S8).
func (t Threshold) Covers(f Finding) bool {
	return t != FailNever && (f.Tier.Rank() <= t.lightestRank() || f.Severity == "critical")
}

// rankedTiers are all tiers, heaviest first.
var rankedTiers = []Tier{High, Mid, Low}

// Tiers lists the tiers, heaviest first.
func Tiers() []Tier { return slices.Clone(rankedTiers) }

// Rank orders tiers: 0 is high, 1 mid, 2 low. What is no tier ranks as high: an unknown word never makes a finding
// lighter.
func (t Tier) Rank() int { return max(0, slices.Index(rankedTiers, t)) }

// Known reports whether t is one of the tiers.
func (t Tier) Known() bool { return slices.Contains(rankedTiers, t) }
