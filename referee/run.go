package referee

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/referee/evidence"
)

// RunSchema names the shape of run.json.
const RunSchema = "referee.run/v1"

// Run is a run folder's manifest: who did which work by which sheet, on what evidence (formats.md).
type Run struct {
	Schema     string
	ID         string
	Lane       string
	Sheet      string // slug, or slug@version
	Project    string
	Agent      Agent
	Assignment string
	Submission string // path of the submission inside the run folder
	Evidence   []evidence.Item
	Operator   string
	CostUSD    string // canonical decimal, as declared
	RevisionOf string
}

// Agent is the profile of the agent, self-declared unless the configuration pins one (S42). Empty fields are unknown.
type Agent struct {
	Name           string `json:"name,omitempty"`
	Model          string `json:"model,omitempty"`
	Provider       string `json:"provider,omitempty"`
	Harness        string `json:"harness,omitempty"`
	Runtime        string `json:"runtime,omitempty"`
	CapabilityTier string `json:"capability_tier,omitempty"`
	ParamsB        string `json:"params_b,omitempty"`       // billions, canonical decimal
	ContextTokens  string `json:"context_tokens,omitempty"` // canonical decimal
	VRAMGB         string `json:"vram_gb,omitempty"`        // gigabytes, canonical decimal
	Temperature    string `json:"temperature,omitempty"`    // of sampling, 0 to 2, canonical decimal
	Confidence     string `json:"confidence_prior,omitempty"`
	// the priors by task, where the profile states them as an object; shown, never judging
	ModelConfidence *ModelConfidence `json:"model_confidence,omitempty"`
	Tools           []string         `json:"tools,omitempty"`
	Modalities      []string         `json:"modalities,omitempty"`
	Pinned          bool             `json:"pinned,omitempty"` // the base configuration vouches for it
	// ToolsKnown tells an empty list of tools from an absent one.
	ToolsKnown      bool `json:"-"`
	ModalitiesKnown bool `json:"-"`
}

// ModelConfidence is what a benchmark's authors expected of a model before any sample was judged, task by task, with
// where the numbers come from. Metadata is text by name.
type ModelConfidence struct {
	S1Score  string           `json:"s1_score,omitempty"` // 0 to 100, canonical decimal, as the other scores
	M1Score  string           `json:"m1_score,omitempty"`
	M3Score  string           `json:"m3_score,omitempty"`
	Source   string           `json:"source"`
	Version  string           `json:"version"`
	Metadata []ConfidenceNote `json:"metadata,omitempty"`
}

// ConfidenceNote is one member of a prior's metadata.
type ConfidenceNote struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// differencesFrom words what another profile states otherwise than this one; what either leaves out is no difference.
func (a *Agent) differencesFrom(other *Agent) []string {
	var out []string
	for _, f := range []struct{ name, pinned, stated string }{
		{"model", a.Model, other.Model}, {"provider", a.Provider, other.Provider}, {"capability_tier", a.CapabilityTier,
			other.CapabilityTier},
		{"params_b", a.ParamsB, other.ParamsB}, {"context_tokens", a.ContextTokens, other.ContextTokens},
		{"vram_gb", a.VRAMGB, other.VRAMGB}, {"runtime", a.Runtime, other.Runtime},
	} {
		if f.pinned != "" && f.stated != "" && f.pinned != f.stated {
			out = append(out, fmt.Sprintf("%s is %q, pinned is %q", f.name, clipText(f.stated), f.pinned))
		}
	}
	if tools := wordsNotKnown(other.Tools, a.Tools); a.ToolsKnown && len(tools) > 0 {
		out = append(out, "tools that are not pinned: "+joinListed(tools))
	}
	return out
}

// wordsNotKnown lists the words that are not among known.
func wordsNotKnown(words, known []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return normalName(k) == normalName(w) })
	})
}
