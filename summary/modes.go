package summary

import (
	"strings"

	"github.com/defendableos/referee/referee"
)

// FailureMode is one of the six ways in which a predicted state fails, with what counts as it: families of facts, and
// finding codes by their beginning. The table is data: docs/formats.md prints it, and TestFailureModesAreDocumented
// holds the two together.
type FailureMode struct {
	Name, Meaning string
	Families      []string // of the facts that a finding cites
	Codes         []string // beginnings of finding codes; they come first, for a missing field is no invalid number
}

// FailureModes lists the six modes, in the order in which an answer is judged. What fits none is "other".
func FailureModes() []FailureMode {
	return []FailureMode{
		{protocolFailure, "the answer cannot be read, has another shape, or lacks fields", nil,
			[]string{"protocol.", "structure.", "schema."}},
		{"invalid_number", "a field holds something else than a usable number",
			[]string{"numeric_validity"}, []string{"math.not_a_number"}},
		{"implausible_value", "a value is outside its limits", []string{"range_sanity"}, nil},
		{"discontinuity", "a value moves further in a second than it can", []string{"jump_dynamics"}, nil},
		{"contradiction", "fields contradict each other or the laws of flight",
			[]string{"cross_field_consistency", "physics_constraint"}, nil},
		{"unsafe_state", "the predicted state is dangerous", []string{"safety_constraint"}, nil},
	}
}

// protocolFailure is the mode of all that is found in an answer that cannot be read.
const protocolFailure = "protocol_failure"

// otherMode holds what no mode names: wrong samples, missing evidence, families that this release does not know.
const otherMode = "other"

// gateOverFacts is the code of the gate that only counts the facts of the others: it causes nothing by itself.
const gateOverFacts = "policy.eligibility"

// modeOfFinding is the mode of a finding, by its code, then by the family of a fact that it cites; "" for the gate.
func modeOfFinding(code string, families []string) string {
	if code == gateOverFacts {
		return ""
	}
	modes := FailureModes()
	for _, m := range modes {
		for _, beginning := range m.Codes {
			if strings.HasPrefix(code, beginning) {
				return m.Name
			}
		}
	}
	for _, m := range modes {
		for _, family := range m.Families {
			for _, cited := range families {
				if cited == family {
					return m.Name
				}
			}
		}
	}
	return otherMode
}

// citedFamilies are the families of the facts that a finding cites.
func citedFamilies(f referee.Finding, families map[string]string) (out []string) {
	for _, id := range f.Atoms {
		if family := families[id]; family != "" {
			out = append(out, family)
		}
	}
	return out
}

// Mode is how often one way to fail occurs.
type Mode struct {
	Mode     string `json:"mode"`
	Samples  int    `json:"samples"`
	Findings int    `json:"findings"`
	Rate     string `json:"rate"` // percent of samples
}

// countModes counts the six modes, each of them also where it does not occur; "other" only where it does.
func countModes(group []Sample) []Mode {
	by := map[string]*Mode{}
	for _, x := range group {
		seen := map[string]bool{}
		for _, f := range x.Findings {
			if f.Mode == "" {
				continue
			}
			if by[f.Mode] == nil {
				by[f.Mode] = &Mode{}
			}
			by[f.Mode].Findings++
			if !seen[f.Mode] {
				seen[f.Mode] = true
				by[f.Mode].Samples++
			}
		}
	}
	var out []Mode
	for _, name := range modeNames() {
		m := by[name]
		switch {
		case m == nil && name == otherMode:
			continue
		case m == nil:
			m = &Mode{}
		}
		m.Mode, m.Rate = name, percentCeil(m.Samples, len(group))
		out = append(out, *m)
	}
	return out
}

func modeNames() (out []string) {
	for _, m := range FailureModes() {
		out = append(out, m.Name)
	}
	return append(out, otherMode)
}
