package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// flyWant is what testdata/fly/reference.py computes for one record.
type flyWant struct {
	ID, Model                string
	Eligible                 bool
	Families                 map[string]map[string]int
	Constraint, Availability float64
	MAE, RMSE, Error, Total  *float64 // absent without gold
	// as the source pools them
	MAERaw      *float64           `json:"mae_raw"`
	RMSERaw     *float64           `json:"rmse_raw"`
	ErrorRaw    *float64           `json:"error_raw"`
	TotalRaw    *float64           `json:"total_raw"`
	FieldErrors map[string]float64 `json:"field_errors"` // by derived value, in the field's unit
	// the total under the cap, by either normalisation; absent without gold
	Scored    *float64
	ScoredRaw *float64 `json:"scored_raw"`
	Cap       string
	// of an answer that can be read and is not what was asked for: no facts are predicted, only the protocol
	Misshapen, Gold bool
	Completeness    string
	RightLength     bool `json:"right_length"`
}

// flyReport are the members of a report that are compared.
type flyReport struct {
	Gold     struct{ Available bool }
	Derived  []struct{ ID, Value string }
	Atoms    []flyAtom
	Protocol struct {
		Parsed            bool
		FieldCompleteness string `json:"field_completeness"`
		TypeValidation    bool   `json:"type_validation"`
	}
	Gating struct {
		Passed  bool
		Cap     string
		Reasons []string
	}
	Scores struct {
		Total string
		Gated bool
	}
	Trace struct {
		Info struct {
			Count     int `json:"verifier_count"`
			Verifiers []struct{ ID, Version string }
			SHA256    string `json:"thresholds_sha256"`
		} `json:"reproducibility_info"`
	}
	Adjudication struct {
		Eligible    bool
		Attribution []struct {
			Rank   int
			Reason string
			RuleID string `json:"rule_id"`
			Atoms  []string
		}
	}
}

type flyAtom struct {
	ID, Type, Severity, Message string
	Pass                        bool
	Meta                        struct{ Rule, Observed, Threshold, Config string }
}

// TestFlyReference holds the three FLY-EVAL++ sheets to a second computation, in Python, over 448 predictions that are
// wrong in known ways: the facts of each family, eligibility, the errors raw and normalised, the scores by either, the
// cap of a closed gate, and the protocol of answers that lack a field or have the wrong length.
//
// Source: 003 #130, 003 #131, 003 #132, 003 #137, 003 #168, 003 #169, 003 #170, 003 #174, 003 #175.
func TestFlyReference(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("REFEREE_CI") != "" {
			t.Fatal("python3 is not installed")
		}
		t.Skip("python3 is not installed")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, filepath.Join("..", "..", "testdata", "fly", "reference.py"),
		dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for task, sheet := range map[string]string{"s1": "fly-s1-next-second", "m1": "fly-m1-window",
		"m3": "fly-m3-trajectory"} {
		t.Run(task, func(t *testing.T) {
			file := func(name string) string { return filepath.Join(dir, task+"."+name+".jsonl") }
			audited := func(more ...string) []flyReport {
				var out, said bytes.Buffer
				args := append([]string{"audit", file("records"), "--sheet", sheet, "--samples", file("samples"), "--gold",
					file("gold"), "--format", "json"}, more...)
				if code := run(context.Background(), args, os.Getenv, nil, &out, &said); code != exitRules {
					t.Fatalf("exit code %d: %s", code, said.String())
				}
				return decodeLines[flyReport](t, out.Bytes())
			}
			reports, raw := audited("--atoms"), audited("--param", "error_normalisation=raw")
			wanted, err := os.ReadFile(file("expected"))
			if err != nil {
				t.Fatal(err)
			}
			wants := decodeLines[flyWant](t, wanted)
			if len(reports) != len(wants) || len(wants) < 100 {
				t.Fatalf("%d reports, %d expected", len(reports), len(wants))
			}
			for i, want := range wants {
				compareFly(t, reports[i], want)
				compareRaw(t, reports[i], raw[i], want)
			}
		})
	}
}

func decodeLines[T any](t *testing.T, b []byte) (out []T) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// compareProtocol compares what is said of every answer, and reports whether facts are predicted of this one.
func compareProtocol(t *testing.T, got flyReport, want flyWant) bool {
	t.Helper()
	if !got.Protocol.Parsed || !got.Protocol.TypeValidation || got.Protocol.FieldCompleteness != want.Completeness {
		t.Errorf("%s of %s: protocol %+v, want %s", want.ID, want.Model, got.Protocol, want.Completeness)
	}
	if got.Gating.Cap != want.Cap || got.Gating.Passed != (want.Cap == "") || got.Scores.Gated != (want.Cap != "") {
		t.Errorf("%s of %s: gating %+v, scores %+v, want the cap %q", want.ID, want.Model, got.Gating, got.Scores,
			want.Cap)
	}
	if info := got.Trace.Info; info.Count < 10 || info.Count != len(info.Verifiers) || len(info.SHA256) != 64 {
		t.Errorf("%s of %s: %+v", want.ID, want.Model, info)
	}
	if !want.Misshapen {
		return true
	}
	stopped := slices.ContainsFunc(got.Gating.Reasons,
		func(r string) bool { return strings.HasPrefix(r, "protocol.answer_length ") })
	if got.Adjudication.Eligible || got.Gold.Available != want.Gold || stopped == want.RightLength {
		t.Errorf("%s of %s: eligible %v, reasons %q", want.ID, want.Model, got.Adjudication.Eligible, got.Gating.Reasons)
	}
	compareDerived(t, got, want, map[string]*float64{"availability": &want.Availability})
	return false
}

// compareRaw compares the errors in raw units, which every report has, and the scores that are made of them.
func compareRaw(t *testing.T, got, raw flyReport, want flyWant) {
	t.Helper()
	if want.Misshapen {
		return
	}
	compareDerived(t, got, want, map[string]*float64{"mae_raw": want.MAERaw, "rmse_raw": want.RMSERaw})
	for id, x := range want.FieldErrors {
		compareDerived(t, got, want, map[string]*float64{id: &x})
	}
	compareDerived(t, raw, want, map[string]*float64{"mae_raw": want.MAERaw, "rmse_raw": want.RMSERaw,
		"mae_normalised": want.MAE, "cond_error": want.ErrorRaw, "total": want.TotalRaw})
	compareNumber(t, want, "the scored total", got.Scores.Total, want.Scored)
	compareNumber(t, want, "the scored total of raw errors", raw.Scores.Total, want.ScoredRaw)
	if len(want.FieldErrors) != 19 && want.Error != nil {
		t.Errorf("%s of %s: %d errors by field are predicted", want.ID, want.Model, len(want.FieldErrors))
	}
}

// compareDerived compares derived values; nil is a value that must be absent.
func compareDerived(t *testing.T, got flyReport, want flyWant, numbers map[string]*float64) {
	t.Helper()
	derived := map[string]string{}
	for _, d := range got.Derived {
		derived[d.ID] = d.Value
	}
	for id, number := range numbers {
		compareNumber(t, want, id, derived[id], number)
	}
}

func compareNumber(t *testing.T, want flyWant, what, got string, number *float64) {
	t.Helper()
	x, err := strconv.ParseFloat(got, 64)
	if number == nil && got != "" || number != nil && (err != nil || math.Abs(x-*number) > 1e-6) {
		t.Errorf("%s of %s: %s is %q", want.ID, want.Model, what, got)
	}
}

func compareFly(t *testing.T, got flyReport, want flyWant) {
	t.Helper()
	if !compareProtocol(t, got, want) {
		return
	}
	families := map[string]map[string]int{}
	for _, a := range got.Atoms {
		family, _, _ := strings.Cut(a.Type, ".")
		if _, counts := want.Families[family]; !counts {
			continue
		}
		if families[family] == nil {
			families[family] = map[string]int{"pass": 0, "warning": 0, "critical": 0}
		}
		outcome := a.Severity
		if a.Pass {
			outcome = "pass"
		}
		families[family][outcome]++
		if !a.Pass && (a.Message == "" || a.Meta.Rule == "" || a.Meta.Observed == "" || a.Meta.Threshold == "" ||
			a.Meta.Config == "") {
			t.Errorf("%s of %s: the fact %s does not say what was seen: %+v", want.ID, want.Model, a.ID, a)
		}
	}
	if !maps.EqualFunc(families, want.Families, maps.Equal[map[string]int]) {
		t.Errorf("%s of %s: facts %v, want %v", want.ID, want.Model, families, want.Families)
	}
	if got.Adjudication.Eligible != want.Eligible || got.Gold.Available != (want.Error != nil) {
		t.Errorf("%s of %s: eligible %v, gold %v", want.ID, want.Model, got.Adjudication.Eligible, got.Gold.Available)
	}
	compareDerived(t, got, want, map[string]*float64{"constraint_sat": &want.Constraint,
		"availability": &want.Availability, "mae_normalised": want.MAE, "rmse_normalised": want.RMSE,
		"cond_error": want.Error, "total": want.Total})
	for i, at := range got.Adjudication.Attribution {
		if at.Rank != i+1 || at.Reason == "" || len(at.Atoms) == 0 || at.RuleID == "eligibility" || i >= 5 {
			t.Errorf("%s of %s: attribution %+v", want.ID, want.Model, at)
		}
	}
	if wrong := len(got.Adjudication.Attribution) == 0; wrong && !want.Eligible {
		t.Errorf("%s of %s: ineligible without a reason", want.ID, want.Model)
	}
}
