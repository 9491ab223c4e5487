package forge

import (
	"slices"
	"sync"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
)

// quick are sheets that say little, with gates that nothing can notice a change of; the whole library takes minutes and
// is held in CI.
var quick = []string{"comp-wcag", "data-tabular-profile", "doc-design-review", "repair-appliance-warranty"}

// TestLibraryMutations: of a hundred changed gates of the library at least 95 are noticed, of each sheet 90, and the
// sheets explain every other one and nothing else.
func TestLibraryMutations(t *testing.T) {
	var mu sync.Mutex
	var total MutationResult
	t.Run("sheets", func(t *testing.T) {
		for _, slug := range flightsheets.Names() {
			if !everyRound && !slices.Contains(quick, slug) {
				continue
			}
			t.Run(slug, func(t *testing.T) {
				t.Parallel()
				m := Mutate(librarySheet(t, slug))
				listed := slices.Clone(unnoticed[slug])
				for _, s := range m.Open() {
					i := slices.Index(listed, s.Rule+": "+s.What)
					if i < 0 {
						t.Errorf("%s: %s: nothing notices, and the sheet does not say why", s.Rule, s.What)
						continue
					}
					listed = slices.Delete(listed, i, i+1)
				}
				for _, gone := range listed {
					t.Errorf("%s is noticed now: take it out of the list of what is not", gone)
				}
				for _, idle := range m.Idle {
					t.Errorf("%s: the sheet explains %q, which is noticed or which nobody makes", idle.Rule, idle.What)
				}
				if m.Below(90) {
					t.Errorf("%s per cent of its changed gates are noticed", m.Score())
				}
				mu.Lock()
				defer mu.Unlock()
				total.Mutants += m.Mutants
				total.Killed += m.Killed
			})
		}
	})
	if total.Mutants == 0 || total.Below(95) {
		t.Errorf("%s per cent of %d changed gates are noticed, and 95 are asked", total.Score(), total.Mutants)
	}
}
