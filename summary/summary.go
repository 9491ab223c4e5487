package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// Summary is a batch or a ledger, added up.
type Summary struct {
	Schema  string  `json:"schema"`
	Samples int     `json:"samples"`
	Sheets  []Sheet `json:"sheets"`
	Agents  []Agent `json:"agents"`
	Boards  []Board `json:"leaderboards"` // a sheet each: models by scores
}

// Schema names the shape of a Summary.
const Schema = "referee.summary/v1"

// Count is a word and how often it occurs, with its share of the samples in percent.
type Count struct {
	Name  string `json:"name"`
	N     int    `json:"n"`
	Share string `json:"share"`
}

// Sheet is one flight sheet over all samples.
type Sheet struct {
	Sheet       string `json:"sheet"` // slug@version
	Lane        string `json:"lane"`
	Samples     int    `json:"samples"`
	Readable    int    `json:"readable"`
	Eligible    int    `json:"eligible"`
	Eligibility string `json:"eligibility"` // percent of samples that nothing stops
	// percent of samples with an answer that could be read
	Availability string `json:"availability"`
	// percent of required members present; absent for receipts
	Completeness string         `json:"completeness,omitempty"`
	Score        Distribution   `json:"score"`
	Severities   []Count        `json:"severities"`
	Actions      []Count        `json:"actions"`
	Compliance   []Compliance   `json:"compliance,omitempty"`
	Errors       Distribution   `json:"errors"` // relative error of flagged calculations, in percent
	Values       []Distribution `json:"values,omitempty"`
	Failures     []Failure      `json:"failures,omitempty"`
	Task         Task           `json:"task"` // of all models together
}

// Compliance is how one kind of rule fares. Rate is satisfied of decided, in percent.
type Compliance struct {
	Kind      string `json:"kind"`
	Satisfied int    `json:"satisfied"`
	Flagged   int    `json:"flagged"`
	Skipped   int    `json:"skipped"`
	Open      int    `json:"open"`
	Rate      string `json:"rate,omitempty"`
}

// Failure is one way to fail.
type Failure struct {
	Code     string `json:"code"`
	Tier     string `json:"tier"` // the heaviest that occurred
	Bucket   string `json:"bucket"`
	Samples  int    `json:"samples"`
	Findings int    `json:"findings"`
	Rate     string `json:"rate"` // exceedance: percent of samples with it
}

// Agent is one agent (and model) over all sheets.
type Agent struct {
	Agent      string       `json:"agent"`
	Model      string       `json:"model,omitempty"`
	Confidence string       `json:"confidence_prior,omitempty"` // declared; shown, never judged
	Prior      Prior        `json:"model_confidence,omitzero"`  // the same, a task each
	Samples    int          `json:"samples"`
	Ready      Count        `json:"client_ready"`
	Severities []Count      `json:"severities"`
	Tiers      []Count      `json:"tiers"`
	Buckets    []Count      `json:"buckets"`
	Score      Distribution `json:"score"`
	Trend      []Point      `json:"trend"`
	Sheets     []Count      `json:"sheets"`
	Tasks      []Task       `json:"tasks"` // a sheet each
}

// Point is one step of a trend: the mean score of some consecutive samples.
type Point struct {
	From  int    `json:"from"` // first sample, counted from 1
	To    int    `json:"to"`
	Score string `json:"score"`
}

// maxTrend bounds a trend: more samples are taken together.
const maxTrend = 24

// Of adds samples up, in the order in which they come.
func Of(samples []Sample) Summary {
	s := Summary{Schema: Schema, Samples: len(samples), Sheets: []Sheet{}, Agents: []Agent{},
		Boards: []Board{}}
	for _, group := range groupSamples(samples, sheetKey) {
		s.Sheets, s.Boards = append(s.Sheets, sheetOf(group)), append(s.Boards, boardOf(group))
	}
	for _, group := range groupSamples(samples, agentKey) {
		s.Agents = append(s.Agents, agentOf(group))
	}
	return s
}

// sheetKey is what is added up: a version of a sheet, under the settings that its scores rest on.
func sheetKey(x Sample) string { return sheetName(x) + "\x00" + strings.Join(x.Settings, "\x00") }

func sheetName(x Sample) string { return x.Sheet + "@" + x.Version }

func agentKey(x Sample) string { return x.Agent + "\x00" + x.Model }

// unnamed is an agent that no profile names.
const unnamed = "(not named)"

// groupSamples splits samples by a key, groups in order of the key.
func groupSamples(samples []Sample, key func(Sample) string) [][]Sample {
	groups := map[string][]Sample{}
	var keys []string
	for _, s := range samples {
		k := key(s)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], s)
	}
	slices.Sort(keys)
	out := make([][]Sample, len(keys))
	for i, k := range keys {
		out[i] = groups[k]
	}
	return out
}

func sheetOf(group []Sample) Sheet {
	s := Sheet{Sheet: sheetName(group[0]), Lane: group[0].Lane, Samples: len(group),
		Score: Distribution{Name: "score"}, Errors: Distribution{Name: "relative error, percent"}}
	s.Task = taskOf(group)
	values := map[string]*Distribution{}
	var order []string
	for _, x := range group {
		s.Score.add(x.Score)
		for _, f := range x.Findings {
			s.Errors.add(f.Percent)
		}
		if !x.Eligible {
			continue
		}
		for _, v := range x.Values {
			if values[v.Name] == nil {
				values[v.Name] = &Distribution{Name: v.Name}
				order = append(order, v.Name)
			}
			values[v.Name].add(v.Value)
		}
	}
	s.Readable, s.Eligible, s.Eligibility = s.Task.Readable, s.Task.Eligible, s.Task.Eligibility
	s.Availability, s.Completeness = s.Task.Availability, s.Task.Completeness
	for _, name := range order {
		values[name].close()
		s.Values = append(s.Values, *values[name])
	}
	s.Score.close()
	s.Errors.close()
	s.Severities = countWords(group, []string{"honey", "unsigned", "jelly", "propolis"},
		func(x Sample) []string { return []string{x.Severity} })
	s.Actions = countWords(group, []string{"approve", "review", "reject", "resubmit"},
		func(x Sample) []string { return []string{x.Action} })
	s.Compliance, s.Failures = complianceByKind(group), rankFailures(group)
	return s
}

func agentOf(group []Sample) Agent {
	a := Agent{Agent: cmp.Or(group[0].Agent, unnamed), Model: group[0].Model, Confidence: group[0].Confidence,
		Samples: len(group), Score: Distribution{Name: "score"}}
	ready := 0
	for _, x := range group {
		if ready += oneIf(x.Ready); a.Prior == (Prior{}) {
			a.Prior = x.Prior
		}
		a.Score.add(x.Score)
	}
	for _, mine := range groupSamples(group, sheetKey) {
		a.Tasks = append(a.Tasks, taskOf(mine))
	}
	a.Trend = scoreTrend(group)
	a.Score.close()
	a.Ready = Count{"client ready", ready, percentFloor(ready, len(group))}
	a.Severities = countWords(group, []string{"honey", "unsigned", "jelly", "propolis"},
		func(x Sample) []string { return []string{x.Severity} })
	a.Tiers = countWords(group, []string{"high", "mid", "low"}, func(x Sample) (out []string) {
		for _, f := range x.Findings {
			out = append(out, f.Tier)
		}
		return out
	})
	a.Buckets = countWords(group, []string{"work-defect", "deal-finding", "stack-fit"}, func(x Sample) (out []string) {
		for _, f := range x.Findings {
			out = append(out, f.Bucket)
		}
		return out
	})
	a.Sheets = countWords(group, nil, func(x Sample) []string { return []string{x.Sheet} })
	return a
}

// countWords says in how many samples each word occurs; words lists them in their order, nil takes those that occur,
// sorted.
func countWords(group []Sample, words []string, of func(Sample) []string) []Count {
	seen := map[string]int{}
	for _, x := range group {
		mine := of(x)
		slices.Sort(mine)
		for _, w := range slices.Compact(mine) {
			seen[w]++
		}
	}
	if words == nil {
		for w := range seen {
			words = append(words, w)
		}
		slices.Sort(words)
	}
	out := []Count{}
	for _, w := range words {
		if seen[w] > 0 {
			out = append(out, Count{w, seen[w], percentFloor(seen[w], len(group))})
		}
	}
	return out
}

func complianceByKind(group []Sample) []Compliance {
	by := map[string]*Compliance{}
	var order []string
	for _, x := range group {
		for _, c := range x.Checks {
			if by[c.Kind] == nil {
				by[c.Kind] = &Compliance{Kind: c.Kind}
				order = append(order, c.Kind)
			}
			switch c.Status {
			case "pass":
				by[c.Kind].Satisfied++
			case "flag":
				by[c.Kind].Flagged++
			case "skip":
				by[c.Kind].Skipped++
			case "open":
				by[c.Kind].Open++
			}
		}
	}
	var out []Compliance
	for _, k := range order {
		c := by[k]
		if decided := c.Satisfied + c.Flagged; decided > 0 {
			c.Rate = percentFloor(c.Satisfied, decided)
		}
		out = append(out, *c)
	}
	return out
}

// rankFailures ranks the ways to fail: by tier, then by how many samples fail that way, then by code.
func rankFailures(group []Sample) []Failure {
	by := map[string]*Failure{}
	for _, x := range group {
		seen := map[string]bool{}
		for _, f := range x.Findings {
			one := by[f.Code]
			if one == nil {
				one = &Failure{Code: f.Code, Tier: f.Tier, Bucket: f.Bucket}
				by[f.Code] = one
			}
			if referee.Tier(f.Tier).Rank() < referee.Tier(one.Tier).Rank() {
				one.Tier = f.Tier
			}
			one.Findings++
			if !seen[f.Code] {
				one.Samples++
			}
			seen[f.Code] = true
		}
	}
	var out []Failure
	for _, f := range by {
		f.Rate = percentFloor(f.Samples, len(group))
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(referee.Tier(a.Tier).Rank(), referee.Tier(b.Tier).Rank()),
			cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Code, b.Code))
	})
	return out
}

// scoreTrend is the mean score over the samples' order, at most maxTrend points.
func scoreTrend(group []Sample) []Point {
	size := max(1, (len(group)+maxTrend-1)/maxTrend)
	out := []Point{}
	for from := 0; from < len(group); from += size {
		to := min(from+size, len(group))
		d := Distribution{}
		for _, x := range group[from:to] {
			d.add(x.Score)
		}
		d.close()
		out = append(out, Point{From: from + 1, To: to, Score: d.Mean})
	}
	return out
}

// percentFloor is 100·n/d, floored to one decimal: what is not all is never shown as 100 (S13).
func percentFloor(n, d int) string {
	if d == 0 {
		return "0"
	}
	tenths, err := decimal.Quo(decimal.FromInt(int64(n)*1000/int64(d)), decimal.FromInt(10))
	if err != nil {
		return "0"
	}
	return tenths.String()
}

// percentCeil is 100·n/d, rounded up to one decimal: what happened is never shown as 0.
func percentCeil(n, d int) string {
	if d == 0 {
		return "0"
	}
	tenths, err := decimal.Quo(decimal.FromInt((int64(n)*1000+int64(d)-1)/int64(d)), decimal.FromInt(10))
	if err != nil {
		return "0"
	}
	return tenths.String()
}
