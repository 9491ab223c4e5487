package forge

import (
	"fmt"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// trial is one submission that the suite of a sheet audits: an example, a trip of one, or a witness that was worked
// out.
type trial struct {
	name   string // for people
	work   *worked
	probe  *referee.Probe
	report *referee.Report // of examples and trips
	trip   *referee.Trip   // nil for an example
}

// newTrial audits a submission so that rules can be asked about it.
func newTrial(name string, w *worked) (*trial, error) {
	c, err := w.auditCase()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &trial{name: name, work: w, probe: referee.NewProbe(c)}, nil
}

// askRule decides a rule, or a changed rule, over the trial.
func (t *trial) askRule(r *referee.Rule) referee.Status { return t.probe.Ask(r) }

// suiteOf lists a sheet's examples and trips. What cannot be built is Test's to report and is left out here.
func suiteOf(sheet *referee.Sheet) []*trial {
	var out []*trial
	for i, ex := range sheet.Examples() {
		base, err := workedExample(sheet, &ex)
		if err != nil {
			continue
		}
		name := ex.Name
		if name == "" {
			name = fmt.Sprintf("example %d", i+1)
		}
		if t, err := newTrial(name, base); err == nil {
			out = append(out, t)
		}
		for k := range ex.Trips {
			w, err := base.applyTrip(&ex.Trips[k])
			if err != nil {
				continue
			}
			if t, err := newTrial(name+": "+ex.Trips[k].Change, w); err == nil {
				t.trip = &ex.Trips[k]
				out = append(out, t)
			}
		}
	}
	return out
}

// withReports adds the reports, for what only a whole audit says.
func withReports(trials []*trial) []*trial {
	for _, t := range trials {
		if report, err := t.work.auditWork(); err == nil {
			t.report = report
		}
	}
	return trials
}

// whenTree is the condition under which a rule applies as a tree, nil where it always does.
func whenTree(r *referee.Rule) *strictjson.Value {
	if r.When() == nil {
		return nil
	}
	return treeOf(r.When())
}
