package forge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/policy"
)

// worked is a submission of a sheet that can be changed and audited: an example, or an example with a trip's changes.
type worked struct {
	sheet      *referee.Sheet
	submission *strictjson.Value
	agent      *strictjson.Value
	files      []referee.ExampleFile
	prior      *strictjson.Value
	work       *decimal.Meter               // of all audits of the sheet's examples, nil where they are not counted
	params     map[string]*strictjson.Value // what the configuration sets; sheet is the one with them
}

// workedExample copies an example so that it can be changed. The error says that the example lacks a parameter, or sets
// one that is none.
func workedExample(sheet *referee.Sheet, ex *referee.Example) (*worked, error) {
	with, err := sheet.WithParams(ex.Params)
	if err != nil {
		return nil, fmt.Errorf("the example's params: %w", err)
	}
	return &worked{sheet: with, submission: ex.Submission.Clone(), agent: ex.Agent.Clone(),
		files: slices.Clone(ex.Evidence), prior: ex.Prior, params: ex.Params}, nil
}

func (w *worked) cloneWork() *worked {
	return &worked{sheet: w.sheet, submission: w.submission.Clone(), agent: w.agent.Clone(), files: slices.Clone(w.files),
		prior: w.prior, work: w.work, params: w.params}
}

// applyTrip is the example with a trip's changes, in the order in which an agent would have met them: other evidence
// and another stack, then other inputs with every calculation worked anew, then whatever the patch does to the result.
// A trip without the member "inputs" leaves the calculations as they were: changed evidence then shows them wrong.
func (w *worked) applyTrip(trip *referee.Trip) (*worked, error) {
	out := w.cloneWork()
	if err := out.setParams(trip.Params); err != nil {
		return nil, err
	}
	var before []string
	if trip.At.Get("inputs") != nil {
		var err error
		if before, err = w.recomputedResults(); err != nil {
			return nil, err
		}
	}
	for _, m := range trip.Agent {
		out.setAgent(m.Key, m.Value)
	}
	for _, f := range trip.Evidence {
		i := slices.IndexFunc(out.files, func(have referee.ExampleFile) bool { return have.ID == f.ID })
		if i < 0 {
			return nil, fmt.Errorf("it changes the evidence %q, which the example does not have", f.ID)
		}
		if f.At.Kind != strictjson.String {
			return nil, fmt.Errorf("the new text of the evidence %q is not a string", f.ID)
		}
		out.files[i].Text = f.Text
	}
	if trip.At.Get("inputs") != nil {
		if err := out.reworkInputs(trip.Inputs, before); err != nil {
			return nil, err
		}
	}
	var err error
	out.submission, err = applyPatch(out.submission, trip.Patch)
	return out, err
}

// setParams sets parameters on top of the example's.
func (w *worked) setParams(changes map[string]*strictjson.Value) (err error) {
	if len(changes) == 0 {
		return nil
	}
	all := maps.Clone(w.params)
	maps.Copy(all, changes)
	w.params = all
	w.sheet, err = w.sheet.WithParams(all)
	return err
}

// setAgent changes a member of the profile; null takes it away, so that a requirement cannot be decided.
func (w *worked) setAgent(key string, v *strictjson.Value) {
	if w.agent == nil {
		w.agent = jsonObject()
	}
	if v.Kind == strictjson.Null {
		w.agent.Remove(key)
		return
	}
	w.agent.Set(key, v.Clone())
}

// auditWork runs the five stages.
func (w *worked) auditWork() (*referee.Report, error) {
	c, err := w.auditCase()
	if err != nil {
		return nil, err
	}
	return referee.Audit(c), nil
}

// auditCase is the run folder that the example stands for. Every run has a manifest, as the gate wants it.
func (w *worked) auditCase() (referee.Case, error) {
	tree := evidence.Memory{}
	items := jsonArray()
	for _, f := range w.files {
		if f.Path == "" {
			return referee.Case{}, fmt.Errorf("evidence %q of the example needs a path", f.ID)
		}
		tree[f.Path] = []byte(f.Text)
		items.Items = append(items.Items, jsonObject("id", jsonString(f.ID), "path", jsonString(f.Path), "kind",
			jsonString("file")))
	}
	manifest := jsonObject("schema", jsonString(referee.RunSchema), "id", jsonString("example"), "lane",
		jsonString(w.sheet.Lane),
		"flight_sheet", jsonString(w.sheet.Slug), "agent", w.agent, "evidence", items)
	run, err := referee.ParseRun(manifest.Encode(), "run.json of the example")
	if err != nil {
		return referee.Case{}, err
	}
	folder := &referee.RunFolder{Run: run, Bytes: w.submission.Encode(), Evidence: evidence.Open(tree, run.Evidence,
		evidence.Limits{})}
	c := folder.Case(w.sheet, nil)
	c.Prior, c.Together = w.priorFunc(), w.work
	return c, nil
}

// priorFunc resolves the receipts that the example brings.
func (w *worked) priorFunc() referee.PriorFunc {
	if w.prior == nil {
		return nil
	}
	return func(sha256, pointer string) (policy.Val, error) {
		payload := w.prior.Get(sha256)
		if payload == nil {
			err := fmt.Errorf("the example holds no receipt %s", sha256)
			return policy.Absent(err.Error()), err
		}
		return policy.FromJSON(payload.At(pointer)), nil
	}
}
