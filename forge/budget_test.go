package forge

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// TestExamplesTogether: the examples of a sheet have one budget. Where it is spent, a failure says so by name and
// place, the lint refuses the sheet, and nothing more is run.
func TestExamplesTogether(t *testing.T) {
	sheet := librarySheet(t, "cre-multifamily-agency")
	full := &decimal.Meter{Most: MaxExampleWork}
	whole := TestWithin(sheet, full)
	if !whole.OK() || whole.Spent || full.Spent == 0 {
		t.Fatalf("%v, %d units", whole.Failures, full.Spent)
	}
	for name, most := range map[string]int{"nothing": 0, "a little": 1000, "half": full.Spent / 2,
		"all but the last unit": full.Spent - 1} {
		work := &decimal.Meter{Most: most}
		got := TestWithin(sheet, work)
		if got.OK() || !got.Spent || len(got.Failures) != 1 ||
			!strings.Contains(got.Failures[0].Message, "steps together") || got.Failures[0].Line == 0 {
			t.Errorf("%s: %v", name, got.Failures)
		}
		if name != "all but the last unit" && got.Trips >= whole.Trips {
			t.Errorf("%s: %d of %d trips run", name, got.Trips, whole.Trips)
		}
	}
	if again := TestWithin(sheet, &decimal.Meter{Most: full.Spent}); !again.OK() || again.Trips != whole.Trips {
		t.Errorf("what it takes is enough: %v", again.Failures)
	}
}

// TestManyCostlyExamples: a sum over long lists in very many examples ends by the budget, and the lint refuses the
// sheet.
func TestManyCostlyExamples(t *testing.T) {
	formula := "irr(list)" + strings.Repeat(" + irr(list)", 50)
	number := "[" + strings.Repeat("1,", 300) + "1]"
	example := `{"name":"long","submission":{"inputs":{"list":` + number +
		`},"calculations":[{"name":"total","formula":"` + formula + `","inputs":{"list":` + number +
		`},"result":1}]}}`
	src := `{"slug":"costly","name":"Costly","version":"1.0.0","lane":"dataset","required_inputs":[{"name":"list",
		"type":"array"}],
		"eval_spec":{"math_checks":[{"formula_id":"total",
		"formula":"` + formula + `"}]},"examples":[` + strings.Repeat(example+",", 200) + example + `]}`
	sheet, err := referee.LoadSheet([]byte(src), "costly.json", "repository")
	if err != nil {
		t.Fatal(err)
	}
	refused := slices.ContainsFunc(Lint(sheet, ""), func(p referee.Problem) bool {
		return !p.Warning && p.Rule == "example" && strings.Contains(p.Message, "steps together")
	})
	if result := TestWithin(sheet, &decimal.Meter{Most: MaxExampleWork}); !result.Spent || !refused {
		t.Errorf("%d examples run, spent %v, refused by the lint %v", result.Examples, result.Spent, refused)
	}
}
