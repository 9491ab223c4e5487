package flightsheets_test

import (
	"slices"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// BenchmarkLibrary loads and compiles every sheet, as `referee sheet list` does.
func BenchmarkLibrary(b *testing.B) {
	for b.Loop() {
		library := referee.NewLibrary(flightsheets.FS(), nil, "")
		if _, errs := library.Load(); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			b.Fatal(errs)
		}
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
