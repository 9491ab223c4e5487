package flightsheets_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// evaluatorReport is a report of testdata/evaluator_reports.json with what it was written about. Expect are the rules
// that must flag it, worked out by hand from the source's rubric: none for an honest report, pass or fail.
type evaluatorReport struct {
	Name        string          `json:"name"`
	Why         string          `json:"why"`
	Expect      []string        `json:"expect"`
	Deliverable json.RawMessage `json:"deliverable"`
	Step        json.RawMessage `json:"step"`
	Trace       json.RawMessage `json:"trace"`
	Params      json.RawMessage `json:"params"`
	Report      json.RawMessage `json:"report"`
}

// readEvaluatorReports reads the file strictly: a misspelt member cannot pass for a case.
func readEvaluatorReports(t *testing.T) []evaluatorReport {
	t.Helper()
	src, err := os.ReadFile("testdata/evaluator_reports.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		About   string            `json:"about"`
		Reports []evaluatorReport `json:"reports"`
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Reports
}

// TestEvaluatorReports holds the evaluator gate to reports of every kind: passes, right fails, and those of evaluators
// who want a pass (an inflated score, emptied issues, other letters, a trigger that is denied).
//
// Source: 004 #201, 004 #202, 004 #210, 004 #211, 004 #212, 004 #213, 004 #214, 004 #217, 004 #218.
// Source: 004 #219, 004 #221, 004 #222, 004 #225, 004 #227, 004 #228, 004 #255.
func TestEvaluatorReports(t *testing.T) {
	reports := readEvaluatorReports(t)
	honest := 0
	for _, r := range reports {
		t.Run(r.Name, func(t *testing.T) {
			rep := auditEvaluator(t, &r)
			var got []string
			for _, c := range rep.Checks {
				if c.Status == referee.Flag {
					got = append(got, c.ID)
				}
			}
			if slices.Sort(got); !slices.Equal(got, r.Expect) {
				t.Errorf("flags %v, want %v (%s): %+v", got, r.Expect, r.Why, rep.Findings)
			}
			// a finding that belongs to no flagged rule would pass unseen above (S74)
			if len(r.Expect) == 0 && len(rep.Findings) > 0 {
				t.Errorf("%s: %+v", r.Why, rep.Findings)
			}
		})
		if len(r.Expect) == 0 {
			honest++
		}
	}
	if len(reports) < 25 || honest < 10 || len(reports)-honest < 10 {
		t.Errorf("%d reports, %d of them honest: at least 25 are asked, and 10 of each sort", len(reports), honest)
	}
}

// auditEvaluator audits one report in a run folder of its own.
func auditEvaluator(t *testing.T, r *evaluatorReport) *referee.Report {
	t.Helper()
	sheet := load(t, "genai-evaluator-gate")
	if r.Params != nil {
		sheet = sheetWithParams(t, sheet, r.Params)
	}
	tree := fstest.MapFS{"submission.json": {Data: r.Report}}
	items := []map[string]string{}
	for id, src := range map[string]json.RawMessage{"deliverable": r.Deliverable, "step": r.Step, "trace": r.Trace} {
		if src != nil {
			tree[id+".json"] = &fstest.MapFile{Data: src}
			items = append(items, map[string]string{"id": id, "path": id + ".json", "kind": "file"})
		}
	}
	manifest, err := json.Marshal(map[string]any{"schema": referee.RunSchema, "id": "evaluation", "lane": sheet.Lane,
		"flight_sheet": sheet.Slug, "evidence": items, "agent": map[string]string{"name": "evaluator", "model": "other"}})
	if err != nil {
		t.Fatal(err)
	}
	tree["run.json"] = &fstest.MapFile{Data: manifest}
	folder, err := referee.OpenRun(tree)
	if err != nil {
		t.Fatal(err)
	}
	return referee.Audit(folder.Case(sheet, nil))
}

// sheetWithParams is the sheet with the limits that a repository sets.
func sheetWithParams(t *testing.T, sheet *referee.Sheet, src []byte) *referee.Sheet {
	t.Helper()
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]*strictjson.Value{}
	for _, m := range doc.Fields() {
		values[m.Key] = m.Value
	}
	out, err := sheet.WithParams(values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
