package referee

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CompareFindings is the part of the rank (S43) that findings of different runs share: below the stage, the order is
// the sheet's.
func CompareFindings(x, y Finding) int {
	// critical before noncritical
	return cmp.Or(cmp.Compare(x.Tier.Rank(), y.Tier.Rank()), cmp.Compare(x.Severity, y.Severity),
		cmp.Compare(bucketRank(x.Bucket), bucketRank(y.Bucket)), cmp.Compare(stageRank(x.Stage), stageRank(y.Stage)))
}

func bucketRank(b Bucket) int { return slices.Index([]Bucket{WorkDefect, DealFinding, StackFit}, b) }
func stageRank(s Stage) int {
	return slices.Index([]Stage{StageStructure, StageSchema, StageMath, StageEvidence, StagePolicy, StageLane,
		StageChecklist}, s)
}

// rankFindings sorts findings: tier, critical first, bucket, stage, sheet order, place in the document, code (S43),
// pointer. It is a total order, because no two findings share pointer and code.
func rankFindings(findings []Finding) {
	slices.SortFunc(findings, func(x, y Finding) int {
		return cmp.Or(CompareFindings(x, y), cmp.Compare(x.order, y.order), cmp.Compare(x.doc, y.doc),
			cmp.Compare(x.Code, y.Code), cmp.Compare(x.Pointer, y.Pointer))
	})
}

// riskPoints weighs a tier (S35).
func riskPoints(t Tier) int {
	switch t {
	case High:
		return 5
	case Mid:
		return 2
	case Low:
		return 1
	}
	return 0
}

// tally is what a verdict is made of: the rules, what became of each, and the findings.
type tally struct {
	rules    []*Rule
	checks   []Check
	findings []Finding
	lane     string
	readable bool // the submission is JSON
	signed   bool // a person has answered the checklist and approved
}

// verdictOf sums up (S35–S40).
func (t *tally) verdictOf() Verdict {
	v := Verdict{Counts: t.countsOf()}
	decided := v.Counts.Satisfied + v.Counts.Flagged
	v.ScoreFraction = fmt.Sprintf("%d/%d", v.Counts.Satisfied, v.Counts.Declared)
	v.Score = percentShare(v.Counts.Satisfied, v.Counts.Declared)
	v.ScoreDecided = percentShare(v.Counts.Satisfied, decided)
	v.Coverage = percentShare(decided, v.Counts.Declared)
	v.WeightedScore = t.weightedScore()
	for _, f := range t.findings {
		v.RiskPoints += riskPoints(f.Tier)
		*v.Risk.counterOf(f.Tier)++
	}
	v.UndecidedHigh = t.undecidedHigh()
	v.Severity, v.SeverityIfApproved = t.severityOf()
	v.RecommendedAction = t.recommendedAction(v)
	v.ClientReady = t.clientReady(v)
	return v
}

// counterOf is the counter of a tier.
func (r *Risk) counterOf(tier Tier) *int {
	switch tier {
	case High:
		return &r.High
	case Mid:
		return &r.Mid
	}
	return &r.Low
}

func (t *tally) countsOf() Counts {
	c := Counts{Declared: len(t.checks)}
	for _, ch := range t.checks {
		switch ch.Status {
		case Pass:
			c.Satisfied++
		case Flag:
			c.Flagged++
		case Skip:
			c.Skipped++
		case Open:
			c.Open++
		}
	}
	return c
}

// percentShare is 100·n/d, floored to one decimal: 99.96 is never shown as 100 (S13).
func percentShare(n, d int) string {
	if d == 0 {
		return "0"
	}
	tenths := int64(n) * 1000 / int64(d)
	// printed as decimal would, without a division of decimals: 3 % of an audit's time
	whole := strconv.FormatInt(tenths/10, 10)
	if tenths%10 == 0 {
		return whole
	}
	return whole + "." + strconv.FormatInt(tenths%10, 10)
}

func (t *tally) weightedScore() string {
	satisfied, all := 0, 0
	for _, ch := range t.checks {
		all += riskPoints(ch.Tier)
		if ch.Status == Pass {
			satisfied += riskPoints(ch.Tier)
		}
	}
	return percentShare(satisfied, all)
}

// undecidedHigh are the high rules that were skipped (S39a).
func (t *tally) undecidedHigh() []string {
	var out []string
	for _, ch := range t.checks {
		if isUndecidedHigh(ch) {
			out = append(out, ch.ID)
		}
	}
	return out
}

// noManifest: a bare submission names no agent and declares no evidence (S61).
func noManifest(ch Check) bool { return strings.HasPrefix(ch.Reason, "no_manifest") }

// severityOf is final where there is a flag; without one it is decided by the approval (S8, S37).
func (t *tally) severityOf() (now, ifApproved Severity) {
	if len(t.findings) == 0 {
		if t.signed {
			return Honey, Honey
		}
		return Unsigned, Honey
	}
	for _, f := range t.findings {
		if f.Tier == High || f.Severity == "critical" {
			return Propolis, Propolis
		}
	}
	return Jelly, Jelly
}

// recommendedAction is the recommended action, first match (S39). A low nit does not turn a reject into a review. What
// an incident reports is the record's, not the report's: a true and well-formed one is reviewed, never rejected.
func (t *tally) recommendedAction(v Verdict) string {
	any := func(match func(f Finding) bool) bool { return slices.ContainsFunc(t.findings, match) }
	switch {
	case !t.readable, any(func(f Finding) bool { return f.Bucket == WorkDefect && f.Tier != Low }):
		return "resubmit"
	case t.lane != "incident" &&
		any(func(f Finding) bool { return f.Bucket == DealFinding && (f.Tier == High || f.Severity == "critical") }):
		return "reject"
	case any(func(f Finding) bool { return f.Bucket == StackFit || f.Bucket == WorkDefect }):
		return "review"
	case any(func(f Finding) bool { return f.Bucket == DealFinding }), v.Counts.Open > 0, t.skippedHigh():
		return "review"
	}
	return "approve"
}

// skippedHigh reports whether any high rule was not decided, for whatever reason: such work is looked at before it is
// used.
func (t *tally) skippedHigh() bool {
	return slices.ContainsFunc(t.checks, func(ch Check) bool { return ch.Status == Skip && ch.Tier == High })
}

// clientReady: no mid or high work-defect, no stack-fit flag, nothing open, no skipped high rule (S40). Deal-findings
// do not block: the work is right, the client decides.
func (t *tally) clientReady(v Verdict) bool {
	return v.Counts.Open == 0 && !t.skippedHigh() && t.readable &&
		!slices.ContainsFunc(t.findings, func(f Finding) bool {
			return f.Bucket == StackFit || f.Bucket == WorkDefect && f.Tier != Low
		})
}

// Fails is the gate's answer at a threshold (S39a). An undecided high rule fails at every threshold but FailNever; what
// waits for a human does not.
func (r *Report) Fails(at Threshold) bool {
	return slices.ContainsFunc(r.Findings, at.Covers) || at != FailNever && len(r.Verdict.UndecidedHigh) > 0
}
