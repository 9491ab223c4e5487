package flightsheets_test

import (
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// BenchmarkLibrary loads and compiles every sheet, as `referee sheet list` does.
func BenchmarkLibrary(b *testing.B) {
	for b.Loop() {
		library := referee.NewLibrary(flightsheets.FS(), nil, "")
		for _, slug := range library.Slugs() {
			if _, err := library.Find(slug); err != nil {
				b.Fatal(err)
			}
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
