package ledger

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// findingFacts is what a verdict is made of: a finding without its words. The ids of its rules are as canonical JSON writes them.
type findingFacts struct {
	tier, severity, bucket, stage string
	rules                         []string
}

// factsOf gives the facts of findings that were read.
func factsOf(findings []Finding) iter.Seq[findingFacts] {
	return func(yield func(findingFacts) bool) {
		for _, f := range findings {
			if !yield(findingFacts{f.Tier, f.Severity, f.Bucket, f.Stage, f.RuleIDs}) {
				return
			}
		}
	}
}

// factsIn finds the facts in the bytes of a receipt's findings, which were checked. No other member within a finding has one of these keys
// (TestFactsIn), within a text a quotation mark has a backslash before it, and tier is the last of them in the order of keys.
func factsIn(findings []byte) iter.Seq[findingFacts] {
	return func(yield func(findingFacts) bool) {
		for rest := findings; ; {
			var f findingFacts
			if f.bucket, rest = wordAfter(rest, `"bucket":"`); rest == nil {
				return
			}
			f.rules, rest = listAfter(rest, `"rule_ids":[`)
			f.severity, rest = wordAfter(rest, `"severity":"`)
			f.stage, rest = wordAfter(rest, `"stage":"`)
			if f.tier, rest = wordAfter(rest, `"tier":"`); !yield(f) {
				return
			}
		}
	}
}

// wordAfter gives a string without escapes behind its key, and what follows; nil where the key does not come.
func wordAfter(b []byte, key string) (string, []byte) {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return "", nil
	}
	b = b[i+len(key):]
	end := bytes.IndexByte(b, '"')
	return string(b[:end]), b[end:]
}

// listAfter gives the strings of a list behind its key, as they are written, and what follows.
func listAfter(b []byte, key string) (list []string, rest []byte) {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return nil, b
	}
	b = b[i+len(key):]
	for len(b) > 0 && b[0] != ']' {
		if b[0] != '"' {
			b = b[1:]
			continue
		}
		end := 1
		for b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		list, b = append(list, string(b[1:end])), b[end+1:]
	}
	return list, b
}

// sum is what the findings of a receipt make together.
type sum struct {
	seen                            Risk
	n                               int
	critical                        bool
	blocking, nit, deal, heavy, fit bool // a work-defect of mid or high, of low; a deal-finding, one that is high or critical; a stack-fit flag
	flagged                         map[string]bool
	checklist                       int
}

// sumUp adds the findings up, and holds them to their order.
func sumUp(findings iter.Seq[findingFacts]) (sum, error) {
	s, last := sum{flagged: map[string]bool{}}, 0
	for f := range findings {
		s.n++
		rank := slices.Index(forms["tier"].Enum, f.tier)
		if rank < last {
			return s, refuse(RefuseFindings, "finding %d is %s but follows a lighter one; findings must be ranked", s.n, f.tier)
		}
		last = rank
		*[]*int{&s.seen.High, &s.seen.Mid, &s.seen.Low}[rank]++
		s.add(f)
	}
	return s, nil
}

func (s *sum) add(f findingFacts) {
	for _, id := range f.rules {
		s.flagged[id] = true
	}
	critical := f.severity == "critical"
	s.critical = s.critical || critical
	if f.stage == "checklist" {
		s.checklist++
	}
	switch {
	case f.bucket == "stack-fit":
		s.fit = true
	case f.bucket == "deal-finding":
		s.deal, s.heavy = true, s.heavy || critical || f.tier == "high"
	case f.tier == "low":
		s.nit = true
	default:
		s.blocking = true
	}
}

// checkFacts holds the findings to their order and number, and the verdict to the findings. A receipt shows at most MaxFindings, and what follows
// from all of them is held where all are there.
func (r *Receipt) checkFacts(findings iter.Seq[findingFacts]) error {
	s, err := sumUp(findings)
	if err != nil {
		return err
	}
	if s.n > MaxFindings || s.n > r.FindingsTotal {
		return refuse(RefuseFindings, "%d findings of %d in all; a receipt lists at most %d", s.n, r.FindingsTotal, MaxFindings)
	}
	if r.Verdict == nil {
		return nil
	}
	all := s.n == r.FindingsTotal
	for _, check := range []func(sum, bool) error{r.checkRisk, r.checkFlagged, r.checkSeverityOf, r.checkReady, r.checkAction} {
		if err := check(s, all); err != nil {
			return err
		}
	}
	return r.checkScore()
}

func (r *Receipt) checkRisk(s sum, all bool) error {
	risk := r.Verdict.Risk
	if all && s.seen != risk {
		return refuse(RefuseCounts, "the findings are %d high, %d mid and %d low, the verdict says %d, %d and %d",
			s.seen.High, s.seen.Mid, s.seen.Low, risk.High, risk.Mid, risk.Low)
	}
	return nil
}

// checkFlagged: a rule is flagged where a finding names it, and nowhere else; a person who says no makes a finding.
func (r *Receipt) checkFlagged(s sum, all bool) error {
	said := 0
	for _, a := range r.Checklist {
		if a.Answer == "flag" {
			said++
		}
	}
	for _, id := range r.Verdict.UndecidedHigh {
		delete(s.flagged, id) // skipped, and a finding says so (S74)
	}
	flagged := r.Verdict.Counts.Flagged
	switch {
	case all && len(s.flagged) != flagged, len(s.flagged) > flagged:
		return refuse(RefuseCounts, "the findings name %d rules that were decided, the verdict counts %d as flagged", len(s.flagged), flagged)
	case all && s.checklist != said, s.checklist > said:
		return refuse(RefuseChecklist, "a person said no to %d questions, %d findings say so", said, s.checklist)
	}
	return nil
}

// checkSeverityOf: propolis where a finding is high or critical, jelly where one is neither, and without a finding what checkSeverity allows.
func (r *Receipt) checkSeverityOf(s sum, all bool) error {
	v, want := r.Verdict, ""
	switch {
	case r.FindingsTotal == 0:
		if v.Severity != "honey" && v.Severity != "unsigned" {
			return refuse(RefuseSeverity, "%s without a finding; that is honey or, where nobody approved, unsigned", v.Severity)
		}
		want = "honey"
	case v.Risk.High > 0 || s.critical:
		want = "propolis"
	case all:
		want = "jelly"
	default:
		return nil // a critical finding may be among those that are not shown
	}
	if r.FindingsTotal > 0 && v.Severity != want {
		return refuse(RefuseSeverity, "%s, the findings make it %s", v.Severity, want)
	}
	if v.SeverityIfApproved != "" && v.SeverityIfApproved != want {
		return refuse(RefuseSeverity, "severity_if_approved is %s, the findings make it %s", v.SeverityIfApproved, want)
	}
	return nil
}

// checkReady: S40, as far as the receipt shows it. Which skipped rules are high it does not show.
func (r *Receipt) checkReady(s sum, all bool) error {
	v := r.Verdict
	kept := s.blocking || s.fit || v.Counts.Open > 0 || len(v.UndecidedHigh) > 0
	if v.ClientReady && kept {
		return refuse(RefuseReady, "client_ready with a work-defect that is mid or high, a stack-fit flag, or something that is open or undecided (S40)")
	}
	if !v.ClientReady && !kept && all && v.Counts.Skipped == 0 {
		return refuse(RefuseReady, "client_ready is false, and nothing in the receipt keeps it from being true (S40)")
	}
	return nil
}

// checkAction: the recommended action is the one of S39, by the text that the receipt's semantics number had.
func (r *Receipt) checkAction(s sum, all bool) error {
	got := r.Verdict.RecommendedAction
	allowed := r.actions(s)
	if !all { // what is not shown may be heavier in bucket, never in tier
		allowed = []string{"resubmit"}
		if !s.blocking {
			allowed = []string{"resubmit", "reject", "review"}
		}
	}
	if !slices.Contains(allowed, got) {
		return refuse(RefuseAction, "the recommended action is %s; findings, counts and lane make it %s (S39, semantics %d)", got,
			strings.Join(allowed, " or "), r.Semantics)
	}
	return nil
}

// actions gives the actions that S39 can recommend: two, where it rests on whether a skipped rule was high, which a receipt does not show.
func (r *Receipt) actions(s sum) []string {
	reject := s.heavy && (r.Semantics < 2 || r.Run.Lane != "incident")
	review := s.fit || s.nit
	counts := r.Verdict.Counts
	switch {
	case s.blocking:
		return []string{"resubmit"}
	case r.Semantics < 2 && review:
		return []string{"review"}
	case reject:
		return []string{"reject"}
	case review, s.deal, counts.Open > 0, len(r.Verdict.UndecidedHigh) > 0:
		return []string{"review"}
	case counts.Skipped > 0:
		return []string{"approve", "review"}
	}
	return []string{"approve"}
}

// checkScore recomputes what follows from the counts (S13, S35).
func (r *Receipt) checkScore() error {
	v, c := r.Verdict, r.Verdict.Counts
	decided := c.Satisfied + c.Flagged
	for _, m := range []struct{ name, got, want string }{
		{"score", v.Score, share(c.Satisfied, c.Declared)},
		{"score_fraction", v.ScoreFraction, fmt.Sprintf("%d/%d", c.Satisfied, c.Declared)},
		{"score_decided", v.ScoreDecided, share(c.Satisfied, decided)},
		{"coverage", v.Coverage, share(decided, c.Declared)},
	} {
		if m.got != m.want && (m.got != "" || m.name == "score") {
			return refuse(RefuseScore, "%s is %q; %d satisfied and %d flagged of %d declared make %s", m.name, clip(m.got), c.Satisfied, c.Flagged, c.Declared, m.want)
		}
	}
	weighted := rational(v.WeightedScore)
	if v.WeightedScore != "" && (!isDecimal([]byte(v.WeightedScore)) || weighted.Sign() < 0 || weighted.Cmp(rational("100")) > 0) {
		return refuse(RefuseScore, "weighted_score is %q; it must be between 0 and 100", clip(v.WeightedScore))
	}
	if want := 5*v.Risk.High + 2*v.Risk.Mid + v.Risk.Low; v.RiskPoints != want {
		return refuse(RefuseScore, "risk_points is %d; %d high, %d mid and %d low make %d", v.RiskPoints, v.Risk.High, v.Risk.Mid, v.Risk.Low, want)
	}
	return nil
}

// share is 100·n/d, floored to one decimal (S13). The counts are within 2^53, so that a thousand of them fit into 64 bits.
func share(n, d int) string {
	if d == 0 {
		return "0"
	}
	tenths := int64(n) * 1000 / int64(d)
	return strings.TrimSuffix(strconv.FormatInt(tenths/10, 10)+"."+strconv.FormatInt(tenths%10, 10), ".0")
}
