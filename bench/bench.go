// Package bench makes the submissions that the benchmarks measure: 1.6 KB each, with three calculations, the same bytes
// every time. bench/compare.sh runs the same work in referee, conftest and opa; docs/performance.md holds the figures.
package bench

import (
	"fmt"
	"math"
)

// Submission is the i-th document.
func Submission(i int) string {
	loan := 9_000_000 + 10_000*(i%97)
	rate := 0.0525 + 0.0005*float64(i%11)
	noi := 930_000 + 1_000*(i%53)
	value := 12_500_000 + 5_000*(i%31)
	monthly := rate / 12
	ads := 12 * float64(loan) * monthly / (1 - math.Pow(1+monthly, -360))
	dscr := float64(noi) / ads
	if i%4 == 3 {
		dscr *= 1.2
	}
	return fmt.Sprintf(`{"assignment_id":"bench-deal","agent_summary":"Deal %06d: a request of $%d on 80 units, `+
		`underwritten on the trailing twelve months, sized to coverage and leverage.",`+
		`"inputs":{"loan":%d,"rate":%.4f,"amort_months":360,"value":%d,"noi":%d,"units":80,"occupancy":0.94},`+
		`"claims":[{"claim":"Net operating income over the trailing twelve months is $%d.",`+
		`"evidence_reference":"t12#cell=11,14"},`+
		`{"claim":"The appraised value of the fee simple interest, as is, is $%d.",`+
		`"evidence_reference":"appraisal#line=5,6"},`+
		`{"claim":"Physical occupancy averaged 94 %% over August, September and October.",`+
		`"evidence_reference":"rent_roll#cell=5,7"}],`+
		`"calculations":[{"name":"annual_debt_service","formula":"12 * loan * (rate/12) / (1 - (1 + `+
		`rate/12)**(-amort_months))","inputs":{"loan":%d,"rate":%.4f,"amort_months":360},"result":%.2f,`+
		`"units":"USD/yr"},`+
		`{"name":"dscr","formula":"noi / annual_debt_service","inputs":{"noi":%d,"annual_debt_service":%.2f},`+
		`"result":%.6f,"units":"ratio"},`+
		`{"name":"ltv","formula":"loan / value","inputs":{"loan":%d,"value":%d},"result":%.6f,"units":"ratio"}],`+
		`"risks":["The rate is indicative until lock.","Taxes may be reassessed after closing, at the contract price, `+
		`as the assessor did with the two neighbouring properties in 2024 and 2025.","Two of the eight three-bedroom `+
		`units have been vacant since July, and the broker expects to lease them in spring."],`+
		`"final_output":"PASS: the request is within the coverage and leverage that the program allows."}`,
		i, loan, loan, rate, value, noi, noi, value, loan, rate, ads, noi, ads, dscr, loan, value,
		float64(loan)/float64(value))
}
