package flightsheets_test

import (
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// clientDecides are the gates that right work can fail: the bank, the exchange or the cover is what it is, and asking
// the agent for other work would ask for other facts. Every other gate of these sheets is about the work itself.
var clientDecides = map[string][]string{
	"doc-contract-review":    {"confidence_band"}, // a low confidence asks for a person, not for more confidence
	"extract-bank-statement": {"nsf", "two_months"},
	"extract-insurance-cert": {"deductible", "flood", "gl", "in_force", "rent_loss", "replacement_cost"},
	"fin-1031-exchange":      {"close_180", "id_45", "id_rule", "zero_boot"},
	"fin-apr-regz":           {"mapr"},
	"fin-bank-capital-liquidity": {"cet1_buffer", "cet1_min", "l2_caps", "lcr_min", "leverage_min", "nsfr_min",
		"tier1_min", "total_min"},
	"fin-dcf-irr":          {"hurdle"},
	"fin-three-statement":  {"cfo_quality"},
	"genai-evaluator-gate": {"confidence_band"},
}

// TestWhoseDefect holds the sheets of documents, extractions, evaluations, flights and finance to that list: a
// work-defect cannot be accepted and asks for a resubmission, a deal-finding is the client's.
func TestWhoseDefect(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		if family, _, _ := strings.Cut(slug, "-"); !slices.Contains([]string{"doc", "extract", "fin", "fly", "genai"},
			family) {
			continue
		}
		var got []string
		for _, r := range load(t, slug).Rules {
			if gateOf(r) && r.Bucket == referee.DealFinding {
				got = append(got, r.ID)
			}
		}
		if slices.Sort(got); !slices.Equal(got, clientDecides[slug]) {
			t.Errorf("%s: deal-findings are %v, want %v", slug, got, clientDecides[slug])
		}
	}
}
