// Package summary adds audits up: per flight sheet (how much of the work was eligible, which rules it keeps, how far
// its numbers lie off, how it fails) and per agent (rates, scores, trend). It reads reports, or receipts of a ledger;
// the two are one kind of Sample.
//
// Derived values are counted over eligible samples only, each with its own unit: pooling feet, degrees and knots in one
// number, as one of the source systems does, says nothing. Errors against a right answer are pooled in percent of the
// sheet's limits, once over eligible samples (the conditional error) and once over all that could be read. A model's
// own confidence is carried along and shown; it reaches no verdict. Percentiles are nearest-rank, means are decimal,
// and the order of the samples is their place in the input, so that shards of one batch sum up to the same bytes as the
// whole.
package summary

import (
	"sort"
	"strconv"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Sample is one audited submission.
type Sample struct {
	Sheet, Version, Lane     string
	Agent, Model, Confidence string
	Run                      string
	Score                    string // 0 … 100, canonical decimal
	Severity, Action         string
	Eligible                 bool // readable, and no critical flag stops it
	Readable                 bool
	Have, Need               int // required members present, of all
	Ready                    bool
	Checks                   []Check // none of a receipt: it holds findings, not checks
	Findings                 []Finding
	Values                   []Value // what the sheet derives
	At                       string  // of a receipt: when it was minted

	// of a sheet that judges predictions; none of a receipt
	Settings []string // parameters in force: totals that another setting scored do not compare
	Gold     bool     // the right answer was at hand
	Prior    Prior
	Families []Family
	Errors   []FieldError
	Scores   map[string]string // by the protocol's name
}

// Check is what became of one rule.
type Check struct {
	Kind   string
	Status string
}

// Finding is what went wrong, for counting.
type Finding struct {
	Code, Tier, Bucket string
	Percent            string // the relative error in percent, where it has one
	Mode               string // of the six failure modes; "" of a gate that only counts facts
}

// Value is a derived value of a sample.
type Value struct{ Name, Value string }

// FromReport makes a sample of a report.
func FromReport(r *referee.Report) Sample {
	s := Sample{Sheet: r.Sheet.Slug, Version: r.Sheet.Version, Lane: r.Lane, Run: r.Run.ID, Score: r.Verdict.Score,
		Severity: string(r.Verdict.Severity),
		Action:   r.Verdict.RecommendedAction, Eligible: r.Adjudication.Eligible, Readable: r.Protocol.Parsed,
		Ready: r.Verdict.ClientReady}
	if r.Scores != nil && len(r.Params) > 0 {
		for _, p := range r.Params {
			s.Settings = append(s.Settings, p.Name+"="+strings.Trim(p.Value, `"`))
		}
		sort.Strings(s.Settings)
	}
	s.Have, s.Need = parseFraction(r.Protocol.FieldCompleteness)
	if r.Agent != nil {
		s.Agent, s.Model, s.Confidence = r.Agent.Name, r.Agent.Model, r.Agent.Confidence
		s.Prior = readPrior(r.Agent)
	}
	s.readFacts(r)
	families := map[string]string{}
	for _, at := range r.Atoms {
		families[at.ID], _, _ = strings.Cut(at.Type, ".")
	}
	for _, c := range r.Checks {
		s.Checks = append(s.Checks, Check{Kind: kindOf(c), Status: string(c.Status)})
	}
	for _, f := range r.Findings {
		one := Finding{Code: f.Code, Tier: string(f.Tier), Bucket: string(f.Bucket),
			Mode: modeOfFinding(f.Code, citedFamilies(f, families))}
		if !s.Readable {
			one.Mode = protocolFailure
		}
		if f.Spot != nil && strings.HasPrefix(f.Code, "math.") {
			one.Percent = f.Spot.Percent
		}
		s.Findings = append(s.Findings, one)
	}
	for _, d := range r.Derived {
		if d.Value != "" {
			s.Values = append(s.Values, Value{d.ID, d.Value})
		}
	}
	return s
}

// readFacts takes over what a sheet for predictions reports.
func (s *Sample) readFacts(r *referee.Report) {
	for _, f := range r.Compliance {
		one := Family{Family: f.Family}
		// What was not answered cannot be verified: it fails the protocol, and no family.
		if s.Readable {
			one.Held, one.Warning, one.Critical = f.Held, f.Warning, f.Critical
		}
		s.Families = append(s.Families, one)
	}
	s.Gold, s.Errors = r.Gold != nil && r.Gold.Available, parseErrors(r.Errors)
	if r.Scores != nil {
		s.Scores = map[string]string{"availability": r.Scores.Availability,
			"constraint_satisfaction": r.Scores.ConstraintSatisfaction,
			"conditional_error":       r.Scores.ConditionalError, "total": r.Scores.Total}
	}
}

// kindOf groups checks for compliance: registry keys by their stage, the others by their kind.
func kindOf(c referee.Check) string {
	if c.Kind == c.ID || c.Kind == "implicit" {
		return c.Category
	}
	return c.Kind
}

// FromReceipt makes a sample of a receipt that holds an audit; ok is false for one that holds none.
func FromReceipt(r *ledger.Receipt) (s Sample, ok bool) {
	if !r.Audited() {
		return Sample{}, false
	}
	v := r.Verdict
	s = Sample{Sheet: r.FlightSheet.Slug, Version: r.FlightSheet.Version, Lane: r.Run.Lane, Run: r.Run.ID,
		Score: v.Score, Severity: v.Severity, Action: v.RecommendedAction,
		Eligible: v.Risk.High == 0, Readable: true, Ready: v.ClientReady, At: r.MintedAt}
	if r.Agent != nil {
		s.Agent, s.Model, s.Confidence = r.Agent.Name, r.Agent.Model, r.Agent.ConfidencePrior
	}
	for _, f := range r.Findings {
		one := Finding{Code: f.Code, Tier: f.Tier, Bucket: f.Bucket}
		if f.Spot != nil && strings.HasPrefix(f.Code, "math.") {
			one.Percent = f.Spot.Percent
		}
		s.Findings = append(s.Findings, one)
	}
	return s, true
}

// parseFraction reads "n/d".
func parseFraction(s string) (n, d int) {
	before, after, _ := strings.Cut(s, "/")
	n, _ = strconv.Atoi(before)
	d, _ = strconv.Atoi(after)
	return n, d
}
