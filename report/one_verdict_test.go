package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/evidence"
)

// TestOneVerdict: on every sheet of the library, its example and the example with something taken away, the answer of
// the gate, verdict, gating, findings, checks, SARIF and JUnit say one thing (S74). But for .ci/run each sheet takes a
// third of the examples with something taken away, and three sheets in a row take all of them.
func TestOneVerdict(t *testing.T) {
	files, err := filepath.Glob("../flight_sheets/*.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d sheets: %v", len(files), err)
	}
	failed, clean, undecidedRules, each := 0, 0, 0, 3
	if everyDocument {
		each = 1
	}
	for nth, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sheet, err := referee.LoadSheet(src, file, "library")
		if err != nil {
			t.Fatal(err)
		}
		for _, ex := range sheet.Examples()[:1] {
			sheet, err := sheet.WithParams(ex.Params)
			if err != nil {
				t.Fatal(err)
			}
			docs := lessened(t, ex.Submission.Source(src))
			for i, what := range slices.Sorted(maps.Keys(docs)) {
				if what != "as it is" && (i+nth)%each != 0 {
					continue
				}
				r := referee.Audit(exampleCase(sheet, &ex, docs[what]))
				undecidedRules += len(r.Verdict.UndecidedHigh)
				if r.Fails(referee.FailOnHigh) {
					failed++
				} else {
					clean++
				}
				if said := disagreement(t, r); said != "" {
					t.Errorf("%s, %s: %s", sheet.Slug, what, said)
				}
			}
		}
	}
	if failed < 200/each || clean < 30/each || undecidedRules < 100/each {
		t.Errorf("%d audits fail, %d do not, %d high rules are undecided: too few to show anything", failed, clean,
			undecidedRules)
	}
}

// lessened is a submission as it is, without each member and each input, with another last word, and unreadable.
func lessened(t *testing.T, src []byte) map[string][]byte {
	t.Helper()
	read := func() map[string]any {
		var doc map[string]any
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	out := map[string][]byte{"as it is": src, "cut off": src[:len(src)-2]}
	keep := func(what string, doc map[string]any) {
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		out[what] = b
	}
	for _, key := range slices.Sorted(maps.Keys(read())) {
		doc := read()
		delete(doc, key)
		keep("without "+key, doc)
	}
	inputs, _ := read()["inputs"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(inputs))[:min(3, len(inputs))] {
		doc := read()
		doc["inputs"].(map[string]any)[key] = nil
		keep("input "+key+" null", doc)
	}
	for _, word := range []string{"FAIL", "REVIEW."} {
		doc := read()
		doc["final_output"] = word
		keep("final_output "+word, doc)
	}
	return out
}

// exampleCase is an example as a run.
func exampleCase(sheet *referee.Sheet, ex *referee.Example, doc []byte) referee.Case {
	tree, items := fstest.MapFS{}, []evidence.Item{}
	for _, f := range ex.Evidence {
		tree[f.Path] = &fstest.MapFile{Data: []byte(f.Text)}
		items = append(items, evidence.Item{ID: f.ID, Path: f.Path, Kind: "file"})
	}
	agent := referee.Agent{}
	if v := ex.Agent.Get("model"); v != nil && v.Kind == strictjson.String {
		agent.Model = v.Text
	}
	run := &referee.Run{ID: "example", Lane: sheet.Lane, Agent: agent, Evidence: items}
	return referee.Case{Sheet: sheet, Run: run, Evidence: evidence.Open(tree, items, evidence.Limits{}),
		Path: "submission.json", Bytes: doc, Agent: &run.Agent}
}

// disagreement says which two of a report's answers differ; "" where they are one.
func disagreement(t *testing.T, r *referee.Report) string {
	t.Helper()
	fails := r.Fails(referee.FailOnHigh)
	heavy := slices.ContainsFunc(r.Findings, func(f referee.Finding) bool {
		return f.Tier == referee.High ||
			f.Severity == "critical"
	})
	switch {
	case fails != heavy:
		return "the gate's answer and the findings"
	case fails == r.Gating.Passed:
		return "the gate's answer and gating"
	case fails != (r.Verdict.Severity == referee.Propolis):
		return "the gate's answer and the severity"
	case r.Verdict.ClientReady && len(r.Verdict.UndecidedHigh) > 0, r.Verdict.RecommendedAction == "approve" && fails:
		return "the gate's answer and what is recommended"
	}
	for _, c := range r.Checks {
		named := slices.ContainsFunc(r.Findings,
			func(f referee.Finding) bool { return slices.Contains(f.RuleIDs, c.ID) })
		if c.Status == referee.Flag && !named {
			return "the flagged check " + c.ID + " and the findings"
		}
		if slices.Contains(r.Verdict.UndecidedHigh, c.ID) && r.Protocol.Parsed && !named {
			return "the undecided check " + c.ID + " and the findings"
		}
	}
	if errors, failures := sarifErrors(t, r), junitFailures(t, r); errors != fails {
		return "the gate's answer and SARIF"
	} else if failures != (len(r.Findings) > 0) || fails && !failures {
		return "the findings and JUnit"
	}
	return ""
}

func written(t *testing.T, format string, r *referee.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := New(format, &b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sarifErrors reports whether a result of the SARIF log is an error, or critical whatever its tier.
func sarifErrors(t *testing.T, r *referee.Report) bool {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				Level      string
				Properties struct{ Severity string }
			}
		}
	}
	if err := json.Unmarshal(written(t, "sarif", r), &log); err != nil {
		t.Fatal(err)
	}
	for _, result := range log.Runs[0].Results {
		if result.Level == "error" || result.Properties.Severity == "critical" {
			return true
		}
	}
	return false
}

func junitFailures(t *testing.T, r *referee.Report) bool {
	t.Helper()
	var suites struct {
		Suite []struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(written(t, "junit", r), &suites); err != nil {
		t.Fatal(err)
	}
	return suites.Suite[0].Failures+suites.Suite[0].Errors > 0
}
