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

	"github.com/defendableos/referee/summary"
)

// wantSpread, wantTail and wantTask are what testdata/fly/summary.py computes.
type wantSpread struct {
	N                        int
	Mean, P50, P95, P99, Max float64
	Exceeding                int
	Exceedance               float64
}

type wantTail struct {
	Samples, Errors, Exceeding int
	Exceedance                 float64
	MeanError                  wantSpread `json:"mean_error"`
	Fields                     map[string]wantSpread
}

type wantTask struct {
	Samples, Readable, Eligible int
	Availability, Eligibility   float64
	Families                    map[string]struct {
		Held, Warning, Critical int
		Rate                    float64
	}
	FailureModes map[string]struct {
		Samples int
		Rate    float64
	} `json:"failure_modes"`
	Conditional *wantTail `json:"conditional_error"`
	Available   *wantTail `json:"available_error"`
}

// TestSummaryReference holds `referee summary` to a second computation, in Python, over 360 predictions of three models
// for three tasks: availability, eligibility, compliance by family, the six failure modes, errors and how they spread.
//
// Source: 003 #180, 003 #183, 003 #188, 003 #191.
func TestSummaryReference(t *testing.T) {
	dir := t.TempDir()
	writeFlySummary(t, dir)
	paths := []string{"summary", "--format", "json"}
	for task, sheet := range map[string]string{"s1": "fly-s1-next-second", "m1": "fly-m1-window",
		"m3": "fly-m3-trajectory"} {
		paths = append(paths, auditFlyTask(t, dir, task, sheet))
	}
	var got summary.Summary
	if err := json.Unmarshal(runOK(t, paths...), &got); err != nil {
		t.Fatal(err)
	}
	wanted, err := os.ReadFile(filepath.Join(dir, "summary.expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]wantTask
	if err := json.Unmarshal(wanted, &want); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, agent := range got.Agents {
		for _, task := range agent.Tasks {
			sheet, _, _ := strings.Cut(task.Sheet, "@")
			w, ok := want[sheet][agent.Agent]
			if !ok {
				t.Fatalf("%s is no model of %s", agent.Agent, sheet)
			}
			compared += w.Samples
			t.Run(agent.Agent+"/"+sheet, func(t *testing.T) { compareTask(t, task, w) })
		}
	}
	if compared != 360 {
		t.Errorf("%d predictions compared", compared)
	}
	checkModelsDiffer(t, got, filepath.Join(dir, "s1.reports.jsonl"))
	checkBatchTable(t, dir)
}

// checkBatchTable: the lines of a large batch name the model, within 80 columns: an id alone names three records.
func checkBatchTable(t *testing.T, dir string) {
	t.Helper()
	var out, said bytes.Buffer
	run(context.Background(), []string{"audit", filepath.Join(dir, "m3.records.jsonl"), "--sheet", "fly-m3-trajectory",
		"--samples", filepath.Join(dir, "m3.samples.jsonl"), "--gold", filepath.Join(dir, "m3.gold.jsonl")}, os.Getenv, nil,
		&out, &said)
	head, _, _ := strings.Cut(out.String(), "\n")
	if got := strings.Fields(head); !slices.Equal(got, []string{"verdict", "score", "findings", "model", "submission",
		"heaviest"}) {
		t.Errorf("the columns are %q", got)
	}
	if n := strings.Count(out.String(), "sigma-0.9        m3-0000"); n < 30 {
		t.Errorf("%d lines name the model sigma-0.9:\n%s", n, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if len([]rune(strings.TrimSpace(line))) > 80 {
			t.Errorf("more than 80 columns: %q", line)
		}
	}
}

// writeFlySummary runs the reference.
func writeFlySummary(t *testing.T, dir string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("REFEREE_CI") != "" {
			t.Fatal("python3 is not installed")
		}
		t.Skip("python3 is not installed")
	}
	command := exec.Command(python, "-B", filepath.Join("..", "..", "testdata", "fly", "summary.py"), dir)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// auditFlyTask audits the records of a task and returns the file of their reports.
func auditFlyTask(t *testing.T, dir, task, sheet string) string {
	t.Helper()
	file := func(name string) string { return filepath.Join(dir, task+"."+name+".jsonl") }
	var out, said bytes.Buffer
	if code := run(context.Background(), []string{"audit", file("records"), "--sheet", sheet, "--samples",
		file("samples"), "--gold", file("gold"), "--format", "json"}, os.Getenv, nil, &out, &said); code == exitUsage {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	if err := os.WriteFile(file("reports"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file("reports")
}

func runOK(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, said bytes.Buffer
	if code := run(context.Background(), args, os.Getenv, nil, &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	return out.Bytes()
}

func compareTask(t *testing.T, got summary.Task, want wantTask) {
	t.Helper()
	if got.Samples != want.Samples || got.Readable != want.Readable || got.Eligible != want.Eligible {
		t.Errorf("%d samples, %d readable, %d eligible; want %+v", got.Samples, got.Readable, got.Eligible, want)
	}
	near(t, "availability", got.Availability, want.Availability)
	near(t, "eligibility", got.Eligibility, want.Eligibility)
	var families []string
	for _, f := range got.Families {
		families = append(families, f.Family)
		w := want.Families[f.Family]
		if f.Held != w.Held || f.Warning != w.Warning || f.Critical != w.Critical {
			t.Errorf("facts of %s: %+v, want %+v", f.Family, f, w)
		}
		near(t, f.Family, f.Rate, w.Rate)
	}
	if slices.Sort(families); !slices.Equal(families, slices.Sorted(maps.Keys(want.Families))) {
		t.Errorf("families %q", families)
	}
	if len(got.Modes) != 6 || len(want.FailureModes) != 6 {
		t.Errorf("failure modes %+v", got.Modes)
	}
	for _, m := range got.Modes {
		if w := want.FailureModes[m.Mode]; m.Samples != w.Samples {
			t.Errorf("failure mode %s in %d samples, want %d", m.Mode, m.Samples, w.Samples)
		}
		near(t, m.Mode, m.Rate, want.FailureModes[m.Mode].Rate)
	}
	compareTail(t, got.Conditional, want.Conditional)
	compareTail(t, got.Available, want.Available)
}

func compareTail(t *testing.T, got *summary.Tail, want *wantTail) {
	t.Helper()
	if got == nil || want == nil {
		if got != nil || want != nil {
			t.Errorf("errors %v, want %v", got, want)
		}
		return
	}
	if got.Samples != want.Samples || got.Errors != want.Errors || got.Exceeding != want.Exceeding {
		t.Errorf("%d samples, %d of %d errors over their limits; want %+v", got.Samples, got.Exceeding, got.Errors, want)
	}
	near(t, "exceedance", got.Exceedance, want.Exceedance)
	compareSpread(t, got.Mean, want.MeanError)
	if len(got.Fields) != 19 || len(want.Fields) != 19 {
		t.Errorf("%d fields", len(got.Fields))
	}
	for _, f := range got.Fields {
		w := want.Fields[f.Name]
		compareSpread(t, f.Distribution, w)
		near(t, "exceedance of "+f.Name, f.Exceedance, w.Exceedance)
		if f.Exceeding != w.Exceeding {
			t.Errorf("%d errors of %s over the limit, want %d", f.Exceeding, f.Name, w.Exceeding)
		}
	}
}

func compareSpread(t *testing.T, got summary.Distribution, want wantSpread) {
	t.Helper()
	if got.N != want.N {
		t.Errorf("%s: %d values, want %d", got.Name, got.N, want.N)
	}
	for name, pair := range map[string]struct {
		text string
		want float64
	}{"mean": {got.Mean, want.Mean}, "p50": {got.P50, want.P50}, "p95": {got.P95, want.P95},
		"p99": {got.P99, want.P99}, "max": {got.Max, want.Max}} {
		near(t, got.Name+" "+name, pair.text, pair.want)
	}
}

func near(t *testing.T, name, text string, want float64) {
	t.Helper()
	if x, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(x-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s is %q, want %v", name, text, want)
	}
}

// checkModelsDiffer: two models whose errors differ print different figures, in every format, and the closer one leads.
func checkModelsDiffer(t *testing.T, got summary.Summary, reports string) {
	t.Helper()
	for _, board := range got.Boards {
		if len(board.Rows) != 3 || board.Rows[0].Agent != "sigma-0.2" || board.Rows[0].Rank != 1 {
			t.Errorf("the leaderboard of %s is %+v", board.Sheet, board.Rows)
		}
	}
	for _, format := range []string{"table", "markdown", "html"} {
		text := string(runOK(t, "summary", "--by", "agent", "--format", format, reports))
		_, near, _ := strings.Cut(text, "sigma-0.2 › ")
		_, far, _ := strings.Cut(text, "sigma-0.9 › ")
		near, _, _ = strings.Cut(near, "sigma-")
		if near == "" || far == "" || strings.HasPrefix(far, near) {
			t.Errorf("%s prints the same for both models:\n%s", format, near)
		}
		for _, want := range []string{"conditional error", "jump_dynamics", "unsafe_state", "GPS Altitude (WGS84"} {
			if !strings.Contains(near, want) || !strings.Contains(far, want) {
				t.Errorf("%s does not show %q of a model", format, want)
			}
		}
	}
}
