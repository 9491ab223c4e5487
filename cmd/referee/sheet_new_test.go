package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// asked answers the questions of `sheet new` as a person at a terminal would, and returns what was asked.
func asked(t *testing.T, o *newOptions, answers ...string) (*app, string) {
	t.Helper()
	var screen bytes.Buffer
	a := &app{ctx: t.Context(), getenv: func(string) string { return "" },
		stdin: strings.NewReader(strings.Join(answers, "\n")), stdout: &bytes.Buffer{}, stderr: &screen}
	a.askSheet(o)
	return a, screen.String()
}

// TestAskSheet: the answers to the questions make a sheet that loads, with everything that was said in it.
func TestAskSheet(t *testing.T) {
	t.Chdir(t.TempDir())
	o := &newOptions{}
	a, screen := asked(t, o, "my-loan", "My loan", "agent", "A loan.", "  Work out the debt yield.  ",
		"noi:number:USD/yr=920000", "loan:number:USD=8000000", "",
		"debt_yield:ratio=noi / loan", "",
		"dy_gate:high:debt_yield >= 0.07", "It must pay.", "Lend less.", "credit policy 4.2", "",
		"json_valid", "",
		"name_matches=Does the name match?", "")
	for _, want := range []string{"slug, ", "lane: agent, dataset, compute, cook or incident", "instructions",
		"why does dy_gate exist", "`referee rules`", "question to a person"} {
		if !strings.Contains(screen, want) {
			t.Errorf("nothing asks %q:\n%s", want, screen)
		}
	}
	if err := a.newSheet(o); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("flight_sheets/my-loan.json")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := referee.LoadSheet(src, "my-loan.json", "repository")
	if err != nil {
		t.Fatal(err)
	}
	gate := sheet.Rule("dy_gate")
	if sheet.Name != "My loan" || sheet.Summary != "A loan." || sheet.Instructions != "Work out the debt yield." ||
		len(sheet.Inputs) != 2 || len(sheet.Math) != 1 {
		t.Errorf("the sheet is %q, %q, %q with %d inputs and %d calculations", sheet.Name, sheet.Summary,
			sheet.Instructions, len(sheet.Inputs), len(sheet.Math))
	}
	if gate == nil || gate.Tier != referee.High || gate.Why != "It must pay." || gate.Fix != "Lend less." ||
		gate.Source.Text != "credit policy 4.2" {
		t.Errorf("the gate is %+v", gate)
	}
	if sheet.Rule("json_valid") == nil || sheet.Rule("name_matches") == nil ||
		sheet.Rule("name_matches").Question != "Does the name match?" {
		t.Error("the check or the question is missing")
	}
	if ex := sheet.Examples(); len(ex) != 1 || len(ex[0].Trips) != 1 {
		t.Errorf("%d examples", len(ex))
	}
}

// TestAskSheetLeftOut: only what no flag has said is asked for, and the end of input ends every question.
func TestAskSheetLeftOut(t *testing.T) {
	o := &newOptions{inputs: []string{"a:number=1"}, checks: []string{"json_valid"}}
	o.spec.Slug, o.spec.Name = "short", "Short"
	_, screen := asked(t, o, "cook")
	if o.spec.Lane != "cook" || len(o.inputs) != 1 || len(o.calcs)+len(o.gates)+len(o.asks) != 0 {
		t.Errorf("read %+v", o)
	}
	for _, said := range []string{"slug", "name:", "input, ", "check, "} {
		if strings.Contains(screen, said) {
			t.Errorf("asked again: %q in\n%s", said, screen)
		}
	}
	a, _ := asked(t, &newOptions{})
	var usage *failure
	if err := a.newSheet(&newOptions{}); !errors.As(err, &usage) || usage.code != exitUsage {
		t.Errorf("nothing was said: %v", err)
	}
}
