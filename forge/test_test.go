package forge

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// everyRound has the searches over the library take all their rounds, and asks of a sheet again what another test has
// asked: .ci/run does.
var everyRound = os.Getenv("REFEREE_CI") == "1"

// librarySheets are the sheets of the library that a test has loaded, by slug.
var librarySheets sync.Map

func librarySheet(t testing.TB, slug string) *referee.Sheet {
	t.Helper()
	if sheet, ok := librarySheets.Load(slug); ok {
		return sheet.(*referee.Sheet)
	}
	src, ok := flightsheets.Read(slug)
	if !ok {
		t.Fatalf("no sheet %q", slug)
	}
	sheet := loadAs(t, string(src), "library")
	librarySheets.Store(slug, sheet)
	return sheet
}

func loadSheet(t testing.TB, src string) *referee.Sheet {
	t.Helper()
	return loadAs(t, src, "repository")
}

func loadAs(t testing.TB, src, origin string) *referee.Sheet {
	t.Helper()
	sheet, err := referee.LoadSheet([]byte(src), "sheet.json", origin)
	if err != nil {
		t.Fatalf("the sheet is refused:\n%v", err)
	}
	return sheet
}

// TestLibrary holds every sheet of the library to its examples and trips.
//
// Source: 004 #240, 004 #244, 004 #247, 004 #248, 004 #250, 004 #252.
func TestLibrary(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			result := Test(librarySheet(t, slug))
			for _, f := range result.Failures {
				t.Error(f)
			}
			if !result.OK() || result.Trips == 0 {
				t.Errorf("%d examples, %d trips", result.Examples, result.Trips)
			}
		})
	}
}

// loanSheet has one input chain: dscr follows noi and loan, and ltv is in per cent.
const loanSheet = `{
  "schema": "referee.flight-sheet/v1", "slug": "loan", "name": "Loan", "version": "1.0.0", "lane": "agent",
  "baseline": "none",
  "required_inputs": [{"name": "noi", "type": "number"},
    {"name": "loan", "type": "number"}, {"name": "value", "type": "number"}],
  "eval_spec": {
    "math_checks": [
      {"formula_id": "debt_service", "formula": "loan * 0.08"},
      {"formula_id": "dscr", "formula": "noi / debt_service", "units": "ratio"},
      {"formula_id": "ltv", "formula": "loan / value", "units": "%"},
      {"formula_id": "slack", "formula": "0.8 - ltv", "optional": true}
    ],
    "rules": [{"id": "dscr_gate", "expr": "dscr >= 1.25", "tier": "high"},
      {"id": "ltv_gate", "expr": "ltv <= 0.8", "tier": "mid"}]
  },
  "examples": [{
    "name": "a loan",
    "submission": {
      "inputs": {"noi": 150, "loan": 1000, "value": 1250},
      "calculations": [
        {"name": "debt service", "formula": "loan * 0.08", "inputs": {"loan": 1000}, "result": 80.0, "units": "USD"},
        {"name": "dscr", "formula": "noi / debt_service", "inputs": {"noi": 150, "debt_service": 80}, "result": 1.88,
        "units": "ratio"},
        {"name": "LTV", "formula": "loan / value * 100", "inputs": {"loan": 1000, "value": 1250}, "result": 80,
        "units": "%"},
        {"name": "slack", "formula": "0.8 - ltv", "inputs": {"ltv": 0.8}, "result": 0, "units": "ratio"}
      ]
    },
    "trips": [TRIPS]
  }]
}`

// ok is a trip that holds: 1000 to 2000 doubles debt service to 160, halves dscr to 0.9375 and makes ltv 160 % (by
// hand).
const ok = `{"change": "twice the loan", "inputs": {"loan": 2000}, "flags": ["ltv_gate", "dscr_gate"], "findings": ` +
	`["policy.dscr_gate"]}`

func TestTest(t *testing.T) {
	tests := []struct {
		name, trip string
		want       []string // parts of the failures, one each
	}{
		{"holds", ok, nil},
		{"a flag that is not named", `{"change": "c", "inputs": {"loan": 2000}, "flags": ["ltv_gate"]}`,
			[]string{"dscr_gate must be no flag and is flag"}},
		{"a flag that does not come", `{"change": "c", "inputs": {"noi": 100.00}, "flags": ["dscr_gate"]}`,
			[]string{"dscr_gate must be flag and is pass"}},
		{"exactly on the gate holds", `{"change": "c", "inputs": {"noi": 100}, "flags": []}`, nil},
		{"below the gate", `{"change": "c", "inputs": {"noi": 99.999999}, "flags": ["dscr_gate"]}`, nil},
		{"an unknown rule", `{"change": "c", "inputs": {"noi": 99}, "flags": ["dscr_gat"]}`,
			[]string{`did you mean "dscr_gate"`, "dscr_gate must be no flag"}},
		{"an unknown code", `{"change": "c", "inputs": {"noi": 99}, "flags": ["dscr_gate"], "findings": ` +
			`["math.mismatch"]}`, []string{"finding math.mismatch is missing"}},
		{"a patch after the rework", `{"change": "c", "inputs": {"noi": 200}, "patch": [{"op": "replace", "path": ` +
			`"/calculations/1/result", "value": 3}], "flags": ["math.dscr"], "findings": ["math.mismatch"]}`, nil},
		{"a patch that does not fit", `{"change": "c", "patch": [{"op": "remove", "path": "/claims/0"}], "flags": []}`,
			[]string{`patch remove "/claims/0"`}},
		{"evidence that is not there", `{"change": "c", "evidence": {"t12": "x"}, "flags": []}`,
			[]string{`the evidence "t12"`}},
		{"an input that goes missing", `{"change": "c", "inputs": {"value": null}, "flags": []}`,
			[]string{"structure must be no flag and is flag", "schema must be no flag", "math.ltv must be no flag",
				"math.slack must be no flag"}},
		{"evidence without inputs leaves the calculations", `{"change": "c", "agent": {"model": null}, "flags": []}`,
			nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := Test(loadSheet(t, strings.Replace(loanSheet, "TRIPS", tt.trip, 1)))
			if len(result.Failures) != len(tt.want) {
				t.Fatalf("failures: %v", result.Failures)
			}
			for _, w := range tt.want {
				if !slices.ContainsFunc(result.Failures,
					func(f Failure) bool { return strings.Contains(f.String(), w) }) {
					t.Errorf("no failure says %q: %v", w, result.Failures)
				}
			}
		})
	}
}
