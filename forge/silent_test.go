package forge

import (
	"fmt"
	"slices"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// What a submission says in place of what it was asked for must not pass in silence.

// TestNumberForFormula states, for each calculation of each example, its result as its formula. Where the sheet
// declares a formula of any input there is a finding at the formula (S16).
func TestNumberForFormula(t *testing.T) {
	tried := 0
	for _, slug := range flightsheets.Names() {
		sheet := librarySheet(t, slug)
		for i := range sheet.Examples() {
			ex := &sheet.Examples()[i]
			base, err := workedExample(sheet, ex)
			if err != nil {
				t.Fatal(err)
			}
			if base.submission.Get("calculations") == nil {
				continue
			}
			for j, c := range base.submission.Get("calculations").Items {
				name, _ := c.Get("name").Str()
				declared := slices.ContainsFunc(sheet.Math, func(m *referee.MathCheck) bool { return m.ID == name })
				if !declared || c.Get("result") == nil {
					continue // math-steps and fin-table-arithmetic: the steps are the agent's own, and no sheet has them
				}
				tried++
				at := fmt.Sprintf("/calculations/%d/formula", j)
				report := silentChange(t, base, referee.PatchOp{Op: "add", Path: at,
					Value: jsonString(c.Get("result").Text)})
				if !slices.ContainsFunc(report.Findings, func(f referee.Finding) bool {
					return f.Code == "math.formula_substituted" && f.Pointer == at
				}) {
					t.Errorf("%s: %s = %s passes as a formula: %v", slug, name, c.Get("result").Text, codesOf(report))
				}
			}
		}
	}
	if tried < 180 {
		t.Errorf("%d calculations tried; the library declares at least 180", tried)
	}
}

// silentChange audits the example after one change.
func silentChange(t *testing.T, base *worked, op referee.PatchOp) *referee.Report {
	t.Helper()
	w := base.cloneWork()
	var err error
	if w.submission, err = applyPatch(w.submission, []referee.PatchOp{op}); err != nil {
		t.Fatal(err)
	}
	report, err := w.auditWork()
	if err != nil {
		t.Fatal(err)
	}
	return report
}
