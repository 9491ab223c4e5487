package referee

import "testing"

// TestCalculationsInAnyOrder: a sheet may declare a calculation before the one that it needs, and a check before both.
func TestCalculationsInAnyOrder(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"x","type":"number"}],"eval_spec":{
		"deterministic_checks":[{"check":"agree","id":"same","left":"twice","right":"2 * x + 2","warn":0}],
		"math_checks":[{"formula_id":"twice","formula":"2 * once"},{"formula_id":"once","formula":"x + 1"}]}`)
	rep := auditText(sheet, `{"inputs":{"x":3},"calculations":[
		{"name":"twice","formula":"2 * once","inputs":{"once":4},"result":8,"units":"count"},{"name":"once",
		"formula":"x + 1","inputs":{"x":3},"result":4,"units":"count"}]}`)
	wantStatus(t, rep, "same", "pass", "math.twice", "pass", "math.once", "pass")
	if rep.Checks[2].ID != "same" || rep.Checks[3].ID != "math.twice" {
		t.Errorf("checks stand in sheet order, not %s, %s", rep.Checks[2].ID, rep.Checks[3].ID)
	}
}
