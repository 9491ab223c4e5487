package referee

import "testing"

// TestNothingIsRemembered: what a submission holds, U+0000 in its formula too, cannot change what becomes of the next
// one of its batch.
func TestNothingIsRemembered(t *testing.T) {
	const members = `"required_inputs":[{"name":"loan","type":"number"},{"name":"value","type":"number"}],
		"eval_spec":{"math_checks":[{"formula_id":"ltv","formula":"loan / value"}]}`
	const honest = `{"inputs":{"loan":8,"value":10},"calculations":[{"name":"ltv","formula":"loan / value",` +
		`"inputs":{"loan":8,"value":10},"result":0.8,"units":"ratio"}]}`
	alone := auditText(mustSheet(t, members), honest)
	wantStatus(t, alone, "math.ltv", "pass")
	for _, before := range []string{
		`{"calculations":[{"name":"ltv","formula":"loan / value\u0000loan\u0000value","inputs":{},"result":0.8}]}`,
		`{"calculations":[{"name":"ltv","formula":"loan / value\u0000loan","inputs":{"value":10},"result":0.8}]}`,
		`{"calculations":[{"name":"ltv","formula":"loan / value","inputs":{"value":8,"loan":10},"result":1.25}]}`,
	} {
		sheet := mustSheet(t, members)
		auditText(sheet, before)
		if after := auditText(sheet, honest); after.Digest != alone.Digest {
			t.Errorf("after %s the report is another one: %v", before, statusesOf(after))
		}
	}
}
