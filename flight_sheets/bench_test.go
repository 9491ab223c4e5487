package flightsheets_test

import (
	"runtime/debug"
	"slices"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// BenchmarkLibrary loads and compiles every sheet, with the heap that `referee sheet list` and `referee audit` allow
// themselves between two collections, and with Go's own.
func BenchmarkLibrary(b *testing.B) {
	for name, percent := range map[string]int{"list": 800, "audit": 200, "default": 100} {
		b.Run(name, func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(percent))
			for b.Loop() {
				library := referee.NewLibrary(flightsheets.FS(), nil, "")
				if _, errs := library.Load(); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
					b.Fatal(errs)
				}
			}
		})
	}
}

// BenchmarkSheet loads and compiles one sheet, as an audit of one submission does.
func BenchmarkSheet(b *testing.B) {
	for b.Loop() {
		if _, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find("cre-multifamily-agency"); err != nil {
			b.Fatal(err)
		}
	}
}
