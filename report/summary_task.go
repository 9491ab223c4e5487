package report

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/summary"
)

// shortNumber is a decimal for people: six decimals at most. JSON has all digits.
func shortNumber(text string) string {
	n, err := decimal.Parse(text)
	if err != nil {
		return text
	}
	if n, err = decimal.Round(n, 6); err != nil {
		return text
	}
	return n.String()
}

// shortError is an error for people: three decimals from 1 on, since a field's limit is no finer.
func shortError(text string) string {
	n, err := decimal.Parse(text)
	if err != nil || decimal.Cmp(decimal.Abs(n), decimal.FromInt(1)) < 0 {
		return shortNumber(text)
	}
	if n, err = decimal.Round(n, 3); err != nil {
		return text
	}
	return n.String()
}

// modelName is an agent with its model, once where both have one name, as a record of a batch has.
func modelName(agent, model string) string {
	if model == "" || model == agent {
		return agent
	}
	return agent + " · " + model
}

// ownValues are the derived values that no other table of the section shows: where a sheet declares errors, the fields
// have a table of their own.
func ownValues(x summary.Sheet) (out []summary.Distribution) {
	for _, d := range x.Values {
		if x.Task.Conditional == nil || !strings.HasPrefix(d.Name, "error_") {
			out = append(out, d)
		}
	}
	return out
}

// taskFacts says how much of the work could be judged, and how far it lies off.
func (p *section) taskFacts(t summary.Task) {
	p.addFact("submissions", fmt.Sprintf("%d, of which %d could be read", t.Samples, t.Readable))
	if len(t.Settings) > 0 {
		p.addFact("settings", strings.Join(t.Settings, ", "))
	}
	p.addFact("availability", t.Availability+" % of submissions hold an answer that could be read")
	p.addFact("eligible", fmt.Sprintf("%d (%s %%): nothing critical stops them", t.Eligible, t.Eligibility))
	if t.Completeness != "" {
		p.addFact("completeness", t.Completeness+" % of required members are present")
	}
	if t.Families == nil {
		return
	}
	p.addFact("right answers", fmt.Sprintf("at hand for %d", t.Gold))
	p.tailFact("conditional error", "conditional excess", "eligible", t.Conditional)
	p.tailFact("error of all", "excess of all", "readable", t.Available)
	if t.Overall != "" {
		p.addFact("overall score", shortNumber(t.Overall)+", a submission that is not eligible counting 0")
	}
	if t.Prior != "" {
		p.addFact("confidence", t.Prior+", a prior that reaches no verdict")
	}
}

func (p *section) tailFact(name, excess, which string, t *summary.Tail) {
	if t == nil {
		p.addFact(name, "unknown: no "+which+" submission with a right answer at hand")
		return
	}
	p.addFact(name, fmt.Sprintf("%s %% of the limits, mean of %s", shortNumber(t.Mean.Mean),
		legible.Count(t.Samples, which+" submission")))
	p.addFact(excess, fmt.Sprintf("%d of %d errors are over their limit (%s %%)", t.Exceeding, t.Errors, t.Exceedance))
}

// priorFact shows what was expected of the model, with where that comes from.
func (p *section) priorFact(prior summary.Prior) {
	var parts []string
	for _, x := range [][2]string{{"S1", prior.S1}, {"M1", prior.M1}, {"M3", prior.M3}, {"source", prior.Source},
		{"version", prior.Version}} {
		if x[1] != "" {
			parts = append(parts, x[0]+" "+x[1])
		}
	}
	if len(parts) > 0 {
		p.addFact("confidence", strings.Join(parts, ", ")+"; it reaches no verdict")
	}
}

// taskTables are the paper's tables of constraints, failure modes and tail risk.
func (p *section) taskTables(t summary.Task) {
	families := grid{columns: []string{"facts of family", "held", "warning", "critical", "percent"}}
	for _, f := range t.Families {
		families.rows = append(families.rows, []string{f.Family, fmt.Sprint(f.Held), fmt.Sprint(f.Warning),
			fmt.Sprint(f.Critical), f.Rate})
	}
	modes := grid{columns: []string{"failure mode", "submissions", "findings", "percent"}}
	for _, m := range t.Modes {
		modes.rows = append(modes.rows, []string{m.Mode, fmt.Sprint(m.Samples), fmt.Sprint(m.Findings), m.Rate})
	}
	scores := distributionGrid(t.Scores)
	scores.columns[0] = "score if eligible"
	p.tables = append(p.tables, families, modes, scores)
	if t.Conditional != nil {
		p.tables = append(p.tables, meanGrid(t))
	}
	p.tables = append(p.tables, tailGrid("error among eligible", t.Conditional), exceedanceGrid(t))
}

// meanGrid is how the errors of whole submissions spread.
func meanGrid(t summary.Task) grid {
	eligible, all := t.Conditional.Mean, t.Available.Mean
	eligible.Name, all.Name = "eligible", "all readable"
	g := distributionGrid([]summary.Distribution{eligible, all})
	g.columns[0] = "error, % of limit"
	return g
}

func tailGrid(title string, t *summary.Tail) grid {
	g := grid{columns: []string{title, "mean", "p50", "p95", "p99", "greatest"}}
	if t == nil {
		return g
	}
	for _, f := range t.Fields {
		g.rows = append(g.rows, []string{f.Name, shortError(f.Mean), shortError(f.P50), shortError(f.P95),
			shortError(f.P99), shortError(f.Max)})
	}
	return g
}

// exceedanceGrid holds errors against the limits, among eligible submissions and among all: an answer that is far off
// is seldom eligible.
func exceedanceGrid(t summary.Task) grid {
	g := grid{columns: []string{"errors over their limit", "limit", "eligible", "percent", "all", "percent"}}
	if t.Available == nil {
		return g
	}
	for _, f := range t.Available.Fields {
		row := []string{f.Name, "differs", "", "", fmt.Sprintf("%d/%d", f.Exceeding, f.N), f.Exceedance}
		if f.Limit != "" {
			row[1] = f.Limit
		}
		if t.Conditional != nil {
			for _, e := range t.Conditional.Fields {
				if e.Name == f.Name {
					row[2], row[3] = fmt.Sprintf("%d/%d", e.Exceeding, e.N), e.Exceedance
				}
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// boardGrid is the main table, models by scores; of a sheet without scores the verdict's score ranks.
func boardGrid(b summary.Board) grid {
	scored := false
	for _, r := range b.Rows {
		scored = scored || r.Overall != ""
	}
	g := grid{columns: []string{"model", "rank", "n", "avail.", "elig.", "score"}}
	if scored {
		g.columns = []string{"model", "rank", "n", "avail.", "elig.", "constr.", "error", "total", "overall"}
	}
	for _, r := range b.Rows {
		row := []string{modelName(r.Agent, r.Model), fmt.Sprint(r.Rank), fmt.Sprint(r.Samples), r.Availability,
			r.Eligibility}
		if scored {
			row = append(row, twoDecimals(r.Constraint), twoDecimals(r.Error), twoDecimals(r.Total),
				twoDecimals(r.Overall))
		} else {
			row = append(row, twoDecimals(r.Score))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// twoDecimals is a score as the main table shows it; – where there is none. What is not 100 is never shown as 100.
func twoDecimals(text string) string {
	n, err := decimal.Parse(text)
	if err != nil {
		return "–"
	}
	hundredths, err := decimal.Mul(n, decimal.FromInt(100))
	if err != nil {
		return text
	}
	if hundredths, err = decimal.Floor(hundredths); err != nil {
		return text
	}
	if n, err = decimal.Quo(hundredths, decimal.FromInt(100)); err != nil {
		return text
	}
	return n.String()
}
