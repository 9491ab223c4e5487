package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/defendableos/referee/referee"
)

// few is up to how many reports a table or a markdown page shows each in full.
const few = 20

// totals are the sums over a paper's reports. They grow with the kinds of findings, not with the number of reports.
type totals struct {
	reports, failed, flagged, undecided int
	severities, actions                 map[string]int
	codes, rules                        map[string]*tally
}

// tally counts a code or a rule.
type tally struct {
	name              string
	tier              referee.Tier // the heaviest that occurred
	findings, reports int
}

func newTotals() *totals {
	return &totals{severities: map[string]int{}, actions: map[string]int{}, codes: map[string]*tally{},
		rules: map[string]*tally{}}
}

func (t *totals) add(r *referee.Report, failOn referee.Threshold) {
	t.reports++
	if r.Fails(failOn) {
		t.failed++
	}
	if len(r.Findings) > 0 {
		t.flagged++
	}
	if len(r.Verdict.UndecidedHigh) > 0 {
		t.undecided++
	}
	t.severities[string(r.Verdict.Severity)]++
	t.actions[r.Verdict.RecommendedAction]++
	codes, rules := map[string]bool{}, map[string]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		countFinding(t.codes, codes, f.Code, f.Tier)
		for _, id := range f.RuleIDs {
			countFinding(t.rules, rules, id, f.Tier)
		}
	}
}

// countFinding adds a finding to a tally; seen are those that this report has counted in.
func countFinding(tallies map[string]*tally, seen map[string]bool, name string, tier referee.Tier) {
	c := tallies[name]
	if c == nil {
		c = &tally{name: name, tier: tier}
		tallies[name] = c
	}
	c.findings++
	if tier.Rank() < c.tier.Rank() {
		c.tier = tier
	}
	if !seen[name] {
		seen[name] = true
		c.reports++
	}
}

// topTallies is the n tallies with the most reports, then by name.
func topTallies(tallies map[string]*tally, n int) []*tally {
	list := slices.SortedFunc(maps.Values(tallies), func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.reports, a.reports), cmp.Compare(b.findings, a.findings),
			cmp.Compare(a.name, b.name))
	})
	return list[:min(n, len(list))]
}

// counted is one word of a verdict and how many reports have it.
type counted struct {
	name string
	n    int
}

// orderCounts lists counts in the given order of words, those that are not in it last, by name.
func orderCounts(counts map[string]int, order ...string) []counted {
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	var list []counted
	for name, n := range counts {
		list = append(list, counted{name, n})
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(place(a.name), place(b.name)), cmp.Compare(a.name, b.name))
	})
	return list
}

func (t *totals) bySeverity() []counted {
	return orderCounts(t.severities, string(referee.Propolis), string(referee.Jelly), string(referee.Unsigned),
		string(referee.Honey))
}

func (t *totals) byAction() []counted {
	return orderCounts(t.actions, "resubmit", "reject", "review", "approve")
}

// batch shows up to few reports in full. When there are more, the ones kept so far and all later ones become a line
// each, so that memory does not grow.
type batch struct {
	kept []*referee.Report
	many bool
	full func(*referee.Report)
	line func(*referee.Report)
}

func (b *batch) add(r *referee.Report) {
	if !b.many && len(b.kept) < few {
		b.kept = append(b.kept, r)
		return
	}
	if !b.many {
		b.many = true
		b.flush(b.line)
	}
	b.line(r)
}

// close writes the reports that were few.
func (b *batch) close() {
	if !b.many {
		b.flush(b.full)
	}
}

func (b *batch) flush(write func(*referee.Report)) {
	for _, r := range b.kept {
		write(r)
	}
	b.kept = nil
}
