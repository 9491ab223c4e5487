package summary

import (
	"encoding/json"
	"strings"
)

// Prior is what was expected of a model before any sample was judged, as its profile declares it: a score a task, with
// its source and version. It is shown, and reaches no verdict, score or rank.
type Prior struct {
	S1      string `json:"S1_score,omitempty"`
	M1      string `json:"M1_score,omitempty"`
	M3      string `json:"M3_score,omitempty"`
	Source  string `json:"source,omitempty"`
	Version string `json:"version,omitempty"`
}

// readPrior reads model_confidence, or confidence_prior where that is an object, out of a profile; members that it does
// not know are left to the report.
func readPrior(profile any) Prior {
	encoded, err := json.Marshal(profile)
	if err != nil {
		return Prior{}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(encoded, &members) != nil {
		return Prior{}
	}
	for _, name := range []string{"model_confidence", "confidence_prior"} {
		var values map[string]any
		if json.Unmarshal(members[name], &values) != nil {
			continue
		}
		text := func(key string) string {
			encoded, err := json.Marshal(values[key])
			if err != nil || string(encoded) == "null" {
				return ""
			}
			return strings.Trim(string(encoded), `"`)
		}
		return Prior{S1: text("S1_score"), M1: text("M1_score"), M3: text("M3_score"), Source: text("source"),
			Version: text("version")}
	}
	return Prior{}
}

// priorTasks names the sheets that a task's score is about, by the beginning of their slug.
var priorTasks = []struct {
	beginning string
	score     func(Prior) string
}{
	{"fly-s1-", func(p Prior) string { return p.S1 }},
	{"fly-m1-", func(p Prior) string { return p.M1 }},
	{"fly-m3-", func(p Prior) string { return p.M3 }},
}

// forSheet is the score of the task that a sheet judges; "" where none is declared.
func (p Prior) forSheet(slug string) string {
	for _, t := range priorTasks {
		if strings.HasPrefix(slug, t.beginning) {
			return t.score(p)
		}
	}
	return ""
}
