package flightsheets_test

import (
	"testing"

	"github.com/defendableos/referee/referee"
)

// TestJargonDensity: of twelve words three are jargon by hand, so 250 in a thousand; a text without any has 0.
//
// Source: 004 #243.
func TestJargonDensity(t *testing.T) {
	sheet := load(t, "doc-agreement-qa")
	for text, want := range map[string]string{
		"The lender hereby lends the sum, and the borrower thereof repays it herein.": "230.7692307692307692307692308",
		"The lender hereby lends, and the borrower thereof repays the sum herein.":    "250",
		"The lender lends the sum.": "0",
	} {
		rep := referee.Audit(referee.Case{Sheet: sheet, Path: "submission.json",
			Bytes: []byte(`{"inputs":{"text":"` + text + `"}}`)})
		found := false
		for _, d := range rep.Derived {
			if d.ID == "jargon_density" {
				if found = true; d.Value != want {
					t.Errorf("%s: %s in a thousand, want %s", text, d.Value, want)
				}
			}
		}
		if !found {
			t.Errorf("the report has no jargon_density")
		}
	}
}
