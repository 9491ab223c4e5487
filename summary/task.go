package summary

import (
	"cmp"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
)

// Task is one model, or all of them, on one flight sheet: the task summary and the model profile of FLY-EVAL++.
type Task struct {
	Sheet        string   `json:"sheet"`              // slug@version
	Settings     []string `json:"settings,omitempty"` // parameters in force, of a sheet with scores
	Samples      int      `json:"samples"`
	Readable     int      `json:"readable"`
	Eligible     int      `json:"eligible"`
	Availability string   `json:"availability"`           // percent of samples with an answer that could be read
	Eligibility  string   `json:"eligibility"`            // percent of samples that nothing critical stops
	Completeness string   `json:"completeness,omitempty"` // percent of required members present
	Gold         int      `json:"gold"`                   // samples whose right answer was at hand

	// what the model's authors expected of it on this task; shown, never judged
	Prior    string         `json:"confidence_prior,omitempty"`
	Families []Family       `json:"families,omitempty"`
	Modes    []Mode         `json:"failure_modes,omitempty"`
	Scores   []Distribution `json:"scores,omitempty"` // of eligible samples
	// the mean total over all samples, 0 where a sample has none; eligible ones without gold are left out
	Overall string `json:"overall,omitempty"`
	// the paper's conditional error: given that the sample is eligible
	Conditional *Tail `json:"conditional_error,omitempty"`
	Available   *Tail `json:"available_error,omitempty"` // of every answer that could be read
}

// Family is how the facts of one family fare. Rate is those that hold, in percent.
type Family struct {
	Family   string `json:"family"`
	Held     int    `json:"held"`
	Warning  int    `json:"warning"`
	Critical int    `json:"critical"`
	Rate     string `json:"rate,omitempty"`
}

// Tail is how far answers lie from the right ones, and how often further than the sheet's limits.
type Tail struct {
	Samples    int          `json:"samples"`
	Mean       Distribution `json:"mean_error"` // of each sample: the mean of its errors, in percent of their limits
	Fields     []FieldTail  `json:"fields"`
	Errors     int          `json:"errors"`
	Exceeding  int          `json:"exceeding"`
	Exceedance string       `json:"exceedance"` // percent of errors beyond their limit
}

// FieldTail is one field over all samples, in its own unit.
type FieldTail struct {
	Distribution
	Limit      string `json:"limit,omitempty"` // absent where samples were held to different ones
	Exceeding  int    `json:"exceeding"`
	Exceedance string `json:"exceedance"`
}

// scoreNames are the fixed protocol's scores, in its order.
var scoreNames = []string{"availability", "constraint_satisfaction", "conditional_error", "total"}

// taskOf adds the samples of one sheet up.
func taskOf(group []Sample) Task {
	t := Task{Sheet: sheetName(group[0]), Settings: group[0].Settings, Samples: len(group)}
	have, need := 0, 0
	for _, x := range group {
		have, need = have+x.Have, need+x.Need
		t.Readable += oneIf(x.Readable)
		t.Eligible += oneIf(x.Eligible)
		t.Gold += oneIf(x.Gold)
		t.Prior = cmp.Or(t.Prior, x.Prior.forSheet(x.Sheet))
	}
	t.Availability, t.Eligibility = percentFloor(t.Readable, t.Samples), percentFloor(t.Eligible, t.Samples)
	if need > 0 {
		t.Completeness = percentFloor(have, need)
	}
	if t.Families = addFamilies(group); t.Families != nil {
		t.Modes = countModes(group)
	}
	t.Scores, t.Overall = addScores(group), overallScore(group)
	t.Conditional = tailOf(group, func(x Sample) bool { return x.Eligible })
	t.Available = tailOf(group, func(x Sample) bool { return x.Readable })
	return t
}

func oneIf(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// addFamilies adds the families up, in the order in which reports name them.
func addFamilies(group []Sample) (out []Family) {
	for _, x := range group {
		for _, f := range x.Families {
			i := slices.IndexFunc(out, func(o Family) bool { return o.Family == f.Family })
			if i < 0 {
				i, out = len(out), append(out, Family{Family: f.Family})
			}
			out[i].Held, out[i].Warning = out[i].Held+f.Held, out[i].Warning+f.Warning
			out[i].Critical += f.Critical
		}
	}
	for i := range out {
		if all := out[i].Held + out[i].Warning + out[i].Critical; all > 0 {
			out[i].Rate = percentFloor(out[i].Held, all)
		}
	}
	return out
}

// addScores are the distributions of the scores over eligible samples; nil where no sample has one.
func addScores(group []Sample) (out []Distribution) {
	for _, name := range scoreNames {
		d := Distribution{Name: name}
		for _, x := range group {
			if x.Eligible {
				d.add(x.Scores[name])
			}
		}
		if d.close(); d.N > 0 {
			out = append(out, d)
		}
	}
	return out
}

// overallScore is the mean total, with 0 for a sample without one: over eligible samples alone, a model that fails all
// but one would lead. An eligible sample without gold has no total by design and is left out. "" where the sheet has no
// scores, or no right answer was at hand.
func overallScore(group []Sample) string {
	d, scored := Distribution{}, false
	for _, x := range group {
		total := x.Scores["total"]
		switch scored = scored || x.Gold && x.Scores != nil; {
		case total != "":
			d.add(total)
		case !x.Eligible || x.Gold:
			d.add("0")
		}
	}
	if d.close(); !scored {
		return ""
	}
	return d.Mean
}

// tailOf adds up the errors of the samples that count; nil where none has any.
func tailOf(group []Sample, counts func(Sample) bool) *Tail {
	t := &Tail{Mean: Distribution{Name: "mean error, percent of the limits"}}
	place := map[string]int{}
	for _, x := range group {
		if !counts(x) || len(x.Errors) == 0 {
			continue
		}
		t.Samples++
		t.Mean.addNumber(x.meanError())
		for _, e := range x.Errors {
			i, ok := place[e.Field]
			if !ok {
				i = len(t.Fields)
				place[e.Field] = i
				t.Fields = append(t.Fields, FieldTail{Distribution: Distribution{Name: e.Field}, Limit: e.Limit})
			}
			t.Fields[i].addErrors(e)
		}
	}
	if t.Samples == 0 {
		return nil
	}
	t.Mean.close()
	for i := range t.Fields {
		f := &t.Fields[i]
		f.close()
		f.Exceedance = percentCeil(f.Exceeding, f.N)
		t.Errors, t.Exceeding = t.Errors+f.N, t.Exceeding+f.Exceeding
	}
	t.Exceedance = percentCeil(t.Exceeding, t.Errors)
	return t
}

// addErrors holds each error against the limit of its own sample: two sheets of one version may differ.
func (f *FieldTail) addErrors(e FieldError) {
	if e.Limit != f.Limit {
		f.Limit = ""
	}
	for _, n := range e.values {
		f.addNumber(n)
		f.Exceeding += oneIf(e.limit != nil && decimal.Cmp(n, e.limit) > 0)
	}
}
