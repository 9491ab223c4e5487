package referee

import (
	"slices"
	"testing"
)

// TestHoles holds shut each way in which a gate was opened, or a number let stand, with the numbers with which it was
// shown (issue 10). The words before the colon are the hole; want are findings as "code tier pointer", each of which
// must be there, and the audit fails at high.
func TestHoles(t *testing.T) {
	const deal = `"required_inputs":[{"name":"noi","type":"number","unit":"USD"},{"name":"capex","type":"number",
		"unit":"USD"},{"name":"debt","type":"number","unit":"USD"},{"name":"flows","type":"array","optional":true}],
		"eval_spec":{"math_checks":[{"formula_id":"ncf","formula":"noi - capex"},{"formula_id":"dscr",
		"formula":"ncf / debt","units":"ratio"},{"formula_id":"irr_rate","formula":"irr(flows)","units":"ratio",
		"optional":true}],
			"evidence_checks":["inputs_match_evidence"],
			"rules":[{"id":"gate","expr":"dscr >= 1.25","tier":"high"},{"id":"hurdle","expr":"irr_rate >= 0.12","tier":"high",
			"applies_if":"len(flows) > 0"}]}`
	evidence := withEvidence("memo.txt", "The price is 9,600,000 or 9600000.\nA loss of (600,000) and a delta of "+
		"-610,000.\n", "t12.csv", "line,a,b\nGross,815,000\nNOI,\"850,000\",x\n")
	doc := func(noi, debt, flows, ncf, dscr string) string {
		return `{"inputs":{"noi":` + noi + `,"capex":0,"debt":` + debt + `,"flows":` + flows + `},"calculations":[` +
			ncf + `,` + dscr + `]}`
	}
	const noFlows = `[]`
	calc := func(name, formula, inputs, result, more string) string {
		return `{"name":"` + name + `","formula":"` + formula + `","inputs":{` + inputs + `},"result":` + result +
			`,"units":"USD"` + more + `}`
	}
	ratio := func(inputs, result string) string {
		return `{"name":"dscr","formula":"ncf / debt","inputs":{` + inputs + `},"result":` + result +
			`,"units":"ratio"}`
	}
	cites := func(noi, ref string) string {
		return doc(noi, "480000", noFlows, calc("ncf", "noi - capex", `"noi":`+noi+`,"capex":0`, noi,
			`,"sources":{"noi":"`+ref+`"}`), ratio(`"ncf":`+noi+`,"debt":480000`, "1.25"))
	}
	for _, c := range []struct {
		hole, submission string
		gate             string
		want             []string
	}{
		{"a true DSCR of 1.2397 against 1.25, one restated input 0.99 % higher",
			doc("619850", "500000", noFlows, calc("ncf", "noi - capex", `"noi":619850,"capex":0`, "619850", ""),
				ratio(`"ncf":625986,"debt":500000`, "1.252")),
			"flag", []string{"math.input_restated high /calculations/1/inputs/ncf",
				"math.straddles_gate high /calculations/1/inputs", "policy.gate high /calculations/1"}},
		{"stacked, 1.195 passes",
			doc("597500", "500000", noFlows, calc("ncf", "noi - capex", `"noi":603400,"capex":0`, "603400", ""),
				ratio(`"ncf":609300,"debt":487000`, "1.2511")),
			"flag", []string{"policy.gate high /calculations/1", "math.straddles_gate high /calculations/1/inputs"}},
		{"9e5 stated for 850,000 and 7e5 for 746,900: coverage 1.138 as 1.286",
			doc("850000", "746900", noFlows, calc("ncf", "noi - capex", `"noi":9e5,"capex":0`, "9e5", ""),
				ratio(`"ncf":9e5,"debt":7e5`, "1.2857")),
			"flag", []string{"math.input_restated high /calculations/1/inputs/ncf",
				"math.input_restated high /calculations/1/inputs/debt",
				"math.input_restated mid /calculations/0/inputs/noi", "policy.gate high /calculations/1",
				"math.mismatch mid /calculations/0/result"}},
		{"0.1e7 for 520,000 opens a high gate with low flags",
			doc("520000", "700000", noFlows, calc("ncf", "noi - capex", `"noi":0.1e7,"capex":0`, "0.1e7", ""),
				ratio(`"ncf":0.1e7,"debt":700000`, "1.428571")),
			"flag", []string{"math.input_restated high /calculations/0/inputs/noi",
				"math.mismatch high /calculations/0/result", "policy.gate high /calculations/1"}},
		{"0.1e8 claimed for 5,100,000 is low",
			doc("5100000", "4000000", noFlows, calc("ncf", "noi - capex", `"noi":5100000,"capex":0`, "0.1e8", ""),
				ratio(`"ncf":5100000,"debt":4000000`, "1.275")),
			"pass", []string{"math.mismatch high /calculations/0/result"}},
		{"list inputs are tied to nothing: IRR 8.57 % becomes 48.9 %", // by bisection in Python: 0.085721 and 0.489054
			`{"inputs":{"noi":650000,"capex":0,"debt":500000,"flows":[-1000,80,80,80,1106]},"calculations":[` +
				calc("ncf", "noi - capex", `"noi":650000,"capex":0`, "650000", "") + `,` +
				ratio(`"ncf":650000,"debt":500000`, "1.3") +
				`,{"name":"irr_rate","formula":"irr(flows)","inputs":{"flows":[-339,80,80,80,1106]},"result":0.4891,` +
				`"units":"ratio"}]}`,
			"pass", []string{"math.input_restated high /calculations/2/inputs/flows/0",
				"policy.hurdle high /calculations/2", "math.straddles_gate high /calculations/2/inputs"}},
		{"#text=600000 inside 9600000", cites("600000", "memo#text=600000"), "pass",
			[]string{"evidence.no_hit mid /calculations/0/sources/noi"}},
		{"#text=600,000 inside 9,600,000 and (600,000): the second, and it is negative",
			cites("600000", "memo#text=600,000"), "pass", []string{"evidence.input_mismatch high /inputs/noi"}},
		{"a minus lost", cites("610000", "memo#text=610,000"), "pass",
			[]string{"evidence.input_mismatch high /inputs/noi"}},
		{"#row=2 reads 815,000 out of two cells", cites("815000", "t12#row=2"), "pass",
			[]string{"evidence.ambiguous mid /calculations/0/sources/noi"}},
		{"#cell=2,1-2,3 reads a number out of three cells", cites("815000", "t12#cell=2,1-2,3"), "pass",
			[]string{"evidence.ambiguous mid /calculations/0/sources/noi"}},
		{"9e5 for the cell's 850,000", cites("9e5", "t12#cell=3,2"), "pass",
			[]string{"evidence.input_mismatch mid /inputs/noi"}},
	} {
		rep := auditText(mustSheet(t, deal), c.submission, evidence)
		if ch := checkNamed(t, rep, "gate"); string(ch.Status) != c.gate {
			t.Errorf("%s: the gate is %s, want %s", c.hole, ch.Status, c.gate)
		}
		for _, want := range c.want {
			if !slices.Contains(codes(rep), want) {
				t.Errorf("%s: no finding %q among %q", c.hole, want, codes(rep))
			}
		}
		if rep.Verdict.ClientReady || rep.Verdict.RecommendedAction != "resubmit" {
			t.Errorf("%s: %+v", c.hole, rep.Verdict)
		}
	}
}
