package report

import (
	"slices"
	"testing"

	"github.com/defendableos/referee/referee"
)

// FuzzPapers writes hostile text into every string of a report, and the report into every format: what TestHostile
// holds for known attacks holds for any text. Two texts alternate, so that one may begin what the other ends.
func FuzzPapers(f *testing.F) {
	for i, attack := range attacks {
		f.Add(attack, attacks[(i+1)%len(attacks)], i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, one, other string, words bool) {
		if len(one)+len(other) > 1<<12 {
			return
		}
		hostile, harmless := filled(one, words), filled(harmlessFor(one), words)
		alternate(hostile, other)
		alternate(harmless, harmlessFor(other))
		for _, format := range Formats() {
			for _, n := range []int{1, few + 1} {
				if n > 1 && format != "table" {
					continue // only a terminal's table changes its form with the number of reports
				}
				o := Options{Verbose: true, Atoms: true, Version: other}
				got := write(t, format, o, slices.Repeat([]*referee.Report{hostile}, n)...)
				o.Version = "x"
				want := write(t, format, o, slices.Repeat([]*referee.Report{harmless}, n)...)
				checkText(t, format, got)
				papers[format](t, got, want)
			}
		}
	})
}

// harmlessFor returns the text that stands beside a hostile one: an empty field is left out of a paper, and so must be
// its pair.
func harmlessFor(hostile string) string {
	if hostile == "" {
		return ""
	}
	return "x"
}

// alternate gives every second finding, check and notice the other text.
func alternate(r *referee.Report, text string) {
	for i := 1; i < len(r.Findings); i += 2 {
		f := &r.Findings[i]
		f.Message, f.Pointer, f.Why, f.File = text, text, text, text
	}
	for i := 1; i < len(r.Checks); i += 2 {
		r.Checks[i].Label, r.Checks[i].Reason = text, text
	}
	for i := 1; i < len(r.Notices); i += 2 {
		r.Notices[i] = text
	}
}
