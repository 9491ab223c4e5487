package referee

import (
	"slices"
	"strconv"
	"strings"
)

// describeVerifiers says once of a sheet that scores a model which verifiers and thresholds its scores rest on; nil of
// any other sheet. Questions to a person and the lane's requirements verify nothing about the answer.
func (s *Sheet) describeVerifiers() *Reproducibility {
	if len(s.scores) == 0 {
		return nil
	}
	out := &Reproducibility{ThresholdsSHA256: s.thresholdsSHA256()}
	for _, r := range s.Rules {
		if r.Stage != StageChecklist && r.Stage != StageLane {
			out.Verifiers = append(out.Verifiers, Verifier{ID: r.ID, Version: r.verifierVersion()})
		}
	}
	out.VerifierCount = len(out.Verifiers)
	return out
}

// verifierVersion is the rule's kind with the version that the registry gives it: "jump/1".
func (r *Rule) verifierVersion() string {
	name := r.Kind
	if r.Kind == "implicit" {
		name = r.ID
	}
	since := strconv.Itoa(SemanticsVersion) // of a kind that the registry does not number by itself
	for _, k := range slices.Concat(implicitRules, ruleKinds) {
		if k.Name == name {
			since = k.Since
		}
	}
	for _, k := range ruleKeys {
		if k.Name == name {
			since = k.Since
		}
	}
	return name + "/" + since
}

// thresholdsSHA256 is over the limits of the trace, which are the canonical JSON of constants and checks, and over the
// parameters in force: the sheet's bytes alone do not say what a configuration has set (S71).
func (s *Sheet) thresholdsSHA256() string {
	var b strings.Builder
	b.WriteString("referee.thresholds/v1\n" + s.trace.Limits + "\n")
	for _, p := range s.paramValues() {
		b.WriteString(strconv.Quote(p.Name) + ":" + p.Value + "\n")
	}
	return hashText(b.String())
}

// traceOf is the sheet's trace, with what the profile declares of the model under test. A pinned profile does not state
// the temperature: there the run's own word is shown.
func (a *audit) traceOf() Trace {
	trace := a.Sheet.trace
	if trace.Reproducibility == nil {
		return trace
	}
	for _, profile := range []*Agent{a.Declared, a.Agent} {
		if profile != nil && profile.Temperature != "" {
			own := *trace.Reproducibility
			own.Temperature = profile.Temperature
			trace.Reproducibility = &own
		}
	}
	return trace
}
