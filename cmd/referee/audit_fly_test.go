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
}

// flyReport are the members of a report that are compared.
type flyReport struct {
	Gold         struct{ Available bool }
	Derived      []struct{ ID, Value string }
	Atoms        []flyAtom
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

// TestFlyReference holds the three FLY-EVAL++ sheets to a second computation, in Python, over 378 predictions that are
// wrong in known ways: the facts of each family, eligibility, the errors and the scores.
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
			var out, said bytes.Buffer
			code := run(context.Background(), []string{"audit", file("records"), "--sheet", sheet, "--samples",
				file("samples"), "--gold", file("gold"), "--format", "json", "--atoms"}, os.Getenv, nil, &out, &said)
			if code != exitRules {
				t.Fatalf("exit code %d: %s", code, said.String())
			}
			reports := decodeLines[flyReport](t, out.Bytes())
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

func compareFly(t *testing.T, got flyReport, want flyWant) {
	t.Helper()
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
	derived := map[string]string{}
	for _, d := range got.Derived {
		derived[d.ID] = d.Value
	}
	for id, number := range map[string]*float64{"constraint_sat": &want.Constraint,
		"availability": &want.Availability, "mae_normalised": want.MAE, "rmse_normalised": want.RMSE,
		"cond_error": want.Error, "total": want.Total} {
		x, err := strconv.ParseFloat(derived[id], 64)
		if number == nil && derived[id] != "" || number != nil && (err != nil || math.Abs(x-*number) > 1e-6) {
			t.Errorf("%s of %s: %s is %q", want.ID, want.Model, id, derived[id])
		}
	}
	for i, at := range got.Adjudication.Attribution {
		if at.Rank != i+1 || at.Reason == "" || len(at.Atoms) == 0 || at.RuleID == "eligibility" || i >= 5 {
			t.Errorf("%s of %s: attribution %+v", want.ID, want.Model, at)
		}
	}
	if wrong := len(got.Adjudication.Attribution) == 0; wrong && !want.Eligible {
		t.Errorf("%s of %s: ineligible without a reason", want.ID, want.Model)
	}
}
