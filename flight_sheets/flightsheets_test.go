package flightsheets_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/referee"
)

func load(t *testing.T, slug string) *referee.Sheet {
	t.Helper()
	src, ok := flightsheets.Read(slug)
	if !ok {
		t.Fatalf("no sheet %q", slug)
	}
	sheet, err := referee.LoadSheet(src, slug+".json", "library")
	if err != nil {
		t.Fatalf("the sheet is refused:\n%v", err)
	}
	return sheet
}

func TestEmbedded(t *testing.T) {
	names := flightsheets.Names()
	if !slices.IsSorted(names) || len(names) < 77 {
		t.Errorf("%d names, sorted: %v", len(names), slices.IsSorted(names))
	}
	files, err := fs.Glob(flightsheets.FS(), "*.json")
	if err != nil || len(files) != len(names) {
		t.Errorf("%d files for %d names (%v)", len(files), len(names), err)
	}
	for _, slug := range names {
		if sheet := load(t, slug); sheet.Slug != slug {
			t.Errorf("the file %s.json holds the sheet %q", slug, sheet.Slug)
		}
	}
	if src, ok := flightsheets.Read("no-such-sheet"); ok || src != nil {
		t.Error("a sheet that is not there was read")
	}
}

// TestWords holds every sheet to its examples and trips: the worked submission raises nothing, and each trip flags
// exactly the rules that it names.
func TestWords(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			result := forge.Test(load(t, slug))
			for _, f := range result.Failures {
				t.Error(f)
			}
			if result.Examples == 0 || result.Trips == 0 {
				t.Errorf("%d examples and %d trips", result.Examples, result.Trips)
			}
		})
	}
}

// gateOf reports whether a rule is the sheet's own gate: final_output_consistent speaks of the others.
func gateOf(r *referee.Rule) bool {
	return r.Stage == referee.StagePolicy && r.Kind != "final_output_consistent"
}

// TestEveryGateTrips: a gate that nothing trips is one that nobody has seen work.
func TestEveryGateTrips(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		sheet, tripped := load(t, slug), map[string]bool{}
		for _, ex := range sheet.Examples() {
			for _, trip := range ex.Trips {
				for _, id := range trip.Flags {
					tripped[id] = true
				}
			}
		}
		for _, r := range sheet.Rules {
			if gateOf(r) && !tripped[r.ID] {
				t.Errorf("%s: no trip flags the gate %s", slug, r.ID)
			}
		}
	}
}

// TestExplained: every sheet says what it is for and what it does not know; every gate and calculation why it is there
// and what would be right, and every gate where it comes from.
func TestExplained(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		sheet := load(t, slug)
		if sheet.Summary == "" || sheet.Purpose == "" || sheet.Instructions == "" || len(sheet.Outputs) == 0 ||
			len(sheet.Notes) == 0 {
			t.Errorf("%s: summary, purpose, instructions, expected outputs and notes must all be there", slug)
		}
		for _, r := range sheet.Rules {
			calculation := strings.HasPrefix(r.ID, "math.") && r.ID != "math.rederivation"
			if (gateOf(r) || calculation) && (r.Why == "" || r.Fix == "") {
				t.Errorf("%s: %s must say why it is there and what would be right", slug, r.ID)
			}
			if gateOf(r) && r.Source.Text == "" {
				t.Errorf("%s: %s must say where it comes from", slug, r.ID)
			}
			if r.Stage == referee.StageChecklist && !strings.HasSuffix(r.Question, "?") {
				t.Errorf("%s: %s is no question: %q", slug, r.ID, r.Question)
			}
		}
	}
}

// TestConstantsAreDated: a threshold from outside says since when it holds and when it must be looked at again.
func TestConstantsAreDated(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		consts := load(t, slug).Doc.Get("consts")
		if consts == nil {
			continue
		}
		for _, c := range consts.Members {
			asOf, _ := c.Value.Get("as_of").Str()
			review, _ := c.Value.Get("review_by").Str()
			if len(asOf) != len("2026-11-21") || len(review) != len(asOf) || review <= asOf {
				t.Errorf("%s: the constant %s is of %q and reviewed by %q", slug, c.Key, asOf, review)
			}
		}
	}
}
