package forge

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// CoverageResult is what a sheet's examples and trips reach.
type CoverageResult struct {
	Sheet *referee.Sheet
	Rules []RuleCoverage
}

// RuleCoverage counts what became of one rule over the examples and trips.
type RuleCoverage struct {
	Rule                   *referee.Rule
	Pass, Flag, Skip, Open int
	Bands                  []string // penalty bands that its findings fell into
	Branches               []Branch
}

// Branch is one way through a condition: a conditional's two sides, or a band.
type Branch struct {
	Text  string
	Times int
}

// Totals counts what is reached and what could be: of every rule but questions pass and flag, and every branch.
func (c *CoverageResult) Totals() (reached, possible int) {
	for _, r := range c.Rules {
		if r.Rule.Stage == referee.StageChecklist {
			continue
		}
		counts := []int{r.Pass, r.Flag}
		for _, b := range r.Branches {
			counts = append(counts, b.Times)
		}
		for _, n := range counts {
			if possible++; n > 0 {
				reached++
			}
		}
	}
	return reached, possible
}

// Missed names what no example and no trip reaches.
func (r *RuleCoverage) Missed() []string {
	if r.Rule.Stage == referee.StageChecklist {
		return nil
	}
	var out []string
	if r.Pass == 0 {
		out = append(out, "pass")
	}
	if r.Flag == 0 {
		out = append(out, "flag")
	}
	for _, b := range r.Branches {
		if b.Times == 0 {
			out = append(out, b.Text)
		}
	}
	return out
}

// Coverage runs the examples and trips and counts, for every rule, each outcome, penalty band and branch.
func Coverage(sheet *referee.Sheet) CoverageResult {
	trials := withReports(suiteOf(sheet))
	out := CoverageResult{Sheet: sheet}
	for i, r := range sheet.Rules {
		c := RuleCoverage{Rule: r}
		for _, t := range trials {
			if t.report != nil {
				c.countStatus(t.report, i)
			}
		}
		if tree := ruleTree(r); tree != nil && r.Kind != "for_each" {
			b := &branches{sheet: sheet, ranges: newRanges(sheet), trials: trials}
			b.walkTree(tree)
			c.Branches = b.found
		}
		out.Rules = append(out.Rules, c)
	}
	return out
}

func (c *RuleCoverage) countStatus(report *referee.Report, i int) {
	switch report.Checks[i].Status {
	case referee.Pass:
		c.Pass++
	case referee.Flag:
		c.Flag++
	case referee.Skip:
		c.Skip++
	case referee.Open:
		c.Open++
	}
	for _, f := range report.Findings {
		if f.Spot == nil || f.Spot.Band == "" || !slices.Contains(f.RuleIDs, c.Rule.ID) ||
			slices.Contains(c.Bands, f.Spot.Band) {
			continue
		}
		c.Bands = append(c.Bands, f.Spot.Band)
	}
	slices.SortFunc(c.Bands, func(a, b string) int { return slices.Index(bandOrder, a) - slices.Index(bandOrder, b) })
}

var bandOrder = []string{"pass", "low", "mid", "high"}

// branches finds the ways through an expression and counts the trials that take each. Row expressions have none: rows
// are counted by nobody.
type branches struct {
	sheet  *referee.Sheet
	ranges *ranges
	trials []*trial
	found  []Branch
}

func (b *branches) walkTree(v *strictjson.Value) {
	if v.Get("agg") != nil {
		return
	}
	switch v.TextOf("op") {
	case "if":
		b.countCondition(v.Get("cond"))
	case "implies":
		b.countCondition(v.Get("args").Items[0])
	case "band":
		b.countBands(v.Get("args"))
	}
	for _, item := range v.Items {
		b.walkTree(item)
	}
	for _, m := range v.Members {
		b.walkTree(m.Value)
	}
}

// countCondition counts both sides of a conditional.
func (b *branches) countCondition(cond *strictjson.Value) {
	say := b.ranges.treeText(cond)
	yes, no := Branch{Text: "if " + say}, Branch{Text: "if not (" + say + ")"}
	for _, r := range b.evalOverTrials(cond) {
		switch r.Truth {
		case policy.True:
			yes.Times++
		case policy.False:
			no.Times++
		}
	}
	b.found = append(b.found, yes, no)
}

// countBands counts the bands of a step table that is written out.
func (b *branches) countBands(args *strictjson.Value) {
	rows := b.ranges.rowsOf(args.Items[1])
	taken := make([]int, len(rows))
	for _, r := range b.evalOverTrials(args.Items[0]) {
		i := slices.IndexFunc(rows, func(row *strictjson.Value) bool {
			cut := row.Item(0).Decimal()
			return cut != nil && r.Val.Num != nil && decimal.Cmp(r.Val.Num, cut) >= 0
		})
		if i >= 0 {
			taken[i]++
		}
	}
	for i, row := range rows {
		if cut := row.Item(0); cut != nil {
			b.found = append(b.found, Branch{Text: "band from " + cut.Text + " of " + b.ranges.treeText(args.Items[0]),
				Times: taken[i]})
		}
	}
}

// evalOverTrials evaluates a part of an expression over every trial.
func (b *branches) evalOverTrials(v *strictjson.Value) []policy.Result {
	e, err := b.sheet.Compile(v)
	if err != nil {
		return nil
	}
	var out []policy.Result
	for _, t := range b.trials {
		out = append(out, t.probe.Eval(e, nil))
	}
	return out
}
