package summary

import (
	"cmp"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
)

// Board is the main table of one flight sheet: models by scores, the best first.
type Board struct {
	Sheet    string     `json:"sheet"`
	Settings []string   `json:"settings,omitempty"` // as of a Task: totals under other settings do not compare
	Rows     []BoardRow `json:"rows"`
}

// BoardRow is one model on a Board. Numbers are means in 0 … 100; those over eligible samples are absent where no
// sample is eligible.
type BoardRow struct {
	Rank         int    `json:"rank"` // equal for equal scores
	Agent        string `json:"agent"`
	Model        string `json:"model,omitempty"`
	Samples      int    `json:"samples"`
	Availability string `json:"availability"`
	Eligibility  string `json:"eligibility"`
	Constraint   string `json:"constraint_satisfaction,omitempty"` // over eligible samples
	Error        string `json:"conditional_error,omitempty"`       // the score, over eligible samples
	Total        string `json:"total,omitempty"`                   // over eligible samples
	Overall      string `json:"overall,omitempty"`                 // over all samples: what ranks
	Score        string `json:"score"`                             // of the verdict: what ranks sheets without scores
}

// boardOf ranks the models of one sheet.
func boardOf(group []Sample) Board {
	board := Board{Sheet: sheetName(group[0]), Settings: group[0].Settings}
	for _, mine := range groupSamples(group, agentKey) {
		t, verdict := taskOf(mine), Distribution{}
		for _, x := range mine {
			verdict.add(x.Score)
		}
		verdict.close()
		row := BoardRow{Agent: cmp.Or(mine[0].Agent, unnamed), Model: mine[0].Model, Samples: len(mine),
			Availability: t.Availability, Eligibility: t.Eligibility, Overall: t.Overall, Score: verdict.Mean}
		for _, d := range t.Scores {
			switch d.Name {
			case "constraint_satisfaction":
				row.Constraint = d.Mean
			case "conditional_error":
				row.Error = d.Mean
			case "total":
				row.Total = d.Mean
			}
		}
		board.Rows = append(board.Rows, row)
	}
	board.rankRows()
	return board
}

// rankRows sorts by the overall score where a sheet has scores, else by the verdict's; equals keep the order of names.
func (b *Board) rankRows() {
	scored := slices.ContainsFunc(b.Rows, func(r BoardRow) bool { return r.Overall != "" })
	compare := func(x, y BoardRow) int {
		if scored {
			return compareScores(y.Overall, x.Overall)
		}
		return compareScores(y.Score, x.Score)
	}
	slices.SortStableFunc(b.Rows, compare)
	for i := range b.Rows {
		b.Rows[i].Rank = i + 1
		if i > 0 && compare(b.Rows[i-1], b.Rows[i]) == 0 {
			b.Rows[i].Rank = b.Rows[i-1].Rank
		}
	}
}

// compareScores compares decimals; what has no score is below all that have one.
func compareScores(x, y string) int {
	a, errA := decimal.Parse(x)
	b, errB := decimal.Parse(y)
	if errA != nil || errB != nil {
		return oneIf(errA == nil) - oneIf(errB == nil)
	}
	return decimal.Cmp(a, b)
}
