package receipt

import (
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// FindingsOf takes the first findings in rank order, and says how many there are.
func FindingsOf(all []referee.Finding) ([]ledger.Finding, int) {
	var out []ledger.Finding
	for _, f := range all[:min(len(all), ledger.MaxFindings)] {
		out = append(
			out,
			inReceipt(
				ledger.Finding{
					Code:     f.Code,
					RuleIDs:  f.RuleIDs,
					Tier:     string(f.Tier),
					Severity: f.Severity,
					Bucket:   string(f.Bucket),
					Stage: string(
						f.Stage,
					),
					Pointer:   f.Pointer,
					File:      f.File,
					Line:      f.Line,
					Column:    f.Column,
					EndLine:   f.EndLine,
					EndColumn: f.EndCol,
					Message:   f.Message,
					Why:       f.Why,
					Spot:      spotOf(f.Spot),
					Fix:       fixOf(f.Fix),
					Atoms:     f.Atoms,
				},
			),
		)
	}
	return out, len(all)
}

// maxWords is how long a text of a finding is that had to be shortened for a receipt.
const maxWords = 2000

// inReceipt is a finding that a receipt has room for. Without the bound, one huge finding would leave out all lighter
// ones, and a receipt that hides some could not be told from one that is full.
func inReceipt(f ledger.Finding) ledger.Finding {
	if b, err := canonical.MarshalUnbounded(f); err != nil || len(b) <= ledger.MaxFindingBytes {
		return f
	}
	cut := func(s string) string {
		if r := []rune(s); len(r) > maxWords {
			return string(r[:maxWords]) + "…"
		}
		return s
	}
	f.Message, f.Why, f.Atoms = cut(f.Message), cut(f.Why), nil
	if f.Fix != nil {
		f.Fix = &ledger.Fix{Text: cut(f.Fix.Text)}
	}
	if s := f.Spot; s != nil {
		f.Spot = &ledger.Spot{
			Claimed:    cut(s.Claimed),
			Recomputed: cut(s.Recomputed),
			Delta:      cut(s.Delta),
			Percent:    cut(s.Percent),
			Band:       s.Band,
			Gate:       cut(s.Gate),
			Distance:   cut(s.Distance),
		}
	}
	return f
}

func spotOf(s *referee.Spot) *ledger.Spot {
	if s == nil {
		return nil
	}
	return &ledger.Spot{
		Claimed:    s.Claimed,
		Recomputed: s.Recomputed,
		Delta:      s.Delta,
		Percent:    s.Percent,
		Band:       s.Band,
		Gate:       s.Gate,
		Distance:   s.Distance,
	}
}

func fixOf(f *referee.Fix) *ledger.Fix {
	if f == nil || f.Text == "" {
		return nil
	}
	out := &ledger.Fix{Text: f.Text, JSONPatch: f.JSONPatch}
	for _, m := range f.Moves {
		out.Moves = append(out.Moves, ledger.Move{Input: m.Input, From: m.From, To: m.To})
	}
	return out
}

// VerdictOf is an audit's verdict as a receipt holds it.
func VerdictOf(v referee.Verdict) *ledger.Verdict {
	return &ledger.Verdict{
		Score:         v.Score,
		ScoreFraction: v.ScoreFraction,
		ScoreDecided:  v.ScoreDecided,
		Coverage:      v.Coverage,
		WeightedScore: v.WeightedScore,
		Counts: ledger.Counts{
			Declared:  v.Counts.Declared,
			Satisfied: v.Counts.Satisfied,
			Flagged:   v.Counts.Flagged,
			Skipped:   v.Counts.Skipped,
			Open:      v.Counts.Open,
		},
		Risk: ledger.Risk{
			High: v.Risk.High,
			Mid:  v.Risk.Mid,
			Low:  v.Risk.Low,
		},
		RiskPoints:        v.RiskPoints,
		Severity:          string(v.Severity),
		ClientReady:       v.ClientReady,
		RecommendedAction: v.RecommendedAction,
		UndecidedHigh:     v.UndecidedHigh,
	}
}

func agentOf(a *referee.Agent, cost string) *ledger.Agent {
	if a == nil {
		return &ledger.Agent{CostUSD: cost}
	}
	return &ledger.Agent{
		Name:            a.Name,
		Model:           a.Model,
		Provider:        a.Provider,
		Harness:         a.Harness,
		Runtime:         a.Runtime,
		CapabilityTier:  a.CapabilityTier,
		ParamsB:         a.ParamsB,
		ContextTokens:   a.ContextTokens,
		VRAMGB:          a.VRAMGB,
		ConfidencePrior: a.Confidence,
		Temperature:     a.Temperature,
		CostUSD:         cost,
		Tools:           a.Tools,
		Modalities:      a.Modalities,
		Pinned:          a.Pinned,
	}
}

// EvidenceOf is the report's evidence with one provenance for all of it: "base", "local", or "pull_request" with who
// added it.
func EvidenceOf(rep *referee.Report, provenance func(id string) (from, by string)) []ledger.Evidence {
	var out []ledger.Evidence
	for _, e := range rep.Evidence {
		from, by := provenance(e.ID)
		kind := e.Kind
		if kind == "" {
			kind = "file"
		}
		out = append(
			out,
			ledger.Evidence{
				ID:         e.ID,
				Kind:       kind,
				Path:       e.Path,
				SHA256:     e.SHA256,
				Bytes:      e.Bytes,
				Status:     e.Status,
				Provenance: from,
				AddedBy:    by,
			},
		)
	}
	return out
}

// PinnedProfile is the profile that the configuration vouched for; nil where the run's own was read.
func PinnedProfile(a *ledger.Agent) *referee.Agent {
	if a == nil || !a.Pinned {
		return nil
	}
	return &referee.Agent{
		Name:            a.Name,
		Model:           a.Model,
		Provider:        a.Provider,
		Harness:         a.Harness,
		Runtime:         a.Runtime,
		CapabilityTier:  a.CapabilityTier,
		ParamsB:         a.ParamsB,
		ContextTokens:   a.ContextTokens,
		VRAMGB:          a.VRAMGB,
		Confidence:      a.ConfidencePrior,
		Temperature:     a.Temperature,
		Tools:           a.Tools,
		Modalities:      a.Modalities,
		Pinned:          true,
		ToolsKnown:      a.Tools != nil,
		ModalitiesKnown: a.Modalities != nil,
	}
}
