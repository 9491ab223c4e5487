package summary

import (
	"strings"

	"github.com/defendableos/referee/referee"
)

// Prior is what was expected of a model before any sample was judged, as its profile declares it: a score a task, with
// its source and version. It is shown, and reaches no verdict, score or rank.
type Prior struct {
	S1      string `json:"s1_score,omitempty"`
	M1      string `json:"m1_score,omitempty"`
	M3      string `json:"m3_score,omitempty"`
	Source  string `json:"source,omitempty"`
	Version string `json:"version,omitempty"`
}

// readPrior takes a profile's priors over; none where it states them as one number, or not at all.
func readPrior(profile *referee.Agent) Prior {
	if profile == nil || profile.ModelConfidence == nil {
		return Prior{}
	}
	c := profile.ModelConfidence
	return Prior{S1: c.S1Score, M1: c.M1Score, M3: c.M3Score, Source: c.Source, Version: c.Version}
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
