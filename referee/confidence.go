package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// This file reads what a profile declares about the model that no rule may read: its prior and its temperature.

// confidenceRecord is a prior by task, in place of one number.
var confidenceRecord = &record{Name: "confidence_prior", Fields: []field{
	{Name: "S1_score", Type: "number", Doc: "expected score of S1, 0 to 100"},
	{Name: "M1_score", Type: "number", Doc: "expected score of M1, 0 to 100"},
	{Name: "M3_score", Type: "number", Doc: "expected score of M3, 0 to 100"},
	{Name: "source", Type: "string", Doc: "where the numbers come from", Required: true},
	{Name: "version", Type: "string", Doc: "which edition of that source", Required: true},
	{Name: "metadata", Type: "map", Doc: "anything else, as text by name"},
}}

// confidenceTasks are the members of a prior that are scores.
var confidenceTasks = []string{"S1_score", "M1_score", "M3_score"}

// maxConfidenceNotes bounds a prior's metadata, which every report of the model repeats.
const maxConfidenceNotes = 20

// maxTemperature is the highest temperature that serving interfaces take.
var maxTemperature = decimal.FromInt(2)

// checkAgentFigures refuses a temperature or a prior that cannot be one.
func checkAgentFigures(agent *strictjson.Value, problems *Problems) {
	if v := agent.Get("temperature"); v != nil && !isFromZeroTo(v, maxTemperature) {
		problems.addProblem(v, "temperature", "temperature must be a number from 0 to 2, not %s; leave the member out where "+
			"it is not known", v.Text)
	}
	prior := agent.Get("confidence_prior")
	switch {
	case prior == nil || prior.Kind == strictjson.Number:
		return
	case prior.Kind != strictjson.Object:
		problems.addProblem(prior, "type", "\"confidence_prior\" must be a number, or an object with S1_score, M1_score or "+
			"M3_score, source and version")
		return
	}
	confidenceRecord.checkValue(prior, problems)
	checkPrior(prior, problems)
}

func checkPrior(prior *strictjson.Value, problems *Problems) {
	scored := false
	for _, task := range confidenceTasks {
		v := prior.Get(task)
		if scored = scored || v != nil; v != nil && v.Kind == strictjson.Number && !isFromZeroTo(v, highestCap) {
			problems.addProblem(v, "confidence_prior", "%s must be from 0 to 100, not %s", task, v.Text)
		}
	}
	if !scored {
		problems.addProblem(prior, "missing_key",
			"confidence_prior needs the score of a task: S1_score, M1_score or M3_score")
	}
	for _, name := range []string{"source", "version"} {
		if v := prior.Get(name); v != nil && v.Kind == strictjson.String && legible.Blank(v.Text) {
			problems.addProblem(v, "confidence_prior", "%s of confidence_prior is empty: a prior without it cannot be looked up",
				name)
		}
	}
	notes := prior.Get("metadata").Fields()
	if len(notes) > maxConfidenceNotes {
		problems.addProblem(prior.Get("metadata"), "confidence_prior", "metadata has %d members; at most %d are kept",
			len(notes),
			maxConfidenceNotes)
	}
	for _, m := range notes {
		if m.Value.Kind != strictjson.String {
			problems.addProblem(m.Value, "type", "metadata %q must be a text", clipText(m.Key))
		}
	}
}

// isFromZeroTo reports whether v is a number from 0 to highest.
func isFromZeroTo(v *strictjson.Value, highest *decimal.Num) bool {
	n := v.Decimal()
	return n != nil && n.Sign() >= 0 && decimal.Cmp(n, highest) <= 0
}

// modelConfidenceOf reads a prior that is stated task by task; nil where it is one number or absent. The notes are
// sorted by name, so that two spellings of one profile give one report.
func modelConfidenceOf(v *strictjson.Value) *ModelConfidence {
	if v == nil || v.Kind != strictjson.Object {
		return nil
	}
	c := &ModelConfidence{S1Score: reportNumber(v.Get("S1_score").Decimal()),
		M1Score: reportNumber(v.Get("M1_score").Decimal()),
		M3Score: reportNumber(v.Get("M3_score").Decimal()), Source: v.TextOf("source"), Version: v.TextOf("version")}
	for _, m := range v.Get("metadata").Fields() {
		c.Metadata = append(c.Metadata, ConfidenceNote{Name: m.Key, Value: m.Value.Text})
	}
	slices.SortFunc(c.Metadata, func(x, y ConfidenceNote) int {
		if x.Name < y.Name {
			return -1
		}
		return 1
	})
	return c
}
