package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// rulebookTools are the forge's, as the gate asks for them: what it says of a sheet that a pull request changes. today
// dates the reviews of constants.
func rulebookTools(today string) rulebook.Tools {
	work := &decimal.Meter{Most: forge.MaxExampleWork} // of all sheets that a pull request changes
	return rulebook.Tools{
		Lint: func(s *referee.Sheet) (problems, warnings []string) {
			for _, p := range slices.Concat(s.Warnings, forge.LintOnly(s, today)) {
				switch {
				case p.Warning:
					warnings = append(warnings, p.String())
				default:
					problems = append(problems, p.String())
				}
			}
			return problems, warnings
		},
		Test: func(s *referee.Sheet) (summary string, failures []string) {
			r := forge.TestWithin(s, work)
			for _, f := range r.Failures {
				failures = append(failures, f.String())
			}
			return fmt.Sprintf("%d examples and %d trips, %d failures", r.Examples, r.Trips, len(r.Failures)), failures
		},
		Turned: func(where string, c referee.Case, before, after *referee.Sheet) string {
			t := forge.Turned(where, c, before, after)
			if t == nil {
				return ""
			}
			return fmt.Sprintf("%s: was %s, would be %s: %s", t.Where, t.Before, t.After, strings.Join(t.Rules, "; "))
		},
	}
}
