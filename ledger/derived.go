package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// findingFacts is what a verdict is made of: a finding without its words. The checks below work on these, so that a
// verification of a whole ledger need not build the findings themselves.
type findingFacts struct {
	tier, severity, bucket, stage string
	rules                         []string
}

// factsOf returns the facts of findings that were parsed.
func factsOf(findings []Finding) iter.Seq[findingFacts] {
	return func(yield func(findingFacts) bool) {
		for _, f := range findings {
			if !yield(findingFacts{f.Tier, f.Severity, f.Bucket, f.Stage, f.RuleIDs}) {
				return
			}
		}
	}
}

// factsIn finds the facts in the bytes of a receipt's findings, which the decoder has checked: a search for keys would
// be unsafe in any other text. Keys are sorted, so the five come in this order and tier is the last of them. No other
// member within a finding has one of these keys (TestFactsIn), and inside a text a quotation mark has a backslash
// before it, so that no text of a submission can pass for a key.
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

// wordAfter returns the string behind its key, and what follows; nil if the key does not occur. The strings that it is
// asked for are words of a list (forms), which contain no escapes.
func wordAfter(b []byte, key string) (string, []byte) {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return "", nil
	}
	b = b[i+len(key):]
	end := bytes.IndexByte(b, '"')
	return string(b[:end]), b[end:]
}

// listAfter returns the strings of the list behind its key, and what follows. Rule ids are free text, so unlike a word
// they may contain escaped quotation marks and brackets.
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
		list, b = append(list, unescapeString(b[:end+1])), b[end+1:]
	}
	return list, b
}

// unescapeString reads a string that was checked. encoding/json is safe for one checked string: what it reads too
// leniently (keys, numbers, trailing bytes, bad UTF-8) cannot occur in it.
func unescapeString(quoted []byte) string {
	s := string(quoted[1 : len(quoted)-1])
	if strings.IndexByte(s, '\\') >= 0 {
		_ = json.Unmarshal(quoted, &s) // the decoder has read it already
	}
	return s
}

// sum is what the findings of a receipt make together. flagged loses the undecided rules (checkFlagged), named and high
// never lose any.
type sum struct {
	seen     Risk
	n        int
	all      bool // the receipt shows all of its findings
	critical bool
	// a work-defect of mid or high, of low; a deal-finding, one that is high or critical; a stack-fit flag
	blocking, nit, deal, heavy, fit bool
	// rules that a finding names: those that were decided, all, and those of a high one
	flagged, named, high map[string]bool
	// a high finding of the structure, which speaks for every rule where the submission cannot be read
	unreadable bool
	checklist  int
	last       findingFacts // the lightest that is shown
}

// sumUp adds the findings up, and holds them to their order. The order is more than looks: a receipt that has no room
// for all shows the first ones, so whoever could order them freely could hide the heaviest.
func sumUp(findings iter.Seq[findingFacts]) (sum, error) {
	s := sum{flagged: map[string]bool{}, named: map[string]bool{}, high: map[string]bool{}}
	for f := range findings {
		s.n++
		if s.n > 1 && f.compareRank(s.last) < 0 {
			return s, refuse(RefuseFindings, "finding %d (%s) follows a lighter one (%s); findings must be ranked", s.n,
				f.rankText(), s.last.rankText())
		}
		s.last = f
		*s.seen.counterOf(f.tier)++
		s.addFinding(f)
	}
	return s, nil
}

// rankText is what findings are ranked by, in words.
func (f findingFacts) rankText() string {
	return strings.Join([]string{f.tier, f.severity, f.bucket, f.stage}, ", ")
}

// compareRank ranks findings as far as a receipt shows what they are ranked by (S43); the rest is the order of the
// sheet and of the submission. The ranks are the places of the words in forms.
func (f findingFacts) compareRank(g findingFacts) int {
	of := func(form, x, y string) int {
		return slices.Index(forms[form].Enum, x) - slices.Index(forms[form].Enum, y)
	}
	return cmp.Or(of("tier", f.tier, g.tier), of("finding_severity", f.severity, g.severity),
		of("bucket", f.bucket, g.bucket), of("stage", f.stage, g.stage))
}

// counterOf is the counter of a tier; the decoder has refused every word but the three.
func (r *Risk) counterOf(tier string) *int {
	switch tier {
	case "high":
		return &r.High
	case "mid":
		return &r.Mid
	}
	return &r.Low
}

// addFinding counts one finding for every rule that it names: findings with one pointer and code are merged (S49), so
// one of them may flag several rules.
func (s *sum) addFinding(f findingFacts) {
	for _, id := range f.rules {
		s.flagged[id], s.named[id] = true, true
		s.high[id] = s.high[id] || f.tier == "high"
	}
	s.unreadable = s.unreadable || f.tier == "high" && f.stage == "structure"
	if f.stage == "checklist" {
		s.checklist++
	}
	s.weighFinding(f)
}

// weighFinding adds what decides severity and action. A stack-fit flag or a deal-finding is nobody's defect, so it
// never asks for another submission (S39, S41).
func (s *sum) weighFinding(f findingFacts) {
	critical := f.severity == "critical"
	s.critical = s.critical || critical
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

// checkFacts holds the findings to their order and number, and the verdict to the findings. What follows from all of
// them is checked where all are there. It closes the way to a receipt whose findings were edited and whose
// report_digest was kept or made anew: what a person reads must follow from what is listed. size returns the bytes of
// the whole receipt; it is a function because only a receipt that leaves findings out needs it.
func (r *Receipt) checkFacts(findings iter.Seq[findingFacts], size func() int) error {
	s, err := sumUp(findings)
	if err == nil {
		err = r.checkShown(s.n, size)
	}
	if err != nil || r.Verdict == nil {
		return err
	}
	s.all = s.n == r.FindingsTotal
	for _, check := range []func(sum) error{r.checkRisk, r.checkFlagged, r.checkUndecided, r.checkAccepted,
		r.checkSeverityOf, r.checkReady, r.checkAction} {
		if err := check(s); err != nil {
			return err
		}
	}
	return r.checkScore()
}

// checkShown: all findings are shown up to MaxFindings, or as many as a receipt has room for. One that shows fewer and
// is not full hides some.
func (r *Receipt) checkShown(n int, size func() int) error {
	total, most := r.FindingsTotal, min(r.FindingsTotal, MaxFindings)
	switch {
	case n > most:
		return refuse(RefuseFindings, "%d findings of %d in all; a receipt lists at most %d", n, total, MaxFindings)
	case n == most:
		return nil
	}
	// Last, because Validate has to marshal the receipt to know its size.
	if b := size(); b <= FullBytes {
		return refuse(RefuseFindings, "%d findings of %d in all, in %d bytes; a receipt shows %d, and fewer only "+
			"where it is full (more than %d bytes)",
			n, total, b, most, FullBytes)
	}
	return nil
}

// checkRisk holds the counts by tier. The heaviest findings are shown first, so that of a tier above the last shown one
// all are. A count above what is shown is possible only for the lightest tier shown and those below it.
func (r *Receipt) checkRisk(s sum) error {
	for rank, tier := range forms["tier"].Enum {
		seen, said := *s.seen.counterOf(tier), *r.Verdict.Risk.counterOf(tier)
		// The findings are ranked, so all of a tier are there as soon as one of a lighter tier is.
		whole := s.all || s.n > 0 && rank < slices.Index(forms["tier"].Enum, s.last.tier)
		if seen > said || whole && seen != said {
			return refuse(RefuseCounts, "%d findings shown are %s, the verdict says %d", seen, tier, said)
		}
	}
	return nil
}

// checkUndecided: a high rule that nobody decided was skipped, and a high finding says so (S74, of semantics 2). Where
// the submission cannot be read, one finding speaks for all rules.
func (r *Receipt) checkUndecided(s sum) error {
	v := r.Verdict
	switch {
	case len(v.UndecidedHigh) == 0:
		return nil
	case len(v.UndecidedHigh) > v.Counts.Skipped:
		return refuse(RefuseCounts, "%d high rules are undecided, the verdict counts %d as skipped",
			len(v.UndecidedHigh), v.Counts.Skipped)
	case r.Semantics >= 2 && v.Risk.High == 0:
		return refuse(RefuseFindings, "the high rule %q is undecided, and no finding is high (S74)",
			clipForeign(v.UndecidedHigh[0]))
	}
	for _, id := range v.UndecidedHigh {
		if r.Semantics >= 2 && s.all && !s.high[id] && !s.unreadable {
			return refuse(RefuseFindings, "the high rule %q is undecided, and no high finding says so (S74)",
				clipForeign(id))
		}
	}
	return nil
}

// checkAccepted: what a person accepts is a finding that is there.
func (r *Receipt) checkAccepted(s sum) error {
	for _, a := range r.Accepted {
		if s.all && !s.named[a.RuleID] {
			return refuse(RefuseWaiver, "a finding of %q is accepted, and no finding names that rule",
				clipForeign(a.RuleID))
		}
	}
	return nil
}

// checkFlagged: a rule is flagged where a finding names it, and nowhere else; a person who says no makes a finding.
// Where findings are left out, those shown are a lower bound.
func (r *Receipt) checkFlagged(s sum) error {
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
	case s.all && len(s.flagged) != flagged, len(s.flagged) > flagged:
		return refuse(RefuseCounts, "the findings name %d rules that were decided, the verdict counts %d as flagged",
			len(s.flagged), flagged)
	case s.all && s.checklist != said, s.checklist > said:
		return refuse(RefuseChecklist, "a person said no to %d questions, %d findings say so", said, s.checklist)
	}
	return nil
}

// checkSeverityOf: propolis where a finding is high or critical, jelly where one is neither, and without a finding what
// checkSeverity allows. Severity is what people look at first, so it is derived here and never believed.
func (r *Receipt) checkSeverityOf(s sum) error {
	v, want := r.Verdict, ""
	switch {
	case r.FindingsTotal == 0:
		if v.Severity != "honey" && v.Severity != "unsigned" {
			return refuse(RefuseSeverity, "%s without a finding; that is honey or, where nobody approved, unsigned",
				v.Severity)
		}
		want = "honey"
	case v.Risk.High > 0 || s.critical:
		want = "propolis"
	case !s.all && slices.ContainsFunc(r.possibleRest(s), func(f findingFacts) bool { return f.severity == "critical" }):
		return nil // a critical finding may be among those that are not shown
	default:
		want = "jelly"
	}
	if r.FindingsTotal > 0 && v.Severity != want {
		return refuse(RefuseSeverity, "%s, the findings make it %s", v.Severity, want)
	}
	if v.SeverityIfApproved != "" && v.SeverityIfApproved != want {
		return refuse(RefuseSeverity, "severity_if_approved is %s, the findings make it %s", v.SeverityIfApproved, want)
	}
	return nil
}

// checkReady: S40, as far as the receipt shows it. Which skipped rules are high it does not show. Where a skipped rule
// might be high, either value is accepted.
func (r *Receipt) checkReady(s sum) error {
	v := r.Verdict
	kept := s.blocking || s.fit || v.Counts.Open > 0 || len(v.UndecidedHigh) > 0
	if v.ClientReady && kept {
		return refuse(RefuseReady, "client_ready with a work-defect that is mid or high, a stack-fit flag, or "+
			"something that is open or undecided (S40)")
	}
	if !v.ClientReady && !kept && s.all && v.Counts.Skipped == 0 {
		return refuse(RefuseReady, "client_ready is false, and nothing in the receipt keeps it from being true (S40)")
	}
	return nil
}

// checkAction: the recommended action is the one of S39, by the text that the receipt's semantics number had. Old
// receipts must stay valid: semantics 1 put a low defect or a stack-fit flag before a rejection, semantics 2 after it.
func (r *Receipt) checkAction(s sum) error {
	got := r.Verdict.RecommendedAction
	allowed := r.possibleActions(s)
	if !s.all {
		allowed = r.actionsWithRest(s)
	}
	if !slices.Contains(allowed, got) {
		return refuse(RefuseAction, "the recommended action is %s; findings, counts and lane make it %s (S39, "+
			"semantics %d)", got,
			strings.Join(allowed, " or "), r.Semantics)
	}
	return nil
}

// possibleActions returns the actions that S39 can recommend: two, where it rests on whether a skipped rule was high,
// which a receipt does not show. The cases are S39's and in its order, since the first match decides. In the incident
// lane a finding speaks of what is reported, so a true report is not rejected for it.
func (r *Receipt) possibleActions(s sum) []string {
	reject := s.heavy && (r.Semantics < 2 || r.Run.Lane != "incident")
	review := s.fit || s.nit
	counts := r.Verdict.Counts
	switch {
	case s.blocking:
		return []string{"resubmit"}
	// S39 as semantics 1 had it; semantics 2 asks this after the rejection.
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

// possibleRest is what the findings that are not shown may be, each alone. The lightest that is shown bounds those of
// its tier; of a lighter tier every kind may be there, a critical one too.
func (r *Receipt) possibleRest(s sum) []findingFacts {
	var out []findingFacts
	for _, tier := range forms["tier"].Enum {
		if *s.seen.counterOf(tier) == *r.Verdict.Risk.counterOf(tier) {
			continue
		}
		for _, severity := range forms["finding_severity"].Enum {
			for _, bucket := range forms["bucket"].Enum {
				f := findingFacts{tier: tier, severity: severity, bucket: bucket, stage: "checklist"} // the last stage
				if s.n == 0 || f.compareRank(s.last) >= 0 {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// actionsWithRest returns the actions that S39 can recommend where not all findings are shown: of what may be among
// them, something is.
func (r *Receipt) actionsWithRest(s sum) []string {
	var out []string
	for _, f := range r.possibleRest(s) { // the first match of several is that of one of them
		// The maps are shared and stay as they are; weighFinding only sets flags.
		with := s
		with.weighFinding(f)
		out = append(out, r.possibleActions(with)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkScore recomputes what follows from the counts (S13, S35). Only the score itself is required. A member that is
// left out says nothing, so it cannot lie. Points are 5, 2 and 1 a finding (S35).
func (r *Receipt) checkScore() error {
	v, c := r.Verdict, r.Verdict.Counts
	decided := c.Satisfied + c.Flagged
	for _, m := range []struct{ name, got, want string }{
		{"score", v.Score, percentShare(c.Satisfied, c.Declared)},
		{"score_fraction", v.ScoreFraction, fmt.Sprintf("%d/%d", c.Satisfied, c.Declared)},
		{"score_decided", v.ScoreDecided, percentShare(c.Satisfied, decided)},
		{"coverage", v.Coverage, percentShare(decided, c.Declared)},
	} {
		// The texts are compared, not the values: 96.40 for 96.4 is another receipt about the same work.
		if m.got != m.want && (m.got != "" || m.name == "score") {
			return refuse(RefuseScore, "%s is %q; %d satisfied and %d flagged of %d declared make %s", m.name,
				clipForeign(m.got), c.Satisfied, c.Flagged, c.Declared, m.want)
		}
	}
	weighted := exactRational(v.WeightedScore)
	if v.WeightedScore != "" && (!isDecimal([]byte(v.WeightedScore)) || weighted.Sign() < 0 ||
		weighted.Cmp(exactRational("100")) > 0) {
		return refuse(RefuseScore, "weighted_score is %q; it must be between 0 and 100", clipForeign(v.WeightedScore))
	}
	if want := 5*v.Risk.High + 2*v.Risk.Mid + v.Risk.Low; v.RiskPoints != want {
		return refuse(RefuseScore, "risk_points is %d; %d high, %d mid and %d low make %d", v.RiskPoints, v.Risk.High,
			v.Risk.Mid, v.Risk.Low, want)
	}
	return nil
}

// percentShare is 100·n/d, floored to one decimal (S13). The counts are within 2^53, so that a thousand of them fit
// into 64 bits. Integers and not decimals, because rounding up would show 99.96 as 100. Where nothing was decided the
// share is 0 and not 100.
func percentShare(n, d int) string {
	if d == 0 {
		return "0"
	}
	tenths := int64(n) * 1000 / int64(d)
	return strings.TrimSuffix(strconv.FormatInt(tenths/10, 10)+"."+strconv.FormatInt(tenths%10, 10), ".0")
}
